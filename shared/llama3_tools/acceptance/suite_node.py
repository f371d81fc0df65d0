"""One value of a suite's file, which can say where it stands when something is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from llama3_tools.acceptance.suite_file import SuiteError, SuiteFile

if TYPE_CHECKING:
    from llama3_tools.acceptance.yaml_lines import KeyPath

__all__ = ["Node", "did_you_mean"]

_Word = TypeVar("_Word", bound=str)


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
        raise SuiteError(self.file.problem(self.path, message))

    def members(self, keys: Sequence[str], *, required: Iterable[str] = ()) -> dict[str, Node]:
        """Give the values of an object by key.

        Args:
            keys: the keys that there are.
            required: those of them that have to be there.
        """
        members = {member.path[-1]: member for member in self.entries(f"an object with the keys {', '.join(keys)}")}
        for key, member in members.items():
            if key not in keys:
                member.fail(f"there is no such key{did_you_mean(str(key), keys)}; there are {', '.join(keys)}")
        for key in required:
            if key not in members:
                self.fail(f"{key} is missing")
        return {str(key): member for key, member in members.items()}

    def entries(self, expected: str = "an object") -> Iterator[Node]:
        """Give the values of an object whose keys are the suite's own."""
        if not isinstance(self.value, dict):
            self._fail_as(expected)
        return (Node(self.file, (*self.path, key), value) for key, value in self.value.items())

    def items(self, expected: str = "a list", *, at_least: int = 0) -> list[Node]:
        """Give the items of a list."""
        if not isinstance(self.value, list) or len(self.value) < at_least:
            self._fail_as(expected)
        return [Node(self.file, (*self.path, index), item) for index, item in enumerate(self.value)]

    def text(self) -> str:
        """Give a string that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            self._fail_as("text")
        return str(self.value)

    def flag(self) -> bool:
        """Give true or false."""
        if not isinstance(self.value, bool):
            self._fail_as("true or false")
        return bool(self.value)

    def tolerance(self) -> float:
        """Give a number that is not below zero."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not self.value >= 0:
            self._fail_as("a number that is not below zero")
        return self.value

    def one_of(self, words: Sequence[_Word]) -> _Word:
        """Give one of some words."""
        word = next((word for word in words if word == self.value), None)
        if word is None:
            self._fail_as(" or ".join(words), did_you_mean(self.value, words) if isinstance(self.value, str) else "")
        return word

    def names(self, expected: str = "a list of names") -> list[str]:
        """Give the strings of a list."""
        return [item.text() for item in self.items(expected)]

    def _fail_as(self, expected: str, hint: str = "") -> NoReturn:
        value = self.value
        kinds = {dict: "an object", list: "a list" if value else "an empty list", type(None): "nothing"}
        self.fail(f"expected {expected}, got {kinds.get(type(value), repr(value))}{hint}")


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Give the end of a message about a word that is none of those known, if one of them is like it.

    >>> did_you_mean("get_wether", ["get_weather", "clock"])
    "; did you mean 'get_weather'?"
    """
    close = get_close_matches(word, list(words), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
