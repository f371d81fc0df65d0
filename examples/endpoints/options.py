"""The command line that all examples share, and the endpoint that it asks for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from endpoints.connect import Endpoint, connect
from endpoints.live import MODEL, SETTINGS, LiveServer
from endpoints.replay import replay_server
from endpoints.script import Turn, scripted
from endpoints.server import LoopbackServer
from endpoints.wire import api


def add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    """Add `--base-url`, `--model`, `--live` and `--pause` to a command line."""
    group = parser.add_argument_group(
        "server", "Without these, a small server is started that plays a model's answers."
    )
    group.add_argument(
        "--base-url",
        metavar="URL",
        help="the address of an OpenAI-compatible server (default: OPENAI_BASE_URL, if set)",
    )
    group.add_argument("--model", metavar="NAME", help="the model's name (default: the first that the server lists)")
    group.add_argument("--live", action="store_true", help="start llama.cpp with a small model, and ask it")
    group.add_argument(
        "--pause",
        type=float,
        default=0.02,
        metavar="SECONDS",
        help="seconds between replayed tokens (default: %(default)s)",
    )


@contextmanager
def open_endpoint(
    options: argparse.Namespace, say: Callable[[str], None], *, script: Iterable[Turn] | None = None
) -> Iterator[Endpoint]:
    """Return the endpoint that the command line asks for, and stop it at the end if it was started here.

    Args:
        options: the command line, parsed.
        say: is told which endpoint it is, a line at a time.
        script: what the embedded endpoint answers; `None` for the recordings.

    Raises:
        EndpointError: the endpoint cannot be used.
        LiveServerError: the live server cannot be started.
    """
    base_url = options.base_url or ("" if options.live else os.environ.get("OPENAI_BASE_URL", ""))
    if base_url:
        endpoint = connect(base_url, options.model, os.environ.get("OPENAI_API_KEY"))
        say(f"Asking {endpoint.model} at {endpoint.base_url}.")
        yield endpoint
        return
    _ask_directly("127.0.0.1")
    if options.live:
        with LiveServer(progress=say) as live:
            say(f"Asking {MODEL}, a real if small model, at {live.base_url}.")
            yield replace(connect(live.base_url, options.model), settings=SETTINGS)
        return
    if script is not None:
        with LoopbackServer(api(["script"], scripted(script))) as server:
            say(f"Playing scripted answers at {server.base_url}, over real HTTP.")
            yield replace(connect(server.base_url, options.model), is_replay=True)
        return
    with replay_server(pause=options.pause) as replay:
        say(f"Replaying recorded streams of SmolLM2-135M at {replay.base_url}, over real HTTP.")
        yield replace(connect(replay.base_url, options.model), is_replay=True)


def _ask_directly(host: str) -> None:
    """Keep what is asked of this machine away from a proxy, where the environment names one."""
    for name in ("no_proxy", "NO_PROXY"):
        hosts = [known for known in os.environ.get(name, "").split(",") if known]
        if host not in hosts:
            os.environ[name] = ",".join([*hosts, host])
