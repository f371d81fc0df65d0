"""What an extractor looks for: markup (principle 2), names of tools (principle 3), what opens quotation (principle 4).

Each pattern is compiled twice: for text that has ended, and for text that may go on, whose end may only be the
beginning of something. An empty group at the end of an alternative says what was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from llama3_tools.reader.markup import (
    CALL,
    HEADER,
    HEADER_END,
    IM_START,
    NAME,
    OBJECT_BEGINS,
    OTHERS,
    RESULTS,
    SPACE,
    THOUGHTS,
    TOKEN,
    WORD_NAME,
    beginnings,
)

Match: TypeAlias = Callable[..., "re.Match[str] | None"]

_BETWEEN = r"[ \t]{0,4}[=:,]?[ \t]{0,4}(?:\r?\n[ \t\r\n]{0,8}(?:`{3}(?:json)?\r?\n)?)?"
"""What may come between the name of a tool and its object of arguments; DeepSeek-R1 writes a fence there."""
_BEGUN = rf"{_BETWEEN}(?:\r|`{{1,3}}(?:j(?:s(?:on?)?)?)?\r?)?"
"""As much of that as has come, at the end of the text."""
_FUNCTION = (
    rf"<function(?:[=.(:]|[ \t]+name=)[\"']?(?P<tool>{NAME})(?![\w.:/-])[\"']?[)\]>=,:(]{{0,3}}(?![\"')\]>=,:(])"
)
"""`<function=NAME>`, `<function name="NAME">`, and what Llama writes instead of them."""
_FULL = r"(?<=[ \t\n\r]{128})(?=[ \t\n\r])"
"""After all that `SPACE` matches, where more white space follows: more text does not change what this is."""
_ROLE_BEGINS = r"[A-Za-z]{0,16}[ \t]{0,4}(?:\r|<(?:\|[a-z_]{0,14}\|?)?)?\Z"
_OTHER_HEADER = rf"\s{{0,8}}{OTHERS}\s{{0,8}}{HEADER_END}"
_FUNCTOOLS = "functools["
_NO_PART_OF_CODE = r"(?<![\w)\"'`=(\[])(?<!=\s)(?<!\(\s)(?<!\breturn\s)(?<!\bin\s)"


class Grammar(NamedTuple):
    """What an extractor looks for, in text that may go on, or in text that has ended."""

    first: Match
    """Searches text for what may begin something."""
    run: Match
    """Matches markup, delimiters and white space; groups `open` and `close`: the last tags of each kind."""
    run_after_text: Match
    """Matches the same after text, to which delimiters and a closing tag belong."""
    others: Mapping[str, Match]
    """Matches of what else may begin where a call may be, by first character."""
    name: Match | None
    """Matches the name of a tool, and what may come between it and its arguments."""


@lru_cache(maxsize=64)
def grammar_of(*, calls: bool, json: bool, function: bool, names: bool) -> tuple[Grammar, Grammar]:
    """Return the patterns for what is read, for text that may go on, and for text that has ended.

    Without calls, nothing but thoughts is looked for; `names`: pythonic calls, and objects after the name of a tool.
    """
    if not calls:
        return _thoughts_alone(ended=False), _thoughts_alone(ended=True)
    return (
        _grammar(json=json, function=function, names=names, ended=False),
        _grammar(json=json, function=function, names=names, ended=True),
    )


def _thoughts_alone(*, ended: bool) -> Grammar:
    more = "" if ended else r"|<[a-z_]{0,12}\Z(?P<more>)"
    thought = re.compile(rf"<(?P<thinks>{THOUGHTS})>(?P<thought>){more}").match
    space = re.compile(r"(?P<open>(?!))?(?P<close>(?!))?\s*").match
    return Grammar(re.compile("<").search, space, space, {"<": thought}, None)


def _grammar(*, json: bool, function: bool, names: bool, ended: bool) -> Grammar:
    others = _angle(function=function, ended=ended) | _fences(ended=ended) | _bracketed(names=names, ended=ended)
    if not ended:
        named = rf"(?:{WORD_NAME}(?:{_BEGUN})?)?" if names else ""
        others["*"] = rf"\*\*?[ \t]{{0,4}}{named}\Z(?P<more>)"
        others[">"] = rf"(?:>>?|>>>{named})\Z(?P<more>)"
        others["-"] = r"--?!?\Z(?P<more>)"
        others["/"] = r"/\Z(?P<more>)"
        others["f"] = rf"{beginnings(_FUNCTOOLS)}\Z(?P<more>)"
    return Grammar(
        re.compile(_first(json=json, names=names, ended=ended)).search,
        re.compile(_run(names=names, ended=ended, is_after_text=False)).match,
        re.compile(_run(names=names, ended=ended, is_after_text=True)).match,
        {char: re.compile(pattern).match for char, pattern in others.items()},
        re.compile(_name(ended=ended)).match if names else None,
    )


def _first(*, json: bool, names: bool, ended: bool) -> str:
    """Return what may begin something in text. Each begins with a literal character, which is fast to search for."""
    at_end = "" if ended else r"|\Z"
    end = r"\Z"
    named = [rf"{WORD_NAME}(?:[ \t]{{0,8}}\(|{_BETWEEN}\{{)"] if names else []
    listed = [r"[ \t\n\r\[{]", r"/?[A-Z][A-Z_]{1,30}\]"]
    if names:
        listed.append(rf"{WORD_NAME}(?:[ \t]{{0,8}}\(|\]{_BETWEEN}\{{)")
    if not ended:
        named.append(rf"(?:{WORD_NAME}(?:{_BEGUN})?)?\Z" if names else end)
        listed.append(rf"(?:{WORD_NAME}(?:[ \t]{{0,8}}|\]{_BEGUN}))?\Z" if names else end)
        listed.append(r"/?(?:[A-Z][A-Z_]{0,30})?\Z")
    line = [*named, "functools.", *([] if names or ended else [rf"{beginnings(_FUNCTOOLS)}\Z"])]
    things = [
        rf"\[(?={'|'.join(listed)})",
        rf"<(?=[A-Za-z!?|\uff5c]{at_end})",
        *(rf"{char}(?<!{char}{char})(?={char}{char}{'' if ended else rf'|{char}?' + end})" for char in "`~"),
        rf"\*(?=\*[ \t]{{0,4}}(?:{'|'.join(['[{<`[]', *named])}){at_end})",
        ">>>" if ended else r">(?=>>|>?\Z)",
        rf"\n(?=[ \t]*(?:{'|'.join(line)}))",
    ]
    if json:
        things.append(rf"\{{(?=[{OBJECT_BEGINS}]{at_end})")
    return "|".join(things)


def _run(*, names: bool, ended: bool, is_after_text: bool) -> str:
    """Return what may come between two calls: markup, delimiters, white space. After text, no closing comes first."""
    call = f"|{CALL}" if names else ""
    at_end = r"|\Z" if ended else ""
    other_role = rf"{OTHERS}[ \t]{{0,4}}(?:\r?\n|{HEADER_END}{at_end})"
    no_role = "" if ended else f"(?!{_ROLE_BEGINS})"
    no_tag = rf"(?!(?:{THOUGHTS}|{RESULTS})[ >]|function(?:[=.(:]|[ \t]+name=))"
    tags = "|".join(
        (
            rf"\|im_start\|>(?!{other_role}){no_role}(?:assistant(?![A-Za-z])[ \t]{{0,4}})?(?:\r?\n)?",
            TOKEN[1:],
            r"/(?P<close>[A-Za-z][^<>{\n]{0,60})>",
            rf"{no_tag}(?P<open>[A-Za-z][\w:.-]{{0,31}})(?:[ \t][^<>{{\n]{{0,28}})?/?>",
            rf"\|(?:start_header_id|header_start)\|>(?!{_OTHER_HEADER})(?:[^<>|{{]{{0,32}}{HEADER_END}|(?=[\[{{]|{HEADER}))",
            r"!--|\?[^<>\n{]{0,60}>",
            r"[a-z_]{4,24}[ \n]{1,4}(?=\{)",  # <functioncall {…}
        )
    )
    pieces = [
        r"[\s;,]+",
        f"<(?:{tags})",
        r"--!?>",
        r"\[/?[A-Z][A-Z_]{1,30}\]",  # [TOOL_CALLS]
        r"\[(?=[ \t\n\r\[]{0,128}\{)",
        rf"\*\*(?=[ \t]{{0,4}}(?:[{{<\[`]{call}))",
        r"functools(?=\[)",  # FireFunction
    ]
    if names:
        pieces.append(rf"(?:(?<=>assistant)|{_NO_PART_OF_CODE})(?:\[{SPACE}){{1,4}}(?={CALL})")
        pieces.append(rf">>>(?={WORD_NAME}{_BETWEEN}\{{)")  # Functionary
    run = f"(?:{'|'.join(pieces)})"
    return rf"\s*(?:(?!</|--|[;,]|(?<=\])\[){run}{{1,64}})?" if is_after_text else rf"{run}{{0,64}}"


def _angle(*, function: bool, ended: bool) -> dict[str, str]:
    """Return what begins with `<` and is not plain markup: quotation, and tags that name their tool."""
    at_end = r"|\Z" if ended else ""
    things = [
        rf"<(?P<thinks>{THOUGHTS})>(?P<thought>)",
        rf"<(?P<answers>{RESULTS})(?:[ \t][^<>\n]{{0,40}})?>(?P<response>)",
        rf"(?:{HEADER}{_OTHER_HEADER}|{IM_START}{OTHERS}[ \t]{{0,4}}(?:\r?\n|{HEADER_END}{at_end}))(?P<turn>)",
    ]
    if function:
        inside = r"(?P<inside>\{|</function>|<|)"
        if not ended:
            inside = rf"(?:(?P<inside>\{{|</function>|(?!{beginnings('</function>')}\Z)<)|(?=[^ \t\n\r{{<])|{_FULL})"
        things.insert(0, rf"{_FUNCTION}(?={SPACE}{inside})(?P<function>)")
    if not ended:
        begun = [
            rf"{HEADER}[^<>|{{]{{0,32}}(?:<(?:\|[a-z_]{{0,16}}\|?)?)?",
            f"{IM_START}{_ROLE_BEGINS}",
            r"<(?:[A-Za-z/!?|\uff5c][^<>{\n]{0,62}(?:\n[ \n]{0,4})?)?",
        ]
        if function:
            begun.append(rf"{_FUNCTION.replace('?P<tool>', '?:')}{SPACE}(?:{beginnings('</function>')})?")
        things.append(rf"(?:{'|'.join(begun)})\Z(?P<more>)")
    return {"<": "|".join(things)}


def _fences(*, ended: bool) -> dict[str, str]:
    """Return the line of a fence, of backticks and of tildes."""
    at_end = r"|\Z" if ended else ""
    words = r"[ \t]{0,4}(?P<info>[^\s`~{\[<]{0,32})[ \t]{0,4}(?P<rest>[^\n`{\[<]{0,64})"
    fences = {}
    for char in "`~":
        more = "" if ended else rf"|(?:{char}{{1,2}}|{char}{{3,16}}[^\n`{{\[<]{{0,104}})\Z(?P<more>)"
        fences[char] = rf"(?<!{char})(?P<ticks>{char}{{3,16}})(?!{char}){words}(?=[\n{{\[<`]{at_end})(?P<fence>){more}"
    return fences


def _bracketed(*, names: bool, ended: bool) -> dict[str, str]:
    """Return the name of a tool in brackets before its arguments; and what may become a list."""
    things = [rf"\[(?P<listed>{WORD_NAME})\]{_BETWEEN}(?=\{{)(?P<bracketed>)"] if names else []
    if not ended:
        name = rf"(?:{WORD_NAME}(?:[ \t]{{0,8}}|\]{_BEGUN}))?" if names else ""
        things.append(rf"\[(?:[ \t\n\r\[]{{0,128}}{name}|/?[A-Z][A-Z_]{{0,30}}|/)\Z(?P<more>)")
    return {"[": "|".join(things)} if things else {}


def _name(*, ended: bool) -> str:
    """Return the name of a tool where a call may be: a pythonic call, or an object after the name."""
    written = rf"(?P<name>{WORD_NAME})(?:[ \t]{{0,8}}\((?P<call>)|{_BETWEEN}(?=\{{)(?P<head>))"
    return written if ended else rf"{written}|(?P<begun>{WORD_NAME})(?:{_BEGUN})\Z(?P<begins>)"
