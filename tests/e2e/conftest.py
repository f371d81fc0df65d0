"""The live endpoint: llama.cpp serving a real, small model. One for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.relay import Relay
from endpoints.live import LiveServer, LiveServerError
from endpoints.server import LoopbackServer


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


@pytest.fixture
def relay(live: LiveServer) -> Iterator[Relay]:
    """Stand between the client and the live server."""
    responder = Relay(live.base_url)
    with LoopbackServer(responder) as server:
        responder.url = server.base_url
        yield responder
