"""The files of `--json`, `--junit` and `--html`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from llama3_acceptance.cli.accept_options import Options
from llama3_acceptance.reports.html_page import report_html
from llama3_acceptance.reports.json_report import report_json
from llama3_acceptance.reports.junit import report_junit
from llama3_acceptance.reports.thresholds import Threshold
from llama3_acceptance.running.records import to_json
from llama3_acceptance.running.results import Results
from llama3_tools.errors import MissingExtraError
from llama3_tools.text.escaping import escape_invisible


def write_reports(errors: Console, results: Results, options: Options, thresholds: Sequence[Threshold]) -> bool:
    """Write the reports that were asked for, say what could not be written, and return whether all could."""
    reports: dict[Path | None, Callable[[], bytes]] = {
        options.json_file: lambda: to_json(report_json(results), indent=2).encode(),
        options.junit: lambda: report_junit(results, coerced=options.judged == "coerced", thresholds=thresholds),
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
