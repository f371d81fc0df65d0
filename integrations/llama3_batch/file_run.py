"""A run over files: what is left of each is done, part by part, and each that is whole is finished."""

from __future__ import annotations

import errno
import hashlib
import json
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from llama3_batch.columns import Columns
from llama3_batch.outputs import Output, OutputError
from llama3_batch.progress import RunProgress
from llama3_batch.rows import RowReader
from llama3_batch.sources import SOURCES, FileFormat, InputError, Part, Source
from llama3_batch.summary import Summary
from llama3_batch.work import Task, do_tasks
from llama3_tools import ReadOptions, ToolLike, __version__

_MOST_FILES = 10_000


@dataclass(frozen=True, kw_only=True)
class FileRun:
    """How files are read and where the results go."""

    kind: FileFormat
    """What the files are."""
    columns: Columns
    """What to read in them."""
    tools: Sequence[ToolLike] | None = None
    """The tools that all rows may call."""
    options: ReadOptions = field(default_factory=ReadOptions)
    """How outputs are read. What does not fit is counted also without `coerce_arguments`."""
    complete: bool = True
    """Whether the model ended its turns, rather than a limit, unless a finish reason says otherwise."""
    to: FileFormat
    """What the results are."""
    out: Path | None = None
    """The folder for them; `None`: `extracted`, beside each file."""
    overwrite: bool = False
    """Whether results that are there are written anew. They stay until the new ones are whole."""
    workers: int = 1
    """How many processes read."""

    def reader(self, columns: Columns) -> RowReader:
        """Return what reads the rows. With tools, it looks at what does not fit, whether results say so or not."""
        has_tools = columns.tools is not None or self.tools is not None
        options = replace(self.options, coerce_arguments=has_tools)
        return RowReader(columns, self.tools, options, coerced=self.options.coerce_arguments, complete=self.complete)

    def settings(self, path: Path) -> dict[str, Any]:
        """Return what results are made from and how, in values of JSON.

        Raises:
            InputError: the file cannot be read.
        """
        tools = None if self.tools is None else json.dumps(self.tools, sort_keys=True, default=str)
        return {
            "version": __version__,
            "input": _state(path),
            **{f"{one.name}_column": getattr(self.columns, one.name) for one in fields(self.columns)},
            "tools": tools and hashlib.sha256(tools.encode("utf-8", "backslashreplace")).hexdigest(),
            **json.loads(json.dumps(_values(self.options))),
            "complete": self.complete,
            "to": self.to,
        }


def _state(path: Path) -> list[Any]:
    """Return what tells a file from another, and from itself once it has changed."""
    try:
        state = path.stat()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    if stat.S_ISDIR(state.st_mode):
        raise InputError(f"{path}: it is a folder: name the files in it, such as {path / '*'}")
    if not stat.S_ISREG(state.st_mode):
        raise InputError(f"{path}: it cannot be read more than once: write its content to a file, and name that")
    return [str(path.resolve()), state.st_size, state.st_mtime_ns]


def _values(options: ReadOptions) -> dict[str, Any]:
    unused = {"id_factory", "progress"}
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name not in unused}


class DoneFile(NamedTuple):
    """A file all of which was read."""

    path: Path
    output: Path
    summary: Summary


@dataclass(slots=True)
class _File:
    source: Source
    output: Output
    lock: ExitStack
    """Holds the output until it is whole."""
    summary: Summary | None
    """What was found, once all is done."""
    parts: list[Part] = field(default_factory=list)
    left: set[Part] = field(default_factory=set)
    failed: bool = False


