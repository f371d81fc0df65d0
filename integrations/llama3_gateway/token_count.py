"""How many tokens a request has: counted by the upstream if it can, else estimated."""

from __future__ import annotations

from http import HTTPStatus

from llama3_gateway.errors import BrokenOffError
from llama3_gateway.exchange import JSON, Exchange
from llama3_gateway.framing import read_object, write_body, write_json
from llama3_gateway.turns import Turn
from llama3_gateway.upstream import UpstreamAnswer, UpstreamClient
from llama3_tools.chat.messages import joined_text

_TEXT_AT = {
    "/v1/chat/completions/input_tokens": "content",  # llama.cpp, which counts the messages
    "/tokenize": "content",  # vLLM and SGLang, which count them, too, and older ones of llama.cpp
    "/extras/tokenize/count": "input",  # llama-cpp-python
}
"""Where servers count, and what they call a text that is counted."""
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
    text = "".join(_MESSAGE.format(role=one.get("role"), text=joined_text(one.get("content"))[0]) for one in messages)
    text += write_json(tools) if tools else ""
    count = await _counted(exchange, client, turn, text, most)
    how = "estimate" if count is None else "counted"
    tokens = -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN) if count is None else count
    await exchange.answer(write_body({"input_tokens": tokens}), **{_HOW: how})


async def _counted(exchange: Exchange, client: UpstreamClient, turn: Turn, text: str, most: int) -> int | None:
    """Return the upstream's count, of the messages or of the text; `None` if it has none."""
    tools = {"tools": turn.request.tools} if turn.request.tools else {}
    asked = {"model": turn.fields.get("model"), "messages": turn.request.messages, **tools}
    headers, upstream = exchange.asking_for(JSON), turn.settings.upstream
    for path, name in _TEXT_AT.items():
        body = write_body({**asked, name: text})
        async with client.ask(upstream, "POST", path, headers=headers, body=body) as answer:
            if answer.status == HTTPStatus.OK and (count := await _sent_count(answer, most)):
                return count
    return None


async def _sent_count(answer: UpstreamAnswer, most: int) -> int | None:
    try:
        body = read_object(await answer.whole(most), "the count")
    except BrokenOffError:
        return None
    tokens = body.get("tokens")
    count = body.get("count", body.get("input_tokens", len(tokens) if isinstance(tokens, list) else None))
    return count if type(count) is int else None
