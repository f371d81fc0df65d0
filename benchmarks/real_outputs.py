"""What is extracted from outputs of real models, and what is rejected.

    python benchmarks/real_outputs.py outputs.jsonl
    python benchmarks/real_outputs.py --list outputs.jsonl

Each line of the file is an output as a JSON object with the model's text under `raw_output`; other keys do not matter.
Each output is read twice: by default, and with all formats. The exit status is 1 if one raised an
exception, or lost text: the account that the tests hold every output to has to hold for it, too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from llama3_tools import Extraction, Extractor
from llama3_tools.output.segments import SegmentedOutput, read_segments
from llama3_tools.text.escaping import escape_invisible

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from accounts import all_is_accounted_for

_EXPECTED = 'an output such as {"raw_output": "It is sunny."}'

READINGS = {"default": Extractor(), "all": Extractor(formats="all")}
"""The ways to read an output, by their names."""


class Output(NamedTuple):
    """An output, and what became of it."""

    line: int
    """Where it stands in the file."""
    whole: SegmentedOutput | None
    """It, taken apart; `None` if that raised an exception."""
    fault: str | None
    """What must never be: the exception, or the text that was lost."""


def main(command_line: Sequence[str] | None = None) -> None:
    """Print the counts, or the list, for the file that the command line names."""
    parser = argparse.ArgumentParser(description="What is extracted from outputs of real models.")
    parser.add_argument("outputs", type=Path, help="a JSON Lines file: `raw_output` a line")
    for flag, name, reading in (("--list", "default", "by default"), ("--list-all", "all", "with all formats")):
        shown = f"print what became of each output, read {reading}, for reading by eye"
        parser.add_argument(flag, dest="listed", action="store_const", const=name, help=shown)
    options = parser.parse_args(command_line)
    path: Path = options.outputs
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"{path} cannot be read: {error}")
    texts = {number: _read(line) for number, line in enumerate(lines, 1) if line.strip()}
    bad = next((number for number, text in texts.items() if text is None), None)
    if bad or not texts:
        parser.error(f"{path}, line {bad}: expected {_EXPECTED}" if bad else f"{path}: no outputs in it")
    read = {
        name: [_take_apart(line, text, extractor) for line, text in texts.items() if text is not None]
        for name, extractor in READINGS.items()
    }
    for row in [*(listed(read[options.listed]) if options.listed else ()), *counted(read)]:
        print(row)
    faults = [output for outputs in read.values() for output in outputs if output.fault]
    if faults:
        parser.exit(
            1, "".join(escape_invisible(f"{path}, line {output.line}: {output.fault}") + "\n" for output in faults)
        )


def _read(line: str) -> str | None:
    try:
        text = json.loads(line)["raw_output"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return text if isinstance(text, str) else None


def _take_apart(line: int, text: str, extractor: Extractor) -> Output:
    try:
        whole = read_segments(extractor, text)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is looked for here
        return Output(line, None, f"raised {error!r}")
    try:
        all_is_accounted_for(text, extractor)
    except AssertionError as error:
        return Output(line, whole, str(error))
    return Output(line, whole, None)


def counted(read: Mapping[str, Iterable[Output]]) -> Iterator[str]:
    """Yield the lines of the table: outputs, calls by format, and rejections by reason, a column for each reading."""
    found = [[output.whole.extraction for output in outputs if output.whole] for outputs in read.values()]
    yield _row("", read)
    yield from _counts("outputs", ([_kind(extraction) for extraction in column] for column in found))
    yield ""
    calls = ([call.format for extraction in column for call in extraction.tool_calls] for column in found)
    yield from _counts("calls", calls)
    yield ""
    rejections = (
        [str(rejection.reason) for extraction in column for rejection in extraction.rejections] for column in found
    )
    yield from _counts("rejections", rejections)


def _kind(extraction: Extraction) -> str:
    if extraction.tools_called:
        return "with calls"
    return "with rejections only" if extraction.rejections else "with neither"


def _counts(name: str, columns: Iterable[Iterable[str]]) -> Iterator[str]:
    counts = [Counter(column) for column in columns]
    yield _row(name, (count.total() for count in counts))
    for kind in sorted(set().union(*counts), key=lambda kind: (-counts[0][kind], kind)):
        yield _row(f"  {kind}", (count[kind] for count in counts))


def _row(name: str, cells: Iterable[object]) -> str:
    return f"{name:24}" + "".join(f"{cell!s:>9}" for cell in cells)


def listed(outputs: Iterable[Output]) -> Iterator[str]:
    """Yield what became of each output: its segments, its calls, and its rejections with their reasons."""
    for output in outputs:
        yield f"line {output.line}{': ' + escape_invisible(output.fault) if output.fault else ''}"
        if output.whole:
            for segment in output.whole.segments:
                yield _item(segment.kind.value, segment.text)
            for found in (*output.whole.extraction.tool_calls, *output.whole.extraction.rejections):
                yield _item("=", repr(found))
        yield ""


def _item(label: str, text: str) -> str:
    return f"  {label:10}" + escape_invisible(text).replace("\n", f"\n{'':10}| ")


if __name__ == "__main__":
    main()
