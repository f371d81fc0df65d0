"""An output in segments: each character once, each with what became of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments import READINGS
from llama3_tools import Extractor
from llama3_tools.output.segments import Segment, SegmentKind, read_segments

CALL = '{"name": "f", "parameters": {}}'
USER = "<|start_header_id|>user<|end_header_id|>"
TEXT, CALLED, REMOVED = SegmentKind.TEXT, SegmentKind.CALL, SegmentKind.REMOVED
REJECTED, QUOTED = SegmentKind.REJECTED, SegmentKind.QUOTED

CASES = [
    ("Hello.\n", [(TEXT, "Hello.\n")]),
    ("", []),
    (CALL, [(CALLED, CALL)]),
    (f"Hm. {CALL}\nDone.", [(TEXT, "Hm."), (REMOVED, " "), (CALLED, CALL), (REMOVED, "\n"), (TEXT, "Done.")]),
    (f"{CALL}; ,\n{CALL}", [(CALLED, CALL), (REMOVED, "; ,\n"), (CALLED, CALL)]),
    (f"{CALL}, a", [(CALLED, CALL), (TEXT, ", a")]),
    (f"[{CALL}, {CALL}]", [(REMOVED, "["), (CALLED, CALL), (REMOVED, ", "), (CALLED, CALL), (REMOVED, "]")]),
    (f"```json\n{CALL}\n```", [(REMOVED, "```json\n"), (CALLED, CALL), (REMOVED, "\n```")]),
    (
        f"<|python_tag|>{CALL}<|eom_id|> ",
        [(REMOVED, "<|python_tag|>"), (CALLED, CALL), (REMOVED, "<|eom_id|> ")],
    ),
    (
        "<|start_header_id|>assistant<|end_header_id|>\n\nA <|eot_id|> ends it.<|eot_id|>",
        [
            (REMOVED, "<|start_header_id|>assistant<|end_header_id|>"),
            (TEXT, "\n\nA <|eot_id|> ends it."),
            (REMOVED, "<|eot_id|>"),
        ],
    ),
    (
        f'{{"message": "Sure.", "tool_call": {CALL}}}',
        [(REMOVED, '{"message": "Sure.", "tool_call": '), (CALLED, CALL), (REMOVED, "}")],
    ),
    (
        f'{{"name": "f", "parameters": {{oops}}}} {CALL}',
        [(REJECTED, '{"name": "f", "parameters": {'), (TEXT, "oops}}"), (REMOVED, " "), (CALLED, CALL)],
    ),
    (
        f"<think>{CALL}?</think> Ah: {CALL}",
        [
            (QUOTED, "<think>"),
            (REJECTED, CALL),
            (QUOTED, "?</think>"),
            (TEXT, " Ah:"),
            (REMOVED, " "),
            (CALLED, CALL),
        ],
    ),
    (
        f"Try:\n```python\nrun({CALL})\n```",
        [(TEXT, "Try:\n```python\n"), (QUOTED, "run("), (REJECTED, CALL), (QUOTED, ")\n```")],
    ),
    (f"`````js\n{CALL}\n`````", [(REMOVED, "`````js\n"), (CALLED, CALL), (REMOVED, "\n`````")]),
    (f"<!-- {CALL} --> Ah.", [(REMOVED, "<!-- "), (CALLED, CALL), (REMOVED, " --> "), (TEXT, "Ah.")]),
    (f'{CALL} ["<|eot_id|>', [(CALLED, CALL), (REMOVED, " "), (TEXT, '["'), (REMOVED, "<|eot_id|>")]),
    (f"Write `{CALL}`.", [(TEXT, "Write `"), (REJECTED, CALL), (TEXT, "`.")]),
    (f"{CALL}{USER}\n{CALL}", [(CALLED, CALL), (REMOVED, f"{USER}\n"), (REJECTED, CALL)]),
]


def kinds(text: str, extractor: Extractor, *, complete: bool = True) -> list[tuple[SegmentKind, str]]:
    return [(segment.kind, segment.text) for segment in read_segments(extractor, text, complete=complete).segments]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_each_segment_says_what_became_of_it(text: str, expected: list[tuple[SegmentKind, str]]) -> None:
    assert kinds(text, Extractor()) == expected
    check(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|eot_id|></think>Ah.<|eot_id|>", [(QUOTED, "<|eot_id|></think>"), (TEXT, "Ah."), (REMOVED, "<|eot_id|>")]),
        ("<|eot_id|>", [(QUOTED, "<|eot_id|>")]),
    ],
)
def test_a_token_in_a_thought_with_which_the_output_begins_stays(
    text: str, expected: list[tuple[SegmentKind, str]]
) -> None:
    assert kinds(text, Extractor(starts_reasoning=True)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"of {CALL}?</think>\nHi.", [(QUOTED, "of"), (REJECTED, CALL), (QUOTED, "?")]),
        (f"of <think>{CALL}", [(QUOTED, "of <think>"), (REJECTED, CALL)]),
        (f"Hm.</think>{CALL}", [(QUOTED, "Hm."), (CALLED, CALL)]),
    ],
)
@pytest.mark.parametrize("split_reasoning", [False, True])
def test_thoughts_that_the_prompt_has_opened_stand_in_their_place(
    text: str, expected: list[tuple[SegmentKind, str]], *, split_reasoning: bool
) -> None:
    found = kinds(text, Extractor(starts_reasoning=True, split_reasoning=split_reasoning))
    shown = [(kind, text.removesuffix("</think>").rstrip()) for kind, text in found if kind not in {TEXT, REMOVED}]
    assert shown == expected
    assert "".join(text for _, text in found) == text


def test_what_a_thought_that_is_split_off_does_not_quote_is_called() -> None:
    output = read_segments(Extractor(split_reasoning=True), f"<think>a ` b</think> {CALL} ` c")
    assert [(segment.kind, segment.text) for segment in output.segments] == [
        *((REMOVED, "<think>"), (QUOTED, "a ` b"), (REMOVED, "</think> ")),
        (CALLED, CALL),
        (REMOVED, " "),
        (TEXT, "` c"),
    ]
    assert (output.extraction.reasoning, output.extraction.content) == ("a ` b", "` c")


def test_an_output_that_a_limit_ended_is_cut_as_it_is_read() -> None:
    text = "<|python_tag|>print(1)"
    extractor = Extractor(tools=[{"name": "code_interpreter"}])
    assert kinds(text, extractor) == [(REMOVED, "<|python_tag|>"), (CALLED, "print(1)")]
    assert kinds(text, extractor, complete=False) == [(REMOVED, "<|python_tag|>"), (REJECTED, "print(1)")]


def content_of(segments: tuple[Segment, ...]) -> str | None:
    """The content by principle 2: what is text, each stretch of it stripped, the stretches joined by one space."""
    if all(segment.kind is not CALLED for segment in segments):
        return "".join(segment.text for segment in segments if segment.kind is not REMOVED)
    stretches = [""]
    for segment in segments:
        if segment.kind in {CALLED, REMOVED}:
            stretches.append("")
        else:
            stretches[-1] += segment.text
    return " ".join(stretch.strip() for stretch in stretches if stretch.strip()) or None


def check(text: str, extractor: Extractor = READINGS["default"]) -> None:
    output = read_segments(extractor, text)
    segments = output.segments
    assert "".join(segment.text for segment in segments) == text
    assert "" not in [segment.text for segment in segments]
    spans = [call.span for call in output.extraction.tool_calls]
    called = [(segment.index, segment.text) for segment in segments if segment.kind is CALLED]
    assert called == [(index, text[start:end]) for index, (start, end) in enumerate(spans)]
    rejected = {segment.index for segment in segments if segment.kind is REJECTED}
    assert rejected == set(range(len(output.extraction.rejections)))
    assert {segment.index for segment in segments if segment.kind not in {CALLED, REJECTED}} <= {None}
    begins, splits = (extractor.extract(thought).reasoning is not None for thought in ("Hm.", "<think>Hm."))
    has_envelope = any(call.format == "envelope" for call in output.extraction.tool_calls) or '"tool_call' in text
    has_odd_edge = (REJECTED, "<|python_tag|>") in [(segment.kind, segment.text) for segment in segments]
    if not (has_envelope or has_odd_edge or begins or (splits and "think>" in text)):
        assert (content_of(segments) or "").strip() == (output.extraction.content or "").strip()


FRAGMENTS = [
    CALL, "[", f"[{CALL}]", '{"name": "f", "parameters": {"a', "{", '"', "}", ";", ",", " ", "\n", "a",
    "<tool_call>", "</tool_call>", "```json\n", "```sh\n", "~~~\n", "<think>", "</think>", "\n```", "`",
    "<|python_tag|>", "<|eot_id|>", "<|start_header_id|>x<|end_header_id|>", f"{USER}\n", "<|im_start|>user\n",
    "<|python_start|>", "<|python_end|>", '"f"', "g()",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.sampled_from(list(READINGS)))
@settings(max_examples=400)
def test_the_segments_of_any_output_are_the_output_and_its_content(text: str, reading: str) -> None:
    check(text, READINGS[reading])


@pytest.mark.parametrize(
    "run", [" ", "<|eot_id|>", "<|eot_id|> ", "<|im_start|>\n", f"{USER}\n<|eom|>", CALL, '{"name": ']
)
def test_long_runs_are_cut_in_linear_time(run: str) -> None:
    """A quadratic cut of these would take minutes."""
    check(f"a{run * 20_000}")
    check(f"{CALL}{run * 20_000}x{CALL}")
