"""The tools in the prompt: put into a conversation where Llama 3.1 looks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from llama3_tools.chat.messages import Message, split_message, text_of

ToolsIn: TypeAlias = Literal["user", "system"]
"""Where the tools go: before the text of the first user message, or after that of the first system message."""


def put_tools(messages: Sequence[Message], prompt: str, tools_in: ToolsIn) -> list[Message]:
    r"""Put the rendered tools into a conversation, which is left as it is.

    They become one text with the message's, for clients join the texts of a message in different ways.

    >>> put_tools([{"role": "user", "content": "Hi"}], "Tools: …", "user")
    [{'role': 'user', 'content': 'Tools: …\n\nHi'}]

    Args:
        messages: the conversation.
        prompt: the tools, rendered.
        tools_in: the role of the message that takes them. If there is none, a new one does: a user message after the
            system messages in front, a system message before all.
    """
    put = list(messages)
    roles = [_role(message) for message in put]
    if tools_in in roles:
        index = roles.index(tools_in)
        put[index] = {**put[index], "content": _with_prompt(put[index].get("content"), prompt, tools_in)}
    else:
        after = next((index for index, role in enumerate(roles) if role != "system"), len(roles))
        put.insert(after, {"role": tools_in, "content": prompt})
    return put


def _role(message: Message) -> str:
    role = str(message.get("role"))
    if role == "user" and split_message(message).results:
        return "tool"
    return "system" if role == "developer" else role


def _with_prompt(content: object, prompt: str, tools_in: ToolsIn) -> str | list[Any]:
    parts: list[Any] = list(content) if isinstance(content, (list, tuple)) else [content or ""]
    texts = [index for index, part in enumerate(parts) if text_of(part) is not None]
    is_first = tools_in == "user"
    if not texts:
        part = {"type": "text", "text": prompt}
        return [part, *parts] if is_first else [*parts, part]
    index = texts[0 if is_first else -1]
    own = text_of(parts[index])
    text = "\n\n".join(filter(None, [prompt, own] if is_first else [own, prompt]))
    if not isinstance(content, (list, tuple)):
        return text
    parts[index] = text if isinstance(parts[index], str) else {**parts[index], "text": text}
    return parts
