"""The file of `--results`, which grows with each response, so that nothing which ends the run loses one."""

from __future__ import annotations

from pathlib import Path

from llama3_acceptance.running.records import Record, Recording, Run, read_records, to_json, written
from llama3_tools.cli.status import CannotRunError


def take_up(path: Path, run: Run, *, resume: bool) -> tuple[Run, tuple[Record, ...]]:
    """Return what a file contains already, and make it end where a line can follow.

    Args:
        path: the file; it need not be there.
        run: the run that goes on with it.
        resume: whether to go on with a file that is not empty.

    Returns:
        The run that the file began with, or else this one; and its responses.

    Raises:
        CannotRunError: it has responses of another run, or `resume` is off.
        OSError: it cannot be read or written.
        RecordsError: it is not a file of responses.
    """
    if not path.exists() or not path.stat().st_size:
        return run, ()
    if not resume:
        raise CannotRunError(f"{path} already has responses: continue with --resume, or use another file")
    recording = read_records(path)
    _check_same(run, recording)
    with path.open("r+b") as file:
        file.truncate(recording.end)
        file.seek(max(recording.end - 1, 0))
        if file.read() not in {b"", b"\n"}:
            file.write(b"\n")
    return recording.run or run, recording.records


def append(path: Path, run: Run, record: Record) -> None:
    """Append a response at once; to an empty file, after the run."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        if file.tell() == 0:
            file.write(f"{written(run)}\n")
        file.write(f"{written(record)}\n")


def _check_same(run: Run, recording: Recording) -> None:
    """Refuse to mix the responses of two runs in one file."""
    before = recording.run
    if before is None:
        raise CannotRunError(f"{recording.path} does not say what was asked: continue with a file of --results")
    differences = [
        f"its {name} is {getattr(before, name)!r}, not {getattr(run, name)!r}"
        for name in ("suite", "model")
        if getattr(before, name) != getattr(run, name)
    ]
    if not differences and before.fingerprint != run.fingerprint:
        differences = ["the suite asks something else now: its tools or commands have changed"]
    for name in ("prompt", "settings"):
        was, now = getattr(before, name), getattr(run, name)
        if not differences and dict(was) != dict(now):
            differences = [f"{name}: {to_json(was)}, now {to_json(now)}"]
    if differences:
        raise CannotRunError(f"{recording.path} is of another run: {'; '.join(differences)}")
