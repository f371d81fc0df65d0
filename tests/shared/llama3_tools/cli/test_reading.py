"""The options that say how text is read, of whichever command."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from llama3_tools.cli.reading import reading_options


@click.command
@reading_options
def show(**options: Any) -> None:  # noqa: ANN401 - as click has them
    click.echo(" ".join(f"{name}={value}" for name, value in options.items()))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "formats=() lenient=False repair=False starts_reasoning=False"),
        (["--format", "json", "--format", "tool_call"], "formats=('json', 'tool_call') lenient=False"),
        (["--lenient", "--repair", "--starts-reasoning"], "lenient=True repair=True starts_reasoning=True"),
    ],
)
def test_they_are_given_to_the_command(arguments: list[str], expected: str):
    assert expected in CliRunner().invoke(show, arguments).output


def test_a_format_is_one_of_those_that_there_are():
    result = CliRunner().invoke(show, ["--format", "yaml"])
    assert (result.exit_code, "'yaml' is not one of" in result.output) == (2, True)


def test_the_help_has_them_in_their_order():
    text = CliRunner().invoke(show, ["--help"]).output
    places = [text.index(option) for option in ("--format", "--lenient", "--repair", "--starts-reasoning")]
    assert places == sorted(places)
