"""What stands on the line behind an opening fence: its language, and attributes."""

from __future__ import annotations

import re
from typing import NamedTuple

from llama3_tools.reading.source import Reading, Source

__all__ = ["CODE_LANGUAGES", "JSON_LANGUAGES", "InfoString", "read_info_string"]

JSON_LANGUAGES = frozenset({"json", "tool_call"})
"""The fences that hold calls."""

CODE_LANGUAGES = frozenset({"", "python"})
"""The fences that hold calls or code."""

_LANGUAGE = re.compile(r"([ \t]{0,8})([\w+#.-]{0,32})([ \t]{0,8})")  # what runs on is another language
_ATTRIBUTE = r"""(?:[\w.:-]+=(?:"[^"`~\r\n]*"|[^\s"`~]*)|\{[^"'`~{}\r\n]*\})"""
_ATTRIBUTES = re.compile(rf"{_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE})*[ \t]*(?=[\r\n])")
_MAY_BE_ATTRIBUTES = re.compile(
    rf"""(?:{_ATTRIBUTE}[ \t]+)*(?:{_ATTRIBUTE}[ \t]*|[\w.:-]+(?:="[^"`~\r\n]*)?|\{{[^"'`~{{}}\r\n]*)?"""
)
_LONGEST_ATTRIBUTES = 100


class InfoString(NamedTuple):
    """The line behind a fence, as far as it was read."""

    language: str
    """In lower case; empty where there is none."""
    is_apart: bool
    """Whether blanks stand before the language."""
    has_attributes: bool
    """Whether attributes stand behind it, such as `title=x` or `{.wide}`."""
    ends_line: bool
    """Whether that is all on the line."""


def read_info_string(source: Source, fence: str, *, begins_line: bool) -> Reading[InfoString]:
    """Read on from a fence; the character behind has arrived then, unless the output ended.

    Args:
        source: where to read, behind the fence.
        fence: the fence as it stands there.
        begins_line: whether it begins a line. Within a line, ``` and a word behind a blank are prose.
    """
    while True:
        match = _LANGUAGE.match(source.text, source.pos)
        assert match is not None  # noqa: S101  # nothing is a language, too
        if match.end() < len(source.text) or source.ended:
            break
        yield None
    before, language, behind = match.groups()
    ends_line = source.text[match.end() : match.end() + 1] in "\r\n"
    if before and language and not (ends_line or (behind and begins_line)):
        return InfoString("", is_apart=False, has_attributes=False, ends_line=False)
    source.pos = match.end()
    language = language.lower()
    has_attributes = False
    if not ends_line and (language in JSON_LANGUAGES or fence.startswith("~")):
        has_attributes = yield from _read_attributes(source)
    return InfoString(language, bool(before), has_attributes, ends_line or has_attributes)


def _read_attributes(source: Source) -> Reading[bool]:
    """Step over attributes that are all on the rest of the line, and tell whether there were any."""
    while True:
        rest = source.text[source.pos : source.pos + _LONGEST_ATTRIBUTES]
        match = _ATTRIBUTES.match(rest)
        if match:
            source.pos += match.end()
            return True
        if source.ended or len(rest) == _LONGEST_ATTRIBUTES or not _MAY_BE_ATTRIBUTES.fullmatch(rest):
            return False
        yield None
