"""What is right of the leaderboard's outputs, by its own checker: its decoder's calls, and this library's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from bfcl_files import Question
from bfcl_package import Call, Leaderboard
from llama3_tools import Extraction, Extractor

DECODER = "BFCL's decoder"
PLAIN, COERCED, ALL = "plain", "`coerce_arguments`", "`repair` too"
READINGS: Mapping[str, Mapping[str, bool]] = {
    PLAIN: {},
    COERCED: {"coerce_arguments": True},
    "`repair`": {"repair": True},
    ALL: {"coerce_arguments": True, "repair": True},
}
"""The options with which each output is read."""


class Reading(NamedTuple):
    """What was made of an output."""

    calls: Sequence[Call] | None
    """`None`: the leaderboard's decoder cannot read it."""
    wrong: str
    """The checker's word for what is wrong with them; empty if they are right."""
    extraction: Extraction | None = None
    """What this library read."""

    @property
    def is_right(self) -> bool:
        """Whether the calls are those that are due."""
        return not self.wrong


class Judged(NamedTuple):
    """An output, and what was made of it."""

    question: Question
    readings: Mapping[str, Reading]
    """By `DECODER`, and by the names in `READINGS`."""


class Proof(NamedTuple):
    """In how many outputs the leaderboard's decoder and checker, run here, give the verdict beside the output."""

    alike: int
    verdicts: int
    without: int
    """How many outputs have no verdict."""

    @property
    def share(self) -> float:
        """The part of the verdicts that is repeated; 1 if there are none."""
        return self.alike / self.verdicts if self.verdicts else 1

    def __str__(self) -> str:
        """Say what was compared."""
        if not self.verdicts:
            return "No verdict comes with these outputs: nothing proves that they are judged as by the leaderboard."
        return (
            f"BFCL's decoder and checker, run here, repeat {self.alike:,} of {self.verdicts:,} verdicts "
            f"({self.share:.1%}) that came with the outputs. {self.without:,} outputs have no verdict."
        )


def prove(questions: Iterable[Question], board: Leaderboard) -> Proof:
    """Count in how many outputs the leaderboard's decoder and checker give the verdict beside the output."""
    found = Counter(
        None if question.verdict is None else _decoded(question, board).is_right is question.verdict
        for question in questions
    )
    return Proof(found[True], found[True] + found[False], found[None])


def judge(questions: Iterable[Question], board: Leaderboard) -> Iterator[Judged]:
    """Read each output in each way, and have the checker judge the calls."""
    for question in questions:
        readings = {DECODER: _decoded(question, board)}
        for name, options in READINGS.items():
            extraction = _extractor(question.sample.tools, **options).extract(question.sample.text)
            calls = [(call.name, call.arguments) for call in extraction.tool_calls]
            readings[name] = Reading(calls, wrong_of(question, calls, board), extraction)
        yield Judged(question, readings)


def wrong_of(question: Question, calls: Sequence[Call], board: Leaderboard) -> str:
    """Return the checker's word for what is wrong with calls; empty if they are right."""
    if not question.is_due:
        return "a call where none is due" if calls else ""
    if not question.answer:
        return "" if calls else "no call"  # of `live_relevance`, in which any call is right
    return board.what_is_wrong(question.functions, calls, question.answer, question.category)


def _decoded(question: Question, board: Leaderboard) -> Reading:
    calls = board.decoders[question.decoder](question.sample.text)
    if calls is None and question.is_due:
        return Reading(None, "not decoded")
    return Reading(calls, wrong_of(question, calls or [], board))


@lru_cache(maxsize=32)
def _extractor(tools: str, **options: Any) -> Extractor:  # noqa: ANN401 - as Extractor takes them
    return Extractor(tools=json.loads(tools), **options)
