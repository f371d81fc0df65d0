"""How fast outputs are read, and whether the time or the memory grows faster than they do.

    python benchmarks/speed.py                              # all tables: about ten minutes
    python benchmarks/speed.py --only targets imports       # some of them
    python benchmarks/speed.py --quick                      # the growth alone, on short outputs
    python benchmarks/speed.py --json new.json --compare old.json
    python benchmarks/speed.py --plot speed.svg             # needs matplotlib

The exit status is 1 where the time of an output grows faster than the output, again and again, and 2 where the command
line asks for what is not there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NoReturn

from adapters import adapters
from extraction import ratios
from figures import WHOLE, Growth, Ratio, Row, changes, figures_of, table
from growth import faster_than_linear, grown
from imports import imports
from measuring import machine
from memory import memory_of_streams
from peers import peers
from workloads import GROWING

__all__ = ["SECTIONS", "Effort", "main"]

_KIB = 1024


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    growth: Mapping[int, int]
    """For each length of chunks, the characters of the shortest output."""
    memory: int
    """The characters of streams whose memory is measured."""
    repeats: int
    """How many runs the best one is taken of."""
    limit: float
    """The seconds that a peer has for an output."""
    named: str = ""
    """What the name of an output has to hold, for its growth to be measured."""


_FULL = Effort(
    growth={WHOLE: 32 * _KIB, 1: 4 * _KIB, 4: 8 * _KIB, 16: 8 * _KIB, 4096: 16 * _KIB},
    memory=4_000_000,
    repeats=5,
    limit=10,
)
_QUICK = Effort(
    growth={WHOLE: 32 * _KIB, 1: 4 * _KIB, 16: 4 * _KIB},  # what is fast for a character shows in long outputs alone
    memory=40_000,
    repeats=2,
    limit=1,
)

SECTIONS: dict[str, Callable[[Effort], Iterable[Row]]] = {
    "targets": lambda effort: ratios(effort.repeats),
    "imports": lambda effort: imports(effort.repeats),
    "adapters": lambda effort: adapters(effort.repeats),
    "memory": lambda effort: memory_of_streams(effort.memory),
    "growth": lambda effort: grown(effort.growth, min(effort.repeats, 3), effort.named),
    "peers": lambda effort: peers(effort.limit),
}


def main(command_line: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for, print the tables and write the files."""
    options = _options(command_line)
    effort = replace(_QUICK if options.quick else _FULL, named=options.named)
    names = options.only or (["growth"] if options.quick else SECTIONS)
    if "growth" in names and not any(options.named in workload.name for workload in GROWING):
        _fail(f"--named {options.named!r} is in none of these: {', '.join(workload.name for workload in GROWING)}")
    old = _figures_in(options.compare) if options.compare else {}
    measured: dict[str, list[Row]] = {}
    tables = {"machine": [", ".join(f"{name} {version}" for name, version in machine().items())]}
    print(*tables["machine"])
    for name in names:
        print()
        tables[name] = list(_printed(table(_kept(SECTIONS[name](effort), measured.setdefault(name, [])))))
    if options.compare:
        print(*changes(figures_of(measured), old), sep="\n")
    if options.json:
        everything = {"machine": machine(), "figures": figures_of(measured)}
        everything |= {name: [asdict(row) for row in rows] for name, rows in measured.items()}
        options.json.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    if options.page:
        options.page.write_text(_filled(options.page.read_text(encoding="utf-8"), tables), encoding="utf-8")
    if options.plot:
        _plot(options.plot, measured)
    worse = [line for rows in measured.values() for line in faster_than_linear(rows)]
    print(*worse, sep="\n")
    sys.exit(1 if worse else 0)


def _figures_in(path: Path) -> dict[str, float]:
    """Read the figures of another run, before any time is spent on this one."""
    try:
        figures = json.loads(path.read_text(encoding="utf-8"))["figures"]
        return {name: float(figure) for name, figure in figures.items()}
    except OSError as error:
        _fail(f"{path}: {error.strerror}")
    except (AttributeError, LookupError, TypeError, ValueError):
        _fail(f"{path} has no figures, as --json writes them")


def _fail(message: str) -> NoReturn:
    print(f"speed.py: error: {message}", file=sys.stderr)
    sys.exit(2)


def _filled(page: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Put tables into a page: each between `<!-- NAME -->` and `<!-- end -->`."""
    for name, lines in tables.items():
        begins, found, rest = page.partition(f"<!-- {name} -->\n")
        _, _, ends = rest.partition("<!-- end -->")
        if found:
            page = "\n".join([begins + found, *lines, "", f"<!-- end -->{ends}"])
    return page


def _plot(path: Path, measured: Mapping[str, Iterable[Row]]) -> None:
    from plot import plot  # noqa: PLC0415 - matplotlib, which nothing else needs

    rows = [row for rows in measured.values() for row in rows]
    plot(path, [row for row in rows if isinstance(row, Ratio)], [row for row in rows if isinstance(row, Growth)])


def _options(command_line: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How fast outputs are read, and whether the time grows with them.")
    parser.add_argument("--quick", action="store_true", help="short outputs, and without --only the growth alone")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="TABLE", help=", ".join(SECTIONS))
    parser.add_argument("--named", default="", metavar="TEXT", help="growth: only of outputs with this in their name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures, the machine and the versions")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the tables into a page that has places for them")
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
