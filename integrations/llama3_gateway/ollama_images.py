"""Images of tool results in Ollama's own form, which puts them beside a message's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llama3_gateway.errors import bad_request
from llama3_gateway.framing import write_json

__all__ = ["images_as_parts", "images_beside_text"]

_IMAGE = "ollama_image"
"""The type of a part that is such an image. Neither clients nor servers see it."""


def images_as_parts(result: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a message with a tool's result whose images are parts of its content: they stay with it in a conversation.

    >>> images_as_parts({"role": "tool", "content": "A cat.", "images": ["aGk="]}, "messages[0]")["content"]
    [{'type': 'text', 'text': 'A cat.'}, {'type': 'ollama_image', 'image': 'aGk='}]

    Args:
        result: the message.
        where: it stands, for the error.

    Raises:
        GatewayError: its images are no list.
    """
    message = {name: value for name, value in result.items() if name != "images"}
    images = result.get("images")
    if not images:
        return message
    if not isinstance(images, list):
        name = f"{where}.images"
        raise bad_request(f"{name} is a list of images, each as base64", name)
    content = message.get("content")
    if not isinstance(content, list):
        text = content if isinstance(content, str) else "" if content is None else write_json(content)
        content = [{"type": "text", "text": text}]
    return {**message, "content": [*content, *({"type": _IMAGE, "image": image} for image in images)]}


def images_beside_text(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return messages for Ollama, in which the parts that `images_as_parts` made stand beside the text again.

    >>> parts = [{"type": "text", "text": "Result of look: A cat."}, {"type": "ollama_image", "image": "aGk="}]
    >>> images_beside_text([{"role": "user", "content": parts}])
    [{'role': 'user', 'content': 'Result of look: A cat.', 'images': ['aGk=']}]
    """
    return [_beside_text(message) for message in messages]


def _beside_text(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    images = [part["image"] for part in parts if _is_image(part)]
    if not images:
        return message
    others = [part for part in parts if not _is_image(part)]
    texts = [text for part in others if (text := _text_of(part)) is not None]
    is_text = len(texts) == len(others)
    return {**message, "content": "\n\n".join(texts) if is_text else others, "images": images}


def _is_image(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") == _IMAGE and "image" in part


def _text_of(part: object) -> str | None:
    text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None
    return text if isinstance(text, str) else None
