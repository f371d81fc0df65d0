"""The options that `llama3-tools extract` has for files of many outputs, and what may be given with them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from llama3_tools.cli.status import CannotRunError
from llama3_tools.errors import MissingExtraError

if TYPE_CHECKING:
    from llama3_batch.sources import FileFormat

_KINDS: tuple[FileFormat, ...] = ("jsonl", "parquet")
_FILE_OPTIONS = (
    click.Option(["--jsonl"], is_flag=True, help="Each FILE has JSON lines: an object with an output in each line."),
    click.Option(["--parquet"], is_flag=True, help="Each FILE is Parquet, with an output in each row."),
    click.Option(
        ["--text-column"],
        metavar="NAME",
        help="The column of the outputs, or its path, such as `choices[0].message.content`.  [default: it is found]",
    ),
    click.Option(
        ["--tools-column"],
        metavar="NAME",
        help="The column of each row's tools, as JSON: a list of OpenAI tools, one tool, or a request's body. Null, or "
        'a body without `tools`: a call of any name counts. `"tool_choice": "none"`: no call does.',
    ),
    click.Option(
        ["--id-column"],
        metavar="NAME",
        help="The column of each row's key, which the ids of calls are made from.  [default: the file's name and the "
        "row's number]",
    ),
    click.Option(
        ["--finish-reason-column"],
        metavar="NAME",
        help="The column that says why each output ended. After `length`, `max_tokens` and `content_filter`, what is "
        "still open does not count as a call.",
    ),
    click.Option(["--to"], type=click.Choice(_KINDS), help="What to write.  [default: the same as FILE]"),
    click.Option(
        ["--out"],
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The folder for the results.  [default: `extracted`, beside FILE]",
    ),
    click.Option(
        ["--workers"], type=click.IntRange(1, 512), default=1, show_default=True, help="How many processes read."
    ),
    click.Option(
        ["--overwrite"], is_flag=True, help="Replace existing results. They stay until the new ones are complete."
    ),
    click.Option(
        ["--report"], is_flag=True, help="Print what the model does wrong; write report.html and report.json."
    ),
)
_HELP = (
    "With --jsonl or --parquet, each FILE has many outputs, and its results are written to a file. If a run was "
    "interrupted, the same command continues where it stopped."
)


def add_files(command: click.Command) -> None:
    """Add to `extract` the options for files of many outputs."""
    single = command.callback
    if single is None:
        raise TypeError("the command does nothing that files could be added to")
    command.help = f"{cleandoc(command.help or '')}\n\n{_HELP}"
    command.params += _FILE_OPTIONS
    command.callback = lambda **options: _extract(single, options)


def _extract(single: Callable[..., Any], options: dict[str, Any]) -> object:
    """Read files of many outputs if that is asked for, and single outputs otherwise."""
    of_files = {str(option.name): options.pop(str(option.name)) for option in _FILE_OPTIONS}
    kinds = [kind for kind in _KINDS if of_files.pop(kind)]
    if not kinds:
        context = click.get_current_context()
        given = {name for name in of_files if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
        if given:
            names = ", ".join(max(option.opts, key=len) for option in _FILE_OPTIONS if option.name in given)
            raise click.UsageError(f"{names}: only for files of many outputs; add --jsonl or --parquet")
        return single(**options)
    _check(kinds, options, has_own_tools=of_files["tools_column"] is not None)
    try:
        from llama3_batch.cli.files import extract_files  # noqa: PLC0415 (slow, and pyarrow may be missing)
    except MissingExtraError as error:
        raise CannotRunError(str(error)) from None
    extract_files(kind=kinds[0], **options, **of_files)
    return None


def _check(kinds: list[FileFormat], options: dict[str, Any], *, has_own_tools: bool) -> None:
    """Refuse options that contradict each other, or would be passed over without a word."""
    kind = f"--{kinds[0]}"
    if len(kinds) > 1:
        raise click.UsageError("--jsonl or --parquet, not both: run them one after the other")
    if not options["files"]:
        raise click.UsageError(f"{kind} takes at least one FILE")
    if "-" in options["files"]:
        raise click.UsageError(f"{kind} reads files, not standard input: it could not continue there after a break")
    if options.pop("show"):
        raise click.UsageError(f"{kind} does not print single outputs: leave out --show")
    if has_own_tools and options["tools_file"] is not None:
        raise click.UsageError("--tools or --tools-column, not both")
    for name, option in (("--coerce", "coerce_arguments"), ("--repair", "repair")):
        if options[option] and not has_own_tools and options["tools_file"] is None:
            raise click.UsageError(f"{name} needs declared tools: add --tools or --tools-column")
