"""`llama3-tools extract --jsonl` and `--parquet`, in one process: what is read, and what is written where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batches import CALL, OUTPUTS, TOOL, extract_files, rows, texts, write_jsonl, write_parquet
from commands import done
from llama3_batch import EXTRACTION, extract_batch, sources, work
from llama3_batch.columns import KNOWN, Columns
from llama3_batch.sources import JsonLines, ParquetRows


@pytest.fixture(params=["jsonl", "parquet"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def write(folder: Path, kind: str, columns: dict[str, list[Any]], name: str = "logs") -> Path:
    """Write the same rows as a file of a kind."""
    if kind == "parquet":
        return write_parquet(folder / f"{name}.parquet", columns)
    return write_jsonl(
        folder / f"{name}.jsonl", [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    )


def results(*arguments: object) -> list[dict[str, Any]]:
    """Run the command on one file, and return the rows that it writes."""
    done = extract_files(*arguments)
    assert done.exit_code == 0, done.output
    return rows(Path(done.stdout.splitlines()[0].rpartition("; results in ")[2]))


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_each_row_is_read_as_by_extract_batch(tmp_path: Path, kind: str, to: str) -> None:
    columns = {"id": [f"r{number}" for number in range(30)], "text": texts(30)}
    found = results(f"--{kind}", write(tmp_path, kind, columns), "--to", to, "--id-column", "id")
    expected = extract_batch(pa.table(columns), id_column="id")["extraction"].to_pylist()
    assert [row["extraction"] for row in found] == expected
    assert [(row["row"], row["id"]) for row in found] == [(number, f"r{number}") for number in range(30)]


def test_results_stand_in_a_folder_beside_the_file_with_the_counts(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind, {"text": OUTPUTS})
    done = extract_files(f"--{kind}", path)
    output = tmp_path / "extracted" / f"logs.{kind}"
    assert done.stdout == f"{path}: 6 outputs, 3 with calls; 0 could not be read; results in {output}\n"
    assert sorted(one.name for one in output.parent.iterdir()) == [f"logs.{kind}", f"logs.{kind}.summary.json"]
    assert "Grüße".encode() in output.read_bytes()


def test_several_files_are_read_each_for_itself(tmp_path: Path, kind: str) -> None:
    one, other = (write(tmp_path, kind, {"text": [name]}, name) for name in ("a", "b"))
    assert extract_files(f"--{kind}", one, other, one).stdout.count("1 output,") == 2
    assert [rows(tmp_path / "extracted" / f"{name}.{kind}")[0]["extraction"]["content"] for name in "ab"] == ["a", "b"]


def test_parquet_has_the_documented_schema(tmp_path: Path) -> None:
    extract_files("--jsonl", write(tmp_path, "jsonl", {"text": OUTPUTS}), "--to", "parquet")
    schema = pq.read_schema(tmp_path / "extracted" / "logs.parquet")
    assert schema.names == ["row", "id", "extraction"]
    assert schema.field("extraction").type == EXTRACTION


def test_a_file_without_rows_gives_one_without_rows(tmp_path: Path, kind: str) -> None:
    columns: dict[str, Any] = {"text": pa.array([], pa.string())} if kind == "parquet" else {"text": []}
    assert results(f"--{kind}", write(tmp_path, kind, columns)) == []


def test_a_second_run_gives_the_same_bytes(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind, {"text": texts(50)})
    written = []
    for _ in range(2):
        results(f"--{kind}", path, "--overwrite")
        written.append([one.read_bytes() for one in sorted((tmp_path / "extracted").iterdir())])
    assert written[0] == written[1]


def test_ids_of_calls_differ_between_rows_that_have_the_same_text(tmp_path: Path, kind: str) -> None:
    found = results(f"--{kind}", write(tmp_path, kind, {"text": [CALL, CALL]}))
    assert len({row["extraction"]["tool_calls"][0]["id"] for row in found}) == 2


READ_DIFFERENTLY = [
    (OUTPUTS[5], ["--tools", "TOOLS"], lambda found: found["rejections"][0]["reason"] == "unknown_tool"),
    (CALL, ["--format", "function"], lambda found: not found["tool_calls"]),
    ("<|python_tag|>print(1)", ["--format", "all"], lambda found: found["tool_calls"]),
    ("<|python_tag|>print(1)", ["--format", "all", "--incomplete"], lambda found: not found["tool_calls"]),
    ("Hm.</think>", ["--split-reasoning", "--starts-reasoning"], lambda found: found["reasoning"] == "Hm."),
    (CALL, ["--tools", "TOOLS"], lambda found: '"3"' in found["tool_calls"][0]["arguments_json"]),
    (CALL, ["--tools", "TOOLS", "--coerce"], lambda found: found["tool_calls"][0]["changes"][0]["path"] == "$.days"),
]


@pytest.mark.parametrize(("text", "options", "is_right"), READ_DIFFERENTLY, ids=range(len(READ_DIFFERENTLY)))
def test_the_options_of_reading_are_those_of_single_outputs(
    tmp_path: Path, text: str, options: list[str], is_right: Callable[[dict[str, Any]], object]
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([TOOL]), "utf-8")
    given = [tools if option == "TOOLS" else option for option in options]
    (found,) = results("--jsonl", write_jsonl(tmp_path / "a.jsonl", [{"text": text}]), *given)
    assert is_right(found["extraction"])


def test_columns_are_named(tmp_path: Path, kind: str) -> None:
    columns = {
        "answer": [CALL, "<|python_tag|>print(1)", CALL],
        "why": ["stop", "length", None],
        "declared": [json.dumps([TOOL]), '[{"name": "code_interpreter"}]', '[{"name": "other"}]'],
        "key": ["x", "y", None],
    }
    names = ["--text-column", "answer", "--finish-reason-column", "why", "--tools-column", "declared"]
    found = results(f"--{kind}", write(tmp_path, kind, columns), *names, "--id-column", "key", "--coerce")
    assert [len(row["extraction"]["tool_calls"]) for row in found] == [1, 0, 0]
    assert json.loads(found[0]["extraction"]["tool_calls"][0]["arguments_json"])["days"] == 3
    assert [row["id"] for row in found] == ["x", "y", None]


def test_tools_of_a_row_of_json_lines_may_be_a_list(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": CALL, "tools": [TOOL]}, {"text": CALL, "tools": 7}])
    found = results("--jsonl", path, "--tools-column", "tools")
    assert len(found[0]["extraction"]["tool_calls"]) == 1
    assert found[1]["extraction"]["error"] == "bad_tools: expected a JSON list of OpenAI tools"


LINES = [
    ('{"text": 5}', "not_text: 'text' is an int"),
    ('{"text": ["a"]}', "not_text: 'text' is a list"),
    ('{"text": null}', "no_text: there is no 'text'"),
    ('{"other": 1}', "no_text: there is no 'text'"),
    ('{"text": "\\ud800"}', "lone_surrogate: 'text' has half a surrogate pair at offset 0"),
    (b'{"text": "\xff"}', "not_utf_8: the line is not UTF-8 at byte 10"),
    ("oops", "not_json: not JSON: Expecting value: line 1 column 1 (char 0)"),
    ('{"text": "a"', "not_json: not JSON: Expecting ',' delimiter: line 1 column 13 (char 12)"),
    ("[1]", "not_json: expected a JSON object, found list"),
    ("[" * 100_000, "not_json: nested too deep to be read"),
]


def test_a_row_that_cannot_be_read_has_an_error_and_is_counted(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": CALL}, *(line for line, _ in LINES), {"text": "Hello."}])
    done = extract_files("--jsonl", path)
    found = rows(tmp_path / "extracted" / "a.jsonl")
    assert [row["extraction"]["error"] for row in found] == [None, *(error for _, error in LINES), None]
    assert (done.exit_code, "10 could not be read" in done.stdout) == (0, True)
    summary = json.loads((tmp_path / "extracted" / "a.jsonl.summary.json").read_text("utf-8"))
    assert {name: one["count"] for name, one in summary["tables"]["errors"].items()} == {
        "not_text": 2,
        "no_text": 2,
        "lone_surrogate": 1,
        "not_utf_8": 1,
        "not_json": 4,
    }


def test_an_id_that_is_no_text_is_json(tmp_path: Path) -> None:
    keys = (7, 0.5, True, ["ü", None], {"b": 1})
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "a", "key": key} for key in keys])
    found = results("--jsonl", path, "--id-column", "key")
    assert [row["id"] for row in found] == ["7", "0.5", "true", '["ü", null]', '{"b": 1}']


def test_an_id_that_no_encoding_can_write_is_written_out(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ['{"text": "a", "key": "\\ud800"}'])
    assert results("--jsonl", path, "--id-column", "key", "--to", "parquet")[0]["id"] == "\\ud800"
    assert results("--jsonl", path, "--id-column", "key", "--overwrite")[0]["id"] == "\ud800"


def test_blank_lines_are_no_rows_and_have_numbers_and_the_last_line_needs_no_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}\r\n\n  \n{"text": "b"}\n\n{"text": "c"}')
    assert [(row["row"], row["extraction"]["content"]) for row in results("--jsonl", path)] == [
        *((0, "a"), (3, "b"), (5, "c"))
    ]


def test_a_line_that_is_too_long_is_an_error_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_LONGEST_LINE", 1000)
    monkeypatch.setattr(sources, "_BLOCK", 300)
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "a"}, {"text": "x" * 5000}, {"text": "b"}, "x" * 1500])
    found = results("--jsonl", path)
    assert [row["extraction"]["error"] for row in found] == [
        None,
        "too_long: the line has more than 1000 bytes",
        None,
        "too_long: the line has more than 1000 bytes",
    ]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let parts and batches be small, so that a small file has many."""
    monkeypatch.setattr(work, "BATCH_ROWS", 3)
    monkeypatch.setattr(sources, "_PART_ROWS", 7)
    monkeypatch.setattr(sources, "_BLOCK", 200)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("count", [1, 6, 7, 8, 14, 40])
