"""Which JSON object is a call, and in which shape (principle 1)."""

from __future__ import annotations

import re
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
    scan_once,
)
from llama3_tools.literals.refusal import Refusal
from llama3_tools.tools.declared import Tool, not_declared
from llama3_tools.values import RejectionReason, shortened

ENVELOPES = ("tool_call", "tool_calls")
ARGUMENTS = ("parameters", "arguments")
OTHER_NAMES = (
    "tool_name",  # Cohere's Command R; LlamaIndex's ToolSelection
    "function_name",  # lmstudio-ai/lmstudio-js issue 277
    "tool",  # LangChain's OllamaFunctions, with `tool_input`
    "function",  # letta-ai/letta issue 1450, with `params`
    "action",  # LangChain's JSON agents, with `action_input`: langchain-ai/langchain issue 17356
)
"""The other keys for the name of a declared tool."""
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
_NONE: tuple[object, ...] = (None, "", "null")
"""The values of a key of arguments that mean that there are none."""
_LABELS = ("type", "id")
"""The keys that a call without arguments may have beside its name."""
_SAY_NO_MORE = (*_LABELS, *ARGUMENTS)
_DESCRIPTIONS = {"description", "input_schema", "inputSchema"}
"""The keys of a schema that a call does not have."""
_RESULTS = {"output", "result", "observation", "tool_output"}
"""The keys that a call has if it was run already."""
_TYPES = {"string", "integer", "number", "boolean", "array", "object"}

LONGEST_LOOK = 4096
"""How far into a candidate anyone looks for a name or a key."""
_KEYS = re.compile(r"""["'](?:parameters|arguments|tool_calls?)["']?\s*:""")
_W = r"[ \t\n\r]*"
_PLAIN = r'"([^"\\\x00-\x1f]+)"'
_TO_ARGUMENTS = re.compile(
    rf'\{{{_W}(?:"(?:type|id)"{_W}:{_W}"[^"\\\x00-\x1f]*"{_W},{_W})?(?:"name"{_W}:{_W}{_PLAIN}{_W},{_W})?'
    rf'"(?:parameters|arguments)"{_W}:{_W}(?=\{{)'
).match
_FROM_ARGUMENTS = re.compile(rf'{_W}(?:,{_W}"name"{_W}:{_W}{_PLAIN}{_W})?\}}').match


class WrittenCall(NamedTuple):
    """A call as the model wrote it: the arguments decoded, and as text."""

    name: str
    arguments: dict[str, Any]
    arguments_json: str
    deviations: tuple[str, ...] = ()
    """How it differs from the documented forms, a sentence each."""


def plain_call(text: str, at: int) -> tuple[WrittenCall, int] | None:
    """Return the call whose brace is at `text[at]`, and the index after it, if it is written as nearly all are.

    The caller knows that the text has no escapes of Unicode, no half surrogates, and is not nested too deep.

    >>> plain_call('{"name": "f", "parameters": {"n": 1}}', 0)
    (WrittenCall(name='f', arguments={'n': 1}, arguments_json='{"n": 1}', deviations=()), 37)
    """
    head = _TO_ARGUMENTS(text, at)
    if head is None:
        return None
    begin = head.end()
    try:
        arguments, end = scan_once(text, begin)
    except (StopIteration, ValueError, RecursionError):
        return None
    tail = _FROM_ARGUMENTS(text, end)
    if tail is None:
        return None
    name, name_after = head[1], tail[1]
    if (name is None) is (name_after is None) or "properties" in arguments:
        return None
    written = text[begin:end]
    if written.count(":") != len(arguments) and has_key_twice(arguments, written):
        return None
    return WrittenCall(name or name_after, arguments, written), tail.end()


def read_call(  # noqa: PLR0911 (one shape after another)
    parsed: JsonObject, tools: Mapping[str, Tool] | None
) -> WrittenCall | Refusal:
    """Return the call that an object is, in any shape, or why it is not a call.

    >>> from llama3_tools.literals.json_object import parse_object
    >>> read_call(parse_object('{"name": "f", "parameters": {"n": 1}}', 0), None)
    WrittenCall(name='f', arguments={'n': 1}, arguments_json='{"n": 1}', deviations=())

    For declared tools, other keys are read, too, and a call may do without arguments.
    """
    members = parsed.members
    if parsed.flaw:
        return Refusal(RejectionReason.MALFORMED, parsed.flaw, _name_of(members))
    function, name = members.get("function"), members.get("name")
    if function and isinstance(function, dict) and (name is None or not _given(members, name, tools)):
        return _openai_call(parsed, tools)
    key = "name" if name is not None else _key_of_name(members, tools)
    if isinstance(key, Refusal):
        return key
    if not key:
        keys = shortened(", ".join(list(members)[:8])) or "none"
        return Refusal(RejectionReason.NOT_A_CALL, f"an object with the keys {keys}, but no name")
    found = _named_call(parsed, members, members[key], tools)
    if isinstance(found, Refusal):
        return found
    if key != "name" and members.get("type") != "function":
        found = found._replace(deviations=(f"the name is under {key!r}", *found.deviations))
    if found.deviations and any(members.get(result) is not None for result in _RESULTS):
        detail = "a call that was run already: its result is beside it"
        return Refusal(RejectionReason.NOT_A_CALL, detail, found.name)
    return found


