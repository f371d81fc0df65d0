"""A run that was ended goes on where it stopped, and no run is mixed with another."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result

from batches import TOOL, Watching, extract_files, rows, texts, write_jsonl, write_parquet
from commands import command, words
from llama3_batch import sources
from llama3_batch.columns import Columns
from llama3_batch.file_run import FileRun, run_files
from llama3_batch.outputs import Output
from llama3_batch.work import Task, do_part
from llama3_tools import __version__

MANY = 40


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of several parts."""
    monkeypatch.setattr(sources, "_PART_ROWS", 7)
    monkeypatch.setattr(sources, "_BLOCK", 200)
    return write_jsonl(tmp_path / "a.jsonl", [{"text": text} for text in texts(MANY)])


@pytest.fixture
def ended(path: Path) -> Path:
    """The folder of parts of a run that ended when all were done, and before they were put together."""
    output, tasks = begun(path)
    for task in tasks:
        do_part(task, lambda _: None)
    return output.folder


def begun(path: Path, *, overwrite: bool = False, complete: bool = True) -> tuple[Output, list[Task]]:
    """The output of a run that has begun, and what it has to do."""
    run = FileRun(kind="jsonl", columns=Columns(), to="jsonl", complete=complete)
    output = Output(path.parent / "extracted" / "a.jsonl", run.settings(path))
    assert output.begin(overwrite=overwrite) is None
    source = sources.JsonLines(path, run.columns).located()
    return output, [Task(source, run.reader(source.columns), output, part) for part in source.parts()]


def whole(path: Path) -> tuple[bytes, bytes]:
    return path.joinpath("extracted", "a.jsonl").read_bytes(), path.joinpath(
        "extracted", "a.jsonl.summary.json"
    ).read_bytes()


def test_the_parts_that_are_done_are_not_done_again(path: Path, ended: Path) -> None:
    first, second, *_ = sorted(ended.glob("*.jsonl"))
    mark(first)
    mark(second)
    second.unlink()
    done = extract_files("--jsonl", path)
    assert (done.exit_code, ended.exists()) == (0, False)
    found = rows(path.parent / "extracted" / "a.jsonl")
    assert "mark" in found[0]
    assert [row.get("row", row.get("mark")) for row in found] == list(range(MANY))
    assert sum("mark" in row for row in found) < MANY / 2
    assert "of 40 rows were done by an earlier run" in done.stderr


def test_a_run_that_went_on_gives_the_same_bytes_as_one_that_did_not_stop(path: Path, ended: Path) -> None:
    next(ended.glob("*2.jsonl")).unlink()
    (ended / ".000003.jsonl.77.tmp").write_text('{"row": 2', "utf-8")
    assert extract_files("--jsonl", path).exit_code == 0
    resumed = whole(path.parent)
    assert extract_files("--jsonl", path, "--overwrite").exit_code == 0
    assert whole(path.parent) == resumed
    assert [row["row"] for row in rows(path.parent / "extracted" / "a.jsonl")] == list(range(MANY))


def test_what_is_whole_is_left_as_it_is(path: Path) -> None:
    extract_files("--jsonl", path)
    before = (path.parent / "extracted" / "a.jsonl").stat()
    done = extract_files("--jsonl", path)
    assert (path.parent / "extracted" / "a.jsonl").stat().st_mtime_ns == before.st_mtime_ns
    assert "a.jsonl is there already" in done.stderr
    assert "40 outputs" in done.stdout


def test_a_run_that_ended_between_the_output_and_its_summary_is_finished(path: Path, ended: Path) -> None:
    extract_files("--jsonl", path, "--out", path.parent / "other")
    (ended.parent / "a.jsonl").write_text("half", "utf-8")
    assert extract_files("--jsonl", path).exit_code == 0
    assert (ended.parent / "a.jsonl").read_bytes() == (path.parent / "other" / "a.jsonl").read_bytes()


def test_the_parts_of_a_run_that_ended_in_its_last_moment_are_removed(path: Path, ended: Path) -> None:
    extract_files("--jsonl", path)
    ended.mkdir()
    assert (extract_files("--jsonl", path).exit_code, ended.exists()) == (0, False)


@pytest.fixture
def cut_off(path: Path, ended: Path) -> tuple[bytes, bytes]:
    """Results and their summary, which a run with --incomplete --overwrite was to write anew; it was ended half way."""
    extract_files("--jsonl", path)
    before = whole(path.parent)
    output, tasks = begun(path, overwrite=True, complete=False)
    for task in tasks[:3]:
        do_part(task, lambda _: None)
        mark(output.results(task.part))
    assert ended.exists()
    return before


