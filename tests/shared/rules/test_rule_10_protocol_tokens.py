"""Rule 10: protocol tokens go at the edges and next to a call. In prose they are prose, in strings data."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking

A, B = '{"name": "a", "parameters": {}}', '{"name": "b", "parameters": {}}'
HEADER = "<|start_header_id|>assistant<|end_header_id|>"

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
    "<|end_header_id|>",
    "<|im_start|>",
    "<|im_start|>assistant\n",
    "<|im_end|>",
    "<|endoftext|>",
]
tokens = pytest.mark.parametrize("token", TOKENS, ids=ascii)


@tokens
@pytest.mark.parametrize(
    ("before", "after", "content"),
    [
        pytest.param("", "Hello", "Hello", id="at the start"),
        pytest.param("Hello", "", "Hello", id="at the end"),
        pytest.param("", "", "", id="alone"),
        pytest.param("One ", A, "One", id="before a call"),
        pytest.param(f"One {A} ", " two", "One two", id="after a call"),
        pytest.param(f"{A} ", f" {B}", None, id="between calls"),
    ],
)
def test_it_goes(token: str, before: str, after: str, content: str | None):
    assert extract_in_every_chunking(f"{before}{token}{after}", is_sampled=True).content == content


@tokens
def test_in_prose_it_is_prose(token: str):
    assert extract_in_every_chunking(f"The {token} token").content == f"The {token} token"


@tokens
def test_in_a_string_it_is_data(token: str):
    written = f'{{"name": "f", "parameters": {{"text": "{token.strip()}"}}}}'
    (call,) = extract_in_every_chunking(written).tool_calls
    assert call.arguments == {"text": token.strip()}


@pytest.mark.parametrize(
    ("text", "content"),
    [
        pytest.param(f"<|begin_of_text|>{HEADER}\n\nHello<|eot_id|>", "\n\nHello", id="a whole turn"),
        pytest.param(f"<|begin_of_text|>{HEADER}\n\n{A}<|eom_id|>", None, id="a turn with a call"),
        pytest.param(f"{HEADER}\n\nOne {A}<|eom_id|>{HEADER}\n\n{B}<|eot_id|>", "One", id="two turns"),
        pytest.param(f"One <|eot_id|>\n<|python_tag|> {A}", "One", id="several before a call"),
        pytest.param(f"{A}<|eom_id|>; two", "two", id="before a delimiter"),
        pytest.param(f"{A}; <|eom_id|> two", "two", id="after a delimiter"),
        pytest.param(f"{A}, <|eot_id|>", None, id="after a comma"),
        pytest.param("Hello <|eot_id|>", "Hello ", id="after white space"),
        pytest.param("Hello<|eot_id|>\n<|eot_id|>", "Hello\n", id="several at the end"),
        pytest.param(" <|eot_id|> ", "  ", id="in white space"),
        pytest.param("One <|eot_id|> two <|eot_id|>", "One <|eot_id|> two ", id="in prose and at its end"),
        pytest.param('<|python_tag|>{"a": "Hello"}', '{"a": "Hello"}', id="before an object that is no call"),
        pytest.param("<|im_start|>assistant\nHello<|im_end|>\n", "Hello\n", id="ChatML"),
        pytest.param(f"<|python_start|>{A}<|python_end|> two", "two", id="Llama 4's around a call"),
        pytest.param("<|python_start|>Hello<|python_end|>", "Hello", id="Llama 4's around prose"),
    ],
)
def test_tokens_at_the_edges(text: str, content: str | None):
    assert extract_in_every_chunking(text).content == content


@pytest.mark.parametrize(
    "text",
    [
        "<|start_header_id|>assistant",
        f"<|start_header_id|>{'x' * 33}<|end_header_id|>Hi",
        "<|unknown_token|>Hi",
        "<|eot_id",
        "Hello<|eot_",
        "< |eot_id|>",
        "<|EOT_ID|>",
    ],
)
def test_what_only_looks_like_a_token_stays(text: str):
    assert extract_in_every_chunking(text).content == text


def test_a_line_begins_anew_after_tokens_in_a_row():
    text = f") <|im_start|>assistant\n<|start_header_id|>assistant<|end_header_id|>> {A}"
    extraction = extract_in_every_chunking(text)
    assert [str(rejection.reason) for rejection in extraction.rejections] == ["quoted"]
