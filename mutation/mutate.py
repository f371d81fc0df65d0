"""Changes the code of `shared/` in small ways, one at a time, and sees whether the tests notice.

    python mutation/mutate.py literals/json_tokens reader/markup
    python mutation/mutate.py literals/json_tokens --again

mutmut writes the mutants: a comparison turned round, a number one larger, an argument left out. For each, the tests
that reach its function run until one of them fails. A mutant that none notices has survived; `survivors.txt` lists
those that are known, with the reason; what it lists in vain is named. The exit status is 1 if another one survived.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from mutmut.mutation.file_mutation import MutatedFile, mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT / "mutation"))

from forks import Fate, Forks, Mutant  # noqa: E402 - beside this program

_SHARED = _ROOT / "shared"
_PACKAGES = ("llama3_tools", "llama3_acceptance")
_SURVIVORS = _ROOT / "mutation" / "survivors.txt"
_BUILD = _ROOT / ".cache" / "mutation"
_LAST = _BUILD / "survivors.txt"

_OF_SHARED = "tests/shared"
# What measures time or memory, and what starts threads, a browser or pytest, would take all the time and notice little
# more.
_LEFT_OUT = ("test_growth.py", "llama3_acceptance/test_pytest_plugin.py")
_TOO_LONG = (
    "llama3_tools/arguments/test_limits.py::test_a_coercer_keeps_little_of_what_names_ask_for",
    "llama3_tools/arguments/test_limits.py::test_nor_is_it_of_reading_a_schema",
    "llama3_tools/arguments/test_limits.py::test_problems_take_no_more_memory_than_their_number",
    "test_hostile.py::test_what_is_shown_is_one_line_a_result_and_found_in_linear_time",
    "llama3_tools/output/test_segments.py::test_long_runs_are_cut_in_linear_time",
)

_TESTS = (_OF_SHARED, *(str(_BUILD / package) for package in _PACKAGES))  # the examples in docstrings, too
_PYTEST = (
    *(f"--ignore={_OF_SHARED}/{path}" for path in _LEFT_OUT),
    *(f"--deselect={_OF_SHARED}/{test}" for test in _TOO_LONG),
    "-mnot browser",
    *("--quiet", "--no-header", "--no-summary", "--capture=no"),
    *("-ppytest_asyncio.plugin", "-ppytest_cov.plugin", "-ppytest_socket", "-p_hypothesis_pytestplugin"),
    *("-pno:cacheprovider", "-pno:logging"),
    f"--override-ini=pythonpath={_BUILD} integrations examples benchmarks fuzz tests",
)


def main(command_line: Sequence[str] | None = None) -> int:
    """Test the mutants, and print those that survive and a line for each module; give the exit status."""
    parser = argparse.ArgumentParser(description="See whether the tests notice small changes of the code.")
    parser.add_argument(
        "modules",
        nargs="*",
        type=lambda name: name.replace("/", "."),
        help="such as literals/json_tokens or reader/markup (default: all)",
    )
    parser.add_argument("--again", action="store_true", help="only mutants that survived the last time")
    parser.add_argument(
        "--one-in", type=int, default=1, metavar="N", help="only one in N mutants, drawn at random, but always the same"
    )
    parser.add_argument("--tests", nargs="+", metavar="FILE", help="only these tests, where they are known to be right")
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants to test at once (default: 1)")
    parser.add_argument(
        "--seconds", type=float, default=60, help="processor time for the tests of one mutant (default: 60)"
    )
    options = parser.parse_args(command_line)
    os.chdir(_ROOT)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the fewer, the sooner a test is run
    os.environ["PYTHONPATH"] = str(_BUILD)  # for the processes that tests start
    survived = set(_LAST.read_text(encoding="utf-8").splitlines()) if options.again else None
    modules = {_module_of(path): path for path in _sources()}
    if unknown := [name for name in options.modules if name not in modules]:
        parser.error(f"no such module: {', '.join(unknown)}")
    paths = [modules[name] for name in options.modules] or [*modules.values()]
    written = list(_write(paths))
    mutants = _draw([mutant for mutant in written if survived is None or str(mutant) in survived], options.one_in)
    known = _known(_SURVIVORS.read_text(encoding="utf-8"))
    forks = Forks(mutants, known, options.jobs, options.seconds)
    pytest.main([*_PYTEST, *(options.tests or _TESTS)], plugins=[forks])
    for line in known.keys() & {str(mutant) for mutant, fate in forks.fates.items() if fate == "killed"}:
        print(f"{_SURVIVORS.name} lists what tests notice: {line}")
    for line in _stale(known, set(map(str, written)), set(options.modules or modules)):
        print(f"{_SURVIVORS.name} lists what is no mutant any more: {line}")
    for test in () if options.tests else _unknown_tests(forks.left_out):
        print(f"{Path(__file__).name} leaves out what is no test any more: {test}")
    return _report(forks.fates, known) if forks.fates else 2


def _write(paths: Iterable[Path]) -> Iterator[Mutant]:
    """Copy the packages, put all mutants of some modules there, and give their names, repeated ones with a number."""
    for package in _PACKAGES:
        shutil.rmtree(_BUILD / package, ignore_errors=True)
        shutil.copytree(_SHARED / package, _BUILD / package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in paths:
        relative = path.relative_to(_SHARED)
        mutated = mutate_file_contents(str(path), path.read_text(encoding="utf-8"))
        (_BUILD / relative).write_text(mutated.code, encoding="utf-8")
        seen: Counter[str] = Counter()
        for name in mutated.mutant_names:
            mutant = Mutant(get_mutant_name(relative, name), _change(mutated, name))
            seen[str(mutant)] += 1
            repeated = seen[str(mutant)] > 1
            yield mutant._replace(change=f"{mutant.change} ({seen[str(mutant)]})") if repeated else mutant


def _draw(mutants: Sequence[Mutant], one_in: int) -> Sequence[Mutant]:
    """Draw one in so many mutants at random: the same ones every time, in their order."""
    drawn = random.Random(0).sample(range(len(mutants)), -(-len(mutants) // one_in))  # noqa: S311 - no secret
    return [mutants[index] for index in sorted(drawn)]


def _change(mutated: MutatedFile, name: str) -> str:
    """Return the lines that a mutant has instead of others, on one line, or those which it lacks."""
    lines = mutated.code.splitlines()
    function = name.partition("__mutmut_")[0]
    plain = function.removeprefix("x_").rpartition("ǁ")[2]

    def body(of: str) -> list[str]:
        span = mutated.line_span_by_function_name[of]
        return [line.strip().replace(of, plain) for line in lines[span.start - 1 : span.end]]

    difference = list(difflib.ndiff(body(f"{function}__mutmut_orig"), body(name)))
    new, old = ([line[2:] for line in difference if line.startswith(sign)] for sign in ("+", "-"))
    return " ".join(new) or f"without {' '.join(old)}"


def _known(text: str) -> Mapping[str, str]:
    """Read paragraphs, each of a reason in lines that begin with `#`, and of the mutants that it holds for."""
    known: dict[str, str] = {}
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        reason = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
        known |= {line: reason for line in lines if not line.startswith("#")}
    return known


def _stale(known: Iterable[str], mutants: Container[str], modules: Container[str]) -> Iterator[str]:
    """Yield those of the known mutants of some modules that are not among all mutants of these."""
    every = sorted(map(_module_of, _sources()), key=len, reverse=True)
    for line in known:
        module = next((one for one in every if line.startswith(f"{one}.")), "")
        if module in modules and line not in mutants:
            yield line


def _unknown_tests(left_out: Iterable[str]) -> Iterator[str]:
    """Yield those of the tests to leave out that are not among those left out."""
    yield from (path for path in _LEFT_OUT if not (_ROOT / _OF_SHARED / path).is_file())
    yield from (test for test in _TOO_LONG if not any(one.startswith(f"{_OF_SHARED}/{test}") for one in left_out))


def _sources() -> Iterator[Path]:
    for package in _PACKAGES:
        yield from sorted((_SHARED / package).rglob("*.py"))


def _module_of(path: Path) -> str:
    package, *parts = path.relative_to(_SHARED).with_suffix("").parts
    within = [] if package == _PACKAGES[0] else [package]
    return ".".join(part for part in (*within, *parts) if part != "__init__")


def _report(fates: Mapping[Mutant, Fate], known: Container[str]) -> int:
    columns = ("killed", "timeout", "known", "survived")
    counts: dict[str, Counter[str]] = {}
    survivors = []
    for mutant, fate in fates.items():
        is_known = fate == "survived" and str(mutant) in known
        if fate == "survived" and not is_known:
            survivors.append(str(mutant))
        counts.setdefault(mutant.module, Counter())["known" if is_known else fate] += 1
    _LAST.write_text("\n".join(survivors), encoding="utf-8")
    print("", *survivors, sep="\n")
    print(f"\n{'module':40}" + "".join(f"{column:>10}" for column in columns))
    for module, fates_there in counts.items():
        print(f"{module:40}" + "".join(f"{fates_there[column]:10}" for column in columns))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
