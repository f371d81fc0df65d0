"""From what was written to calls: one object or an envelope, by the declared tools (rules 1, 11, 12 and 13)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from llama3_tools.arguments import Coercer
from llama3_tools.calls.shapes import ARGUMENTS, ENVELOPES, WrittenCall, read_call
from llama3_tools.limits import too_deep
from llama3_tools.literals.json_depth import MAX_DEPTH, depth_is_within
from llama3_tools.literals.json_object import JsonObject, parse_elements, parse_object
from llama3_tools.literals.refusal import Refusal
from llama3_tools.tools.declared import NO_ARGUMENTS, Tool, not_declared
from llama3_tools.values import RejectionReason, Span, ToolCall

__all__ = ["BUILT_IN", "CallReader", "Found", "Placed", "coercers_of"]

BUILT_IN = ("brave_search", "wolfram_alpha")
"""Meta's built-in tools, which are called `NAME.call(…)`: meta-llama/llama-models, prompt_format.md of llama3_1."""

_MESSAGES = ("message", "content")
_LABELS = ("role", "name", "type", "id", "index", "finish_reason")
"""What may stand in an envelope and is not read, as OpenAI's messages have it. Other keys hold what would be lost."""
_EMPTY: tuple[object, ...] = (None, "", [], {})


class Placed(NamedTuple):
    """A call that was written in an envelope, and where it begins and ends in the text that was read."""

    written: WrittenCall
    start: int
    end: int


Found: TypeAlias = "WrittenCall | list[Placed | str]"
"""What an object holds: a call; or, of an envelope, calls and the message."""


def coercers_of(tools: Mapping[str, Tool]) -> dict[str, Coercer]:
    """Return what makes arguments fit the schemas of these tools, by the names of the tools.

    >>> coercers_of({"now": Tool("now")})["now"].coerce({}).arguments
    {}
    """
    return {name: _coercer_of(tool) for name, tool in tools.items()}


def _coercer_of(tool: Tool) -> Coercer:
    return Coercer(tool.parameters or NO_ARGUMENTS)


