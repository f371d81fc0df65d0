"""Unchanged programs of JavaScript clients run their tools: `make test-clients` installs the clients, with npm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from integrations.gateway.harness import serving
from integrations.gateway.test_clients import LAST, model_without_tools

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "tests" / "clients"
NODE = shutil.which("node") or ""

pytestmark = pytest.mark.skipif(
    not NODE or not (CLIENTS / "node_modules").exists(), reason="make test-clients installs them, where node is"
)


def run(program: Path, folder: Path) -> list[str]:
    """The lines that a program prints, beside the packages that it imports."""
    (folder / "node_modules").symlink_to(CLIENTS / "node_modules")
    copied = shutil.copy(program, folder)
    with serving(model_without_tools) as served:
        environment = {**os.environ, "OPENAI_BASE_URL": served.base_url, "NO_PROXY": "127.0.0.1"}
        command = [NODE, str(copied)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=120)
        assert served.metric("faults_total") == 0
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("client", "ways"),
    [
        ("openai", ["runTools false", "runTools true", "responses false", "responses true"]),
        ("vercel", [f"{api} {stream}" for api in ("compatible", "chat", "responses") for stream in ("false", "true")]),
        ("langchain", ["agent false", "agent true"]),
    ],
)
def test_a_client_runs_its_tools(client: str, ways: list[str], tmp_path: Path):
    found = [json.loads(line) for line in run(CLIENTS / f"{client}.mjs", tmp_path)]
    assert [one["name"] for one in found] == ways
    assert [one["asked"] for one in found] == [["Paris"]] * len(ways)
    assert [one["answer"] for one in found] == [LAST] * len(ways)


def test_the_example_runs_its_tool(tmp_path: Path):
    assert run(ROOT / "examples" / "gateway" / "client.mjs", tmp_path) == ["[get_weather Paris]", LAST]
