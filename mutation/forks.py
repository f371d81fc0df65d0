"""A plugin of pytest's: for each mutant, it runs the tests that reach it, in a fork of the process that has them.

mutmut writes all mutants of a function beside it, and calls one of them, or the function, through a wrapper of its own.
Here, the function gets the code of a mutant instead: no time is lost with the others.

Some code has run before a fork can change it: when a module or a test was imported. A mutant of such a function that
survives in a fork is therefore tested once more, in a process of its own, which is this file as a program.
"""

from __future__ import annotations

import gc
import importlib
import mmap
import os
import pickle
import random
import resource
import signal
import struct
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache, partial
from itertools import takewhile, zip_longest
from statistics import median
from types import CodeType, FunctionType, MethodType
from typing import Any, Literal, NamedTuple, TypeAlias

import pytest
from mutmut.mutation import trampoline

__all__ = ["Fate", "Forks", "Mutant"]

Fate: TypeAlias = Literal["killed", "timeout", "survived"]

_MOST_BYTES = 4 << 30
_PATIENCE = 20
"""How many times longer than without a mutant a test may take, and five seconds more."""
_CACHE: type[Any] = type(cache(len))
_LONGEST = 60
"""How many seconds a test may take in a process of its own."""


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
        """The module; one of the extractor's without the package."""
        return self.name.rpartition(".")[0].removeprefix("llama3_tools").removeprefix(".")

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


_Mutants: TypeAlias = dict[str, "FunctionType | MethodType"]


def _noting(*args: object, **kwargs: object) -> object:
    note: Callable[..., object] = ...  # type: ignore[assignment]  # put there for each function: it has no other cell
    return note(*args, **kwargs)


class _Mutated:
    """A function and its mutants, which mutmut adds by their names once all of them are defined."""

    def __init__(self, function: FunctionType, mutants: _Mutants) -> None:
        self.is_called = False
        """Whether it was called since it was last watched."""
        self._function = function
        self._mutants = mutants
        self._code = function.__code__
        consts = tuple(self._note if one is ... else one for one in _noting.__code__.co_consts)
        self._noting = self._with_its_cells(_noting.__code__.replace(co_consts=consts))

    def watch(self) -> None:
        """Note whether it is called from now on. Its first call takes longer, and the others what they take."""
        self.is_called = False
        self._function.__code__ = self._noting

    def leave(self) -> None:
        """Watch it no more."""
        self._function.__code__ = self._code

    def become(self, name: str) -> None:
        """Change the function into one of its mutants, wherever it is called from."""
        function, found = self._function, self._mutants[name]
        mutant = found if isinstance(found, FunctionType) else found.__func__  # of a class
        assert isinstance(mutant, FunctionType)  # noqa: S101 - for the type checker
        function.__code__ = mutant.__code__ if mutant.__closure__ else self._with_its_cells(mutant.__code__)
        function.__defaults__, function.__kwdefaults__ = mutant.__defaults__, mutant.__kwdefaults__

    def _note(self, *args: object, **kwargs: object) -> object:
        self.is_called = True
        self.leave()
        return self._function(*args, **kwargs)

    def _with_its_cells(self, code: CodeType) -> CodeType:
        """Return code without the cell of `super()` that the function has, so that it may take its place."""
        return code.replace(co_freevars=self._code.co_freevars)


