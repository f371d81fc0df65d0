"""Rule 9: reasoning that is split off, and output that begins inside it."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking, read
from llama3_tools import Extractor, ReasoningDelta, TextDelta, ToolCallReady

A = '{"name": "a", "parameters": {}}'


@pytest.mark.parametrize(
    ("text", "reasoning", "content", "names"),
    [
        pytest.param("<think>Hm.</think>Paris.", "Hm.", "Paris.", "", id="before text"),
        pytest.param(
            "<think>\n Hm,\n  well.\n</think>\n\nParis.\n", "Hm,\n  well.", "Paris.", "", id="white space around"
        ),
        pytest.param(f"<think>{A}</think>\n\n{A}", A, None, "a", id="a call in thoughts"),
        pytest.param(f"<think>Use a.</think>\nNow. {A} Done.", "Use a.", "Now. Done.", "a", id="text before the call"),
        pytest.param(
            f"<think>One.</think> 1 {A}<think>\nTwo.</think>; 2",
            "One.\n\nTwo.",
            "1 2",
            "a",
            id="two thoughts beside a call",
        ),
        pytest.param(f"{A}<think>Hm.</think>, {A}", "Hm.", None, "aa", id="between two calls"),
        pytest.param(f"{A}, <think>Hm.</think> ; {A}", "Hm.", None, "aa", id="between two calls and delimiters"),
        pytest.param(f"{A}, <think>Hm.</think> then", "Hm.", ", then", "a", id="a comma before and text after"),
        pytest.param(f"{A}; <think>Hm.</think>; then", "Hm.", "; then", "a", id="semicolons around and text after"),
        pytest.param(f"{A}, <think>Hm.</think>", "Hm.", None, "a", id="after a comma at the end"),
        pytest.param(f"{A};;; <think>Hm.</think> then", "Hm.", ";; then", "a", id="semicolons before and text after"),
        pytest.param("One <|eot_id|> <think>Hm.</think> two", "Hm.", "One two", "", id="a token before"),
        pytest.param("One <think>Hm.</think> <|eot_id|> two", "Hm.", "One <|eot_id|> two", "", id="a token after"),
        pytest.param("First <think>Hm.</think> then.", "Hm.", "First then.", "", id="in a line"),
        pytest.param("First<think>Hm.</think>then.", "Hm.", "First then.", "", id="without blanks"),
        pytest.param("First,\n<think>Hm.</think>", "Hm.", "First,", "", id="after a line"),
        pytest.param("<|eot_id|> <think>Hm.</think><|eot_id|> Paris.", "Hm.", "Paris.", "", id="between tokens"),
        pytest.param("<think></think>Paris.", None, "Paris.", "", id="empty"),
        pytest.param("<think> \n </think>\n", None, None, "", id="blank"),
        pytest.param(
            "<think>One.</think><think> </think><think>Two.</think>",
            "One.\n\nTwo.",
            None,
            "",
            id="several, one of them blank",
        ),
        pytest.param("<think>Cut off in thoug", "Cut off in thoug", None, "", id="cut off"),
        pytest.param(
            "<think>Cut off in the tag.</thi", "Cut off in the tag.</thi", None, "", id="cut off in the closing tag"
        ),
        pytest.param(
            "<think>1 < 2, </b> and </think",
            "1 < 2, </b> and </think",
            None,
            "",
            id="other tags, cut off in the closing tag",
        ),
        pytest.param("<think>1 <", "1 <", None, "", id="cut off after a bracket"),
        pytest.param("<think>1 <</think>Paris.", "1 <", "Paris.", "", id="a bracket at its end"),
        pytest.param("<think>a <think> b</think>c", "a <think> b", "c", "", id="an opening tag in it"),
        pytest.param("Say `<think>` to think.", None, "Say `<think>` to think.", "", id="its tag in a code span"),
        pytest.param("No thought. </think>", None, "No thought. </think>", "", id="a closing tag alone"),
        pytest.param(
            f"<tool_call><think>Hm.</think>{A}</tool_call>",
            "Hm.",
            "<tool_call> </tool_call>",
            "a",
            id="in a tag of a call",
        ),
        pytest.param("  Paris. ", None, "  Paris. ", "", id="none, in white space"),
    ],
)
def test_reasoning_is_split_off(text: str, reasoning: str | None, content: str | None, names: str):
    extraction = extract_in_every_chunking(text, split_reasoning=True)
    assert extraction.reasoning == reasoning
    assert extraction.content == content
    assert "".join(call.name for call in extraction.tool_calls) == names


@pytest.mark.parametrize(
    ("text", "reasoning", "content"),
    [
        pytest.param(
            f"Use {A}.\n</think>\n\n{A} Done.", f"Use {A}.", "Done.", id="a call in thoughts and one after them"
        ),
        pytest.param(
            f"\n<think>\nUse {A}.</think>{A} Done.", f"Use {A}.", "Done.", id="thoughts that are opened again"
        ),
        pytest.param(f"</think>{A}Done.", None, "Done.", id="no thoughts"),
    ],
)
def test_an_output_can_begin_inside_reasoning(text: str, reasoning: str | None, content: str):
    apart = extract_in_every_chunking(text, split_reasoning=True, starts_reasoning=True)
    assert (apart.reasoning, apart.content, len(apart.tool_calls)) == (reasoning, content, 1)
    kept = extract_in_every_chunking(text, starts_reasoning=True)
    assert (kept.reasoning, len(kept.tool_calls)) == (None, 1)
    thought = text[: text.index("</think>")]
    assert kept.content == f"{thought}</think> Done.".lstrip()


@pytest.mark.parametrize("text", ["", "Hm, I could", "Hm, I could <", " \n ", "<thi"])
def test_reasoning_that_never_ends_is_all_there_is(text: str):
    apart = extract_in_every_chunking(text, split_reasoning=True, starts_reasoning=True)
    assert apart.reasoning == (text.strip() or None)
    assert apart.content is None
    assert extract_in_every_chunking(text, starts_reasoning=True).content == text


def test_reasoning_flows():
    stream = Extractor(split_reasoning=True).stream()
    assert stream.feed("<thi") == []
    assert stream.feed("nk>\nHm, 1 <") == [ReasoningDelta("Hm, 1")]
    assert stream.feed(" 2") == [ReasoningDelta(" < 2")]
    assert stream.feed(".</think>\n\nP") == [ReasoningDelta("."), TextDelta("P")]


def test_reasoning_and_text_come_in_their_order():
    flow, _ = read([f"One <think>two</think> three {A} four"], Extractor(split_reasoning=True))
    text = [part if isinstance(part, str) else getattr(part, "text", None) for part in flow]
    assert text == ["One", "two", " three", None, " four"]
    events = Extractor(split_reasoning=True).stream().feed(f"<think>Hm.</think>{A}")
    assert [type(event) for event in events] == [ReasoningDelta, ToolCallReady]


def test_by_default_reasoning_stays_in_the_content():
    extraction = extract_in_every_chunking(f"<think>Hm.</think> {A}")
    assert (extraction.reasoning, extraction.content) == (None, "<think>Hm.</think>")
    assert repr(extract_in_every_chunking("<think>Hm.</think>", split_reasoning=True)) == (
        "Extraction(content=None, reasoning='Hm.')"
    )
