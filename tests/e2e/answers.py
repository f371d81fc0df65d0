"""What the live model is asked, and what must hold for every answer, whatever a small model says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage

from e2e import grammars
from endpoints.assistant import TOOLS, chat_messages
from endpoints.demo import RECORDED
from llama3_tools import Extraction, Extractor, OnUnknownTool

_NAMES = {"get_weather", "search_web", "set_timer"}
_WRAPPERS = re.compile(
    r"<\|(?:python_tag|eom_id|eot_id)\|>|</?tool_call>|</?tool>|<function=\w+>|</function>|```(?:json)?|[\[\]]"
)
"""What vanishes with a call (principle 2)."""
_DELIMITERS = re.compile(r"[\s;,]+")
"""What vanishes between calls and around them (principle 2)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to the live model."""

    name: str
    question: str
    grammar: str = ""
    """What holds the answer to its form."""
    calls: int | None = None
    """How many calls the grammar forces; `None` where it is the model's choice."""
    text: bool | None = None
    """Whether it forces text."""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation, for the chat endpoint."""
        return [dict(message) for message in chat_messages(self.question)]  # type: ignore[arg-type]

    @property
    def settings(self) -> dict[str, object]:
        """What goes into the request beside that."""
        return {"max_tokens": 120, **({"grammar": self.grammar} if self.grammar else {})}


FORCED = (
    Asked("forced-one-call", "How is Oslo?", grammars.CALL, 1, text=False),
    Asked("forced-text-then-call", "Look up the opening hours of the Louvre.", grammars.TEXT_THEN_CALL, 1, text=True),
    Asked("forced-two-calls", "Compare the weather in Tokyo and in Quito.", grammars.TWO_CALLS, 2, text=False),
    Asked("forced-text-call-text", "Look up the population of Iceland.", grammars.TEXT_CALL_TEXT, 1, text=True),
)
"""Held to their form by a grammar: here it is known how many calls there are, whoever the model is."""

ASKED = (*FORCED, *(Asked(question.lower(), question) for question in RECORDED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What came out of one answer, whichever parser read it."""

    raw: str
    """What the model said."""
    text: str
    """The content, all of it."""
    calls: Sequence[tuple[str, Mapping[str, object]]]
    """Names and arguments."""
    ids: Sequence[str | None]
    """The calls' ids."""


def read_ai_message(raw: str, message: AIMessage) -> Read:
    """Take what LangChain gives."""
    calls = [(call["name"], call["args"]) for call in message.tool_calls]
    return Read(raw=raw, text=str(message.text), calls=calls, ids=[call["id"] for call in message.tool_calls])


def read_chat_message(raw: str, message: ChatMessage) -> Read:
    """Take what LlamaIndex gives."""
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    calls = [(block.tool_name, dict(block.tool_kwargs)) for block in blocks if isinstance(block.tool_kwargs, dict)]
    return Read(raw=raw, text=message.content or "", calls=calls, ids=[block.tool_call_id for block in blocks])


def check(asked: Asked, read: Read) -> Extraction:
    """Hold an answer to `check_read`, and to what the grammar forces; give what the core makes of it."""
    __tracebackhide__ = True
    extraction = check_read(read)
    if asked.calls is not None:
        assert len(read.calls) == asked.calls, read
    if asked.text is not None:
        assert bool(read.text) is asked.text, read
    return extraction


def check_read(read: Read, *, on_unknown_tool: OnUnknownTool = "text") -> Extraction:
    """Hold an answer to what must be true of every one; give what the core makes of it.

    - The calls are those that the core finds in the raw text, and so is the content.
    - Each call is in the raw text as JSON of its arguments; its name is declared, unless an agent is to answer
      calls of other tools; its id is its own.
    - Text and calls add up to the raw text: what is left of it without them is wrappers and delimiters.
    """
    __tracebackhide__ = True
    is_agent = on_unknown_tool == "call"  # whose wrapper makes arguments fit
    extraction = Extractor(tools=TOOLS, on_unknown_tool=on_unknown_tool, coerce_arguments=is_agent).extract(read.raw)
    report = f"\nraw: {read.raw!r}\nread: {read!r}\ncore: {extraction!r}"
    assert read.raw, "the model said nothing"
    assert read.text == (extraction.content or ""), report
    assert list(read.calls) == [(call.name, call.arguments) for call in extraction.tool_calls], report
    assert is_agent or {name for name, _ in read.calls} <= _NAMES, report
    assert all(re.fullmatch("call_[0-9a-f]{24}", call_id or "") for call_id in read.ids), report
    assert len(set(read.ids)) == len(read.calls), report

    left = read.raw
    for call in reversed(extraction.tool_calls):
        start, end = call.span
        assert call.changes or json.loads(call.arguments_json) == call.arguments, report
        assert call.arguments_json in read.raw[start:end], report
        left = left[:start] + left[end:]
    assert _squeezed(left) == _squeezed(read.text), report
    return extraction


def _squeezed(text: str) -> str:
    return _DELIMITERS.sub("", _WRAPPERS.sub("", text))
