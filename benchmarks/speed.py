"""How fast outputs are read, and whether the time grows faster than they do.

    python benchmarks/speed.py                              # all tables: a quarter of an hour
    python benchmarks/speed.py --only targets peers         # some of them
    python benchmarks/speed.py --quick                      # the growth alone, on shorter outputs
    python benchmarks/speed.py --only answers --page docs/speed.md

The exit status is 1 where the time of an output grows faster than the output, again and again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import extraction
import growth
import peers
from measuring import machine
from pages import fill, table
from workloads import GROWING

_KIB = 1024
TABLES = ("answers", "targets", "growth", "peers")


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    growth: Mapping[int, int]
    """For each length of chunks, the characters of the shortest output."""
    late: int
    """How many characters come before a chunk that is late in its stream."""
    repeats: int
    """How many runs the best one is taken of."""
    repeats_of_growth: int
    """The same of the growth, which is measured again where it is not linear."""
    limit: float
    """The seconds that a peer has for an output."""


FULL = Effort(
    growth={growth.WHOLE: 32 * _KIB, 1: 4 * _KIB, 4: 8 * _KIB, 16: 8 * _KIB, 4096: 16 * _KIB},
    late=1024 * _KIB,
    repeats=5,
    repeats_of_growth=3,
    limit=10,
)
QUICK = Effort(
    growth={growth.WHOLE: 32 * _KIB, 1: 4 * _KIB},  # what is fast for a character shows in long outputs alone
    late=256 * _KIB,
    repeats=2,
    repeats_of_growth=2,
    limit=1,
)


def main(command_line: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, print the tables, fill pages, and return the exit status."""
    parser = argparse.ArgumentParser(description="How fast outputs are read, and whether the time grows with them.")
    parser.add_argument("--quick", action="store_true", help="short outputs, and without --only the growth alone")
    parser.add_argument("--only", nargs="+", choices=TABLES, metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--named", default="", metavar="TEXT", help="growth: only of outputs with this in their name")
    parser.add_argument("--page", type=Path, nargs="+", default=(), metavar="FILE", help="fill the pages' places")
    options = parser.parse_args(command_line)
    names = options.only or (["growth"] if options.quick else TABLES)
    worse: list[str] = []
    tables: dict[str, list[str]] = {}
    for name in names:
        lines = tables[name] = []
        for line in _measured(name, QUICK if options.quick else FULL, options.named, worse):
            print(line, flush=True)
            lines.append(line)
        print()
    fill(options.page, tables)
    print(*worse, sep="\n")
    return 1 if worse else 0


def _measured(name: str, effort: Effort, named: str, worse: list[str]) -> Iterator[str]:
    """Yield a table as it is measured, with a line below that says when and on what."""
    if name == "answers":
        yield from table(extraction.ANSWERS, extraction.answers(effort.repeats))
    elif name == "targets":
        yield from table(extraction.TARGETS, extraction.targets(effort.repeats))
    elif name == "growth":
        yield from table(growth.HEADINGS, _grown(effort, named, worse))
    else:
        yield from table(peers.HEADINGS, (peer.cells() for peer in peers.peers(effort.limit)))
    packages = peers.PACKAGES if name == "peers" else ()
    on = ", ".join(f"{what} {version}" for what, version in machine(packages).items())
    yield from ("", f"Measured on {datetime.now(timezone.utc).date()}: {on}")


def _grown(effort: Effort, named: str, worse: list[str]) -> Iterator[Sequence[str]]:
    workloads = [workload for workload in GROWING if named in workload.name]
    for row in growth.grown(workloads, effort.growth, effort.late, effort.repeats_of_growth):
        worse.extend(row.problems())
        yield row.cells()


if __name__ == "__main__":
    sys.exit(main())
