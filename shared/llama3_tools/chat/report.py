"""What was done with an answer's calls: which were changed, refused, repaired or repeated."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from llama3_tools.text import escape_invisible
from llama3_tools.values import ArgumentChange, ArgumentProblem, OpenAIMessage, Span, ToolCall, fields_shown, shortened

MISFIT = "misfit"
"""Why a call is refused whose arguments do not fit the schema of its tool."""

NOT_CHOSEN = "not_chosen"
"""Why a call is refused of another tool than the one that the tool choice names."""

PLACEHOLDER = "placeholder"
"""Why a call is refused whose arguments are those of the form that a complaint shows."""

COERCED_ARGUMENTS = "coerced_arguments"
"""The key under which the calls are in which something was changed, deviates, was repaired or does not fit."""

REFUSED_TOOL_CALLS = "refused_tool_calls"
"""The key of a report, and of a message that carries it, under which the calls are that did not run."""

REPORTED = (COERCED_ARGUMENTS, REFUSED_TOOL_CALLS, "retried_tool_calls", "repeated_tool_calls", "surplus_tool_calls")
"""The keys of a report as values of JSON."""


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call that the model meant to make, but that does not run."""

    id: str
    """Its id, like that of a call."""
    name: str
    """The tool that it seems to name; empty if it names none."""
    reason: str
    """One word for the cause: the value of a `RejectionReason`, `"misfit"`, `"not_chosen"` or `"placeholder"`."""
    detail: str
    """What was found, and what was expected."""
    text: str
    """The call as the model wrote it; if the server found it, as a model would write it."""
    span: Span | None
    """Where it is in the model's text; `None` if the server found it."""
    told: str
    """What the model is told about it."""

    __repr__ = fields_shown

    def __str__(self) -> str:
        """Return one line that a person can act on: the tool, the reason and what was found."""
        return escape_invisible(f"{self.name or 'a call'} ({self.reason}): {self.detail}", exact=True)


@dataclass(frozen=True, slots=True)
class Report:
    """What an adapter puts where its users look.

    >>> Report().to_dict()
    {}
    """

    calls: tuple[ToolCall, ...] = ()
    """The calls of the answer, in which these are to be found: `changes` to fit the schema, `problems` that are left,
    `deviations` from the documented forms, and `repaired_from`."""
    refused: tuple[RefusedCall, ...] = ()
    """Calls that do not run: malformed, cut off, beyond a limit, misfits, or of another tool than the chosen one."""
    repeated: tuple[ToolCall, ...] = ()
    """Calls that do not run again: they repeat the one before them, or quote one that was just answered."""
    surplus: tuple[ToolCall, ...] = ()
    """Calls after the first one, with `parallel_tool_calls=False`. They do not run."""
    is_of_retry: bool = False
    """Whether the model had been asked again. If the message also contains the earlier answers, the model already
    knows about the calls in them."""
    retried: tuple[RefusedCall, ...] = ()
    """Calls of the turn's earlier answers that did not run, so that the model was asked again."""

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the report as values of JSON, without what is empty, but for `refused_tool_calls` after a retry.

        `coerced_arguments` has an entry for each call in which something was changed, deviates, was repaired or does
        not fit: what the model has `written`, the `changes` and `problems`, and, if there are any, its `deviations` and
        what it was `repaired_from`. `refused_tool_calls`, `retried_tool_calls`, `repeated_tool_calls` and
        `surplus_tool_calls` are the others. A message may carry these keys: none of them is sent to the model, and the
        next request takes from `refused_tool_calls` what the model is told. Without that key, it reads the message's
        text again.
        """
        entries: tuple[list[Any], ...] = (
            [_described(call) for call in self.calls if _is_reported(call)],
            [_to_dict(call) for call in self.refused],
            [_to_dict(call) for call in self.retried],
            [call.to_openai() for call in self.repeated],
            [call.to_openai() for call in self.surplus],
        )
        kept = {REFUSED_TOOL_CALLS} if self.is_of_retry else set()
        return {key: listed for key, listed in zip(REPORTED, entries, strict=True) if listed or key in kept}

    def lines(self) -> list[str]:
        """Return a line for each call that does not run, for a log: its name and the reason, none of its arguments.

        >>> from llama3_tools.chat import ToolChat
        >>> request = ToolChat([{"name": "now"}]).request([])
        >>> request.read({"content": '{"name": "now", "parameters": {oops}}'}).report.lines()
        ["no call of 'now': malformed"]
        """
        reasons = [(call.name, call.reason) for call in self.refused]
        reasons += [(call.name, f"{call.reason}; the model was asked again") for call in self.retried]
        reasons += [(call.name, "repeats the one before it") for call in self.repeated]
        reasons += [(call.name, "only one call may be made") for call in self.surplus]
        return [f"no call of {shortened(name)!r}: {reason}" for name, reason in reasons]


@dataclass(frozen=True, slots=True)
class Earlier:
    """The earlier answers of a turn, after which the model was asked again."""

    reply: Reply | None = None
    """The last one, if there was one. Its content is the answer if the model now says nothing."""
    has_text: bool = False
    """Whether a stream has sent text of one."""
    has_thoughts: bool = False
    """Whether one had thoughts."""
    unsaid: str = ""
    """The end of the last one's text, from the first refused call on, which a stream has not sent."""

    @property
    def refused(self) -> tuple[RefusedCall, ...]:
        """The calls that were refused in them."""
        return (*self.reply.report.retried, *self.reply.report.refused) if self.reply else ()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model, read."""

    content: str | list[Any] | None
    """The text outside of calls, or a list if there are parts other than text. `None` if there is neither."""
    tool_calls: tuple[ToolCall, ...]
    """The calls to run: those in the text, then those that the server found."""
    reasoning: str | None
    """What the model thought, from the server's field and from the text; `None` if neither has any."""
    finish_reason: str | None
    """Why the answer ended, as OpenAI means it; `None` if the stream broke off."""
    report: Report
    """What was done with the calls."""
    earlier: Earlier | None = field(default=None, compare=False, repr=False)
    """What the next answer needs from this one if the model is asked again."""

    def to_openai(self) -> OpenAIMessage:
        """Return the assistant message that an OpenAI-compatible server should have sent."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = [call.to_openai() for call in self.tool_calls]
        return message  # type: ignore[return-value]  # which has no reasoning_content, and no parts


def _to_dict(call: RefusedCall) -> dict[str, Any]:
    return {**asdict(call), "span": None if call.span is None else list(call.span)}


def _is_reported(call: ToolCall) -> bool:
    return bool(call.changes or call.problems or call.deviations or call.repaired_from is not None)


def _described(call: ToolCall) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": call.id,
        "name": call.name,
        "written": call.arguments_json,
        "changes": [_members(change) for change in call.changes],
        "problems": [_members(problem) | {"reason": str(problem.reason)} for problem in call.problems],
    }
    if call.deviations:
        described["deviations"] = list(call.deviations)
    if call.repaired_from is not None:
        described["repaired_from"] = call.repaired_from
    return described


def _members(one: ArgumentChange | ArgumentProblem) -> dict[str, Any]:
    return {member.name: getattr(one, member.name) for member in fields(one)}
