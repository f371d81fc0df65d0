"""The examples on the live model, and the server that ends by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quickstart
from endpoints.demo import RECORDED
from endpoints.live import MODEL

if TYPE_CHECKING:
    from endpoints.live import LiveServer

pytestmark = pytest.mark.model

EXAMPLES = Path(quickstart.__file__).parent
SOURCES = [EXAMPLES, *(EXAMPLES.parent / folder for folder in ("shared", "integrations"))]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SOURCES))}


def test_the_demo_starts_the_live_model_itself(live: LiveServer) -> None:
    del live  # asked for so that this fails in the same way where it is not installed
    command = [sys.executable, quickstart.__file__, "--live"]
    ended = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=400, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.search(r"Starting llama\.cpp .*\n(  … loading the model, \d+ s\n)*Ready after \d+ s\.", ended.stdout)
    assert ended.stdout.count("the model sends") == 2 * len(RECORDED)


@pytest.mark.parametrize("name", ["handoffs", "hosted", "structured_output", "thinking"])
def test_a_program_of_the_cookbook_comes_to_its_end(name: str, live: LiveServer) -> None:
    command = [sys.executable, str(EXAMPLES / f"cookbook/{name}.py"), "--base-url", live.base_url, "--model", MODEL]
    ended = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=400, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout
