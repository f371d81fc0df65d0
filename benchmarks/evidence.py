"""What each rule is good for: what of real outputs changes if it is switched off.

    python benchmarks/evidence.py outputs.jsonl more.jsonl.gz
    python benchmarks/evidence.py outputs.jsonl --page docs/evidence.md

Each line of a file is an output as a JSON object: the text under `raw_output` or `raw`, and the functions that the
model was shown, if they are known, under `functions` or `tools`. Without files, it runs on the outputs that are written
in `benchmarks/outputs.py`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from figures import Row
from llama3_tools import Extraction, Extractor, RejectionReason, ToolDefinitionError
from llama3_tools.reader.switches import switched_off
from measuring import machine
from outputs import INJECTIONS, OUTPUTS, TOOLS
from pages import filled, table
from rules import OPTIONS, RULES, SHAPES, Rule

__all__ = [
    "Evidence",
    "Sample",
    "evidence",
    "main",
    "read_file",
    "read_lines",
    "sample_of",
    "tool_of",
    "written_non_calls",
]

_T = TypeVar("_T")

_OUTPUT = '{"raw_output": "It is sunny.", "functions": [{"name": "get_weather", "parameters": {}}]}'
_NO_OUTPUTS = """\
No outputs of real models are named: this runs on the few that are written in benchmarks/outputs.py.
To get real ones: save what your model writes, one JSON object a line, with the text under "raw_output" and the tools
under "functions". Then:
make evidence OUTPUTS="outputs.jsonl more.jsonl.gz"
"""
_NON_CALLS = Path(__file__).parents[1] / "tests" / "shared" / "non_calls"
_HEADING = re.compile(r"^=== \S+\n", re.MULTILINE)
_MENTIONED = [*TOOLS, *({"name": name} for name in ("search", "print", "clock"))]
"""The tools that the written non-calls name."""
_TYPES = {
    **dict.fromkeys(("dict", "HashMap"), "object"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("tuple", "list", "Array", "ArrayList"), "array"),
    **dict.fromkeys(("String", "char"), "string"),
    **dict.fromkeys(("any", "Any"), ""),
    "long": "integer",
    "bool": "boolean",
}
"""The Berkeley leaderboard's names of types, as JSON Schema has them; `any` is no type there."""
_PROCESSES = 2
_FOR_TOOLS = ("repair", "coerce_arguments")
"""The options that need declared tools."""


class Sample(NamedTuple):
    """An output and the tools that are declared for it."""

    text: str
    tools: str
    """In JSON, so that equal tools are read once."""


@dataclass(frozen=True, slots=True)
class Evidence(Row):
    """What a rule does."""

    headings: ClassVar[Sequence[str]] = (
        *("rule or option", "kind", "changed", "calls lost", "calls gained"),
        *("attempts lost", "attempts gained", "non-calls called"),
    )
    kind: str
    changed: int
    """How many outputs are read in another way without it; an option: with it."""
    lost: int
    gained: int
    attempts_lost: int
    attempts_gained: int
    unsafe: int
    """How many of the written non-calls are called."""

    @property
    def figures(self) -> Mapping[str, float]:
        """How many outputs change."""
        return {"changed": self.changed}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        counts = (self.changed, self.lost, self.gained, self.attempts_lost, self.attempts_gained, self.unsafe)
        return (self.name, self.kind, *(f"{one:,}" if one else "" for one in counts))


@dataclass(frozen=True, slots=True)
class Count(Row):
    """How often something stands in the outputs."""

    headings: ClassVar[Sequence[str]] = ("", "outputs", "calls")
    outputs: int
    calls: int

    @property
    def figures(self) -> Mapping[str, float]:
        """How many outputs have it."""
        return {"outputs": self.outputs}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        return (self.name, f"{self.outputs:,}", f"{self.calls:,}")


def main(command_line: Sequence[str] | None = None) -> None:
    """Print the tables for the files that the command line names."""
    parser = argparse.ArgumentParser(description="What of real outputs changes if a rule is switched off.")
    parser.add_argument("outputs", nargs="*", type=Path, help="JSON Lines, plain or .gz: `raw_output` or `raw` a line")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the tables into a page that has places for them")
    options = parser.parse_args(command_line)
    if not options.outputs:
        print(_NO_OUTPUTS, file=sys.stderr)
    try:
        samples = [sample for path in options.outputs for sample in read_file(path)] or written_samples()
    except (OSError, ValueError) as error:
        parser.error(str(error))
    tables: dict[str, list[str]] = {}
    for name, rows in evidence(samples).items():
        tables[name] = []
        for line in table(rows):
            print(line, flush=True)
            tables[name].append(line)
        print()
    measured = _measured(samples)
    print(measured)
    if options.page:
        tables["outputs"] = [measured]
        options.page.write_text(filled(options.page.read_text(encoding="utf-8"), tables), encoding="utf-8")


