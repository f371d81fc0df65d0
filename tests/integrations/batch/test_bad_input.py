"""What keeps a run of files from its end: one error each, which names the file and what to do. What was done stays."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batches import CALL, Watching, extract_files, rows, texts, write_jsonl, write_parquet
from commands import command, done, words
from llama3_batch import sources
from llama3_batch.columns import Columns
from llama3_batch.file_run import FileRun, run_files
from llama3_batch.sources import FileFormat


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "a.jsonl", [{"text": text} for text in texts(6)])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_parquet(tmp_path / "b.parquet", {"text": texts(6), "number": list(range(6))})


def refused(*arguments: object) -> str:
    result = extract_files(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    return words(result.stderr)


def test_a_missing_column_is_named_with_those_that_are_there(lines: Path, table: Path) -> None:
    assert refused("--jsonl", lines, "--text-column", "txt") == (
        f"{lines}: in its first rows, there is no column 'txt', only text; did you mean 'text'?"
    )
    assert refused("--parquet", table, "--id-column", "key") == (
        f"{table}: in its first rows, there is no column 'key', only text, number"
    )
    assert refused("--parquet", table, "--text-column", "number") == (
        f"{table}: in its first rows, the column 'number' has no text: name the column of the outputs"
    )
    pq.write_table(pa.table([["a"], ["b"]], names=["text", "text"]), table)
    assert "there are several columns 'text': rename all but one" in refused("--parquet", table)
    other = write_jsonl(lines.parent / "other.jsonl", [{"id": 1, "reply": "a"}])
    assert "there is only id, reply: name it with --text-column" in refused("--jsonl", other)
    assert "there is no column 'a[0].b', only id, reply" in refused("--jsonl", other, "--text-column", "a[0].b")
    assert not (table.parent / "extracted").exists()


def test_a_column_that_only_some_lines_have_is_no_error_of_the_file(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [*[{"x": 1}] * 99, {"text": CALL}])
    assert extract_files("--jsonl", path).exit_code == 0


ARRAY = "it is one JSON array: write each element in a line (jq -c '.[]')"
NO_LINES = "not JSON lines: none of the first 100 lines is an object"
OTHER_KINDS = [
    pytest.param(b"id,text\n1,Hello.\n", NO_LINES, id="CSV"),
    pytest.param(b'[{"text": "a"}, {"text": "b"}]', ARRAY, id="an array"),
    pytest.param(b'\n [\r\n{"text": "a"},\n{"text": "b"}\n]\n', ARRAY, id="an array in lines"),
    pytest.param(gzip.compress(b'{"text": "a"}\n'), "it is compressed: unpack it first (gunzip --keep)", id="gzip"),
    pytest.param(b"PAR1\x15\x04\nPAR1", "it is Parquet: give --parquet", id="Parquet"),
]


@pytest.mark.parametrize(("data", "message"), OTHER_KINDS)
def test_a_file_that_has_no_json_lines_is_refused_and_the_others_are_read(
    lines: Path, data: bytes, message: str
) -> None:
    path = lines.parent / "other.jsonl"
    path.write_bytes(data)
    result = extract_files("--jsonl", path, lines)
    assert (result.exit_code, words(result.stderr)) == (2, f"{path}: {message}")
    assert f"{lines}: 6 outputs" in result.stdout
    assert not (lines.parent / "extracted" / "other.jsonl").exists()


@pytest.mark.parametrize("data", [b"", b"\n\n", b"{}\n", b'oops\n[1]\n{"text": "a"}\n'])
def test_a_file_that_may_have_json_lines_is_read(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    assert extract_files("--jsonl", path).exit_code == 0


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(lines: Path) -> None:
    file = lines.parent / "file"
    file.touch()
    for folder, why in ((file, "File exists"), (file / "folder", "Not a directory")):
        assert refused("--jsonl", lines, "--out", folder) == (
            f"Error: {folder}: results cannot be written there: {why}: take another folder with --out"
        )


def test_a_file_that_is_not_there_is_named_and_the_others_are_read(lines: Path) -> None:
    result = extract_files("--jsonl", lines.parent / "none.jsonl", lines, lines.parent)
    assert (result.exit_code, f"{lines}: 6 outputs" in result.stdout) == (2, True)
    assert f"{lines.parent / 'none.jsonl'}: No such file or directory\n" in result.stderr
    assert f"{lines.parent}: it is a folder: name the files in it, such as {lines.parent}/*\n" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names of this kind")
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_pipe_is_refused_as_a_run_could_not_go_on(tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / "a")
    assert refused(f"--{kind}", tmp_path / "a") == (
        f"{tmp_path}/a: it cannot be read more than once: write its content to a file, and name that"
    )


def test_a_file_that_is_no_parquet_is_named_and_the_others_are_read(table: Path) -> None:
    path = write_jsonl(table.parent / "other.parquet", [{"text": "a"}])
    result = extract_files("--parquet", path, table)
    assert (result.exit_code, f"{table}: 6 outputs" in result.stdout) == (2, True)
    assert result.stderr == f"{path}: not Parquet; if it has JSON lines, give --jsonl\n"


def test_a_parquet_file_that_is_cut_off_is_named(table: Path) -> None:
    table.write_bytes(table.read_bytes()[:-20])
    assert refused("--parquet", table).startswith(f"{table}: broken, or not written to its end: ")


@pytest.fixture
def corrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Parquet file with a broken page in the second of its four row groups."""
    monkeypatch.setattr(sources, "_PART_ROWS", 500)
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"text": texts(2_000)}), path, row_group_size=500, compression="zstd")
    column = pq.read_metadata(path).row_group(1).column(0)
    data = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("workers", [1, 2])
