"""Which JSON object is a call, and in which shape (rule 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from llama3_tools.json_scan import Refusal, attempted_name, parse_whole
from llama3_tools.json_text import JsonMember, JsonObject, parse_object, same_json
from llama3_tools.tools import Tool
from llama3_tools.values import RejectionReason, shortened

__all__ = ["WrittenCall", "read_call", "refuse_empty"]


class WrittenCall(NamedTuple):
    """A call as the model wrote it: the arguments decoded, and as text."""

    name: str
    arguments: dict[str, Any]
    arguments_json: str


def read_call(
    parsed: JsonObject, tools: Mapping[str, Tool] | None, *, tool_name: bool = False
) -> WrittenCall | Refusal:
    """Read an object in any of the shapes of rule 1.

    Args:
        parsed: the object.
        tools: the declared tools, which tell whether a call may do without arguments.
        tool_name: whether `tool_name` counts as `name`, as it does inside a `<tool>` tag.
    """
    members = {member.key: member for member in parsed.members}
    if len(members) != len(parsed.members):
        return _twice(parsed, attempted_name(parsed.json))
    function = members.get("function")
    has_arguments = "parameters" in members or "arguments" in members
    if function and isinstance(function.value, dict) and not ("name" in members and has_arguments):
        return _openai_call(parsed, function, tools, has_arguments=has_arguments)
    name = members.get("name") or (members.get("tool_name") if tool_name else None)
    if name is None and function and "type" in members and members["type"].value == "function":
        name = function
    if name is None:
        keys = shortened(", ".join(list(members)[:8])) or "none"
        return Refusal(RejectionReason.NOT_A_CALL, f"an object with the keys {keys}, but no name")
    return _named_call(parsed.text, members, name.value, tools)


def refuse_empty(name: str, tools: Mapping[str, Tool] | None) -> Refusal | None:
    """Refuse a call that says nothing about arguments, unless it is of a declared tool that requires none."""
    tool = (tools or {}).get(name)
    if tool is not None and not tool.requires_arguments:
        return None
    needs = "a tool that requires some" if tool else "no declared tool"
    detail = f"{shortened(name)!r} has neither 'parameters' nor 'arguments', and is {needs}"
    return Refusal(RejectionReason.MISSING_ARGUMENTS, detail, name)


def _openai_call(
    parsed: JsonObject, function: JsonMember, tools: Mapping[str, Tool] | None, *, has_arguments: bool
) -> WrittenCall | Refusal:
    """Read `{"type": "function", "function": {"name": …, "arguments": …}}`."""
    inner = parse_object(parsed.text, function.start, checked=True)
    members = {member.key: member for member in inner.members} if inner else {}
    if inner and len(members) != len(inner.members):
        return _twice(inner, attempted_name(parsed.json))
    name = members["name"].value if "name" in members else None
    if name is None:
        return Refusal(RejectionReason.NOT_A_CALL, "a function without a name")
    if has_arguments and isinstance(name, str) and not ("parameters" in members or "arguments" in members):
        return Refusal(RejectionReason.INVALID_ARGUMENTS, "the arguments stand beside the function, not in it", name)
    return _named_call(parsed.text, members, name, tools)


def _named_call(
    text: str, members: Mapping[str, JsonMember], name: object, tools: Mapping[str, Tool] | None
) -> WrittenCall | Refusal:
    given = [members[key] for key in ("parameters", "arguments") if key in members]
    if not isinstance(name, str) or not name:
        reason = RejectionReason.INVALID_NAME if given else RejectionReason.NOT_A_CALL
        return Refusal(reason, "the name is empty" if name == "" else "the name is not a string")
    tool = tools.get(name) if tools else None
    if _is_schema(members, tool):
        return Refusal(RejectionReason.SCHEMA_ECHO, f"the schema of {shortened(name)!r}, not a call of it", name)
    if not given:
        return refuse_empty(name, tools) or WrittenCall(name, {}, "{}")
    arguments = [_arguments(text, member) for member in given]
    first, last = arguments[0], arguments[-1]
    if first is None or last is None:
        key = given[0 if first is None else -1].key
        return Refusal(
            RejectionReason.INVALID_ARGUMENTS, f"{key!r} is neither an object nor a string that holds one", name
        )
    if first is not last and not same_json(first[0], last[0]):
        return Refusal(
            RejectionReason.CONFLICTING_ARGUMENTS, "'parameters' and 'arguments' have different values", name
        )
    return WrittenCall(name, *first)


def _arguments(text: str, member: JsonMember) -> tuple[dict[str, Any], str] | None:
    """Read an arguments value: an object, or a string that holds one."""
    if isinstance(member.value, dict):
        return member.value, text[member.start : member.end]
    held = parse_whole(member.value) if isinstance(member.value, str) else None
    return (held.value, held.json) if held else None


def _is_schema(members: Mapping[str, JsonMember], tool: Tool | None) -> bool:
    """Tell whether this is a tool's schema. Tools need no description; then a parameter may be called `properties`."""
    parameters = members["parameters"].value if "parameters" in members else None
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return False
    takes_properties = tool is not None and "properties" in (tool.parameters.get("properties") or {})
    return isinstance(parameters.get("properties"), dict) and ("description" in members or not takes_properties)


def _twice(parsed: JsonObject, name: str | None) -> Refusal:
    ((key, _),) = Counter(member.key for member in parsed.members).most_common(1)
    return Refusal(RejectionReason.MALFORMED, f"the key {shortened(key)!r} stands twice", name)
