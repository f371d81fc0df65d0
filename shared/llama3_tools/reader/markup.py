"""What markup looks like (principle 2), what names a tool (principle 3) and what opens quotation (principle 4).

All patterns of the machine stand here. Each is compiled twice: for text that has ended, and for text that may go on,
where what stands at its end may only be the beginning of something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from llama3_tools.limits import LONGEST_NAME

__all__ = [
    "CODE_END",
    "LIST_END",
    "METHOD",
    "NAME",
    "OBJECT_BEGINS",
    "OTHER_TURN",
    "WORD_NAME",
    "Grammar",
    "Region",
    "grammar_of",
    "match_closing_markup",
    "match_tokens_at_start",
    "region_of_fence",
    "region_of_tag",
    "search_end_of_turn",
    "search_markup_for_calls",
    "search_tokens_at_end",
]

Match: TypeAlias = Callable[..., "re.Match[str] | None"]

NAME = rf"[\w.:/-]{{1,{LONGEST_NAME}}}"
"""The name of a tool, if what stands around it says that it is one."""
WORD_NAME = rf"[^\W\d][\w.:/-]{{0,{LONGEST_NAME - 1}}}"
"""The name of a tool, if only its place says so: it begins with a letter or `_`."""
METHOD = ".call"
"""What Meta's built-in tools end with: `brave_search.call(query="…")`."""

_SPACE = r"[ \t\n\r]{0,128}"
_CALL = rf"{WORD_NAME}[ \t]{{0,8}}\("
_BETWEEN = r"[ \t]{0,4}[=:,]?[ \t]{0,4}(?:\r?\n[ \t\r\n]{0,8}(?:`{3}(?:json)?\r?\n)?)?"
"""What may stand between the name of a tool and the object of its arguments; DeepSeek-R1 writes a fence there."""
_BEGUN = rf"{_BETWEEN}(?:\r|`{{1,3}}(?:j(?:s(?:on?)?)?)?\r?)?"
"""The beginning of that, at the end of the text."""
_ARGUED = rf"{WORD_NAME}{_BETWEEN}\{{"
_NAMED = rf"{WORD_NAME}(?:[ \t]{{0,8}}\(|{_BETWEEN}\{{)"
_THOUGHTS = "think|thinking|reasoning|scratch_pad"
_RESULTS = "tool_response|tool_result"
_FUNCTION = (
    rf"<function(?:[=.(:]|[ \t]+name=)[\"']?(?P<tool>{NAME})(?![\w.:/-])[\"']?[)\]>=,:(]{{0,3}}(?![\"')\]>=,:(])"
)
"""`<function=NAME>`, `<function name="NAME">`, and what Llama writes instead of them."""

# The roles of others, in either case: `re` is slow if it ignores case.
_OTHERS = "(?:%s)" % "|".join(
    "".join(f"[{char}{char.upper()}]" for char in role) for role in ("user", "system", "tool", "ipython", "function")
)
_HEADER = r"<\|(?:start_header_id|header_start)\|>"
_HEADER_END = r"<\|(?:end_header_id|header_end)\|>"
_IM = r"<\|im_start\|>"
_ROLE_BEGINS = r"[A-Za-z]{0,16}[ \t]{0,4}(?:\r|<(?:\|[a-z_]{0,14}\|?)?)?\Z"

_TOKEN = r"<[|｜](?!im_start\||(?:start_header_id|header_start)\|)[^<>|｜\n]{1,40}[|｜]>"
_CLOSING_TAG = r"</[A-Za-z][^<>{\n]{0,60}>"
_KNOWN = (
    r"<\|(?:python_tag|python_start|python_end|begin_of_text|finetune_right_pad_id|eom_id|eot_id|end_of_text|eom|eot"
    rf"|im_end|endoftext|end_header_id|header_end)\|>|{_HEADER}(?:[^<>|]{{0,32}}{_HEADER_END})?"
    rf"|{_IM}(?:assistant(?![A-Za-z]))?"
)
"""The tokens of Llama's and ChatML's, which go at the edges of an output, too."""
_NO_PART_OF_CODE = r"(?<![\w)\"'`=(\[])(?<!=\s)(?<!\(\s)(?<!\breturn\s)(?<!\bin\s)"

