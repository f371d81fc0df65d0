"""Principle 2: text is kept as it was, segment by segment; delimiters and protocol tokens go beside calls."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta
from told import TOOLS, called, refused, tool

A, B, C = (f'{{"name": "{name}", "parameters": {{}}}}' for name in "abc")
BAD, BROKEN = '{"name": "x", "parameters": 5}', '{"name": "x", "parameters": {"q": oops}}'
ABCX = [tool(name) for name in "abcx"]

SEGMENTS = {
    "before": (f"One {A}", "One"),
    "after": (f"{A} two", "two"),
    "between": (f"{A} two {B}", "two"),
    "around": (f"One {A} two", "One two"),
    "around several": (f"One {A} {B} two {A} three", "One two three"),
    "without space": (f"One{A}two", "One two"),
    "paragraphs": (f"One\n\n{A}\n\ntwo", "One two"),
    "space inside": (f"  One  two\n three  {A}  four\tfive ", "One  two\n three four\tfive"),
    "space of all kinds": (f"\u2003One\u00a0{A}\u2003two\u2028", "One two"),
    "letters": (f"{A}XXXX", "XXXX"),
    "characters of all kinds": (f"é 你好 \U0001f600 {A} \\n &amp; <b>", "é 你好 \U0001f600 \\n &amp; <b>"),
    "white space alone": (f" \n{A}\t ", None),
    "white space between": (f"{A}\n\n{B}", None),
    "around wrappers": (f"First <tool_call>{A}</tool_call> then [{B}] last", "First then last"),
    "in several forms": (f"<tool_call>{A}</tool_call> [{B}]\n<function=c>{{}}</function>", None),
    "the same call twice": (f"{A}\n{A}", None),
}


@pytest.mark.parametrize(("text", "content"), SEGMENTS.values(), ids=SEGMENTS)
def test_each_segment_is_stripped_and_all_are_joined_by_one_space(text: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    names = [text[call.span[0] :].split('"')[3:4] or ["c"] for call in extraction.tool_calls]
    assert (extraction.content, [[call.name] for call in extraction.tool_calls]) == (content, names or None)


PROSE = [
    *("It's 5 < 6, and {x} or [1].", "| a | b |\n|---|---|", "# Title\n\n- one\n  - two", "<b>bold</b> & co."),
    *("f(x) = {x: 1}", "C:\\path\\to", "a; b, c;", '"Quoted", he said', "```js\nlet a = [1];\n```", "`x` and *y*"),
    *('{x}, "y" and \\z', "first; {second}; [third]", "Not ~~this~~", "It costs ~5 euros", 'Say ```{"a": 1}``` so'),
]


@pytest.mark.parametrize("prose", PROSE)
def test_prose_around_a_call_is_not_touched(prose: str):
    for text in (f"{prose}\n\n{A}", f"{A}\n\n{prose}"):
        extraction = extract_in_every_chunking(text)
        assert (called(extraction), extraction.content) == ("a", prose)


LISTS = {
    "of one": (f"[{A}]", "a"),
    "of several": (f"[ {A} ,\n{B},{C}\n]", "a b c"),
    "with semicolons": (f"[{A}; {B}]", "a b"),
    "with nothing between": (f"[{A}{B}]", "a b"),
    "with a comma too many": (f"[{A}, {B},]", "a b"),
    "with two commas": (f"[{A},, {B}]", "a b"),
    "one after the other": (f"[{A}]\n[{B}]; {C}", "a b c"),
    "that never closes": (f"[{A}, {B}", "a b"),
    "that is cut off": (f"[{A}, {B},", "a b"),
    "pythonic": ("[a(x=1), b(), c()]", "a b c"),
    "pythonic, with semicolons": ("[a(); b()]", "a b"),
    "pythonic, with a comma too many": ("[a(), b(),]", "a b"),
    "pythonic, one after the other": ("[a()]; [b()][c()]", "a b c"),
    "pythonic, never closed": ("[a(), b()", "a b"),
}


@pytest.mark.parametrize(("text", "names"), LISTS.values(), ids=LISTS)
def test_the_brackets_of_a_list_go(text: str, names: str):
    for output, content in ((text, None), (f"One {text}\n", "One")):
        extraction = extract_in_every_chunking(output, tools=ABCX)
        assert (called(extraction), extraction.content, refused(extraction)) == (names, content, "")


BETWEEN = ["", " ", "\n", "\r\n\t", ";", " ; ", ";\n", "\n;\n", ",", ", ", ",\n", ";;", ",;", "; ;\n;"]
FORMS = {"bare": "%s", "tags": "<tool_call>%s</tool_call>", "lists": "[%s]", "fences": "\n```json\n%s\n```\n"}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_between_two_calls_delimiters_vanish(form: str):
    for between in BETWEEN:
        extraction = extract_in_every_chunking(f"One {form % A}{between}{form % B} two", is_sampled=True)
        assert (called(extraction), extraction.content) == ("a b", "One two"), between


AFTER = {
    "a semicolon at the end": (f"{A};", None),
    "a semicolon before text": (f"{A} ; then", "then"),
    "two semicolons": (f"{A};; then", "then"),
    "a comma at the end": (f"{A},  \n ", None),
    "a comma at the end of its line": (f"{A},\nthen", "then"),
    "a comma before a token": (f"{A}, <|eot_id|>", None),
    "a comma after a list": (f"[{A}],\nthen", "then"),
    "a comma before what closes a list": (f"[{A},] then", "then"),
    "a comma before what closes a tag": (f"<tool_call>{A},</tool_call> then", "then"),
    "a comma before text": (f"{A}, then", ", then"),
    "a colon": (f"{A}: one", ": one"),
    "a full stop": (f"{A}. One", ". One"),
    "after text after a call": (f"{A} one; two, three;", "one; two, three;"),
    "a semicolon before a call": (f"One; {A}", "One;"),
    "a semicolon alone before a call": (f"; {A}", None),
    "a comma before a call": (f"First, {A}", "First,"),
}


@pytest.mark.parametrize(("text", "content"), AFTER.values(), ids=AFTER)
def test_after_a_call_semicolons_go_and_a_comma_at_the_end_of_its_line(text: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    assert (called(extraction), extraction.content) == ("a", content)


BAD_ONES = {
    "malformed, between calls": (f"[{A}, {BROKEN}, {B}]", "a b", "malformed x!"),
    "several": (f"[{BAD}, {A}, {BROKEN}, {B}]", "a b", "invalid_arguments x!, malformed x!"),
    "an undeclared tool": (f'[{A}, {{"name": "rm", "parameters": {{}}}}, {B}]', "a b", "unknown_tool rm!"),
    "a dict of Python's": (f"[{A}, {{'name': 'x', 'parameters': {{}}}}, {B}]", "a b", "malformed x!"),
    "pythonic, between calls": ("[a(), x(q=b'z'), b()]", "a b", "malformed x!"),
    "pythonic, of an undeclared tool, malformed": ("[rm(q=b'z'), a()]", "a", "malformed rm!"),
}


@pytest.mark.parametrize(("text", "names", "reasons"), BAD_ONES.values(), ids=BAD_ONES)
def test_a_bad_element_of_a_list_is_text_and_hides_no_call_beside_it(text: str, names: str, reasons: str):
    extraction = extract_in_every_chunking(text, tools=ABCX)
    assert (called(extraction), refused(extraction)) == (names, reasons)


HEADER = "<|start_header_id|>assistant<|end_header_id|>"
TOKENS = [
    *("<|python_tag|>", "<|python_start|>", "<|python_end|>", "<|eom_id|>", "<|eot_id|>", "<|begin_of_text|>"),
    *("<|end_of_text|>", "<|eot|>", "<|eom|>", "<|finetune_right_pad_id|>", "<|end_header_id|>", HEADER, "<|im_end|>"),
    *("<|header_start|>assistant<|header_end|>", "<|im_start|>", "<|im_start|>assistant\n", "<|endoftext|>"),
]


@pytest.mark.parametrize("token", TOKENS, ids=ascii)
def test_protocol_tokens_go_at_the_edges_and_beside_calls(token: str):
    for text, content in (
        (f"{token}Hello", "Hello"),
        (f"Hello{token}", "Hello"),
        (token, ""),
        (f"One {token}{A}", "One"),
        (f"One {A} {token} two", "One two"),
        (f"{A}{token}; {B}", None),
        (f"The {token} token", f"The {token} token"),
    ):
        extraction = extract_in_every_chunking(text, is_sampled=True)
        assert (extraction.content or "").strip() == (content or ""), text
    (call,) = extract_in_every_chunking(f'{{"name": "f", "parameters": {{"text": "{token.strip()}"}}}}').tool_calls
    assert call.arguments == {"text": token.strip()}


EDGES = {
    "a whole turn": (f"<|begin_of_text|>{HEADER}\n\nHello<|eot_id|>", "\n\nHello"),
    "two turns": (f"{HEADER}\n\nOne {A}<|eom_id|>{HEADER}\n\n{B}<|eot_id|>", "One"),
    "several before a call": (f"One <|eot_id|>\n<|python_tag|> {A}", "One"),
    "after a comma": (f"{A}, <|eot_id|>", None),
    "after white space": ("Hello <|eot_id|>", "Hello "),
    "several at the end": ("Hello<|eot_id|>\n<|eot_id|>", "Hello"),
    "in prose and at its end": ("One <|eot_id|> two <|eot_id|>", "One <|eot_id|> two "),
    "before an object that is no call": ('<|python_tag|>{"a": "Hello"}', '{"a": "Hello"}'),
    "ChatML": ("<|im_start|>assistant\nHello<|im_end|>\n", "\nHello"),
    "ChatML and another role": ("<|im_start|>narrator\nHello.", "narrator\nHello."),
    "ChatML and a word like a role": ("<|im_start|>assistants are many", "assistants are many"),
    "ChatML in prose": ("A <|im_start|>user\nis what begins a turn.", "A <|im_start|>user\nis what begins a turn."),
    "around prose": ("<|python_start|>Hello<|python_end|>", "Hello"),
    "cut off": ("Hello<|eot_", "Hello<|eot_"),
    "unknown": ("<|unknown_token|>Hi", "<|unknown_token|>Hi"),
    "with a blank": ("< |eot_id|>", "< |eot_id|>"),
    "much white space": (f"One{' ' * 5000}<|eot_id|>{' ' * 5000}{A}", "One"),
    "much white space, then prose": (f"One{' ' * 5000} <|eom_id|>two", f"One{' ' * 5000} <|eom_id|>two"),
}


@pytest.mark.parametrize(("text", "content"), EDGES.values(), ids=EDGES)
def test_tokens_at_the_edges(text: str, content: str | None):
    assert extract_in_every_chunking(text, is_sampled=len(text) > 1000).content == content


UNTOUCHED = [
    *("", " ", "\n", "x", " x ", "x\n\n", "\n\n x", '{"a": 1}', "`` ` ```", "<tool>", "<|eot_id", "{", "[", "<", "; ,"),
    *(
        "f(x) is a function.",
        "[f",
        "f",
        "f\n",
        "- `f`",
        "> quoted",
        "<function=>",
        "Result of f: 5",
        "|a|b|",
        "f(x) = {x}",
    ),
    *("<think>Hm.</think> Hi", "a\r\nb\r\n", "\u2028\u00a0x\u3000", "\ufeffx\x00", "; one; {two}, [three]; "),
    *(
        '{"city": "Paris"}; {"city": "Rome"}, ',
        'He said: "use {braces}; and \\"quotes\\""',
        "a { b } c [ d ] \" e \\ f ' g",
    ),
]


@pytest.mark.parametrize("text", UNTOUCHED, ids=ascii)
def test_without_a_call_the_content_is_the_output(text: str):
    for options in ({}, {"tools": [*TOOLS, tool("code_interpreter")]}, {"formats": "all"}, {"formats": "none"}):
        extraction = extract_in_every_chunking(text, is_sampled=True, **options)
        assert (extraction.content, called(extraction)) == (text, "")


@pytest.mark.parametrize("length", [*range(496, 528, 5), 1500, 3584, 100_000])
def test_a_call_is_found_after_prose_of_any_length(length: int):
    extractor = Extractor(tools=TOOLS)
    for call in (A.replace('"a"', '"g"'), "<function=g>{}</function>", "[g(a=1)]", "```json\n[g()]\n```", "g(a=1)\n"):
        text = f"{'x' * length}\n{call}"
        extraction = extractor.extract(text)
        assert (called(extraction), extraction.content) == ("g", "x" * length)
        stream = extractor.stream()
        for chunk in (text[: length + 3], text[length + 3 :]):
            stream.feed(chunk)
        stream.flush()
        assert stream.extraction == extraction


def test_text_without_a_call_is_one_delta():
    assert Extractor().stream().feed("Hello {you} and [1].") == [TextDelta("Hello {you} and [1].")]
