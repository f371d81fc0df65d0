"""The responses of a run, judged together."""

from __future__ import annotations

from dataclasses import replace

from llama3_acceptance.running.records import Record, Run
from llama3_acceptance.running.results import judge_records
from llama3_acceptance.values import ArgumentRule, Case, ExpectedCall, Verdict
from runs import KITCHEN, SUITE


class Unforeseen(str):
    """A text that cannot be compared with anything."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("unforeseen")


def test_a_response_that_cannot_be_judged_costs_no_other() -> None:
    odd = Case("odd", "Light", ((ExpectedCall("set_light", {"room": ArgumentRule((Unforeseen(),))}),),))
    suite = replace(SUITE, cases=(odd, *SUITE.cases))
    records = [Record("odd", response=KITCHEN, usage={"total_tokens": 7}), Record("kitchen", response=KITCHEN)]
    first, second = judge_records(suite, Run("Home", ""), records).results
    assert first.judgements.parsed.verdict is Verdict.NO_RESPONSE
    assert first.judgements.parsed.detail == first.error == "could not be judged: RuntimeError: unforeseen"
    assert (first.answer.text, first.record.usage) == (KITCHEN, {"total_tokens": 7})
    assert second.judgements.parsed.passed


def test_what_did_not_come_is_missing() -> None:
    records = [Record(case.id, response="Hello!") for case in SUITE.cases]
    ids = [case.id for case in SUITE.cases]
    missing = [judge_records(SUITE, Run("Home", ""), given).missing for given in (records, records[1:], ())]
    assert missing == [(), ((ids[0], 0),), tuple((id_, 0) for id_ in ids)]
    assert judge_records(SUITE, Run("Home", ""), records, repeats=2).missing == tuple((id_, 1) for id_ in ids)
