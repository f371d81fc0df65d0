"""Grammars in GBNF that make llama.cpp write calls of declared tools, in a chosen order with text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from endpoints.assistant import TOOLS

_RULES = r"""
text ::= [A-Z] [a-z] [a-z ,']{8,58} [a-z] [.!]
string ::= "\"" [^"\\\x00-\x1F]{1,40} "\""
integer ::= [1-9] [0-9]{0,2}
"""


def grammar(tools: Sequence[Mapping[str, Any]], root: str) -> str:
    """Make a grammar whose root is made of `call`, `text` and quoted characters.

    All parameters of the tools are required, strings or integers.
    """
    functions = [tool["function"] for tool in tools]
    rules = {function["name"].replace("_", "-"): _call(function) for function in functions}
    lines = [
        f"root ::= {root}",
        f"call ::= {' | '.join(rules)}",
        *(f"{name} ::= {rule}" for name, rule in rules.items()),
    ]
    return "\n".join(lines) + _RULES.rstrip()


def _call(function: Mapping[str, Any]) -> str:
    text = f'{{"name": "{function["name"]}", "parameters": {{'
    parts: list[str] = []
    for position, (name, parameter) in enumerate(function["parameters"]["properties"].items()):
        text += f'{", " if position else ""}"{name}": '
        parts += [json.dumps(text), str(parameter["type"])]
        text = ""
    return " ".join([*parts, json.dumps(text + "}}")])


CALL = grammar(TOOLS, "call")
TEXT_THEN_CALL = grammar(TOOLS, r'text "\n" call')
TWO_CALLS = grammar(TOOLS, 'call "; " call')
TEXT_CALL_TEXT = grammar(TOOLS, 'text " " call " " text')
