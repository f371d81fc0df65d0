"""The tools in the prompt: put into a conversation where Llama 3.1 looks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama3_tools.chat.messages import Message, split_message, text_of
from llama3_tools.prompts.placement import ToolsIn, find_place, put_prompt


def put_tools(messages: Sequence[Message], prompt: str, tools_in: ToolsIn) -> list[Message]:
    r"""Put the rendered tools into a conversation, which is left as it is.

    >>> put_tools([{"role": "user", "content": "Hi"}], "Tools: …", "user")
    [{'role': 'user', 'content': 'Tools: …\n\nHi'}]

    Args:
        messages: the conversation.
        prompt: the tools, rendered.
        tools_in: the role of the message that takes them. If there is none, a new one does.
    """
    put = list(messages)
    place = find_place([_role(message) for message in put], tools_in)
    if place.is_new:
        put.insert(place.index, {"role": tools_in, "content": prompt})
    else:
        message = put[place.index]
        put[place.index] = {**message, "content": _with_prompt(message.get("content"), prompt, tools_in)}
    return put


def _role(message: Message) -> str:
    role = str(message.get("role"))
    if role == "user" and split_message(message).results:
        return "tool"
    return "system" if role == "developer" else role


def _with_prompt(content: object, prompt: str, tools_in: ToolsIn) -> str | list[Any]:
    parts = list(content) if isinstance(content, (list, tuple)) else [content or ""]
    place, text = put_prompt(prompt, [text_of(part) for part in parts], tools_in)
    if not isinstance(content, (list, tuple)):
        return text
    given: Any = {} if place.is_new else parts[place.index]
    part = text if isinstance(given, str) else {"type": "text", **given, "text": text}
    parts[place.index : place.index + (not place.is_new)] = [part]
    return parts
