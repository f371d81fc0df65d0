"""The suite of thirty commands, on a live model. Not how well it does: that each response is there, and was judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "examples" / "suites" / "voice_commands.yaml"


@pytest.mark.model
def test_thirty_commands_run_on_a_live_model_and_are_reported(tmp_path: Path) -> None:
    results, report, junit, page = (tmp_path / name for name in ("r.jsonl", "a.json", "a.xml", "a.html"))
    files = ["--results", str(results), "--json", str(report), "--junit", str(junit), "--html", str(page)]
    command = [sys.executable, str(ROOT / "examples" / "accept_live.py"), str(SUITE), "--timeout", "300", *files]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=1200, check=False)
    assert done.returncode in {0, 1}, done.stderr
    assert "all" in done.stdout
    judged = json.loads(report.read_text("utf-8"))
    assert judged["missing"] == 0
    assert [one["error"] for one in judged["results"]] == [None] * 30
    assert ET.parse(junit).getroot().get("tests") == "30"  # noqa: S314 - written above
    assert page.read_text("utf-8").count("<details") == 30
    assert len(results.read_text("utf-8").splitlines()) == 31