match_tokens_at_start = re.compile(rf"(?:\s*(?:{_KNOWN}))*").match
search_tokens_at_end = re.compile(rf"(?:(?:{_KNOWN})\s*)+\Z").search
match_closing_markup = re.compile(
    rf"(?:\s+|;|,(?=[ \t]*[\r\n<\[`*\])}}])|[\])}}>]|{_CLOSING_TAG}|--!?>|<\?[^<>\n{{]{{0,60}}>|{_TOKEN}|{_KNOWN}|\[(?:/|END_)[A-Z_]{{1,30}}\]|\*\*|[`~]{{3,16}}[ \t]*)*"
).match
"""Matches what goes with the call before it: all but what opens something."""
search_markup_for_calls = re.compile(
    r"[<\[][|｜]?(?!tools\b)\w*(?:tool|func|call|python_tag|python_start)", re.IGNORECASE
).search
"""Searches markup for a tag or token whose only use is calls."""

search_end_of_turn = re.compile(
    rf"(?=<\|(?:eom_id|eot_id|end_of_text|eom|eot|im_end|endoftext)\|>|{_HEADER}|{_IM})"
).search
"""Searches for a token that ends a turn, or begins the next one."""

CODE_END = (
    re.compile(r"(?P<close><\|[a-z_]{1,24}\|>)|(?P<more><(?:\|[a-z_]{0,24}\|?)?\Z)").search,
    re.compile(r"(?P<close><\|[a-z_]{1,24}\|>)").search,
)
"""Search for what ends code after `<|python_tag|>`."""
_LIST_END = r"\](?!\(|\.\w|\[\d|\s{0,2}=(?!=))"
LIST_END = (
    re.compile(rf"{_LIST_END}(?!(?:[.\[]|\s{{1,2}})?\Z)|\](?P<more>(?:[.\[]|\s{{1,2}})?\Z)").match,
    re.compile(_LIST_END).match,
)
"""Match the end of a list of pythonic calls, unless what follows makes it a part of code."""


OBJECT_BEGINS = " \t\n\r\"}'"
"""What may follow the brace of an object, one of Python's too."""


class Region(NamedTuple):
    """A region of quotation."""

    why: str
    """What it is, for rejections."""
    search: tuple[Match, Match]
    """Searches for what closes it, and for objects, in text that may go on, and in text that has ended."""
    is_split: bool = False
    """Whether it is reasoning that is split off."""


@lru_cache(maxsize=64)
def _region(why: str, close: str, begins: str) -> Region:
    """Return a region that ends with a pattern; `begins` matches the beginnings of that."""
    found = rf"(?P<close>{close})|\{{(?=[{OBJECT_BEGINS}])(?P<object>)"
    more = rf"(?:{begins}|\{{)\Z(?P<more>)"
    return Region(why, (re.compile(f"{more}|{found}", re.MULTILINE).search, re.compile(found, re.MULTILINE).search))


def region_of_tag(tag: str, why: str) -> Region:
    """Return the region up to a closing tag."""
    closing = f"</{tag}>"
    return _region(why, re.escape(closing), _begins(closing))


def region_of_fence(ticks: str, why: str) -> Region:
    """Return the region up to the line that closes a fence."""
    mark = rf"{re.escape(ticks)}{re.escape(ticks[0])}{{0,16}}[ \t]{{0,8}}"
    return _region(why, rf"^[ \t]{{0,8}}{mark}$", r"^[ \t]{0,8}[`~]{0,32}[ \t]{0,8}")


OTHER_TURN = _region(
    "in a turn of another role",
    rf"{_HEADER}\s{{0,8}}assistant\s{{0,8}}{_HEADER_END}|{_IM}assistant(?![A-Za-z])",
    r"<(?:\|[a-z_]{0,16}(?:\|(?:>\s{0,8}[a-z]{0,9}\s{0,8}(?:<(?:\|[a-z_]{0,14}\|?)?)?)?)?)?",
)
"""What stands after the header of another's turn, up to the assistant's next one."""


class Grammar(NamedTuple):
    """What an extractor looks for, in text that may go on, or in text that has ended."""

    first: Match
    """Searches text for what may begin something."""
    run: Match
    """Matches markup, delimiters and white space; groups `open` and `close`: the tags that were opened and closed last."""
    run_after_text: Match
    """Matches the same where text stands before, to which delimiters and a closing tag belong."""
    others: Mapping[str, Match]
    """What else begins where a call may stand, by its first character: the last group says what."""
    name: Match | None
    """Matches the name of a tool with what may stand between it and its arguments."""


