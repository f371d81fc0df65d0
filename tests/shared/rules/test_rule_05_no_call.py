"""Rule 5: without a call the content is the output, character for character."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, extract

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}, {"name": "code_interpreter"}]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "\n",
            "x",
            " x ",
            "x\n\n",
            "\n\n x",
            '{"a": 1}',
            "`` ` ```",
            "<tool>",
            "<|eot_id",
            "{",
            "[",
            "<",
            "; ,",
        ),
        *(
            "f(x) is a function.",
            "[f",
            "f",
            "f\n",
            "```json\n{}\n```",
            "<tool_call></tool_call>",
            "<tool_call>Hi</tool_call>",
        ),
        *("**bold**", "`code`", "- `f`", "> quoted", "[1, 2]", "[]", "<function=f", "<function=>", "functools", ">>>"),
        *("Result of f: 5", "<think>Hm.</think> Hi", "|a|b|", "a\r\nb\r\n", "\u2028\u00a0x\u3000", "\ufeffx\x00"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize(
    "options", [{}, {"tools": TOOLS}, {"formats": "all", "lenient": True}], ids=["default", "tools", "all"]
)
def test_nothing_is_touched(text: str, options: dict[str, object]):
    extraction = extract_in_every_chunking(text, **options)
    assert extraction.content == text
    assert (extraction.tool_calls, extraction.reasoning) == ((), None)


def test_an_empty_output_has_empty_content():
    assert extract("").content == ""


def test_without_formats_nothing_is_a_call():
    text = '{"name": "f", "parameters": {}} <tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert extract_in_every_chunking(text, formats="none").content == text


def test_reasoning_is_split_off_without_a_call_too():
    extraction = extract_in_every_chunking("<think>Hm.</think>\n\nHello.", split_reasoning=True)
    assert (extraction.content, extraction.reasoning) == ("Hello.", "Hm.")


def test_a_text_without_a_call_is_one_delta():
    assert Extractor().stream().feed("Hello {you} and [1].") == [TextDelta("Hello {you} and [1].")]
