"""Principle 4: what is quoted, by a region or by its place on a line, is reported, and never called."""

from __future__ import annotations

from itertools import product

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta
from told import CLOCK, DELETE, TOOLS, called, refused

THOUGHTS = ["think", "thinking", "reasoning", "scratch_pad"]
HEADERS = {
    "Llama 3's": ("<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>"),
    "Llama 4's": ("<|header_start|>{}<|header_end|>\n\n", "<|eot|>"),
    "ChatML's": ("<|im_start|>{}\n", "<|im_end|>"),
}
REGIONS = {
    **{f"<{tag}>": f"<{tag}>I could call %s.</{tag}>" for tag in THOUGHTS},
    "thoughts that never close": "<think>Well.\n%s",
    "thoughts around a tag": "<think><tool_call>%s</tool_call></think>",
    "thoughts around a function tag": "<think>So <function=clock>%s</function></think>",
    "a result": "<tool_response>\n%s\n</tool_response>",
    "a result that never closes": "<tool_response>%s",
    "another result": "<tool_result id='1'>%s</tool_result>",
    "a fence of another thing": "```js\nrun(%s)\n```",
    "a fence of code": "```python\nimport x\n%s\n```",
    "a fence after a comment": "```json\n// call\n%s\n```",
    "a fence after prose": "```\nHere: %s\n```",
    "a fence after data": "```\n[1, 2]\n%s\n```",
    "a fence after an object that is no call": '````\n{"a": 1}\n%s\n````',
    "a fence that never closes": "```html\n<b>x</b>\n%s\n",
    "a fence of tildes": "~~~yaml\nx: 1\n%s\n~~~",
    "a fence in a fence": "````markdown\n# T\n```json\n%s\n```\n````",
    "a fence in a list": "1. See:\n   ```bash\n   curl -d '%s'\n   ```\n2. So.",
    "fences within a line": "```python\nprint('```', %s)\n```",
    "a fence closed by a shorter one": "````js\nx\n```\n%s\n`````",
    "a fence closed with more on its line": "```js\nx\n``` %s\n```",
    "XML in a tag that names its tool": "<function=clock>\n<parameter=zone>\n%s\n</parameter>\n</function>",
}
LINES = {
    "a code span": "Write `%s` to call it.",
    "a code span that begins the line": "`%s` calls it.",
    "a code span of two backticks": "Write ``%s``, say.",
    "a code span with words": "Write `call: %s` so.",
    "a code span around a tag": "Write `<tool_call>%s</tool_call>` so.",
    "a code span that never closes": "Write `%s and so on.",
    "a code span before a long line": f"Write `%s {'x' * 600}` so.",
    "a code span far on a long line": f"{'a ' * 300}`{'b' * 600} %s`",
    "two code spans": "Use `x` and ``%s``.",
    "a blockquote": "> %s",
    "a blockquote without a blank": ">%s",
    "a blockquote of prose": "> He wrote %s to me.",
    "a blockquote among lines": "He wrote:\n> %s\nand left.",
    "a blockquote in a blockquote": "  >> %s",
    "a blockquote in a list": "- > %s\n1. > x",
    "a blockquote of a tag": "> <tool_call>%s</tool_call>",
    "single quotes": "Say '%s', then.",
    "double quotes": 'Say "%s", then.',
    "quotes around a list": "Say '[%s]', then.",
    "quotes around two calls": "Say '[%s, %s]', then.",
    "quotes around a token": 'Say "<|python_tag|>%s", then.',
    "quotes that never close": "Say '%s",
    "a result that is repeated": "Result of clock: %s",
    "an error that is repeated": "Error of clock: x %s y",
    "a long result": f"Result of clock: {'x ' * 1100}%s",
}


@pytest.mark.parametrize("text", [*REGIONS.values(), *LINES.values()], ids=[*REGIONS, *LINES])
def test_what_is_quoted_is_reported_and_never_called(text: str):
    output = text.replace("%s", DELETE)
    for options in ({}, {"tools": TOOLS}, {"tools": TOOLS, "repair": True, "formats": "all"}):
        if "of clock" in text and not options:
            continue
        extraction = extract_in_every_chunking(output, is_sampled=bool(options), **options)
        assert (extraction.content, called(extraction)) == (output, "")
        assert "quoted delete" in refused(extraction)


