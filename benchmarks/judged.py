"""How many outputs are read rightly, as others judge it.

    python benchmarks/judged.py rows.jsonl.gz cases.jsonl fixtures/llama/*.jsonl
    python benchmarks/judged.py rows.jsonl.gz --list
    python benchmarks/judged.py rows.jsonl.gz --page docs/evidence.md

Each line of a file is an output as a JSON object: the text under `raw_output` or `raw`, and the functions that the
model was shown under `functions` or `tools`. What is right of it stands beside it, in one of these ways:

- `category` and `answer`, the ground truth of the Berkeley Function-Calling Leaderboard: its own checker judges
  (package `bfcl-eval`). Optional are `model`, `official` (whether the leaderboard's decoder reads the output rightly)
  and `family`: `hermes` was shown `_` for each `.` in a name.
- `expected` or `expected_error`, as the fixtures of the package `canitoolcall` have them.
- `expected_peer` with `calls`, a list of names and arguments: what another project expects. `options` are those of the
  extractor. The tools that it expects calls of are declared, too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple, TypeAlias

from evidence import Sample, read_lines, sample_of, tool_of
from figures import Row
from llama3_tools import Extraction, Extractor
from pages import filled, table

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from chunkings import extract_in_every_chunking

__all__ = [
    "EXPECTED",
    "Case",
    "Cases",
    "Checker",
    "Judgement",
    "Question",
    "judge_cases",
    "judge_questions",
    "load_checker",
    "main",
    "read_row",
]

EXPECTED = '"raw_output" beside "answer" and "category", "expected" or "expected_peer"'
_MISSING = "rows with an `answer` are judged by the leaderboard's checker: pip install --no-deps bfcl-eval==2026.3.23"
_NONE_DUE = "irrelevance"
_READINGS: Mapping[str, Mapping[str, bool]] = {
    "no option": {},
    "coerce_arguments": {"coerce_arguments": True},
    "coerce_arguments, lenient": {"coerce_arguments": True, "lenient": True},
    "coerce_arguments, repair": {"coerce_arguments": True, "repair": True},
}
_LISTED = "coerce_arguments"
"""The reading of which `--list` shows the rows."""
_LONG = 400

Call: TypeAlias = tuple[str, Mapping[str, Any]]
Checker: TypeAlias = Callable[["Question", Sequence[Call]], bool]


class Question(NamedTuple):
    """An output, and the leaderboard's ground truth."""

    where: str
    sample: Sample
    model: str
    category: str
    functions: Sequence[Mapping[str, Any]]
    """As the leaderboard declares them, by the names that the model was shown."""
    answer: Sequence[Mapping[str, Any]]
    official: bool


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
class Judgement(Row):
    """How many of the leaderboard's rows are right."""

    headings: ClassVar[Sequence[str]] = (
        *("options", "calls due", "right", "official decoder", "none due", "right", "official decoder"),
        *("cells below", "silent"),
    )
    counts: Sequence[int]

    @property
    def figures(self) -> Mapping[str, float]:
        """How many rows with calls due are wrong."""
        return {"wrong": self.counts[0] - self.counts[1]}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        return (self.name, *(f"{count:,}" for count in self.counts))


@dataclass(frozen=True, slots=True)
class Cases(Row):
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
    """Print the tables for the files that the command line names."""
    parser = argparse.ArgumentParser(description="How many outputs are read rightly, as others judge it.")
    parser.add_argument("outputs", nargs="+", type=Path, help="JSON Lines, plain or .gz, and what is right of each")
    parser.add_argument("--list", action="store_true", help="print what is read otherwise, for reading by eye")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the tables into a page that has places for them")
    options = parser.parse_args(command_line)
    try:
        read = {path: list(read_lines(path, read_row, EXPECTED)) for path in options.outputs}
    except (OSError, ValueError) as error:
        parser.error(str(error))
    questions = [row for rows in read.values() for row in rows if isinstance(row, Question)]
    cases = {
        f"{path.parent.name}/{path.name}": [row for row in rows if isinstance(row, Case)] for path, rows in read.items()
    }
    tables: dict[str, Iterable[Row]] = {}
    if questions:
        try:
            checker = load_checker()
        except ImportError:
            parser.error(_MISSING)
        tables["leaderboard"] = judge_questions(questions, checker, is_listed=options.list)
    if any(cases.values()):
        tables["cases"] = judge_cases(cases, is_listed=options.list)
    shown: dict[str, list[str]] = {}
    for name, rows in tables.items():
        shown[name] = []
        for line in table(rows):
            print(line, flush=True)
            shown[name].append(line)
        print()
    skipped = sum(row is None for rows in read.values() for row in rows)
    if skipped:
        print(f"Not read, as they are for a framework's parser: {skipped}")
    if options.page:
        options.page.write_text(filled(options.page.read_text(encoding="utf-8"), shown), encoding="utf-8")


