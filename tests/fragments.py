"""What outputs are made of: calls, wrappers, tokens, prose, and breakages of each; and the ways to read them."""

from __future__ import annotations

from llama3_tools import Limits, Tool
from llama3_tools.pieces import PieceExtractor

__all__ = ["FRAGMENTS", "READINGS", "TOOLS"]

_WHOLE = (
    '{"name":"f","parameters":{"q":"x"}}',
    '{"name": "g", "arguments": "{\\"a\\": 1}"}',
    '{"type":"function","function":"h","parameters":{}}',
    '{"type":"function","function":{"name":"i","arguments":{}}}',
    '{"tool_name":"t","parameters":{}}',
    '{"tool":"u","args":{"q":"x"}}',
    '{"message":"m","tool_call":{"name":"f","arguments":{}}}',
    '{"a": 1}',
    "{}",
    "[]",
    "[1]",
    "[{}, ",
    "f(a=1)",
    "[f(a='x', n=2), g()]",
    'g.call(q="x")',
    "print(1)",
)
_BROKEN = (
    '{"name":"f","parameters":{"q":"',
    "{'name': 'f', 'parameters': {'q': 1}}",
    '{"name": "g", "parameters": {"a": 1}',
    '{"name":',
    '"parameters":',
    '{"x":',
    '{"a" b',
    '["x",',
    '[{"name":',
    "[f(a=",
    "f(",
    "{",
    "}",
    "[",
    "]",
    ")",
    '"',
    "'",
    "\\",
    "\\u00e9",
    "\\ud83d",
    "tru",
    "null",
    "-",
    "12",
    "1e9",
    "1e999",
)
_WRAPPERS = (
    "<tool>",
    "</tool>",
    "<tool_call>",
    "</tool_call>",
    "<tools>",
    "</tools>",
    "<functioncall>",
    "</functioncall>",
    "<functioncall ",
    ">",
    "<function=f>",
    "<function=f=",
    "<function=f",
    "<function(f)",
    "<function>",
    "</function>",
    "```",
    "```json\n",
    "```python\n",
    "```js\n",
    "\n```\n",
    "\n~~~\n",
    "\n~~~json\n",
    "<!--",
    "-->",
    "<think>",
    "</think>",
    "> ",
)
_TOKENS = (
    "<|python_tag|>",
    "<|python_start|>",
    "<|python_end|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|header_start|>",
    "<|im_start|>",
    "<|im_start|>assistant\n",
    "<|im_end|>",
)
_PROSE = (
    "Hello",
    "é",
    "\U0001f600",
    "\ud800",
    "\u200b",
    "\x00",
    " ",
    "\n",
    "\t",
    "; ",
    ",",
    "`",
    "<",
    "</",
    "<t",
    "<|",
    "<b>",
    "assist",
    "Action: ",
)

FRAGMENTS = (*_WHOLE * 3, *_BROKEN, *_WRAPPERS, *_TOKENS, *_PROSE)
"""Pieces of outputs, the whole calls several times, as most of the rest breaks them."""

_F = {"type": "object", "properties": {"q": {"type": "integer"}, "a": {"type": "array"}}, "required": ["q"]}
_G = {"type": "object", "properties": {"a": {"type": "string"}}}
_CODE = {"type": "object", "properties": {"code": {"type": "string"}}}

TOOLS = (Tool("f", parameters=_F), Tool("g", parameters=_G), Tool("code_interpreter", parameters=_CODE))
"""Tools of those names, of which the last runs code."""

READINGS = {
    "default": PieceExtractor(),
    "tools": PieceExtractor(tools=TOOLS),
    "unknown tools": PieceExtractor(tools=TOOLS, on_unknown_tool="call"),
    "all formats": PieceExtractor(formats="all"),
    "pythonic": PieceExtractor(formats=["pythonic"]),
    "coerced": PieceExtractor(tools=TOOLS, coerce_arguments=True),
    "lenient": PieceExtractor(lenient=True),
    "repaired": PieceExtractor(tools=TOOLS, repair=True),
    "reasoning": PieceExtractor(split_reasoning=True),
    "begun reasoning": PieceExtractor(split_reasoning=True, starts_reasoning=True),
    "limited": PieceExtractor(limits=Limits(depth=2, candidate=256, calls=2, rejections=2)),
    "all": PieceExtractor(
        tools=TOOLS, formats="all", coerce_arguments=True, lenient=True, repair=True, split_reasoning=True
    ),
}
"""The ways to read outputs, by a name for them."""
