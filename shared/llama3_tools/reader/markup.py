"""What markup looks like (principle 2): fragments of patterns, from which `grammar` and `regions` are put together."""

from __future__ import annotations

import re

from llama3_tools.limits import LONGEST_NAME

NAME = rf"[\w.:/-]{{1,{LONGEST_NAME}}}"
"""The name of a tool, if the text around it shows that it is one."""
WORD_NAME = rf"[^\W\d][\w.:/-]{{0,{LONGEST_NAME - 1}}}"
"""The name of a tool, if only its place shows that: it begins with a letter or `_`."""
METHOD = ".call"
"""What Meta's built-in tools end with: `brave_search.call(query="…")`."""
CALL = rf"{WORD_NAME}[ \t]{{0,8}}\("
SPACE = r"[ \t\n\r]{0,128}"
OBJECT_BEGINS = " \t\n\r\"}'"
"""What may follow the brace of an object, one of Python's too."""

THOUGHTS = "think|thinking|reasoning|scratch_pad"
RESULTS = "tool_response|tool_result"
"""The tags of a tool's result."""

# meta-llama/llama-models, prompt_format.md of llama3_1, llama3_2, llama3_3 and llama4; ChatML's, of Hermes finetunes.
HEADER = r"<\|(?:start_header_id|header_start)\|>"
HEADER_END = r"<\|(?:end_header_id|header_end)\|>"
IM_START = r"<\|im_start\|>"
_ROLES = ("user", "system", "tool", "ipython", "function")
OTHERS = f"(?:{'|'.join(''.join(f'[{char}{char.upper()}]' for char in role) for role in _ROLES)})"
"""The roles of others, in either case: `re` is slow if it ignores case."""
_END_OF_TURN = r"<\|(?:eom_id|eot_id|end_of_text|eom|eot|im_end|endoftext)\|>"
_BEGINS_TURN = rf"{IM_START}(?:(?:assistant|{OTHERS})(?![A-Za-z]))?|{HEADER}(?:[^<>|{{]{{0,32}}{HEADER_END})?"
_KNOWN = (
    r"<\|(?:python_tag|python_start|python_end|begin_of_text|finetune_right_pad_id|end_header_id|header_end)\|>"
    rf"|{_END_OF_TURN}|{_BEGINS_TURN}"
)
"""The tokens of Llama's and ChatML's, which go at the edges of an output, too."""
TOKEN = r"<[|\uff5c](?!im_start\||(?:start_header_id|header_start)\|)[^<>{(|\uff5c\n]{1,40}[|\uff5c]>"  # noqa: S105
"""A token by its look, with DeepSeek's wide bars, too; but those that begin a turn, which take a role."""
_CLOSING_TAG = r"</[A-Za-z][^<>{\n]{0,60}>"

match_tokens_at_start = re.compile(rf"(?:\s*(?:{_KNOWN}))*").match
search_tokens_at_end = re.compile(rf"(?:(?:{_KNOWN})\s*)+\Z").search
search_end_of_turn = re.compile(rf"(?=(?:{_END_OF_TURN}|{HEADER}|{IM_START}))").search
"""Searches for a token that ends a turn, or begins the next one."""
match_closing_markup = re.compile(
    rf"(?:\s+|{_BEGINS_TURN}|{TOKEN}|{_CLOSING_TAG}|<\?[^<>\n{{]{{0,60}}>|;(?=[\s<\[`*\])}}>,;])"
    r"|,(?=[ \t]*[\r\n<\[`*\])}])|/?[\])}>]|--!?>|\*\*|[`~]{3,16}[ \t]*|\[(?:/|END_)[A-Z_]{1,30}\])*"
).match
"""Matches what goes with the call before it: all but what opens something."""
finditer_closing_tags = re.compile(r"</([A-Za-z][\w:.-]*)").finditer
search_markup_for_calls = re.compile(
    r"[<\[][|\uff5c]?(?!tools\b)\w*(?:tool|func|call|python_tag|python_start)", re.IGNORECASE
).search
"""Searches markup for a tag or token whose only use is calls."""

CODE_END = (
    re.compile(r"(?P<close><\|[a-z_]{1,24}\|>)|(?P<more><(?:\|[a-z_]{0,24}\|?)?\Z)").search,
    re.compile(r"(?P<close><\|[a-z_]{1,24}\|>)").search,
)
"""Search for what ends code after `<|python_tag|>`, in text that may go on, and in text that has ended."""
_LIST_END = r"\](?!\(|\.\w|\[\d|\s{0,2}=(?!=))"
LIST_END = (
    re.compile(rf"{_LIST_END}(?!(?:[.\[]|\s{{1,2}})?\Z)|\](?P<more>(?:[.\[]|\s{{1,2}})?\Z)").match,
    re.compile(_LIST_END).match,
)
"""Match the end of a list of pythonic calls, unless what follows makes it a part of code."""


def beginnings(*texts: str) -> str:
    """Return the pattern of every true beginning of some literal texts.

    >>> bool(re.fullmatch(beginnings("</a>"), "</")), bool(re.fullmatch(beginnings("</a>"), "</a>"))
    (True, False)
    """
    patterns = []
    for text in texts:
        pattern = ""
        for char in reversed(text[:-1]):
            pattern = f"{re.escape(char)}(?:{pattern})?" if pattern else re.escape(char)
        patterns.append(pattern)
    return f"(?:{'|'.join(patterns)})"
