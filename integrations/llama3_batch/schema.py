"""The type of the column that is added: what was extracted from one output, in Arrow."""

from __future__ import annotations

import pyarrow as pa

SCHEMA_VERSION = 1
"""Goes up if a field changes its meaning or its type."""

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
