"""What outputs are made of: calls, wrappers, tokens, prose, and breakages of each; and the ways to read them."""

from __future__ import annotations

from llama3_tools import Extractor, Limits, Tool

_WHOLE = (
    *('{"name":"f","parameters":{"q":"x"}}', '{"name": "g", "arguments": "{\\"a\\": 1}"}'),
    *('{"type":"function","function":"h","parameters":{}}',),
    *('{"type":"function","function":{"name":"i","arguments":{}}}', '{"tool_name":"t","parameters":{}}'),
    *('{"tool":"u","args":{"q":"x"}}', '{"message":"m","tool_call":{"name":"f","arguments":{}}}', '{"a": 1}', "{}"),
    *("[]", "[1]", "[{}, ", "f(a=1)", "[f(a='x', n=2), g()]", 'g.call(q="x")', "print(1)"),
)
_BROKEN = (
    *('{"name":"f","parameters":{"q":"', "{'name': 'f', 'parameters': {'q': 1}}"),
    *('{"name": "g", "parameters": {"a": 1}', '{"name":', '"parameters":', '{"x":', '{"a" b', '["x",', '[{"name":'),
    *("[f(a=", "f(", "{", "}", "[", "]", ")", '"', "'", "\\", "\\u00e9", "\\ud83d", "tru", "null", "-", "12", "1e9"),
    *("1e999",),
)
_WRAPPERS = (
    *("<tool>", "</tool>", "<tool_call>", "</tool_call>", "<TOOLCALL>", "</TOOLCALL>", "<tools>", "</tools>"),
    *("<functioncall>", "</functioncall>", "<functioncall ", ">", "<function=f>", "<function=f=", "<function=f"),
    *("<function(f)", "<function>", "</function>", "```", "```json\n", "```python\n", "```js\n", "\n```\n"),
    *("\n~~~\n", "\n~~~json\n", "<!--", "-->", "<think>", "</think>", "> "),
)
_TOKENS = (
    *("<|python_tag|>", "<|python_start|>", "<|python_end|>", "<|eom_id|>", "<|eot_id|>"),
    *("<|start_header_id|>assistant<|end_header_id|>", "<|header_start|>", "<|im_start|>", "<|im_start|>assistant\n"),
    *("<|im_end|>",),
)
_PROSE = (
    *("Hello", "é", "\U0001f600", "\ud800", "\u200b", "\x00", " ", "\n", "\t", "; ", ",", "`", "<", "</", "<t", "<|"),
    *("<b>", "assist", "Action: "),
)

FRAGMENTS = (*_WHOLE * 3, *_BROKEN, *_WRAPPERS, *_TOKENS, *_PROSE)
"""Pieces of outputs, the whole calls several times, as most of the rest breaks them."""

LONG = (
    *(f'{{"name":"f","parameters":{{"q":"{"x" * 520}"}}}}', f'{{"name": "f", "parameters": {{"q": "{"x " * 300}'),
    *(f"{{'name': 'f', 'parameters': {{'q': '{'x' * 560}', ", f'{{"a": [{"1, " * 250}', f'["a", {"[b, 1], " * 70}'),
    *(f"[f(q='{'x' * 700}'), ", f"f(a=[{'1, ' * 200}", f"\nf(q='{'x; ' * 230}", f'print("{"x" * 510}", ', "f(x, " * 99),
    *(f"<function=f>{{'q': {'[' * 3}{'1, ' * 180}", f"<tool_call>{' ' * 600}", f"<think>{'so ' * 300}", "<b>" * 300),
    *("```python\nf(a=1)\n\n# x\n" * 60, f"`{'x' * 530}", "word " * 130, "\n> it\n" * 60, "x" * 1500, "\n" * 515),
    *(" " * 515, '{"' * 300, "[" * 600, "\"', " * 200, f'"{"x" * 520}": ', f"\nResult of f: {'x' * 505}", "f\n" * 200),
)
"""Pieces of 300 to 1,500 characters: longer than what a stream looks back at, or reads of a candidate at once."""

