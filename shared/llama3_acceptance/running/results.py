"""A run's responses, judged: the value that tables, reports and comparisons are made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from llama3_acceptance.judging.judge import judge
from llama3_acceptance.judging.responses import Answer, read_response
from llama3_acceptance.running.records import Record, RecordsError, Run
from llama3_acceptance.values import Case, Judgement, Judgements, Suite, Verdict, repeat_name
from llama3_tools.errors import did_you_mean


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One response to one case, judged."""

    case: Case
    record: Record
    answer: Answer
    """What is in it."""
    judgements: Judgements
    """What it is worth."""
    error: str | None = None
    """Why there is nothing to judge."""

    @property
    def name(self) -> str:
        """The case, and which repeat if it is not the first: `tea`, `tea[1]`."""
        return repeat_name(self.case.id, self.record.repeat)


@dataclass(frozen=True, slots=True)
class Results:
    """A suite, and the responses to its cases as they were judged."""

    suite: Suite
    """The suite, with the policies that were judged by."""
    run: Run
    """What was asked of whom."""
    results: tuple[CaseResult, ...]
    """By repeat, and within it in the order of the suite."""
    missing: tuple[tuple[str, int], ...] = ()
    """The cases and repeats of the responses that are not there: the run did not come to its end."""


def judge_records(suite: Suite, run: Run, records: Iterable[Record], *, repeats: int = 1) -> Results:
    """Judge recorded responses.

    Args:
        suite: the suite that they answer.
        run: where they came from.
        records: the responses, in any order.
        repeats: how often each case should have been answered.

    Raises:
        RecordsError: a response to a case that the suite does not have.
    """
    cases = {case.id: case for case in suite.cases}
    places = {id_: place for place, id_ in enumerate(cases)}
    found: list[CaseResult] = []
    for record in records:
        if record.case not in cases:
            raise RecordsError(
                f"a response to the case {record.case!r}, which {suite.name} does not have"
                f"{did_you_mean(record.case, cases)}"
            )
        found.append(judge_record(record, cases[record.case], suite))
    found.sort(key=lambda result: (result.record.repeat, places[result.case.id]))
    there = {(result.case.id, result.record.repeat) for result in found}
    wanted = ((id_, repeat) for repeat in range(repeats) for id_ in cases)
    return Results(suite, run, tuple(found), tuple(one for one in wanted if one not in there))


def judge_record(record: Record, case: Case, suite: Suite) -> CaseResult:
    """Judge one recorded response to a case. What cannot be judged is a separate error."""
    if record.error is not None:
        return _unjudged(case, record, record.error)
    answer = Answer()
    try:
        answer = read_response(record.response)
        return CaseResult(case, record, answer, judge(case, answer, suite))
    except (TypeError, RecursionError) as error:
        return _unjudged(case, record, str(error), answer)
    except Exception as error:  # noqa: BLE001 - one response that nobody foresaw must not cost the others
        return _unjudged(case, record, f"could not be judged: {type(error).__name__}: {error}", answer)


def _unjudged(case: Case, record: Record, error: str, answer: Answer = Answer()) -> CaseResult:  # noqa: B008 - a frozen value
    judgement = Judgement(Verdict.NO_RESPONSE, error)
    return CaseResult(case, record, answer, Judgements(judgement, judgement), error)
