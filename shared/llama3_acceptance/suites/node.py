"""One value of a suite's file, which can say where it stands when something is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from llama3_acceptance.suites.file import SuiteError, SuiteFile
from llama3_tools.errors import did_you_mean
from llama3_tools.values import shortened

if TYPE_CHECKING:
    from llama3_acceptance.suites.yaml_lines import KeyPath

_SHOWN = 60

_Word = TypeVar("_Word", bound=str)
_Read = TypeVar("_Read")
_Default = TypeVar("_Default")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place. What is asked of it raises a `SuiteError` where the value is another one."""

    file: SuiteFile
    """The file that it stands in."""
    path: KeyPath
    """The keys and indices that lead to it."""
    value: Any
    """The value, as JSON has it."""

    @property
    def line(self) -> int:
        """Its line, from 1 on."""
        return self.file.line(self.path)

    def fail(self, message: str) -> NoReturn:
        """Say what is wrong with it.

        Raises:
            SuiteError: always.
        """
        raise SuiteError(self.problem(message))

    def problem(self, message: str) -> str:
        """Return what is wrong with it, with its place."""
        return self.file.problem(self.path, message)

    def members(self, keys: Sequence[str], *, required: Iterable[str] = ()) -> Members:
        """Return the values of an object by key.

        Args:
            keys: the keys that there are.
            required: those of them that have to be there.
        """
        nodes = {str(node.path[-1]): node for node in self.entries(f"an object with the keys {', '.join(keys)}")}
        problems = [
            node.problem(f"there is no such key, only {', '.join(keys)}{did_you_mean(key, keys)}")
            for key, node in nodes.items()
            if key not in keys
        ]
        problems += [self.problem(f"{key} is missing") for key in required if key not in nodes]
        return Members(nodes, problems)

    def entries(self, expected: str = "an object") -> Iterator[Node]:
        """Return the values of an object whose keys are the suite's own."""
        if not isinstance(self.value, dict):
            self._fail_as(expected)
        return (Node(self.file, (*self.path, key), value) for key, value in self.value.items())

    def items(self, expected: str, *, at_least: int) -> list[Node]:
        """Return the items of a list."""
        if not isinstance(self.value, list) or len(self.value) < at_least:
            self._fail_as(expected)
        return [Node(self.file, (*self.path, index), item) for index, item in enumerate(self.value)]

    def each(self, read: Callable[[Node], _Read], expected: str, *, at_least: int = 0) -> list[_Read]:
        """Read each item of a list. What is wrong in any of them is told at once."""
        members = Members({str(index): item for index, item in enumerate(self.items(expected, at_least=at_least))}, [])
        found = [members.read(index, read, None) for index in members.nodes]
        members.check()
        return [one for one in found if one is not None]

    def text(self) -> str:
        """Return a string that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            self._fail_as("text")
        return str(self.value)

    def require_content(self) -> None:
        """Require what a message may say."""
        if not isinstance(self.value, (str, list, type(None))):
            self._fail_as("text or a list of parts")

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self._fail_as("true or false")
        return bool(self.value)

    def tolerance(self) -> float:
        """Return a number that is not below zero."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not self.value >= 0:
            self._fail_as("a number that is not below zero")
        return self.value

    def one_of(self, words: Sequence[_Word]) -> _Word:
        """Return one of some words."""
        word = next((word for word in words if word == self.value), None)
        if word is None:
            self._fail_as(" or ".join(words), did_you_mean(self.value, words) if isinstance(self.value, str) else "")
        return word

    def names(self) -> list[str]:
        """Return the strings of a list."""
        return self.each(Node.text, "a list of names")

    def _fail_as(self, expected: str, hint: str = "") -> NoReturn:
        value = self.value
        kinds = {dict: "an object", list: "a list" if value else "an empty list", type(None): "nothing"}
        self.fail(f"expected {expected}, got {kinds.get(type(value)) or shortened(repr(value), _SHOWN)}{hint}")


@dataclass(frozen=True, slots=True)
class Members:
    """The values of an object by key. What is wrong with them is gathered, so that all of it is told at once."""

    nodes: dict[str, Node]
    """The values, also under keys that there are not."""
    problems: list[str]
    """What is wrong so far."""

    def read(self, key: str, read: Callable[[Node], _Read], default: _Default) -> _Read | _Default:
        """Read one of the values, or return the default if it is not there, or cannot be read."""
        try:
            return read(self.nodes[key]) if key in self.nodes else default
        except SuiteError as error:
            self.problems.append(str(error))
            return default

    def check(self) -> None:
        """Say what was wrong, if anything was.

        Raises:
            SuiteError: with a line for each problem.
        """
        if self.problems:
            raise SuiteError("\n".join(self.problems))
