"""A suite's file as data, JSON or YAML 1.2, with the line of each value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeAlias

import yaml

from llama3_acceptance.suites.load import SuiteError

KeyPath: TypeAlias = "tuple[str | int, ...]"
"""The keys and indices that lead to a value."""

_ALIASED = 100_000
"""How many values may be there by aliases alone."""

_TAG = "tag:yaml.org,2002:"
_WORDS = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("merge", r"<<", ["<"]),
)
"""What a bare word means, and how it begins. `on`, `no`, `12:30` and a date are words, as they are in commands."""
_CONSTRUCTED = {*(f"{_TAG}{name}" for name in ("null", "bool", "float", "str", "seq", "map")), None}
_NEEDS_QUOTES = re.compile(r"mapping values are not allowed|(?:got|found) '[?:]'")


class Problem(NamedTuple):
    """What is wrong at one place of a file."""

    file: Path
    line: int
    """The line, from 1 on."""
    path: KeyPath
    """The keys and indices that lead there; empty for the whole file."""
    message: str
    """What is wrong, and what to do."""

    def __str__(self) -> str:
        """Return place and message: `suite.yaml:12: cases[2].expect.tool: …`."""
        keys = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path).removeprefix(".")
        return ": ".join(filter(None, (f"{self.file}:{self.line}", keys, self.message)))


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """What a file contains, and in which lines."""

    path: Path
    data: Any
    """What it contains, as JSON has it."""
    lines: Mapping[KeyPath, int] = field(repr=False)
    """The line of each value, from 1 on: of an item its own, else that of its key."""
    problems: tuple[Problem, ...] = ()
    """What it says twice. The last one counts."""

    def problem(self, path: KeyPath, message: str) -> Problem:
        """Say what is wrong at a place. A missing value has the line of its container."""
        line = next((self.lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self.lines), 1)
        return Problem(self.path, line, path, message)


def read_suite_file(path: Path) -> SuiteFile:
    """Read a file: as JSON if its name ends in `.json`, else as YAML 1.2.

    Args:
        path: a file in UTF-8.

    Raises:
        OSError: the file cannot be opened.
        SuiteError: it is neither YAML nor JSON.
    """
    try:
        text = path.read_text("utf-8-sig")
        if path.suffix.lower() != ".json":
            return _read_yaml(path, text)
        data = json.loads(text, parse_constant=_refuse)
        as_yaml = _read_yaml(path, text.replace("\t", " "))  # JSON is YAML but for its tabs
        return SuiteFile(path, data, as_yaml.lines, as_yaml.problems)
    except SuiteError:
        raise
    except UnicodeDecodeError as error:
        problem = Problem(path, 1, (), f"not UTF-8: {error}")
    except json.JSONDecodeError as error:
        problem = Problem(path, error.lineno, (), f"not JSON: {error.msg} (column {error.colno})")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = ", ".join(filter(None, (error.context, error.problem))) + _cure(error)
        problem = Problem(path, mark.line + 1 if mark else 1, (), f"not YAML: {message}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        problem = Problem(path, line, (), f"not YAML: the character {chr(error.character)!r} is not allowed")
    except RecursionError:
        problem = Problem(path, 1, (), "nested too deep")
    except (KeyError, ValueError) as error:  # a number that Python refuses, or a value that is not what its tag says
        problem = Problem(path, 1, (), str(error))
    raise SuiteError(str(problem))


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"not JSON: {word}")


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012 - as PyYAML declares it, and filled below
    yaml_constructors: ClassVar[dict[Any, Any]] = {
        tag: read for tag, read in yaml.SafeLoader.yaml_constructors.items() if tag in _CONSTRUCTED
    }


for _name, _pattern, _first in _WORDS:
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"^(?:{_pattern})$"), _first)
_Loader.add_constructor(f"{_TAG}int", lambda _, node: int(node.value))


def _read_yaml(path: Path, text: str) -> SuiteFile:
    loader = _Loader(text)
    node = loader.get_single_node()
    if node is None:
        return SuiteFile(path, None, {})
    lines: dict[KeyPath, int] = {}
    twice: list[Problem] = []
    for keys, line in _lines(path, node, (), node.start_mark.line + 1, twice):
        lines[keys] = line
        if len(lines) > len(text) + _ALIASED:  # each value that is written takes a character
            told = "with its aliases, it has more values than can be read"
            raise SuiteError(str(Problem(path, lines[keys[:1]], keys[:1], told)))
    return SuiteFile(path, loader.construct_document(node), lines, tuple(twice))


def _cure(error: yaml.MarkedYAMLError) -> str:
    """Say what to do about text that YAML takes for something else."""
    if _NEEDS_QUOTES.search(str(error.problem)):
        return ": text with ': ' or '?' needs quotes, as in 'What is 5?'"
    return ": close the bracket, or put a comma before this" if "flow" in str(error.context) else ""


def _lines(
    file: Path, node: yaml.Node, path: KeyPath, line: int, twice: list[Problem]
) -> Iterator[tuple[KeyPath, int]]:
    """Yield the line of each value. An alias inside what it refers to is nested too deep."""
    yield path, line
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _lines(file, item, (*path, index), item.start_mark.line + 1, twice)
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            at = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag not in {f"{_TAG}str", f"{_TAG}merge"}:
                raise SuiteError(str(Problem(file, at, path, "a key is not a word: put it in quotes")))
            if key.value in first:
                told = f"written twice, first in line {first[key.value]}"
                twice.append(Problem(file, at, (*path, key.value), told))
            first.setdefault(key.value, at)
            yield from _lines(file, value, (*path, key.value), at, twice)
