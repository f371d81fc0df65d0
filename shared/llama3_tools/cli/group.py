"""The command and its subcommands: its own, and those of the entry points `llama3_tools.commands`.

An entry point of `llama3_tools.extract_input` is a function that gives `extract` options for another kind of input.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from importlib.metadata import entry_points

import click

from llama3_tools.cli.extract import extract
from llama3_tools.cli.status import COULD_NOT_RUN, CannotRunError
from llama3_tools.text.escaping import escape_invisible


class _Group(click.Group):
    """Gives whatever keeps a subcommand from its end the status 2: 1 says that a case failed."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            try:
                return super().invoke(ctx)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except click.UsageError as error:  # a message may quote a file or a server
            raise click.UsageError(escape_invisible(error.format_message()), error.ctx) from None
        except click.ClickException as error:
            raise CannotRunError(escape_invisible(error.format_message())) from None
        except (click.Abort, click.exceptions.Exit):
            raise
        except BrokenPipeError:  # whoever read has had enough
            _close_stdout()
            ctx.exit(COULD_NOT_RUN)
        except OSError as error:
            _close_stdout()
            raise CannotRunError(
                escape_invisible(f"{error.filename or 'the output'}: {error.strerror or error}")
            ) from error
        except KeyboardInterrupt:
            raise CannotRunError("interrupted") from None
        except Exception:  # noqa: BLE001 - whatever it is, no case has failed
            click.echo(escape_invisible(traceback.format_exc()), err=True)
            ctx.exit(COULD_NOT_RUN)


def _close_stdout() -> None:
    """Let what could not be written go, lest Python tries it again at the end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="llama3-tools", message="%(prog)s %(version)s")
def llama3_tools() -> None:
    """Read the tool calls that a local Llama 3 writes as text, and find out how well it calls."""


llama3_tools.add_command(extract)
for _entry_point in entry_points(group="llama3_tools.commands"):
    llama3_tools.add_command(_entry_point.load(), _entry_point.name)
for _entry_point in entry_points(group="llama3_tools.extract_input"):
    _entry_point.load()(extract)
