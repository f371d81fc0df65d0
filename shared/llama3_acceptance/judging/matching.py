"""Whether calls are those that were expected, and if not, what differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llama3_acceptance.judging.equality import accepts, json_type, list_in
from llama3_acceptance.judging.pairing import pair
from llama3_acceptance.rendering import few, shown_around, shown_call, shown_expected, shown_json, shown_rule
from llama3_acceptance.values import ArgumentRule, ExpectedCall, FoundCall, Verdict
from llama3_tools.values import shortened

_CONSIDERED = 100
"""How many calls beyond those expected are compared with them. A longer answer cannot pass in any case."""


class Difference(NamedTuple):
    """One thing that is not as expected."""

    verdict: Verdict
    """What kind of thing."""
    detail: str
    """What was expected and what was found."""


def gravest_first(differences: Iterable[Difference]) -> list[Difference]:
    """Return differences in the order of their verdicts' gravity."""
    return sorted(differences, key=lambda difference: difference.verdict.gravity)


def calls_differences(
    expected: Sequence[ExpectedCall],
    found: Sequence[FoundCall],
    *,
    ordered: bool = False,
    stringified_lists: bool = True,
) -> list[Difference]:
    """Return the differences between the expected calls and those found, the gravest first; none if they match.

    >>> calls_differences([ExpectedCall("clock")], [])
    [Difference(verdict=<Verdict.MISSING_CALL: 'missing_call'>, detail='no call of clock')]

    Args:
        expected: all calls that are expected.
        found: all calls that were found.
        ordered: whether they have to come in this order.
        stringified_lists: whether a string that contains a list is compared as that list.
    """
    found, beyond = found[: len(expected) + _CONSIDERED], found[len(expected) + _CONSIDERED :]
    table = [[call_differences(one, other, stringified_lists=stringified_lists) for other in found] for one in expected]
    pairs = pair([[not differences for differences in row] for row in table])
    if len(pairs) == len(expected) == len(found) and not beyond:
        in_order = not any(row[index] for index, row in enumerate(table))
        return [] if in_order or not ordered else [_wrong_order(expected, found)]
    rows = [row for row in range(len(expected)) if row not in pairs]
    paired = set(pairs.values())
    columns = [column for column in range(len(found)) if column not in paired]
    differences = list(_in_calls_of_one_tool(rows, columns, table))
    while rows and columns:
        differences += table[rows.pop(0)][columns.pop(0)]
    differences += [Difference(Verdict.MISSING_CALL, f"no call of {expected[row].tool}") for row in rows]
    unexpected = [f"{shown_call(found[column])} was not expected" for column in columns]
    unexpected += [f"{len(beyond)} more calls were not expected"] if beyond else []
    differences += [Difference(Verdict.UNEXPECTED_CALL, detail) for detail in unexpected]
    return gravest_first(differences)


def call_differences(expected: ExpectedCall, found: FoundCall, *, stringified_lists: bool = True) -> list[Difference]:
    """Return the differences between two calls, the gravest first; none if they match.

    >>> call = FoundCall("get_weather", {"city": "Rome"})
    >>> call_differences(ExpectedCall("get_weather", {"city": ArgumentRule(("Paris",))}), call)[0].detail
    'get_weather: city is "Rome", expected "Paris"'

    Args:
        expected: the call that is expected.
        found: the call that was found.
        stringified_lists: whether a string that contains a list is compared as that list.
    """
    if expected.tool != found.name:
        return [Difference(Verdict.WRONG_TOOL, f"called {shown_call(found)}, expected {expected.tool}")]
    arguments = found.arguments or {}  # those that cannot be read are a fault before anything is compared
    return gravest_first(_Comparison(expected, arguments, stringified_lists).differences())


def _wrong_order(expected: Sequence[ExpectedCall], found: Sequence[FoundCall]) -> Difference:
    called, wanted = few([*map(shown_call, found)], ", "), few([*map(shown_expected, expected)], ", ")
    return Difference(Verdict.WRONG_ORDER, f"called {called}; the order is {wanted}")


def _in_calls_of_one_tool(
    rows: list[int], columns: list[int], table: Sequence[Sequence[list[Difference]]]
) -> Iterator[Difference]:
    """Pair the calls of the right tool that are left, the most alike first, and yield what differs in them."""
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


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The arguments of a call beside those that are expected."""

    expected: ExpectedCall
    arguments: Mapping[str, object]
    stringified_lists: bool

    def differences(self) -> Iterator[Difference]:
        expected = self.expected
        for name, rule in expected.arguments.items():
            if name not in expected.ignore:
                yield from self._in_expected(name, rule)
        for name in self.arguments if expected.mode == "exact" else ():
            if name not in expected.arguments and name not in expected.ignore:
                yield from self._in_other(name)

    def _in_expected(self, name: str, rule: ArgumentRule) -> Iterator[Difference]:
        tool, defaults = self.expected.tool, self.expected.defaults
        if name not in self.arguments:
            by_default = name in defaults and accepts(rule, defaults[name])
            if not rule.optional and not by_default:
                yield Difference(Verdict.MISSING_ARGUMENT, f"{tool}: {name} is missing, expected {shown_rule(rule)}")
            return
        value = self.arguments[name]
        if not self._accepts(rule, value):
            shown, wanted = shown_around(value, rule)
            verdict, named = self._named(rule, value, shown, Verdict.WRONG_VALUE)
            yield Difference(verdict, f"{tool}: {name} is {named}, expected {wanted}")

    def _in_other(self, name: str) -> Iterator[Difference]:
        """Yield an argument that was not expected, unless it is what the tool takes for it by default."""
        value, defaults = self.arguments[name], self.expected.defaults
        verdict, named = Verdict.UNEXPECTED_ARGUMENT, shortened(shown_json(value))
        if name in defaults:
            default = ArgumentRule((defaults[name],))
            if self._accepts(default, value):
                return
            verdict, named = self._named(default, value, named, verdict)
        yield Difference(verdict, f"{self.expected.tool}: {shortened(name)} was not expected, it is {named}")

    def _accepts(self, rule: ArgumentRule, value: object) -> bool:
        return accepts(rule, value, stringified_lists=self.stringified_lists)

    def _named(self, rule: ArgumentRule, value: object, shown: str, otherwise: Verdict) -> tuple[Verdict, str]:
        """Return what is wrong with a value, and the value as a sentence names it: with its type if that is wrong."""
        kind, accepted = json_type(value), {json_type(one) for one in rule.any_of}
        is_list = (
            self.stringified_lists and isinstance(value, str) and "array" in accepted and list_in(value) is not None
        )
        if kind in accepted or is_list:
            return otherwise, shown
        return Verdict.WRONG_TYPE, shown if value is None else f"the {kind} {shown}"
