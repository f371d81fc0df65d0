"""An extraction as the value of one row: its type in Arrow, and the same in Python's dicts and lists."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from llama3_tools import Extraction, Rejection, ToolCall

_CHANGE = pa.struct([("path", pa.string()), ("declared", pa.string())])
_PROBLEM = pa.struct([("path", pa.string()), ("reason", pa.string()), ("message", pa.string())])
_TOOL_CALL = pa.struct(
    [
        ("name", pa.string()),
        ("arguments_json", pa.string()),
        ("id", pa.string()),
        ("format", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("changes", pa.list_(_CHANGE)),
        ("problems", pa.list_(_PROBLEM)),
        ("deviations", pa.list_(pa.string())),
        ("repaired_from", pa.string()),
    ]
)
_REJECTION = pa.struct(
    [
        ("reason", pa.string()),
        ("name", pa.string()),
        ("detail", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("is_attempt", pa.bool_()),
        ("text", pa.string()),
    ]
)

EXTRACTION: pa.DataType = pa.struct(
    [
        ("content", pa.string()),
        ("reasoning", pa.string()),
        ("tool_calls", pa.list_(_TOOL_CALL)),
        ("rejections", pa.list_(_REJECTION)),
        ("error", pa.string()),
    ]
)
"""The type of the column `extraction`. Its fields are those of `llama3_tools.Extraction`, and `error`.

`start` and `end` are offsets into the output in characters, as in a `Span`. `arguments_json` is the model's own text,
or, with coercion, the arguments as they fit; then `changes` says what was changed, and `problems` what does not fit all
the same. `error` says why a row could not be read; then all else is empty.
"""

Result = dict[str, Any]
"""The value of one row, with the fields of `EXTRACTION`."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ID_BYTES = 12


def call_id(key: str, index: int) -> str:
    """Return the id of a row's call: the same in every run, in the form of those that are made here.

    >>> call_id("a.jsonl:7", 0)
    'call_dd0a198171c98adccadfe6d4'

    Args:
        key: the key of the row.
        index: which of its calls it is, from 0.
    """
    digest = blake2b(f"{key}\0{index}".encode("utf-8", "backslashreplace"), digest_size=_ID_BYTES)
    return f"call_{digest.hexdigest()}"


def result_of(extraction: Extraction, text: str, key: str, *, coerced: bool) -> Result:
    """Return what was extracted from a row.

    Args:
        extraction: what was extracted.
        text: the output.
        key: the key of the row, which the ids of its calls are made from.
        coerced: whether the arguments are those after coercion, with what was changed; or the model's own.
    """
    return {
        "content": extraction.content,
        "reasoning": extraction.reasoning,
        "tool_calls": [
            _call(call, call_id(key, index), coerced=coerced) for index, call in enumerate(extraction.tool_calls)
        ],
        "rejections": [_rejection(rejection, text) for rejection in extraction.rejections],
        "error": None,
    }


def error_result(error: ValueError) -> Result:
    """Return the value of a row that could not be read.

    >>> error_result(ValueError("no_text: there is no 'text'"))["error"]
    "no_text: there is no 'text'"
    """
    return {"content": None, "reasoning": None, "tool_calls": [], "rejections": [], "error": str(error)}


def _call(call: ToolCall, call_id: str, *, coerced: bool) -> Result:
    start, end = call.span
    return {
        "name": call.name,
        "arguments_json": call.usable_json if coerced else call.arguments_json,
        "id": call_id,
        "format": call.format,
        "start": start,
        "end": end,
        "changes": [{"path": one.path, "declared": one.declared} for one in call.changes] if coerced else [],
        "problems": [{"path": one.path, "reason": one.reason.value, "message": one.message} for one in call.problems]
        if coerced
        else [],
        "deviations": list(call.deviations),
        "repaired_from": call.repaired_from,
    }


def _rejection(rejection: Rejection, text: str) -> Result:
    start, end = rejection.span
    return {
        "reason": rejection.reason.value,
        "name": rejection.name,
        "detail": rejection.detail,
        "start": start,
        "end": end,
        "is_attempt": rejection.is_attempt,
        "text": text[start:end],
    }


def arrow_results(results: list[Result]) -> pa.Array:
    """Return the values of rows as an Arrow array of the type `EXTRACTION`.

    Raises:
        ValueError: they are more than one array can contain.
    """
    try:
        array = pa.array(results, EXTRACTION)
    except UnicodeEncodeError:
        array = pa.array([writable(result) for result in results], EXTRACTION)
    if isinstance(array, pa.ChunkedArray):
        raise ValueError(  # noqa: TRY004 (of the right type, and too much)
            f"the results of {len(results)} rows have more than 2 GB of text, the most that an Arrow array can: "
            "extract fewer rows at once, as those of Table.to_batches(max_chunksize=…)"
        )
    return array


def writable(value: Any) -> Any:  # noqa: ANN401 (any value of JSON)
    r"""Return a value in which halves of surrogate pairs are written out, as no encoding has them.

    No output contains one, as such a row is an error. A key may, and a tool's schema, which problems quote.

    >>> writable({"message": "expected \ud800"})
    {'message': 'expected \\ud800'}
    """
    if isinstance(value, str):
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", value)
    if isinstance(value, list):
        return [writable(one) for one in value]
    if isinstance(value, dict):
        return {name: writable(one) for name, one in value.items()}
    return value
