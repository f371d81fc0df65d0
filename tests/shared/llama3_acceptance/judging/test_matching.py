"""When a value is accepted, and which calls are paired."""

from __future__ import annotations

import itertools

import pytest

from llama3_acceptance import ArgumentRule, ExpectedCall, FoundCall, Verdict
from llama3_acceptance.judging.equality import accepts
from llama3_acceptance.judging.matching import call_differences, calls_differences
from llama3_acceptance.judging.pairing import pair

ACCEPTED = [
    (ArgumentRule(("Paris", "Rome")), "Rome"),
    (ArgumentRule((20,)), 20.0),
    (ArgumentRule((20,), tolerance=0.1), 20.1),
    (ArgumentRule(([20, 30],), tolerance=1), [21, 29]),
    (ArgumentRule(("Living Room",), equal="folded"), " living  room "),
    (ArgumentRule(("Zu\u0308rich",), equal="folded"), "ZÜRICH"),
    (ArgumentRule(([1, [2, 3]],), unordered=True), [[3, 2], 1]),
    (ArgumentRule((["a", "B", ["c"], "a"],), unordered=True, equal="folded"), ["A", "['C']", "a", "b"]),
    (ArgumentRule(([1, 2],), unordered=True, tolerance=1), [3, 2]),
    (ArgumentRule(({"a": [1, 2]},), unordered=True), {"a": [2, 1]}),
    (ArgumentRule((["a", "b"],)), "['a', 'b']"),
    (ArgumentRule(("[a, b]",)), "[a, b]"),
    (ArgumentRule(({"a": ["b"]},)), {"a": "['b']"}),
    (ArgumentRule((10**400,), tolerance=1), 10**400),
]

NOT_ACCEPTED = [
    (ArgumentRule(("Paris",)), "paris"),
    (ArgumentRule(("Zu\u0308rich",)), "Zürich"),
    (ArgumentRule(("5",)), 5),
    (ArgumentRule((5,)), "5"),
    (ArgumentRule((1,)), True),
    (ArgumentRule((20,), tolerance=0.1), 20.2),
    (ArgumentRule((1.5,), tolerance=1), 10**400),
    (ArgumentRule((["a", "b"],)), ["b", "a"]),
    (ArgumentRule((["a", "b"],)), "['b', 'a']"),
    (ArgumentRule((["a", "a", "b"],), unordered=True), ["a", "b", "b"]),
    (ArgumentRule((["a"],)), ["a", "a"]),
    (ArgumentRule(([1, 1, "1"],), unordered=True), [1, "1", "1"]),
    (ArgumentRule(([1, 2],), unordered=True, tolerance=1), [3, 4]),
    (ArgumentRule(([1],)), '["1"]'),
    (ArgumentRule(({"a": 1},)), {"a": 1, "b": 2}),
    (ArgumentRule(("['a', 'b']",)), ["a", "b"]),
    (ArgumentRule(({"a": "['b']"},)), {"a": ["b"]}),
]


@pytest.mark.parametrize(("rule", "value"), ACCEPTED)
def test_a_value_is_accepted(rule: ArgumentRule, value: object):
    assert accepts(rule, value)


@pytest.mark.parametrize(("rule", "value"), NOT_ACCEPTED)
def test_another_value_is_not(rule: ArgumentRule, value: object):
    assert not accepts(rule, value)


def verdicts(expected: ExpectedCall, **arguments: object) -> list[Verdict]:
    return [difference.verdict for difference in call_differences(expected, FoundCall("f", arguments))]


def test_an_ignored_argument_may_be_there_or_not():
    expected = ExpectedCall("f", {"a": ArgumentRule((1,))}, ignore=frozenset({"a", "b"}))
    assert verdicts(expected) == verdicts(expected, a=2, b=3) == []
    expected = ExpectedCall("f", {"a": ArgumentRule((1,)), "b": ArgumentRule((2,))}, ignore=frozenset({"a"}))
    assert verdicts(expected) == [Verdict.MISSING_ARGUMENT]


