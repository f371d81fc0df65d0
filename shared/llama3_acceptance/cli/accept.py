"""`llama3-tools accept`: asks a model a suite's commands, judges what comes, and says how well it calls."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from llama3_acceptance.cli.endpoint_options import FiniteRange, endpoint_options
from llama3_tools.cli.screen import ColorChoice, color_option, console
from llama3_tools.text import read_json

if TYPE_CHECKING:
    from llama3_acceptance.running.runner import Settings

_FILE = click.Path(path_type=Path)
_MOST_REPEATS = 10_000

_SETTINGS = ("repeats", "concurrency", "timeout", "retries", "temperature", "seed", "max_tokens", "extra_body")
"""How to ask."""
_ASKING = frozenset({*_SETTINGS, "base_url", "model", "api_key", "results_file", "resume", "fail_fast"})
"""What only says whom to ask, how, and where to keep what comes."""
_COMPARING = frozenset({"compare", "coerced", "color"})
"""What a comparison looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options with which the command was run."""

    suite_file: Path
    base_url: str | None
    model: str | None
    api_key: str
    settings: Settings
    coerced: bool
    min_pass: tuple[str, ...]
    results_file: Path | None
    resume: bool
    fail_fast: bool
    replay: Path | None
    json_file: Path | None
    junit: Path | None
    html: Path | None


def _json_object(_ctx: click.Context, _param: click.Parameter, value: str) -> dict[str, Any]:
    try:
        read = read_json(value)
        json.dumps(read, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(str(error)) from None
    if not isinstance(read, dict):
        raise click.BadParameter("expected a JSON object")
    return read


def _check_together(ctx: click.Context) -> None:
    """Refuse options that would be passed over without a word."""
    given = {
        param.name: max(param.opts, key=len)
        for param in ctx.command.params
        if param.name and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    }
    if "compare" in given:
        if ctx.params["suite_file"]:
            raise click.UsageError("--compare takes two reports and no SUITE")
        _leave_out("--compare reads two reports and no more", [given[name] for name in given if name not in _COMPARING])
    elif ctx.params["suite_file"] is None:
        raise click.UsageError("name a SUITE, or two reports with --compare")
    elif "replay" in given:
        _leave_out("--replay asks nobody", [given[name] for name in given if name in _ASKING])
    if "fail_fast" in given and "min_pass" in given:
        _leave_out("--fail-fast stops at a failure that --min-pass lets pass", [given["fail_fast"]])


def _leave_out(why: str, options: list[str]) -> None:
    if options:
        raise click.UsageError(f"{why}: leave out {', '.join(options)}")


@click.command(short_help="Measure how well a model calls your tools.")
@click.argument("suite_file", metavar="SUITE", type=_FILE, required=False)
@endpoint_options(required=False, timeout_help="The most seconds for one attempt.")
@click.option("--concurrency", type=click.IntRange(1), default=4, show_default=True, help="Requests at once.")
@click.option(
    "--retries", type=click.IntRange(0), default=2, show_default=True, help="How often to send a failed request again."
)
@click.option(
    "--repeats", type=click.IntRange(1, _MOST_REPEATS), default=1, show_default=True, help="How often to ask each case."
)
@click.option("--temperature", type=FiniteRange(0), default=0, show_default=True, help="The sampling temperature.")
@click.option("--seed", type=int, help="The seed of the first repeat; each further repeat takes the next number.")
@click.option(
    "--max-tokens", type=click.IntRange(1), default=1024, show_default=True, help="The longest answer, in tokens."
)
@click.option(
    "--extra-body",
    callback=_json_object,
    default="{}",
    help="What else to send with each request, such as '{\"top_k\": 1}'.",
)
@click.option(
    "--score",
    "coerced",
    type=click.Choice(["parsed", "coerced"]),
    callback=lambda _ctx, _param, value: value == "coerced",
    default="parsed",
    show_default=True,
    help="Which score decides the exit status and --junit: calls as written, or after coercion.",
)
@click.option(
    "--min-pass",
    "min_pass",
    multiple=True,
    metavar="SHARE",
    help="The share that has to pass: 80%, tool:NAME=80% or tag:NAME=80%; may be repeated. Without it: all.",
)
@click.option(
    "--results",
    "results_file",
    type=_FILE,
    metavar="FILE",
    help="Append each answer to this file as it comes (JSON lines).",
)
@click.option("--resume", is_flag=True, help="Continue the file of --results: ask only what has no answer there.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first failure.")
@click.option("--replay", type=_FILE, metavar="FILE", help="Judge the recorded answers of this file, and ask nobody.")
@click.option(
    "--json", "json_file", type=_FILE, metavar="FILE", help="Write a JSON report, for programs and for --compare."
)
@click.option("--junit", type=_FILE, metavar="FILE", help="Write a JUnit XML report.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write a report for people: one page with every answer.")
@click.option("--compare", nargs=2, type=_FILE, metavar="A B", help="Say what changed between two --json reports.")
@color_option
def accept(color: ColorChoice, **options: Any) -> None:  # noqa: ANN401 - typed by click
    """Ask a model the commands of SUITE, judge its calls, and print how many are right.

    There are two scores: one for the calls as the model wrote them, one after coercion, which makes arguments fit the
    types that the tools declare.

    The exit status is 0 if all passed, or the share of --min-pass did; 1 if not; 2 if the command could not run to its
    end.
    """
    _check_together(click.get_current_context())
    from llama3_acceptance.cli.acceptance_run import compare, run  # noqa: PLC0415 - slow, and `extract` does without
    from llama3_acceptance.running.runner import Settings  # noqa: PLC0415 - as above

    screen = console(color)
    pair = options.pop("compare")
    if pair:
        sys.exit(compare(screen, *pair, coerced=options["coerced"]))
    settings = Settings(**{name: options.pop(name) for name in _SETTINGS})
    sys.exit(run(screen, console(color, stderr=True), Options(settings=settings, **options)))
