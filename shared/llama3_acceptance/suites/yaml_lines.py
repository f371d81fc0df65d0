"""YAML 1.2 with the line of every key and value. Needs PyYAML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, TypeAlias

try:
    import yaml
except ImportError as error:
    from llama3_tools.errors import MissingExtraError

    raise MissingExtraError("suites need PyYAML: pip install 'llama3-tools[acceptance]'") from error

from llama3_tools.values import shortened

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


class YamlError(ValueError):
    """What is wrong with a text: it is not YAML, or says one thing twice."""

    def __init__(self, line: int, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.path = path


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}  # noqa: RUF012 - as PyYAML declares it, and filled below
    yaml_constructors: ClassVar[dict[Any, Any]] = {
        tag: read for tag, read in yaml.SafeLoader.yaml_constructors.items() if tag in _CONSTRUCTED
    }


def _checked(name: str, read: Callable[[_Loader, yaml.ScalarNode], object]) -> Callable[[Any, Any], object]:
    """Refuse a value that is not of the type that its tag says."""

    def read_checked(loader: _Loader, node: yaml.ScalarNode) -> object:
        try:
            return read(loader, node)
        except (KeyError, ValueError):
            problem = f"{shortened(str(node.value))!r} is no {name} that can be read"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    return read_checked


for _name, _pattern, _first in _WORDS:
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(f"^(?:{_pattern})$"), _first)
for _name, _read in {"bool": _Loader.construct_yaml_bool, "float": _Loader.construct_yaml_float}.items():
    _Loader.add_constructor(f"{_TAG}{_name}", _checked(_name, _read))
_Loader.add_constructor(f"{_TAG}int", _checked("int", lambda _, node: int(node.value)))


class YamlDocument(NamedTuple):
    """One document, read."""

    data: Any
    """What it holds, as JSON has it."""
    lines: dict[KeyPath, int]
    """The lines, from 1 on: of an item its own, else that of its key."""
    twice: list[YamlError]
    """The keys that stand twice in one mapping; the last one counts."""


def read_yaml(text: str) -> YamlDocument:
    r"""Read one document.

    >>> read_yaml("state: on\nrooms:\n- attic\n")[:2]
    ({'state': 'on', 'rooms': ['attic']}, {(): 1, ('state',): 1, ('rooms',): 2, ('rooms', 0): 3})

    Raises:
        YamlError: it cannot be read.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return YamlDocument(None, {}, [])
        lines: dict[KeyPath, int] = {}
        twice: list[YamlError] = []
        for path, line in _lines(node, (), node.start_mark.line + 1, (), twice):
            lines[path] = line
            if len(lines) > len(text) + _ALIASED:  # each value that is written takes a character
                raise YamlError(lines[path[:1]], path[:1], "with its aliases, it has more values than can be read")
        return YamlDocument(loader.construct_document(node), lines, twice)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = ", ".join(filter(None, (error.context, error.problem))) + _cure(error)
        raise YamlError(mark.line + 1 if mark else 1, (), f"not YAML: {message}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        raise YamlError(line, (), f"not YAML: the character {chr(error.character)!r} is not allowed") from error
    except RecursionError as error:
        raise YamlError(1, (), "nested too deep") from error


def _cure(error: yaml.MarkedYAMLError) -> str:
    """Say what to do about text that YAML takes for something else."""
    problem = str(error.problem)
    if "mapping values are not allowed" in problem:
        return ": text that holds ': ' has to stand in quotes"
    if "flow" not in str(error.context):
        return ""
    _, _, found = problem.rpartition("but got " if "but got " in problem else "but found ")
    if found == "'?'":
        return ": put text that holds '?' in quotes, as in 'What is 5?'"
    if found == "':'":
        return ": close the bracket before it, or put text that holds ':' in quotes, as in 'Note: buy milk'"
    if found == "'<scalar>'":
        return ": a comma is missing, or text goes on after its closing quote"
    return ": close the bracket"


def _lines(
    node: yaml.Node, path: KeyPath, line: int, above: tuple[yaml.Node, ...], twice: list[YamlError]
) -> Iterator[tuple[KeyPath, int]]:
    if any(node is one for one in above):
        raise YamlError(line, path, "the alias stands in what it refers to")
    yield path, line
    above = (*above, node)
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _lines(item, (*path, index), item.start_mark.line + 1, above, twice)
    if isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            at = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag not in (f"{_TAG}str", f"{_TAG}merge"):
                raise YamlError(at, path, "a key is not a word: put it in quotes")
            if key.value in first:
                twice.append(YamlError(at, (*path, key.value), f"written twice, first in line {first[key.value]}"))
            first.setdefault(key.value, at)
            yield from _lines(value, (*path, key.value), at, above, twice)
