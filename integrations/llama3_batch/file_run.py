"""A run over files: what is left of each is done, part by part, and each that is whole is finished."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol

from llama3_batch.columns import Columns
from llama3_batch.jsonl_source import JsonLines
from llama3_batch.locking import allow_open_files
from llama3_batch.outputs import Output, OutputError, output_path
from llama3_batch.parquet_source import ParquetRows
from llama3_batch.part_work import FileJob
from llama3_batch.parts import FileFormat, InputError, Part, Source, changed
from llama3_batch.row_reader import RowReader
from llama3_batch.schema import SCHEMA_VERSION
from llama3_batch.summary import Summary
from llama3_batch.workers import FILES_OF_A_WORKER, Task, do_tasks
from llama3_tools import ReadOptions, ToolLike, __version__


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
    """How outputs are read."""
    coerce: bool = False
    """Whether results have the arguments as they fit. What does not fit is counted in any case."""
    complete: bool = True
    """Whether the model ended its turns, rather than a limit, unless a finish reason says otherwise."""
    to: FileFormat = "parquet"
    """What the results are."""
    out: Path | None = None
    """The folder for them; `None`: `extracted`, beside each file."""
    overwrite: bool = False
    """Whether results that are there are written anew. They stay until the new ones are whole."""
    workers: int = 1
    """How many processes read."""

    def source(self, path: Path) -> Source:
        """Return a file as what it is."""
        return JsonLines(path, self.columns) if self.kind == "jsonl" else ParquetRows(path, self.columns)

    def reader(self) -> RowReader:
        """Return what reads the rows. With tools, it looks at what does not fit, whether results say so or not."""
        has_own_tools = self.columns.tools is not None
        has_tools = has_own_tools or self.tools is not None
        options = replace(self.options, coerce_arguments=has_tools)
        return RowReader(self.tools, options, has_own_tools=has_own_tools, coerced=self.coerce, complete=self.complete)

    def settings(self, path: Path) -> dict[str, Any]:
        """Return what results are made from and how, in values of JSON.

        Raises:
            InputError: the file cannot be read.
        """
        tools = None if self.tools is None else json.dumps(self.tools, sort_keys=True, default=str)
        return {
            "version": __version__,
            "schema": SCHEMA_VERSION,
            "input": _state(path),
            **{f"{one.name}_column": getattr(self.columns, one.name) for one in fields(self.columns)},
            "tools": tools and hashlib.sha256(tools.encode("utf-8", "backslashreplace")).hexdigest(),
            **json.loads(json.dumps(_values(self.options))),
            "coerce": self.coerce,
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
    unused = {"coerce_arguments", "id_factory", "progress"}
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name not in unused}


@dataclass(frozen=True, slots=True)
class DoneFile:
    """A file all of which was read."""

    path: Path
    """The file."""
    output: Path
    """Its results."""
    summary: Summary
    """What was found in it."""


class Watcher(Protocol):
    """Is told how a run goes."""

    def planned(self, rows: int, done: int) -> None:
        """Begin with the number of all rows, and of those that an earlier run has done."""

    def rows(self, count: int) -> None:
        """Add the number of rows that were read; it is negative if some have to be read again."""

    def say(self, message: str) -> None:
        """Tell the user something."""


@dataclass(slots=True)
class _File:
    job: FileJob
    output: Output
    parts: list[Part]
    left: set[Part] = field(default_factory=set)
    summary: Summary | None = None
    failed: bool = False
    taken: ExitStack = field(default_factory=ExitStack)
    """Holds the output until it is whole."""


def run_files(paths: Iterable[Path], run: FileRun, watcher: Watcher) -> tuple[list[DoneFile], bool]:
    """Read files and write their results. What an earlier run has done is not done again.

    Args:
        paths: the files.
        run: how they are read.
        watcher: is told how it goes, and which files cannot be read.

    Returns:
        The files that are done, and whether all are.

    Raises:
        OSError: something cannot be written.
        OutputError: an output is in the way, or another run is writing it.
        WorkerDiedError: three processes died at one part.
    """
    with ExitStack() as taken:
        return _run_files(paths, run, watcher, taken)


def _run_files(paths: Iterable[Path], run: FileRun, watcher: Watcher, taken: ExitStack) -> tuple[list[DoneFile], bool]:
    reader = run.reader()
    outputs, are_there = _outputs(paths, run, watcher.say)
    files: dict[Path, _File] = {}
    allow_open_files(len(outputs) + FILES_OF_A_WORKER * run.workers)
    for path, output in outputs.items():
        job = FileJob(run.source(path), reader, run.to, output.folder, run.columns.id is not None)
        file = files[path] = _File(job, output, [], summary=None if run.overwrite else output.kept())
        if file.summary is not None and not output.folder.exists():
            watcher.say(f"{path}: {output.path} is there already")
            continue
        try:
            source = run.source(path).located()
            if run.columns.text is None and not str(source.columns.text).isidentifier():
                watcher.say(f"{path}: the outputs are those under {source.columns.text!r}")
            file.job, file.parts = replace(job, source=source), list(source.parts())
        except InputError as error:
            watcher.say(str(error))
            file.failed = True
            continue
        taken.enter_context(file.taken).enter_context(output.taken())
        file.summary = output.begin(overwrite=run.overwrite)
        if file.summary is not None:
            watcher.say(f"{path}: {output.path} is there already")
            file.parts = []
            file.taken.close()
            continue
        file.left = {part for part in file.parts if not output.has(file.job, part)}
    doing = _Doing(files, watcher)
    watcher.planned(
        sum(part.rows for file in files.values() for part in file.parts),
        sum(part.rows for file in files.values() for part in file.parts if part not in file.left),
    )
    for file in files.values():
        doing.finish(file)
    do_tasks(
        [Task(file.job, part) for file in files.values() for part in file.parts if part in file.left],
        run.workers,
        doing,
    )
    done = [DoneFile(path, file.output.path, file.summary) for path, file in files.items() if file.summary is not None]
    return done, are_there and len(done) == len(files)


def _outputs(paths: Iterable[Path], run: FileRun, say: Callable[[str], None]) -> tuple[dict[Path, Output], bool]:
    """Return where the results of each file go, and whether each file is there."""
    outputs: dict[Path, Output] = {}
    taken: dict[Path, Path] = {}
    all_there = True
    paths = list(dict.fromkeys(paths))
    inputs = {path.resolve(): path for path in paths}
    for path in paths:
        try:
            output = Output(output_path(path, run.out, run.to), run.settings(path))
        except InputError as error:
            say(str(error))
            all_there = False
            continue
        other = taken.setdefault(output.path.resolve(), path)
        if other is not path:
            raise OutputError(f"the results of {other} and of {path} would both be {output.path}: run them one by one")
        for written in (output.path, output.summary_path):
            if (lost := inputs.get(written.resolve())) is not None:
                raise OutputError(
                    f"{lost} would be written over with what is found in {path}: leave it out, or take another folder "
                    "with --out"
                )
        outputs[path] = output
    folders = {output.folder.resolve() for output in outputs.values()}
    for resolved, path in inputs.items():
        if not folders.isdisjoint(resolved.parents):
            raise OutputError(f"{path} is in a folder for parts of results: move it, or take another folder with --out")
    return outputs, all_there


class _Doing:
    """Knows what is left of each file, and finishes those that are done."""

    def __init__(self, files: dict[Path, _File], watcher: Watcher) -> None:
        self._files = files
        self._watcher = watcher

    def wants(self, task: Task) -> bool:
        return not self._file(task).failed

    def rows(self, count: int) -> None:
        self._watcher.rows(count)

    def done(self, task: Task) -> None:
        file = self._file(task)
        file.left.discard(task.part)
        self.finish(file)

    def failed(self, task: Task, error: InputError) -> None:
        self._file(task).failed = True
        self._watcher.say(f"{error}. The parts before it that are done stay")

    def died(self, task: Task) -> None:
        where = f"{task.part.numbers} of {task.job.source.path}"
        self._watcher.say(f"a process died: another one does {where} again")

    def finish(self, file: _File) -> None:
        if file.summary is None and not file.failed and not file.left:
            path = file.job.source.path
            try:
                if _state(path) != file.output.settings["input"]:
                    raise changed(path)
            except InputError as error:
                file.failed = True
                self._watcher.say(str(error))
                return
            file.summary = file.output.finish(file.job, file.parts)
            file.taken.close()

    def _file(self, task: Task) -> _File:
        return self._files[task.job.source.path]
