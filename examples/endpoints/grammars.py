r"""Grammars that make llama.cpp write calls of declared tools, in a chosen order with text.

GBNF is llama.cpp's grammar notation. Both of its OpenAI-compatible endpoints take one as `grammar` in the request.

>>> print(grammar(TOOLS[:1], "call"))
root ::= call
call ::= get-weather
get-weather ::= "{\"name\": \"get_weather\", \"parameters\": {\"city\": " string "}}"
text ::= [A-Z] [a-z] [a-z ,']{8,58} [a-z] [.!]
string ::= "\"" [^"\\\x00-\x1F]{1,40} "\""
integer ::= [1-9] [0-9]{0,2}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from endpoints.assistant import TOOLS

_RULES = r"""
text ::= [A-Z] [a-z] [a-z ,']{8,58} [a-z] [.!]
string ::= "\"" [^"\\\x00-\x1F]{1,40} "\""
integer ::= [1-9] [0-9]{0,2}
"""


def grammar(tools: Sequence[Mapping[str, object]], root: str) -> str:
    """Make a grammar out of tools whose parameters are all required, strings or integers.

    Args:
        tools: OpenAI tool dicts.
        root: what the whole output is, of `call`, `text` and quoted characters.
    """
    functions = [cast("Mapping[str, object]", tool["function"]) for tool in tools]
    rules = {str(function["name"]).replace("_", "-"): _call(function) for function in functions}
    lines = [
        f"root ::= {root}",
        f"call ::= {' | '.join(rules)}",
        *(f"{name} ::= {rule}" for name, rule in rules.items()),
    ]
    return "\n".join(lines) + _RULES.rstrip()


def _call(function: Mapping[str, object]) -> str:
    schema = cast("Mapping[str, Mapping[str, Mapping[str, object]]]", function["parameters"])
    text = f'{{"name": "{function["name"]}", "parameters": {{'
    parts: list[str] = []
    for position, (name, parameter) in enumerate(schema["properties"].items()):
        text += f'{", " if position else ""}"{name}": '
        parts += [json.dumps(text), str(parameter["type"])]
        text = ""
    return " ".join([*parts, json.dumps(text + "}}")])


CALL = grammar(TOOLS, "call")
TEXT_THEN_CALL = grammar(TOOLS, r'text "\n" call')
TWO_CALLS = grammar(TOOLS, 'call "; " call')
TEXT_CALL_TEXT = grammar(TOOLS, 'text " " call " " text')
