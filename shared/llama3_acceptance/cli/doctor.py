"""`llama3-tools doctor`: says why a local model does not call its tools, and what works with its server."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from llama3_acceptance.cli.endpoint_options import endpoint_options
from llama3_tools import __version__
from llama3_tools.cli.screen import ColorChoice, color_option, console
from llama3_tools.cli.status import CASES_FAILED, COULD_NOT_RUN, PASSED, CannotRunError
from llama3_tools.errors import MissingExtraError
from llama3_tools.text.escaping import escape_invisible

if TYPE_CHECKING:
    from llama3_acceptance.doctor.advice import Advice
    from llama3_acceptance.doctor.examination import Examination
    from llama3_acceptance.doctor.finding import Finding

DOCTOR_VERSION = 1
"""What a report has under `llama3_tools_doctor`. It changes if something in it is renamed or goes away."""


@click.command(short_help="Find out why a model does not call its tools.")
@endpoint_options(required=True, timeout_help="The most seconds for all questions together.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON with all answers, for a bug report. The key is hidden in it."
)
@color_option
def doctor(*, color: ColorChoice, base_url: str, model: str, api_key: str, timeout: float, as_json: bool) -> None:  # noqa: PLR0913 - an option each
    """Ask a server some ten short questions. Say what is wrong, what to do, and which lines of code work with it.

    The exit status is 0 if nothing is wrong, 1 if something is, and 2 if the command could not run or had no time for
    some questions.
    """
    from llama3_acceptance.doctor.advice import advise  # noqa: PLC0415 - `extract` does without
    from llama3_acceptance.doctor.checks import find_faults  # noqa: PLC0415 - as above
    from llama3_acceptance.doctor.examination import examine  # noqa: PLC0415 - as above
    from llama3_acceptance.running.records import to_json  # noqa: PLC0415 - as above
    from llama3_acceptance.running.runner import EndpointError  # noqa: PLC0415 - as above

    screen = console(color)
    with _asking(console(color, stderr=True)) as on_question:
        try:
            examination = examine(base_url, model, api_key=api_key, seconds=timeout, on_question=on_question)
        except (EndpointError, MissingExtraError) as error:
            raise CannotRunError(str(error)) from error
    findings = find_faults(examination)
    advice = advise(examination, findings)
    if as_json:
        click.echo(to_json(_report(examination, findings, advice), indent=2))
    else:
        is_complete = not examination.unanswered
        _print(screen, f"{model} at {examination.base_url}", findings, advice, is_complete=is_complete)
    if any(finding.is_fault for finding in findings):
        sys.exit(CASES_FAILED)
    sys.exit(COULD_NOT_RUN if examination.unanswered else PASSED)


def _report(examination: Examination, findings: Sequence[Finding], advice: Advice) -> dict[str, Any]:
    """Return all that was found and all that was answered, as JSON for a bug report. What is secret is hidden."""
    hide_in = examination.secrets.hide_in
    return {
        "llama3_tools_doctor": DOCTOR_VERSION,
        "llama3_tools": __version__,
        "python": platform.python_version(),
        "base_url": examination.base_url,
        "model": examination.model,
        "is_healthy": not (any(finding.is_fault for finding in findings) or examination.unanswered),
        "findings": [hide_in(asdict(finding)) for finding in findings],
        "advice": asdict(advice),
        "answers": [hide_in(asdict(exchange)) for exchange in examination.exchanges.values()],
        "not_asked": list(examination.unanswered),
    }


@contextmanager
def _asking(errors: Console) -> Iterator[Callable[[str], None]]:
    """Show what is being asked, if someone watches."""
    if not errors.is_terminal:
        yield lambda _: None
        return
    with errors.status("asking") as status:
        yield lambda name: status.update(f"asking: {name}")


def _print(screen: Console, where: str, findings: Sequence[Finding], advice: Advice, *, is_complete: bool) -> None:
    screen.print(Text(escape_invisible(where), "bold"), soft_wrap=True)
    if is_complete and not any(finding.is_fault for finding in findings):
        screen.print(Text("\n✓ nothing is wrong: the server sends the model's calls as tool calls", "green"))
    for finding in findings:
        mark, style = ("✗", "red") if finding.is_fault else ("·", "yellow")
        screen.print()
        screen.print(Text(f"{mark} {finding.code}: {escape_invisible(finding.what)}", style), soft_wrap=True)
        screen.print(Text(f"  → {escape_invisible(finding.to_do)}"), soft_wrap=True)
    screen.print(Text(f"\n{advice.sentence}", "bold"), soft_wrap=True)
    for line in advice.code:
        screen.print(Text(f"    {escape_invisible(line)}"), soft_wrap=True)
    if advice.command:
        screen.print("\nFor any other client, run the gateway between it and the server:")
        screen.print(Text(f"    {escape_invisible(advice.command)}"), soft_wrap=True)
