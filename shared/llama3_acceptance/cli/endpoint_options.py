"""The options that name an endpoint, for `llama3-tools accept` and `doctor`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click
from click.decorators import FC


class FiniteRange(click.FloatRange):
    """A range of numbers that JSON and clocks have; `FloatRange` alone would take `nan`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 - as in click
        """Return a number in the range, or say why it is none."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def endpoint_options(*, required: bool, timeout_help: str) -> Callable[[FC], FC]:
    """Return a decorator that adds `--base-url`, `--model`, `--api-key` and `--timeout` to a command.

    Args:
        required: whether the address and the model have to be given.
        timeout_help: which time `--timeout` bounds.
    """
    options = (
        click.option(
            "--base-url",
            envvar="OPENAI_BASE_URL",
            metavar="URL",
            required=required,
            help="The address of an OpenAI-compatible server, such as http://localhost:11434/v1.",
            show_envvar=True,
        ),
        click.option("--model", metavar="NAME", required=required, help="The model's name on the server."),
        click.option(
            "--api-key",
            envvar="OPENAI_API_KEY",
            default="none",
            metavar="KEY",
            help="The server's key.",
            show_envvar=True,
        ),
        click.option(
            "--timeout",
            type=FiniteRange(0, 86_400, min_open=True),
            default=120,
            show_default=True,
            help=timeout_help,
        ),
    )

    def add(command: FC) -> FC:
        for option in reversed(options):
            command = option(command)
        return command

    return add
