"""A suite, and outputs that answer it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import ANSWERS
from runs import SUITE_YAML


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "home.yaml"
    path.write_text(SUITE_YAML, "utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _no_endpoint_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    path = tmp_path / "outputs.jsonl"
    lines = zip(("kitchen", "dim", "joke", "hello"), ANSWERS, strict=True)
    path.write_text("".join(json.dumps({"case": case, "output": text}) + "\n" for case, text in lines), "utf-8")
    return path