@lru_cache(maxsize=64)
def grammar_of(*, calls: bool, json: bool, function: bool, names: bool) -> tuple[Grammar, Grammar]:
    """Return the patterns for what is read, for text that may go on, and for text that has ended.

    Args:
        calls: whether any call is; if not, nothing but thoughts is looked for.
        json: whether objects are calls.
        function: whether `<function=NAME>` is.
        names: whether pythonic calls are, and objects after the name of a tool.
    """
    if not calls:
        return _thoughts_alone(ended=False), _thoughts_alone(ended=True)
    going, ended = (_grammar(json=json, function=function, names=names, ended=end) for end in (False, True))
    return going, ended


def _thoughts_alone(*, ended: bool) -> Grammar:
    more = "" if ended else r"|<[a-z_]{0,12}\Z(?P<more>)"
    thought = re.compile(rf"<(?P<thinks>{_THOUGHTS})>(?P<thought>){more}").match
    space = re.compile(r"(?P<open>(?!))?(?P<close>(?!))?\s*").match
    return Grammar(re.compile("<").search, space, space, {"<": thought}, None)


def _grammar(*, json: bool, function: bool, names: bool, ended: bool) -> Grammar:
    at_end = "" if ended else r"|\Z"
    letter = r"|[^\W\d]" if names else ""
    line = [_NAMED] if names else []
    if not ended:
        line.append(rf"(?:{WORD_NAME}(?:{_BEGUN})?)?\Z" if names else rf"{_begins('functools[')}?\Z")
    first = [
        *([rf"\{{(?=[{OBJECT_BEGINS}]{at_end})"] if json else []),
        rf"\[(?=[ \t\n\r\[{{A-Z/]{letter}{at_end})",
        rf"<(?=[A-Za-z!?|｜]{at_end})",
        "```" if ended else r"`(?=``|`?\Z)",
        "~~~" if ended else r"~(?=~~|~?\Z)",
        rf"\*(?=\*[ \t]{{0,4}}(?:[{{<\[`\r\n\w]{at_end}){at_end})",
        ">>>" if ended else r">(?=>>|>?\Z)",
        rf"\n(?=[ \t]*(?:{'|'.join([*line, 'functools.'])}))",
    ]
    others = _angle(function=function, ended=ended) | _fences(ended=ended) | _square(names=names, ended=ended)
    if not ended:
        others["*"] = r"\*\*?[ \t]{0,4}" + (rf"(?:{WORD_NAME}[ \t]{{0,8}})?" if names else "") + r"\Z(?P<more>)"
        others["-"] = r"--?!?\Z(?P<more>)"
        others[">"] = rf">>?\Z(?P<more>)|>>>(?:{WORD_NAME}(?:{_BEGUN})?)?\Z(?P<more_arrows>)"
        others["f"] = rf"{_begins('functools[')}\Z(?P<more>)"
    name = None
    if names:
        written = rf"(?P<name>{WORD_NAME})(?:[ \t]{{0,8}}\((?P<call>)|{_BETWEEN}(?=\{{)(?P<head>))"
        begun = "" if ended else rf"|(?P<begun>{WORD_NAME})(?:{_BEGUN})\Z(?P<begins>)"
        name = re.compile(written + begun).match
    return Grammar(
        re.compile("|".join(first)).search,
        re.compile(_run(names=names, ended=ended, is_after_text=False)).match,
        re.compile(_run(names=names, ended=ended, is_after_text=True)).match,
        {char: re.compile(pattern).match for char, pattern in others.items()},
        name,
    )


def _run(*, names: bool, ended: bool, is_after_text: bool) -> str:
    """Return all that may stand between two calls: markup, delimiters, white space. After text, no closing comes first."""
    call = f"|{_CALL}" if names else ""
    at_end = r"|\Z" if ended else ""
    other = rf"{_OTHERS}[ \t]{{0,4}}(?:\r?\n|{_HEADER_END}{at_end})"
    no_role = other if ended else rf"{other}|{_ROLE_BEGINS}"
    angle = [
        rf"\|im_start\|>(?!{no_role})(?:assistant(?![A-Za-z])[ \t]{{0,4}})?(?:\r?\n)?",
        r"/(?P<close>[A-Za-z][^<>{\n]{0,60})>",
        rf"(?!(?:{_THOUGHTS}|{_RESULTS})[ >]|function(?:[=.(:]|[ \t]+name=))"
        r"(?P<open>[A-Za-z][\w:.-]{0,31})(?:[ \t][^<>{\n]{0,28})?/?>",
        rf"\|(?:start_header_id|header_start)\|>(?!\s{{0,8}}{_OTHERS}\s{{0,8}}{_HEADER_END})"
        rf"(?:[^<>|]{{0,32}}{_HEADER_END}|(?=[\[{{]|{_HEADER}))",
        rf"{_TOKEN[1:]}",
        r"!--|\?[^<>\n{]{0,60}>",
        r"[a-z_]{4,24}[ \n]{1,4}(?=\{)",
    ]
    pieces = [
        r"[\s;,]+",
        rf"<(?:{'|'.join(angle)})",
        r"--!?>",
        r"\[/?[A-Z][A-Z_]{1,30}\]",
        r"\[(?=[ \t\n\r\[]{0,128}\{)",
        rf"\*\*(?=[ \t]{{0,4}}(?:[{{<\[`\r\n]{call}{at_end}))",
        r"functools(?=\[)",
    ]
    if names:
        pieces += [rf"{_NO_PART_OF_CODE}(?:\[{_SPACE}){{1,4}}(?={_CALL})", rf">>>(?={_ARGUED})"]
    run = rf"(?:{'|'.join(pieces)})"
    return rf"\s*(?:(?!</|--|[;,]|(?<=\])\[){run}{{1,64}})?" if is_after_text else rf"{run}{{0,64}}"