def test_an_optional_argument_may_be_left_out_but_not_be_wrong():
    expected = ExpectedCall("f", {"a": ArgumentRule((1,), optional=True)})
    assert verdicts(expected) == []
    assert verdicts(expected, a=2) == [Verdict.WRONG_VALUE]
    expected = ExpectedCall("f", {"a": ArgumentRule((1,), optional=True), "b": ArgumentRule((2,))})
    assert verdicts(expected, b=1) == [Verdict.WRONG_VALUE]


def test_a_default_that_is_not_accepted_does_not_stand_in():
    expected = ExpectedCall("f", {"a": ArgumentRule((1,))}, defaults={"a": 2})
    assert verdicts(expected) == [Verdict.MISSING_ARGUMENT]


def test_behind_a_default_that_is_written_another_argument_may_be_wrong():
    expected = ExpectedCall("f", defaults={"a": 2, "b": ["x"]})
    assert verdicts(expected, a=2, c=1) == [Verdict.UNEXPECTED_ARGUMENT]
    assert verdicts(expected, b="['x']") == []
    assert verdicts(expected, b="['y']") == [Verdict.UNEXPECTED_ARGUMENT]
    (difference,) = call_differences(expected, FoundCall("f", {"b": "['x']"}), stringified_lists=False)
    assert difference.verdict is Verdict.WRONG_TYPE


def test_all_differences_are_told_the_gravest_first():
    expected = ExpectedCall("f", {"a": ArgumentRule((1,)), "b": ArgumentRule((2,)), "c": ArgumentRule((3,))})
    assert verdicts(expected, a=2, b="2", d=4) == [
        Verdict.MISSING_ARGUMENT,
        Verdict.UNEXPECTED_ARGUMENT,
        Verdict.WRONG_TYPE,
        Verdict.WRONG_VALUE,
    ]
    expected = ExpectedCall("f", {"b": ArgumentRule((1,)), "a": ArgumentRule((2,))})
    assert [one.detail[:8] for one in call_differences(expected, FoundCall("f", {}))] == ["f: b is ", "f: a is "]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (7, "the number 7"),
        ([1], "the array [1]"),
    ],
)
def test_a_value_of_a_wrong_type_is_shown_with_its_type(value: object, shown: str):
    (difference,) = call_differences(ExpectedCall("f", {"n": ArgumentRule(("x",))}), FoundCall("f", {"n": value}))
    assert difference == (Verdict.WRONG_TYPE, f'f: n is {shown}, expected "x"')
    unexpected = ExpectedCall("f", defaults={"n": "x"})
    (difference,) = call_differences(unexpected, FoundCall("f", {"n": value}))
    assert difference == (Verdict.WRONG_TYPE, f"f: n was not expected, it is {shown}")


def test_a_list_in_a_string_is_a_list_where_a_list_is_expected_and_a_string_elsewhere():
    expected = ExpectedCall("f", {"n": ArgumentRule((["a"],))})
    (difference,) = call_differences(expected, FoundCall("f", {"n": "['b']"}))
    assert difference == (Verdict.WRONG_VALUE, """f: n is "['b']", expected ["a"]""")
    assert calls_differences([expected], [FoundCall("f", {"n": "['a']"})]) == []
    assert verdicts(ExpectedCall("f", {"n": ArgumentRule(("a",))}), n="['a']") == [Verdict.WRONG_VALUE]
    assert verdicts(ExpectedCall("f", {"n": ArgumentRule(("['a', 'b']",))}), n=["a", "b"]) == [Verdict.WRONG_TYPE]


