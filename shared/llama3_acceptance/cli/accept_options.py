"""The options of `llama3-tools accept`, and what they make of a suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from llama3_acceptance.reports.comparison import Judged
from llama3_acceptance.reports.thresholds import Threshold, parse_threshold
from llama3_acceptance.running.runner import Settings
from llama3_acceptance.values import Suite
from llama3_tools.cli.status import CannotRunError


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options with which the command was run."""

    suite_file: Path
    base_url: str | None
    model: str | None
    api_key: str
    settings: Settings
    judged: Judged
    min_pass: tuple[str, ...]
    results_file: Path | None
    resume: bool
    fail_fast: bool
    replay: Path | None
    json_file: Path | None
    junit: Path | None
    html: Path | None


def read_thresholds(options: Options, suite: Suite) -> tuple[Threshold, ...]:
    """Return the shares that have to pass.

    Raises:
        UsageError: one that cannot be read, or of a tool or a tag that the suite does not have.
    """
    try:
        return tuple(parse_threshold(text, suite) for text in options.min_pass)
    except ValueError as error:
        raise click.UsageError(f"--min-pass: {error}") from None


def check_files(options: Options) -> None:
    """Refuse before anything is asked what could not be written afterwards, or would be written over.

    Raises:
        CannotRunError: a file has no place, or is named twice.
        UsageError: `--resume` without a file.
    """
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
