"""One `llama3-tools accept`, from its options to its exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from llama3_tools.acceptance.asking import fingerprint
from llama3_tools.acceptance.comparison import Judged, compare_reports, read_report
from llama3_tools.acceptance.records import Record, Recording, RecordsError, Run, read_records, to_json
from llama3_tools.acceptance.report_html import report_html
from llama3_tools.acceptance.report_json import report_json
from llama3_tools.acceptance.report_junit import report_junit
from llama3_tools.acceptance.results import Results, judge_records
from llama3_tools.acceptance.runner import Endpoint, EndpointError, Settings, run_suite
from llama3_tools.acceptance.suite import SuiteError, load_suite
from llama3_tools.acceptance.suite_words import PROMPT_FORMATS
from llama3_tools.acceptance.values import Suite
from llama3_tools.cli.results_file import append, take_up
from llama3_tools.cli.status import CASES_FAILED, COULD_NOT_RUN, PASSED, CannotRunError
from llama3_tools.cli.tables import print_comparison, print_results
from llama3_tools.errors import MissingExtraError

__all__ = ["Options", "compare", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command, as it was called."""

    suite_file: Path
    base_url: str | None
    model: str | None
    api_key: str
    concurrency: int
    timeout: float
    retries: int
    repeats: int
    temperature: float
    seed: int | None
    max_tokens: int
    extra_body: dict[str, Any]
    prompt_format: str | None
    no_text_calls: bool
    no_direct_answers: bool
    no_stringified_lists: bool
    strict: bool
    judged: Judged
    results_file: Path | None
    resume: bool
    replay: Path | None
    json_file: Path | None
    junit: Path | None
    html: Path | None


def compare(screen: Console, before: Path, after: Path, *, judged: Judged) -> int:
    """Print what changed between two reports.

    Returns:
        The exit status: 1 if what passed before does not pass any more.
    """
    with _explained():
        first, second = read_report(before), read_report(after)
    by_both: tuple[Judged, Judged] = ("parsed", "coerced")
    comparisons = [compare_reports(first, second, one) for one in by_both]
    print_comparison(screen, before.name, after.name, comparisons)
    return CASES_FAILED if any(one.broken for one in comparisons if one.judged == judged) else PASSED


def run(screen: Console, errors: Console, options: Options) -> int:
    """Run a suite, or judge what was recorded; print and write what came out.

    Args:
        screen: takes the tables.
        errors: takes the progress and what went wrong.
        options: how the command was called.

    Returns:
        The exit status.
    """
    with _explained():
        suite = _suite(options)
        _check_files(options)
        if options.replay is not None:
            recording = read_records(options.replay)
            results, trouble = _judged(suite, recording), None
        else:
            results, trouble = _asked(errors, suite, options)
    is_written = True
    if results.results or trouble is None:
        print_results(screen, results, coerced=options.judged == "coerced")
        is_written = _write_reports(errors, results, options)
    if trouble is not None:
        errors.print(f"Error: {trouble}", soft_wrap=True)
    if trouble is not None or not is_written:
        return COULD_NOT_RUN
    passed = [(one.coerced if options.judged == "coerced" else one.parsed).passed for one in results.results]
    return PASSED if all(passed) and not results.missing else CASES_FAILED


def _suite(options: Options) -> Suite:
    suite = load_suite(options.suite_file)
    policies = suite.policies
    if options.no_text_calls:
        policies = replace(policies, text_calls=False)
    if options.no_direct_answers:
        policies = replace(policies, allow_direct_answers=False)
    if options.no_stringified_lists:
        policies = replace(policies, stringified_lists=False)
    if options.strict:
        policies = replace(policies, strict=True)
    prompt = suite.prompt
    if options.prompt_format is not None:
        if options.prompt_format not in PROMPT_FORMATS:
            raise click.UsageError(
                f"--prompt-format is one of {', '.join(PROMPT_FORMATS)}, not {options.prompt_format!r}"
            )
        prompt = replace(prompt, format=options.prompt_format)
    return replace(suite, policies=policies, prompt=prompt)


def _check_files(options: Options) -> None:
    """Refuse before anything is asked what could not be written afterwards."""
    for path in (options.results_file, options.json_file, options.junit, options.html):
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise CannotRunError(f"{path}: is a folder, or in a folder that is not there")
    if options.resume and options.results_file is None:
        raise click.UsageError("--resume goes on with a file: name it with --results")


