"""Runs `llama3-tools accept` on a live model. It starts llama.cpp with SmolLM2-135M, and stops it at the end.

    python examples/accept_live.py examples/suites/voice_commands.yaml --html report.html

Takes all options of the command except those that name a server. Such a small model gets few of the commands right.
"""

from __future__ import annotations

import os
import subprocess
import sys

from endpoints.live import MODEL, LiveServer, LiveServerError

SETTINGS = ["--concurrency", "1", "--max-tokens", "96", "--extra-body", '{"repeat_penalty": 1.0}']
"""One request at a time is what the server takes; a small model does not always come to an end."""


def main(arguments: list[str]) -> int:
    """Run the command, and give its exit status."""
    command = [sys.executable, "-m", "llama3_tools.cli", "accept", *SETTINGS, *arguments]
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    try:
        with LiveServer(progress=print) as live:
            command += ["--base-url", live.base_url, "--model", MODEL]
            return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603 (this interpreter)
    except LiveServerError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
