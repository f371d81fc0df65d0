"""Calls, rules and differences as people read them: of any length, and never longer than a page takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from llama3_acceptance.values import ArgumentRule, ExpectedCall, FoundCall, Suite
from llama3_tools.text.json_writing import write_json
from llama3_tools.values import shortened

_FEW = 8
_MOST = 40
_WIDTH = 120
_BEFORE = 40


def few(parts: Sequence[str], separator: str = "; ") -> str:
    """Join the first few parts, and say how many more there are.

    >>> few(["a", "b"]), few(["a"] * 10)
    ('a; b', 'a; a; a; a; a; a; a; a; and 2 more')
    """
    more = len(parts) - _FEW
    return separator.join([*islice(parts, _FEW), *([f"and {more} more"] if more > 0 else [])])


def mended_remarks(calls: Iterable[FoundCall]) -> list[str]:
    """Name the calls that were not written as documented, or were repaired, and say what was mended.

    >>> mended_remarks([FoundCall("clock", {}, "{}", repaired_from="{'name': 'clock', 'parameters': {}}")])
    ["clock was repaired from {'name': 'clock', 'parameters': {}}"]
    """
    return list(dict.fromkeys(remark for call in calls for remark in _mended(call)))


def _mended(call: FoundCall) -> Iterator[str]:
    if call.deviations:
        yield f"{shortened(call.name)} was not written as documented: {few(call.deviations, ', ')}"
    if call.repaired_from is not None:
        yield f"{shortened(call.name)} was repaired from {shortened(call.repaired_from)}"


def shown_judging(suite: Suite) -> dict[str, str]:
    """Say by what a suite's responses are judged, in the suite's own keys: reports have them all.

    >>> judging = shown_judging(Suite("Clocks", (), ()))
    >>> judging["prompt"], judging["reading"]
    ('format json; multiple no', 'formats default; repair no; starts_reasoning no')
    """
    prompt, policies = suite.prompt, asdict(suite.policies)
    if not policies.pop("allow_direct_answers"):
        policies["direct_answers"] = False
    parts = {"prompt": {"format": prompt.format, "multiple": prompt.multiple}, "reading": asdict(suite.reading)}
    return {
        part: "; ".join(f"{name} {_shown_option(value)}" for name, value in options.items())
        for part, options in {**parts, "policies": policies}.items()
    }


def _shown_option(value: Any) -> str:  # noqa: ANN401 - of any of the three
    if value is None or isinstance(value, str):
        return value or "default"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(sorted(value)) or "none"


def shown_json(value: object) -> str:
    """Return a value as JSON has it; what JSON does not have, as Python does."""
    return write_json(value, default=repr)


def shown_call(call: FoundCall) -> str:
    """Return a call as a sentence names it: `get_weather({"city": "Paris"})`, shortened."""
    arguments = call.arguments_json if call.arguments is None else shown_json(call.arguments)
    return f"{shortened(call.name)}({shortened(arguments)})"


def shown_rule(rule: ArgumentRule) -> str:
    """Return what is accepted of an argument.

    >>> shown_rule(ArgumentRule((20, 30), tolerance=0.5)), shown_rule(ArgumentRule((["a"],), unordered=True))
    ('20 or 30 ± 0.5', '["a"] in any order')
    """
    return _rule(rule, [shortened(shown_json(value), _WIDTH) for value in rule.any_of])


def shown_expected(call: ExpectedCall) -> str:
    """Return an expected call: `?` follows an argument that may be left out, `*` means any value.

    >>> rules = {"city": ArgumentRule(("Rome",)), "days": ArgumentRule((2,), tolerance=1, optional=True)}
    >>> shown_expected(ExpectedCall("get_weather", rules, ignore=frozenset({"unit"}), mode="partial"))
    'get_weather(city="Rome", days?=2 ± 1, unit?=*, …)'
    """
    arguments = [
        f"{name}{'?' if rule.optional else ''}={shown_rule(rule)}"
        for name, rule in call.arguments.items()
        if name not in call.ignore
    ]
    arguments += [f"{name}?=*" for name in sorted(call.ignore)]
    arguments += ["…"] if call.mode == "partial" else []
    return _in_lines(call.tool, arguments)


def shown_found(call: FoundCall) -> str:
    """Return a call that was found: as a sentence names it, or with a line for each argument if that is long."""
    if call.arguments is None or len(call.name) + len(shown_json(call.arguments)) <= _WIDTH:
        return shown_call(call)
    arguments = [f"{shortened(name)}={shortened(shown_json(value))}" for name, value in call.arguments.items()]
    return _in_lines(shortened(call.name), [*arguments[:_MOST], *(["…"] if len(arguments) > _MOST else [])])


def _in_lines(name: str, arguments: Sequence[str]) -> str:
    """Return a call in one line, or with a line for each argument where that would be long."""
    line = f"{name}({', '.join(arguments)})"
    return line if len(line) <= _WIDTH else "".join([f"{name}(\n", *(f"  {one},\n" for one in arguments), ")"])


def shown_around(value: object, rule: ArgumentRule) -> tuple[str, str]:
    """Return a value and what is accepted in its place; if they are long, the text around their first difference.

    >>> shown_around("a" * 500 + "b", ArgumentRule(("a" * 500 + "c",)))[0][-30:]
    'aaaaaaaaaaab" (503 characters)'
    """
    found, accepted = shown_json(value), list(map(shown_json, rule.any_of))
    at = max((_first_difference(found, one) for one in accepted), default=0)
    return _cut(found, at), _rule(rule, [_cut(one, at) for one in accepted])


def _rule(rule: ArgumentRule, accepted: Sequence[str]) -> str:
    shown = few(accepted, " or ")
    shown += f" ± {rule.tolerance:g}" if rule.tolerance else ""
    return f"{shown} in any order" if rule.unordered and _has_list(rule.any_of) else shown


def _has_list(values: Iterable[object]) -> bool:
    return any(isinstance(value, (list, tuple, dict)) for value in values)


def _first_difference(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _cut(text: str, at: int) -> str:
    """Return a piece of a long text with the place in it."""
    if len(text) <= _WIDTH:
        return text
    start = max(at - _BEFORE, 0)
    end = start + _WIDTH - _BEFORE
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''} ({len(text)} characters)"
