"""The words for values, places and problems: short, and plain enough for a model to act on."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from llama3_tools.values import ArgumentProblem, ProblemReason, shortened

Path = tuple[str | int, ...]
"""The names and indexes that lead to a value."""

MAX_LISTED = 1000
"""How many problems, and how many changes, are listed."""
MAX_NAMED = 8
"""How many alternatives or values are named."""
ANYTHING = "anything"
"""What restricts nothing, in words."""

_SIMPLE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
_OF_PYTHON = {str: "string", bool: "boolean", type(None): "null", int: "integer", list: "array", dict: "object"}
_as_json = json.JSONEncoder(ensure_ascii=False).encode
_CLOSEST = "of the closest one, "
_LONG_PATH = 1000  # characters


def json_type(value: object) -> str:
    """Return the JSON type of a value, nothing for what is not JSON. An integral float is an integer, by the standard.

    >>> json_type(5.0), json_type(2.5), json_type(True), json_type(b"")
    ('integer', 'number', 'boolean', '')
    """
    found = _OF_PYTHON.get(type(value))
    if found is not None:
        return found
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return next((name for kind, name in _OF_PYTHON.items() if isinstance(value, kind)), "")


def json_path(path: Iterable[str | int]) -> str:
    """Write a path as a JSONPath; a long name in it is shortened, and so is a path that is still long.

    >>> json_path(["labels", 0, "first name"])
    "$.labels[0]['first name']"
    """
    return _cut("$" + "".join(map(_step, path)), _LONG_PATH)


def either(words: Sequence[str]) -> str:
    """Join the alternatives that there are for a value.

    >>> either(["integer", "null"]), either([])
    ('integer or null', 'nothing')
    """
    if len(words) > MAX_NAMED:
        words = [*words[: MAX_NAMED - 1], f"{len(words) - MAX_NAMED + 1} others"]
    *others, last = words or ["nothing"]
    return f"{', '.join(others)} or {last}" if others else last


def written(value: object) -> str:
    """Return a value as JSON, or nothing for what cannot be written: no JSON, too deep, or an integer without end."""
    try:
        return shortened(_as_json(value))
    except (TypeError, ValueError, RecursionError):
        return ""


def unknown_name(names: Collection[str]) -> str:
    """Say that a name is none of those that are declared.

    >>> unknown_name(["city", "days"])
    'unknown, expected only city, days'
    """
    return f"unknown, expected only {shortened(', '.join(names))}" if names else "unknown, expected none"


def said_of(message: str, rule: str, wanted: object) -> str:
    """Return what the JSON Schema library says, in one length, and the number that it wants if that is not said.

    >>> said_of("[1, 2] is too long", "maxItems", 1)
    '[1, 2] is too long (maxItems 1)'
    """
    number = f" ({rule} {wanted})" if type(wanted) is int and not message.endswith(str(wanted)) else ""
    return f"{_cut(message, 300)}{number}"


def problem_at(path: Path, declared: str, value: object, reason: ProblemReason, *, detail: str = "") -> ArgumentProblem:
    """Make a problem with its message.

    >>> problem_at(("days",), "integer", "soon", ProblemReason.WRONG_TYPE).message
    '$.days: expected integer, got the string "soon"'

    Args:
        path: where it is.
        declared: what the schema declares there.
        value: what is there.
        reason: what is wrong.
        detail: what to say instead of what was expected and what was found.
    """
    where = json_path(path)
    if reason is ProblemReason.MISSING_PARAMETER:
        detail = "missing" if declared == ANYTHING else f"missing, expected {declared}"
    message = f"{where}: {detail or f'expected {declared}, got {_shown(value)}'}"
    return ArgumentProblem(where, declared, value, reason, message)


def listed(problems: Iterable[ArgumentProblem]) -> tuple[ArgumentProblem, ...]:
    """List problems; of very many the first ones, and one more that says so."""
    found = tuple(islice(problems, MAX_LISTED + 1))
    if len(found) <= MAX_LISTED:
        return found
    detail = f"more does not fit than the {MAX_LISTED} places that are listed"
    return (*found[:-1], problem_at((), "", None, ProblemReason.TOO_MANY, detail=detail))


def no_alternative(closest: ArgumentProblem) -> str:
    """Say that no alternative fits, and what is wrong with the one that comes closest."""
    return f"fits none of the alternatives; {_CLOSEST}{closest.message.rpartition(_CLOSEST)[2]}"  # not of all levels


def _cut(text: str, limit: int) -> str:
    """Return a text without its middle if it is long: both ends say something."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}…{text[-half:]}"


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    step = shortened(step)
    if _SIMPLE_NAME.fullmatch(step):
        return f".{step}"
    escaped = step.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def _shown(value: object) -> str:
    kind = json_type(value)
    if kind == "null":
        return "null"
    if isinstance(value, (list, dict)):
        return f"an {kind} of {len(value)}" if value else f"an empty {kind}"
    as_json = written(value)
    return f"the {kind} {as_json}" if kind and as_json else f"a value of the type {type(value).__name__}"