class Forks:
    """Finds the fate of mutants. What is imported, and what is set up for that, is so once for all of them."""

    def __init__(self, mutants: Sequence[Mutant], known: Container[str], jobs: int, seconds: float) -> None:
        self.fates: dict[Mutant, Fate] = {}
        """What became of each mutant so far."""
        self.left_out: set[str] = set()
        """The tests that the command line leaves out."""
        self._mutants = mutants
        self._known = known
        self._jobs = jobs
        self._seconds = seconds
        self._caches: Sequence[Any] = ()
        self._items: Sequence[pytest.Item] = ()
        self._reaches: Sequence[_Reach] = ()
        self._kills: Counter[int | tuple[str, int]] = Counter()
        self._killer = mmap.mmap(-1, 4)  # shared with the forks
        self._running: dict[int, Mutant] = {}
        self._has_failed = False
        self._called_before: frozenset[str] = frozenset()
        self._functions: dict[str, _Mutated] = {}
        # Before the code with the mutants is imported:
        trampoline.wrap_in_trampoline = self._register  # type: ignore[assignment]
        trampoline.set_mutant_under_test("")  # the tests of texts read it, to cut each in fewer places

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that a test has failed."""
        self._has_failed |= report.failed

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Remember what is left out."""
        self.left_out.update(item.nodeid for item in items)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Find out which tests reach which function, then test the mutants.

        Raises:
            Session.Interrupted: a test could not be imported, or fails in a process of its own alone.
        """
        if session.testsfailed:
            raise session.Interrupted("not all tests could be collected")
        for module in {mutant.name.rpartition(".")[0] for mutant in self._mutants}:
            importlib.import_module(module)  # in a fork, a module that is imported late could not become a mutant
        gc.unfreeze()  # for the next lines: what is imported is frozen once it is
        packages = {mutant.name.partition(".")[0] for mutant in self._mutants}
        caches = (one for one in gc.get_objects() if isinstance(one, _CACHE))
        self._caches = [one for one in caches if str(one.__module__).partition(".")[0] in packages]
        self._called_before = self._called()
        for function in self._functions.values():
            function.leave()
        self._items = [*filter(_is_asked, session.items)]
        self._reaches = self._measure()
        print(f"\n{len(self._items)} tests take {sum(reach.seconds for reach in self._reaches):.0f} s without a mutant")
        tests = _by_function(self._reaches)
        gc.freeze()  # what is never looked at again is never copied
        for done, mutant in enumerate(self._mutants):
            if len(self._running) == self._jobs:
                self._wait()
            if reaching := tests[mutant.function]:
                reaching.sort(key=partial(self._rank, mutant.function))
                function = self._functions[mutant.function]
                self._running[_fork(partial(self._test, function, mutant, reaching))] = mutant
            else:
                self.fates[mutant] = "survived"
            if done % 100 == 0:
                print(f"{done} of {len(self._mutants)} mutants", flush=True)
        self._wait_for_all()
        if left := [one for one in self._mutants if self._is_new(one) and one.function in self._called_before]:
            self._test_apart(left, session)
        return True

    def _forget(self) -> None:
        """Forget what the code keeps of what it has made, so that each test makes it."""
        for one in self._caches:
            one.cache_clear()

    def _is_new(self, mutant: Mutant) -> bool:
        """Whether it survived so far, and is not known for that."""
        return self.fates[mutant] == "survived" and str(mutant) not in self._known

    def _measure(self) -> list[_Reach]:
        """Run each test once; in a fork, too, so that nothing which the code keeps is there when a mutant is tested."""

        def run() -> int:
            reaches = []
            for item, following in zip_longest(self._items, self._items[1:]):
                self._forget()
                for function in self._functions.values():
                    function.watch()
                started = time.monotonic()
                passes = self._passes(item, following)
                reaches.append(_Reach(passes, time.monotonic() - started, self._called()))
            pickle.dump(reaches, file)
            file.flush()
            return 0

        with tempfile.TemporaryFile() as file:
            os.waitpid(_fork(run), 0)
            file.seek(0)
            reaches: list[_Reach] = pickle.load(file)  # noqa: S301 - written above
            return reaches

    def _test(self, function: _Mutated, mutant: Mutant, tests: Sequence[int]) -> int:
        function.become(mutant.name.rpartition(".")[2])
        self._forget()
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
        in_time = takewhile(lambda _: time.process_time() < self._seconds, zip_longest(tests, tests[1:]))
        for test, following in in_time:
            signal.setitimer(signal.ITIMER_REAL, 5 + _PATIENCE * self._reaches[test].seconds)
            if not self._passes(self._items[test], None if following is None else self._items[following]):
                self._killer[:] = struct.pack("i", test)
                return 1
        return 0

    def _register(self, mutants: _Mutants, *, is_classmethod: bool = False) -> Callable[[FunctionType], FunctionType]:
        """Take the place of mutmut's decorator: remember a function with its mutants, and leave it as it is."""
        del is_classmethod  # it gets other code in its place

        def register(function: FunctionType) -> FunctionType:
            registered = self._functions[_mangled(function)] = _Mutated(function, mutants)
            registered.watch()
            return function

        return register

    def _called(self) -> frozenset[str]:
        """Return the functions with mutants that were called since they were last watched."""
        return frozenset(name for name, function in self._functions.items() if function.is_called)

    def _test_apart(self, mutants: Sequence[Mutant], session: pytest.Session) -> None:
        print(f"{len(mutants)} of them once more, in a process of its own each", flush=True)
        failing = (item.nodeid for item, reach in zip(self._items, self._reaches, strict=True) if not reach.passes)
        command = [sys.executable, __file__, str(self._seconds), *session.config.invocation_params.args]
        command += (f"--deselect={test}" for test in failing)
        if os.waitpid(_start(command, ""), 0)[1]:
            raise session.Interrupted("without a mutant, tests fail in a process of their own")
        for done, mutant in enumerate(mutants, 1):
            if len(self._running) == self._jobs:
                self._wait()
            self._running[_start(command, mutant.name)] = mutant
            if done % 10 == 0:
                print(f"{done} of {len(mutants)} of these", flush=True)
        self._wait_for_all()

    def _passes(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        self._has_failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return not self._has_failed

    def _rank(self, function: str, test: int) -> tuple[int, int]:
        """Return what comes first: the tests that noticed most of this function's mutants, then of all."""
        return -self._kills[function, test], -self._kills[test]

    def _wait_for_all(self) -> None:
        while self._running:
            self._wait()

    def _wait(self) -> None:
        pid, status = os.wait()
        mutant, code = self._running.pop(pid), os.waitstatus_to_exitcode(status)
        self.fates[mutant] = "survived" if code == 0 else "timeout" if code == -signal.SIGALRM else "killed"
        if code == 1:
            (test,) = struct.unpack("i", self._killer)
            self._kills[test] += 1
            self._kills[mutant.function, test] += 1
        if self._is_new(mutant):
            print(f"survived so far: {mutant}", flush=True)


class _Apart:
    """Runs tests in a process of its own: as many as there is time for."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = 0.0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put one case of each test first, then another."""
        asked = [*filter(_is_asked, items)]
        items[:] = [item for _, _, item in sorted(zip(_turns(asked), range(len(asked)), asked, strict=True))]
        self._end = time.process_time() + self._seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """Leave out a test that there is no time for, and end one that does not end."""
        signal.setitimer(signal.ITIMER_REAL, _LONGEST)
        return True if time.process_time() > self._end else None


def _is_asked(item: pytest.Item) -> bool:
    """Whether a test is neither random nor the example of a mutant."""
    is_random = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return not is_random and "__mutmut_" not in item.nodeid


def _mangled(function: FunctionType) -> str:
    """Return what mutmut calls a function."""
    class_name, _, name = function.__qualname__.rpartition(".")
    return f"{function.__module__}.{f'xǁ{class_name}ǁ{name}' if class_name else f'x_{name}'}"


def _turns(items: Iterable[pytest.Item]) -> Sequence[int]:
    """Count for each item those of the same test before it."""
    turns: Counter[str] = Counter()
    found = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        found.append(turns[test])
        turns[test] += 1
    return found


def _by_function(reaches: Sequence[_Reach]) -> defaultdict[str, list[int]]:
    """Return the tests that reach a function: the shorter half first, mixed, so that few of them try much."""
    usual = median(reach.seconds for reach in reaches)
    tests = defaultdict(list)
    seeded = random.Random(0)  # noqa: S311 - the same order every time
    for index in sorted(range(len(reaches)), key=lambda index: (reaches[index].seconds > usual, seeded.random())):
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


def _start(command: list[str], mutant: str) -> int:
    """Start a program that has a mutant from the beginning and prints nothing; give its process."""
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    environment = {**os.environ, "MUTANT_UNDER_TEST": mutant}
    return os.posix_spawn(command[0], command, environment, file_actions=nowhere)


def main(seconds: str, *command_line: str) -> int:
    """Run the tests of a command line until one fails; the environment names the mutant. Give the exit status."""
    sys.setrecursionlimit(2 * sys.getrecursionlimit())
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    return 2 if pytest.main([*command_line, "--exitfirst"], plugins=[_Apart(float(seconds))]) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
