"""How many calls are right by the Berkeley Function-Calling Leaderboard's own checker, beside its own decoders.

    python benchmarks/bfcl.py BFCL-Result/2024-12-29
    python benchmarks/bfcl.py rows.jsonl.gz --list
    python benchmarks/bfcl.py rows.jsonl.gz --page docs/how-well-it-reads.md benchmarks/README.md

What is read: `bfcl_files.py`. First, the leaderboard's decoder and checker have to repeat the verdicts that
came with the outputs: if they repeat less than `SHARE` of them, nothing is judged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path

from bfcl_files import read_results
from bfcl_judging import COERCED, DECODER, Judged, judge, prove
from bfcl_losses import READ, loss_of
from bfcl_package import MISSING, Leaderboard, leaderboard
from bfcl_tables import tables
from measuring import machine
from pages import fill

SHARE = 0.95
"""The part of the verdicts that has to be repeated. Answers are corrected over the years."""
_LONG = 400
_NEEDED = """\
Name result files of the Berkeley Function-Calling Leaderboard. They are published in its archive,
https://github.com/HuanzhiMao/BFCL-Result: a folder for each date, with result/MODEL/… and score/MODEL/… in it.
They state no licence, so none is in this repository. To get one date, here of December 2024:

  git clone --depth 1 --filter=blob:none --sparse https://github.com/HuanzhiMao/BFCL-Result
  git -C BFCL-Result sparse-checkout set 2024-12-29
  make bfcl OUTPUTS=BFCL-Result/2024-12-29

Models that are no Llama 3, and questions with more than one turn, are left out. benchmarks/bfcl_files.py says what
else is read.
"""


def main(command_line: Sequence[str] | None = None) -> None:
    """Print the tables for the files that the command line names."""
    parser = argparse.ArgumentParser(description="How many calls are right by the Berkeley leaderboard's own checker.")
    parser.add_argument("results", nargs="*", type=Path, help="folders with result/MODEL/…, result files, or rows")
    parser.add_argument("--list", action="store_true", help="print what is lost, for reading by eye")
    parser.add_argument(
        "--page",
        type=Path,
        nargs="+",
        default=(),
        metavar="FILE",
        help="put the tables into pages that have places for them",
    )
    options = parser.parse_args(command_line)
    if not options.results:
        parser.exit(2, _NEEDED)
    try:
        board = leaderboard()
    except ImportError as error:
        parser.error(f"{MISSING}\n({error})")
    try:
        questions, left_out = read_results(options.results, board)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    for reason, count in sorted(left_out.items()):
        print(f"Left out, {reason}: {count:,}")
    if not questions:
        parser.error("none of these outputs can be judged: they are of no Llama 3, or of no single turn")
    proof = prove(questions, board)
    print(f"{proof}\n", flush=True)
    if proof.share < SHARE:
        print(f"That is less than {SHARE:.0%}: nothing is judged, as it would not be as there.", file=sys.stderr)
        sys.exit(1)
    judged = list(judge(questions, board))
    shown = {"proof": [str(proof), "", f"{len(questions):,} outputs. {_judged_on()}"]}
    for name, lines in tables(judged, board).items():
        shown[name] = list(lines)
        print(*shown[name], "", sep="\n", flush=True)
    print(shown["proof"][-1])
    if options.list:
        _list(judged, board)
    fill(options.page, shown)


def _judged_on() -> str:
    on = ", ".join(f"{name} {version}" for name, version in machine(["bfcl-eval"]).items() if name != "processor")
    return f"Judged on {datetime.now(timezone.utc).date()}: {on}."


def _list(judged: Iterable[Judged], board: Leaderboard) -> None:
    """Print what is not right though the decoder is, or though nothing of it is read as it was written."""
    for one in judged:
        question, reading, decoded = one.question, one.readings[COERCED], one.readings[DECODER]
        if reading.is_right or reading.extraction is None:
            continue
        loss = loss_of(one, board)
        if decoded.is_right or (question.is_due and not loss.startswith(READ)):
            beside = f"; {DECODER} is right" if decoded.is_right else ""
            what = loss if question.is_due else f"{reading.wrong}: {loss}"
            print(f"{question.where} ({question.model}, {question.category}): {what}{beside}")
            print(f"  {question.sample.text[:_LONG]!r}")
            for found in (*reading.extraction.tool_calls, *reading.extraction.rejections):
                print(f"  = {found!r}"[:_LONG])


if __name__ == "__main__":
    main()
