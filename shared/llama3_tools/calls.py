"""Which JSON is a call (DESIGN rules 1, 2, 11 and 12). Decided here, once, for every wire format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from llama3_tools.json_scan import Judge, Refusal, attempted_name, parse_whole
from llama3_tools.json_text import (
    JsonMember,
    JsonObject,
    parse_object,
    parse_objects,
    same_json,
)
from llama3_tools.tools import Tool
from llama3_tools.values import RejectionReason, Span, ToolCall

__all__ = ["CallReader", "Parts", "Scope"]

Parts: TypeAlias = list["ToolCall | str"]
"""What a candidate held: calls, and the message of an envelope as a string."""


class Scope(NamedTuple):
    """Where a call stands: bare, or inside wrappers."""

    format: str
    """The wire format that its calls are reported as."""
    wrappers: tuple[str, ...] = ()
    """The wrappers around, outermost first."""


@dataclass(frozen=True, slots=True)
class CallReader:
    """Turns parsed JSON into calls, by the tools that were declared."""

    tools: Mapping[str, Tool] | None
    """The declared tools by name, or `None` where any name may be called."""
    on_unknown_tool: Literal["text", "call"]
    """What becomes of a call of a tool that was not declared."""
    id_factory: Callable[[], str]
    """Makes the id of each call (rule 13)."""

    def read(self, text: str, pos: int, offset: int, scope: Scope, *, checked: bool = False) -> ReadJson | None:
        """Read the object or the array at `text[pos]`; `None` where it is not plainly one.

        Args:
            text: the text to read in.
            pos: the index of the brace or bracket.
            offset: the offset of `text[0]` in the model output.
            scope: where the candidate stands.
            checked: the text at `pos` is known to be one strict JSON value.
        """
        if text.startswith("{", pos):
            parsed = parse_object(text, pos, checked=checked)
            if parsed is None:
                return None
            return ReadJson(self._object(parsed, offset, scope) if parsed.members else None, parsed.end)
        items = parse_objects(text, pos, checked=checked)
        if not items:
            return None
        end = text.index("]", items[-1].end) + 1
        has_members = any(item.members for item in items)
        return ReadJson(self._calls(items, offset, scope) if has_members else None, end)

    def judge(self, scope: Scope) -> Judge:
        """Give what tells whether an element of an array is a call, without making one."""
        return partial(replace(self, id_factory=str).refuse, scope)

    def refuse(self, scope: Scope, text: str, index: int) -> Refusal | None:
        """Tell why an element of an array is not a call, or `None` if it is one."""
        element = parse_object(text, 0, checked=True)
        outcome = self._calls([element], 0, scope, index) if element else None
        return outcome if isinstance(outcome, Refusal) else None

    def named(self, name: str, arguments: JsonObject, span: Span, scope: Scope) -> Parts | Refusal:
        """Make the call of a format that carries the name outside of the JSON."""
        outcome = self._make(name, Arguments(arguments.value, arguments.json), span, scope)
        return [outcome] if isinstance(outcome, ToolCall) else outcome

    def _object(self, parsed: JsonObject, offset: int, scope: Scope) -> Parts | Refusal:
        outcome = self._call(parsed, offset, scope)
        if isinstance(outcome, ToolCall):
            return [outcome]
        if outcome.reason is RejectionReason.NOT_A_CALL:
            return self._envelope(parsed, offset, scope) or outcome
        return outcome

    def _calls(self, items: list[JsonObject], offset: int, scope: Scope, first: int = 0) -> Parts | Refusal:
        calls: Parts = []
        for index, item in enumerate(items, first):
            outcome = self._call(item, offset, scope)
            if isinstance(outcome, Refusal):
                return outcome._replace(detail=f"element {index} of the array: {outcome.detail}")
            calls.append(outcome)
        return calls

    def _envelope(self, parsed: JsonObject, offset: int, scope: Scope) -> Parts | Refusal | None:
        """Read an object with `tool_call` or `tool_calls` (rule 12); `None` where it is no envelope."""
        members = {member.key: member for member in parsed.members}
        if ("tool_call" in members) == ("tool_calls" in members):
            return None
        scope = scope if scope.wrappers else scope._replace(format="envelope")
        parts: Parts = []
        for member in parsed.members:
            if member.key in ("message", "content") and member.value is not None:
                if not isinstance(member.value, str):
                    return None
                parts.append(member.value)
            elif member.key in ("tool_call", "tool_calls"):
                calls = self._enclosed(parsed.text, member, offset, scope)
                if calls is None or isinstance(calls, Refusal):
                    return calls
                parts += calls
        return parts

    def _enclosed(self, text: str, member: JsonMember, offset: int, scope: Scope) -> Parts | Refusal | None:
        if member.key == "tool_call" and member.value is None:
            return []
        if member.key == "tool_call" and isinstance(member.value, dict):
            item = parse_object(text, member.start, checked=True)
            items = None if item is None else [item]
        elif member.key == "tool_calls" and isinstance(member.value, list):
            items = parse_objects(text, member.start, checked=True)
        else:
            items = None
        return None if items is None else self._calls(items, offset, scope)

    def _call(self, parsed: JsonObject, offset: int, scope: Scope) -> ToolCall | Refusal:
        """Read one object in any of the shapes of rule 1."""
        members = {member.key: member for member in parsed.members}
        if len(members) != len(parsed.members):
            detail = f"the key {_repeated(parsed)!r} stands twice"
            return Refusal(RejectionReason.MALFORMED, detail, attempted_name(parsed.json))
        function = members.get("function")
        has_arguments = "parameters" in members or "arguments" in members
        if function and isinstance(function.value, dict) and not ("name" in members and has_arguments):
            return self._openai_call(parsed, function, offset, scope)
        name = members.get("name") or (members.get("tool_name") if "tool" in scope.wrappers else None)
        if name is None and function and members.get("type") and members["type"].value == "function":
            name = function
        if name is None:
            keys = ", ".join(list(members)[:8])
            return Refusal(RejectionReason.NOT_A_CALL, f"an object with the keys {keys or 'none'}, but no name")
        return self._named_call(parsed, members, name.value, (parsed.start + offset, parsed.end + offset), scope)

    def _openai_call(self, parsed: JsonObject, function: JsonMember, offset: int, scope: Scope) -> ToolCall | Refusal:
        """Read `{"type": "function", "function": {"name": …, "arguments": …}}`: the span is the outer object's."""
        inner = parse_object(parsed.text, function.start, checked=True)
        members = {member.key: member for member in inner.members} if inner else {}
        if inner is None or len(members) != len(inner.members):
            return Refusal(RejectionReason.MALFORMED, "a key of the function stands twice", attempted_name(parsed.json))
        name = members["name"].value if "name" in members else None
        if name is None:
            return Refusal(RejectionReason.NOT_A_CALL, "a function without a name")
        return self._named_call(inner, members, name, (parsed.start + offset, parsed.end + offset), scope)

    def _named_call(
        self, parsed: JsonObject, members: dict[str, JsonMember], name: object, span: Span, scope: Scope
    ) -> ToolCall | Refusal:
        given = [members[key] for key in ("parameters", "arguments") if key in members]
        if not isinstance(name, str) or not name:
            reason = RejectionReason.INVALID_NAME if given else RejectionReason.NOT_A_CALL
            return Refusal(reason, "the name is empty" if name == "" else "the name is not a string")
        if _is_schema(members):
            return Refusal(RejectionReason.SCHEMA_ECHO, f"the schema of {name!r}, not a call of it", name)
        if not given:
            return self._call_without_arguments(name, span, scope)
        arguments = [_arguments(parsed.text, member) for member in given]
        first, last = arguments[0], arguments[-1]
        if first is None or last is None:
            key = given[0 if first is None else -1].key
            detail = f"{key!r} is neither an object nor a string that holds one"
            return Refusal(RejectionReason.INVALID_ARGUMENTS, detail, name)
        if first is not last and not same_json(first.value, last.value):
            detail = "'parameters' and 'arguments' have different values"
            return Refusal(RejectionReason.CONFLICTING_ARGUMENTS, detail, name)
        return self._make(name, first, span, scope)

    def _call_without_arguments(self, name: str, span: Span, scope: Scope) -> ToolCall | Refusal:
        tool = self.tools.get(name) if self.tools else None
        if tool is not None and not tool.requires_arguments:
            return self._make(name, Arguments({}, "{}"), span, scope)
        needs = "a tool that requires some" if tool else "no declared tool"
        detail = f"{name!r} has neither 'parameters' nor 'arguments', and is {needs}"
        return Refusal(RejectionReason.MISSING_ARGUMENTS, detail, name)

    def _make(self, name: str, arguments: Arguments, span: Span, scope: Scope) -> ToolCall | Refusal:
        if self.tools is not None and name not in self.tools and self.on_unknown_tool == "text":
            declared = ", ".join(list(self.tools)[:8]) or "none"
            detail = f"{name!r} is not a declared tool; declared: {declared}"
            return Refusal(RejectionReason.UNKNOWN_TOOL, detail, name)
        return ToolCall(name, arguments.value, arguments.json, self.id_factory(), span, scope.format)


class Arguments(NamedTuple):
    """The arguments of a call, decoded and as they were written."""

    value: dict[str, Any]
    json: str


class ReadJson(NamedTuple):
    """What stood at a brace or bracket, and where it ended (an index into the text that was read)."""

    outcome: Parts | Refusal | None
    """`None` for JSON without a single key, which is prose."""
    end: int


def _arguments(text: str, member: JsonMember) -> Arguments | None:
    """Read an arguments value: an object, or a string that holds one (rule 1)."""
    if isinstance(member.value, dict):
        return Arguments(member.value, text[member.start : member.end])
    held = parse_whole(member.value) if isinstance(member.value, str) else None
    return Arguments(held.value, held.json) if held else None


def _is_schema(members: dict[str, JsonMember]) -> bool:
    parameters = members["parameters"].value if "parameters" in members else None
    return (
        "description" in members
        and isinstance(parameters, dict)
        and parameters.get("type") == "object"
        and isinstance(parameters.get("properties"), dict)
    )


def _repeated(parsed: JsonObject) -> str:
    keys = [member.key for member in parsed.members]
    return next(key for key in keys if keys.count(key) > 1)
