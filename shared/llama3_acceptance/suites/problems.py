"""What is wrong in a suite, gathered so that all of it is told at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from llama3_acceptance.suites.file import KeyPath, Problem, SuiteFile
from llama3_acceptance.suites.load import SuiteError
from llama3_acceptance.suites.models import (
    AnyOf,
    Call,
    Match,
    Message,
    PoliciesOfFile,
    PromptOfFile,
    ReadingOfFile,
    Rule,
)
from llama3_tools.errors import did_you_mean
from llama3_tools.values import shortened

_SHOWN = 60
_TAG = re.compile(r"<\w+>")
"""How `models` marks what kind of value is meant, beside the keys and indices of a place."""
_MODELS: dict[str | int, type[BaseModel]] = {
    "prompt": PromptOfFile,
    "reading": ReadingOfFile,
    "policies": PoliciesOfFile,
    "match": Match,
    "history": Message,
    "examples": Message,
    "<any_of>": AnyOf,
    "<call>": Call,
    "<calls>": Call,
    "<rule>": Rule,
}
"""The value under a key, or of a kind."""
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Problems:
    """What is wrong so far."""

    file: SuiteFile
    """The suite's file. Its tools may be in another one."""
    found: list[Problem] = field(default_factory=list)
    """The problems, in any order."""

    def add(self, path: KeyPath, message: str) -> None:
        """Add what is wrong at a place of the suite's file."""
        self.found.append(self.file.problem(path, message))

    def validated(self, model: type[_Model], path: KeyPath, value: object) -> _Model | None:
        """Return a value as a model; `None` if it is none, and then what is wrong with it is added."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                keys = (key for key in one["loc"] if not (isinstance(key, str) and _TAG.fullmatch(key)))
                self.add(*_told((*path, *keys), one, model))
        return None

    def error(self) -> SuiteError:
        """Return the error that has a line for each problem, in the order of the lines."""
        ordered = sorted(self.found, key=lambda one: (one.file == self.file.path, one.line))
        return SuiteError("\n".join(map(str, ordered)))


def _told(path: KeyPath, error: ErrorDetails, root: type[BaseModel]) -> tuple[KeyPath, str]:
    """Return where something is wrong, and what: in pydantic's words, where these do not name our classes."""
    kind, loc, value = error["type"], error["loc"], error["input"]
    if kind == "missing":
        return path[:-1], f"{path[-1]} is missing"
    if kind == "extra_forbidden":
        keys = _keys_at(loc[:-1], root)
        return path, f"there is no such key, only {', '.join(keys)}{did_you_mean(str(loc[-1]), keys)}"
    if kind == "value_error":
        return path, error["msg"].removeprefix("Value error, ")
    own = {
        "too_short": "expected at least one",
        "bool_type": "expected true or false",
        **dict.fromkeys(("string_type", "string_pattern_mismatch"), "expected text"),
    }
    message = own.get(kind) or error["msg"].replace("Input should be", "expected")
    if kind == "model_type":
        message = f"expected an object with the keys {', '.join(_keys_at(loc, root))}"
    words = re.findall(r"'(\w+)'", message) if kind == "literal_error" and isinstance(value, str) else ()
    kinds = {dict: "an object", list: "a list" if value else "an empty list", type(None): "nothing"}
    got = kinds.get(type(value)) or shortened(repr(value), _SHOWN)
    return path, f"{message}, got {got}{did_you_mean(str(value), words) if words else ''}"


def _keys_at(loc: KeyPath, root: type[BaseModel]) -> Sequence[str]:
    model = next((_MODELS[key] for key in reversed(loc) if key in _MODELS), root)
    return [one.alias or name for name, one in model.model_fields.items()]