def mark(part: Path) -> None:
    """Change the results of a part, so that it can be seen whether they were left as they are."""
    part.write_bytes(part.read_bytes().replace(b'"row"', b'"mark"'))


def test_results_that_are_written_anew_stay_until_the_new_ones_are_whole(
    path: Path, cut_off: tuple[bytes, bytes]
) -> None:
    assert whole(path.parent) == cut_off
    refused = extract_files("--jsonl", path, "--incomplete")
    assert (refused.exit_code, "which differs in complete (true, now false)" in words(refused.stderr)) == (2, True)
    assert whole(path.parent) == cut_off


@pytest.mark.usefixtures("cut_off")
def test_a_run_that_writes_results_anew_goes_on_where_it_stopped(path: Path, ended: Path) -> None:
    done = extract_files("--jsonl", path, "--incomplete", "--overwrite")
    assert (done.exit_code, "of 40 rows were done by an earlier run" in done.stderr, ended.exists()) == (0, True, False)
    found = rows(path.parent / "extracted" / "a.jsonl")
    assert [row.get("row", row.get("mark")) for row in found] == list(range(MANY))
    assert "mark" in found[0]
    assert "is there already" in extract_files("--jsonl", path, "--incomplete").stderr


@pytest.mark.usefixtures("cut_off")
def test_a_run_that_writes_results_anew_leaves_the_parts_of_another_run_out(path: Path) -> None:
    assert extract_files("--jsonl", path, "--starts-reasoning", "--overwrite").exit_code == 0
    assert [row["row"] for row in rows(path.parent / "extracted" / "a.jsonl")] == list(range(MANY))


def test_a_full_disk_at_the_end_leaves_the_results_that_were_there(
    path: Path, cut_off: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as changed:
        changed.setattr(shutil, "copyfileobj", full_disk)
        refused = extract_files("--jsonl", path, "--incomplete", "--overwrite")
    assert (refused.exit_code, "No space left on device" in words(refused.stderr)) == (2, True)
    assert whole(path.parent) == cut_off
    assert extract_files("--jsonl", path, "--incomplete", "--overwrite").exit_code == 0


@pytest.mark.parametrize("content", ["{", "{}", None], ids=["half written", "of another kind", "not there"])
def test_a_part_whose_summary_cannot_be_read_is_done_again(path: Path, ended: Path, content: str | None) -> None:
    second = ended / "000001.json"
    if content is None:
        second.unlink()
    else:
        second.write_text(content, "utf-8")
    done = extract_files("--jsonl", path)
    assert (done.exit_code, f"{path}: {MANY} outputs" in done.stdout) == (0, True)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.summary.json"])
def test_a_folder_in_the_place_of_results_is_an_error_before_anything_is_read(path: Path, name: str) -> None:
    folder = path.parent / "extracted" / name
    folder.mkdir(parents=True)
    refused = extract_files("--jsonl", path, "--overwrite")
    assert (refused.exit_code, f"{folder} is a folder: move it away" in words(refused.stderr)) == (2, True)
    assert not (path.parent / "extracted" / "a.jsonl.parts").exists()


CHANGES = [
    (["--starts-reasoning"], "starts_reasoning (false, now true)"),
    (["--tools", "TOOLS"], "tools"),
    (["--incomplete"], "complete (true, now false)"),
    (["--id-column", "text"], 'id_column (null, now "text"): move it away'),
]


@pytest.mark.parametrize(("options", "named"), CHANGES, ids=[options[0] for options, _ in CHANGES])
@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "half done"])
def test_another_run_is_refused_and_says_how_it_differs(
    path: Path, ended: Path, options: list[str], named: str, *, is_whole: bool
) -> None:
    tools = path.parent / "tools.json"
    tools.write_text(json.dumps([TOOL]), "utf-8")
    if is_whole:
        extract_files("--jsonl", path)
    given = [tools if option == "TOOLS" else option for option in options]
    refused = extract_files("--jsonl", path, *given)
    assert refused.exit_code == 2
    assert f"is of another run, which differs in {named}" in words(refused.stderr)
    assert "write it anew with --overwrite" in words(refused.stderr)
    assert ended.exists() is not is_whole
    assert extract_files("--jsonl", path, *given, "--overwrite").exit_code == 0


def test_a_file_that_has_changed_since_is_refused(path: Path, ended: Path) -> None:
    with path.open("a") as file:
        file.write('{"text": "new"}\n')
    refused = extract_files("--jsonl", path)
    assert (refused.exit_code, "which differs in input" in refused.stderr) == (2, True)
    assert ended.exists()