def test_parts_have_each_row_once(tmp_path: Path, kind: str, count: int) -> None:
    written = texts(count)
    path = write(tmp_path, kind, {"text": written})
    if kind == "parquet":
        write_parquet(path, {"text": written}, row_group_size=5)
    source = JsonLines(path, Columns("text")) if kind == "jsonl" else ParquetRows(path, Columns("text"))
    found = [row for part in source.parts() for row in source.rows(part)]
    assert [(number, row["text"]) for number, row in found] == list(enumerate(written))
    assert sum(part.rows for part in source.parts()) == count
    assert count < 14 or len(source.parts()) > 1
    assert [row["extraction"] for row in results(f"--{kind}", path, "--overwrite")] == [
        row["extraction"] for row in results(f"--{kind}", path, "--to", "parquet", "--out", tmp_path / "other")
    ]


def test_parts_are_bounded_in_bytes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = [f"{number} " + "x" * 5000 for number in range(40)]
    monkeypatch.setattr(sources, "_PART_BYTES", 50_000)
    monkeypatch.setattr(sources, "_BLOCK", 2_000)
    lines = JsonLines(write(tmp_path, "jsonl", {"text": written}), Columns("text"))
    path = tmp_path / "b.parquet"
    pq.write_table(pa.table({"text": written}), path, use_dictionary=False)
    for source in (lines, ParquetRows(path, Columns("text"))):
        assert len(source.parts()) >= 4


