"""Malformed calls: collected on the message, left as text, or raised.

Their text is part of the content in any case (rule 6).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import InvalidToolCall, ToolCallChunk
from langchain_core.messages.tool import invalid_tool_call, tool_call_chunk

from langchain_llama3_tools.content import Run
from langchain_llama3_tools.strict import StrictFormat
from llama3_tools import Rejection
from llama3_tools.options import written_id
from llama3_tools.text.escaping import escape_invisible

__all__ = [
    "REJECTED_TOOL_CALLS",
    "InvalidCalls",
    "OnInvalid",
    "RejectedToolCall",
    "collected_text",
    "to_invalid_call",
    "to_invalid_chunk",
]

OnInvalid: TypeAlias = Literal["collect", "text", "raise"]
"""What becomes of a malformed call besides staying in the content: collected, nothing more, or an exception."""

REJECTED_TOOL_CALLS = "rejected_tool_calls"
"""Where in `response_metadata` the details are."""


class RejectedToolCall(TypedDict):
    """What is known of a malformed call: an entry of `response_metadata["rejected_tool_calls"]`."""

    id: str
    """The id of its entry in `invalid_tool_calls`."""
    name: str
    """The tool that it seems to name; empty where it stands in a tag for calls and names none."""
    reason: str
    """One word for the cause, the value of a `llama3_tools.RejectionReason`."""
    detail: str
    """What was found, and what was expected."""
    text: str
    """The malformed call, as the model wrote it; one that the server found, as a model would write it."""
    start: int
    """Where it starts in the text of the model's message; 0 where the server found the call, as `end` is."""
    end: int
    """Where it ends, exclusive."""


@dataclass(frozen=True, slots=True)
class InvalidCalls:
    """Finds the malformed calls of a message, and does with them what the user asked for."""

    on_invalid: OnInvalid
    """What that is."""
    id_factory: Callable[[], str]
    """Makes the ids: a message with an id of `None` breaks LangChain's tool node."""
    names: Collection[str] | None = None
    """The tools that count, where other names stay text; `None`: any."""
    strict: StrictFormat | None = None
    """What the whole text has to be; `None`: anything."""

    def collect(self, runs: Iterable[Run]) -> list[RejectedToolCall]:
        """Return the malformed calls that the message is to report.

        Raises:
            OutputParserException: there are some, and `on_invalid` is `"raise"`; or the text is not what it has to be.
        """
        runs = list(runs)
        if self.strict is not None:
            self.strict.check([run.answer for run in runs], output="".join(run.text for run in runs))
        if self.on_invalid == "text":
            return []
        attempts = [(run, rejection) for run in runs for rejection in self._attempts(run)]
        if self.on_invalid == "raise" and attempts:
            text = "".join(run.text for run in runs)
            raise _malformed([rejection for _, rejection in attempts], text)
        return [_described(rejection, run, written_id(self.id_factory)) for run, rejection in attempts]

    def _attempts(self, run: Run) -> Iterator[Rejection]:
        for attempt in run.extraction.attempts:
            if self.names is None or attempt.name is None or attempt.name in self.names:
                yield attempt


def to_invalid_call(rejected: RejectedToolCall) -> InvalidToolCall:
    """Return a malformed call for a message's `invalid_tool_calls`.

    LangChain closes what is open in a chunk's arguments and makes a call of it, with arguments that the model
    never finished. A JSON string is the one JSON that cannot be repaired into an object, and a server that gets the
    message back can still decode it. So `args` is a JSON string that holds the text; `json.loads` gives it back.
    """
    # The sum of chunks has no room for an error, and is to be the same message.
    return invalid_tool_call(name=rejected["name"], args=_encoded(rejected), id=rejected["id"], error=None)


def collected_text(args: str) -> str | None:
    """Return the text of a malformed call back from its `args`; `None` where a server wrote them.

    >>> collected_text('"{oops"'), collected_text("{oops")
    ('{oops', None)
    """
    try:
        text = json.loads(args)
    except (ValueError, RecursionError):
        return None
    return text if isinstance(text, str) else None


def to_invalid_chunk(rejected: RejectedToolCall, index: int) -> ToolCallChunk:
    """Return a malformed call for a chunk's `tool_call_chunks`; their sum gives what `to_invalid_call` gives."""
    return tool_call_chunk(name=rejected["name"], args=_encoded(rejected), id=rejected["id"], index=index)


def _encoded(rejected: RejectedToolCall) -> str:
    return json.dumps(rejected["text"], ensure_ascii=False)


def _described(rejection: Rejection, run: Run, call_id: str) -> RejectedToolCall:
    start, end = rejection.span
    return RejectedToolCall(
        id=call_id,
        name=rejection.name or "",
        reason=str(rejection.reason),
        detail=rejection.detail,
        text=run.text[start:end],
        start=run.offset + start,
        end=run.offset + end,
    )


def _malformed(rejections: list[Rejection], text: str) -> OutputParserException:
    count = "a malformed tool call" if len(rejections) == 1 else f"{len(rejections)} malformed tool calls"
    calls = "; ".join(
        f"{rejection.name or 'a call'} ({rejection.reason}): {rejection.detail}" for rejection in rejections
    )
    return OutputParserException(escape_invisible(f"The model wrote {count}: {calls}", exact=True), llm_output=text)
