"""What a model cannot read, or its server cannot run: no request is refused for its sake, as it would be for good."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from llama3_gateway.errors import UpstreamRefusal, bad_request
from llama3_gateway.logs import LOGGER
from llama3_gateway.shapes import Message

_NAMES_IMAGES = re.compile(r"\bimages?\b|image_url|multi-?modal|mmproj|\bvision\b", re.IGNORECASE)
"""As llama.cpp, Ollama, vLLM and LM Studio say that a model has no eyes."""
_REFUSALS = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.INTERNAL_SERVER_ERROR})


def placeholder(what: str) -> dict[str, Any]:
    """Return a text part that says what was left out, as the model cannot read it.

    >>> placeholder("PDF")
    {'type': 'text', 'text': '[a PDF that this model cannot read]'}
    """
    return {"type": "text", "text": f"[{'an' if what[:1] in 'aeiou' else 'a'} {what} that this model cannot read]"}


def client_tools(
    tools: object, declared: Callable[[Mapping[str, Any], str], dict[str, Any] | None], example: str
) -> list[dict[str, Any]]:
    """Return the tools that a client runs, and log those that a server would run itself, which are left out.

    Args:
        tools: those of a request.
        declared: returns a tool as a function, given its place in the request; `None` if a server would run it.
        example: a tool as the API has it.

    Raises:
        GatewayError: none is left, they are not a list of objects, or one has no name.
    """
    if not isinstance(tools, list):
        raise bad_request(f"tools is a list such as [{example}]", "tools")
    found, served = list[dict[str, Any]](), list[str]()
    for place, tool in enumerate(tools):
        where = f"tools[{place}]"
        if not isinstance(tool, Mapping):
            raise bad_request(f"{where} is an object such as {example}", where)
        if (function := declared(tool, where)) is None:
            served.append(str(tool.get("type")))
        elif isinstance(function.get("name"), str) and function["name"]:
            found.append({"type": "function", "function": function})
        else:
            raise bad_request(f"{where} has no name: send {example}", f"{where}.name")
    if not found:
        message = f"the server would have to run {', '.join(served)}, and cannot: declare tools that your client runs"
        raise bad_request(message, "tools")
    if served:
        LOGGER.info("left out tools that the server would have to run: %s", ", ".join(served))
    return found


def says_images_are_refused(refusal: UpstreamRefusal) -> bool:
    """Return whether a server may have refused a request for its images.

    >>> says_images_are_refused(UpstreamRefusal(500, [], b"image input is not supported"))
    True
    """
    return refusal.status in _REFUSALS and _NAMES_IMAGES.search(str(refusal)) is not None


def without_images(messages: Sequence[Message]) -> list[Message]:
    r"""Return messages with a text in place of each image.

    >>> image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    >>> without_images([{"role": "user", "content": [{"type": "text", "text": "This?"}, image]}])
    [{'role': 'user', 'content': 'This?\n\n[an image that this model cannot read]'}]
    """
    return [_without_images(message) for message in messages]


def _without_images(message: Message) -> Message:
    parts = [placeholder("image") if _kind(part) == "image_url" else part for part in parts_of(message)]
    if images := message.get("images"):  # of Ollama's
        parts = [{"type": "text", "text": str(message.get("content") or "")}, *(placeholder("image") for _ in images)]
    if not parts:
        return message
    others = {name: value for name, value in message.items() if name != "images"}
    if all(_kind(part) == "text" for part in parts):
        return {**others, "content": "\n\n".join(str(part.get("text")) for part in parts)}
    return {**others, "content": parts}


def parts_of(message: Message) -> list[Any]:
    """Return the parts of a message's content; none if that is a text."""
    content = message.get("content")
    return content if isinstance(content, list) else []


def _kind(part: object) -> object:
    return part.get("type") if isinstance(part, Mapping) else None
