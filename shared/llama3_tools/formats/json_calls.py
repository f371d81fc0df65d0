"""Bare JSON: an object, and a list of them (rules 1 and 2). Other formats that hold JSON read it in the same way."""

from __future__ import annotations

import re

from llama3_tools.formats.base import SPACE, Kind, WireFormat, beginnings

__all__ = ["CALL_KEYS", "JSON_LIST", "LITERAL", "MALFORMED_OBJECT", "OBJECT"]

CALL_KEYS = r"(?:name|type|id|function|tool_name|parameters|arguments|tool_calls?)"
"""The keys with which a call begins."""

# A brace is a candidate if a key may follow. The quote of the key may be escaped, in JSON within a
# string; and an object may be empty, as arguments are.
OBJECT = WireFormat(
    "json",
    Kind.OBJECT,
    rf'\{{(?={SPACE}(?:\\{{0,2}}"|\}}))',
    rf"\{{{SPACE}\\{{0,2}}",
    "{",
    r'[ \t\n\r\\"}]',
    asked_for_as="json",
    is_read_in_tags=True,
)

# With repair, a key may have other quotes or none, and a comment may stand before it.
MALFORMED_OBJECT = WireFormat(
    "json",
    Kind.OBJECT,
    rf"\{{(?={SPACE}(?:\\{{0,2}}[\"'#/}}]|[^\W\d]))",
    rf"\{{{SPACE}\\{{0,2}}",
    "{",
    "",
    asked_for_as="json",
    is_read_in_tags=True,
)

# Calls as Python writes a dict: how many real outputs hold one, docs/evidence.md says. They are reported, not called.
LITERAL = WireFormat(
    "python_dict",
    Kind.LITERAL,
    rf"\{{(?={SPACE}'{CALL_KEYS}'{SPACE}:)",
    rf"\{{{SPACE}(?:'[a-z_]{{0,12}}'?{SPACE})?",
    "{",
    r"[ \t\n\r']",
    asked_for_as="json",
)

# [TOOL_CALLS] is xLAM 2's: vllm-project/vllm, tests/tool_parsers/test_xlam_tool_parser.py.
_TOOL_CALLS = "[TOOL_CALLS]"
JSON_LIST = WireFormat(
    "list",
    Kind.LIST,
    rf"(?:{re.escape(_TOOL_CALLS)}[ \t\n]{{0,8}})?\[(?={SPACE}[{{\[])",
    rf"\[{SPACE}|{beginnings(_TOOL_CALLS)}|{re.escape(_TOOL_CALLS)}[ \t\n]{{0,8}}(?:\[{SPACE})?",
    "[",
    r"[ \t\n\r{\[T]",
    asked_for_as="json",
    for_calls=(_TOOL_CALLS,),
    is_read_in_tags=True,
)