def test_another_file_of_equal_name_size_and_time_is_not_taken_for_done(path: Path) -> None:
    out = path.parent / "out"
    assert extract_files("--jsonl", path, "--out", out).exit_code == 0
    other = path.parent / "more" / path.name
    other.parent.mkdir()
    other.write_bytes(path.read_bytes().replace(b"Hello", b"HELLO"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    refused = extract_files("--jsonl", other, "--out", out)
    assert (refused.exit_code, "which differs in input" in refused.stderr) == (2, True)


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "half done"])
def test_the_output_of_an_earlier_version_is_refused(path: Path, ended: Path, *, is_whole: bool) -> None:
    if is_whole:
        extract_files("--jsonl", path)
    kept = ended.parent / "a.jsonl.summary.json" if is_whole else ended / "run.json"
    kept.write_text(kept.read_text("utf-8").replace(f'"{__version__}"', '"0.0.1"'), "utf-8")
    refused = words(extract_files("--jsonl", path).stderr)
    assert f'which differs in version ("0.0.1", now "{__version__}")' in refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "was not written to its end"),
        ("[]", "was not written to its end"),
        ("{}", "is of another run, which differs in version (null, now"),
    ],
)
def test_a_run_that_nobody_can_read_is_refused(path: Path, ended: Path, content: str, message: str) -> None:
    (ended / "run.json").write_text(content, "utf-8")
    refused = extract_files("--jsonl", path)
    assert (refused.exit_code, message in words(refused.stderr)) == (2, True)


def test_a_summary_that_nobody_can_read_is_refused(path: Path, ended: Path) -> None:
    extract_files("--jsonl", path)
    kept = ended.parent / "a.jsonl.summary.json"
    written = json.loads(kept.read_text("utf-8"))
    kept.write_text(json.dumps({"run": written["run"]}), "utf-8")
    assert "is no summary of results: write it anew with --overwrite" in words(extract_files("--jsonl", path).stderr)


def test_a_file_that_no_run_has_written_is_not_written_over(path: Path) -> None:
    folder = path.parent / "extracted"
    folder.mkdir()
    (folder / "a.jsonl").write_text("mine", "utf-8")
    refused = extract_files("--jsonl", path)
    assert "a.jsonl is there, and nothing says how it was made" in words(refused.stderr)
    assert (folder / "a.jsonl").read_text("utf-8") == "mine"


@pytest.mark.parametrize("options", [[], ["--incomplete"], ["--overwrite"]], ids=["equal", "other", "overwriting"])
def test_a_run_is_refused_while_another_writes_the_same_output(path: Path, options: list[str]) -> None:
    run = FileRun(kind="jsonl", columns=Columns(), to="jsonl")
    output = Output(path.parent / "extracted" / "a.jsonl", run.settings(path))
    with output.taken():
        refused = extract_files("--jsonl", path, *options)
        assert (refused.exit_code, "another run is writing it: wait for its end" in words(refused.stderr)) == (2, True)
        assert not output.folder.exists()
    assert extract_files("--jsonl", path, *options).exit_code == 0
    assert sorted(one.name for one in output.path.parent.iterdir()) == sorted(
        [output.path.name, output.summary_path.name]
    )


@pytest.mark.skipif(sys.platform == "win32", reason="locks are others there")
@pytest.mark.parametrize(("code", "is_read"), [(errno.ENOLCK, True), (errno.EOPNOTSUPP, True), (errno.EIO, False)])
def test_a_drive_without_locks_can_be_written_to(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: int, *, is_read: bool
) -> None:
    import fcntl  # noqa: PLC0415 (not on Windows)

    def flock(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    done = extract_files("--jsonl", path)
    assert (done.exit_code, f"{path}: {MANY} outputs" in done.stdout) == ((0, True) if is_read else (2, False))


@pytest.mark.parametrize("option", ["--incomplete", "--overwrite"])
def test_a_run_that_starts_in_the_middle_of_another_changes_nothing(path: Path, option: str) -> None:
    others: list[Result] = []
    watcher = Watching(on_planned=lambda: others.append(extract_files("--jsonl", path, option)))
    (done,) = run_files([path], FileRun(kind="jsonl", columns=Columns(), to="jsonl"), watcher)
    assert (watcher.read, [other.exit_code for other in others]) == (MANY, [2])
    alone = extract_files("--jsonl", path, "--out", path.parent / "other")
    assert alone.exit_code == 0
    assert done.output.read_bytes() == (path.parent / "other" / "a.jsonl").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of this kind")
def test_more_files_than_a_process_may_open_are_read(tmp_path: Path) -> None:
    paths = [write_jsonl(tmp_path / f"{number}.jsonl", [{"text": "Hello."}]) for number in range(60)]
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (50, 1000))"
    line = command("extract", "--jsonl", *paths, "--workers", 2, before=few)
    ended = subprocess.run(line, check=False, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout.count("1 output,"), ended.stderr) == (0, 60, "")


