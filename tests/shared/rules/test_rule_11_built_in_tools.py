"""Meta's built-in tools, `brave_search.call(query="…")`: where they are read, and where they are text (rule 11)."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import extract_in_every_chunking

F: dict[str, Any] = {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}
SEARCH = 'brave_search.call(query="x")'
WOLFRAM = 'wolfram_alpha.call(query="1+1")'


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        pytest.param(SEARCH, {}, ["brave_search"], id="alone"),
        pytest.param(
            '<|python_tag|>brave_search.call(query="x", count=3)<|eom_id|>',
            {},
            ["brave_search"],
            id="after Llama 3's token",
        ),
        pytest.param(f"<|python_start|>{SEARCH}<|python_end|>", {}, ["brave_search"], id="between Llama 4's tokens"),
        pytest.param(f"I will look.\n{WOLFRAM}\nDone.", {}, ["wolfram_alpha"], id="on a line of its own"),
        pytest.param(f"[{SEARCH}, {WOLFRAM}]", {}, ["brave_search", "wolfram_alpha"], id="in a list"),
        pytest.param(f"{SEARCH}; {WOLFRAM}", {}, ["brave_search", "wolfram_alpha"], id="with a semicolon between"),
        pytest.param(
            f"{SEARCH}\n{WOLFRAM}",
            {"formats": "all"},
            ["brave_search", "wolfram_alpha"],
            id="on two lines, all formats",
        ),
        pytest.param(SEARCH, {"formats": None}, [], id="without formats"),
        pytest.param(SEARCH, {"formats": ["json"]}, [], id="another format"),
        pytest.param(SEARCH, {"tools": [F]}, ["unknown_tool"], id="undeclared"),
        pytest.param(SEARCH, {"tools": [F], "formats": None}, [], id="undeclared, without formats"),
        pytest.param(SEARCH, {"tools": [F], "on_unknown_tool": "call"}, ["brave_search"], id="undeclared, and called"),
        pytest.param("brave_search.call()", {}, ["missing_arguments"], id="no arguments"),
        pytest.param("brave_search.call('x')", {}, ["invalid_arguments"], id="an argument without a name"),
        pytest.param("brave_search.call(query=x)", {}, ["malformed"], id="a name for a value"),
        pytest.param('brave_search.call(query="x', {}, ["truncated"], id="cut off"),
        pytest.param(f"I call {SEARCH} now.", {}, [], id="in a sentence"),
        pytest.param(f"x = {SEARCH}", {}, [], id="assigned"),
        pytest.param('brave_search(query="x")', {}, [], id="without .call"),
        pytest.param('subprocess.call(args="ls")', {}, [], id="another name"),
    ],
)
def test_built_in_tools_are_read_where_they_are_asked_for(text: str, options: dict[str, Any], found: list[str]):
    extraction = extract_in_every_chunking(text, **{"formats": ["pythonic"], **options})
    assert [call.name for call in extraction.tool_calls] + [str(one.reason) for one in extraction.rejections] == found
    if not extraction.tools_called:
        assert (extraction.content, {one.span[0] for one in extraction.rejections} - {0}) == (text, set())


@pytest.mark.parametrize(
    ("written", "query"),
    [
        (r'"solve \frac{1}{x} = \theta"', r"solve \frac{1}{x} = \theta"),
        (r'"C:\new\xi\u00g9"', r"C:\new\xi\u00g9"),
        (r'"say \"hi\" \\"', r'say "hi" \\'),
        (r"'\u00e9\n'", "\u00e9\n"),
        (r'"""\u00e9"""', "\u00e9"),
    ],
)
def test_their_strings_are_taken_as_meta_s_template_writes_them(written: str, query: str):
    for name, options in (("wolfram_alpha", {"formats": "all"}), ("f", {"tools": [F]})):
        (call,) = extract_in_every_chunking(
            f"<|python_tag|>{name}.call(query={written})<|eom_id|>", **options
        ).tool_calls
        assert (call.name, call.arguments) == (name, {"query": query})


def test_they_have_all_the_arguments_that_stand_there():
    (call,) = extract_in_every_chunking('brave_search.call(query="x", count=3)', formats="all").tool_calls
    assert (call.arguments, call.format) == ({"query": "x", "count": 3}, "pythonic")
