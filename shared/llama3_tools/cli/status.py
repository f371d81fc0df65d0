"""The exit status of the command, and the error that comes with it."""

from __future__ import annotations

import click

PASSED, CASES_FAILED, COULD_NOT_RUN = 0, 1, 2


class CannotRunError(click.ClickException):
    """What keeps the command from running, said in one message."""

    exit_code = COULD_NOT_RUN
