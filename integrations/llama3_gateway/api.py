"""What the gateway knows of an API of clients: where it is asked; how requests, answers and errors are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from llama3_gateway.anthropic_messages import MessageShape
from llama3_gateway.errors import GatewayError
from llama3_gateway.messages_input import from_messages
from llama3_gateway.ollama_chat import OLLAMA_CHAT, OllamaShape, from_ollama
from llama3_gateway.openai_chat import CHAT_COMPLETIONS, ChatShape, require_tools
from llama3_gateway.openai_responses import ResponseShape
from llama3_gateway.responses_input import KeptItems, from_responses
from llama3_gateway.shapes import Dialect, Shape

Body: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Api:
    """An API of clients."""

    name: str
    """The name of its route, in metrics and in the log."""
    path: str
    """Where it is asked for an answer."""
    dialect: Dialect
    """What the upstream is asked in."""
    request: Callable[[Body, KeptItems], dict[str, Any]]
    """Returns a request of the API as one for a chat completion."""
    shape: Callable[[Body, KeptItems], Shape]
    """Returns what writes the answer to a request."""
    error: Callable[[GatewayError], Mapping[str, object]] = GatewayError.to_openai
    """Returns the body of an error. One of the upstream's in the same form goes through as it is."""
    key_header: bytes = b"authorization"
    """The header of its clients' keys."""
    is_of_upstream: bool = False
    """Whether the upstream has this API, too: then a request without tools goes through as it is."""
    streams_by_default: bool = False
    """Whether a request that does not say so is answered by a stream."""


CHAT = Api(
    name="chat",
    path="/v1/chat/completions",
    dialect=CHAT_COMPLETIONS,
    request=lambda body, _: require_tools(body),
    shape=lambda body, _: ChatShape(body),
    is_of_upstream=True,
)
"""OpenAI's chat completions."""
RESPONSES = Api(
    name="responses",
    path="/v1/responses",
    dialect=CHAT_COMPLETIONS,
    request=from_responses,
    shape=ResponseShape,
)
"""OpenAI's Responses API."""
MESSAGES = Api(
    name="messages",
    path="/v1/messages",
    dialect=CHAT_COMPLETIONS,
    request=lambda body, _: from_messages(body),
    shape=lambda body, _: MessageShape(body),
    error=GatewayError.to_anthropic,
    key_header=b"x-api-key",
)
"""Anthropic's Messages API."""
OLLAMA = Api(
    name="ollama_chat",
    path="/api/chat",
    dialect=OLLAMA_CHAT,
    request=lambda body, _: from_ollama(body),
    shape=lambda _, __: OllamaShape(),
    error=GatewayError.to_ollama,
    is_of_upstream=True,
    streams_by_default=True,
)
"""Ollama's own chat. A chat completion would lose its options `num_ctx` and `keep_alive`, which its clients set."""
APIS = (CHAT, RESPONSES, MESSAGES, OLLAMA)