@pytest.mark.parametrize("text", REGIONS.values(), ids=REGIONS)
@pytest.mark.parametrize(
    "call", ["\n[delete(path='/')]\n", "\ndelete(path='/')\n", '\n<function=delete>{"path": "/"}</function>\n']
)
def test_in_a_region_calls_in_other_forms_are_none_either(text: str, call: str):
    output = text.replace("%s", call).replace("``` \n", "``` x\n")
    extraction = extract_in_every_chunking(output, tools=TOOLS, is_sampled=True)
    assert (extraction.content, called(extraction)) == (output, "")
    assert "delete" in {one.name for one in extraction.rejections}


@pytest.mark.parametrize("line", ["> %s", "`%s` it is", "'%s'", "Result of clock: %s", "- `see %s`"])
@pytest.mark.parametrize(
    "call",
    ["[delete(path='/')]", "delete(path='/')", '<function=delete>{"path": "/"}</function>', 'delete {"path": "/"}'],
)
def test_nor_on_a_quoted_line(line: str, call: str):
    output = line.replace("%s", call)
    extraction = extract_in_every_chunking(output, tools=TOOLS)
    assert (extraction.content, called(extraction)) == (output, "")
    assert "delete" in {one.name for one in extraction.rejections}


ENDED = {
    "thoughts": ("<think>%s</think>\n", "<think>%s</think>"),
    "a result": ("<tool_response>%s</tool_response>", "<tool_response>%s</tool_response>"),
    "a fence": ("```js\nx = %s\n```\n", "```js\nx = %s\n```"),
    "a blockquote": ("> %s\n", "> %s"),
    "a blockquote that ends in a tag": ("> x <br>\n\n", "> x"),
    "an empty blockquote": (">\n", ">"),
    "a code span": ("Not `%s`, but ", "Not `%s`, but"),
    "a code span directly before it": ("Not `x`", "Not `x`"),
    "a code span that is open on the line before": ("Not `x\n", "Not `x"),
    "a long line": (f"{'a ' * 150}``{'b ' * 600}`` ", f"{'a ' * 150}``{'b ' * 600}``"),
    "an apostrophe before a blank": ("the cats' ", "the cats'"),
    "quotes": ("Not '%s', but ", "Not '%s', but"),
    "a repeated result": ("Result of clock: %s\n", "Result of clock: %s"),
    "a result of no tool": ("Result of the_sum: ", "Result of the_sum:"),
    "a result in a sentence": ("The Result of clock: ", "The Result of clock:"),
    "a greater-than sign": ("x > ", "x >"),
    "a tag in a code span": ("Use the `<think>` tag. ", "Use the `<think>` tag."),
    "a fence of data": ('```json\n{"a": 1}\n```\n', '```json\n{"a": 1}\n```'),
    "a fence on one line": ("Run ```pip install x``` and ", "Run ```pip install x``` and"),
    "HTML": ("<code>x</code> ", "<code>x</code>"),
}


@pytest.mark.parametrize(("before", "content"), ENDED.values(), ids=ENDED)
def test_after_it_a_call_is_a_call(before: str, content: str):
    extraction = extract_in_every_chunking(before.replace("%s", DELETE) + CLOCK, tools=TOOLS)
    assert (called(extraction), extraction.content) == ("clock", content.replace("%s", DELETE))