def test_a_large_row_group_is_not_cut_into_ever_more_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_PART_ROWS", 7)
    path = write_parquet(tmp_path / "a.parquet", {"text": texts(1000)}, row_group_size=800)
    assert [(part.first_row, part.rows) for part in ParquetRows(path, Columns("text")).parts()] == [
        (first, 50) for first in range(0, 1000, 50)
    ]


HIGHEST = """
import atexit, re
status = open("/proc/self/status")
atexit.register(lambda: print(re.search(r"VmHWM:\\s*([0-9]+) kB", status.read())[1]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell")
@pytest.mark.parametrize("in_dictionary", [True, False], ids=["once in the file's dictionary", "after short rows"])
def test_memory_is_bounded_by_the_longest_rows_and_not_by_their_number(tmp_path: Path, *, in_dictionary: bool) -> None:
    short, long = pa.array(["Hello."] * 30_000), pa.array(["x" * 1_000_000] * 10)
    table = pa.table({"text": pa.chunked_array([*([] if in_dictionary else [short]), *[long] * 60])})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, use_dictionary=in_dictionary, write_batch_size=1, compression="zstd")
    ended = done("extract", "--parquet", path, before=HIGHEST)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout.split()[-1]) < 350_000  # in kB: a third of what all long rows and their results take


def chat(*texts: str | None) -> list[dict[str, Any]]:
    return [{"id": "c", "choices": [{"message": {"role": "assistant", "content": text}}]} for text in texts]


def lm_studio(text: str) -> list[dict[str, Any]]:
    """The lines of `lms log stream --json` for one prediction."""
    model = {"modelIdentifier": "llama-3.2-3b"}
    return [
        {"timestamp": 1, "data": {"type": "llm.prediction.input", "input": CALL, "modelPath": "a.gguf", **model}},
        {"timestamp": 2, "data": {"type": "llm.prediction.output", "output": text, **model}},
    ]


USER, ASSISTANT = {"role": "user", "content": CALL}, {"role": "assistant", "content": "Hello."}
LOGS: list[Any] = [
    *[pytest.param([{"id": "text", name: "Hello."}], [], ["Hello."], id=name) for name in KNOWN[:5]],
    pytest.param([{"output": "a", "text": "b"}], [], ["b"], id="two known names"),
    pytest.param([{"output": "a", "text": None}, {"output": "b"}], [], ["a", "b"], id="a known name without text"),
    pytest.param([{"text": None}] * 100 + [{"text": "a"}], [], [None] * 100 + ["a"], id="a known name without any yet"),
    pytest.param(chat("Hello.", "Yes."), [], ["Hello.", "Yes."], id="OpenAI"),
    pytest.param([{"response": {"status_code": 200, "body": chat("Hello.")[0]}}], [], ["Hello."], id="OpenAI, batch"),
    pytest.param([{"model": "llama3.2", "message": ASSISTANT}], [], ["Hello."], id="Ollama"),
    pytest.param([{"messages": [USER, ASSISTANT]}], [], ["Hello."], id="a conversation"),
    pytest.param([{"a": [{"b": ["x", "y"]}]}], ["--text-column", "a[0].b[-1]"], ["y"], id="a path"),
    pytest.param([{"a.b": "x", "a": {"b": "y"}}], ["--text-column", "a.b"], ["x"], id="a name like a path"),
]


@pytest.mark.parametrize(("lines", "options", "expected"), LOGS)
def test_outputs_are_found_in_logs(
    tmp_path: Path, kind: str, lines: list[Any], options: list[str], expected: list[str]
) -> None:
    columns = {name: [line.get(name) for line in lines] for name in {**lines[0], **lines[-1]}}
    found = results(f"--{kind}", write(tmp_path, kind, columns), *options)
    assert [row["extraction"]["content"] for row in found] == expected


def test_of_a_log_of_lm_studio_only_outputs_are_rows(tmp_path: Path) -> None:
    found = results("--jsonl", write_jsonl(tmp_path / "a.jsonl", [*lm_studio("Hello."), *lm_studio("Yes.")]))
    assert [(row["row"], row["extraction"]["content"]) for row in found] == [(1, "Hello."), (3, "Yes.")]


@pytest.mark.parametrize("text", [None, ""])
def test_an_answer_whose_calls_the_server_found_is_told_from_one_without_text(
    tmp_path: Path, kind: str, text: str | None
) -> None:
    answer = {"role": "assistant", "content": text, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    for columns, place in (
        ({"choices": [[{"message": answer}]] * 101}, "choices[0].message.tool_calls"),
        ({"message": [answer] * 101}, "message.tool_calls"),
    ):
        found = results(f"--{kind}", write(tmp_path, kind, columns, place))
        assert found[100]["extraction"]["error"] == (
            f"server_calls: no text, as the server found the calls: they are under {place!r}"
        )


def test_a_row_of_a_log_without_an_output_has_an_error(tmp_path: Path, kind: str) -> None:
    found = results(f"--{kind}", write(tmp_path, kind, {"choices": [one["choices"] for one in chat("Hello.", None)]}))
    assert found[1]["extraction"]["error"] == "no_text: there is no 'choices[0].message.content'"
    found = results(f"--{kind}", write(tmp_path, kind, {"messages": [[USER, ASSISTANT], [USER]]}, "chats"))
    assert found[1]["extraction"]["error"] == "no_text: the last message is of the role 'user'"
