"""`extract_batch`: what is in the column that it adds, and what it refuses."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from fragments import FRAGMENTS, TOOLS
from llama3_batch import EXTRACTION, extract_batch
from llama3_tools import OnUnknownTool, ReadOptions, ToolDefinitionError, extract

CODE = "<|python_tag|>print(1)"
CALL = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "3"}}'
TOOL = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
}
MIXED = f"Let me see. {CALL} `{CALL}` Grüße 👩‍🚀"


def values(batch: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    column = batch["extraction"]
    assert column.type == EXTRACTION
    return list(column.to_pylist())


def one(text: object, kind: pa.DataType | None = None, **options: Any) -> dict[str, Any]:
    """What is extracted from a table of one row."""
    (value,) = values(extract_batch(pa.table({"text": pa.array([text], kind)}), **options))
    return value


@pytest.mark.parametrize("make", [pa.table, pa.record_batch])
def test_a_table_gives_a_table_and_a_batch_a_batch_with_its_other_columns(
    make: Callable[[dict[str, list[Any]]], Any],
) -> None:
    batch = make({"key": [1, 2], "text": ["Hello.", CALL]})
    extracted = extract_batch(batch)
    assert type(extracted) is type(batch)
    assert extracted.schema.names == ["key", "text", "extraction"]
    assert extracted.select(["key", "text"]).equals(batch)
    assert [len(value["tool_calls"]) for value in values(extracted)] == [0, 1]


def test_a_table_in_chunks_and_an_empty_one_keep_their_rows() -> None:
    table = pa.concat_tables([pa.table({"text": ["a", CALL]}), pa.table({"text": ["b"]})])
    assert [value["content"] for value in values(extract_batch(table))] == ["a", None, "b"]
    empty = pa.table({"text": pa.array([], pa.string())})
    assert values(extract_batch(empty)) == []


KINDS = ["string", "large_string", "binary", "large_binary", "string_view"]


@pytest.mark.parametrize("kind", [getattr(pa, kind)() for kind in KINDS], ids=KINDS)
def test_text_may_be_of_any_type_that_holds_text(kind: pa.DataType) -> None:
    text = MIXED.encode() if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) else MIXED
    assert one(text, kind) == one(MIXED)
    (value,) = values(extract_batch(pa.table({"text": pa.array([MIXED]).dictionary_encode()})))
    assert value == one(MIXED)


def utf8(data: bytes) -> pa.Array:
    """An array of one string, whatever its bytes are: files are not always what they say."""
    return pa.Array.from_buffers(pa.string(), 1, pa.array([data]).buffers())


ERRORS = [
    (pa.array([None], pa.string()), "no_text: there is no 'text'"),
    (pa.nulls(1), "no_text: there is no 'text'"),
    (pa.array([b"ab\xff"]), "not_utf_8: 'text' is not UTF-8 at byte 2"),
    (utf8(b"a\xed\xa0\x80"), "not_utf_8: 'text' is not UTF-8 at byte 1"),
    (pa.DictionaryArray.from_arrays([0], utf8(b"\xff")), "not_utf_8: 'text' is not UTF-8 at byte 0"),
]


@pytest.mark.parametrize(("column", "error"), ERRORS, ids=["null", "all null", "bytes", "not UTF-8", "in a dictionary"])
def test_a_row_that_cannot_be_read_has_an_error(column: pa.Array, error: str) -> None:
    (value,) = values(extract_batch(pa.table({"text": column})))
    assert value == {"content": None, "reasoning": None, "tool_calls": [], "rejections": [], "error": error}


def test_ids_are_the_same_in_every_run_and_differ_between_calls_and_rows() -> None:
    table = pa.table({"text": [f"{CALL}\n{CALL.replace('Paris', 'Rome')}", CALL]})
    ids = [[call["id"] for call in value["tool_calls"]] for value in values(extract_batch(table))]
    again = [[call["id"] for call in value["tool_calls"]] for value in values(extract_batch(table))]
    assert ids == again
    assert len({*ids[0], *ids[1]}) == 3
    assert all(len(one) == 29 and one.startswith("call_") for row in ids for one in row)


def test_ids_are_made_from_the_key_of_the_row() -> None:
    table = pa.table({"text": [CALL, CALL, CALL], "key": [1, 2, None]})
    found = values(extract_batch(table, id_column="key"))
    ids = [value["tool_calls"][0]["id"] for value in found]
    assert len(set(ids)) == 3
    other = extract_batch(pa.table({"text": ["Hm. " + CALL], "key": ["2"]}), id_column="key")
    assert values(other)[0]["tool_calls"][0]["id"] == ids[1]


def test_tools_are_the_same_for_all_rows_or_a_column() -> None:
    rows = {"text": [CALL] * 6, "tools": [json.dumps([TOOL]), '[{"name": "other"}]', None, "[7", "[7]", "null"]}
    found = values(extract_batch(pa.table(rows), tools_column="tools"))
    assert [len(value["tool_calls"]) for value in found] == [1, 0, 1, 0, 0, 1]
    assert found[1]["rejections"][0]["reason"] == "unknown_tool"
    assert found[3]["error"].startswith("bad_tools: not JSON")
    assert found[4]["error"].startswith("bad_tools: tools[0] is an int")
    assert one(CALL, tools=[{"name": "other"}])["rejections"][0]["reason"] == "unknown_tool"


BODIES = [
    ({"tools": [TOOL], "tool_choice": "auto"}, 1),
    ({"tools": [TOOL], "tool_choice": "none"}, 0),
    ({"tools": []}, 0),
    ({"messages": []}, 1),
]


@pytest.mark.parametrize("on_unknown_tool", ["text", "call"])
@pytest.mark.parametrize(("body", "calls"), BODIES)
def test_the_body_of_a_request_says_what_may_be_called(
    body: dict[str, object], calls: int, on_unknown_tool: OnUnknownTool
) -> None:
    table = pa.table({"text": [CALL], "body": [json.dumps(body)]})
    (value,) = values(extract_batch(table, tools_column="body", on_unknown_tool=on_unknown_tool))
    assert (len(value["tool_calls"]), len(value["rejections"]), value["error"]) == (calls, 1 - calls, None)


def test_tools_of_bytes_that_are_no_text_are_an_error_of_the_row() -> None:
    table = pa.table({"text": [CALL], "fns": pa.array([b"\xff"])})
    (value,) = values(extract_batch(table, tools_column="fns"))
    assert value["error"] == "bad_tools: not_utf_8: 'fns' is not UTF-8 at byte 0"


def test_a_finish_reason_says_that_an_output_is_not_complete() -> None:
    table = pa.table({"text": [CODE] * 3, "why": ["stop", "length", None]})
    found = values(extract_batch(table, tools=[{"name": "code_interpreter"}], finish_reason_column="why"))
    assert [len(value["tool_calls"]) for value in found] == [1, 0, 1]


def test_a_finish_reason_that_is_not_utf_8_is_an_error_of_the_row() -> None:
    (value,) = values(extract_batch(pa.table({"text": [CALL], "why": utf8(b"\xff")}), finish_reason_column="why"))
    assert value["error"] == "bad_finish_reason: not_utf_8: 'why' is not UTF-8 at byte 0"
    assert value["tool_calls"] == []


def test_more_than_an_array_can_hold_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"text": [CALL]})
    monkeypatch.setattr(pa, "array", lambda _, kind: pa.chunked_array([], kind))  # as it does with more than 2 GB
    with pytest.raises(ValueError, match="the results of 1 rows have more than 2 GB of text"):
        extract_batch(table)


def test_coercion_makes_arguments_fit_and_says_what_does_not() -> None:
    (call,) = one(CALL, tools=[TOOL], coerce_arguments=True)["tool_calls"]
    assert json.loads(call["arguments_json"]) == {"city": "Paris", "days": 3}
    assert call["changes"] == [{"path": "$.days", "declared": "integer"}]
    (call,) = one(CALL.replace('"3"', '"many"'), tools=[TOOL], coerce_arguments=True)["tool_calls"]
    assert [(problem["path"], problem["reason"]) for problem in call["problems"]] == [("$.days", "wrong_type")]
    (call,) = one(CALL, tools=[TOOL])["tool_calls"]
    assert (call["arguments_json"], call["changes"]) == ('{"city": "Paris", "days": "3"}', [])


def test_half_a_surrogate_pair_in_what_a_tool_declares_is_written_out() -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"enum": ["\ud800"]}}}}
    (call,) = one('{"name": "f", "parameters": {"a": "x"}}', tools=[tool], coerce_arguments=True)["tool_calls"]
    assert call["problems"][0]["message"] == '$.a: expected "\\ud800", got the string "x"'


def test_what_was_repaired_or_written_under_other_keys_is_said() -> None:
    broken = CALL.replace('"name"', "'name'")
    assert one(broken, tools=[TOOL], repair=True)["tool_calls"][0]["repaired_from"] == broken
    assert one('{"tool": "get_weather", "args": {}}', tools=[TOOL])["tool_calls"][0]["deviations"]


def test_each_row_is_read_as_by_extract() -> None:
    outputs = [*FRAGMENTS, *map("".join, zip(FRAGMENTS, FRAGMENTS[1:], FRAGMENTS[2:], strict=False))]
    outputs = [text for text in outputs if text.isascii() or text.encode("utf-8", "replace").decode() == text]
    for text, value in zip(outputs, values(extract_batch(pa.table({"text": outputs}), tools=TOOLS)), strict=True):
        expected = extract(text, tools=TOOLS)
        assert (value["content"], value["reasoning"]) == (expected.content, expected.reasoning)
        assert [
            (call["name"], call["arguments_json"], call["format"], call["start"], call["end"], call["deviations"])
            for call in value["tool_calls"]
        ] == [
            (call.name, call.arguments_json, call.format, *call.span, list(call.deviations))
            for call in expected.tool_calls
        ]
        assert [
            (one["reason"], one["name"], one["detail"], one["start"], one["end"], one["is_attempt"], one["text"])
            for one in value["rejections"]
        ] == [
            (one.reason.value, one.name, one.detail, *one.span, one.is_attempt, text[slice(*one.span)])
            for one in expected.rejections
        ]


def test_the_function_with_its_options_can_be_pickled() -> None:
    bound = partial(extract_batch, tools=[TOOL], options=ReadOptions(repair=True))
    loaded = pickle.loads(pickle.dumps(bound))  # noqa: S301 (it was pickled a line above)
    table = pa.table({"text": [MIXED]})
    assert loaded(table).equals(bound(table))


TABLE = pa.table({"text": ["a"], "number": [1], "tools": [[{"name": "f"}]], "extraction": ["b"]})

REFUSED = [
    ({"batch": ["a"]}, TypeError, "takes a pyarrow.Table or a RecordBatch, not a list"),
    ({"text_column": "txt"}, ValueError, "there is no column 'txt', only text, number.*did you mean 'text'"),
    ({"id_column": "key"}, ValueError, "there is no column 'key'"),
    ({"batch": TABLE[:0], "id_column": "key"}, ValueError, "there is no column 'key'"),
    ({"text_column": "number"}, ValueError, "'number' has no text: name the column of the outputs"),
    ({"tools_column": "text", "tools": []}, ValueError, "from `tools` or from `tools_column`, not from both"),
    ({}, ValueError, "there is a column 'extraction' already: choose another result_column"),
    ({"result_column": "x", "reapir": True}, TypeError, "'reapir'"),
    ({"result_column": "x", "repair": True}, ValueError, "repair needs the names of the tools"),
    ({"result_column": "x", "tools": [{}]}, ToolDefinitionError, r"tools\[0\]: no name"),
    ({"batch": pa.table([["a"], ["b"]], names=["text", "text"])}, ValueError, "several columns 'text'"),
]


@pytest.mark.parametrize(("given", "error", "message"), REFUSED)
def test_what_cannot_be_is_refused_before_a_row_is_read(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    options = {"batch": TABLE, **given}
    with pytest.raises(error, match=message):
        extract_batch(options.pop("batch"), **options)
