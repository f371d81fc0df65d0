"""What the examples share: the endpoint that the command line names, and one line where that fails."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import openai

from endpoints.demo import MODEL, demo_server
from endpoints.live import LiveServerError, live_server

_CLIENTS = {"httpcore", "httpx", "httpx2", "llama3_tools", "ollama", "openai"}


class EndpointError(Exception):
    """The endpoint cannot be used. The message says why, and what to do."""


def run(main: Callable[..., int | None], about: str | None, argument: str = "") -> int:
    """Run a program on the endpoint that the command line names, or on the embedded one.

    Args:
        main: the program: it takes the endpoint's `base_url` and the model's name, and may return an exit status.
        about: the program's docstring, for `--help`.
        argument: the name of one more argument that the command line may have, and the program takes.

    Returns:
        The exit status: that of the program, or 1 if the endpoint failed, or 130 on Ctrl-C.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server (default: OPENAI_BASE_URL)")
    parser.add_argument("--model", metavar="NAME", help="the model's name (default: the first that the server lists)")
    parser.add_argument("--live", action="store_true", help="start llama.cpp with a small model, and ask it")
    parser.add_argument("--pause", type=float, default=0.02, metavar="SECONDS", help="between the demo's tokens")
    if argument:
        parser.add_argument("argument", nargs="*", metavar=argument)
    options = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace", line_buffering=True)  # a terminal may know fewer characters
    try:
        with _endpoint(options) as (base_url, model):
            return main(base_url, model, *getattr(options, "argument", ())) or 0
    except KeyboardInterrupt:
        return 130
    except (EndpointError, LiveServerError) as error:
        print(error, file=sys.stderr)
    except Exception as error:
        if not _CLIENTS & {kind.__module__.partition(".")[0] for kind in type(error).__mro__}:
            raise
        print(f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
    return 1


@contextmanager
def _endpoint(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    base_url = options.base_url or ("" if options.live else os.environ.get("OPENAI_BASE_URL", ""))
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1")))
    if base_url:
        yield base_url, options.model or _first_model(base_url)
    elif options.live:
        with live_server(print) as live:
            yield live.base_url, options.model or _first_model(live.base_url)
    else:
        with demo_server(pause=options.pause) as server:
            print("The embedded endpoint answers, not a model. To ask yours:", sys.argv[0], "--help\n")
            yield server.base_url, options.model or MODEL


def _first_model(base_url: str) -> str:
    """Ask an endpoint what it serves, before anything else is asked of it."""
    key = os.environ.get("OPENAI_API_KEY", "none")
    hint = "" if base_url.rstrip("/").endswith("/v1") else f" Is it {base_url.rstrip('/')}/v1?"
    try:
        served = [model.id for model in openai.OpenAI(base_url=base_url, api_key=key, max_retries=0).models.list()]
    except openai.APIConnectionError as error:
        reason = error.__cause__ or error
        raise EndpointError(f"Nothing answers at {base_url} ({reason}). Is the server running there?") from error
    except openai.AuthenticationError as error:
        raise EndpointError(f"{base_url} refuses the key: set OPENAI_API_KEY.") from error
    except (openai.APIError, AttributeError, TypeError, ValueError) as error:
        raise EndpointError(f"{base_url}/models lists no models: {error}.{hint}") from error
    if not served:
        raise EndpointError(f"{base_url} serves no model: load one, or name one with --model.")
    return served[0]