def test_a_corrupt_parquet_file_is_named_with_its_rows_and_what_was_done_stays(
    corrupt: Path, table: Path, workers: int
) -> None:
    result = extract_files("--parquet", corrupt, table, "--workers", workers)
    assert (result.exit_code, f"{table}: 6 outputs" in result.stdout) == (2, True)
    assert f"{corrupt}, rows 500 to 999: broken, or not written to its end: " in result.stderr
    assert "The parts before it that are done stay" in result.stderr
    assert (corrupt.parent / "extracted" / "c.parquet.parts" / "000000.parquet").exists()
    assert not (corrupt.parent / "extracted" / "c.parquet").exists()


def test_a_page_that_is_not_what_its_checksum_says_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    written = pa.table({"text": [f"Hello {number}." for number in range(100)]})
    pq.write_table(written, path, compression="none", use_dictionary=False, write_page_checksum=True)
    path.write_bytes(path.read_bytes().replace(b"Hello 50", b"HELLO 50"))
    assert "CRC checksum verification failed" in refused("--parquet", path)
    assert not (tmp_path / "extracted" / "a.parquet").exists()


LITTLE_MEMORY = """
import re, resource
import pyarrow.parquet, llama3_batch.cli.files
taken = 1024 * int(re.search(r"VmSize:\\s*([0-9]+) kB", open("/proc/self/status").read())[1])
resource.setrlimit(resource.RLIMIT_AS, (taken + 300_000_000, taken + 300_000_000))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell")
def test_a_page_that_does_not_fit_into_memory_is_named_with_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x" * 1_000_000] * 400}), path, use_dictionary=False, compression="zstd")
    ended = done("extract", "--parquet", path, before=LITTLE_MEMORY)
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False)
    assert f"{path}: no memory for a page: malloc of size 40" in ended.stderr


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_a_full_disk_is_one_error_and_what_was_done_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    monkeypatch.setattr(sources, "_PART_ROWS", 7)
    monkeypatch.setattr(sources, "_BLOCK", 200)
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": text} for text in texts(40)])
    with monkeypatch.context() as changed:
        synced: list[int] = []

        def fsync(file: int) -> None:
            synced.append(file)
            if len(synced) > 5:  # the run, and of each part the results and the summary
                full_disk()

        changed.setattr(os, "fsync", fsync)
        message = refused("--jsonl", path, "--to", to)
    folder = tmp_path / "extracted" / f"a.{to}.parts"
    assert message.endswith(
        f"Error: {folder}/000002.{to}: No space left on device. "
        "What was done stays, and the same command goes on from there"
    )
    assert sorted(one.name for one in folder.glob(f"*.{to}")) == [f"000000.{to}", f"000001.{to}"]
    assert list(folder.glob(".*")) == []
    assert extract_files("--jsonl", path, "--to", to).exit_code == 0
    assert [row["row"] for row in rows(tmp_path / "extracted" / f"a.{to}")] == list(range(40))


def test_a_reader_that_went_away_is_no_error_of_the_files(lines: Path) -> None:
    with subprocess.Popen(
        command("extract", "--jsonl", lines), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        stderr = process.stderr.read()
    assert (process.returncode, stderr) == (2, "")
    assert len(rows(lines.parent / "extracted" / "a.jsonl")) == 6


def test_two_files_whose_results_would_have_one_name_are_refused(lines: Path) -> None:
    other = lines.parent / "more"
    other.mkdir()
    write_jsonl(other / "a.jsonl", [{"text": "a"}])
    message = refused("--jsonl", lines, other / "a.jsonl", "--out", lines.parent / "out")
    assert f"the results of {lines} and of {other}/a.jsonl would both be {lines.parent}/out/a.jsonl" in message


REFUSED = [
    (["--jsonl"], "--jsonl takes at least one FILE"),
    (["--jsonl", "-"], "--jsonl reads files, not standard input: it could not continue there"),
    (["--jsonl", "--parquet", "a"], "--jsonl or --parquet, not both"),
    (["--jsonl", "a", "--show"], "--jsonl does not print single outputs: leave out --show"),
    (
        ["a", "--workers", "2", "--report"],
        "--workers, --report: only for files of many outputs; add --jsonl or --parquet",
    ),
    (["--jsonl", "a", "--coerce"], "--coerce needs declared tools: add --tools or --tools-column"),
    (["--jsonl", "a", "--repair"], "--repair needs declared tools: add --tools or --tools-column"),
    (["--jsonl", "a", "--tools", "b", "--tools-column", "c"], "--tools or --tools-column, not both"),
    (["--jsonl", "a", "--workers", "0"], "0 is not in the range"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[" ".join(arguments) for arguments, _ in REFUSED])
def test_options_that_contradict_each_other_are_refused(arguments: list[str], message: str) -> None:
    assert message in refused(*arguments)


BLOCKED = """
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pyarrow":
            raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

