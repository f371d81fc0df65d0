"""The words for schemas, values, places and problems: short, and plain enough for a model to act on."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from llama3_tools.arguments.references import resolve_reference
from llama3_tools.values import ArgumentProblem, ProblemReason, shortened

Path = tuple[str | int, ...]
"""The names and indexes that lead to a value."""

MAX_LISTED = 1000
"""How many problems, and how many changes, are listed."""

_SIMPLE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
_OF_PYTHON = {str: "string", bool: "boolean", type(None): "null", int: "integer", list: "array", dict: "object"}
_ANYTHING = "anything"
_NOTHING = "nothing"
_CLOSEST = "of the closest one, "
_DETAIL = 4  # levels of a schema, and of references, that are put into words
_LONG_PATH = 1000  # characters
_WIDTH = 8  # alternatives or values that are named


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
    written = "$" + "".join(map(_step, path))
    half = _LONG_PATH // 2
    return written if len(written) <= _LONG_PATH else f"{written[:half]}…{written[-half:]}"


def declared_as(schema: object, root: object = None) -> str:
    """Put a schema into a few words.

    >>> declared_as({"type": "array", "items": {"type": ["integer", "null"]}})
    'array of (integer or null)'
    >>> declared_as({"enum": ["on", "off"]})
    '"on" or "off"'

    Args:
        schema: the schema.
        root: the schema that its references refer to.
    """
    words = _declared(schema, root, _DETAIL)
    return shortened(_or([word for word in words if word != _NOTHING] or words))


def unknown_name(names: Collection[str]) -> str:
    """Say that a name is none of those that are declared.

    >>> unknown_name(["city", "days"])
    'unknown, expected only city, days'
    """
    return f"unknown, expected only {shortened(', '.join(names))}" if names else "unknown, expected none"


def said_of(value: object, message: str, rule: str, wanted: object) -> str:
    """Shorten what the JSON Schema library says of a value, which it may quote, and add the number if it is not said.

    >>> said_of([1, 2], "[1, 2] is too long", "maxItems", 1)
    'an array of 2 is too long (maxItems 1)'
    """
    try:
        written = repr(value)
    except (ValueError, RecursionError):
        written = ""
    subject = _shown(value) if written and message.startswith(written) else ""
    said = message.removeprefix(written) if subject else message
    if type(wanted) is int and str(wanted) not in said:
        said = f"{said} ({rule} {wanted})"
    return shortened(f"{subject}{said}", 400)


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
        detail = "missing" if declared == _ANYTHING else f"missing, expected {declared}"
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
    written = _written(value)
    return f"the {kind} {written}" if kind and written else f"a value of the type {type(value).__name__}"


def _written(value: object) -> str:
    """Return a value as JSON, or nothing for what cannot be written: no JSON, too deep, or an integer without end."""
    try:
        return shortened(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return ""


def _or(words: Sequence[str]) -> str:
    words = list(dict.fromkeys(words))
    if len(words) > _WIDTH:
        words = [*words[: _WIDTH - 1], f"{len(words) - _WIDTH + 1} others"]
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _declared(schema: object, root: object, detail: int) -> list[str]:
    """Return the alternatives of a schema, each in words."""
    if schema is False:
        return [_NOTHING]
    if not isinstance(schema, Mapping) or not detail:
        return [_ANYTHING]
    words = _own_words(schema, root, detail)
    for inner in (resolve_reference(root, schema.get("$ref")), *_listed(schema, "allOf")):
        words = words or [word for word in _declared(inner, root, detail - 1) if word != _ANYTHING]
    for key in ("anyOf", "oneOf"):
        inner_words = [_declared(inner, root, detail - 1) for inner in _listed(schema, key)]
        words = words or [word for alternative in inner_words for word in alternative]
    return [*(words or [_ANYTHING]), *(["null"] if words and schema.get("nullable") is True else [])]


def _own_words(schema: Mapping[str, Any], root: object, detail: int) -> list[str]:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list) and values:
        return list(map(_written, values))
    types = schema.get("type")
    words = [word for word in (types if isinstance(types, list) else [types]) if isinstance(word, str)]
    items = schema.get("items")
    if "array" in words and isinstance(items, Mapping):
        inner = _declared(items, root, detail - 1)
        if inner != [_ANYTHING]:
            of = _or(inner) if len(inner) == 1 else f"({_or(inner)})"
            words[words.index("array")] = f"array of {of}"
    return words


def _listed(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return found[:_WIDTH] if isinstance(found, list) else []
