"""One row of a table or a file: an output that can be read, or the reason why it cannot."""

from __future__ import annotations

import json
from enum import Enum
from typing import NamedTuple


class RowProblem(str, Enum):
    """Why a row cannot be read."""

    NO_TEXT = "no_text"
    """It has no text: null, or nothing under that name."""
    NOT_TEXT = "not_text"
    """It has something else in the place of the text, such as a number."""
    LONE_SURROGATE = "lone_surrogate"
    """Its text contains half of a surrogate pair, which no encoding can write."""
    NOT_UTF_8 = "not_utf_8"
    """Its bytes are not UTF-8."""
    NOT_JSON = "not_json"
    """The line is not a JSON object."""
    TOO_LONG = "too_long"
    """The line is longer than any output."""
    BAD_TOOLS = "bad_tools"
    """Its tools cannot be read."""
    BAD_FINISH_REASON = "bad_finish_reason"
    """Its finish reason is not text, so that nobody knows whether the output is whole."""

    def __str__(self) -> str:
        """Return the bare word, as it is written in results and reports."""
        return self.value


class RowError(ValueError):
    """A row that cannot be read.

    >>> str(RowError(RowProblem.NO_TEXT, "there is no 'text'"))
    "no_text: there is no 'text'"
    """

    def __init__(self, problem: RowProblem, detail: str) -> None:
        super().__init__(f"{problem}: {detail}")
        self.problem = problem
        """Why, in one word."""


class Row(NamedTuple):
    """What a row says of one output."""

    key: str
    """What its calls' ids are made from."""
    text: str | RowError
    """The output, or why there is none."""
    tools: str | RowError | None = None
    """Its tools as JSON; `None`: it has none."""
    finish_reason: str | RowError | None = None
    """The server's word for why the output ended; `None`: it has none."""
    id: str | None = None
    """Its key in the input; `None`: it has none."""


def checked_text(value: object, column: str) -> str | RowError:
    r"""Return a value if it is text that can be written, or else why it is not.

    >>> checked_text("Hello.", "text")
    'Hello.'
    >>> checked_text(5, "text"), checked_text("\ud800", "text")
    (RowError("not_text: 'text' is an int"), RowError("lone_surrogate: 'text' has half a surrogate pair at offset 0"))
    """
    if value is None:
        return RowError(RowProblem.NO_TEXT, f"there is no {column!r}")
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            return RowError(RowProblem.NOT_UTF_8, f"{column!r} is not UTF-8 at byte {error.start}")
    if not isinstance(value, str):
        kind = type(value).__name__
        return RowError(RowProblem.NOT_TEXT, f"{column!r} is {'an' if kind[0] in 'aeiou' else 'a'} {kind}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            where = f"{column!r} has half a surrogate pair at offset {error.start}"
            return RowError(RowProblem.LONE_SURROGATE, where)
    return value


def checked_reason(value: object, column: str) -> str | RowError | None:
    """Return a finish reason as text, or why it is not text.

    >>> checked_reason(b"length", "why"), checked_reason(None, "why")
    ('length', None)
    >>> checked_reason(1, "why")
    RowError("bad_finish_reason: not_text: 'why' is an int")
    """
    return _checked_if_any(value, column, RowProblem.BAD_FINISH_REASON)


def checked_tools(value: object, column: str) -> str | RowError | None:
    r"""Return the tools of a row as JSON, or why they are not text.

    >>> checked_tools([], "fns"), checked_tools(b"\xff", "fns")
    ('[]', RowError("bad_tools: not_utf_8: 'fns' is not UTF-8 at byte 0"))
    """
    if value is None or isinstance(value, (str, bytes)):
        return _checked_if_any(value, column, RowProblem.BAD_TOOLS)
    return json.dumps(value, default=str)


def _checked_if_any(value: object, column: str, problem: RowProblem) -> str | RowError | None:
    if value is None:
        return None
    text = checked_text(value, column)
    return RowError(problem, str(text)) if isinstance(text, RowError) else text


def written_id(value: object) -> str | None:
    r"""Return a row's key as text: other values as JSON, and bytes that are not UTF-8 in hexadecimal digits.

    >>> written_id("a"), written_id(7), written_id(True), written_id(b"a"), written_id(b"\xff\x00"), written_id(None)
    ('a', '7', 'true', 'a', 'ff00', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (bool, list, dict)) else str(value)
