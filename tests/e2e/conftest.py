"""The live endpoint: llama.cpp serving a real, small model. One for all tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from e2e.relay import Relay
from endpoints.live import LiveServer, LiveServerError, live_server
from endpoints.server import LoopbackServer


@pytest.fixture(scope="session")
def live() -> Iterator[LiveServer]:
    """Start the live server. Without it these tests fail: a skipped one would look like a passed one."""
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(live_server())
        except LiveServerError as error:
            pytest.fail(str(error), pytrace=False)
        yield server


@pytest.fixture
def relay(live: LiveServer) -> Iterator[Relay]:
    """Stand between the client and the live server."""
    responder = Relay(live.base_url)
    with LoopbackServer(responder) as server:
        responder.url = server.base_url
        yield responder
