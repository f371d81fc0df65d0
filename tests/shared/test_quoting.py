"""Calls that are quoted: in code spans, in blockquotes, between quotation marks and in comments (rule 9)."""

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
        # Something else is in the span, or on the line.
        *[f"`call: {A}`", f"`{A};`", f"`{A} x`", f"Write `call {A}, say`.", f"`  {A}`", f"`{A}  `", f"` {A} `y`."],
        *[f"`` `{A}``", f"`x` `{A} ``y`` `", f"` {A}\r\n`", f"don`t `{A}`"],
        *[f"    > {A}", f"> Well: {A}", f"- > {A}", f"> - {A}", f"* 1. >{A}", f">\xa0{A}", f"\xa0> {A}", f"> x\r> {A}"],
        # Tokens are around it.
        *[
            f"`<|python_tag|>{A}`",
            f"`{A}<|eot_id|>`",
            f"`<|im_start|>assistant\n{A}<|im_end|>`",
            f"> <|python_tag|>{A}",
        ],
        # The output was cut off directly behind it.
        *[f"Write `{A}", f"``{A}`", f"``{A} ", f"`\n{A}\n", f"`{A}\n\n ", f"`{A}\n{' ' * 900}", f"'{A}", f"“{A}"],
        *[
            f"Say '{A}', then.",
            f"{{'content': '{A}'}}",
            f"content='{A}' name='b'",
            f'"{A}"',
            f"“{A}”",
            f"„{A}“",
            f"«{A}»",
            *[f"\u2039{A}\u203a", f"\u203a{A}\u2039", f"「{A}」", f"『{A}』", f"\uff02{A}\uff02", f"\uff07{A}\uff07"],
        ],
        *[f"'<tool_call>{A}</tool_call>'", f'"<|python_tag|>{A}"', f"\u2018[{A}]\u2019"],
        # A result is repeated.
        *[f"Result of b: {A}", f"It says: Error of a.b/c-d {{}}: x {A} y", f"- Result of a tool: '{{}}', {A}"],
        *[f"Observation: {A}", f"(Observation:{A})", f"x\n\nObservation: x. {A}", f"Result of {'b' * 128}: {A}"],
        *[
            f"Result of b: {'x ' * 1100}{A}",
            *[f"{'x' * 1995} Result of b: {A}", f"{'x' * 1990}\nResult of b: {A}"],
            f"{'x' * 1850} Error of {'b' * 128}: {A}",
        ],
        # The line is long.
        *[f"Write `{A} {'x' * 1000}` so.", f"Write ``call: {A} {'x' * 999}", f"`{A} {'x' * 1000}``"],
        *[f"{' ' * 300}> {A}", f"{'- ' * 130}> {A}", f"{'1234. ' * 400}>\t{A}"],
        *[f"So it is\n`{'x ' * 1100}{A}`", f"So it is\n> {'x ' * 1100}{A}", f"`{'x' * 2200}`` {A}`"],
    ],
)
def test_a_call_in_a_code_span_a_blockquote_or_quotation_marks_is_quoted(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert extraction.tool_calls == ()
    assert extraction.content == text
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == [("quoted", "a")]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        # The backticks are not equal, or there are none on one side.
        (f"{A}`", "`"),
        (f"``{A}` x", "`` ` x"),
        (f"`{A}``", "` ``"),
        (f"` {A} ``", "` ``"),
        (f"`x {A}", "`x"),
        (f"`{A} x", "` x"),
        # They are on another line, or further away.
        (f"`{A}\n\n`", "` `"),
        (f"`{A}\nx`", "` x`"),
        (f"`x\n{A}`", "`x `"),
        (f"``{A} \n`", "`` `"),
        (f"`{A}\n{' ' * 999}", "`"),
        (f"Write `x {A} {'x' * 998}\n`", f"Write `x {'x' * 998}\n`"),
        # The backticks around it belong to other spans.
        (f"Use `x` {A} `y`.", "Use `x` `y`."),
        (f"Use `x()` {A} `y`.", "Use `x()` `y`."),
        (f"Use ``x`` {A} ``y``.", "Use ``x`` ``y``."),
        (f"Use `x`\n{A}\n`y`.", "Use `x` `y`."),
        (f"don`t {A} don`t", "don`t don`t"),
        (f"Use `x\ny` {A} `z`.", "Use `x\ny` `z`."),
        (f"` {A}", "`"),
        # Three are a fence.
        (f"``` {A} ```", None),
        (f"Look: ```{A}```", "Look:"),
        # This is no blockquote, or the call does not stand directly in it.
        (f"-> {A}", "->"),
        (f"x > {A}", "x >"),
        (f"-> {A} >", "-> >"),
        (f"> x<|im_start|>assistant\n{A}", "> x"),
        (f">\n{A}", ">"),
        (f"> x\n> y\n{A}", "> x\n> y"),
        (f"> x\r> y\r{A}", "> x\r> y"),
        (f"x            > {A}", "x            >"),
        (f"{'x' * 2000}> {A}", f"{'x' * 2000}>"),
        # This is no result, or not on the line.
        (f"Result of b:\n{A}", "Result of b:"),
        (f"Result of b\n: {A}", "Result of b\n:"),
        (f"Result of the sum: {A}", "Result of the sum:"),
        (f"Result of {'b' * 129}: {A}", f"Result of {'b' * 129}:"),
        (f"Result of b {A}", "Result of b"),
        (f"The result of b: {A}", "The result of b:"),
        (f"noResult of b: {A}", "noResult of b:"),
        (f"{'x' * 2100}Result of b: {A}", f"{'x' * 2100}Result of b:"),
        (f"Observations: {A}", "Observations:"),
        # The quotation marks are not a pair, or not directly around it.
        (f"the cats' {A} '", "the cats' '"),
        (f"'{A} ", "'"),
        (f"'{A}\"", "' \""),
        (f"”{A}“", "” “"),
        (f"」{A}「", "」 「"),
        (f"「{A}』", "「 』"),
    ],
)
def test_any_other_call_is_called(text: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.content == content
    assert extraction.rejections == ()


def test_a_rejection_says_what_quotes_the_call():
    extraction = extract_in_every_chunking(f"` {A} `\n> {B}\n'{B}'\n{A}`x {B}`\nResult of a: {B}")
    assert [(rejection.name, rejection.detail) for rejection in extraction.rejections] == [
        ("a", "between backticks"),
        ("b", "behind the > of a blockquote"),
        ("b", "directly between quotation marks"),
        ("b", "between backticks"),
        ("b", "in the repeated result of a tool"),
    ]


def test_an_envelope_without_a_call_is_quoted_too():
    text = '`{"message": "Hi", "tool_call": null}`'
    extraction = extract_in_every_chunking(text)
    assert (extraction.content, [(one.reason, one.name) for one in extraction.rejections]) == (text, [("quoted", None)])


@pytest.mark.parametrize("before", ["", "Use `x` ", "`x\n", "-> ", "don`t ", "> x\n", "x "])
def test_a_call_waits_for_what_follows_only_behind_backticks_that_may_quote_it(before: str):
    stream = Extractor().stream()
    assert [type(event) for event in stream.feed(f"{before}{A}")][-1:] == [ToolCallReady]


@pytest.mark.parametrize("calls", [f"{A}, {A}", f"{A}; {A}", f"{A} and {A}", "[a(x=1)], [a(x=1)]"])
def test_each_call_in_a_span_is_quoted(calls: str):
    extraction = extract_in_every_chunking(f"Either `{calls}` or {B}", tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == ["b"]
    assert [(rejection.name, rejection.reason) for rejection in extraction.rejections] == [("a", "quoted")] * 2


@pytest.mark.parametrize("end", ["\nx", "\n\n", f"{'x' * 996}\n"])
def test_a_call_behind_an_open_backtick_waits_for_the_end_of_its_line(end: str):
    stream = Extractor().stream()
    assert stream.feed(f"`` {A} `x") == [TextDelta("``")]
    assert [type(event) for event in stream.feed(end)] == [ToolCallReady, TextDelta]


def test_a_call_in_a_span_that_it_does_not_begin_waits_no_longer_than_its_line():
    stream = Extractor().stream()
    assert stream.feed(f"`` {A} \n") == [TextDelta("``")]
    assert [type(event) for event in stream.feed(" ")] == [ToolCallReady]


def test_a_call_in_a_span_that_is_open_does_not_wait_for_the_end_of_a_long_line():
    stream = Extractor().stream()
    assert stream.feed(f"`` {A} {'x' * 998}") == [TextDelta("``")]
    assert stream.feed("x") == [TextDelta(f" {A} {'x' * 999}")]


def test_a_call_behind_a_quotation_mark_waits_for_the_next_character():
    stream = Extractor().stream()
    assert stream.feed(f"'{A}") == [TextDelta("'")]
    assert [type(event) for event in stream.feed(" ")] == [ToolCallReady]


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
        (f"<code>{A}</code> {B}", "b", f"<code>{A}</code>"),
        (f"</code><code>{A}</code> {B}", "b", f"</code><code>{A}</code>"),
        (f"<pre class='json'>\n{A}\n</pre>\n{B}", "b", f"<pre class='json'>\n{A}\n</pre>"),
        (f"<code\nid=x>`{A}", "", f"<code\nid=x>`{A}"),
        (f"It goes into `<code>` or `<pre>`. {A}", "a", "It goes into `<code>` or `<pre>`."),
        (f"<codes>{A}</codes>", "a", "<codes> </codes>"),
        (f"<CODE>{A}</Code> {B}", "b", f"<CODE>{A}</Code>"),
        (f"<Pre\t>{A}</code></PRE \t>{B}", "b", f"<Pre\t>{A}</code></PRE \t>"),
        (f"<code title='{'x' * 1900}'>{A}</code> {B}", "b", f"<code title='{'x' * 1900}'>{A}</code>"),
        (f"<pre {'x' * 2001}>{A}", "a", f"<pre {'x' * 2001}>"),
        (f'<tool_response id="1">{A}</tool_response >{B}', "b", f'<tool_response id="1">{A}</tool_response >'),
        (f"<tool_response >{A}</tool_responses>{A}", "", f"<tool_response >{A}</tool_responses>{A}"),
        (f"<Tool_Response>{A}", "", f"<Tool_Response>{A}"),
        (f"`<!-- {A} -->` {B}", "b", f"`<!-- {A} -->`"),
        (f"`<think>{A}</think>` {B}", "b", f"`<think>{A}</think>`"),
        (f"`<think>\n{A}\n{A}</think>` {B}", "b", f"`<think>\n{A}\n{A}</think>`"),
        (f"`<tool_response>\n{A}", "", f"`<tool_response>\n{A}"),
        (f"It thinks in a `<think>`.\n{A}", "a", "It thinks in a `<think>`."),
        (f"{A}<tool_response>[a(x=1)]</tool_response>{B}", "ab", "<tool_response>[a(x=1)]</tool_response>"),
    ],
)
def test_what_is_hidden_or_repeated_is_not_searched(text: str, names: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


LLAMA_3, LLAMA_4 = "<|start_header_id|>{}<|end_header_id|>\n\n", "<|header_start|>{}<|header_end|>\n\n"


@pytest.mark.parametrize(
    ("header", "end"), [(LLAMA_3, "<|eot_id|>"), (LLAMA_4, "<|eot|>"), ("<|im_start|>{}\n", "<|im_end|>")]
)
@pytest.mark.parametrize("role", ["user", "system", "tool", "ipython"])
def test_a_turn_that_the_model_makes_up_is_not_searched(header: str, end: str, role: str):
    made_up, own = header.format(role), header.format("assistant")
    for text, names, content in [
        (f"{made_up}{A}{end}", "", A),
        (f"{made_up}{A}", "", A),
        (f"Hi.{end}{made_up}So: {A}\n[a(x=1)]", "", f"Hi.{end}{made_up}So: {A}\n[a(x=1)]"),
        (f"{B}{end}{made_up}{A}{end}{own}{B}", "bb", A),
        (f"<tool_call>{B}</tool_call>{end}\n{made_up}{A}{end}{made_up}{A}{end}", "b", f"{A}{end}{made_up}{A}"),
        (f"<tool_call>{B}\n{made_up}<tool_call>{A}</tool_call>", "b", f"<tool_call>{A}</tool_call>"),
        (f"<tool_call>{B}{end}{made_up}{A}", "b", A),
        (f"{own}{A}{end}", "a", None),
        (f"{header.format('')}{A}{end}", "a", None),
    ]:
        extraction = extract_in_every_chunking(text, tools=TOOLS)
        assert "".join(call.name for call in extraction.tool_calls) == names, text
        assert (extraction.content or "").strip() == (content or ""), text


@pytest.mark.parametrize("end", [" \n", "\t \xa0\n", f"{' ' * 300}\r\n", "\u2028", "\x0b", "\x85", "\r"], ids=ascii)
@pytest.mark.parametrize(
    "header", ["<|start_header_id|>{}<|end_header_id|>", "<|header_start|>{}<|header_end|>", "<|im_start|>{}"]
)
def test_the_header_of_a_made_up_turn_may_be_in_any_case_and_break_its_line_in_any_way(header: str, end: str):
    for role in ("user", "User", "TOOL"):
        extraction = extract_in_every_chunking(f"{B}{header.format(role)}{end}{A}", tools=TOOLS)
        assert [call.name for call in extraction.tool_calls] == ["b"]
        assert (extraction.content or "").strip() == A
    for own in (f"{header.format('Assistant')}{end}", f"{header.format('user')} so "):
        extraction = extract_in_every_chunking(f"Hi. {own}{A}", tools=TOOLS)
        assert [call.name for call in extraction.tool_calls] == ["a"]


@pytest.mark.parametrize(
    "token", ["<|im_start|>user", "<|start_header_id|>user<|end_header_id|>", "<|im_start|>users\n"]
)
def test_a_header_in_a_sentence_is_prose(token: str):
    extraction = extract_in_every_chunking(f"Write {token} first. {A}")
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.content == f"Write {token} first."


def test_a_header_of_both_kinds_begins_a_made_up_turn():
    extraction = extract_in_every_chunking(f"{B}<|im_start|>user <|end_header_id|>\n\n{A}", tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == ["b"]
    assert extraction.content == f"<|end_header_id|>\n\n{A}"


def test_a_made_up_turn_flows():
    stream = Extractor().stream()
    assert stream.feed(f"Hi.<|eot_id|>{LLAMA_3.format('user')}So: {A} <|e") == [
        TextDelta(f"Hi.<|eot_id|>{LLAMA_3.format('user')}So: {A}")
    ]
    assert stream.feed("x") == [TextDelta(" <|ex")]


def test_a_comment_flows():
    stream = Extractor().stream()
    assert stream.feed("So <!-") == [TextDelta("So")]
    assert stream.feed("- no") == [TextDelta(" <!-- no")]
    assert stream.feed(f" {A} --") == [TextDelta(f" {A} --")]
    assert stream.feed("> {") == [TextDelta(">")]
