"""One `llama3-tools accept`, from its options to its exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from llama3_acceptance.cli.accept import Options
from llama3_acceptance.cli.accept_asking import ask_and_judge
from llama3_acceptance.cli.tables import print_comparison, print_results
from llama3_acceptance.reports.comparison import Judged, compare_reports, differences, read_report
from llama3_acceptance.reports.html_page import report_html
from llama3_acceptance.reports.json_report import report_json
from llama3_acceptance.reports.junit import report_junit
from llama3_acceptance.reports.thresholds import Threshold, ThresholdResult, check_thresholds, parse_threshold
from llama3_acceptance.running.asking import fingerprint
from llama3_acceptance.running.records import Recording, RecordsError, Run, read_records, to_json
from llama3_acceptance.running.results import Results, judge_records
from llama3_acceptance.suites.load import SuiteError, load_suite
from llama3_acceptance.values import Suite
from llama3_tools.cli.status import CASES_FAILED, COULD_NOT_RUN, PASSED, CannotRunError
from llama3_tools.errors import MissingExtraError
from llama3_tools.text.escaping import escape_invisible


def compare(screen: Console, before: Path, after: Path, *, coerced: bool) -> int:
    """Print what changed between two reports.

    Returns:
        The exit status: 1 if what passed before does not pass any more, or is not there.

    Raises:
        CannotRunError: a report cannot be read, or the two have no response in common.
    """
    with _explained():
        first, second = read_report(before), read_report(after)
    by_both: tuple[Judged, Judged] = ("parsed", "coerced")
    comparisons = [compare_reports(first, second, one) for one in by_both]
    if not comparisons[0].before.total:
        raise CannotRunError(f"{before} and {after} have no response in common: are they of one suite?")
    print_comparison(screen, before.name, after.name, comparisons, differences(first, second))
    decisive = comparisons[coerced]
    return CASES_FAILED if decisive.broken or decisive.lost else PASSED


def run(screen: Console, errors: Console, options: Options) -> int:
    """Run a suite, or judge what was recorded; print and write what came out.

    Args:
        screen: takes the tables.
        errors: takes the progress and what went wrong.
        options: those with which the command was run.

    Returns:
        The exit status.
    """
    with _explained():
        suite = load_suite(options.suite_file)
        wanted = _read_thresholds(options, suite)
        _check_files(options)
        if options.replay is not None:
            recording = read_records(options.replay)
            results, trouble = _judged(suite, recording), None
        else:
            results, trouble = ask_and_judge(errors, suite, options)
    is_written = True
    thresholds = check_thresholds(results, wanted, coerced=options.coerced)
    if results.results or trouble is None:
        is_written = _write_reports(errors, results, options, thresholds)  # first: whoever reads the tables may go away
        print_results(screen, results, coerced=options.coerced, thresholds=thresholds)
    if trouble is not None:
        errors.print(f"Error: {escape_invisible(trouble)}", soft_wrap=True)
    if trouble is not None or not is_written:
        return COULD_NOT_RUN
    if thresholds:
        are_enough = all(one.is_met for one in thresholds)
    else:
        are_enough = all(one.judgements.of(coerced=options.coerced).passed for one in results.results)
    has_all = not results.missing and all(one.error is None for one in results.results)
    return PASSED if are_enough and has_all else CASES_FAILED


def _read_thresholds(options: Options, suite: Suite) -> tuple[Threshold, ...]:
    try:
        return tuple(parse_threshold(text, suite) for text in options.min_pass)
    except ValueError as error:
        raise click.UsageError(f"--min-pass: {error}") from None


def _check_files(options: Options) -> None:
    """Refuse before anything is asked what could not be written afterwards, or would be written over."""
    read = {"SUITE": options.suite_file, "--replay": options.replay}
    written = {
        "--results": options.results_file,
        "--json": options.json_file,
        "--junit": options.junit,
        "--html": options.html,
    }
    taken: dict[Path, str] = {}
    for option, path in {**read, **written}.items():
        if path is None:
            continue
        if option in written and (path.is_dir() or not path.parent.is_dir()):
            raise CannotRunError(f"{path}: cannot be written: it is a folder, or its folder does not exist")
        if path.exists() and not path.is_file():
            continue  # such as /dev/null
        other = taken.setdefault(path.resolve(), option)
        if other != option:
            raise CannotRunError(f"{path} is named twice, by {other} and by {option}")
    if options.resume and options.results_file is None:
        raise click.UsageError("--resume continues a file: name it with --results")


def _write_reports(errors: Console, results: Results, options: Options, thresholds: Sequence[ThresholdResult]) -> bool:
    """Write the reports that were asked for, say what could not be written, and return whether all could."""
    reports: dict[Path | None, Callable[[], bytes]] = {
        options.json_file: lambda: to_json(report_json(results), indent=2).encode(),
        options.junit: lambda: report_junit(results, coerced=options.coerced, thresholds=thresholds),
        options.html: lambda: report_html(results).encode(),
    }
    is_written = True
    for path, make in reports.items():
        if path is None:
            continue
        try:
            path.write_bytes(make())
        except (OSError, MissingExtraError) as error:
            why = getattr(error, "strerror", None) or error
            errors.print(f"Error: {escape_invisible(str(path))}: {why}", soft_wrap=True)
            is_written = False
    return is_written


def _judged(suite: Suite, recording: Recording) -> Results:
    run = recording.run or Run(suite.name, fingerprint(suite))
    repeats = max((record.repeat + 1 for record in recording.records), default=1)
    try:
        return judge_records(suite, run, recording.records, repeats=repeats)
    except RecordsError as error:
        raise RecordsError(f"{recording.path}: {error}") from None


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what a user can mend into one message and exit status 2."""
    try:
        yield
    except (SuiteError, RecordsError, MissingExtraError) as error:
        raise CannotRunError(str(error)) from error
    except OSError as error:
        raise CannotRunError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