def run_files(paths: Sequence[Path], run: FileRun, progress: RunProgress) -> list[DoneFile]:
    """Read files and write their results. What an earlier run has done is not done again.

    Args:
        paths: the files, each once.
        run: how they are read.
        progress: is told how it goes, and which files cannot be read.

    Returns:
        The files that are done.

    Raises:
        OSError: something cannot be written.
        OutputError: an output is in the way, cannot be written, or another run is writing it.
        WorkerDiedError: three processes died at one part.
    """
    outputs = _outputs(paths, run, progress.say)
    _allow_open_files()
    with ExitStack() as locks:
        files = {path: file for path, output in outputs.items() if (file := _begun(path, output, run, progress, locks))}
        planned = sum(part.rows for file in files.values() for part in file.parts)
        progress.planned(planned, planned - sum(part.rows for file in files.values() for part in file.left))
        for file in files.values():
            _finish(file, progress)
        with closing(do_tasks(_tasks(files.values(), run), run.workers, progress)) as ended:
            for task, error in ended:
                file = files[task.source.path]
                file.left.discard(task.part)
                if error is None:
                    _finish(file, progress)
                else:
                    file.failed = True
                    progress.say(f"{error}. The parts before it that are done stay")
    return [DoneFile(path, file.output.path, file.summary) for path, file in files.items() if file.summary is not None]


def _allow_open_files() -> None:
    """Let this process open many files at once, as far as the system lets it: a lock for each output, and more."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 (not on Windows)

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _outputs(paths: Sequence[Path], run: FileRun, say: Callable[[str], None]) -> dict[Path, Output]:
    """Return where the results of each file go, of those that can be read.

    Raises:
        OutputError: two files have the same results, or a file would be written over.
    """
    outputs: dict[Path, Output] = {}
    written: dict[Path, Path] = {}
    for path in paths:
        try:
            settings = run.settings(path)
        except InputError as error:
            say(str(error))
            continue
        output = outputs[path] = Output((run.out or path.parent / "extracted") / f"{path.stem}.{run.to}", settings)
        for place in (output.path, output.summary_path, output.folder):
            if (other := written.setdefault(place.resolve(), path)) is not path:
                raise OutputError(f"the results of {other} and of {path} would both be {place}: run them one by one")
    for path in paths:
        for place in (path.resolve(), *path.resolve().parents):
            if place in written:
                raise OutputError(
                    f"{path} would be written over with the results of {written[place]}: leave it out, or take another "
                    "folder with --out"
                )
    return outputs


def _begun(path: Path, output: Output, run: FileRun, progress: RunProgress, locks: ExitStack) -> _File | None:
    """Return a file with what is left of it to do; `None`: it cannot be read, which is told to `progress`.

    Raises:
        OSError: too many files are open.
        OutputError: the output is in the way, or cannot be written.
    """
    try:
        source = SOURCES[run.kind](path, run.columns).located()
        if run.columns.text is None and not str(source.columns.text).isidentifier():
            progress.say(f"{path}: the outputs are those under {source.columns.text!r}")
        lock = locks.enter_context(ExitStack())
        lock.enter_context(output.taken())
        file = _File(source, output, lock, output.begin(overwrite=run.overwrite))
        if file.summary is not None:
            progress.say(f"{path}: {output.path} is there already")
            lock.close()
            return file
        file.parts = source.parts()
    except InputError as error:
        progress.say(str(error))
        return None
    except OSError as error:
        if error.errno == errno.EMFILE:
            raise
        why = f"results cannot be written there: {error.strerror or error}: take another folder with --out"
        raise OutputError(f"{output.path.parent}: {why}") from None
    file.left = {part for part in file.parts if not output.has(part)}
    return file


def _tasks(files: Iterable[_File], run: FileRun) -> Iterator[Task]:
    """Yield what is left to do, without the parts of files that have failed by then."""
    for file in files:
        reader = run.reader(file.source.columns)
        for part in file.parts:
            if part in file.left and not file.failed:
                yield Task(file.source, reader, file.output, part)


def _finish(file: _File, progress: RunProgress) -> None:
    """Write the results of a file that is done, if it is still what it was when the run began."""
    if file.summary is not None or file.failed or file.left:
        return
    path = file.source.path
    try:
        if _state(path) != file.output.settings["input"]:
            raise file.source.changed()
    except InputError as error:
        file.failed = True
        progress.say(str(error))
        return
    file.summary = file.output.finish(file.parts)
    file.lock.close()
