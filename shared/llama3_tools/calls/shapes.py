"""Which JSON object is a call, and in which shape (rule 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from llama3_tools.literals.json_equality import same_json
from llama3_tools.literals.json_object import (
    NO_JSON_VALUE,
    JsonObject,
    has_key_twice,
    parse_lone,
    parse_object,
    parse_whole,
)
from llama3_tools.literals.refusal import Refusal
from llama3_tools.tools.declared import Tool
from llama3_tools.values import RejectionReason, shortened

__all__ = ["ARGUMENTS", "ENVELOPES", "OTHER_NAMES", "WrittenCall", "read_call", "refuse_empty"]

ENVELOPES = ("tool_call", "tool_calls")
"""The keys under which an envelope has its calls (rule 12)."""

ARGUMENTS = ("parameters", "arguments")
"""The keys under which a call has its arguments."""

_NONE: tuple[object, ...] = (None, "")
"""What stands under these keys if there are no arguments."""

_NOTHING: tuple[object, ...] = (None, "", {})
"""What does not count beside full arguments under the other key."""

_LABELS = ("type", "id")
"""What may stand beside the name of a call that has no arguments."""

_DESCRIPTIONS = {"description", "input_schema", "inputSchema"}
"""What a schema has, and a call has not."""

_TYPES = {"string", "integer", "number", "boolean", "array", "object"}

_RESULTS = {"output", "result", "observation", "tool_output"}
"""What stands beside a call that was run already."""

OTHER_NAMES = (
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


class WrittenCall(NamedTuple):
    """A call as the model wrote it: the arguments decoded, and as text."""

    name: str
    arguments: dict[str, Any]
    arguments_json: str
    deviations: tuple[str, ...] = ()
    """How it differs from the documented forms, a sentence each."""


def read_call(  # noqa: C901, PLR0911 (one shape after another)
    parsed: JsonObject, tools: Mapping[str, Tool] | None, *, lenient: bool = False, tool_name: bool = False
) -> WrittenCall | Refusal:
    """Read an object in any of the shapes of rule 1.

    >>> from llama3_tools.literals.json_object import parse_object
    >>> read_call(parse_object('{"name": "f", "parameters": {"n": 1}}', 0), None)
    WrittenCall(name='f', arguments={'n': 1}, arguments_json='{"n": 1}', deviations=())

    Args:
        parsed: the object.
        tools: the declared tools, which say whether a call may do without arguments.
        lenient: whether the name and the arguments may stand under other keys.
        tool_name: whether `tool_name` counts as `name`, as it does in a `<tool>` tag.
    """
    members = parsed.members
    if parsed.flaw:
        return Refusal(RejectionReason.MALFORMED, parsed.flaw, _name_of(members))
    function = members.get("function")
    name = members.get("name")
    if function:
        if isinstance(function, dict) and (name is None or not _given(members, lenient=lenient)):
            return _openai_call(parsed, tools, lenient=lenient)
        if name is None and members.get("type") == "function":
            name = function
    if name is None and tool_name:
        name = members.get("tool_name")
    deviations: tuple[str, ...] = ()
    if name is None and lenient and members.keys().isdisjoint(ENVELOPES) and _given(members, lenient=True):
        others = _other_names(members, tools)
        if isinstance(others, Refusal):
            return others
        if others:
            name, deviations = members[others], (f"the name stands under {others!r}",)
    if name is None:
        keys = shortened(", ".join(list(members)[:8])) or "none"
        return Refusal(RejectionReason.NOT_A_CALL, f"an object with the keys {keys}, but no name")
    found = _named_call(parsed, members, name, tools, lenient=lenient)
    if not lenient:
        return found
    if deviations and isinstance(found, WrittenCall):
        found = found._replace(deviations=deviations + found.deviations)
    if isinstance(found, WrittenCall) and found.deviations and _has_result(members):
        detail = "a call that was run already: its result stands beside it"
        return Refusal(RejectionReason.NOT_A_CALL, detail, found.name)
    return found


def refuse_empty(name: str, tools: Mapping[str, Tool] | None) -> Refusal | None:
    """Refuse a call that says nothing about arguments, unless it is of a declared tool that requires none."""
    tool = (tools or {}).get(name)
    if tool is not None and not tool.requires_arguments:
        return None
    needs = "a tool that requires some" if tool else "no declared tool"
    detail = f"{shortened(name)!r} has no arguments, and is {needs}"
    return Refusal(RejectionReason.MISSING_ARGUMENTS, detail, name)


def _name_of(members: Mapping[str, Any]) -> str | None:
    function = members.get("function")
    name = members.get("name") or (function.get("name") if isinstance(function, dict) else function)
    return name if isinstance(name, str) and name and _has_arguments(members, function) else None


def _has_arguments(*candidates: object) -> bool:
    return any(isinstance(one, Mapping) and not one.keys().isdisjoint(ARGUMENTS) for one in candidates)


def _openai_call(parsed: JsonObject, tools: Mapping[str, Tool] | None, *, lenient: bool) -> WrittenCall | Refusal:
    """Read `{"type": "function", "function": {"name": …, "arguments": …}}`."""
    inner = parse_object(parsed.text, parsed.spans["function"][0], checked=True)
    if inner is None or inner.flaw:
        flaw = inner.flaw if inner else NO_JSON_VALUE
        return Refusal(RejectionReason.MALFORMED, flaw, _name_of(inner.members if inner else {}))
    name = inner.members.get("name")
    if name is None:
        return Refusal(RejectionReason.NOT_A_CALL, "a function without a name")
    beside = _given(parsed.members, lenient=lenient)
    if not beside or not isinstance(name, str) or _given(inner.members, lenient=lenient):
        outside = {} if beside else {key: value for key, value in parsed.members.items() if key != "function"}
        return _named_call(inner, outside | inner.members, name, tools, lenient=lenient)
    detail = "the arguments stand beside the function, not in it"
    if not lenient:
        return Refusal(RejectionReason.INVALID_ARGUMENTS, detail, name)
    members = {key: value for key, value in inner.members.items() if key == "description"}
    members |= {key: parsed.members[key] for key in beside}
    found = _named_call(parsed, members, name, tools, lenient=True)
    return found if isinstance(found, Refusal) else found._replace(deviations=(detail, *found.deviations))


def _named_call(  # noqa: PLR0911 (a refusal each)
    parsed: JsonObject, members: Mapping[str, Any], name: object, tools: Mapping[str, Tool] | None, *, lenient: bool
) -> WrittenCall | Refusal:
    given = _given(members, lenient=lenient)
    if not isinstance(name, str) or not name:
        reason = RejectionReason.INVALID_NAME if given else RejectionReason.NOT_A_CALL
        return Refusal(reason, "the name is empty" if name == "" else "the name is not a string")
    if not given:
        return _call_without_arguments(members, name, tools)
    arguments = members[given[0]]
    if type(arguments) is dict:
        written = parsed.written(given[0])
    else:
        held = parse_lone(arguments) if isinstance(arguments, str) else None
        if held is not None and held.flaw:
            return Refusal(RejectionReason.MALFORMED, f"{held.flaw}, in the arguments", name)
        if held is None:
            detail = f"{given[0]!r} is neither an object nor a string that holds one"
            return Refusal(RejectionReason.INVALID_ARGUMENTS, detail, name)
        arguments, written = held.members, held.json
    if _is_schema(members, given[0], arguments, tools.get(name) if tools else None):
        return _schema_echo(name)
    if has_key_twice(arguments, written):
        return Refusal(RejectionReason.MALFORMED, "a key stands twice in the arguments", name)
    for other in given[1:]:
        if not _same(arguments, members[other]):
            detail = f"{given[0]!r} and {other!r} have different values"
            return Refusal(RejectionReason.CONFLICTING_ARGUMENTS, detail, name)
    deviations = () if given[0] in ARGUMENTS else (f"the arguments stand under {given[0]!r}",)
    return WrittenCall(name, arguments, written, deviations)


def _call_without_arguments(
    members: Mapping[str, Any], name: str, tools: Mapping[str, Tool] | None
) -> WrittenCall | Refusal:
    """Take a call that says no more than its name: other keys may be arguments, a result or a schema."""
    others = [
        key
        for key, value in members.items()
        if key not in _LABELS and key not in ARGUMENTS and value not in (None, name)
    ]
    if not _DESCRIPTIONS.isdisjoint(others):
        return _schema_echo(name)
    refusal = refuse_empty(name, tools)
    if refusal is not None:
        return refusal
    if others:
        detail = f"{shortened(name)!r} has no arguments, but the keys {shortened(', '.join(others[:8]))}"
        return Refusal(RejectionReason.MISSING_ARGUMENTS, detail, name)
    return WrittenCall(name, {}, "{}")


def _schema_echo(name: str) -> Refusal:
    return Refusal(RejectionReason.SCHEMA_ECHO, f"the schema of {shortened(name)!r}, not a call of it", name)


def _other_names(members: Mapping[str, Any], tools: Mapping[str, Tool] | None) -> str | Refusal | None:
    """Return the key under which the name may stand: where declared tools are among them, that of one."""
    keys = [key for key in OTHER_NAMES if members.get(key) and isinstance(members[key], str)]
    keys = [key for key in keys if members[key] in (tools or ())] or keys
    other = next((key for key in keys if members[key] != members[keys[0]]), None)
    if other is None:
        return keys[0] if keys else None
    detail = f"{keys[0]!r} and {other!r} have different values"
    return Refusal(RejectionReason.INVALID_NAME, detail, members[keys[0]])


def _given(members: Mapping[str, Any], *, lenient: bool) -> list[str]:
    """Return the keys that hold arguments. Documented keys win; an empty value does not count beside a full one."""
    given = [key for key in ARGUMENTS if members.get(key) not in _NONE]
    if len(given) > 1:
        given = [key for key in given if members[key] not in _NOTHING] or given[:1]
    if given or not lenient:
        return given
    others = [key for key in _OTHER_ARGUMENTS if key in members]
    return [key for key in others if members[key]] or [key for key in others if members[key] == {}]


def _same(arguments: dict[str, Any], other: object) -> bool:
    if isinstance(other, str):
        held = parse_whole(other)
        other = held.members if held else None
    return same_json(arguments, other)


def _has_result(members: Mapping[str, Any]) -> bool:
    return any(members[key] is not None for key in _RESULTS & members.keys())


def _is_schema(members: Mapping[str, Any], key: str, schema: dict[str, Any], tool: Tool | None) -> bool:
    """Return whether the arguments are a tool's schema, which the model repeats.

    Unless the tool has a parameter `properties`, properties beside a description or `"type": "object"` are one. So are
    properties alone, beside a description: LangChain's `render_text_description_and_args` and Meta's prompt for custom
    tools show schemas so.
    """
    is_described = "description" in members
    if not schema or not (is_described or "properties" in schema):
        return False
    is_object = schema.get("type") == "object"
    if isinstance(schema.get("properties"), dict):
        takes_properties = tool is not None and "properties" in (tool.parameters.get("properties") or {})
        return (is_described or is_object) and not takes_properties
    return is_described and key != "arguments" and all(map(_is_property, schema.values()))


def _is_property(value: object) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in ("type", "param_type"))
