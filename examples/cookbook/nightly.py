"""Asks a model all commands of a suite, keeps a report of the day in `reports/`, and fails if too few are right.

python examples/cookbook/nightly.py examples/suites/words.yaml --base-url http://localhost:11434/v1 --model llama3.1
python examples/cookbook/nightly.py examples/suites/voice_commands.yaml --live    # after make demo-model
"""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path

from program import live, run

WORDS = Path(__file__).parents[1] / "suites" / "words.yaml"


def main(base_url: str, model: str, suite: str = str(WORDS)) -> int:
    """Run the suite. The exit status is that of `llama3-tools accept`."""
    Path("reports").mkdir(exist_ok=True)
    report = f"reports/{Path(suite).stem}-{dt.datetime.now(tz=dt.timezone.utc):%Y-%m-%d}"
    command = [sys.executable, "-m", "llama3_tools.cli", "accept", suite, "--base-url", base_url, "--model", model]
    command += ["--min-pass", "70%", "--html", f"{report}.html", "--junit", f"{report}.xml", "--json", f"{report}.json"]
    if model == live.MODEL:  # a small model does not always come to an end, and its server answers one at a time
        command += ["--concurrency", "1", "--max-tokens", "96", "--extra-body", json.dumps(dict(live.SETTINGS))]
    return subprocess.run(command, check=False).returncode  # noqa: S603 (this interpreter)


if __name__ == "__main__":
    sys.exit(run(main, __doc__, "suite"))
