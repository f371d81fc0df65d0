"""An output in pieces: each character once, each with what became of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments import READINGS
from llama3_tools import Limits
from llama3_tools.stream.segments import Piece, PieceExtractor, PieceKind

CALL = '{"name": "f", "parameters": {}}'
USER = "<|start_header_id|>user<|end_header_id|>"
TEXT, CALLED, REMOVED = PieceKind.TEXT, PieceKind.CALL, PieceKind.REMOVED
REJECTED, QUOTED = PieceKind.REJECTED, PieceKind.QUOTED

CASES = [
    ("Hello.\n", [(TEXT, "Hello.\n")]),
    ("", []),
    (CALL, [(CALLED, CALL)]),
    (f"Hm. {CALL}\nDone.", [(TEXT, "Hm."), (REMOVED, " "), (CALLED, CALL), (REMOVED, "\n"), (TEXT, "Done.")]),
    (f"{CALL}; ,\n{CALL}", [(CALLED, CALL), (REMOVED, "; ,\n"), (CALLED, CALL)]),
    (f"{CALL}; a; b", [(CALLED, CALL), (REMOVED, "; "), (TEXT, "a; b")]),
    (f"{CALL}, ", [(CALLED, CALL), (TEXT, ","), (REMOVED, " ")]),
    (f"; {CALL}", [(TEXT, ";"), (REMOVED, " "), (CALLED, CALL)]),
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
        f"A <|start_header_id|>assistant<|end_header_id|> {CALL}",
        [(TEXT, "A"), (REMOVED, " <|start_header_id|>assistant<|end_header_id|> "), (CALLED, CALL)],
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
        [(QUOTED, f"<think>{CALL}?</think>"), (TEXT, " Ah:"), (REMOVED, " "), (CALLED, CALL)],
    ),
    (f"Try:\n```python\nrun({CALL})\n```", [(TEXT, "Try:\n"), (QUOTED, f"```python\nrun({CALL})\n```")]),
    (f"~~~js\n{CALL}\n~~~", [(QUOTED, f"~~~js\n{CALL}\n~~~")]),
    (f"`````js\n{CALL}\n`````", [(QUOTED, f"`````js\n{CALL}\n`````")]),
    (f"```json\n{CALL}\n````", [(REMOVED, "```json\n"), (CALLED, CALL), (REMOVED, "\n```"), (REMOVED, "`")]),
    (
        f"<|im_start|>user\n{CALL}\n<|im_end|><|im_start|>assistant\n{CALL}",
        [
            (REMOVED, "<|im_start|>user\n"),
            (QUOTED, CALL),
            (REMOVED, "\n<|im_end|><|im_start|>assistant\n"),
            (CALLED, CALL),
        ],
    ),
    (f"{USER}\n\n<|eom|>", [(REMOVED, f"{USER}\n\n<|eom|>")]),
    ("<!-->\n~~~\n<|eom|>", [(TEXT, "<!-->\n~~~\n"), (REMOVED, "<|eom|>")]),
    (f"<!-- {CALL} --> Ah.", [(QUOTED, f"<!-- {CALL} -->"), (TEXT, " Ah.")]),
    ("<think>Hm.</think> Ah.", [(TEXT, "<think>Hm.</think> Ah.")]),
    ('["<|eot_id|>', [(TEXT, '["<|eot_id|>')]),
    (f'{CALL} ["<|eot_id|>', [(CALLED, CALL), (REMOVED, " "), (TEXT, '["<|eot_id|>')]),
    (f"Write `{CALL}`.", [(TEXT, "Write `"), (REJECTED, CALL), (TEXT, "`.")]),
    ("Ah.<|eot_id|><|eom_id|> <|eot_id|>", [(TEXT, "Ah."), (REMOVED, "<|eot_id|><|eom_id|> <|eot_id|>")]),
    ("<|python_start|>Ah.", [(REMOVED, "<|python_start|>"), (TEXT, "Ah.")]),
    (f"{USER}\n{CALL}<|python_end|>", [(REMOVED, USER), (TEXT, "\n"), (QUOTED, f"{CALL}<|python_end|>")]),
    (f"{USER}\n<|python_tag|>a<|python_tag|>", [(REMOVED, USER), (TEXT, "\n<|python_tag|>a<|python_tag|>")]),
    (f"{CALL}{USER}\n{CALL}", [(CALLED, CALL), (REMOVED, f"{USER}\n"), (QUOTED, CALL)]),
    (f"{CALL}{USER}\n; {CALL}", [(CALLED, CALL), (REMOVED, f"{USER}\n; "), (QUOTED, CALL)]),
    (
        f"{CALL}{USER}\n; {CALL}<|eot_id|>{CALL}",
        [
            (CALLED, CALL),
            (REMOVED, f"{USER}\n; "),
            (QUOTED, CALL),
            (REMOVED, "<|eot_id|>"),
            (CALLED, CALL),
        ],
    ),
    (f"{CALL} ; <think>; {CALL}</think>", [(CALLED, CALL), (REMOVED, " ; "), (QUOTED, f"<think>; {CALL}</think>")]),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_each_piece_says_what_became_of_it(text: str, expected: list[tuple[PieceKind, str]]) -> None:
    assert [(piece.kind, piece.text) for piece in PieceExtractor().pieces(text).pieces] == expected
    check(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|eot_id|></think>Ah.<|eot_id|>", [(TEXT, "<|eot_id|></think>Ah."), (REMOVED, "<|eot_id|>")]),
        ("<|eot_id|>", [(TEXT, "<|eot_id|>")]),
    ],
)
def test_a_token_in_a_thought_with_which_the_output_begins_stays(
    text: str, expected: list[tuple[PieceKind, str]]
) -> None:
    pieces = PieceExtractor(starts_reasoning=True).pieces(text).pieces
    assert [(piece.kind, piece.text) for piece in pieces] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"of {CALL}?</think>\nHi.", [(QUOTED, f"of {CALL}?</think>"), (TEXT, "\nHi.")]),
        (f"of {CALL}?", [(QUOTED, f"of {CALL}?")]),
        (f"\n<think>\n{CALL}", [(QUOTED, f"\n<think>\n{CALL}")]),
        (f"\n<think>{CALL}", [(QUOTED, f"\n<think>{CALL}")]),
        ("<function=f>{}</function></think>", [(QUOTED, "<function=f>{}</function></think>")]),
        ("Hm.</think>\nHi.", [(TEXT, "Hm.</think>\nHi.")]),
        (f"Hm.</think> <!-- {CALL} -->", [(TEXT, "Hm.</think> "), (QUOTED, f"<!-- {CALL} -->")]),
        (f"Hm.</think>{CALL}", [(TEXT, "Hm.</think>"), (CALLED, CALL)]),
    ],
)
@pytest.mark.parametrize("split_reasoning", [False, True])
def test_thoughts_that_the_prompt_has_opened_stand_in_their_place(
    text: str, expected: list[tuple[PieceKind, str]], *, split_reasoning: bool
) -> None:
    pieces = PieceExtractor(starts_reasoning=True, split_reasoning=split_reasoning).pieces(text).pieces
    assert [(piece.kind, piece.text) for piece in pieces] == expected


def test_what_a_thought_that_is_split_off_does_not_quote_is_called() -> None:
    whole = PieceExtractor(split_reasoning=True).pieces(f"<think>a ` b</think> {CALL} ` c")
    thought = [(TEXT, "<think>a ` b</think>"), (REMOVED, " ")]
    assert [(piece.kind, piece.text) for piece in whole.pieces] == [
        *thought,
        (CALLED, CALL),
        (REMOVED, " "),
        (TEXT, "` c"),
    ]
    assert (whole.extraction.reasoning, whole.extraction.content) == ("a ` b", "` c")


def test_no_character_hides_where_a_piece_is_shown() -> None:
    assert repr(Piece(REJECTED, "a\u200b", 0)) == f"Piece(kind={REJECTED!r}, text='a\\u200b', index=0)"


def test_a_call_that_is_rejected_keeps_the_token_before_it() -> None:
    pieces = PieceExtractor(formats="all", limits=Limits(calls=1)).pieces(f'{CALL} <|python_start|>"f"').pieces
    expected = [(CALLED, CALL), (REMOVED, " "), (REJECTED, '<|python_start|>"f"')]
    assert [(piece.kind, piece.text) for piece in pieces] == expected


def content_of(pieces: tuple[Piece, ...]) -> str | None:
    """The content by rule 4: what is text, each segment stripped, the segments joined by one space."""
    if all(piece.kind is not CALLED for piece in pieces):
        return "".join(piece.text for piece in pieces if piece.kind is not REMOVED)
    segments = [""]
    for piece in pieces:
        if piece.kind in {CALLED, REMOVED}:
            segments.append("")
        else:
            segments[-1] += piece.text
    return " ".join(segment.strip() for segment in segments if segment.strip()) or None


def check(text: str, extractor: PieceExtractor = READINGS["default"]) -> None:
    whole = extractor.pieces(text)
    pieces = whole.pieces
    assert "".join(piece.text for piece in pieces) == text
    assert "" not in [piece.text for piece in pieces]
    spans = [call.span for call in whole.extraction.tool_calls]
    called = [(piece.index, piece.text) for piece in pieces if piece.kind is CALLED]
    assert called == [(index, text[start:end]) for index, (start, end) in enumerate(spans)]
    assert {piece.index for piece in pieces if piece.kind is REJECTED} == set(range(len(whole.extraction.rejections)))
    assert {piece.index for piece in pieces if piece.kind not in {CALLED, REJECTED}} <= {None}
    begins, splits = (extractor.extract(thought).reasoning is not None for thought in ("Hm.", "<think>Hm."))
    has_envelope = any(call.format == "envelope" for call in whole.extraction.tool_calls) or '"tool_call' in text
    if not (has_envelope or begins or (splits and "think>" in text)):
        assert (content_of(pieces) or "").strip() == (whole.extraction.content or "").strip()


FRAGMENTS = [
    CALL, "[", f"[{CALL}]", '{"name": "f", "parameters": {"a', "{", '"', "}", ";", ",", " ", "\n", "a",
    "<tool_call>", "</tool_call>", "```json\n", "```sh\n", "~~~\n", "<think>", "</think>", "\n```", "`",
    "<|python_tag|>", "<|eot_id|>", "<|start_header_id|>x<|end_header_id|>", f"{USER}\n", "<|im_start|>user\n",
    "<|python_start|>", "<|python_end|>", '"f"', "g()",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.sampled_from(list(READINGS)))
@settings(max_examples=400)
def test_the_pieces_of_any_output_are_the_output_and_its_content(text: str, reading: str) -> None:
    check(text, READINGS[reading])


@pytest.mark.parametrize(
    "run", [" ", "<|eot_id|>", "<|eot_id|> ", "<|im_start|>\n", f"{USER}\n<|eom|>", CALL, '{"name": ']
)
def test_long_runs_are_cut_in_linear_time(run: str) -> None:
    """A quadratic cut of these would take minutes."""
    check(f"a{run * 20_000}")
    check(f"{CALL}{run * 20_000}x{CALL}")
