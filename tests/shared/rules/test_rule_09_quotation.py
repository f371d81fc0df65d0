"""Rule 9: what is quoted. Candidates in quotation are found and rejected, never called, and their text flows."""

from __future__ import annotations

import pytest

from chunkings import cut, extract_in_every_chunking, read
from llama3_tools import Extraction, Extractor, TextDelta, extract

A, B = '{"name": "a", "parameters": {"x": 1}}', '{"name": "b", "arguments": {}}'
TOOLS = [{"name": "a", "parameters": {"properties": {"x": {}}}}, {"name": "b"}]
THOUGHTS = ["think", "thinking", "reasoning", "scratch_pad"]


def names(extraction: Extraction) -> str:
    return "".join(call.name for call in extraction.tool_calls)


QUOTED = {
    # A code span within a line of prose.
    "a span in a sentence": f"Write `{A}` to call it.",
    "a span at the end": f"Write `{A}`",
    "a span of two backticks": f"Write ``{A}``, say.",
    "a span with words before it": f"Write `call: {A}` so.",
    "a span around a tag": f"Write `<tool_call>{A}</tool_call>` so.",
    "a span around a token": f"Write `<|python_tag|>{A}` so.",
    "a span around a list": f"Write `[{A}]` so.",
    "a span that begins the line": f"`{A}` calls it.",
    "a span that never closes": f"Write `{A} and so on.",
    "a span before a long line": f"Write `{A} {'x' * 1000}` so.",
    "a span around a pythonic list": "Write `[a(x=1)]` so.",
    "a span around a pythonic call": "Write `a(x=1)` so.",
    # The rest of a line that begins with >.
    "a blockquote": f"> {A}",
    "a blockquote without a blank": f">{A}",
    "a blockquote of prose": f"> He wrote {A} to me.",
    "a blockquote after an empty line": f"\n> {A}",
    "a blockquote among lines": f"He wrote:\n> {A}\nand left.",
    "a blockquote in a blockquote": f"  >> {A}",
    "a blockquote in a list": f"- > {A}",
    "a blockquote of a tag": f"> <tool_call>{A}</tool_call>",
    "a blockquote of a pythonic list": "> [a(x=1)]",
    "a blockquote of a pythonic call": "> a(x=1)",
    # Directly between " or '.
    "single quotes": f"Say '{A}', then.",
    "double quotes": f'Say "{A}", then.',
    "quotes around a list": f"Say '[{A}]', then.",
    "quotes around a tag": f"Say '<tool_call>{A}</tool_call>', then.",
    "quotes around a token": f'Say "<|python_tag|>{A}", then.',
    "quotes in a dict": f"{{'content': '{A}'}}",
    "quotes that never close": f"Say '{A}",
    # A result that is repeated.
    "a result": f"Result of b: {A}",
    "an error": f"Error of b: x {A} y",
    "a long result": f"Result of b: {'x ' * 1100}{A}",
    "a result with a pythonic list": "Result of b: [a(x=1)]",
    # Other tags.
    **{f"<{tag}>": f"<{tag}>I could call {A}.</{tag}>" for tag in THOUGHTS},
    "<think> around a long one, with the name last": (
        f'<think>{{"parameters": {{"x": "{"y" * 300}"}}, "name": "a"}}</think>'
    ),
    "<think> that never closes": f"<think>I could call {A}",
    "<think> around a tag": f"<think><tool_call>{A}</tool_call></think>",
    "<think> around a pythonic list": "<think>\n[a(x=1)]\n</think>",
    "<think> around a pythonic call": "<think>\na(x=1)\n</think>",
    "<tool_response>": f"<tool_response>\n{A}\n</tool_response>",
    "<tool_response> that never closes": f"<tool_response>{A}",
    # Fences, in more detail in test_rule_09_fences.py.
    "a fence of another language": f"```js\n{A}\n```",
    "a listing": f"```python\nrun({A})\n```",
}


