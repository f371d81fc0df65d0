"""Which JSON object is a call, and in which shape (rule 1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from llama3_tools.reading.json_depth import MAX_DEPTH
from llama3_tools.reading.json_equality import same_json
from llama3_tools.reading.json_parse import JsonMember, JsonObject, decode_object, parse_object
from llama3_tools.reading.json_scan import Refusal, attempted_name, parse_whole
from llama3_tools.tools import Tool
from llama3_tools.values import RejectionReason, shortened

__all__ = ["ENVELOPES", "WrittenCall", "read_call", "read_plain_call", "refuse_empty"]

ENVELOPES = ("tool_call", "tool_calls")
"""The keys under which an envelope has its calls (rule 12)."""

_ARGUMENTS = ("parameters", "arguments")

_LABELS = ("type", "id")
"""What may stand beside the name of a call that has no arguments."""

_DESCRIPTIONS = {"description", "input_schema", "inputSchema"}
"""What a schema has, and a call has not."""

_TYPES = {"string", "integer", "number", "boolean", "array", "object"}

_RESULTS = {"output", "result", "observation", "tool_output"}
"""What stands beside a call that was run already."""

_OTHER_NAMES = (
    "tool_name",  # Cohere's Command R; LlamaIndex's ToolSelection
    "function_name",  # lmstudio-ai/lmstudio-js issue 277
    "tool",  # LangChain's OllamaFunctions, with `tool_input`
    "function",  # letta-ai/letta issue 1450, with `params`
    "action",  # LangChain's JSON agents, with `action_input`: langchain-ai/langchain issue 17356
)
_OTHER_ARGUMENTS = (
    "args",  # LangChain's ToolCall
    "params",  # letta-ai/letta issue 1450
    "input",  # Anthropic's tool_use
    "inputs",
    "kwargs",
    "tool_input",  # LangChain's OllamaFunctions
    "tool_args",
    "tool_kwargs",  # LlamaIndex's ToolSelection
    "tool_arguments",
    "tool_parameters",
    "action_input",  # LangChain's JSON agents
    "function_args",
    "function_arguments",
    "parameter",
    "argument",
)


_S = r"[ \t\n\r]*"
_PLAIN_HEAD = re.compile(
    rf'\{{{_S}"name"{_S}:{_S}"([^"\\\x00-\x1f]+)"{_S},{_S}"(?:parameters|arguments)"{_S}:{_S}(?=\{{)'
)
_PLAIN_TAIL = re.compile(rf"{_S}\}}")


class WrittenCall(NamedTuple):
    """A call as the model wrote it: the arguments decoded, and as text."""

    name: str
    arguments: dict[str, Any]
    arguments_json: str
    deviations: tuple[str, ...] = ()
    """How it differs from the documented forms, a sentence each."""


def read_plain_call(text: str, pos: int) -> tuple[WrittenCall, int] | None:
    """Read the commonest shape in one go: a name, then an object of arguments, and nothing else.

    >>> read_plain_call('{"name": "f", "parameters": {"n": 1}}', 0)
    (WrittenCall(name='f', arguments={'n': 1}, arguments_json='{"n": 1}', deviations=()), 37)

    Returns:
        The call, and where it ends; `None` for any other shape, and for what may be a schema.
    """
    head = _PLAIN_HEAD.match(text, pos)
    if head is None:
        return None
    start = head.end()
    decoded = decode_object(text, start, levels=MAX_DEPTH - 1)
    if decoded is None:
        return None
    arguments, end = decoded
    tail = _PLAIN_TAIL.match(text, end)
    if tail is None or arguments.get("type") == "object":
        return None
    return WrittenCall(head[1], arguments, text[start:end]), tail.end()


def read_call(
    parsed: JsonObject, tools: Mapping[str, Tool] | None, *, lenient: bool, tool_name: bool = False
) -> WrittenCall | Refusal:
    """Read an object in any of the shapes of rule 1.

    Args:
        parsed: the object.
        tools: the declared tools, which tell whether a call may do without arguments.
        lenient: whether the name and the arguments may stand under other keys.
        tool_name: whether `tool_name` counts as `name`, as it does inside a `<tool>` tag.
    """
    members = {member.key: member for member in parsed.members}
    if len(members) != len(parsed.members):
        return _twice(parsed, attempted_name(parsed.json))
    lenient = lenient and members.keys().isdisjoint(ENVELOPES)
    function = members.get("function")
    has_arguments = bool(_given(members, lenient=lenient))
    if function and isinstance(function.value, dict) and not ("name" in members and has_arguments):
        return _openai_call(parsed, members, tools, lenient=lenient)
    name = members.get("name") or (members.get("tool_name") if tool_name else None)
    if name is None and function and "type" in members and members["type"].value == "function":
        name = function
    deviations: tuple[str, ...] = ()
    others = _other_names(members, tools) if name is None and lenient and has_arguments else []
    if others:
        name, deviations = others[0], (f"the name stands under {others[0].key!r}",)
    if name is None:
        keys = shortened(", ".join(list(members)[:8])) or "none"
        return Refusal(RejectionReason.NOT_A_CALL, f"an object with the keys {keys}, but no name")
    found = _conflict(others) or _named_call(parsed.text, members, name.value, tools, lenient=lenient)
    if isinstance(found, Refusal):
        return found
    deviations += found.deviations
    if deviations and any(members[key].value is not None for key in _RESULTS & members.keys()):
        return Refusal(
            RejectionReason.NOT_A_CALL, "a call that was run already: its result stands beside it", found.name
        )
    return found._replace(deviations=deviations)


def refuse_empty(name: str, tools: Mapping[str, Tool] | None) -> Refusal | None:
    """Refuse a call that says nothing about arguments, unless it is of a declared tool that requires none."""
    tool = (tools or {}).get(name)
    if tool is not None and not tool.requires_arguments:
        return None
    needs = "a tool that requires some" if tool else "no declared tool"
    detail = f"{shortened(name)!r} has neither 'parameters' nor 'arguments', and is {needs}"
    return Refusal(RejectionReason.MISSING_ARGUMENTS, detail, name)


def _openai_call(
    parsed: JsonObject, members: Mapping[str, JsonMember], tools: Mapping[str, Tool] | None, *, lenient: bool
) -> WrittenCall | Refusal:
    """Read `{"type": "function", "function": {"name": …, "arguments": …}}`."""
    inner = parse_object(parsed.text, members["function"].start, checked=True)
    function = {member.key: member for member in inner.members} if inner else {}
    if inner and len(function) != len(inner.members):
        return _twice(inner, attempted_name(parsed.json))
    name = function["name"].value if "name" in function else None
    if name is None:
        return Refusal(RejectionReason.NOT_A_CALL, "a function without a name")
    beside = _given(members, lenient=lenient)
    if not beside:
        function = {key: member for key, member in members.items() if key != "function"} | function
    if not beside or not isinstance(name, str) or _given(function, lenient=lenient):
        return _named_call(parsed.text, function, name, tools, lenient=lenient)
    detail = "the arguments stand beside the function, not in it"
    if not lenient:
        return Refusal(RejectionReason.INVALID_ARGUMENTS, detail, name)
    function |= {member.key: member for member in beside}
    found = _named_call(parsed.text, function, name, tools, lenient=lenient)
    return found if isinstance(found, Refusal) else found._replace(deviations=(detail, *found.deviations))


def _named_call(
    text: str, members: Mapping[str, JsonMember], name: object, tools: Mapping[str, Tool] | None, *, lenient: bool
) -> WrittenCall | Refusal:
    given = _given(members, lenient=lenient)
    if not isinstance(name, str) or not name:
        reason = RejectionReason.INVALID_NAME if given else RejectionReason.NOT_A_CALL
        return Refusal(reason, "the name is empty" if name == "" else "the name is not a string")
    if _is_schema(members, given, tools.get(name) if tools else None):
        return _schema_echo(name)
    if not given:
        return refuse_empty(name, tools) or _refuse_others(members, name) or WrittenCall(name, {}, "{}")
    arguments = {member.key: _arguments(text, member) for member in given}
    key, first = next(iter(arguments.items()))
    for other, held in arguments.items():
        if first is None or held is None:
            detail = f"{other!r} is neither an object nor a string that holds one"
            return Refusal(RejectionReason.INVALID_ARGUMENTS, detail, name)
        if held is not first and not same_json(first[0], held[0]):
            detail = f"{key!r} and {other!r} have different values"
            return Refusal(RejectionReason.CONFLICTING_ARGUMENTS, detail, name)
    assert first is not None  # noqa: S101  # or it was refused
    return WrittenCall(name, *first, () if key in _ARGUMENTS else (f"the arguments stand under {key!r}",))


def _refuse_others(members: Mapping[str, JsonMember], name: str) -> Refusal | None:
    """Refuse a call without arguments that says more than its name: that may be arguments, a result or a schema."""
    others = [key for key, member in members.items() if key not in _LABELS and member.value not in (None, name)]
    if not others:
        return None
    if not _DESCRIPTIONS.isdisjoint(others):
        return _schema_echo(name)
    detail = f"{shortened(name)!r} has neither 'parameters' nor 'arguments', but {shortened(', '.join(others[:8]))}"
    return Refusal(RejectionReason.MISSING_ARGUMENTS, detail, name)


def _schema_echo(name: str) -> Refusal:
    return Refusal(RejectionReason.SCHEMA_ECHO, f"the schema of {shortened(name)!r}, not a call of it", name)


def _other_names(members: Mapping[str, JsonMember], tools: Mapping[str, Tool] | None) -> list[JsonMember]:
    """Give what may be the name: where a declared tool is among them, those of declared tools."""
    names = [members[key] for key in _OTHER_NAMES if key in members]
    names = [member for member in names if member.value and isinstance(member.value, str)]
    return [member for member in names if member.value in (tools or ())] or names


def _conflict(names: list[JsonMember]) -> Refusal | None:
    """Refuse two names that differ."""
    other = next((member for member in names if member.value != names[0].value), None)
    if other is None:
        return None
    detail = f"{names[0].key!r} and {other.key!r} have different values"
    return Refusal(RejectionReason.INVALID_NAME, detail, names[0].value)


def _given(members: Mapping[str, JsonMember], *, lenient: bool) -> list[JsonMember]:
    """Give what holds the arguments. Documented keys win; under others, an empty value is none, save `{}` alone."""
    given = [members[key] for key in _ARGUMENTS if key in members]
    if given or not lenient:
        return given
    others = [members[key] for key in _OTHER_ARGUMENTS if key in members]
    return [member for member in others if member.value] or [member for member in others if member.value == {}]


def _arguments(text: str, member: JsonMember) -> tuple[dict[str, Any], str] | None:
    """Read an arguments value: an object, or a string that holds one."""
    if isinstance(member.value, dict):
        return member.value, text[member.start : member.end]
    held = parse_whole(member.value) if isinstance(member.value, str) else None
    return (held.value, held.json) if held else None


def _is_schema(members: Mapping[str, JsonMember], given: list[JsonMember], tool: Tool | None) -> bool:
    """Tell whether this is a tool's schema. A parameter may be called `properties`; then it takes two signs."""
    member = next((member for member in given if member.key != "arguments"), None)
    schema = member.value if member else None
    if not schema or not isinstance(schema, dict):
        return False
    is_described, is_object = "description" in members, schema.get("type") == "object"
    if isinstance(schema.get("properties"), dict):
        takes_properties = tool is not None and "properties" in (tool.parameters.get("properties") or {})
        return (is_described or is_object) and ((is_described and is_object) or not takes_properties)
    # As LangChain's `render_text_description_and_args` and Meta's prompt for custom tools show one: properties alone.
    return is_described and (schema == {"type": "object"} or all(map(_is_property, schema.values())))


def _is_property(value: object) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in ("type", "param_type"))


def _twice(parsed: JsonObject, name: str | None) -> Refusal:
    ((key, _),) = Counter(member.key for member in parsed.members).most_common(1)
    return Refusal(RejectionReason.MALFORMED, f"the key {shortened(key)!r} stands twice", name)