def argued_call(name: str, parsed: JsonObject, tools: Mapping[str, Tool] | None) -> WrittenCall | Refusal:
    """Return the call whose arguments are an object, and whose tool is named before it.

    A complete call of the same tool is that call, unless the tool has a parameter `name`.
    """
    members = parsed.members
    if parsed.flaw:
        return Refusal(RejectionReason.MALFORMED, f"{parsed.flaw}, in the arguments", name)
    tool = (tools or {}).get(name)
    parameters = tool.parameters.get("properties") or () if tool else ()
    if members.get("name") == name and "name" not in parameters and not members.keys().isdisjoint(ARGUMENTS):
        found = read_call(parsed, tools)
        if isinstance(found, WrittenCall):
            return found._replace(deviations=("a whole call follows the name",))
    if members.keys() >= {"properties", "type"} and members["type"] == "object" and "properties" not in parameters:
        return _schema_echo(name)
    return WrittenCall(name, members, parsed.json)


def is_like_call(text: str, tool: Tool | None) -> bool:
    """Return whether an object looks like a call: by its keys, or because it has only a tool's name and its parameters.

    >>> tool = Tool("now", parameters={"properties": {"zone": {}}})
    >>> is_like_call('{"name": "now", "zone": "CET"}', tool), is_like_call('{"name": "now", "status": "ok"}', tool)
    (True, False)
    """
    parsed = parse_object(text, 0) if text.startswith("{") else None
    if parsed is None or parsed.flaw:
        return tool is not None or has_call_keys(text)
    members = parsed.members
    if not members.keys().isdisjoint(ARGUMENTS):
        return tool is not None or "description" not in members
    if tool is None:
        function = members.get("function")
        if isinstance(function, dict) and not function.keys().isdisjoint(ARGUMENTS):
            return True
        held = (members.get(key) for key in ENVELOPES)
        return any(
            isinstance(one, dict) and one for value in held for one in (value if isinstance(value, list) else [value])
        )
    if has_call_keys(text):
        return "name" in members or '"properties"' not in text  # else a list of tools
    parameters = (tool.parameters.get("properties") or {}).keys()
    others = {
        key
        for key, value in members.items()
        if key not in parameters and not (isinstance(value, dict) and value and value.keys() <= parameters)
    }
    return others <= {"type", "id", "name", *OTHER_NAMES}


def has_call_keys(text: str) -> bool:
    """Return whether a candidate has the key of arguments, or that of an envelope.

    >>> has_call_keys('{"arguments": {"now": True}'), has_call_keys('{"name": "Alice"')
    (True, False)
    """
    return _KEYS.search(text, 0, LONGEST_LOOK) is not None


def refuse_empty(name: str, tools: Mapping[str, Tool] | None) -> Refusal | None:
    """Return why a call without arguments is refused; `None` if its tool is declared and requires none."""
    tool = (tools or {}).get(name)
    if tool is not None and not tool.requires_arguments:
        return None
    needs = "a tool that requires some" if tool else "no declared tool"
    detail = f"{shortened(name)!r} has no arguments, and is {needs}"
    return Refusal(RejectionReason.MISSING_ARGUMENTS, detail, name)


def _name_of(members: Mapping[str, Any]) -> str | None:
    """Return the name that a flawed object calls, if it has arguments."""
    function = members.get("function")
    name = members.get("name") or (function.get("name") if isinstance(function, dict) else function)
    has_arguments = any(isinstance(one, dict) and not one.keys().isdisjoint(ARGUMENTS) for one in (members, function))
    return name if isinstance(name, str) and name and has_arguments else None


def _key_of_name(members: Mapping[str, Any], tools: Mapping[str, Tool] | None) -> str | Refusal | None:
    """Return another key under which the name is."""
    if members.get("type") == "function" and isinstance(members.get("function"), str):
        return "function"  # the 1B's shape
    if not tools or not members.keys().isdisjoint(ENVELOPES):
        return None
    keys = [key for key in OTHER_NAMES if isinstance(members.get(key), str) and members[key]]
    declared = [key for key in keys if members[key] in tools]
    if len({members[key] for key in declared}) > 1:
        detail = f"{declared[0]!r} and {declared[1]!r} have different values"
        return Refusal(RejectionReason.INVALID_NAME, detail, members[declared[0]])
    if not declared and keys and any(isinstance(members.get(key), dict) for key in (*ARGUMENTS, *_OTHER_ARGUMENTS)):
        name = members[keys[0]]
        return Refusal(RejectionReason.UNKNOWN_TOOL, not_declared(name, tools), name)
    return declared[0] if declared else None


