"""What happens to the text around calls: rules 3, 4, 5 and 10."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor

A, B = '{"name": "a", "parameters": {}}', '{"name": "b", "parameters": {}}'
HEADER = "<|start_header_id|>assistant<|end_header_id|>"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"{A}; {B}", None),
        (f"{A};{B}", None),
        (f"{A} ; \n {B}", None),
        (f"{A}, {B}", None),
        (f"{A} ,;, ; {B}", None),
        (f"{A};", None),
        (f"{A} ; ", None),
        (f"{A}; Done", "Done"),
        (f"{A};Done; or not", "Done; or not"),
        (f"{A};; Done", "; Done"),
        (f"{A}, Done", ", Done"),
        (f"{A}; , Done", ", Done"),
        (f"{A},", ","),
        (f"{A}; ,  ", ","),
        (f"One {A}, ; ", "One , ;"),
        (f"; {A}", ";"),
        (f"One; {A}", "One;"),
        (f"One, {A}, {B}, two", "One, , two"),
        (f"{A} x; {B}; y", "x; y"),
        (f'{A}; {{"a": 1}}', '{"a": 1}'),
        (f'{A}, {{"a": 1}}', ', {"a": 1}'),
        (f"{A}; [1]; {B}", "[1];"),
    ],
)
def test_rule_3_delimiters_go(text: str, content: str | None):
    assert extract_in_every_chunking(text).content == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"One {A} two", "One two"),
        (f"One\n\n{A}\n\ntwo", "One two"),
        (f"One{A}two", "One two"),
        (f"{A} two {B}", "two"),
        (f"  One  two\n three  {A}  four\tfive ", "One  two\n three four\tfive"),
        (f"One {A} {B} two {A} three", "One two three"),
        (f"\u2003One\u00a0{A}\u2003two\u2028", "One two"),
        (f'"A {A}"', '"A "'),
        (f"é 你好 \U0001f600 {A} \\n &amp; <b>", "é 你好 \U0001f600 \\n &amp; <b>"),
        (f" \n{A}\t ", None),
    ],
)
def test_rule_4_text_stays_each_segment_stripped_and_joined_by_one_space(text: str, content: str | None):
    assert extract_in_every_chunking(text).content == content


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "x", " x ", "x\n\n", '{"a": 1}', "`` ` ```", "<tool>", "<|eot_id", "{", "[", "<", "; ,"]
)
def test_rule_5_without_a_call_nothing_is_touched(text: str):
    extraction = extract_in_every_chunking(text)
    assert extraction.content == text
    assert not extraction.tools_called


TOKENS = [
    "<|python_tag|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|begin_of_text|>",
    "<|end_of_text|>",
    HEADER,
    "<|python_start|>",
    "<|python_end|>",
    "<|eot|>",
    "<|eom|>",
    "<|header_start|>assistant<|header_end|>",
    "<|finetune_right_pad_id|>",
]


@pytest.mark.parametrize("token", TOKENS)
def test_rule_10_each_protocol_token_goes_at_the_edges_and_next_to_a_call_and_stays_in_prose(token: str):
    assert extract_in_every_chunking(f"{token}Hello").content == "Hello"
    assert extract_in_every_chunking(f"Hello{token}").content == "Hello"
    assert extract_in_every_chunking(f"One {A} {token} two").content == "One two"
    assert extract_in_every_chunking(f"The {token} token").content == f"The {token} token"
    if token != "<|python_start|>":  # it waits for its other half
        assert extract_in_every_chunking(f"One {token}{A}").content == "One"
    written = f'{{"name": "f", "parameters": {{"text": "{token}"}}}}'
    (call,) = extract_in_every_chunking(written).tool_calls
    assert call.arguments == {"text": token}


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"<|begin_of_text|>{HEADER}\n\nHello<|eot_id|>", "\n\nHello"),
        (f"<|begin_of_text|>{HEADER}\n\n{A}<|eom_id|>", None),
        (f"{HEADER}\n\nOne {A}<|eom_id|>{HEADER}\n\n{B}<|eot_id|>", "One"),
        (f"One <|eot_id|>\n<|python_tag|> {A}", "One"),
        (f"{A}<|eom_id|>; two", "two"),
        (f"{A}; <|eom_id|> two", "two"),
        (f"{A}, <|eom_id|> two", ", <|eom_id|> two"),
        (f"{A}, <|eot_id|>", ","),
        ("Hello <|eot_id|>", "Hello "),
        ("Hello<|eot_id|>\n<|eot_id|>", "Hello\n"),
        ("<|eot_id|>", ""),
        (" <|eot_id|> ", "  "),
        ("One <|eot_id|> two <|eot_id|>", "One <|eot_id|> two "),
        ('<|python_tag|>{"message": "Hello World!"}', '{"message": "Hello World!"}'),
        ('<|python_tag|>{"type": "message", "text": "Hi"}<|eom_id|>', '{"type": "message", "text": "Hi"}'),
        ("<|start_header_id|>assistant", "<|start_header_id|>assistant"),
        (f"<|start_header_id|>{'x' * 33}<|end_header_id|>Hi", f"<|start_header_id|>{'x' * 33}<|end_header_id|>Hi"),
        ("<|unknown_token|>Hi", "<|unknown_token|>Hi"),
        (f"<|python_start|>{A}<|python_end|> two", "two"),
        ("<|python_start|>Hello<|python_end|>", "Hello"),
    ],
)
def test_rule_10_protocol_tokens_at_the_edges(text: str, content: str | None):
    assert extract_in_every_chunking(text).content == content


SPACE = " " * 5000
LONG_NAME = "f" * 40


@pytest.mark.parametrize(
    ("behind", "content"),
    [
        ("", f"One{SPACE}{SPACE}"),
        (" <|eom_id|>two", f"One{SPACE}<|eot_id|>{SPACE} <|eom_id|>two"),
        (f"{A}", "One"),
    ],
)
def test_white_space_and_tokens_of_any_length_are_held_back(behind: str, content: str):
    assert extract_in_every_chunking(f"One{SPACE}<|eot_id|>{SPACE}{behind}").content == content


@pytest.mark.parametrize("length", [*range(480, 560), *range(1480, 1560, 7), 3584, 10_000, 100_000])
@pytest.mark.parametrize(
    "call",
    [
        *('{"name": "f", "parameters": {}}', "<function=f>{}</function>", "[f(a=1)]", "~~~\n[f()]\n~~~"),
        *("\nf(a=1)\n", f"\n{LONG_NAME}(a=1)\n"),
    ],
)
def test_a_call_is_found_behind_prose_of_any_length(length: int, call: str):
    """Long text is searched in steps, and a call can begin at the end of one."""
    parameters = {"type": "object", "properties": {"a": {}}}
    extractor = Extractor(tools=[{"name": name, "parameters": parameters} for name in ("f", LONG_NAME)])
    text = f"{'x' * length}\n{call}"
    extraction = extractor.extract(text)
    assert [found.name for found in extraction.tool_calls] == [LONG_NAME if LONG_NAME in call else "f"]
    assert extraction.content == "x" * length
    stream = extractor.stream()
    cut = len(text) - len(call) + 2
    stream.feed(text[:cut])
    stream.feed(text[cut:])
    stream.flush()
    assert stream.extraction == extraction
