"""How many tokens a request has: counted by the upstream if it can, else estimated."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from llama3_gateway.answer_parts import text_in
from llama3_gateway.errors import BrokenOffError
from llama3_gateway.exchange import JSON, Exchange
from llama3_gateway.framing import read_object, write_json, written
from llama3_gateway.turns import Turn
from llama3_gateway.upstream import UpstreamClient

_PATH = "/tokenize"
"""Where llama.cpp and vLLM count."""
_HOW = "llama3-tools-token-count"
"""The header that says whether the tokens were counted."""
_BYTES_PER_TOKEN = 4
_MESSAGE = "<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>"
"""How Llama 3 sees a message, for a server that counts a text only."""


async def send_token_count(exchange: Exchange, client: UpstreamClient, turn: Turn, most: int) -> None:
    """Send the count, and a header that says whether it is `counted` or an `estimate`.

    Raises:
        GatewayError: there is no upstream.
    """
    messages, tools = turn.request.messages, turn.request.tools
    text = "".join(_MESSAGE.format(role=one.get("role"), text=text_in(one.get("content"))) for one in messages)
    text += write_json(tools) if tools else ""
    count = await _counted(exchange, client, turn, text, most)
    how = "estimate" if count is None else "counted"
    tokens = -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN) if count is None else count
    headers = {"content-type": JSON.decode(), _HOW: how}
    await exchange.respond(Response(written({"input_tokens": tokens}), HTTPStatus.OK, headers=headers))


async def _counted(exchange: Exchange, client: UpstreamClient, turn: Turn, text: str, most: int) -> int | None:
    """Return the upstream's count; `None` if it has none. llama.cpp counts the text, vLLM the messages."""
    tools = {"tools": turn.request.tools} if turn.request.tools else {}
    asked = {"model": turn.fields.get("model"), "messages": turn.request.messages, **tools, "content": text}
    headers, upstream = exchange.asking_for(JSON), turn.settings.upstream
    async with client.ask(upstream, "POST", _PATH, headers=headers, body=written(asked)) as answer:
        if answer.status != HTTPStatus.OK:
            return None
        try:
            body = read_object(await answer.whole(most), "the count")
        except BrokenOffError:
            return None
    count, tokens = body.get("count"), body.get("tokens")
    if type(count) is int:
        return count
    return len(tokens) if isinstance(tokens, list) and tokens else None
