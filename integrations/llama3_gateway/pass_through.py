"""Requests and answers that go through byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

import anyio

from llama3_gateway.errors import GatewayError
from llama3_gateway.exchange import JSON, Exchange
from llama3_gateway.framing import read_object, write_body
from llama3_gateway.logs import LOGGER
from llama3_gateway.settings import Upstream
from llama3_gateway.upstream import UpstreamClient, forwarded

_WITHOUT_BODY = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
"""They have none, whatever length they say."""
_LENGTH = frozenset({b"content-length"})
_MOST_BYTES = 16 * 1024 * 1024


async def pass_through(exchange: Exchange, client: UpstreamClient, upstream: Upstream, body: bytes) -> None:
    """Send a request on, and its answer back.

    Raises:
        GatewayError: there is no answer.
        BrokenOffError: it ended in the middle, and the client has its beginning.
    """
    if ".." in exchange.path.split("/"):
        raise GatewayError(HTTPStatus.NOT_FOUND, f"there is no {exchange.path}")
    asked = client.ask(
        upstream, exchange.method, exchange.raw_path, query=exchange.query, headers=exchange.headers, body=body
    )
    async with asked as answer:
        left_out = _LENGTH if answer.status in _WITHOUT_BODY else frozenset[bytes]()
        await exchange.start(answer.status, forwarded(answer.headers, left_out))
        async for data in answer.raw():
            await exchange.write(data)
    await exchange.finish()


async def send_model(exchange: Exchange, client: UpstreamClient, upstream: Upstream, body: bytes) -> None:
    """Send on what Ollama says of a model, with `tools` among its capabilities: here, each model has them.

    Raises:
        GatewayError: there is no answer.
        UpstreamRefusal: it is an error.
    """
    async with client.ask(upstream, "POST", exchange.path, headers=exchange.asking_for(JSON), body=body) as answer:
        if answer.status != HTTPStatus.OK:
            raise await answer.refusal()
        model = read_object(await answer.whole(_MOST_BYTES), "what the upstream says of the model")
    found = model.get("capabilities")
    capabilities = found if isinstance(found, list) else ["completion"]
    added = [] if "tools" in capabilities else ["tools"]
    await exchange.answer(write_body({**model, "capabilities": [*capabilities, *added]}))


async def send_models(exchange: Exchange, client: UpstreamClient, upstreams: Sequence[Upstream]) -> None:
    """Send the models of several upstreams as one list. An upstream that does not answer has none."""
    lists: dict[int, list[object]] = {}

    async def ask(place: int) -> None:
        asked = client.ask(upstreams[place], "GET", exchange.path, headers=exchange.asking_for(JSON), body=b"")
        try:
            async with asked as answer:
                models = read_object(await answer.whole(_MOST_BYTES), "the list of models").get("data")
        except GatewayError as error:
            LOGGER.warning("an upstream has not said which models it has: status %s", error.status)
        else:
            lists[place] = models if isinstance(models, list) else []

    async with anyio.create_task_group() as group:
        for place in range(len(upstreams)):
            group.start_soon(ask, place)
    data = [model for place in sorted(lists) for model in lists[place]]
    await exchange.answer(write_body({"object": "list", "data": data}))
