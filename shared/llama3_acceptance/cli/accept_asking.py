"""What `llama3-tools accept` does with an endpoint: asks it, keeps what comes, and says what ended the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from llama3_acceptance.cli.accept import Options
from llama3_acceptance.cli.results_file import append, take_up
from llama3_acceptance.cli.tables import print_failure
from llama3_acceptance.running.asking import fingerprint, prompt_options
from llama3_acceptance.running.records import Record, Run
from llama3_acceptance.running.results import Results, judge_record, judge_records
from llama3_acceptance.running.runner import Endpoint, EndpointError, run_suite
from llama3_acceptance.values import Suite
from llama3_tools.text.escaping import escape_invisible


def ask_and_judge(errors: Console, suite: Suite, options: Options) -> tuple[Results, str | None]:
    """Ask the endpoint. What has come in by then is judged, whatever ends the run; the text says what did."""
    if not options.base_url or not options.model:
        raise click.UsageError("name an endpoint with --base-url and a model with --model, or outputs with --replay")
    _check_prompt(suite)
    endpoint = Endpoint(options.base_url, options.model, options.api_key)
    run, kept = _begun(suite, endpoint, options)
    trouble, has_failed = None, False
    look = _first_failure(errors, suite, options)
    try:
        with _progress(errors, len(suite.cases) * options.settings.repeats, len(kept)) as advance:

            def take(record: Record) -> None:
                kept[record.case, record.repeat] = record
                if options.results_file is not None:
                    append(options.results_file, run, record)
                advance(record)
                look(record)

            for record in kept.values():
                look(record)
            run_suite(suite, endpoint, options.settings, take, done=set(kept))
    except _FirstFailureError:
        has_failed = True
    except KeyboardInterrupt:
        trouble = "interrupted"  # pragma: no cover - tested, but after a cancelled request Python 3.11 traces no line
    except EndpointError as error:
        trouble = str(error)
    except OSError as error:
        trouble = f"{options.results_file}: {error.strerror or error}"  # pragma: no cover - the same
    results = judge_records(suite, run, kept.values(), repeats=options.settings.repeats)
    if has_failed:
        told = f"stopped at the first failure: {_so_far(results, options)}"
        errors.print(escape_invisible(told), soft_wrap=True)
        return results, None
    return results, _advised(trouble, results, options)


def _begun(suite: Suite, endpoint: Endpoint, options: Options) -> tuple[Run, dict[tuple[str, int], Record]]:
    """Return the run, and the responses that it has already, by case and repeat."""
    settings, started = options.settings, datetime.now(timezone.utc).isoformat(timespec="seconds")
    run = Run(
        suite.name,
        fingerprint(suite),
        endpoint.model,
        endpoint.base_url,
        settings.sent(),
        started.replace("+00:00", "Z"),
        prompt_options(suite),
    )
    records: tuple[Record, ...] = ()
    if options.results_file is not None:
        run, records = take_up(options.results_file, run, resume=options.resume)
    return run, {(one.case, one.repeat): one for one in records if one.error is None and one.repeat < settings.repeats}


def _check_prompt(suite: Suite) -> None:
    """Refuse to ask for calls in a form in which none of them could pass."""
    wanted, read = suite.prompt.format, suite.reading.formats
    if wanted in {"native", "strict"}:
        return
    asked = f"the prompt asks for calls in the text ({wanted})"
    if suite.policies.native_calls_only or not suite.policies.text_calls:
        raise click.UsageError(
            f"{asked}, and a policy fails every call there: use the prompt's format native, or let calls in text count"
        )
    if read is not None and wanted not in read:
        raise click.UsageError(f"{asked}, and the suite's reading leaves that form out: use it as the prompt's format")


def _advised(trouble: str | None, results: Results, options: Options) -> str | None:
    """Say what to do about a run that did not come to its end; one without a single response did not run."""
    if trouble is None:
        first = next(iter(results.results), None)
        if first is None or any(one.error is None for one in results.results):
            return None
        return f"there was no response at all; the first error: {first.error}"
    if not results.results:
        return trouble
    return f"{trouble}; {_so_far(results, options)}"


def _so_far(results: Results, options: Options) -> str:
    of = f"{len(results.results)} of {len(results.results) + len(results.missing)} responses are in"
    if options.results_file is None:
        return f"{of}. With --results FILE, a run can be resumed"
    return f"{of}. The same command with --resume goes on"


class _FirstFailureError(Exception):
    """A response failed, and nothing more is to be asked."""


def _first_failure(errors: Console, suite: Suite, options: Options) -> Callable[[Record], None]:
    """Return what looks at each response: it shows the first one that fails, and ends the run there if asked to."""
    cases = {case.id: case for case in suite.cases}
    has_failed = False

    def look(record: Record) -> None:
        nonlocal has_failed
        if has_failed or record.case not in cases:
            return
        result = judge_record(record, cases[record.case], suite)
        has_failed = not result.judgements.of(coerced=options.coerced).passed
        if has_failed:
            print_failure(errors, result, coerced=options.coerced)
        if has_failed and options.fail_fast:
            raise _FirstFailureError

    return look


@contextmanager
def _progress(errors: Console, total: int, done: int) -> Iterator[Callable[[Record], None]]:
    """Show how far the run is, if someone watches."""
    if not errors.is_terminal:
        yield lambda _: None  # before rich 15, even a disabled bar prints the end of its line
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=errors, transient=True) as progress:
        task = progress.add_task("asking", total=total, completed=done, last="")

        def advance(record: Record) -> None:
            progress.update(task, advance=1, last=f"{escape_invisible(record.case)}, {record.latency:.1f} s")

        yield advance
