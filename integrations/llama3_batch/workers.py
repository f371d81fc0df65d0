"""Processes that do the parts. One that dies is replaced, and its part done again."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Literal, NamedTuple, Protocol, TypeAlias

from llama3_batch.part_work import FileJob, do_part
from llama3_batch.parts import InputError, Part

FILES_OF_A_WORKER = 3
"""How many files this process has open for each other one."""
_MOST_DEATHS = 3
_PATIENCE = 5.0


class WorkerDiedError(Exception):
    """A part at which process after process died. The message names it."""


class Task(NamedTuple):
    """A part to do."""

    job: FileJob
    part: Part


class Listener(Protocol):
    """Is told what happens to the tasks."""

    def wants(self, task: Task) -> bool:
        """Return whether a task is still to be done."""

    def rows(self, count: int) -> None:
        """Add the number of rows that were read; it is negative if a process died, and they are read again."""

    def done(self, task: Task) -> None:
        """Note a task that is done."""

    def failed(self, task: Task, error: InputError) -> None:
        """Note a task whose part cannot be read."""

    def died(self, task: Task) -> None:
        """Note a task that is done again, as its process died."""


def do_tasks(tasks: Iterable[Task], workers: int, listener: Listener) -> None:
    """Do all tasks, in this process if there is to be one alone.

    Args:
        tasks: what is to be done.
        workers: how many processes to do it in.
        listener: is told what happens to each.

    Raises:
        OSError: something cannot be written.
        WorkerDiedError: three processes died at one part.
    """
    if workers > 1:
        _Pool(deque(tasks), workers, listener).run()
        return
    with _rare_collections():
        for task in tasks:
            if not listener.wants(task):
                continue
            try:
                do_part(*task, listener.rows)
            except InputError as error:
                listener.failed(task, error)
            else:
                listener.done(task)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let Python look for garbage less often: a batch of rows is many objects, all of which are still needed."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


_Message: TypeAlias = "tuple[Literal['rows'], int] | tuple[Literal['ended'], Exception | None]"


@dataclass(slots=True, eq=False)
class _Worker:
    process: SpawnProcess
    connection: Connection
    task: Task
    rows: int = 0


class _Pool:
    """The processes, and what each of them is at."""

    def __init__(self, tasks: deque[Task], workers: int, listener: Listener) -> None:
        self._tasks = tasks
        self._workers = workers
        self._listener = listener
        self._context = multiprocessing.get_context("spawn")
        self._running: dict[Connection, _Worker] = {}
        self._deaths: dict[tuple[FileJob, Part], int] = {}

    def run(self) -> None:
        try:
            while len(self._running) < self._workers and (task := self._next()):
                self._start(task)
            while self._running:
                for connection in wait(list(self._running)):
                    self._hear(self._running[connection])  # type: ignore[index]  # it waits for nothing else
        finally:
            for worker in self._running.values():
                worker.process.terminate()
            for worker in self._running.values():
                self._end(worker)

    def _next(self) -> Task | None:
        while self._tasks:
            task = self._tasks.popleft()
            if self._listener.wants(task):
                return task
        return None

    def _start(self, task: Task) -> None:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there,), daemon=True)
        process.start()
        there.close()  # so that this end hears of the process's death
        self._running[here] = _Worker(process, here, task)
        self._send(self._running[here], task)

    def _send(self, worker: _Worker, task: Task) -> None:
        worker.task, worker.rows = task, 0
        with suppress(OSError):  # a process that is dead already is heard of
            worker.connection.send(task)

    def _hear(self, worker: _Worker) -> None:
        try:
            message: _Message = worker.connection.recv()
        except (EOFError, OSError):
            self._replace(worker)
            return
        if message[0] == "rows":
            worker.rows += message[1]
            self._listener.rows(message[1])
            return
        error = message[1]
        if error is not None and not isinstance(error, InputError):
            raise error
        task = worker.task
        if (following := self._next()) is not None:  # at once: what is done with the last one takes its time
            self._send(worker, following)
        else:
            del self._running[worker.connection]
            self._end(worker)
        if error is None:
            self._listener.done(task)
        else:
            self._listener.failed(task, error)

    def _replace(self, worker: _Worker) -> None:
        """Start another process for the part at which one died."""
        del self._running[worker.connection]
        self._end(worker)
        self._listener.rows(-worker.rows)
        task = worker.task
        deaths = self._deaths[task] = self._deaths.get(task, 0) + 1
        if deaths >= _MOST_DEATHS:
            raise WorkerDiedError(
                f"{task.job.source.path}, {task.part.numbers}: {deaths} processes died at them, the "
                f"last with the exit code {worker.process.exitcode}. If memory is short, take fewer --workers"
            )
        self._listener.died(task)
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
    with _rare_collections(), suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job, part = connection.recv()
            try:
                do_part(job, part, lambda count: connection.send(("rows", count)))
            except (BrokenPipeError, ConnectionResetError):
                raise
            except Exception as error:  # noqa: BLE001 (it is raised again on the other end)
                connection.send(("ended", error))
            else:
                connection.send(("ended", None))
