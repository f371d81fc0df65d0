"""Calls that are quoted: in code spans, in blockquotes and in comments (rule 9)."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, ToolCallReady

A, B = '{"name": "a", "parameters": {"x": 1}}', '{"name": "b", "arguments": {}}'
TOOLS = [{"name": "a", "parameters": {"properties": {"x": {}}}}, {"name": "b"}]


@pytest.mark.parametrize(
    "text",
    [
        *[f"`{A}`", f"Write `{A}` to call it.", f"`<tool_call>{A}</tool_call>`", f"`[{A}, {B}]`", f"x`{A}`y"],
        *[f"``{A}``", f"Write ``{A}``, say.", f"``<tool_call>{A}</tool_call>``", f"``[{A}, {B}]``"],
        *[f"` {A} `", f"(`` {A} ``)", f"`\n{A}\n`", f"`\r\n{A}\r\n`.", f"`` {A}``", f"`{A} `", f"**` {A} `**"],
        *[f"` {A}`\n", f"` ```json\n{A}\n``` `", "` <function=a>{}</function> `"],
        *["`` [a(x=1)] ``", "` [a(x=1), b()] `", "``[a(x=1)]``", "`[a(x=1)]`", "`[a(x=1)] x`", "`\na(x=1)\n`"],
        *[
            f"> {A}",
            f">{A}",
            f"He wrote:\n> {A}\nand left.",
            f"  >> {A}",
            f"\r\n> > {A}",
            f"> <tool_call>{A}</tool_call>",
        ],
        *["> [a(x=1)]", ">>> [a(x=1)]", f"> ```\n{A}\n```"],
    ],
)
def test_a_call_in_a_code_span_or_a_blockquote_is_quoted(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert extraction.tool_calls == ()
    assert extraction.content == text
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == [("quoted", "a")]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        # The backticks are not equal, or there are none on one side.
        (f"`{A}", "`"),
        (f"{A}`", "`"),
        (f"``{A}`", "`` `"),
        (f"`{A}``", "` ``"),
        (f"` {A} ``", "` ``"),
        (f"`` {A} ", "``"),
        # Something else is in the span, or more than one space.
        (f"`call {A}`", "`call `"),
        (f"`{A} x`", "` x`"),
        (f"`  {A}`", "` `"),
        (f"`{A}  `", "` `"),
        (f"`{A}\n\n`", "` `"),
        # The backticks around it belong to other spans.
        (f"Use `x` {A} `y`.", "Use `x` `y`."),
        (f"Use `x()` {A} `y`.", "Use `x()` `y`."),
        (f"` {A} `y`.", "` `y`."),
        # Three are a fence.
        (f"``` {A} ```", None),
        (f"Look: ```{A}```", "Look:"),
        # This is no blockquote, or the call does not stand directly in it.
        (f"-> {A}", "->"),
        (f"x > {A}", "x >"),
        (f"    > {A}", ">"),
        (f"> Well: {A}", "> Well:"),
        (f">\n{A}", ">"),
        (f"x            > {A}", "x            >"),
    ],
)
def test_any_other_call_is_called(text: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.content == content
    assert extraction.rejections == ()


def test_a_rejection_says_what_quotes_the_call():
    extraction = extract_in_every_chunking(f"` {A} `\n> {B}")
    assert [(rejection.name, rejection.detail) for rejection in extraction.rejections] == [
        ("a", "directly between backticks"),
        ("b", "directly behind the > of a blockquote"),
    ]


@pytest.mark.parametrize("before", ["", "Use `x` ", "`  ", "-> "])
def test_a_call_waits_for_what_follows_only_behind_backticks_that_may_quote_it(before: str):
    stream = Extractor().stream()
    assert [type(event) for event in stream.feed(f"{before}{A}")][-1:] == [ToolCallReady]


def test_what_is_behind_backticks_waits_no_longer_than_for_those_that_may_close_them():
    stream = Extractor().stream()
    assert stream.feed(f"`` {A} `") == [TextDelta("``")]
    assert [type(event) for event in stream.feed("x")] == [ToolCallReady, TextDelta]


@pytest.mark.parametrize(
    ("text", "names", "content"),
    [
        (f"<!-- {A} -->\n{B}", "b", f"<!-- {A} -->"),
        (f"<!--{A}-->{B}", "b", f"<!--{A}-->"),
        (
            f"<!-- <tool_call>{A}</tool_call>\n-- > --> Well. {B}",
            "b",
            f"<!-- <tool_call>{A}</tool_call>\n-- > --> Well.",
        ),
        (f"<!--\n```json\n{A}\n```\n-->\n{B}", "b", f"<!--\n```json\n{A}\n```\n-->"),
        (f"<!-- [a(x=1)]\na(x=1)\n-->\n{B}", "b", "<!-- [a(x=1)]\na(x=1)\n-->"),
        (f"<!-- {A}", "", f"<!-- {A}"),
        (f"<!-- {A} --", "", f"<!-- {A} --"),
        (f"<!--> {A}", "a", "<!-->"),
        (f"<!---> {A}", "a", "<!--->"),
        (f"A comment begins with `<!--`. {A}", "a", "A comment begins with `<!--`."),
        (f"<!- {A} ->", "a", "<!- ->"),
        (f"<tool_call><!-- why -->{A}</tool_call>", "a", "<tool_call><!-- why --> </tool_call>"),
        ('{"name": "a", "parameters": {"x": "<!-- "}}', "a", None),
        (f"<tool_response>\n{A}\n</tool_response>\n{B}", "b", f"<tool_response>\n{A}\n</tool_response>"),
        (f"<tool_response><tool_call>{A}</tool_call>", "", f"<tool_response><tool_call>{A}</tool_call>"),
        (f"It came in a `<tool_response>`. {A}", "a", "It came in a `<tool_response>`."),
        (f"{A}<tool_response>[a(x=1)]</tool_response>{B}", "ab", "<tool_response>[a(x=1)]</tool_response>"),
    ],
)
def test_what_is_hidden_or_repeated_is_not_searched(text: str, names: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


def test_a_comment_flows():
    stream = Extractor().stream()
    assert stream.feed("So <!-") == [TextDelta("So")]
    assert stream.feed("- no") == [TextDelta(" <!-- no")]
    assert stream.feed(f" {A} --") == [TextDelta(f" {A} --")]
    assert stream.feed("> {") == [TextDelta(">")]
