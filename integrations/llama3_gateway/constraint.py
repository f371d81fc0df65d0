"""What holds an upstream to a call, where one has to be made: a JSON Schema, or a grammar of llama.cpp's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llama3_gateway.settings import Constrain
from llama3_tools import Tool, response_json_schema

__all__ = ["constraint"]

_JSON = r"""
object ::= "{" ws ( string ws ":" ws value ( ws "," ws string ws ":" ws value )* )? ws "}"
array ::= "[" ws ( value ( ws "," ws value )* )? ws "]"
value ::= object | array | string | number | "true" | "false" | "null"
string ::= "\"" ( [^"\\\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F]{4} ) )* "\""
integer ::= "-"? ( "0" | [1-9] [0-9]{0,15} )
number ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,15} )? ( [eE] [-+]? [0-9]{1,2} )?
ws ::= " "?
"""
_RULES = {
    "array": "array",
    "boolean": '( "true" | "false" )',
    "integer": "integer",
    "number": "number",
    "object": "object",
    "string": "string",
}
"""The rules for the types of JSON Schema."""


def constraint(kind: Constrain, tools: Sequence[Tool], *, is_ollama: bool = False) -> dict[str, Any]:
    r"""Return the fields of a request by which a server writes one call of these tools, and nothing else.

    >>> print(constraint("grammar", [Tool("now")])["grammar"].splitlines()[1])
    call0 ::= "{\"name\": \"now\", \"parameters\": " "{}" "}"

    Args:
        kind: what the server takes.
        tools: those that may be called.
        is_ollama: whether the request is in Ollama's own form, which has a `format` for schemas and takes no grammar.
    """
    if kind == "grammar" and not is_ollama:
        return {"grammar": _grammar(tools)}
    schema = response_json_schema(tools, tool_choice="required")
    calls = schema["properties"]["tool_call"]
    branches = [_with_parameters(call) for call in calls.get("anyOf", [calls])]
    whole = dict(branches[0]) if len(branches) == 1 else {"anyOf": branches}
    if "$defs" in schema:
        whole["$defs"] = schema["$defs"]
    if is_ollama:
        return {"format": whole}
    named = {"name": "tool_call", "schema": whole, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _grammar(tools: Sequence[Tool]) -> str:
    """Return a grammar in llama.cpp's notation: the names of tools and parameters, and JSON of their types."""
    root = f"root ::= {' | '.join(f'call{place}' for place in range(len(tools)))}"
    calls = []
    for place, tool in enumerate(tools):
        begins = _literal(f'{{"name": {json.dumps(tool.name)}, "parameters": ')
        calls.append(f'call{place} ::= {begins} {_arguments(tool.arguments_schema)} "}}"')
    return "\n".join([root, *calls]) + _JSON.rstrip()


def _arguments(schema: Mapping[str, Any]) -> str:
    """Return what holds arguments to a schema: those that are required, in order, and then some of the others."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return "object"
    if not properties:
        return _literal("{}")
    needed = [name for name in schema.get("required") or () if name in properties]
    pairs = {
        name: f"{_literal(json.dumps(name))} ws {_literal(':')} ws {_value(properties[name])}" for name in properties
    }
    others = [pairs[name] for name in properties if name not in needed]
    comma = '"," ws'
    if needed:
        inside = f" {comma} ".join(pairs[name] for name in needed) + "".join(f" ( {comma} {pair} )?" for pair in others)
    else:
        any_of = f"( {' | '.join(others)} )"
        inside = f"( {any_of} ( {comma} {any_of} )* )?"
    return f'"{{" ws {inside} ws "}}"'


def _value(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return "value"
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(allowed, list) and allowed:
        return f"( {' | '.join(_literal(json.dumps(one)) for one in allowed)} )"
    return _RULES.get(str(schema.get("type")), "value")


def _literal(text: str) -> str:
    """Return a text as the grammar's notation writes it, which is like JSON's."""
    return json.dumps(text, ensure_ascii=False)


def _with_parameters(call: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a call in which the arguments are called as the prompt calls them."""
    properties = {"name": call["properties"]["name"], "parameters": call["properties"]["arguments"]}
    return {**call, "properties": properties, "required": list(properties)}
