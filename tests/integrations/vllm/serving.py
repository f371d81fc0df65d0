"""Runs vLLM's server on loopback, for some tests, and ends it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import IO

from typing_extensions import Self

MODEL = "small"
_PATIENCE = 600
_SETTINGS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
}


class Server:
    """A server in a process of its own, on a port that is free."""

    def __init__(self, model: Path) -> None:
        """Take the folder of the model."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        options = {
            "--model": str(model),
            "--served-model-name": MODEL,
            "--host": "127.0.0.1",
            "--port": str(self.port),
            "--max-model-len": "4096",
            "--tool-call-parser": "llama3_tools",
        }
        named = [word for option in options.items() for word in option]
        # `vllm serve` looks for a package of the name vllm, and the one for processors has another.
        program = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
        self._command = [*program, *named, "--enforce-eager", "--enable-auto-tool-choice"]
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed at the end)

    def __enter__(self) -> Self:
        """Start it, and wait until it answers: about a minute."""
        environment = {**os.environ, **_SETTINGS}
        self._process = subprocess.Popen(self._command, stdout=self._log, stderr=subprocess.STDOUT, env=environment)
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                    return self
            except OSError:
                time.sleep(1)
        self._stop()
        raise RuntimeError(f"vLLM did not start:\n{self.log[-5000:]}")

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._stop()
        self._log.close()

    @property
    def log(self) -> str:
        """What it has printed so far."""
        self._log.seek(0)
        return self._log.read().decode("utf-8", "replace")

    def _stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
