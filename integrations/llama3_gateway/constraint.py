"""What holds an upstream to a call, where one has to be made: a JSON Schema, or a grammar of llama.cpp's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from llama3_gateway.settings import Constrain
from llama3_tools import Tool, response_json_schema

__all__ = ["constraint"]

_JSON = r"""
object ::= "{" ws ( string ws ":" ws value ( ws "," ws string ws ":" ws value )* )? ws "}"
array ::= "[" ws ( value ( ws "," ws value )* )? ws "]"
value ::= object | array | string | number | "true" | "false" | "null"
string ::= "\"" ( [^"\\\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F]{4} ) )* "\""
number ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,15} )? ( [eE] [-+]? [0-9]{1,2} )?
ws ::= " "?
"""


def constraint(kind: Constrain, tools: Sequence[Tool]) -> dict[str, Any]:
    r"""Return the fields of a request by which a server writes one call of these tools, and nothing else.

    >>> print(constraint("grammar", [Tool("now"), Tool("rm")])["grammar"].splitlines()[1])
    name ::= "\"now\"" | "\"rm\""

    Args:
        kind: what the server takes.
        tools: those that may be called.
    """
    if kind == "grammar":
        names = " | ".join(json.dumps(json.dumps(tool.name)) for tool in tools)
        root = r'root ::= "{\"name\": " name ", \"parameters\": " object "}"'
        return {"grammar": f"{root}\nname ::= {names}{_JSON}".rstrip()}
    schema = response_json_schema(tools, tool_choice="required")
    calls = schema["properties"]["tool_call"]
    branches = [_with_parameters(call) for call in calls.get("anyOf", [calls])]
    whole = dict(branches[0]) if len(branches) == 1 else {"anyOf": branches}
    if "$defs" in schema:
        whole["$defs"] = schema["$defs"]
    named = {"name": "tool_call", "schema": whole, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _with_parameters(call: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a call in which the arguments are called as the prompt calls them."""
    properties = {"name": call["properties"]["name"], "parameters": call["properties"]["arguments"]}
    return {**call, "properties": properties, "required": list(properties)}
