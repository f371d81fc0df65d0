"""The share of responses that has to pass."""

from __future__ import annotations

import re

import pytest

from llama3_acceptance.reports.thresholds import Threshold, check_thresholds, parse_threshold
from runs import DIM, KITCHEN, SUITE, judged


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("80%", Threshold(0.8)),
        (" 62.5 %", Threshold(0.625)),
        ("0%", Threshold(0)),
        ("tool:set_light=100%", Threshold(1, "tool", "set_light")),
        ("tool:(no call)=50%", Threshold(0.5, "tool", "(no call)")),
        ("tag:numbers=50%", Threshold(0.5, "tag", "numbers")),
    ],
)
def test_a_threshold_is_read(text: str, expected: Threshold) -> None:
    assert parse_threshold(text, SUITE) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("80", "'80' is not a share: write 80%, tool:NAME=80% or tag:NAME=80%"),
        ("101%", "'101%' is not a share"),
        ("-1%", "'-1%' is not a share"),
        ("set_light=80%", "'set_light=80%' is not a share"),
        ("tool:set_ligth=80%", "no case has the tool 'set_ligth', only "),
        ("tag:number=80%", "no case has the tag 'number', only numbers; did you mean 'numbers'?"),
    ],
)
def test_another_text_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        parse_threshold(text, SUITE)


def test_a_threshold_is_held_against_what_it_names() -> None:
    results = judged({"kitchen": KITCHEN, "dim": DIM, "joke": "Knock, knock.", "hello": "Hello!"})
    wanted = [Threshold(0.75), Threshold(0.8), Threshold(0.5, "tool", "set_light"), Threshold(1, "tag", "numbers")]
    assert [one.is_met for one in check_thresholds(results, wanted)] == [True, False, True, False]
    assert [one.is_met for one in check_thresholds(results, wanted, coerced=True)] == [True] * 4


def test_of_no_response_none_passed() -> None:
    (result,) = check_thresholds(judged({"hello": "Hello!"}), [Threshold(0, "tool", "set_light")])
    assert (result.is_met, str(result)) == (False, "0% of the tool set_light: not met, 0 of 0 passed")


def test_too_few_responses_are_said_to_be_too_few() -> None:
    results = judged({"kitchen": [KITCHEN] * 9 + ["No."]}, repeats=10)
    told = [str(one) for one in check_thresholds(results, [Threshold(0.8), Threshold(0.3), Threshold(0.9)])]
    assert told == [
        "80% of all: met, 9 of 10 passed, 90 % (60 to 98); 10 are too few to tell",
        "30% of all: met, 9 of 10 passed, 90 % (60 to 98)",
        "90% of all: met, 9 of 10 passed, 90 % (60 to 98); 10 are too few to tell",
    ]


def test_that_all_have_to_pass_needs_no_more_than_one_failure_to_tell() -> None:
    results = judged({"kitchen": KITCHEN, "hello": "Hello!"})
    assert [one.is_certain for one in check_thresholds(results, [Threshold(1), Threshold(0)])] == [True, True]
