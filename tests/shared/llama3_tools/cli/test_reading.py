"""The options that say how text is read, of whichever command."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from llama3_tools import Limits
from llama3_tools.cli.reading import limit_option, reading_options


@click.command
@reading_options
def show(**options: Any) -> None:
    click.echo(" ".join(f"{name}={value}" for name, value in options.items()))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "formats=() repair=False starts_reasoning=False"),
        (["--format", "json", "--format", "code"], "formats=('json', 'code') repair=False"),
        (["--repair", "--starts-reasoning"], "repair=True starts_reasoning=True"),
    ],
)
def test_they_are_given_to_the_command(arguments: list[str], expected: str):
    assert expected in CliRunner().invoke(show, arguments).output


def test_a_format_is_one_of_those_that_there_are():
    result = CliRunner().invoke(show, ["--format", "yaml"])
    assert (result.exit_code, "'yaml' is not one of" in result.output) == (2, True)


def test_the_help_has_them_in_their_order():
    text = CliRunner().invoke(show, ["--help"]).output
    places = [text.index(option) for option in ("--format", "--repair", "--starts-reasoning")]
    assert places == sorted(places)


@click.command
@limit_option
def show_limits(limits: Limits) -> None:
    click.echo(limits)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Limits()),
        (["--limit", "max_depth=3"], Limits(max_depth=3)),
        (["--limit", "max_calls=1", "--limit", "max_call_length=300"], Limits(max_calls=1, max_call_length=300)),
    ],
)
def test_limits_are_given_as_one_value(arguments: list[str], expected: Limits):
    assert CliRunner().invoke(show_limits, arguments).output == f"{expected}\n"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("depth=3", "'depth=3': write NAME=NUMBER, such as max_calls=5. The names are max_depth, "),
        ("max_depth", "'max_depth': write NAME=NUMBER"),
        ("max_depth=3.5", "'max_depth=3.5': write NAME=NUMBER"),
        ("max_depth=0", "'max_depth=0': limits: max_depth is at least 1, not 0"),
        ("max_depth=128", "limits: max_depth is at most 127, not 128"),
        ("max_call_length=-1", "limits: max_call_length is at least 256, not -1"),
        (f"max_calls={'9' * 5000}", "write NAME=NUMBER"),
    ],
)
def test_a_limit_that_cannot_be_is_an_error_that_says_why(given: str, why: str):
    result = CliRunner().invoke(show_limits, ["--limit", given])
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())


def test_the_help_has_the_limits_and_their_defaults():
    text = " ".join(CliRunner().invoke(show_limits, ["--help"]).output.split())
    assert "max_depth (127), max_call_length (4194304), max_calls (1000), max_rejections (1000)" in text
