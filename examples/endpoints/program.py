"""What every example does around its question: a console, the endpoint, and one line where that cannot be used."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterable
from functools import partial

from rich.console import Console

from endpoints.connect import Endpoint, EndpointError, explain
from endpoints.live import LiveServerError
from endpoints.options import open_endpoint
from endpoints.script import Turn
from llama3_tools import Llama3ToolsError


def run_program(
    name: str,
    options: argparse.Namespace,
    ask: Callable[[Endpoint, Console], bool],
    *,
    script: Iterable[Turn] | None = None,
) -> int:
    """Ask on the endpoint that the command line names.

    Args:
        name: of the program, for the line that says what went wrong.
        options: the command line, parsed.
        ask: asks, shows what comes, and tells whether all of it was as it should be.
        script: what the embedded endpoint answers; `None` for the recordings.

    Returns:
        The exit status: 0; 1 where not all was as it should be, or the endpoint could not be used; 130 on Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may know fewer characters than a model
    console = Console(highlight=False, emoji=False, markup=False)
    endpoint: Endpoint | None = None
    try:
        with open_endpoint(options, partial(console.print, soft_wrap=True), script=script) as endpoint:
            return 0 if ask(endpoint, console) else 1
    except (EndpointError, LiveServerError, Llama3ToolsError) as error:
        line = (endpoint and explain(error, endpoint)) or str(error)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        known = endpoint and explain(error, endpoint)
        if not known:
            raise
        line = known
    print(f"{name}: {line}", file=sys.stderr)
    return 1
