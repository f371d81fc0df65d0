"""How many mistyped arguments fit their type after coercion.

    python benchmarks/mistyped_arguments.py calls.jsonl

Each line of the file is a call as a JSON object: its `arguments`, and under `expected_types` what the tool's schema
declares for those that are mistyped, as the name of a JSON type or as a schema.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from llama3_tools import ArgumentProblem, coerce_arguments
from llama3_tools.arguments.wording import declared_as

_EXPECTED = 'a call such as {"arguments": {"domain": "light"}, "expected_types": {"domain": "array"}}'


class Argument(NamedTuple):
    """A mistyped argument, and what coercion made of it."""

    declared: str
    """The type that its schema has."""
    problems: tuple[ArgumentProblem, ...]
    """What is still wrong with it."""


def main(command_line: Sequence[str] | None = None) -> None:
    """Print the table for the file that the command line names."""
    parser = argparse.ArgumentParser(description="How many mistyped arguments fit their type after coercion.")
    parser.add_argument("calls", type=Path, help="a JSON Lines file: `arguments` and `expected_types` a line")
    path: Path = parser.parse_args(command_line).calls
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"{path} cannot be read: {error}")
    calls = []
    for number, line in enumerate(lines, 1):
        call = _read(line) if line.strip() else []
        if call is None:
            parser.error(f"{path}, line {number}: expected {_EXPECTED}")
        calls += [call] if call else []
    if not calls:
        parser.error(f"{path}: no calls in it")
    for line in report(calls):
        print(line)


def coerced(call: dict[str, Any]) -> Iterator[Argument]:
    """Coerce each mistyped argument of a call by what is declared for it."""
    for name, declared in call["expected_types"].items():
        schema = {"type": declared} if isinstance(declared, str) else declared
        given = {name: call["arguments"][name]}
        problems = coerce_arguments(given, {"type": "object", "properties": {name: schema}}).problems
        yield Argument(declared_as(schema), problems)


def _read(line: str) -> list[Argument] | None:
    try:
        return list(coerced(json.loads(line)))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def report(calls: Sequence[Sequence[Argument]]) -> Iterator[str]:
    """Yield the lines of the table, and what remains."""
    arguments = [argument for call in calls for argument in call]
    yield f"{'':12}{'mistyped':>10}{'fit now':>10}{'share':>9}"
    for declared in dict.fromkeys(argument.declared for argument in arguments):
        yield _row(declared, [not argument.problems for argument in arguments if argument.declared == declared])
    yield _row("arguments", [not argument.problems for argument in arguments])
    yield _row("calls", [not any(argument.problems for argument in call) for call in calls])
    remaining = Counter(_cause(problem) for argument in arguments for problem in argument.problems)
    if remaining:
        yield "\nWhat remains:"
    for cause, count in remaining.most_common():
        yield f"{count:6}  {cause}"


def _row(name: str, fit: Iterable[bool]) -> str:
    outcomes = list(fit)
    share = sum(outcomes) / len(outcomes) if outcomes else 1
    return f"{name:12}{len(outcomes):10}{sum(outcomes):10}{share:9.1%}"


def _cause(problem: ArgumentProblem) -> str:
    """Return the reason and the message, without the place."""
    return f"{problem.reason}: {problem.message.removeprefix(problem.path + ': ')}"


if __name__ == "__main__":
    main()
