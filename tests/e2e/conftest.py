"""The live endpoint: llama.cpp serving a real, small model. One for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from endpoints.live import LiveServer, LiveServerError


@pytest.fixture(scope="session")
def live() -> Iterator[LiveServer]:
    """Start the live server. Without it these tests fail: a skipped one would look like a passed one."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("NO_PROXY", "no_proxy"):
            environment.setenv(name, "127.0.0.1")
        try:
            server = LiveServer().__enter__()
        except LiveServerError as error:
            pytest.fail(str(error), pytrace=False)
        yield server
        server.__exit__(None, None, None)
