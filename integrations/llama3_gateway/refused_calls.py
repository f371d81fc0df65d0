"""What a model wrote that its server refused as no call: Groq's `tool_use_failed` has it in the error."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus

from llama3_gateway.errors import UpstreamRefusal
from llama3_gateway.framing import written
from llama3_tools.chat import failed_generation

__all__ = ["RefusedCall", "refused_call"]


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """An answer with the text of the refused call, as an `UpstreamAnswer`."""

    body: bytes
    status: int = HTTPStatus.OK
    content_type: str = "application/json"

    async def read(self, most: int) -> AsyncIterator[bytes]:
        """Yield the body."""
        del most
        yield self.body

    async def whole(self, most: int) -> bytes:
        """Return the body."""
        del most
        return self.body


def refused_call(refusal: UpstreamRefusal) -> RefusedCall | None:
    """Return what the model wrote, as a completion; `None` if the error does not have it.

    >>> body = b'{"error": {"code": "tool_use_failed", "failed_generation": "<function=now>{}</function>"}}'
    >>> refused_call(UpstreamRefusal(400, [], body)) is None, refused_call(UpstreamRefusal(400, [], b"{}")) is None
    (False, True)
    """
    try:
        text = failed_generation(json.loads(refusal.body))
    except (ValueError, RecursionError):
        return None
    if text is None:
        return None
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return RefusedCall(written({"object": "chat.completion", "choices": [choice]}))
