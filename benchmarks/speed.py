"""How fast outputs are read, and whether the time or the memory grows faster than they do.

    python benchmarks/speed.py                              # all tables: a quarter of an hour
    python benchmarks/speed.py --only targets imports       # some of them
    python benchmarks/speed.py --quick                      # the growth alone, on shorter outputs
    python benchmarks/speed.py --json new.json --compare old.json
    python benchmarks/speed.py --plot speed.svg             # needs matplotlib

The exit status is 1 where the time of an output grows faster than the output, again and again, and 2 where the command
line asks for what is not there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple, NoReturn

from adapters import adapters, growth_of_adapters
from comparing import changes, figures_in, figures_of
from extraction import answers, targets
from figures import WHOLE, Growth, Row, Target
from growth import faster_than_linear, grown
from imports import imports
from measuring import machine
from memory import memory_of_streams
from pages import filled, table
from peers import PACKAGES, peers
from workloads import GROWING, Workload

__all__ = ["FULL", "Effort", "main"]

_KIB = 1024


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    growth: Mapping[int, int]
    """For each length of chunks, the characters of the shortest output."""
    late: int
    """How many characters come before a chunk that is late in its stream, and stand in the longest of the targets."""
    memory: int
    """The characters of streams whose memory is measured."""
    chunks: int
    """The chunks of the shortest stream that adapters read."""
    repeats: int
    """How many runs the best one is taken of."""
    repeats_of_growth: int
    """The same of the growth, which is measured again where it is not linear."""
    limit: float
    """The seconds that a peer has for an output."""


FULL = Effort(
    growth={WHOLE: 32 * _KIB, 1: 4 * _KIB, 4: 8 * _KIB, 16: 8 * _KIB, 4096: 16 * _KIB},
    late=1024 * _KIB,
    memory=4_000_000,
    chunks=10_000,
    repeats=5,
    repeats_of_growth=3,
    limit=10,
)
_QUICK = Effort(
    growth={WHOLE: 32 * _KIB, 1: 4 * _KIB},  # what is fast for a character shows in long outputs alone
    late=256 * _KIB,
    memory=100_000,
    chunks=100,
    repeats=2,
    repeats_of_growth=2,
    limit=1,
)
_FRAMEWORKS = ("langchain-core", "llama-index-core")


class _Section(NamedTuple):
    """A table."""

    rows: Iterator[Row]
    """What measures each row as it is asked for."""
    packages: Sequence[str] = ()
    """Whose versions matter to the figures."""


def _sections(effort: Effort, workloads: Sequence[Workload]) -> dict[str, _Section]:
    return {
        "answers": _Section(answers(effort.repeats)),
        "targets": _Section(targets(effort.repeats, effort.late)),
        "imports": _Section(imports(effort.repeats), ("pydantic", *_FRAMEWORKS)),
        "adapters": _Section(adapters(effort.repeats), _FRAMEWORKS),
        "adapters-growth": _Section(growth_of_adapters(effort.chunks), _FRAMEWORKS),
        "memory": _Section(memory_of_streams(effort.memory)),
        "growth": _Section(grown(workloads, effort.growth, effort.late, effort.repeats_of_growth)),
        "peers": _Section(peers(effort.limit), PACKAGES),
    }


def main(command_line: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for, print the tables and write the files."""
    options = _options(command_line)
    if options.page and (options.quick or options.named):
        _fail("--page takes whole tables: not with --quick, nor with --named")
    workloads = [workload for workload in GROWING if options.named in workload.name]
    sections = _sections(_QUICK if options.quick else FULL, workloads)
    names = options.only or (["growth"] if options.quick else sections)
    if "growth" in names and not workloads:
        _fail(f"--named {options.named!r} is in none of these: {', '.join(workload.name for workload in GROWING)}")
    old = _old_figures(options.compare) if options.compare else {}
    measured: dict[str, list[Row]] = {}
    tables: dict[str, list[str]] = {}
    for name in names:
        kept = measured.setdefault(name, [])
        tables[name] = list(_printed(_measured(sections[name], kept)))
        print()
    if options.compare:
        print(*changes(figures_of(measured), old), sep="\n")
    if options.json:
        packages = dict.fromkeys(package for name in names for package in sections[name].packages)
        everything = {"machine": machine(packages), "figures": figures_of(measured)}
        everything |= {name: [asdict(row) for row in rows] for name, rows in measured.items()}
        options.json.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    for page in options.page:
        page.write_text(filled(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
    if options.plot:
        _plot(options.plot, measured)
    worse = [line for rows in measured.values() for line in faster_than_linear(rows)]
    print(*worse, sep="\n")
    sys.exit(1 if worse else 0)


def _measured(section: _Section, kept: list[Row]) -> Iterator[str]:
    """Return a table, with a line below that says when and on what it was measured."""
    yield from table(_kept(section.rows, kept))
    today = datetime.now(timezone.utc).date()
    yield ""
    yield f"Measured on {today}: " + ", ".join(
        f"{name} {version}" for name, version in machine(section.packages).items()
    )


def _old_figures(path: Path) -> dict[str, float]:
    """Read the figures of another run, before any time is spent on this one."""
    try:
        return figures_in(path)
    except OSError as error:
        _fail(f"{path}: {error.strerror}")
    except ValueError as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    print(f"speed.py: error: {message}", file=sys.stderr)
    sys.exit(2)


def _plot(path: Path, measured: Mapping[str, Iterable[Row]]) -> None:
    from plot import plot  # noqa: PLC0415 - matplotlib, which nothing else needs

    rows = [row for rows in measured.values() for row in rows]
    plot(path, [row for row in rows if isinstance(row, Target)], [row for row in rows if isinstance(row, Growth)])


def _options(command_line: Sequence[str] | None) -> argparse.Namespace:
    tables = _sections(_QUICK, ())
    parser = argparse.ArgumentParser(description="How fast outputs are read, and whether the time grows with them.")
    parser.add_argument("--quick", action="store_true", help="short outputs, and without --only the growth alone")
    parser.add_argument("--only", nargs="+", choices=tables, metavar="TABLE", help=", ".join(tables))
    parser.add_argument("--named", default="", metavar="TEXT", help="growth: only of outputs with this in their name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures, the machine and the versions")
    parser.add_argument(
        "--page",
        type=Path,
        nargs="+",
        default=(),
        metavar="FILE",
        help="put the tables into pages that have places for them",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the targets and the growth")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="compare with what --json wrote")
    return parser.parse_args(command_line)


def _printed(lines: Iterable[str]) -> Iterator[str]:
    """Print each line as soon as it is measured."""
    for line in lines:
        print(line, flush=True)
        yield line


def _kept(rows: Iterable[Row], kept: list[Row]) -> Iterator[Row]:
    for row in rows:
        kept.append(row)
        yield row


if __name__ == "__main__":
    main()
