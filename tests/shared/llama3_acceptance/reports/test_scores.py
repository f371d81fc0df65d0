"""Pass rates and their intervals."""

from __future__ import annotations

import pytest

from llama3_acceptance.reports.scores import Row, Score, score, wilson
from llama3_acceptance.running.records import RecordsError
from llama3_acceptance.values import Allowance, Reading
from runs import DIM, KITCHEN, MENDED, judged

# Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("count", "total", "low", "high"), [*NEWCOMBE, (20, 20, 0.8389, 1.0), (0, 0, 0.0, 1.0)])
def test_the_interval_is_wilsons(count: int, total: int, low: float, high: float) -> None:
    assert wilson(count, total) == pytest.approx((low, high), abs=5e-5)


def test_a_score_reads_as_a_table_shows_it() -> None:
    shown = [str(Score(3, 4)), str(Score(20, 20)), str(Score(0, 0))]
    assert shown == ["75 % (30 to 95)", "100 % (84 to 100)", "none"]


def test_what_was_written_and_what_came_of_coercion_are_scored_apart() -> None:
    scores = score(judged({"kitchen": KITCHEN, "dim": DIM, "joke": "Knock, knock.", "hello": KITCHEN}))
    assert scores.overall == Row("all", Score(2, 4, 1), Score(3, 4, 1))
    assert scores.by_tool == (
        Row("set_light", Score(1, 2, 1), Score(2, 2, 1)),
        Row("tell_joke", Score(1, 1, 0), Score(1, 1, 0)),
        Row("(no call)", Score(0, 1, 0), Score(0, 1, 0)),
    )
    assert scores.by_tag == (Row("numbers", Score(0, 1, 0), Score(1, 1, 0)),)
    assert scores.by_reason == (
        Row("passed", Score(2, 4), Score(3, 4)),
        Row("unexpected_call", Score(1, 4), Score(1, 4)),
        Row("wrong_type", Score(1, 4), Score(0, 4)),
    )


def test_what_let_a_response_pass_is_counted() -> None:
    outputs = {"kitchen": MENDED, "dim": DIM.replace("'", '"'), "joke": "Knock, knock.", "hello": MENDED}
    assert score(judged(outputs, reading=Reading(repair=True))).let_through == (
        Row("words", Score(1, 2), Score(1, 3)),
        Row("mended", Score(1, 2), Score(1, 3)),
        Row("coerced", Score(0, 2), Score(1, 3)),
    )
    dim = {"kitchen": KITCHEN, "dim": DIM.replace('"name"', "'name'")}
    mended = Row("mended", Score(0, 1), Score(1, 2))
    assert score(judged(dim, reading=Reading(repair=True))).let_through == (mended,)
    assert score(judged({"kitchen": KITCHEN, "hello": "Hi."})).let_through == ()
    assert str(Allowance.LIST_IN_STRING) == "list_in_string"


def test_a_row_is_perfect_if_all_passed_and_nothing_had_to_let_it() -> None:
    rows = [Row("a", Score(2, 2, 2), Score(2, 2, 2)), Row("b", Score(2, 2, 1), Score(2, 2, 2))]
    rows += [Row("c", Score(1, 2, 1), Score(2, 2, 2)), Row("d", Score(2, 2), Score(2, 2))]
    assert [row.is_perfect for row in rows] == [True, False, False, False]


def test_each_repeat_counts_and_a_tool_that_was_not_asked_for_has_no_row() -> None:
    results = judged({"kitchen": [KITCHEN, "No."]}, errors={"dim": "no response within 1 s"}, repeats=2)
    assert [(one.case.id, one.record.repeat) for one in results.results] == [("kitchen", 0), ("dim", 0), ("kitchen", 1)]
    assert results.missing == (("joke", 0), ("hello", 0), ("dim", 1), ("joke", 1), ("hello", 1))
    scores = score(results)
    assert scores.overall.parsed == Score(1, 3, 1)
    assert [row.name for row in scores.by_tool] == ["set_light"]
    assert {row.name: row.parsed.count for row in scores.by_reason} == {
        "passed": 1,
        "no_response": 1,
        "direct_answer_not_allowed": 1,
    }


def test_a_response_that_is_none_is_a_verdict_and_no_error_of_the_run() -> None:
    (result,) = judged({"kitchen": [7]}).results
    assert tuple(one.verdict.value for one in result.judgements) == ("no_response", "no_response")
    assert "got an int" in (result.error or "")


def test_a_response_to_a_case_that_is_not_there_is_refused() -> None:
    with pytest.raises(RecordsError, match="'kitchn', which Home does not have; did you mean 'kitchen'"):
        judged({"kitchn": KITCHEN})
