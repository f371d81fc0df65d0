"""The work on parts of files, in one process or in several. One that dies is replaced, and its part done again."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING, Literal, TypeAlias

from llama3_batch.outputs import Output
from llama3_batch.rows import RowReader
from llama3_batch.sources import InputError, Part, Source
from llama3_batch.summary import Summary
from llama3_batch.writing import WrittenRow, write_part

if TYPE_CHECKING:
    from llama3_batch.progress import RunProgress

TOLD_ROWS = 1_000
"""After how many rows it is told how far the work is."""
BATCH_ROWS = 20_000
"""How many rows are written at once, at most: those of a row group."""
BATCH_BYTES = 4 * 1024 * 1024
"""How many characters of output are written at once, at most, but for the row that goes past it."""
_MOST_DEATHS = 3
_PATIENCE = 5.0


class WorkerDiedError(Exception):
    """A part at which process after process died. The message names it."""


@dataclass(slots=True, eq=False)
class Task:
    """A part to do, and all that it takes. It can be pickled."""

    source: Source
    reader: RowReader
    output: Output
    part: Part
    deaths: int = 0
    """How many processes died at it."""


Ended: TypeAlias = tuple[Task, InputError | None]
"""A task that has ended, and why its part could not be read."""


def do_tasks(tasks: Iterator[Task], workers: int, progress: RunProgress) -> Generator[Ended, None, None]:
    """Do all tasks, in this process if there is to be one alone, and yield each that has ended.

    Args:
        tasks: what is to be done.
        workers: how many processes to do it in.
        progress: is told of rows that were read, and of processes that died.

    Raises:
        OSError: something cannot be written.
        WorkerDiedError: three processes died at one part.
    """
    if workers > 1:
        yield from _Pool(tasks, workers, progress).run()
        return
    for task in tasks:
        yield task, _error_of(task, progress.rows)


def _error_of(task: Task, on_rows: Callable[[int], None]) -> InputError | None:
    """Do a task, and return why its part cannot be read."""
    try:
        do_part(task, on_rows)
    except InputError as error:
        return error
    return None


def do_part(task: Task, on_rows: Callable[[int], None]) -> None:
    """Read a part, and write its results and what was found in it.

    Args:
        task: what to do.
        on_rows: takes how many rows were read since it was called before.

    Raises:
        InputError: the part cannot be read.
        OSError: something cannot be written.
    """
    summary, part, name = Summary(), task.part, task.source.path.name

    def batches() -> Iterator[list[WrittenRow]]:
        batch: list[WrittenRow] = []
        size = 0
        seen = part.first_row
        for number, record in task.source.rows(part):
            row = task.reader.read(record, f"{name}:{number}")
            summary.add_row((name, number), row)
            batch.append((number, row.id, row.result))
            size += len(row.text)
            if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
            if number - seen >= TOLD_ROWS:
                on_rows(number - seen)
                seen = number
        if batch:
            yield batch
        on_rows(part.first_row + part.rows - seen)

    write_part(task.output.results(part), batches())
    task.output.write_summary(part, summary)


_Message: TypeAlias = "tuple[Literal['rows'], int] | tuple[Literal['ended'], Exception | None]"


@dataclass(slots=True, eq=False)
class _Worker:
    process: SpawnProcess
    connection: Connection
    task: Task
    rows: int = 0


class _Pool:
    """The processes, and what each of them is at."""

    def __init__(self, tasks: Iterator[Task], workers: int, progress: RunProgress) -> None:
        self._tasks = tasks
        self._workers = workers
        self._progress = progress
        self._context = multiprocessing.get_context("spawn")
        self._running: dict[Connection, _Worker] = {}

    def run(self) -> Generator[Ended, None, None]:
        try:
            while len(self._running) < self._workers and (task := next(self._tasks, None)):
                self._start(task)
            while self._running:
                for connection in wait(list(self._running)):
                    ended = self._hear(self._running[connection])  # type: ignore[index]  # it waits for nothing else
                    if ended is not None:
                        yield ended
        finally:
            for worker in self._running.values():
                worker.process.terminate()
            for worker in self._running.values():
                self._end(worker)

    def _start(self, task: Task) -> None:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there,), daemon=True)
        process.start()
        there.close()  # so that this end hears of the process's death
        self._running[here] = _Worker(process, here, task)
        self._send(self._running[here], task)

    @staticmethod
    def _send(worker: _Worker, task: Task) -> None:
        worker.task, worker.rows = task, 0
        with suppress(OSError):  # a process that is dead already is heard of
            worker.connection.send(task)

    def _hear(self, worker: _Worker) -> Ended | None:
        try:
            message: _Message = worker.connection.recv()
        except (EOFError, OSError):
            self._replace(worker)
            return None
        if message[0] == "rows":
            worker.rows += message[1]
            self._progress.rows(message[1])
            return None
        error = message[1]
        if error is not None and not isinstance(error, InputError):
            raise error
        task = worker.task
        if (following := next(self._tasks, None)) is not None:  # at once: what is done with the last one takes its time
            self._send(worker, following)
        else:
            del self._running[worker.connection]
            self._end(worker)
        return task, error

    def _replace(self, worker: _Worker) -> None:
        """Start another process for the part at which one died."""
        del self._running[worker.connection]
        self._end(worker)
        self._progress.rows(-worker.rows)
        task = worker.task
        task.deaths += 1
        if task.deaths >= _MOST_DEATHS:
            raise WorkerDiedError(
                f"{task.source.path}, {task.part.numbers}: {task.deaths} processes died at them, the "
                f"last with the exit code {worker.process.exitcode}. If memory is short, take fewer --workers"
            )
        self._progress.say(f"a process died: another one does {task.part.numbers} of {task.source.path} again")
        self._start(task)

    @staticmethod
    def _end(worker: _Worker) -> None:
        worker.connection.close()
        worker.process.join(_PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join(_PATIENCE)


def _work(connection: Connection) -> None:
    """Do one task after another, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that started this one
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task = connection.recv()
            try:
                ended: Exception | None = _error_of(task, lambda count: connection.send(("rows", count)))
            except (BrokenPipeError, ConnectionResetError):
                raise
            except Exception as error:  # noqa: BLE001 (it is raised again on the other end)
                ended = error
            connection.send(("ended", ended))
