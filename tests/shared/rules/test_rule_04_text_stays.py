"""Rule 4: text before, between and after calls is the content, segment by segment."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor

A, B = '{"name": "a", "parameters": {}}', '{"name": "b", "parameters": {}}'


@pytest.mark.parametrize(
    ("text", "content"),
    [
        pytest.param(f"One {A}", "One", id="before"),
        pytest.param(f"{A} two", "two", id="after"),
        pytest.param(f"{A} two {B}", "two", id="between"),
        pytest.param(f"One {A} two", "One two", id="around"),
        pytest.param(f"One {A} {B} two {A} three", "One two three", id="around several"),
        pytest.param(f"One{A}two", "One two", id="without space"),
        pytest.param(f"One\n\n{A}\n\ntwo", "One two", id="paragraphs"),
        pytest.param(f"  One  two\n three  {A}  four\tfive ", "One  two\n three four\tfive", id="space inside stays"),
        pytest.param(f"\u2003One\u00a0{A}\u2003two\u2028", "One two", id="space of all kinds at the ends"),
        pytest.param(f'"A {A}"', '"A "', id="quotation marks"),
        pytest.param(
            f"é 你好 \U0001f600 {A} \\n &amp; <b>", "é 你好 \U0001f600 \\n &amp; <b>", id="characters of all kinds"
        ),
        pytest.param(f" \n{A}\t ", None, id="white space alone"),
        pytest.param(f"{A}\n\n{B}", None, id="white space between"),
        pytest.param(f"First <tool_call>{A}</tool_call> then [{B}] last", "First then last", id="around wrappers"),
    ],
)
def test_each_segment_is_stripped_and_the_segments_are_joined_by_one_space(text: str, content: str | None):
    assert extract_in_every_chunking(text).content == content


@pytest.mark.parametrize(
    "prose",
    [
        *("It's 5 < 6, and {x} or [1].", "| a | b |\n|---|---|", "# Title\n\n- one\n  - two", "<b>bold</b> & co."),
        *("f(x) = {x: 1}", "C:\\path\\to", "a; b, c;", '"Quoted", he said', "```js\nlet a = [1];\n```", "`x` and *y*"),
    ],
)
def test_prose_around_a_call_is_not_touched(prose: str):
    assert extract_in_every_chunking(f"{prose}\n\n{A}").content == prose
    assert extract_in_every_chunking(f"{A}\n\n{prose}").content == prose


SPACE = " " * 5000


@pytest.mark.parametrize(
    ("after", "content"),
    [
        pytest.param("", f"One{SPACE}{SPACE}", id="the end"),
        pytest.param(" <|eom_id|>two", f"One{SPACE}<|eot_id|>{SPACE} <|eom_id|>two", id="prose"),
        pytest.param(A, "One", id="a call"),
    ],
)
def test_white_space_and_tokens_of_any_length_are_held_back(after: str, content: str):
    assert extract_in_every_chunking(f"One{SPACE}<|eot_id|>{SPACE}{after}", is_sampled=True).content == content


LONG_NAME = "f" * 40


@pytest.mark.parametrize("length", [*range(496, 528, 3), *range(1480, 1560, 19), 3584, 10_000, 100_000])
@pytest.mark.parametrize(
    "call",
    [
        *('{"name": "f", "parameters": {}}', "<function=f>{}</function>", "[f(a=1)]", "```json\n[f()]\n```"),
        *("\nf(a=1)\n", f"\n{LONG_NAME}(a=1)\n"),
    ],
    ids=ascii,
)
def test_a_call_is_found_after_prose_of_any_length(length: int, call: str):
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
