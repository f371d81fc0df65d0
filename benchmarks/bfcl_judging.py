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


class Agreement(NamedTuple):
    """How many verdicts are repeated."""

    alike: int
    verdicts: int

    @property
    def share(self) -> float:
        """The part of them that is repeated; 0 if there are none."""
        return self.alike / self.verdicts if self.verdicts else 0

    def __str__(self) -> str:
        """Say it."""
        return f"{self.alike:,} of {self.verdicts:,} verdicts ({self.share:.1%})"


class Proof(NamedTuple):
    """In how many outputs the leaderboard's decoder and checker, run here, give the verdict beside the output."""

    published: Agreement
    """With the verdicts that the leaderboard published, in score files."""
    of_rows: Agreement
    """With those in rows, which whoever made the rows computed with the leaderboard's code."""
    without: int
    """How many outputs have no verdict."""

    @property
    def share(self) -> float:
        """The smaller part in which they agree; 1 if there is no verdict."""
        return min((one.share for one in (self.published, self.of_rows) if one.verdicts), default=1)

    def __str__(self) -> str:
        """Say what was compared."""
        said = []
        if self.published.verdicts:
            said.append(f"BFCL's decoder and checker, run here, repeat {self.published} that BFCL published.")
        if self.of_rows.verdicts:
            said.append(
                f"BFCL's decoder and checker, run here, repeat {self.of_rows} under `official` in the rows. "
                "Whoever made the rows computed these; BFCL did not publish them."
            )
        if self.without and said:
            said.append(f"{self.without:,} outputs have no verdict.")
        return " ".join(said) or (
            "No verdict stands beside these outputs: nothing proves that they are judged as by the leaderboard."
        )


def prove(questions: Iterable[Question], board: Leaderboard) -> Proof:
    """Count in how many outputs the leaderboard's decoder and checker give the verdict beside the output."""
    found = Counter(
        question.verdict
        and (question.verdict.is_published, _decoded(question, board).is_right == question.verdict.is_right)
        for question in questions
    )
    published, of_rows = (
        Agreement(found[is_published, True], found[is_published, True] + found[is_published, False])
        for is_published in (True, False)
    )
    return Proof(published, of_rows, found[None])


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