def read_file(path: Path) -> Iterator[Sample]:
    """Read a file of outputs.

    Raises:
        OSError: it cannot be read.
        ValueError: a line of it is no output.
    """
    return read_lines(path, sample_of, f"an output such as {_OUTPUT}")


def read_lines(path: Path, read: Callable[[Mapping[str, Any]], _T], expected: str) -> Iterator[_T]:
    """Read each line of a file, which is an object in JSON.

    Args:
        path: the file, plain or .gz.
        read: reads one object.
        expected: what a line has to hold, for the error.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line cannot be read, or the file is no text in UTF-8, or cut off.
    """
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                yield read(json.loads(line))
            except ToolDefinitionError as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise ValueError(f"{path}, line {number}: expected {expected}") from error


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        try:
            yield from lines
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: expected text in UTF-8: {error}") from error
        except (EOFError, zlib.error) as error:
            raise ValueError(f"{path}: cut off or damaged: {error}. Get it again") from error


def written_samples() -> list[Sample]:
    """Return the outputs that are written in the repository."""
    return [sample_of({"raw": text, "tools": tools}) for text, tools in OUTPUTS]


def written_non_calls() -> list[str]:
    """Return texts that look like calls, and are none: those of the tests, and calls that others wrote."""
    paths = sorted(_NON_CALLS.glob("*.txt"))
    parts = [text for path in paths for text in _HEADING.split(path.read_text(encoding="utf-8"))[1:]]
    return [*(text.removesuffix("\n") for text in parts), *INJECTIONS]


def evidence(samples: Sequence[Sample]) -> dict[str, Iterator[Row]]:
    """Return the tables by their names; each row is measured as it is asked for."""
    return {"rules": _evidence(samples), "shapes": _shapes(samples)}


def _evidence(samples: Sequence[Sample]) -> Iterator[Row]:
    with ProcessPoolExecutor(_PROCESSES, initializer=_begin, initargs=(samples,)) as pool:
        yield from pool.map(_evidence_of, [*RULES, *OPTIONS])


def _shapes(samples: Sequence[Sample]) -> Iterator[Row]:
    read = _read_all(samples)
    written = [
        [sample.text[slice(*call.span)] for call in one.tool_calls if call.format != "pythonic"]
        for sample, one in zip(samples, read, strict=True)
    ]
    for name, pattern in SHAPES.items():
        found = [sum(re.search(pattern, call) is not None for call in calls) for calls in written]
        yield Count(name, sum(map(bool, found)), sum(found))
    deviations = [sum(bool(call.deviations) for call in one.tool_calls) for one in read]
    yield Count("with a deviation", sum(map(bool, deviations)), sum(deviations))
    yield from _counts("calls of format `{}`", [[call.format for call in one.tool_calls] for one in read])
    yield from _counts("rejections: `{}`", [[found.reason.value for found in one.rejections] for one in read])
    quoted = [[found.detail for found in one.rejections if found.reason is RejectionReason.QUOTED] for one in read]
    yield from _counts("`quoted`: {}", quoted)


def _counts(shown: str, words: Sequence[Sequence[str]]) -> Iterator[Row]:
    """Count words by the outputs that have them, the most frequent first."""
    outputs = Counter(word for of_one in words for word in set(of_one))
    for word, calls in Counter(word for of_one in words for word in of_one).most_common():
        yield Count(shown.format(word), outputs[word], calls)


def _measured(samples: Sequence[Sample]) -> str:
    today = datetime.now(timezone.utc).date()
    characters = sum(len(sample.text) for sample in samples)
    on = ", ".join(f"{name} {version}" for name, version in machine().items())
    beside = len(written_non_calls())
    return f"{len(samples):,} outputs, {characters:,} characters; {beside} written non-calls. Measured on {today}: {on}"


def sample_of(row: Mapping[str, Any]) -> Sample:
    """Read an output and the functions that the model was shown."""
    text = row["raw_output"] if "raw_output" in row else row["raw"]
    if not isinstance(text, str):
        raise TypeError("the text of an output is a string")
    functions = row.get("functions") or row.get("tools") or []
    declared = [functions] if isinstance(functions, dict) else functions
    return Sample(text, json.dumps([tool_of(one, text) for one in declared] or _named(text)))


