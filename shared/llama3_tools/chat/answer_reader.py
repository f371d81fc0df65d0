"""How the calls of an answer are read, in text and found by the server, and what is said of those that do not run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from llama3_tools.arguments import Coercer
from llama3_tools.arguments.server_arguments import with_escaped_halves
from llama3_tools.chat.report import MISFIT, NOT_CHOSEN, PLACEHOLDER, RefusedCall
from llama3_tools.chat.server_calls import UnreadCall
from llama3_tools.chat.tool_names import ToolNames
from llama3_tools.extractor import Extractor
from llama3_tools.limits import Limits, too_deep, too_long, too_many
from llama3_tools.literals.json_depth import MAX_DEPTH, depth_is_within
from llama3_tools.options import ReadOptions, written_id
from llama3_tools.prompts import render_tool_call
from llama3_tools.prompts.complaints import Complaints
from llama3_tools.text.json_writing import write_json
from llama3_tools.tools import Tool
from llama3_tools.tools.declared import not_declared
from llama3_tools.values import Rejection, RejectionReason, ToolCall, shortened

_Flaw: TypeAlias = tuple[RejectionReason, str]
NATIVE = "native"
"""The `format` of the calls that a server found."""


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """Reads the answers to a request: the server's calls as strictly as those in text (principles 1 and 8)."""

    extractor: Extractor
    """Reads the text."""
    without_start: Extractor
    """Reads the text if the server has split off the reasoning in which it begins."""
    tools: Mapping[str, Tool]
    """The tools by name."""
    coercers: Mapping[str, Coercer]
    """What makes arguments fit, by name; empty if nothing does."""
    options: ReadOptions
    """How calls are read."""
    names: ToolNames
    """Maps the names of the tools."""
    complaints: Complaints
    """Says what the model is told of a call that does not run."""
    chosen: str | None = None
    """The one tool that may be called, if the tool choice names one."""

    def reports(self, one: Rejection, *, is_due: bool = False) -> bool:
        """Return whether a rejection is an attempt at a tool that may be called.

        Args:
            one: the rejection.
            is_due: whether a call has to be made: each rejection of a tool that may be called is an attempt then.
        """
        name = self.names.own(one.name or "")
        if name and self.chosen not in {None, name}:
            return False
        if one.is_attempt:
            return not name or name in self.tools or self.options.on_unknown_tool != "text"
        return is_due and name in self.tools

    def read(self, call: UnreadCall, ids: set[str], *, made: int, complete: bool) -> ToolCall | RefusedCall:
        """Read a call of the server.

        Args:
            call: the call, with all its pieces.
            ids: those that the message has before it; its own is added. An id that is taken is replaced.
            made: how many calls the message has before it.
            complete: whether the model ended its turn; if not, a call without any arguments is cut off (principle 6).
        """
        name = self.names.own(call.name)
        call_id = call.id if call.id and call.id not in ids else self.new_id()
        ids.add(call_id)
        flaw = self._flaw(call, name, made, complete=complete)
        if flaw is not None:
            return self.refuse_unread(call, *flaw, call_id)
        arguments, written = call.arguments or {}, call.text or "{}"
        if name not in self.coercers:
            return ToolCall(name, arguments, written, call_id, (0, 0), NATIVE)
        fit = self.coercers[name].coerce(arguments, depth=self.options.limits.max_depth)
        return ToolCall(name, fit.arguments, written, call_id, (0, 0), NATIVE, fit.changes, fit.problems)

    def new_id(self) -> str:
        """Make the id of a call."""
        return written_id(self.options.id_factory)

    def refuse_attempt(self, attempt: Rejection, text: str) -> RefusedCall:
        """Return an attempt in the text as a call that does not run."""
        told = self.complaints.of_unread(attempt.name, attempt.reason, attempt.detail)
        name, reason = self.names.own(attempt.name or ""), str(attempt.reason)
        return RefusedCall(self.new_id(), name, reason, attempt.detail, text, attempt.span, told)

    def refuse_unread(self, call: UnreadCall, reason: RejectionReason, detail: str, call_id: str) -> RefusedCall:
        """Return a call of the server's that does not run: its text is as a model would have written it."""
        name = self.names.own(call.name)
        text = render_tool_call(name or "unknown", with_escaped_halves(call.text) or "{}")
        told = self.complaints.of_unread(name, reason, detail)
        return RefusedCall(call_id, name, str(reason), detail, text, None, told)

    def refuse_unwanted(self, call: ToolCall, text_of: Callable[[ToolCall], str]) -> RefusedCall | None:
        """Return a call that was read and never runs: of another tool than the chosen one, or of placeholders.

        Args:
            call: the call.
            text_of: returns what the model wrote for it.
        """
        if self.chosen not in {None, call.name}:
            detail = f"only {shortened(self.complaints.tools[str(self.chosen)].name)!r} may be called now"
            told = self.complaints.of_unread(call.name, RejectionReason.UNKNOWN_TOOL, detail)
            return RefusedCall(call.id, call.name, NOT_CHOSEN, detail, text_of(call), _span_of(call), told)
        problems = self.complaints.placeholders_in(call.name, call.arguments)
        return self.refuse_misfit(call, problems, text_of(call), PLACEHOLDER) if problems else None

    def refuse_misfit(self, call: ToolCall, problems: list[str], text: str, reason: str = MISFIT) -> RefusedCall:
        """Return a call whose arguments do not fit."""
        told = self.complaints.of_misfit(call.name, problems, call.arguments)
        return RefusedCall(call.id, call.name, reason, "; ".join(problems), text, _span_of(call), told)

    def _flaw(self, call: UnreadCall, name: str, made: int, *, complete: bool) -> _Flaw | None:
        """Return why a call of the server does not run."""
        if not name:
            return RejectionReason.INVALID_NAME, "it has no name of a tool"
        if call.growing.is_too_deep:
            return too_deep(MAX_DEPTH - 1)
        if not complete and (call.arguments is None or call.is_blank):
            return RejectionReason.TRUNCATED, "its arguments are cut off"
        if call.arguments is None:
            return RejectionReason.MALFORMED, "its arguments are no JSON object"
        if self.chosen is None and self.options.on_unknown_tool != "call" and name not in self.tools:
            return RejectionReason.UNKNOWN_TOOL, not_declared(name, self.tools)
        return _excess(call.arguments, self.options.limits, made)


def _excess(arguments: dict[str, Any], limits: Limits, made: int) -> _Flaw | None:
    """Return the bound that a call is beyond after so many others, in the words used for calls in text."""
    if made >= limits.max_calls:
        return too_many(limits)
    written = write_json(arguments)
    if len(written) > limits.max_call_length:
        return too_long(limits)
    is_within = depth_is_within(written, 0, len(written), limits.max_depth)
    return None if is_within else too_deep(limits.max_depth)


def _span_of(call: ToolCall) -> tuple[int, int] | None:
    return None if call.format == NATIVE else call.span