_CALLS = ('{"name":"f","parameters":{"q":1}}', "[f(q=1)]", '<tool_call>{"name":"g","arguments":{}}</tool_call>')
_QUOTES = ('"', "'", "\u201c", "\u201d", "\u201e", "\u2019", "\u00ab", "`", "``", '\\"')
_BREAKS = ("", "\n", "\r\n", "\n`", "\r\n``", "\n\n`", " x`", "`\n", "\r")
_DELIMITERS = (";", ";;", "; ;", ",", ";,", " ; x", "\n;\n", ",;,", ";<|eot_id|>;", "</tool>;")
_QUOTING = ("> ", ">", "\n> ", "\r> ", "- > ", "1. > ", "\n\t>", "x > ", "x\n\xa0> ", "> x\n", "<|eot_id|>> ")
_NAMES = (
    *("f(", "f(q=", 'f(q="', "[f(", "[f(q='", "g.call(", 'brave_search.call(query="'),
    *('{"name":"f","parameters":{"q":"',),
)
_OPENINGS = ("{", "{ \n", "[", "[{", "<tool>{")
_FIRST = ("#c\n", "//c\n", "/**/", "Note: 1, ", "'", "n", "-", "(", "*", "\ufeff")
_RESTS = (
    '"name": "f", "parameters": {"q": 1}}',
    "'name': 'f', 'parameters': {'q': 1},}",
    'name: "f", "parameters": {}}',
)
_CUT_OFF_TOKENS = (
    *("<|", "<|eot_id|>", "<|start_header_id|>", "<|python_tag|>", "<|im_start|>", "</think>", "<|python_en"),
)

SITUATIONS = (
    *(f"{before}{call}{behind}" for call in _CALLS for before in _QUOTES for behind in (before, "", *"\"'`\u201d")),
    *(f"`{before}{call}{behind}" for call in _CALLS for before in ("", "x ", "`", "\n") for behind in _BREAKS),
    *(f"{call}{delimiters}" for call in _CALLS for delimiters in _DELIMITERS),
    *(f"{call}{delimiters}{call}" for call in _CALLS for delimiters in _DELIMITERS),
    *(f"{quoting}{call}" for call in _CALLS for quoting in _QUOTING),
    *(f"{name}{token}" for name in _NAMES for token in _CUT_OFF_TOKENS),
    *(
        f"{opening}{call}"
        for call in _CALLS
        for opening in ("<tool_call>", "```json\n", "<functioncall ", "<|python_start|>")
    ),
    *(f"<think>{thought}</think>" for thought in ("eee", " e ", "e<e", "</thin", *_CALLS)),
    *(f"{opening}{first}{rest}" for opening in _OPENINGS for first in _FIRST for rest in _RESTS),
    "[f(q=1), g(), ",
    "[f(q=1), g()",
    "[f(q=1)][0]",
    "<|python_tag|>x = 1\n",
    "<|start_header_id|>user<|end_header_id|>\n\n",
    '{"message":"m","tool_call":null}',
    f'{{"name":"f","parameters":{{"q":"{"x" * 230}"}}}}',
    f"[f(q='{'x' * 250}')]",
    f"<tool_call>{' ' * 250}",
    *(f"{{'name'{call}\n;\n: 'f', 'parameters': {{" for call in _CALLS),
    *(f"Result of f: {call}" for call in _CALLS),
    f'<|python_tag|>```python\ne<|python_tag|> x = "{"x" * 250}',
    "{ /* [f(q=1)]; ",
    "[f(a='\\ud83d\udcd2')]",
    "{'name': 'f', 'parameters': {'a': '\\ud83d\udcd2'}}",
)
"""What decides about calls, as chance rarely puts it together: quotation, delimiters, what is cut off, thoughts."""

_F = {"type": "object", "properties": {"q": {"type": "integer"}, "a": {"type": "array"}}, "required": ["q"]}
_G = {"type": "object", "properties": {"a": {"type": "string"}}}
_CODE = {"type": "object", "properties": {"code": {"type": "string"}}}

TOOLS = (Tool("f", parameters=_F), Tool("g", parameters=_G), Tool("code_interpreter", parameters=_CODE))
"""Tools of those names, of which the last runs code."""

READINGS = {
    "default": Extractor(),
    "tools": Extractor(tools=TOOLS),
    "unknown tools": Extractor(tools=TOOLS, on_unknown_tool="call"),
    "all formats": Extractor(formats="all"),
    "pythonic": Extractor(formats=["pythonic"]),
    "coerced": Extractor(tools=TOOLS, coerce_arguments=True),
    "repaired": Extractor(tools=TOOLS, repair=True),
    "reasoning": Extractor(split_reasoning=True),
    "begun reasoning": Extractor(split_reasoning=True, starts_reasoning=True),
    "limited": Extractor(limits=Limits(max_depth=2, max_call_length=256, max_calls=2, max_rejections=2)),
    "one call": Extractor(limits=Limits(max_calls=1, max_rejections=1)),
    "short repaired calls": Extractor(tools=TOOLS, repair=True, limits=Limits(max_call_length=256)),
    "few short calls": Extractor(tools=TOOLS, limits=Limits(max_depth=1, max_call_length=256, max_calls=3)),
    "reasoning and tools": Extractor(tools=TOOLS, formats="all", split_reasoning=True),
    "all": Extractor(tools=TOOLS, formats="all", coerce_arguments=True, repair=True, split_reasoning=True),
}
"""The ways to read outputs, by a name for them."""
