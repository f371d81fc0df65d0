"""What the tests of the examples share: the recordings, and the environment that the programs run in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from endpoints.recordings import Recording, load_recordings

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def recordings() -> dict[str, Recording]:
    return load_recordings()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what would point the programs elsewhere, or change how they print."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "FORCE_COLOR", "NO_COLOR", "COLUMNS", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    sources = [str(REPOSITORY / folder) for folder in ("shared", "integrations", "examples")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sources, os.environ.get("PYTHONPATH", "")]))