@pytest.mark.parametrize(("header", "end"), HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("role", ["user", "system", "tool", "ipython", "User", "TOOL"])
def test_a_turn_of_another_role_is_quotation(header: str, end: str, role: str):
    other, own = header.format(role), header.format("assistant")
    for text, names in (
        (f"{other}{DELETE}{end}", ""),
        (f"Hi.{end}{other}So: {DELETE}\n[delete(path='/')]\n{header.format('user')}{DELETE}", ""),
        (f"{CLOCK}{end}{other}{DELETE}{end}{own}{CLOCK}", "clock clock"),
        (f"<tool_call>{CLOCK}</tool_call>{end}\n{other}{DELETE}{end}", "clock"),
        (f"<tool_call>{CLOCK}\n{other}<tool_call>{DELETE}</tool_call>", "clock"),
        (f"{header.format('assistant')}{CLOCK}{end}", "clock"),
    ):
        extraction = extract_in_every_chunking(text, tools=TOOLS, is_sampled=True)
        assert called(extraction) == names, text
        assert {str(one.reason) for one in extraction.rejections} <= {"quoted"}
        assert DELETE in (extraction.content or DELETE)


@pytest.mark.parametrize("token", ["<|im_start|>user", "<|im_start|>users\n"])
def test_a_header_in_a_sentence_is_prose(token: str):
    extraction = extract_in_every_chunking(f"Write {token} first. {CLOCK}", tools=TOOLS)
    assert (called(extraction), extraction.content) == ("clock", f"Write {token} first.")


FENCES = {
    "a call": (CLOCK, "clock"),
    "calls": (f"{CLOCK}\n{CLOCK}", "clock clock"),
    "a call in a tag": (f"<tool_call>{CLOCK}</tool_call>", "clock"),
    "a pythonic call": ("clock()\nclock(zone='UTC')", "clock clock"),
    "a pythonic list": ("[clock(), g()]", "clock g"),
    "a name and its arguments": ('clock\n{"zone": "UTC"}', "clock"),
    "a call and prose": (f"{CLOCK}\nDone.", "clock"),
    "an attempt and a call": (f'{{"name": "clock", "arguments": {{oops}}}}\n{CLOCK}', "clock"),
}


INFOS = ["json", "", "python", "js", "c++", " json", "json title=x", "tool_call", "XML", "JSON"]


@pytest.mark.parametrize(("inside", "names"), FENCES.values(), ids=FENCES)
def test_a_fence_whose_first_thing_is_a_call_or_an_attempt_is_markup(inside: str, names: str):
    for info, (ticks, line_end) in product(INFOS, [("```", "\n"), ("````", "\r\n"), ("~~~", "\n")]):
        text = line_end.join([f"One\n{ticks}{info}", inside, ticks, "two"])
        extraction = extract_in_every_chunking(text, tools=TOOLS, is_sampled=True)
        assert called(extraction) == names, text
        assert extraction.content == "One two" or "\n" in inside or "oops" in inside


def test_code_after_pythonic_calls_makes_a_fence_a_listing():
    stream = Extractor(tools=TOOLS).stream()
    assert stream.feed("```python\ng(a=1)\n") == []
    assert stream.feed("print(1)\n")[0] == TextDelta("```python\ng(a=1)\nprint(1)")
    text = f"```python\ng(a=1)\nprint(1)\n{CLOCK}\n```\n{CLOCK}"
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (called(extraction), refused(extraction)) == ("clock", "quoted g, quoted clock")


ALONE = {
    "a string": f'"{DELETE}"',
    "a string in single quotes": f"'{DELETE}'",
    "a list in a string": f'"[{DELETE}]"',
    "thoughts": f"<think>I call {DELETE}</think>",
    "thoughts that never close": f"<think>I call {DELETE}",
    "a code span": f"`{DELETE}`",
}


@pytest.mark.parametrize("text", ALONE.values(), ids=ALONE)
def test_a_quoted_call_is_an_attempt_only_if_the_output_has_nothing_else(text: str):
    assert refused(extract_in_every_chunking(text, tools=TOOLS)) == "quoted delete!"
    after = () if text.endswith("}") else (f"{text}\nDone.", f"{text}\n{CLOCK}")  # all is in thoughts that never close
    for beside in (f"So: {text}", *after):
        assert extract_in_every_chunking(beside, tools=TOOLS, is_sampled=True).attempts == ()


@pytest.mark.parametrize("opening", ["> x", "Use `x", "```js\nx", "```\nprint(", "<think>Hm", "<tool_response>x"])
def test_quotation_flows(opening: str):
    stream = Extractor().stream()
    pieces = [event for piece in (opening, " = 1; ", "and more, x") for event in stream.feed(piece)]
    assert "".join(event.text for event in pieces if isinstance(event, TextDelta)) == f"{opening} = 1; and more, x"
