"""The command that measures files of many outputs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from batch_files import OUTPUTS, main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks at processes as Linux shows them")


def test_the_outputs_have_470_characters_on_average() -> None:
    assert 460 <= sum(map(len, OUTPUTS)) / len(OUTPUTS) <= 480


def test_it_measures_the_command_and_the_growth_and_fills_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- rates -->\n<!-- end -->\n<!-- growth -->\n<!-- end -->\n", "utf-8")
    main(["--rows", "320", "--longest", "400", "--only", "command", "growth", "--page", str(page)])
    printed = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in printed if line.startswith("| ")]
    assert rows == [
        ["way", "rows"],
        ["one process", "320"],
        ["`--workers 2`", "320"],
        ["way", "rows"],
        ["a file of 100, `--workers 2`", "100"],
        ["a file of 200, `--workers 2`", "200"],
        ["a file of 400, `--workers 2`", "400"],
    ]
    assert "processors" in printed[-1]
    assert [line for line in page.read_text("utf-8").splitlines() if line.startswith("|")] == [
        line for line in printed if line.startswith("|")
    ]


def test_what_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="one process failed: "):
        main(["--rows", "16", "--only", "command"])