@cache
def load_checker() -> Checker:
    """Return the leaderboard's checker.

    Its list of models and its parsers of other languages are left out: they bring gigabytes, and judge nothing here.

    Raises:
        ImportError: `bfcl-eval` is not installed.
    """
    _leave_out("bfcl_eval.constants.model_config", MODEL_CONFIG_MAPPING={"": SimpleNamespace(underscore_to_dot=False)})
    _leave_out("bfcl_eval.model_handler.parser.java_parser", parse_java_function_call=None)
    _leave_out("bfcl_eval.model_handler.parser.js_parser", parse_javascript_function_call=None)
    language = import_module("bfcl_eval.constants.enums").Language.PYTHON
    ast_checker = import_module("bfcl_eval.eval_checker.ast_eval.ast_checker").ast_checker

    def check(question: Question, calls: Sequence[Call]) -> bool:
        called = [{name: arguments} for name, arguments in calls]
        try:
            found = ast_checker(question.functions, called, question.answer, language, question.category, "")
        except Exception:  # noqa: BLE001  # it stumbles over arguments of an odd type: they are not right
            return False
        return bool(found["valid"])

    return check


def judge_questions(questions: Sequence[Question], checker: Checker, *, is_listed: bool = False) -> Iterator[Judgement]:
    """Yield a row for each reading: how many rows are right, in all and by the official decoder."""
    for name, options in _READINGS.items():
        counts: Counter[str] = Counter()
        cells: defaultdict[tuple[str, str], int] = defaultdict(int)
        for question in questions:
            extraction = _extractor(question.sample.tools, **options).extract(question.sample.text)
            calls = [(call.name, call.arguments) for call in extraction.tool_calls]
            is_due = question.category != _NONE_DUE
            is_right = checker(question, calls) if is_due else not calls
            is_silent = is_due and not calls and not extraction.rejections and _names_a_tool(question.sample)
            kind = "due" if is_due else "none due"
            counts[kind] += 1
            counts[f"{kind}, right"] += is_right
            counts[f"{kind}, official"] += question.official
            counts["silent"] += is_silent
            if is_due:
                cells[question.model, question.category] += is_right - question.official
            if is_listed and name == _LISTED and (is_silent or (question.official and not is_right)):
                what = "silent" if is_silent else "the official decoder reads it"
                _show(f"{question.where} ({question.model}, {question.category}): {what}", question.sample, extraction)
        columns = [f"{kind}{what}" for kind in ("due", "none due") for what in ("", ", right", ", official")]
        below = sum(difference < 0 for difference in cells.values())
        yield Judgement(name, [*(counts[column] for column in columns), below, counts["silent"]])


def judge_cases(cases: Mapping[str, Sequence[Case]], *, is_listed: bool = False) -> Iterator[Cases]:
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
                _show(f"{case.where}: expected {case.calls!r}", case.sample, extraction)
            try:
                extract_in_every_chunking(
                    case.sample.text, complete=case.complete, is_sampled=True, tools=tools, **case.options
                )
                alike += 1
            except AssertionError as error:
                print(f"{case.where}: {error}")
        if rows:
            yield Cases(name, len(rows), right, alike)


def read_row(row: Mapping[str, Any]) -> Question | Case | None:
    """Read a row; `None`: it is for a framework's parser."""
    where = str(row.get("id", ""))
    if "answer" in row:
        return _question(row, where)
    given = dict(row.get("options") or {})
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


def _question(row: Mapping[str, Any], where: str) -> Question:
    declared = [row["functions"]] if isinstance(row["functions"], dict) else row["functions"]
    is_plain = row.get("family") == "hermes"
    shown = {one["name"]: one["name"].replace(".", "_") if is_plain else one["name"] for one in declared}
    functions = [one | {"name": shown[one["name"]]} for one in declared]
    return Question(
        where,
        Sample(sample_of(row).text, json.dumps([tool_of(one, one["name"]) for one in functions])),
        str(row.get("model", "")),
        row["category"],
        functions,
        [{shown.get(name, name): values for name, values in call.items()} for call in row["answer"] or ()],
        bool(row.get("official")),
    )


def _leave_out(name: str, **names: object) -> None:
    module = ModuleType(name)
    module.__dict__.update(names)
    sys.modules.setdefault(name, module)


@cache
def _extractor(tools: str, **options: Any) -> Extractor:  # noqa: ANN401 - as Extractor takes them
    return Extractor(tools=json.loads(tools) or None, **options)


def _names_a_tool(sample: Sample) -> bool:
    return any(tool["name"] in sample.text for tool in json.loads(sample.tools))


def _show(what: str, sample: Sample, extraction: Extraction) -> None:
    print(what)
    print(f"  {sample.text[:_LONG]!r}")
    for found in (*extraction.tool_calls, *extraction.rejections):
        print(f"  = {found!r}"[:_LONG])


if __name__ == "__main__":
    main()