sys.meta_path.insert(0, Block())
"""


def test_without_pyarrow_the_extra_is_named_and_single_outputs_are_read(lines: Path) -> None:
    ended = done("extract", "--jsonl", lines, before=BLOCKED)
    assert (ended.returncode, ended.stderr) == (
        2,
        "Error: llama3_batch needs pyarrow: pip install 'llama3-tools[batch]'\n",
    )
    single = done("extract", lines, before=BLOCKED)
    assert (single.returncode, json.loads(single.stdout)["file"]) == (0, str(lines))


@pytest.mark.parametrize("options", [[], ["--overwrite"]], ids=["", "--overwrite"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.summary.json", "a.jsonl.parts/b.jsonl"])
def test_no_input_is_written_over_by_the_results_of_another(lines: Path, name: str, options: list[str]) -> None:
    other = lines.parent / "extracted" / name
    other.parent.mkdir(parents=True)
    write_jsonl(other, [{"text": "mine"}])
    before = other.read_bytes()
    message = refused("--jsonl", lines, other, *options)
    assert str(other) in message
    assert "take another folder with --out" in message
    assert other.read_bytes() == before


def append(path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write('{"text": "new"}\n')


def rewrite(path: Path) -> None:
    path.write_text('{"text": "new"}\n' * 100, "utf-8")


def remove(path: Path) -> None:
    path.unlink()


def write_fewer(path: Path) -> None:
    write_parquet(path, {"text": texts(7)})


CHANGES = [
    *(("jsonl", change, "has changed since") for change in (append, rewrite)),
    ("jsonl", remove, "No such file"),
    ("parquet", append, "broken, or"),
    ("parquet", write_fewer, "has changed since"),
]


@pytest.mark.parametrize(("kind", "change", "expected"), CHANGES)
def test_a_file_that_changes_during_a_run_has_no_results(
    tmp_path: Path, kind: FileFormat, change: Callable[[Path], None], expected: str
) -> None:
    path = tmp_path / f"a.{kind}"
    if kind == "jsonl":
        write_jsonl(path, [{"text": text} for text in texts(100)])
    else:
        write_parquet(path, {"text": texts(100)})
    watcher = Watching(on_planned=lambda: change(path))
    assert run_files([path], FileRun(kind=kind, columns=Columns("text"), to=kind), watcher) == []
    assert str(path) in watcher.said[0]
    assert expected in watcher.said[0]
    assert not (tmp_path / "extracted" / path.name).exists()