@pytest.mark.parametrize("name", ["a.jsonl.parts/000000.jsonl", "a.jsonl.parts/notes.txt", "a.jsonl.summary.json"])
def test_what_is_under_a_name_of_a_run_and_of_no_run_stays(path: Path, name: str) -> None:
    mine = path.parent / "extracted" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", "utf-8")
    refused = extract_files("--jsonl", path)
    assert (refused.exit_code, "or write it anew with --overwrite" in words(refused.stderr)) == (2, True)
    assert mine.read_text("utf-8") == "mine"
    assert extract_files("--jsonl", path, "--overwrite").exit_code == 0


def test_a_run_that_was_killed_before_it_said_what_it_is_starts_anew(path: Path) -> None:
    folder = path.parent / "extracted" / "a.jsonl.parts"
    folder.mkdir(parents=True)
    (folder / ".run.json.77.tmp").write_text("{", "utf-8")
    assert extract_files("--jsonl", path).exit_code == 0


MINE = '{"title": "Tool calls in production", "cost": "12 outputs"}'


@pytest.mark.parametrize("name", ["report.html", "report.json"])
def test_a_report_is_not_written_over_what_is_none(path: Path, name: str) -> None:
    mine = path.parent / "extracted" / name
    mine.parent.mkdir()
    mine.write_text(MINE, "utf-8")
    refused = extract_files("--jsonl", path, "--report")
    assert (refused.exit_code, "is no report of a run, and stays" in words(refused.stderr)) == (2, True)
    assert mine.read_text("utf-8") == MINE
    for options in (["--overwrite"], []):
        assert extract_files("--jsonl", path, "--report", *options).exit_code == 0


def test_parts_that_cannot_be_removed_are_not_taken_for_new_ones(path: Path, ended: Path) -> None:
    elsewhere = ended.rename(path.parent / "elsewhere")
    ended.symlink_to(elsewhere, target_is_directory=True)  # which no system removes with what is in it
    refused = extract_files("--jsonl", path, "--incomplete", "--overwrite")
    assert (refused.exit_code, "results cannot be written there: " in words(refused.stderr)) == (2, True)
    assert not (ended.parent / "a.jsonl").exists()


ENDINGS = [(1, signal.SIGKILL), (2, signal.SIGKILL), (2, signal.SIGINT)]
SMALL = "import llama3_batch.sources as it; it._PART_ROWS = 500"
HEARD = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # also in the background


@pytest.fixture(scope="module")
def never_ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file, and what one process that is not ended makes of it."""
    folder = tmp_path_factory.mktemp("never_ended")
    path = write_parquet(folder / "a.parquet", {"text": texts(6_000)})
    subprocess.run(command("extract", "--parquet", path, before=SMALL), capture_output=True, check=True, timeout=120)
    return path, folder / "extracted" / "a.parquet"


@pytest.mark.parametrize(("workers", "ending"), ENDINGS, ids=[f"{workers} {end.name}" for workers, end in ENDINGS])
def test_a_process_that_is_ended_goes_on_where_it_stopped(
    tmp_path: Path, never_ended: tuple[Path, Path], workers: int, ending: signal.Signals
) -> None:
    original, whole = never_ended
    path = shutil.copy(original, tmp_path / "a.parquet")
    line = command("extract", "--parquet", path, "--workers", workers, before=f"{SMALL}\n{HEARD}")
    folder = tmp_path / "extracted" / "a.parquet.parts"
    with subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(6_000):
            if len(list(folder.glob("0*.parquet"))) >= 2 or process.poll() is not None:
                break
            time.sleep(0.01)
        process.send_signal(ending)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode != 0, "Traceback" in stderr) == (True, False)
    stays = "What was done stays, and the same command goes on from there" in words(stderr)
    assert stays is (ending is signal.SIGINT)
    assert 2 <= len(list(folder.glob("0*.parquet"))) < 12
    again = subprocess.run(line, capture_output=True, text=True, check=True, timeout=120)
    assert "of 6,000 rows were done by an earlier run" in again.stderr
    assert [row["row"] for row in rows(tmp_path / "extracted" / "a.parquet")] == list(range(6_000))
    assert whole.read_bytes() == (tmp_path / "extracted" / "a.parquet").read_bytes()
