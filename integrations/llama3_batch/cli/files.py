"""`llama3-tools extract --jsonl` and `--parquet`: files of many outputs in, files of their calls out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from llama3_batch import EXTRACTION as _EXTRACTION  # noqa: F401 (says what to install if pyarrow is missing)
from llama3_batch.cli.report_screen import print_report
from llama3_batch.columns import Columns
from llama3_batch.file_run import DoneFile, FileRun, run_files
from llama3_batch.outputs import OutputError
from llama3_batch.progress import RunProgress
from llama3_batch.report import may_be_replaced, report_json
from llama3_batch.report_html import report_html
from llama3_batch.sources import FileFormat
from llama3_batch.summary import Summary
from llama3_batch.work import WorkerDiedError
from llama3_batch.writing import write_bytes
from llama3_tools import ReadOption, ReadOptions, ToolDefinitionError
from llama3_tools.cli.input_files import read_tools
from llama3_tools.cli.screen import ColorChoice, console
from llama3_tools.cli.status import COULD_NOT_RUN, CannotRunError
from llama3_tools.text import escape_invisible

if TYPE_CHECKING:
    from typing_extensions import Unpack

_STAYS = "What was done stays, and the same command goes on from there"


def extract_files(  # noqa: PLR0913 (an option each)
    *,
    kind: FileFormat,
    files: Sequence[str],
    tools_file: str | None,
    incomplete: bool,
    color: ColorChoice,
    text_column: str | None,
    tools_column: str | None,
    id_column: str | None,
    finish_reason_column: str | None,
    to: FileFormat | None,
    out: Path | None,
    workers: int,
    overwrite: bool,
    report: bool,
    **options: Unpack[ReadOption],
) -> None:
    """Read files of many outputs, as the options of the command say.

    Raises:
        CannotRunError: it could not run to its end; says what to do.
        click.UsageError: the tools cannot be read.
        SystemExit: a file could not be read, which does not keep the others from being read.
    """
    run = FileRun(
        kind=kind,
        columns=Columns(text_column, tools_column, id_column, finish_reason_column),
        tools=None if tools_file is None else read_tools(tools_file),
        options=ReadOptions(**options),
        complete=not incomplete,
        to=to or kind,
        out=out,
        overwrite=overwrite,
        workers=workers,
    )
    try:
        run.reader(run.columns)
    except (TypeError, ToolDefinitionError) as error:
        raise click.UsageError(f"{tools_file}: {error}") from None
    paths = list(dict.fromkeys(map(Path, files)))
    try:
        with RunProgress(console("auto", stderr=True)) as progress:
            done = run_files(paths, run, progress)
        for file in done:
            _print_done(file)
        if report and done:
            _report(done, out, console(color, is_endless=True), overwrite=overwrite)
    except KeyboardInterrupt:
        raise CannotRunError(f"interrupted. {_STAYS}") from None
    except OutputError as error:
        raise CannotRunError(str(error)) from None
    except WorkerDiedError as error:
        raise CannotRunError(f"{error}. {_STAYS}") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise CannotRunError(f"{where}{error.strerror or error}. {_STAYS}") from None
    if len(done) < len(paths):
        sys.exit(COULD_NOT_RUN)


def _print_done(file: DoneFile) -> None:
    rows, calling = (file.summary.counts[name] for name in ("rows", "calling"))
    outputs = f"{rows:,} output{'s' * (rows != 1)}, {calling:,} with calls"
    errors = f"{file.summary.total('errors'):,} could not be read"
    click.echo(escape_invisible(f"{file.path}: {outputs}; {errors}; results in {file.output}"))


def _report(done: Sequence[DoneFile], out: Path | None, screen: Console, *, overwrite: bool) -> None:
    """Print what was found in all files, and write it beside the results.

    Raises:
        OutputError: a file that is not a report is in the way.
    """
    summary = Summary()
    for file in done:
        summary.merge(file.summary)
    where = {str(file.path): str(file.output) for file in done}
    folder = out or done[0].output.parent
    pages = {"report.html": report_html(summary, where), "report.json": report_json(summary, where)}
    inputs = {file.path.resolve() for file in done}
    for name in pages:
        path = folder / name
        if path.resolve() in inputs or not (overwrite or may_be_replaced(path)):
            raise OutputError(
                f"{path} is no report of a run, and stays: move it away, or take another folder with --out"
            )
    for name, page in pages.items():
        write_bytes(folder / name, page.encode("utf-8", "backslashreplace"))
    click.echo()
    print_report(screen, summary)
    click.echo()
    for name in pages:
        click.echo(escape_invisible(f"written: {folder / name}"))