def _judged(suite: Suite, recording: Recording) -> Results:
    run = recording.run or Run(suite.name, fingerprint(suite))
    repeats = max((record.repeat + 1 for record in recording.records), default=1)
    try:
        return judge_records(suite, run, recording.records, repeats=repeats)
    except RecordsError as error:
        raise RecordsError(f"{recording.path}: {error}") from None


def _asked(errors: Console, suite: Suite, options: Options) -> tuple[Results, str | None]:
    """Ask the endpoint. What has come in by then is judged, whatever ends the run; the text says what did."""
    if not options.base_url or not options.model:
        raise click.UsageError("name an endpoint with --base-url and a model with --model, or outputs with --replay")
    settings = Settings(
        repeats=options.repeats,
        concurrency=options.concurrency,
        timeout=options.timeout,
        retries=options.retries,
        temperature=options.temperature,
        seed=options.seed,
        max_tokens=options.max_tokens,
        extra=options.extra_body,
    )
    started = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    run = Run(suite.name, fingerprint(suite), options.model, options.base_url, settings.sent(), started)
    records: tuple[Record, ...] = ()
    if options.results_file is not None:
        say = partial(errors.print, soft_wrap=True)
        run, records = take_up(options.results_file, run, resume=options.resume, say=say)
    done = {(one.case, one.repeat) for one in records if one.error is None and one.repeat < options.repeats}
    kept = {(one.case, one.repeat): one for one in records if (one.case, one.repeat) in done}
    trouble = None
    try:
        with _progress(errors, len(suite.cases) * options.repeats, len(done)) as advance:

            def take(record: Record) -> None:
                kept[record.case, record.repeat] = record
                if options.results_file is not None:
                    append(options.results_file, run, record)
                advance(record)

            endpoint = Endpoint(options.base_url, options.model, options.api_key)
            run_suite(suite, endpoint, settings, take, done=done)
    except KeyboardInterrupt:
        trouble = "interrupted"
    except EndpointError as error:
        trouble = str(error)
    except OSError as error:
        trouble = f"{options.results_file}: {error.strerror or error}"
    results = judge_records(suite, run, kept.values(), repeats=options.repeats)
    return results, _advised(trouble, results, options)


def _advised(trouble: str | None, results: Results, options: Options) -> str | None:
    """Say what to do about a run that did not come to its end; one without a single response did not run."""
    if trouble is None:
        first = next(iter(results.results), None)
        if first is None or any(one.error is None for one in results.results):
            return None
        return f"there was no response at all; the first error: {first.error}"
    if not results.results:
        return trouble
    of = f"{len(results.results)} of {len(results.results) + results.missing} responses are in"
    if options.results_file is None:
        return f"{trouble}; {of}. With --results FILE, a run can be resumed"
    return f"{trouble}; {of}. The same command with --resume goes on"


@contextmanager
def _progress(errors: Console, total: int, done: int) -> Iterator[Callable[[Record], None]]:
    """Show how far the run is, where someone watches."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task("asking", total=total, completed=done, last="")

        def advance(record: Record) -> None:
            progress.update(task, advance=1, last=f"{record.case}, {record.latency:.1f} s")

        yield advance


def _write_reports(errors: Console, results: Results, options: Options) -> bool:
    """Write the reports that were asked for; tell whether each could be written."""
    reports: dict[Path | None, Callable[[], bytes]] = {
        options.json_file: lambda: to_json(report_json(results), indent=2).encode(),
        options.junit: lambda: report_junit(results, coerced=options.judged == "coerced"),
        options.html: lambda: report_html(results).encode(),
    }
    is_written = True
    for path, make in reports.items():
        if path is None:
            continue
        try:
            path.write_bytes(make())
        except OSError as error:
            errors.print(f"Error: {path}: {error.strerror or error}", soft_wrap=True)
            is_written = False
    return is_written


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what a user can mend into one message and exit status 2."""
    try:
        yield
    except (SuiteError, RecordsError, MissingExtraError) as error:
        raise CannotRunError(str(error)) from error
    except OSError as error:
        raise CannotRunError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
