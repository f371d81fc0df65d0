"""The nightly run with thirty commands, on a live model. Not how well it does: each response was judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.model
def test_thirty_commands_run_on_a_live_model_and_are_reported(tmp_path: Path) -> None:
    suite = ROOT / "examples/suites/voice_commands.yaml"
    command = [sys.executable, str(ROOT / "examples/cookbook/nightly.py"), str(suite), "--live"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=1200, check=False
    )
    assert done.returncode == 1, done.stderr
    (report,) = tmp_path.glob("reports/voice_commands-*.json")
    judged = json.loads(report.read_text("utf-8"))
    assert judged["missing"] == 0
    assert [one["error"] for one in judged["results"]] == [None] * 30
