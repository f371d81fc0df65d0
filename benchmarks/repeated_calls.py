"""What reporting repeated calls changes on real outputs, as the leaderboard's checker judges it.

    python benchmarks/repeated_calls.py rows.jsonl.gz
    python benchmarks/repeated_calls.py rows.jsonl.gz --list

The files are those of `bfcl.py`. Each output is read by the chat layer twice, with `repeated_calls="keep"` and with
`"report"`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from bfcl_files import Question, read_results
from bfcl_judging import wrong_of
from bfcl_package import MISSING, Leaderboard, leaderboard
from figures import Row
from llama3_tools import ReadOptions
from llama3_tools.chat import ChatOptions, RepeatedCalls, Reply, ToolChat
from pages import table

__all__ = ["Repeats", "count_repeats", "main"]

_READ = ReadOptions(coerce_arguments=True)
_LONG = 400


@dataclass(frozen=True, slots=True)
class Repeats(Row):
    """What reporting repeated calls changes in outputs that are to call."""

    headings: ClassVar[Sequence[str]] = ("outputs", "rows", "with repeated calls", "become right", "become wrong")
    rows: int
    repeated: int
    right: int
    wrong: int

    @property
    def figures(self) -> Mapping[str, float]:
        """How many rows become wrong."""
        return {"become wrong": self.wrong}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        return (self.name, *(f"{count:,}" for count in (self.rows, self.repeated, self.right, self.wrong)))


def main(command_line: Sequence[str] | None = None) -> None:
    """Print the table for the files that the command line names."""
    parser = argparse.ArgumentParser(description="What reporting repeated calls changes on real outputs.")
    parser.add_argument("outputs", nargs="+", type=Path, help="files and folders, as `make bfcl` takes them")
    parser.add_argument("--list", action="store_true", help="print the rows whose calls change, for reading by eye")
    options = parser.parse_args(command_line)
    try:
        board = leaderboard()
        questions = read_results(options.outputs, board).questions
    except ImportError as error:
        parser.error(f"{MISSING}\n({error})")
    except (OSError, ValueError) as error:
        parser.error(str(error))
    for line in table(count_repeats(questions, board, is_listed=options.list)):
        print(line)


def count_repeats(questions: Iterable[Question], board: Leaderboard, *, is_listed: bool = False) -> Iterator[Repeats]:
    """Yield a row for the outputs with calls due: how many change, and how."""
    due = [question for question in questions if question.is_due]
    repeated = right = wrong = 0
    for question in due:
        reported = _read(question, "report")
        if not reported.report.repeated:
            continue
        repeated += 1
        was_right, is_right = (_is_right(question, reply, board) for reply in (_read(question, "keep"), reported))
        right += is_right and not was_right
        wrong += was_right and not is_right
        if is_listed:
            print(f"{question.where} ({question.model}, {question.category}): {was_right} → {is_right}")
            print(f"  {question.sample.text[:_LONG]!r}")
            print(f"  repeated: {reported.report.repeated!r}"[:_LONG])
    yield Repeats("calls due", len(due), repeated, right, wrong)


def _is_right(question: Question, reply: Reply, board: Leaderboard) -> bool:
    return not wrong_of(question, [(call.name, call.arguments) for call in reply.tool_calls], board)


def _read(question: Question, repeated_calls: RepeatedCalls) -> Reply:
    return _chat(question.sample.tools, repeated_calls).request([]).read({"content": question.sample.text})


@cache
def _chat(tools: str, repeated_calls: RepeatedCalls) -> ToolChat:
    return ToolChat(json.loads(tools), ChatOptions(read=_READ, repeated_calls=repeated_calls, max_retries=0))


if __name__ == "__main__":
    main()