def test_the_order_of_calls_of_one_tool_is_told_by_their_arguments():
    expected = [ExpectedCall("f", {"n": ArgumentRule((n,))}) for n in (1, 2)]
    (difference,) = calls_differences(expected, [FoundCall("f", {"n": n}) for n in (2, 1)], ordered=True)
    assert difference == (Verdict.WRONG_ORDER, 'called f({"n": 2}), f({"n": 1}); the order is f(n=1), f(n=2)')


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        (ArgumentRule(tuple(range(9))), "0 or 1 or 2 or 3 or 4 or 5 or 6 or 7 or and 1 more"),
        (ArgumentRule((5,), unordered=True), "5"),
        (ArgumentRule(([5],)), "[5]"),
        (ArgumentRule(([5],), unordered=True), "[5] in any order"),
    ],
)
def test_what_is_accepted_is_shown(rule: ArgumentRule, shown: str):
    for found, told in ((FoundCall("f", {"n": 1.5}), "1.5"), (FoundCall("f", {"n": 123456}), "123456")):
        (difference,) = call_differences(ExpectedCall("f", {"n": rule}), found)
        kind = "the number " if "[" in shown else ""
        assert difference.detail == f"f: n is {kind}{told}, expected {shown}"


def f(*values: int) -> ExpectedCall:
    return ExpectedCall("f", {"n": ArgumentRule(values)})


def test_calls_are_paired_so_that_all_fit():
    found = [FoundCall("f", {"n": 1}), FoundCall("f", {"n": 2})]
    for expected, calls in itertools.product(([f(1, 2), f(1)], [f(1), f(1, 2)]), (found, found[::-1])):
        assert calls_differences(expected, calls) == []


@pytest.mark.parametrize(
    ("expected", "found", "reasons"),
    [
        ([f(1), f(1)], [("f", 1)], ["missing_call"]),
        ([f(1)], [("f", 1), ("f", 1)], ["unexpected_call"]),
        ([f(1), f(2)], [("f", 3), ("f", 1)], ["wrong_value"]),
        ([f(1), f(2)], [("g", 2), ("f", 1)], ["wrong_tool"]),
        ([f(1), f(2)], [("f", 9), ("g", 2), ("h", 3)], ["unexpected_call", "wrong_tool", "wrong_value"]),
        ([f(1), ExpectedCall("g")], [("g", 2), ("f", 3)], ["unexpected_argument", "wrong_value"]),
    ],
)
def test_what_is_left_over_gives_the_reasons_the_gravest_first(
    expected: list[ExpectedCall], found: list[tuple[str, int]], reasons: list[str]
):
    calls = [FoundCall(name, {"n": n}) for name, n in found]
    assert [difference.verdict.value for difference in calls_differences(expected, calls)] == reasons


def test_of_an_answer_without_end_the_rest_is_counted():
    differences = calls_differences([f(1)], [FoundCall("f", {"n": 1})] * 150)
    assert [one.detail for one in differences[-2:]] == [
        'f({"n": 1}) was not expected',
        "49 more calls were not expected",
    ]


X = "x" * 300
LONG = [
    ((f"{X}a{X}",), f"{X}b{X}", f"…{X[:40]}b{X[:39]}… (603 characters)", f"…{X[:40]}a{X[:39]}… (603 characters)"),
    ((X[:118],), "b", '"b"', f'"{X[:118]}"'),
    ((X[:119],), "b", '"b"', f'"{X[:79]}… (121 characters)'),
]


@pytest.mark.parametrize(("accepted", "value", "found", "expected"), LONG)
def test_of_long_values_the_first_difference_is_shown(accepted: tuple[str], value: str, found: str, expected: str):
    call = ExpectedCall("f", {"n": ArgumentRule(accepted, tolerance=1)})
    (difference,) = call_differences(call, FoundCall("f", {"n": value}))
    assert difference.detail == f"f: n is {found}, expected {expected} ± 1"


def test_pairing_finds_as_many_pairs_as_there_can_be():
    for rows in itertools.product(itertools.product([False, True], repeat=3), repeat=3):
        most = max(sum(rows[row][column] for row, column in enumerate(way)) for way in itertools.permutations(range(3)))
        pairs = pair(rows)
        assert len(pairs) == most == len(set(pairs.values()))
        assert all(rows[row][column] for row, column in pairs.items())
