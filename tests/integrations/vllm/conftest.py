"""vLLM itself, for the tests that `make test-vllm` runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integrations.vllm.serving import Server
from integrations.vllm.small_model import make_model
from interfaces import is_itself


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small model. Without vLLM the tests fail: a skipped one would look like a passed one."""
    if not is_itself("vllm"):
        pytest.fail("vLLM is not installed here: run make test-vllm", pytrace=False)
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def server(small_model: Path) -> Iterator[Server]:
    """VLLM, serving the small model with our parser."""
    with Server(small_model) as server:
        yield server