@pytest.mark.parametrize("name", ["2fa", "-x", "ns.f", "f"])
def test_a_quoted_tag_names_a_tool_as_one_that_is_called_does(name: str):
    tag = f'<function={name}>{{"x": 1}}</function>'
    quoted = extract_in_every_chunking(f"<think>{tag}</think>", tools=[{"name": name}])
    assert [(str(one.reason), one.name) for one in quoted.rejections] == [("quoted", name)]
    assert [call.name for call in extract_in_every_chunking(tag, tools=[{"name": name}]).tool_calls] == [name]


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_a_call_in_quotation_is_found_and_rejected_as_quoted(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert extraction.tool_calls == ()
    assert extraction.content == text
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == [("quoted", "a")]
    (reported,) = (text[slice(*rejection.span)] for rejection in extraction.rejections)
    assert reported in {A, "a", "[a"} or reported.startswith('{"parameters"')


NEVER_CLOSED = '{"name": "a", "parameters": {oops '


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (f"<think>one {A} two {B}", "ab"),
        (f"```js\n{A}\n{B}\n", "ab"),
        (f"```python\nimport x\n{A}\n{B}", "ab"),
        (f"> {A} {B}", "ab"),
        (f"Either `{A}` or `{B}`.", "ab"),
        (f"Either `{A}, {B}`.", "ab"),
        (f"<tool_response>{A}\n{B}", "ab"),
        (f"<think>{NEVER_CLOSED * 40}{B}", "a" * 40 + "b"),  # each would be read up to the end: only some are
    ],
    ids=["thoughts", "a fence", "a listing", "a blockquote", "two spans", "a span", "a result", "many malformed"],
)
def test_each_call_that_quotation_hides_is_reported(text: str, reported: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert "".join(str(rejection.name) for rejection in extraction.rejections) == reported
    assert {str(rejection.reason) for rejection in extraction.rejections} == {"quoted"}


SPANS_OF_A_LONG_LINE = {
    "two backticks are open": (f"{'a' * 200}`b` ``{'c' * 800} ` {{}} ``", ""),
    "two backticks closed": (f"{'a ' * 150}``{'b ' * 600}`` {{}}", "a"),
    "one is open": (f"{'a ' * 300}`{'b' * 2000} {{}}`", ""),
    "one closed late": (f"`{'a ' * 3000}` {{}}", "a"),
    "a fence of three is none": (f"{'a' * 700}```{'b' * 700} {{}}", "a"),
}


@pytest.mark.parametrize(("text", "called"), SPANS_OF_A_LONG_LINE.values(), ids=SPANS_OF_A_LONG_LINE)
def test_a_span_is_open_alike_in_every_chunking_of_a_long_line(text: str, called: str):
    assert names(extract_in_every_chunking(text.format(A), is_sampled=True)) == called


def test_what_looks_like_a_call_of_another_tool_in_quotation_is_prose():
    assert extract_in_every_chunking("<think>\nrun(x=1)\na(x=1)\n</think>Hi", tools=TOOLS).rejections[0].name == "a"


UNFINISHED = {
    "malformed in thoughts": ('<think>{"name": "a", "parameters": {oops}}</think>', "a"),
    "cut off in thoughts": ('<think>{"name": "a", "parameters": {"x', "a"),
    "malformed in a blockquote": ('> {"name": "a", "parameters": {oops}}', "a"),
    "single quotes in a span": ("Write `{'name': 'a', 'parameters': {}}` so.", "a"),
    "arguments before any name": ('<think>{"arguments": {"x": 1', None),
}


@pytest.mark.parametrize(("text", "name"), UNFINISHED.values(), ids=UNFINISHED)
def test_malformed_and_cut_off_calls_in_quotation_are_quoted_too(text: str, name: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == [("quoted", name)]


def test_what_is_no_call_in_quotation_is_not_reported():
    assert extract_in_every_chunking('<think>{"name": 5}</think>', tools=TOOLS).rejections == ()


def test_a_tool_whose_name_ends_like_a_method_is_reported_by_its_name():
    (rejection,) = extract_in_every_chunking("<think>\nx.call(a=1)\n</think>", tools=[{"name": "x.call"}]).rejections
    assert rejection.name == "x.call"


@pytest.mark.parametrize(("before", "reported"), [(15, B), (16, '{"name":')])
def test_after_many_malformed_ones_a_quoted_call_is_not_read_to_its_end(before: int, reported: str):
    text = f"<think>{NEVER_CLOSED * before}{B}</think>"  # else the work could grow faster than the output
    rejection = extract_in_every_chunking(text, tools=TOOLS, is_sampled=True).rejections[-1]
    assert (rejection.name, text[slice(*rejection.span)]) == ("b", reported)


def test_calls_are_reported_wherever_they_stand_in_long_quotation():
    text = f"<think>{A}{'x ' * 33_000}{B}{'x ' * 33_000}{A}</think>"
    for extraction in (extract(text, tools=TOOLS), read(cut(text, range(999, len(text), 999)), Extractor(TOOLS))[1]):
        assert [text[slice(*rejection.span)] for rejection in extraction.rejections] == [A, B, A]


ENDED = {
    "thoughts": (f"<think>{A}</think>\n{B}", f"<think>{A}</think>"),
    "empty thoughts": (f"<think>\n</think>{B}", "<think>\n</think>"),
    "a result": (f"<tool_response>{A}</tool_response>{B}", f"<tool_response>{A}</tool_response>"),
    "a blockquote": (f"> {A}\n{B}", f"> {A}"),
    "an empty blockquote": (f">\n{B}", ">"),
    "a span": (f"Not `{A}`, but {B}", f"Not `{A}`, but"),
    "a span directly before it": (f"Not `x`{B}", "Not `x`"),
    "a span and letters before it": (f"Not `x` but MAX{B}", "Not `x` but MAX"),
    "a span of two backticks, with one in it": (f"``x`y`` {B}", "``x`y``"),
    "an apostrophe directly before it": (f"the cats'{B}", "the cats'"),
    "a span that is open on the line before": (f"Not `x\n{B}", "Not `x"),
    "a repeated result": (f"Result of a: {A}\n{B}", f"Result of a: {A}"),
    "single quotes": (f"Not '{A}', but {B}", f"Not '{A}', but"),
}


@pytest.mark.parametrize(("text", "content"), ENDED.values(), ids=ENDED)
def test_a_call_after_quotation_is_called(text: str, content: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (names(extraction), extraction.content) == ("b", content)


PROSE = {
    "an arrow": "->",
    "a greater-than sign": "x >",
    "a span before it": "Use `x`",
    "two spans before it": "Use `x` and ``y``",
    "a backtick on another line": "don`t\n",
    "a tag in a span": "Use the `<think>` tag.",
    "a tag of results in a span": "It came in a `<tool_response>`.",
    "an apostrophe": "the cats'",
    "a result of another tool": "Result of the_sum:",
    "a result in a sentence": "The Result of b:",
    "an observation": "Observation:",
    "a tag of HTML": "<code>",
    "a comment of HTML": "<!-- why -->",
}


@pytest.mark.parametrize("before", PROSE.values(), ids=PROSE)
def test_nothing_else_is_quotation(before: str):
    extraction = extract_in_every_chunking(f"{before} {A}", tools=TOOLS)
    assert (names(extraction), extraction.content) == ("a", before.strip())
    assert not extraction.rejections


@pytest.mark.parametrize(("opening", "closing"), ["“”", "„“", "«»", "「」", "『』"])
def test_other_quotation_marks_quote_nothing(opening: str, closing: str):
    extraction = extract_in_every_chunking(f"{opening}{A}{closing}")
    assert (names(extraction), extraction.content) == ("a", f"{opening} {closing}")


def test_html_quotes_nothing():
    extraction = extract_in_every_chunking(f"<code>{A}</code> <!-- {B} -->")
    assert (names(extraction), extraction.content) == ("ab", "<code> </code> <!-- -->")


@pytest.mark.parametrize("opening", ["Result of b: ```json", 'Say "```json', "> - ```tool_call", "`a ```json"])
def test_the_word_of_a_quoted_fence_is_no_name_of_a_tool(opening: str):
    extraction = extract_in_every_chunking(f"{opening}\n{A}", tools=TOOLS)
    assert [one.name for one in extraction.rejections] == ["a"] * len(extraction.rejections)


def test_a_rejection_says_what_quotes_the_call():
    text = f"Write `{A}` so.\n> {B}\nor '{B}'.\nResult of a: {B}\n<think>{B}</think>\n```js\n{B}\n```"
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert [(rejection.name, rejection.detail) for rejection in extraction.rejections] == [
        ("a", "in a code span"),
        ("b", "after the > of a blockquote"),
        ("b", "directly between quotation marks"),
        ("b", "in the repeated result of a tool"),
        ("b", "in thoughts"),
        ("b", "in a fence of js"),
    ]


def test_data_in_a_string_of_a_call_is_no_quotation():
    extraction = extract_in_every_chunking(f'{{"name": "f", "parameters": {{"t": "<think>"}}}} {A}')
    assert (names(extraction), extraction.content) == ("fa", None)


HEADERS = {
    "Llama 3": ("<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>"),
    "Llama 4": ("<|header_start|>{}<|header_end|>\n\n", "<|eot|>"),
    "ChatML": ("<|im_start|>{}\n", "<|im_end|>"),
}


@pytest.mark.parametrize("role", ["user", "system", "tool", "ipython", "User", "TOOL"])
@pytest.mark.parametrize(("header", "end"), HEADERS.values(), ids=HEADERS)
def test_a_turn_that_the_model_makes_up_is_quotation(header: str, end: str, role: str):
    made_up, own = header.format(role), header.format("assistant")
    for text, called, content in [
        (f"{made_up}{A}{end}", "", A),
        (f"{made_up}{A}", "", A),
        (f"Hi.{end}{made_up}So: {A}\n[a(x=1)]", "", f"Hi.{end}{made_up}So: {A}\n[a(x=1)]"),
        (f"{B}{end}{made_up}{A}{end}{own}{B}", "bb", A),
        (f"<tool_call>{B}</tool_call>{end}\n{made_up}{A}{end}{made_up}{A}{end}", "b", f"{A}{end}{made_up}{A}"),
        (f"<tool_call>{B}\n{made_up}<tool_call>{A}</tool_call>", "b", f"<tool_call>{A}</tool_call>"),
    ]:
        extraction = extract_in_every_chunking(text, tools=TOOLS, is_sampled=True)
        assert names(extraction) == called, text
        assert (extraction.content or "").strip() == content, text
        assert {str(one.reason) for one in extraction.rejections} == {"quoted"}, text


@pytest.mark.parametrize(("header", "end"), HEADERS.values(), ids=HEADERS)
def test_the_assistant_s_own_turn_is_none(header: str, end: str):
    for role in ("assistant", ""):
        extraction = extract_in_every_chunking(f"{header.format(role)}{A}{end}", tools=TOOLS)
        assert (names(extraction), extraction.content) == ("a", None)


@pytest.mark.parametrize("token", ["<|im_start|>user", "<|im_start|>users\n"])
def test_a_header_in_a_sentence_is_prose(token: str):
    extraction = extract_in_every_chunking(f"Write {token} first. {A}")
    assert (names(extraction), extraction.content) == ("a", f"Write {token} first.")


FLOWS = {
    "a blockquote": "> x",
    "a span": "Use `x",
    "a fence": "```js\nx",
    "a listing": "```\nprint(",
    "thoughts": "<think>Hm",
    "a result": "<tool_response>x",
}


@pytest.mark.parametrize("opening", FLOWS.values(), ids=FLOWS)
def test_quotation_flows(opening: str):
    stream = Extractor().stream()
    released = ""
    for piece in (opening, " = 1; ", "and more, x"):
        released += "".join(event.text for event in stream.feed(piece) if isinstance(event, TextDelta))
    assert released == f"{opening} = 1; and more, x"


@pytest.mark.parametrize("space", ["\xa0", "\x1c", "\u2028", "\u3000", "\x0b", ";;", " ;; "])
@pytest.mark.parametrize("after", ["\nx", "\n\nx", "</x>", "x", ""])
def test_what_is_no_plain_space_after_a_line_reads_alike_in_every_chunking(space: str, after: str):
    extraction = extract_in_every_chunking(f"f(a=1){space}{after}", tools=[{"name": "f"}])
    assert len(extraction.tool_calls) + len(extraction.rejections) == 1
