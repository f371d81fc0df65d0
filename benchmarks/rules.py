"""The rules that can be switched off one by one, and by what an output shows that it holds what a rule is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from llama3_tools.formats import EnabledFormats, FormatName, grammar_of
from llama3_tools.formats.json_calls import CALL_KEYS
from llama3_tools.formats.pythonic import PYTHONIC_NAME

__all__ = ["OPTIONS", "RULES", "SHAPES", "SPELLINGS", "Rule"]

_EVERYTHING = EnabledFormats(get_args(FormatName), has_tools=True, has_code_interpreter=True, repair=False)
FORMATS = grammar_of(_EVERYTHING).formats
"""All wire formats, by the names of their rules."""

_CANDIDATE = rf"(?:[{{\[<]|{PYTHONIC_NAME}\()"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule or an option of reading."""

    name: str
    """What it is called in the table."""
    kind: str
    """`format`, `wrapper`, `quotation`, `report` or `option`."""
    off: tuple[str, ...] = ()
    """The names by which it is switched off."""
    pattern: str = r"(?s:.)"
    """What an output holds that the rule is about."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options that are set."""
    has_tools: bool = True
    """Whether tools are declared."""
    complete: bool = True
    """Whether the output counts as complete (rule 7)."""


def _format(name: str, kind: str, shown: str = "") -> Rule:
    """Return the rule of a wire format."""
    format_ = FORMATS[name]
    return Rule(shown or name, kind, (name,), format_.opening_ended or format_.opening)


RULES = (
    _format("json", "format", "bare JSON"),
    Rule("pythonic calls", "format", ("pythonic", "pythonic_list"), rf"{PYTHONIC_NAME}[ \t]{{0,8}}\("),
    _format("function_tag", "format", "`<function=NAME>`"),
    Rule("`NAME`, then JSON", "format", ("functionary",), rf"(?m)^(?:.*>>>)?{PYTHONIC_NAME}[ \t]*\r?\n\s*\{{"),
    Rule("code for `code_interpreter`", "format", ("code",), r"<\|python_tag\|>"),
    _format("list", "wrapper", "`[…]` around JSON"),
    _format("pythonic_list", "wrapper", "`[…]` around pythonic calls"),
    _format("tool_call", "wrapper", "`<tool_call>`"),
    _format("tool", "wrapper", "`<tool>`"),
    _format("tools", "wrapper", "`<tools>`"),
    _format("function", "wrapper", "`<function>`"),
    _format("functioncall", "wrapper", "`<functioncall>`"),
    _format("python_start", "wrapper", "`<|python_start|>`"),
    _format("token", "wrapper", "protocol tokens"),
    _format("fence", "wrapper", "code fences, listings"),
    Rule("code span", "wrapper", ("span",), rf"(?<!`)`{{1,2}}(?!`)[^`\n]*{_CANDIDATE}"),
    Rule("bold", "wrapper", ("bold",), rf"\*\*{_CANDIDATE}"),
    Rule("listing", "quotation", ("listing",), r"(?m)```[ \t]*(?:py\w*)?[ \t]*$"),
    Rule("fence of tildes", "quotation", ("tildes",), r"(?m)^~{3,16}"),
    Rule("`</function>` without its tag", "wrapper", ("function_end",), "</function>"),
    Rule("blockquote", "quotation", ("blockquote",), rf"(?m)^[ \t]*>.*{_CANDIDATE}"),
    Rule("between quotation marks", "quotation", ("string",), rf"(?<![\w\"'])[\"']{_CANDIDATE}"),
    Rule("repeated result", "quotation", ("result",), r"(?m)^(?:Result|Error) of [\w.:/-]+:"),
    _format("turn", "quotation", "another's turn"),
    _format("thought", "quotation", "thoughts"),
    _format("tool_response", "quotation", "`<tool_response>`"),
    Rule("value in broken JSON", "quotation", ("broken_data",), r'":\s*\[*\{'),
    _format("python_dict", "report", "dict of Python"),
    _format("named_list", "report", '`["NAME", {…}]`'),
)
"""Each can be switched off: what an output loses, or gains, without it."""

OPTIONS = (
    Rule("no tools declared", "option", has_tools=False),
    Rule('on_unknown_tool="call"', "option", options={"on_unknown_tool": "call"}),
    Rule('formats="all"', "option", options={"formats": "all"}),
    Rule("repair", "option", options={"repair": True}),
    Rule("coerce_arguments", "option", options={"coerce_arguments": True}),
    Rule("split_reasoning", "option", options={"split_reasoning": True}),
    Rule("starts_reasoning", "option", options={"starts_reasoning": True}),
    Rule("complete=False", "option", complete=False),
)
"""Each is switched on."""

_ARGUMENTS = r'"(?:parameters|arguments)"\s*:'
SHAPES = {
    "`name`, then `parameters`": r'"name"\s*:[\s\S]*"parameters"\s*:',
    "`name`, then `arguments`": r'"name"\s*:[\s\S]*"arguments"\s*:',
    "arguments first": rf'{_ARGUMENTS}\s*\{{[\s\S]*"name"\s*:\s*"[^"]*"\s*\}}',
    '`"type": "function"` beside': r'"type"\s*:\s*"function"',
    "OpenAI's": r'"function"\s*:\s*\{',
    '`"function": "NAME"`': r'"function"\s*:\s*"',
    "`tool_name`": r'"tool_name"\s*:',
    "arguments in a string": rf'{_ARGUMENTS}\s*"\s*\{{',
    '`null` or `""` as arguments': rf'{_ARGUMENTS}\s*(?:null|"")',
    "no arguments": rf"^(?![\s\S]*{_ARGUMENTS})\s*\{{",
}
"""The shapes of calls in JSON, by what stands in the text of a call."""

SPELLINGS = {
    **{
        f"`{opening.strip()}`": re.escape(opening)
        for format_ in FORMATS.values()
        for opening in format_.closings
        if opening.startswith("<") and not opening.endswith("\n")
    },
    **{f"`{token}`": re.escape(token) for token in ("<|python_tag|>", "[TOOL_CALLS]", "<|im_start|>", "<|im_end|>")},
    **{f"`{token}`": re.escape(token) for token in ("<|start_header_id|>", "<|eot_id|>", "<|eom_id|>")},
    **{f"fence of {word or 'no language'}": rf"```{word}[ \t]*(?=[\n{{\[<])" for word in ("json", "python", "")},
    "fence of another language": r"```(?!json|python|tool|function)\w+",
    "`functools[`": r"functools\[",
    "`<function name=`": r"<function name=",
    "misspelt `<function…`": r"<function(?:[.(]|=[\w.:/-]+[={\s])",
    '`"function": {`': SHAPES["OpenAI's"],
    "`tool_name` as a key": SHAPES["`tool_name`"],
    "arguments in a string": SHAPES["arguments in a string"],
    '`null` or `""` as arguments': SHAPES['`null` or `""` as arguments'],
    "`tool_call` or `tool_calls` as a key": r'"tool_calls?"\s*:',
    "a key of a call without quotes": rf"\{{\s*{CALL_KEYS}\s*:",
}
"""The spellings of wrappers and of keys, by their patterns: in the whole output, whatever becomes of it."""
