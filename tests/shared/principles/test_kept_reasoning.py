"""Kept beside the principles: reasoning that is split off, and output that begins inside it."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking, read
from llama3_tools import Extractor, ReasoningDelta, TextDelta, ToolCallReady
from told import CLOCK, called

SPLIT: dict[str, tuple[str, str | None, str | None, int]] = {
    "before text": ("<think>Hm.</think>Paris.", "Hm.", "Paris.", 0),
    "white space around": ("<think>\n Hm,\n  well.\n</think>\n\nParis.\n", "Hm,\n  well.", "Paris.", 0),
    "a call in thoughts": (f"<think>{CLOCK}</think>\n\n{CLOCK}", CLOCK, None, 1),
    "text before the call": (f"<think>So.</think>\nNow. {CLOCK} Done.", "So.", "Now. Done.", 1),
    "two beside a call": (f"<think>One.</think> 1 {CLOCK}<think>\nTwo.</think>; 2", "One.\n\nTwo.", "1 ; 2", 1),
    "between two calls": (f"{CLOCK}<think>Hm.</think>, {CLOCK}", "Hm.", None, 2),
    "a comma before, text after": (f"{CLOCK}, <think>Hm.</think> then", "Hm.", ", then", 1),
    "in a line": ("First <think>Hm.</think> then.", "Hm.", "First then.", 0),
    "without blanks": ("First<think>Hm.</think>then.", "Hm.", "First then.", 0),
    "after a line": ("First,\n<think>Hm.</think>", "Hm.", "First,", 0),
    "empty": ("<think></think>Paris.", None, "Paris.", 0),
    "several, one blank": ("<think>One.</think><think> </think><think>Two.</think>", "One.\n\nTwo.", None, 0),
    "cut off": ("<think>Cut off in thoug", "Cut off in thoug", None, 0),
    "cut off in the tag": ("<think>Cut off.</thi", "Cut off.</thi", None, 0),
    "a bracket at its end": ("<think>1 <</think>Paris.", "1 <", "Paris.", 0),
    "an opening tag in it": ("<think>a <think> b</think>c", "a <think> b", "c", 0),
    "another tag": ("<reasoning>Hm.</reasoning>Paris.", "Hm.", "Paris.", 0),
    "its tag in a code span": ("Say `<think>` to think.", None, "Say `<think>` to think.", 0),
    "a closing tag alone": ("No thought. </think>", None, "No thought. </think>", 0),
    "a backtick in it": (f"<think>a ` b</think> {CLOCK} c", "a ` b", "c", 1),
    "none, in white space": ("  Paris. ", None, "  Paris. ", 0),
    "in a fence of code": ("```\nx = '<think>y</think>'\n```", None, "```\nx = '<think>y</think>'\n```", 0),
}


@pytest.mark.parametrize(("text", "reasoning", "content", "calls"), SPLIT.values(), ids=SPLIT)
def test_reasoning_is_split_off(text: str, reasoning: str | None, content: str | None, calls: int):
    extraction = extract_in_every_chunking(text, split_reasoning=True)
    assert (extraction.reasoning, extraction.content) == (reasoning, content)
    assert len(extraction.tool_calls) == calls
    kept = extract_in_every_chunking(text, is_sampled=True)
    assert (kept.reasoning, len(kept.tool_calls)) == (None, calls)


ENVELOPES: dict[str, tuple[str, str | None, str | None, str]] = {
    "a thought and a call": (f'{{"thought": "Hm.", "tool_calls": [{CLOCK}]}}', "Hm.", None, "clock"),
    "a thought alone": ('{"thought": "Hm.", "tool_calls": []}', "Hm.", None, ""),
    "a thought after the call": (f'{{"tool_calls": [{CLOCK}], "thought": "Hm."}}', "Hm.", None, "clock"),
    "an escape": (f'{{"thought": "\\u00e9", "tool_calls": [{CLOCK}]}}', "é", None, "clock"),
    "a message": (f'{{"message": "Hi", "tool_calls": [{CLOCK}]}}', None, "Hi", "clock"),
    "text around": (f'One {{"thought": "Hm.", "tool_calls": [{CLOCK}]}} two', "Hm.", "One two", "clock"),
}


@pytest.mark.parametrize(("text", "reasoning", "content", "names"), ENVELOPES.values(), ids=ENVELOPES)
def test_an_envelopes_thought_is_reasoning(text: str, reasoning: str | None, content: str | None, names: str):
    extraction = extract_in_every_chunking(text, split_reasoning=True)
    assert (extraction.reasoning, extraction.content, called(extraction)) == (reasoning, content, names)
    assert extract_in_every_chunking(text, is_sampled=True).reasoning is None


@pytest.mark.parametrize(
    ("text", "reasoning", "content"),
    [
        (f"Use {CLOCK}.\n</think>\n\n{CLOCK} Done.", f"Use {CLOCK}.", "Done."),
        (f"\n<think>\nUse {CLOCK}.</think>{CLOCK} Done.", f"<think>\nUse {CLOCK}.", "Done."),
        (f"</think>{CLOCK}Done.", None, "Done."),
        (f"{' ' * 300}Is it {CLOCK}? </think>{CLOCK} No.", f"Is it {CLOCK}?", "No."),
    ],
)
def test_an_output_can_begin_inside_reasoning(text: str, reasoning: str | None, content: str):
    apart = extract_in_every_chunking(text, split_reasoning=True, starts_reasoning=True)
    assert (apart.reasoning, apart.content, len(apart.tool_calls)) == (reasoning, content, 1)
    kept = extract_in_every_chunking(text, starts_reasoning=True)
    assert (kept.reasoning, called(kept)) == (None, "clock")


@pytest.mark.parametrize("text", ["", "Hm, I could", "Hm, I could <", " \n ", "<thi"])
def test_reasoning_that_never_ends_is_all_there_is(text: str):
    apart = extract_in_every_chunking(text, split_reasoning=True, starts_reasoning=True)
    assert (apart.reasoning, apart.content) == (text.strip() or None, None)
    assert extract_in_every_chunking(text, starts_reasoning=True).content == text


def test_reasoning_flows_and_comes_in_its_order():
    stream = Extractor(split_reasoning=True).stream()
    assert stream.feed("<thi") == []
    assert stream.feed("nk>\nHm, 1 <") == [ReasoningDelta("Hm, 1")]
    assert stream.feed(" 2") == [ReasoningDelta(" < 2")]
    assert stream.feed(".</think>\n\nP") == [ReasoningDelta("."), TextDelta("P")]
    flow, _ = read([f"One <think>two</think> three {CLOCK} four"], Extractor(split_reasoning=True))
    assert [part if isinstance(part, str) else getattr(part, "text", None) for part in flow] == [
        *("One", "two", " three", None, " four")
    ]
    events = Extractor(split_reasoning=True).stream().feed(f"<think>Hm.</think>{CLOCK}")
    assert [type(event) for event in events] == [ReasoningDelta, ToolCallReady]