def tool_of(declaration: Mapping[str, Any] | str, text: str) -> dict[str, Any]:
    """Read the declaration of a tool, or its name alone, by the name that a text has."""
    if isinstance(declaration, str):
        return {"name": declaration}
    function = declaration.get("function", declaration)
    name = function["name"]
    plain = name.replace(".", "_")  # as the leaderboard shows it to some models
    return {
        "name": plain if name not in text and plain in text else name,
        "description": function.get("description", ""),
        "parameters": _schema(function.get("parameters") or {"type": "object"}),
    }


def _schema(schema: Any) -> Any:  # noqa: ANN401 - a part of a schema is any JSON
    if isinstance(schema, list):
        return [_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    read: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            read |= {key: known} if (known := _TYPES.get(value, value)) else {}
        elif key == "properties" and isinstance(value, dict):
            read[key] = {name: _schema(one) for name, one in value.items()}
        else:
            read[key] = _schema(value) if key in ("items", "additionalProperties") else value
    return read


def _named(text: str) -> list[dict[str, str]]:
    """Declare what an output calls, if it is not known what the model was shown."""
    extraction = _ANY.extract(text)
    names = [call.name for call in extraction.tool_calls] + _TAGGED.findall(text)
    names += [one.name for one in extraction.rejections if one.name]
    return [{"name": name} for name in dict.fromkeys(names)]


_ANY = Extractor(formats="all")
_TAGGED = re.compile(r"<function\W([\w.-]+)")
"""Finds the name in a tag, however that is spelt: misspelt ones are read for declared tools only."""
_AS_EVER = Rule("", "")
_samples: Sequence[Sample] = ()
_base: Sequence[Extraction] = ()
_base_of_non_calls: Sequence[int] = ()


def _begin(samples: Sequence[Sample]) -> None:
    """Read all with all rules, in a process that then reads them without one rule after another."""
    global _samples, _base, _base_of_non_calls
    _samples, _base, _base_of_non_calls = samples, _read_all(samples), _calls_in_non_calls(_AS_EVER)


def _evidence_of(rule: Rule) -> Evidence:
    pairs = list(zip(_base, _read_all(_samples, rule), strict=True))
    lost, gained = _differences((_calls(before), _calls(after)) for before, after in pairs)
    attempts = _differences((_attempts(before), _attempts(after)) for before, after in pairs)
    changed = sum(before != after for before, after in pairs)
    now = _calls_in_non_calls(rule)
    unsafe = sum(after > before for before, after in zip(_base_of_non_calls, now, strict=True))
    return Evidence(rule.name, rule.kind, changed, lost, gained, *attempts, unsafe)


def _read_all(samples: Iterable[Sample], rule: Rule = _AS_EVER) -> list[Extraction]:
    read = []
    extractors: dict[str, Extractor] = {}
    with switched_off(*rule.off):
        for sample in samples:
            tools = sample.tools if rule.has_tools else "[]"
            extractor = extractors.get(tools) or extractors.setdefault(tools, _extractor(rule, json.loads(tools)))
            read.append(extractor.extract(sample.text, complete=rule.complete))
    return read


def _extractor(rule: Rule, tools: Sequence[Mapping[str, Any]], **options: Any) -> Extractor:  # noqa: ANN401 - as Extractor takes them
    options.update(rule.options)
    if not tools:
        options = {name: value for name, value in options.items() if name not in _FOR_TOOLS}
    return Extractor(tools=tools or None, **options)


def _calls_in_non_calls(rule: Rule) -> list[int]:
    """Return how many calls are found in each written non-call: without tools, in any format, and with tools."""
    extractors = [_extractor(rule, []), _extractor(rule, [], formats="all"), _extractor(rule, _MENTIONED)]
    with switched_off(*rule.off):
        return [
            sum(len(extractor.extract(text, complete=rule.complete).tool_calls) for extractor in extractors)
            for text in written_non_calls()
        ]


def _calls(extraction: Extraction) -> Counter[tuple[str, ...]]:
    return Counter((call.name, call.arguments_json) for call in extraction.tool_calls)


def _attempts(extraction: Extraction) -> Counter[tuple[str, ...]]:
    return Counter((str(one.span[0]),) for one in extraction.attempts)


def _differences(pairs: Iterable[tuple[Counter[tuple[str, ...]], Counter[tuple[str, ...]]]]) -> tuple[int, int]:
    """Return how many are in the first and not in the second, and the other way round."""
    lost = gained = 0
    for before, after in pairs:
        lost += (before - after).total()
        gained += (after - before).total()
    return lost, gained


if __name__ == "__main__":
    main()