def _openai_call(parsed: JsonObject, tools: Mapping[str, Tool] | None) -> WrittenCall | Refusal:
    """Read `{"type": "function", "function": {"name": …, "arguments": …}}`."""
    inner = parse_object(parsed.text, parsed.spans["function"][0], checked=True)
    if inner is None or inner.flaw:
        flaw = inner.flaw if inner else NO_JSON_VALUE
        return Refusal(RejectionReason.MALFORMED, flaw, _name_of(inner.members if inner else {}))
    name = inner.members.get("name")
    if name is None:
        return Refusal(RejectionReason.NOT_A_CALL, "a function without a name")
    beside, within = _given(parsed.members, name, tools), _given(inner.members, name, tools)
    if beside and within and not same_json(parsed.members[beside[0]], inner.members[within[0]]):
        detail = f"{within[0]!r} in the function and {beside[0]!r} beside it have different values"
        return Refusal(RejectionReason.CONFLICTING_ARGUMENTS, detail, name if isinstance(name, str) else None)
    if not beside or not isinstance(name, str) or within:
        outside = {} if beside else {key: value for key, value in parsed.members.items() if key != "function"}
        return _named_call(inner, outside | inner.members, name, tools)
    detail = "the arguments are beside the function, not in it"
    if name not in (tools or ()):
        return Refusal(RejectionReason.INVALID_ARGUMENTS, detail, name)
    found = _named_call(parsed, {key: parsed.members[key] for key in beside}, name, tools)
    return found if isinstance(found, Refusal) else found._replace(deviations=(detail, *found.deviations))


def _named_call(  # noqa: PLR0911 (a refusal each)
    parsed: JsonObject, members: Mapping[str, Any], name: object, tools: Mapping[str, Tool] | None
) -> WrittenCall | Refusal:
    given = _given(members, name, tools)
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
        if held is None:
            detail = f"{given[0]!r} is neither an object nor a string that contains one"
            return Refusal(RejectionReason.INVALID_ARGUMENTS, detail, name)
        if held.flaw:
            return Refusal(RejectionReason.MALFORMED, f"{held.flaw}, in the arguments", name)
        arguments, written = held.members, held.json
    if _is_schema(members, given[0], arguments, tools.get(name) if tools else None):
        return _schema_echo(name)
    if has_key_twice(arguments, written):
        return Refusal(RejectionReason.MALFORMED, "a key occurs twice in the arguments", name)
    if len(given) > 1 and not _same(arguments, members[given[1]]):
        detail = f"{given[0]!r} and {given[1]!r} have different values"
        return Refusal(RejectionReason.CONFLICTING_ARGUMENTS, detail, name)
    deviations = () if given[0] in ARGUMENTS else (f"the arguments are under {given[0]!r}",)
    return WrittenCall(name, arguments, written, deviations)


def _call_without_arguments(
    members: Mapping[str, Any], name: str, tools: Mapping[str, Tool] | None
) -> WrittenCall | Refusal:
    """Return a call that has only a name, or why it is refused: other keys may be arguments, a result or a schema."""
    others = [key for key, value in members.items() if key not in _SAY_NO_MORE and value not in (None, name)]
    if not _DESCRIPTIONS.isdisjoint(others):
        return _schema_echo(name)
    refusal = refuse_empty(name, tools)
    if refusal is not None:
        return refusal
    if others:
        detail = f"{shortened(name)!r} has no arguments, but the keys {shortened(', '.join(others[:8]))}"
        return Refusal(RejectionReason.MISSING_ARGUMENTS, detail, name)
    return WrittenCall(name, {}, "{}")


def _given(members: Mapping[str, Any], name: object, tools: Mapping[str, Tool] | None) -> list[str]:
    """Return the keys that have arguments. Documented keys win; an empty object does not count beside a full one."""
    given = [key for key in ARGUMENTS if members.get(key) not in _NONE]
    if len(given) > 1:
        given = [key for key in given if members[key] != {}] or given[:1]
    if given or not tools or not (isinstance(name, str) and name in tools):
        return given
    others = [key for key in _OTHER_ARGUMENTS if key in members]
    return [key for key in others if members[key]] or [key for key in others if members[key] == {}]


def _same(arguments: dict[str, Any], other: object) -> bool:
    if isinstance(other, str):
        held = parse_whole(other)
        other = held.members if held else None
    return same_json(arguments, other)


def _schema_echo(name: str) -> Refusal:
    return Refusal(RejectionReason.SCHEMA_ECHO, f"the schema of {shortened(name)!r}, not a call of it", name)


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