class CallReader:
    """Turns parsed JSON into calls, by the tools that were declared."""

    __slots__ = (
        "_coercers",
        "_depth",
        "_id_factory",
        "_lets_unknown_through",
        "_name_beginnings",
        "_sorted_names",
        "declared",
        "lenient",
        "repair",
        "tools",
    )

    def __init__(  # noqa: PLR0913 (an option each)
        self,
        tools: Mapping[str, Tool] | None = None,
        *,
        on_unknown_tool: str = "text",
        id_factory: Callable[[], str] = str,
        coerce_arguments: bool = False,
        lenient: bool = False,
        repair: bool = False,
        depth: int = MAX_DEPTH - 1,
    ) -> None:
        self.declared: Mapping[str, Tool] = tools or {}
        """The declared tools by name; empty if none were declared."""
        self.tools = tools
        """The declared tools by name, or `None` if any name may be called."""
        self.repair = repair
        """Whether malformed calls of declared tools are mended."""
        self.lenient = lenient
        """Whether variants that no manual has are calls, too."""
        self._lets_unknown_through = on_unknown_tool == "call"
        self._id_factory = id_factory
        self._coercers: dict[str, Coercer | None] | None = {} if coerce_arguments and tools is not None else None
        self._depth = depth
        self._sorted_names = sorted({*BUILT_IN, *(tools or ())})
        self._name_beginnings = {name[:length] for name in self._sorted_names for length in (1, 2)}

    def read(self, parsed: JsonObject, *, tool_name: bool = False) -> Found | Refusal:
        """Read an object: a call, or an envelope with calls.

        Args:
            parsed: the object.
            tool_name: whether `tool_name` counts as `name`, as it does in a `<tool>` tag.
        """
        members = parsed.members
        if "tool_calls" in members or "tool_call" in members:
            envelope = self._envelope(parsed)
            if envelope is not None:
                return envelope
        found = read_call(parsed, self.tools, lenient=self.lenient, tool_name=tool_name)
        return found if isinstance(found, Refusal) else self.checked(found)

    def checked(self, written: WrittenCall) -> WrittenCall | Refusal:
        """Return a call, or why it is none: of a tool that was not declared, or with arguments nested too deep."""
        name, json = written.name, written.arguments_json
        if self.tools is not None and name not in self.tools and not self._lets_unknown_through:
            return Refusal(RejectionReason.UNKNOWN_TOOL, not_declared(name, self.tools), name)
        if not depth_is_within(json, 0, len(json), self._depth):
            return Refusal(*too_deep(self._depth), name)
        return written

    def ends_in_other_word(self, text: str) -> bool:
        """Return whether text ends in a word of letters, after a space, that begins no declared name: most prose does.

        >>> reader = CallReader({"get_weather": Tool("get_weather")})
        >>> reader.ends_in_other_word("I look "), reader.ends_in_other_word("I ge"), reader.ends_in_other_word("get_")
        (True, False, False)
        """
        text = text.rstrip(" ")
        word = text[text.rfind(" ") + 1 :]
        return word.isalpha() and word[:2] not in self._name_beginnings

    def may_begin_name(self, text: str) -> bool:
        """Return whether text is the beginning of a declared name, or of one with `.call` after it.

        >>> reader = CallReader({"get_weather": Tool("get_weather")})
        >>> reader.may_begin_name("get"), reader.may_begin_name("got"), reader.may_begin_name("get_weather.c")
        (True, False, True)
        """
        names = self._sorted_names
        at = bisect_left(names, text)
        if at < len(names) and names[at].startswith(text):
            return True
        base, dot, method = text.rpartition(".")
        return bool(dot) and "call".startswith(method) and base in names

    def make(self, written: WrittenCall, span: Span, format_: str, repaired_from: str | None = None) -> ToolCall:
        """Make a call of what was written."""
        name, arguments, arguments_json, deviations = written
        coercer = None if self._coercers is None else self._coercer(name)
        if coercer is None:
            return ToolCall(
                name, arguments, arguments_json, self._id_factory(), span, format_, (), (), deviations, repaired_from
            )
        fit = coercer.coerce(arguments, depth=self._depth)
        return ToolCall(
            name,
            fit.arguments,
            arguments_json,
            self._id_factory(),
            span,
            format_,
            fit.changes,
            fit.problems,
            deviations,
            repaired_from,
        )

    def arguments_of(self, written: WrittenCall) -> Mapping[str, Any]:
        """Return the arguments that a call has once it is made: with coercion, as fits the tool's schema."""
        coercer = None if self._coercers is None else self._coercer(written.name)
        return written.arguments if coercer is None else coercer.coerce(written.arguments, depth=self._depth).arguments

    def _coercer(self, name: str) -> Coercer | None:
        """Return what makes the arguments of a tool fit, read when the tool is called first."""
        coercers = self._coercers
        assert coercers is not None  # noqa: S101  # asked for with coercion alone
        if name not in coercers:
            tool = self.declared.get(name)
            coercers[name] = _coercer_of(tool) if tool else None
        return coercers[name]

    def _envelope(self, parsed: JsonObject) -> list[Placed | str] | Refusal | None:
        """Read an envelope; return `None` for any other object."""
        members = parsed.members
        is_call = "name" in members and "role" not in members
        if is_call or not members.keys().isdisjoint(ARGUMENTS) or all(key in members for key in ENVELOPES):
            return None
        if parsed.flaw:
            return Refusal(RejectionReason.MALFORMED, parsed.flaw)
        parts: list[Placed | str] = []
        for key, value in members.items():
            if key in ENVELOPES:
                found = self._enclosed(parsed, key)
                if isinstance(found, Refusal):
                    return found
                parts += found
            elif key in _MESSAGES and isinstance(value, str):
                parts.append(value)
            elif key == "role" and value not in ("assistant", None):
                return self._not_ours(f"an envelope of the role {value!r}", parsed)
            elif key not in _LABELS and value not in _EMPTY:
                return self._not_ours(f"an envelope with {key!r}, which would be lost", parsed)
        return parts

    def _not_ours(self, detail: str, parsed: JsonObject) -> Refusal:
        for key in ENVELOPES:
            found = self._enclosed(parsed, key) if key in parsed.members else []
            name = found.name if isinstance(found, Refusal) else next((part.written.name for part in found), None)
            if name:
                return Refusal(RejectionReason.NOT_A_CALL, detail, name)
        return Refusal(RejectionReason.NOT_A_CALL, detail)

    def _enclosed(self, parsed: JsonObject, key: str) -> list[Placed] | Refusal:
        value: Any = parsed.members[key]
        if value is None:
            return []
        items: list[JsonObject] | None = None
        if isinstance(value, list):
            items = parse_elements(parsed.text, parsed.spans[key][0])
        elif isinstance(value, dict) and key == "tool_call":
            item = parse_object(parsed.text, parsed.spans[key][0], checked=True)
            items = [item] if item else None
        if items is None:
            return Refusal(RejectionReason.NOT_A_CALL, f"an envelope whose {key!r} holds anything but calls")
        placed = []
        for item in items:
            found = read_call(item, self.tools, lenient=self.lenient)
            found = found if isinstance(found, Refusal) else self.checked(found)
            if isinstance(found, Refusal):
                return found
            placed.append(Placed(found, item.start, item.end))
        return placed
