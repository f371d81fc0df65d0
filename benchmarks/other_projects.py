"""How many outputs of other projects' tests are read as these projects expect.

    python benchmarks/other_projects.py
    python benchmarks/other_projects.py cases.jsonl --list
    python benchmarks/other_projects.py cases.jsonl --page docs/other-projects.md

The Llama fixtures of the package `canitoolcall` are read where it is installed, and the files that are named. Each line
of these is an output as a JSON object: the text under `raw_output` or `raw`, and the functions that the model was shown
under `functions` or `tools`. What is expected of it stands beside it, in one of these ways:

- `expected` or `expected_error`, as the fixtures of `canitoolcall` have them.
- `expected_peer` with `calls`, a list of names and arguments. `options` are those of the extractor. The tools that it
  expects calls of are declared, too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

from figures import Row
from llama3_tools import Extractor
from pages import filled, table
from samples import Sample, read_lines, sample_of, tool_of

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from chunkings import extract_in_every_chunking

__all__ = ["Case", "CaseCounts", "fixtures", "judge_cases", "main", "read_row"]

_EXPECTED = '"raw_output" beside "expected", "expected_error" or "expected_peer"'
_NONE = """\
canitoolcall is not installed (pip install canitoolcall), and no files are named: make cases OUTPUTS="cases.jsonl"
"""
_LONG = 400

Call: TypeAlias = tuple[str, Mapping[str, Any]]


class Case(NamedTuple):
    """An output, and what another project expects of it."""

    where: str
    sample: Sample
    calls: Sequence[Call]
    content: str | None
    """The content, if that counts: a project that drops text around calls has none."""
    options: Mapping[str, Any]
    complete: bool


@dataclass(frozen=True, slots=True)
class CaseCounts(Row):
    """How many of a file's cases are read as others expect."""

    headings: ClassVar[Sequence[str]] = ("cases", "outputs", "as expected", "otherwise", "alike in all chunkings")
    outputs: int
    right: int
    alike: int

    @property
    def figures(self) -> Mapping[str, float]:
        """How many are read otherwise."""
        return {"otherwise": self.outputs - self.right}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        counts = (self.outputs, self.right, self.outputs - self.right, self.alike)
        return (self.name, *(f"{count:,}" for count in counts))


def main(command_line: Sequence[str] | None = None) -> None:
    """Print the table for the fixtures that are installed, and the files that the command line names."""
    parser = argparse.ArgumentParser(description="How many outputs of other projects' tests are read as they expect.")
    parser.add_argument("cases", nargs="*", type=Path, help="JSON Lines, plain or .gz, and what is expected of each")
    parser.add_argument("--list", action="store_true", help="print what is read otherwise, for reading by eye")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the table into a page that has a place for it")
    options = parser.parse_args(command_line)
    paths = {f"{path.parent.name}/{path.name}": path for path in options.cases}
    paths |= {f"canitoolcall/{path.name}": path for path in fixtures()}
    if not paths:
        parser.exit(2, _NONE)
    try:
        read = {name: list(read_lines(path, read_row, _EXPECTED)) for name, path in paths.items()}
    except (OSError, ValueError) as error:
        parser.error(str(error))
    cases = {name: [row for row in rows if row] for name, rows in read.items()}
    shown = []
    for line in table(judge_cases(cases, is_listed=options.list)):
        print(line, flush=True)
        shown.append(line)
    skipped = sum(row is None for rows in read.values() for row in rows)
    if skipped:
        print(f"\nNot read, as they are for a framework's parser: {skipped}")
    if options.page:
        options.page.write_text(filled(options.page.read_text(encoding="utf-8"), {"cases": shown}), encoding="utf-8")


def fixtures() -> list[Path]:
    """Return the Llama fixtures of `canitoolcall`; none where it is not installed."""
    package = find_spec("canitoolcall")
    if package is None or package.origin is None:
        return []
    return sorted(Path(package.origin).parent.glob("_data/fixtures/llama/*.jsonl"))


def judge_cases(cases: Mapping[str, Sequence[Case]], *, is_listed: bool = False) -> Iterator[CaseCounts]:
    """Yield a row for each file: how many outputs are read as expected, and alike in every chunking."""
    for name, rows in cases.items():
        right = alike = 0
        for case in rows:
            tools = json.loads(case.sample.tools) or None
            extraction = _extractor(case.sample.tools, **case.options).extract(case.sample.text, complete=case.complete)
            calls = [(call.name, call.arguments) for call in extraction.tool_calls]
            is_right = calls == case.calls and case.content in (None, (extraction.content or "").strip())
            right += is_right
            if is_listed and not is_right:
                print(f"{case.where}: expected {case.calls!r}\n  {case.sample.text[:_LONG]!r}")
                for found in (*extraction.tool_calls, *extraction.rejections):
                    print(f"  = {found!r}"[:_LONG])
            try:
                extract_in_every_chunking(
                    case.sample.text, complete=case.complete, is_sampled=True, tools=tools, **case.options
                )
                alike += 1
            except AssertionError as error:
                print(f"{case.where}: {error}")
        if rows:
            yield CaseCounts(name, len(rows), right, alike)


def read_row(row: Mapping[str, Any]) -> Case | None:
    """Read a row; `None`: it is for a framework's parser."""
    where = str(row.get("id", ""))
    given = {name: value for name, value in (row.get("options") or {}).items() if name != "lenient"}
    if "parser" in given:
        return None
    sample = sample_of(row)
    content, complete = None, True
    if "expected_peer" in row:
        calls = [(name, arguments or {}) for name, arguments in row["expected_peer"].get("calls") or ()]
        sample = _with_tools(sample, [name for name, _ in calls], row)
    elif "expected_error" in row:
        calls, complete = [], "truncated" not in row.get("tags", ())
    else:
        calls = [(call["name"], call["arguments"]) for call in row["expected"]["tool_calls"]]
        content = (row["expected"].get("content") or "").strip()
    return Case(where, sample, calls, content, given, complete)


def _with_tools(sample: Sample, names: Iterable[str], row: Mapping[str, Any]) -> Sample:
    """Declare tools beside those of a row."""
    declared = json.loads(sample.tools) if row.get("tools") else []
    known = {tool["name"] for tool in declared}
    declared += [tool_of(name, name) for name in dict.fromkeys(names) if name and name not in known]
    return sample._replace(tools=json.dumps(declared))


@cache
def _extractor(tools: str, **options: Any) -> Extractor:  # noqa: ANN401 - as Extractor takes them
    return Extractor(tools=json.loads(tools) or None, **options)


if __name__ == "__main__":
    main()
