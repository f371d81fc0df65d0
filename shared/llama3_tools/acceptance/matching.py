"""Whether calls are those that were expected, and if not, what differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from llama3_tools.acceptance.equality import accepts, json_type
from llama3_tools.acceptance.pairing import pair
from llama3_tools.acceptance.values import ArgumentRule, ExpectedCall, FoundCall, Verdict
from llama3_tools.values import shortened

__all__ = ["Difference", "call_differences", "calls_differences", "shown_call", "shown_json"]

_GRAVITY = list(Verdict)


class Difference(NamedTuple):
    """One thing that is not as expected."""

    verdict: Verdict
    """What kind of thing."""
    detail: str
    """What was expected and what was found."""


def calls_differences(
    expected: Sequence[ExpectedCall],
    found: Sequence[FoundCall],
    *,
    ordered: bool = False,
    stringified_lists: bool = True,
) -> list[Difference]:
    """Give all that differs between the calls expected and those found; nothing where they match.

    >>> calls_differences([ExpectedCall("clock")], [])
    [Difference(verdict=<Verdict.MISSING_CALL: 'missing_call'>, detail='no call of clock')]

    Args:
        expected: all calls that are expected.
        found: all calls that were found.
        ordered: whether they have to come in this order.
        stringified_lists: whether a string that holds a list is compared as that list.
    """
    table = [[call_differences(one, other, stringified_lists=stringified_lists) for other in found] for one in expected]
    pairs = pair([[not differences for differences in row] for row in table])
    if len(pairs) == len(expected) == len(found):
        in_order = not any(row[index] for index, row in enumerate(table))
        return [] if in_order or not ordered else [_wrong_order(expected, found)]
    rows = [row for row in range(len(expected)) if row not in pairs]
    columns = [column for column in range(len(found)) if column not in pairs.values()]
    differences = list(_in_calls_of_one_tool(rows, columns, table))
    while rows and columns:
        differences += table[rows.pop(0)][columns.pop(0)]
    differences += [Difference(Verdict.MISSING_CALL, f"no call of {expected[row].tool}") for row in rows]
    unexpected = (f"{shown_call(found[column])} was not expected" for column in columns)
    return differences + [Difference(Verdict.UNEXPECTED_CALL, detail) for detail in unexpected]


def call_differences(expected: ExpectedCall, found: FoundCall, *, stringified_lists: bool = True) -> list[Difference]:
    """Give all that differs between two calls, the gravest first; nothing where they match.

    >>> call = FoundCall("get_weather", {"city": "Rome"})
    >>> call_differences(ExpectedCall("get_weather", {"city": ArgumentRule(("Paris",))}), call)[0].detail
    'get_weather: city is "Rome", expected "Paris"'

    Args:
        expected: the call that is expected.
        found: the call that was found.
        stringified_lists: whether a string that holds a list is compared as that list.
    """
    if expected.tool != found.name:
        return [Difference(Verdict.WRONG_TOOL, f"called {shown_call(found)}, expected {expected.tool}")]
    arguments = found.arguments or {}  # those that cannot be read are a fault before anything is compared
    differences = [
        *_in_expected_arguments(expected, arguments, stringified_lists=stringified_lists),
        *_in_other_arguments(expected, arguments, stringified_lists=stringified_lists),
    ]
    return sorted(differences, key=lambda difference: _GRAVITY.index(difference.verdict))


def shown_call(call: FoundCall) -> str:
    """Give a call as a sentence names it: `get_weather({"city": "Paris"})`, shortened."""
    arguments = call.arguments_json if call.arguments is None else shown_json(call.arguments)
    return f"{shortened(call.name)}({shortened(arguments)})"


def shown_json(value: object) -> str:
    """Give a value as JSON has it; what JSON does not have, as Python does."""
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):  # an integer that has more digits than Python writes; very deep nesting
        return "(too long or too deep to show)"


def _wrong_order(expected: Sequence[ExpectedCall], found: Sequence[FoundCall]) -> Difference:
    wanted = ", ".join(call.tool for call in expected)
    return Difference(Verdict.WRONG_ORDER, f"called {', '.join(map(shown_call, found))}; the order is {wanted}")


def _in_calls_of_one_tool(
    rows: list[int], columns: list[int], table: Sequence[Sequence[list[Difference]]]
) -> Iterator[Difference]:
    """Take the calls of the right tool out of what has no pair, the most alike first, and give what differs in them."""
    same_tool = sorted(
        (len(table[row][column]), row, column)
        for row in rows
        for column in columns
        if table[row][column][0].verdict is not Verdict.WRONG_TOOL
    )
    for _, row, column in same_tool:
        if row in rows and column in columns:
            rows.remove(row)
            columns.remove(column)
            yield from table[row][column]


def _in_expected_arguments(
    expected: ExpectedCall, arguments: dict[str, object], *, stringified_lists: bool
) -> Iterator[Difference]:
    for name, rule in expected.arguments.items():
        wanted = f"expected {_shown_values(rule)}"
        if name in expected.ignore:
            continue
        if name not in arguments:
            by_default = name in expected.defaults and accepts(rule, expected.defaults[name])
            if not rule.optional and not by_default:
                yield Difference(Verdict.MISSING_ARGUMENT, f"{expected.tool}: {name} is missing, {wanted}")
            continue
        value = arguments[name]
        if accepts(rule, value, stringified_lists=stringified_lists):
            continue
        verdict, found = _wrong(rule, value, Verdict.WRONG_VALUE, stringified_lists=stringified_lists)
        yield Difference(verdict, f"{expected.tool}: {name} is {found}, {wanted}")


def _in_other_arguments(
    expected: ExpectedCall, arguments: dict[str, object], *, stringified_lists: bool
) -> Iterator[Difference]:
    if expected.mode == "partial":
        return
    for name, value in arguments.items():
        if name in expected.arguments or name in expected.ignore:
            continue
        verdict, written = Verdict.UNEXPECTED_ARGUMENT, _shown(value)
        if name in expected.defaults:
            default = ArgumentRule((expected.defaults[name],))
            if accepts(default, value, stringified_lists=stringified_lists):
                continue
            verdict, written = _wrong(default, value, verdict, stringified_lists=stringified_lists)
        yield Difference(verdict, f"{expected.tool}: {shortened(name)} was not expected, it is {written}")


def _wrong(rule: ArgumentRule, value: object, otherwise: Verdict, *, stringified_lists: bool) -> tuple[Verdict, str]:
    """Tell whether it is the type of a value that is wrong, and show the value."""
    kind = json_type(value, stringified_lists=stringified_lists)
    if kind in map(json_type, rule.any_of):
        return otherwise, _shown(value)
    return Verdict.WRONG_TYPE, f"the {kind} {_shown(value)}"


def _shown(value: object) -> str:
    return shortened(shown_json(value))


def _shown_values(rule: ArgumentRule) -> str:
    shown = " or ".join(map(_shown, rule.any_of))
    return f"{shown} ± {rule.tolerance:g}" if rule.tolerance else shown
