"""Principle 2: markup that touches a call goes with it, recognised by its look. All other markup is text."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from told import TOOLS, called, refused

A, B = '{"name": "f", "parameters": {"a": 1}}', '{"name": "g", "arguments": {}}'
R1 = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>", "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"  # noqa: RUF001 - DeepSeek's

AROUND = {
    **{
        f"<{tag}>": (f"<{tag}>", f"</{tag}>")
        for tag in ("tool_call", "TOOLCALL", "tools", "tool-use", "functioncall", "function", "response", "json", "x")
    },
    "a tag on lines": ("<tool_call>\n", "\n</tool_call>\n"),
    "a tag with an attribute": ('<tool_call id="1">', "</tool_call>"),
    "a tag that is never ended": ("<functioncall ", ">"),
    "two closing tags": ("<tool_call>", "</tool_call></tool_call>"),
    "another closing tag": ("<tool_call>", "</tool>"),
    "two tags": ("<tool_calls>\n<tool_call>", "</tool_call>\n</tool_calls>"),
    "[TOOL_REQUEST]": ("[TOOL_REQUEST]\n", "\n[END_TOOL_REQUEST]"),
    "[TOOL_CALL]": ("[TOOL_CALL]", "[/TOOL_CALL]"),
    "[TOOL_CALLS]": ("[TOOL_CALLS][", "]"),
    "functools": ("\nfunctools[", "]"),
    "a list": (" [", "]"),
    "a list of lists": ("[[", "]]"),
    "<|python_tag|>": ("<|python_tag|>", "<|eom_id|>"),
    "Llama 4's tokens": ("<|python_start|>", "<|python_end|>"),
    "DeepSeek's tokens": R1,
    "headers": ("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
    "another header": ("<|header_start|>assistant<|header_end|>", "<|eot|>"),
    "ChatML": ("<|im_start|>assistant\n", "<|im_end|>\n"),
    "a comment": ("<!-- ", " -->"),
    "an XML declaration": ("<?tool?>", "<?end?>"),
    "a fence": ("\n```json\n", "\n```\n"),
    "a fence on one line": ("\n```", "```\n"),
    "a fence of tildes": ("\n~~~\n", "\n~~~\n"),
    "bold": ("**", "**"),
    "a tag in a fence": ("\n```json\n<tool_call>\n", "\n</tool_call>\n```\n"),
    "a fence in a tag": ("<tool_call>\n```json\n", "\n```\n</tool_call>"),
    "a list in a tag": ("<TOOLCALL>[", "]</TOOLCALL>"),
    "a tag in tokens": ("<|python_start|><tool>", "</tool><|python_end|>"),
}


@pytest.mark.parametrize(("opening", "closing"), AROUND.values(), ids=AROUND)
def test_it_goes_with_the_calls_that_it_touches(opening: str, closing: str):
    for inside in (A, f"{A}; {B}", f"{A}\n{B}", f"{A}, {B}"):
        extraction = extract_in_every_chunking(f"One {opening}{inside}{closing} two", is_sampled=True)
        names = "f g" if B in inside else "f"
        assert (called(extraction), extraction.content, refused(extraction)) == (names, "One two", "")
    for cut in range(1, len(closing)):
        extraction = extract_in_every_chunking(f"One {opening}{A}{closing[:cut]}", is_sampled=True)
        assert called(extraction) == "f"
        assert "One" in (extraction.content or "")


PYTHONIC = (
    [*"[]"],
    ("<tool_call>", "</tool_call>"),
    ("<tool_call>[", "]</tool_call>"),
    ("```python\n", "\n```"),
    ("**", "**"),
)


@pytest.mark.parametrize(("opening", "closing"), PYTHONIC)
def test_so_it_does_with_pythonic_calls(opening: str, closing: str):
    for inside, names in (("f(a=1)", "f"), ("f(a=1), g()", "f g")):
        extraction = extract_in_every_chunking(f"One\n{opening}{inside}{closing}\ntwo", tools=TOOLS)
        assert (called(extraction), extraction.content, refused(extraction)) == (names, "One two", "")


F = '{"a": 1}'
FORMATS = {
    "bare": (A, "json", A),
    "in a list": (f"[{A}]", "json", A),
    "after a token": (f"<|python_tag|>{A}<|eom_id|>", "json", A),
    "in a tag": (f"<tool>{A}</tool>", "tool", A),
    "in another tag": (f"<tool_calls>{A}</tool_calls>", "tool_calls", A),
    "in a tag in a tag": (f"<tool_calls><tool_call>{A}</tool_call></tool_calls>", "tool_call", A),
    "after a tag": (f"<tool>{B}</tool>{A}", "json", A),
    "in a fence": (f"```json\n{A}\n```", "fence", A),
    "in a tag in a fence": (f"```\n<tool_call>{A}</tool_call>\n```", "fence", A),
    "in an envelope": (f'{{"tool_call": {A}}}', "envelope", A),
    "a function tag": (f"<function=f>{F}</function>", "function", f"<function=f>{F}"),
    "pythonic": ("<tool_call>[f(a=1)]</tool_call>", "pythonic", "f(a=1)"),
    "after its name": (f"<tool_call>f {F}</tool_call>", "name", f"f {F}"),
}


@pytest.mark.parametrize(("text", "format_", "written"), FORMATS.values(), ids=FORMATS)
def test_a_call_says_how_it_was_written_and_where(text: str, format_: str, written: str):
    call = extract_in_every_chunking(text, tools=TOOLS).tool_calls[-1]
    assert (call.format, text[slice(*call.span)], call.arguments) == (format_, written, {"a": 1})


PARTLY = {
    "an opening tag before text": (f"{A} <b>bold</b>", "<b>bold</b>"),
    "an opening token before text": (f"{A}<|python_tag|> is it", "is it"),
    "an opening fence before text": (f"{A}\n```\nx\n```", "```\nx\n```"),
    "text in a tag": (f"<tool_call>{A} oops</tool_call>", "oops</tool_call>"),
    "text before, in a tag": (f"<tool_call>oops {A}</tool_call>", "<tool_call>oops"),
    "a bad call after, in a tag": (f'<tool_call>{A} {{"bad" }}</tool_call>', '{"bad" }</tool_call>'),
    "a bad call before, in a tag": (f'<tool_call>{{"bad" }} {A}</tool_call>', '<tool_call>{"bad" }'),
    "a tag that is spoken of": (f"Use <tool_call> tags. {A}", "Use <tool_call> tags."),
    "data in a list": (f'[{A}, {{"a": 1}}]', ', {"a": 1}]'),
    "a header of the assistant": (f"{A}<|start_header_id|>assistant<|end_header_id|>\n\nDone.", "Done."),
    "a bracket before a tag": (f"<<tool_call>{A}</tool_call>", "<"),
    "a link before": (f"[weather](url) {A}", "[weather](url)"),
    "a word in brackets before": (f"[1] {A}", "[1]"),
}


@pytest.mark.parametrize(("text", "content"), PARTLY.values(), ids=PARTLY)
def test_after_a_call_what_opens_stays_unless_a_call_follows(text: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert (called(extraction), extraction.content) == ("f", content)


RESIDUE = {
    "the end of a tag that stays": (f"<b>Result: {A}</b> end", "<b>Result: </b> end"),
    "a smiley": (f"{A} ;-) ok", ";-) ok"),
    "a fence's end after prose": (f"```json\n{A}\n\nSo much for that.\n```\nBye", "So much for that. Bye"),
    "a tag that closes itself": ('<function=f {"a": 1} />', None),
    "a tag that closes itself, text after it": ('<function=f {"a": 1}/> Done.', "Done."),
}


@pytest.mark.parametrize(("text", "content"), RESIDUE.values(), ids=RESIDUE)
def test_markup_goes_or_stays_as_a_whole(text: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (called(extraction), extraction.content) == ("f", content)


SURPLUS = {
    "a brace": (f"{A}}}", None),
    "a bracket": (f"{A}]", None),
    "an angle bracket": (f"{A}>", None),
    "a parenthesis": (f"{A})", None),
    "a brace in a tag": (f"<tool_call>{A}}}</tool_call>", None),
    "a brace before a token": (f"{A}}}<|eot_id|>", None),
    "a parenthesis and a brace": (f"{A}}})", None),
    "a bracket after a list": ("[f(a=1)]]", None),
    "a bracket of the text before": (f"[see {A}] now", "[see ] now"),
    "a parenthesis of the text before": (f"(Now: {A})", "(Now: )"),
    "an open string": (f'["x {A}', '["x'),
    "braces around": (f"{{ {A} }}", "{ }"),
}


@pytest.mark.parametrize(("text", "content"), SURPLUS.values(), ids=SURPLUS)
def test_one_closing_bracket_too_many_goes_and_none_that_closes_something(text: str, content: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert (called(extraction), extraction.content) == ("f", content)


ALONE = [
    *(
        "<tool_call></tool_call>",
        "<tool_call>Hi</tool_call>",
        "<tool_call>",
        "</tool_call>",
        "<tools>x</tools>",
        "<x/>",
    ),
    *("[TOOL_CALLS]", "[END_TOOL_REQUEST]", "<!-- x -->", "<?xml?>", "```json\n```", "```json\n{}\n```", "**bold**"),
    *("functools", ">>>", "<<<", "[[", "[]", "[1, 2]", "[see]", "a <b>c</b>", "1 < 2", "x <- y", "~~~", "Not ~~this~~"),
    *("The marker ``` opens a fence.", "Run ```pip install x``` and", "[A] or [B]", "<|unknown_token|>Hi", "a -- b"),
]


@pytest.mark.parametrize("text", ALONE)
def test_without_a_call_it_stays(text: str):
    for options in ({}, {"tools": TOOLS}, {"formats": "all"}):
        extraction = extract_in_every_chunking(text, is_sampled=True, **options)
        assert (extraction.content, called(extraction), refused(extraction).rstrip("!").replace("not_a_call", "")) == (
            text,
            "",
            "",
        )


LOOKS = {
    "a tag of 64 characters": (f"<{'x' * 31} {'y' * 28}>", True),
    "a longer tag": (f"<x {'y' * 70}>", False),
    "a tag over lines": ("<x\ny>", False),
    "a tag in lower case brackets": ("[tool_calls]", False),
    "a tag in capitals and underscores": ("[MY_TOOL_CALLS]", True),
    "a token of any name": ("<|any thing|>", True),
    "a token over lines": ("<|any\nthing|>", False),
}


@pytest.mark.parametrize(("markup", "is_markup"), LOOKS.values(), ids=LOOKS)
def test_it_is_told_by_its_look(markup: str, *, is_markup: bool):
    extraction = extract_in_every_chunking(f"So {markup}{A}")
    assert (called(extraction), extraction.content) == ("f", "So" if is_markup else f"So {markup}")
