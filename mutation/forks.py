"""A plugin of pytest's: for each mutant, it runs the tests that reach it, in a fork of the process that has them."""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import resource
import signal
import struct
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile, zip_longest
from typing import Literal, NamedTuple, TypeAlias

import pytest
from mutmut.configuration import config
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state

__all__ = ["Fate", "Forks", "Mutant"]

Fate: TypeAlias = Literal["killed", "timeout", "survived", "untested"]

_MOST_BYTES = 4 << 30
_PATIENCE = 20
"""How many times longer than without a mutant a test may take, and five seconds more."""


class Mutant(NamedTuple):
    """One change of the code."""

    name: str
    """What mutmut calls it."""
    change: str
    """The lines that it changes, as they are then."""

    @property
    def function(self) -> str:
        """The function that it changes, as mutmut names it."""
        return self.name.partition("__mutmut_")[0]

    @property
    def module(self) -> str:
        """The module, without the package."""
        return self.name.partition(".")[2].rpartition(".")[0]

    def __str__(self) -> str:
        """Name the function and what is changed in it."""
        function = self.function.rpartition(".")[2].removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
        return f"{self.module}.{function}: {self.change}"


class _Reach(NamedTuple):
    """What a test does where nothing is changed."""

    passes: bool
    seconds: float
    functions: frozenset[str]
    """The functions with mutants that it calls."""


class Forks:
    """Finds the fate of mutants. What is imported, and what is set up for that, is so once for all of them."""

    def __init__(self, mutants: Sequence[Mutant], jobs: int, seconds: float) -> None:
        self.fates: dict[Mutant, Fate] = {}
        """What became of each mutant so far."""
        self._mutants = mutants
        self._jobs = jobs
        self._seconds = seconds
        self._items: Sequence[pytest.Item] = ()
        self._reaches: Sequence[_Reach] = ()
        self._kills: Counter[int] = Counter()
        self._killer = mmap.mmap(-1, 4)  # shared with the forks
        self._running: dict[int, Mutant] = {}
        self._has_failed = False
        sys.setrecursionlimit(2 * sys.getrecursionlimit())  # each function with mutants is called by another one
        set_mutant_under_test("")  # the tests of texts read it, to cut each in fewer places
        config()  # of pyproject.toml, which is not there where a test goes into another folder

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that a test has failed."""
        self._has_failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Find out which tests reach which function, then test the mutants.

        Raises:
            Session.Interrupted: a test could not be imported.
        """
        if session.testsfailed:
            raise session.Interrupted("not all tests could be collected")
        self._items = [item for item in session.items if not _is_random(item) and "__mutmut_" not in item.nodeid]
        self._reaches = self._measure()
        print(f"\n{len(self._items)} tests take {sum(reach.seconds for reach in self._reaches):.0f} s without a mutant")
        tests = _by_function(self._items, self._reaches)
        gc.freeze()  # what is never looked at again is never copied
        for done, mutant in enumerate(self._mutants):
            if len(self._running) == self._jobs:
                self._wait()
            if reaching := tests[mutant.function]:
                reaching.sort(key=lambda test: -self._kills[test])
                self._running[_fork(partial(self._test, mutant, reaching))] = mutant
            else:
                self.fates[mutant] = "untested"
            if done % 100 == 0:
                print(f"{done} of {len(self._mutants)} mutants", flush=True)
        while self._running:
            self._wait()
        return True

    def _measure(self) -> list[_Reach]:
        """Run each test once; in a fork, too, so that nothing which the code keeps is there when a mutant is tested."""

        def run() -> int:
            set_mutant_under_test("stats")
            reaches = []
            for item, following in zip_longest(self._items, self._items[1:]):
                state()._stats.clear()  # noqa: SLF001 - where mutmut counts
                started = time.monotonic()
                passes = self._passes(item, following)
                reaches.append(_Reach(passes, time.monotonic() - started, frozenset(state()._stats)))  # noqa: SLF001
            pickle.dump(reaches, file)
            file.flush()
            return 0

        with tempfile.TemporaryFile() as file:
            os.waitpid(_fork(run), 0)
            file.seek(0)
            reaches: list[_Reach] = pickle.load(file)  # noqa: S301 - written above
            return reaches

    def _test(self, mutant: Mutant, tests: Sequence[int]) -> int:
        set_mutant_under_test(mutant.name)
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
        in_time = takewhile(lambda _: time.process_time() < self._seconds, zip_longest(tests, tests[1:]))
        for test, following in in_time:
            signal.setitimer(signal.ITIMER_REAL, 5 + _PATIENCE * self._reaches[test].seconds)
            if not self._passes(self._items[test], None if following is None else self._items[following]):
                self._killer[:] = struct.pack("i", test)
                return 1
        return 0

    def _passes(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        self._has_failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return not self._has_failed

    def _wait(self) -> None:
        pid, status = os.wait()
        mutant, code = self._running.pop(pid), os.waitstatus_to_exitcode(status)
        self.fates[mutant] = "survived" if code == 0 else "timeout" if code == -signal.SIGALRM else "killed"
        if code == 1:
            self._kills[struct.unpack("i", self._killer)[0]] += 1


def _is_random(item: pytest.Item) -> bool:
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


def _by_function(items: Sequence[pytest.Item], reaches: Sequence[_Reach]) -> defaultdict[str, list[int]]:
    """Give the tests that reach a function: one case of each test, then another; first those that reach little else."""
    turns: Counter[str] = Counter()
    order = []
    for index, (item, reach) in enumerate(zip(items, reaches, strict=True)):
        test = item.nodeid.partition("[")[0]
        order.append((turns[test], len(reach.functions), index))
        turns[test] += 1
    tests = defaultdict(list)
    for _, _, index in sorted(order):
        for function in reaches[index].functions if reaches[index].passes else ():
            tests[function].append(index)
    return tests


def _fork(run: Callable[[], int]) -> int:
    """Run a function in a fork, which prints nothing and ends with what the function gives; give its process."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        code = run()
    finally:
        os._exit(code)
