"""The options of `llama3-tools accept`, and what they make of a suite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from llama3_acceptance.reports.comparison import Judged
from llama3_acceptance.reports.thresholds import Threshold, parse_threshold
from llama3_acceptance.suites.load import load_suite
from llama3_acceptance.values import ResponseFormat, Suite, SuitePromptFormat
from llama3_tools.cli.status import CannotRunError


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options with which the command was run."""

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
    prompt_format: SuitePromptFormat | None
    response_format: ResponseFormat | None
    judged: Judged
    min_pass: tuple[str, ...]
    results_file: Path | None
    resume: bool
    fail_fast: bool
    replay: Path | None
    json_file: Path | None
    junit: Path | None
    html: Path | None


def read_suite(options: Options) -> Suite:
    """Read the suite, with the prompt that the command line asks for."""
    suite = load_suite(options.suite_file)
    prompt = suite.prompt
    try:
        if options.prompt_format == "strict":
            prompt = replace(prompt, format="strict")
        elif options.prompt_format is not None:
            prompt = replace(prompt, format=options.prompt_format, multiple=False, response_format="json_schema")
        if options.response_format is not None:
            prompt = replace(prompt, response_format=options.response_format)
        return replace(suite, prompt=prompt)
    except ValueError as error:
        raise click.UsageError(f"{options.suite_file}: {error}") from None


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