def _angle(*, function: bool, ended: bool) -> dict[str, str]:
    """Return what begins with `<` and is no markup of calls."""
    at_end = r"|\Z" if ended else ""
    things = [
        rf"<(?P<thinks>{_THOUGHTS})>(?P<thought>)",
        rf"<(?P<answers>{_RESULTS})(?:[ \t][^<>\n]{{0,40}})?>(?P<response>)",
        rf"(?:{_HEADER}\s{{0,8}}{_OTHERS}\s{{0,8}}{_HEADER_END}|{_IM}{_OTHERS}[ \t]{{0,4}}(?:\r?\n|{_HEADER_END}{at_end}))(?P<turn>)",
    ]
    if function:
        inside = (
            r"(?P<inside>\{|</function>|<|)"
            if ended
            else r"(?:(?P<inside>\{|</function>|(?!" + _begins("</function>") + r"\Z)<)|(?=[^ \t\n\r{<]))"
        )
        things.insert(0, rf"{_FUNCTION}(?={_SPACE}{inside})(?P<function>)")
    if not ended:
        things += [
            rf"{_HEADER}[^<>|]{{0,32}}(?:<(?:\|[a-z_]{{0,16}}\|?)?)?\Z(?P<more_header>)",
            rf"{_IM}{_ROLE_BEGINS}(?P<more_im>)",
            r"<(?:[A-Za-z/!?|｜][^<>{\n]{0,62}(?:\n[ \n]{0,4})?)?\Z(?P<more_tag>)",
        ]
        if function:
            things.append(
                rf"{_FUNCTION.replace('?P<tool>', '?:')}{_SPACE}(?:{_begins('</function>')})?\Z(?P<more_function>)"
            )
    return {"<": "|".join(things)}


def _fences(*, ended: bool) -> dict[str, str]:
    """Return the line of a fence."""
    fences = {}
    at_end = r"|\Z" if ended else ""
    for char in "`~":
        info = r"[ \t]{0,4}(?P<info>[^\s`~{\[<]{0,32})[ \t]{0,4}(?P<rest>[^\n`{\[<]{0,64})"
        more = "" if ended else rf"|{char}{{1,16}}[^\n`{{\[<]{{0,104}}\Z(?P<more>)"
        fences[char] = rf"(?P<ticks>{char}{{3,16}})(?!{char}){info}(?=[\n{{\[<`]{at_end})(?P<fence>){more}"
    return fences


def _square(*, names: bool, ended: bool) -> dict[str, str]:
    """Return the name of a tool in brackets."""
    things = [rf"\[(?P<listed>{WORD_NAME})\]{_BETWEEN}(?=\{{)(?P<bracketed>)"] if names else []
    if not ended:
        name = rf"(?:{WORD_NAME}(?:[ \t]{{0,8}}|\]{_BEGUN}))?" if names else ""
        things.append(rf"\[(?:[ \t\n\r\[]{{0,128}}{name}|/?[A-Z][A-Z_]{{0,30}}|/)\Z(?P<more>)")
    return {"[": "|".join(things)} if things else {}


def _begins(*texts: str) -> str:
    """Return the pattern of every true beginning of some literal texts."""
    patterns = []
    for text in texts:
        pattern = ""
        for char in reversed(text[:-1]):
            pattern = f"{re.escape(char)}(?:{pattern})?" if pattern else re.escape(char)
        patterns.append(pattern)
    return f"(?:{'|'.join(patterns)})"
