"""Where the tool prompt is in a conversation: one decision for every framework's messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

ToolsIn: TypeAlias = Literal["user", "system"]
"""Where the tools go: before the first user message, as Meta has it, or after the system message."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a prompt is, among messages or among the parts of one message."""

    index: int
    """The place, counted from 0."""
    is_new: bool
    """Whether the prompt is a new message or part; otherwise it joins the one that is there."""


def find_place(roles: Sequence[str], tools_in: ToolsIn) -> Place:
    """Find the message that takes the prompt: the first of its role, else a new one of that role.

    >>> find_place(["system", "user", "assistant", "user"], "user")
    Place(index=1, is_new=False)
    >>> find_place(["system", "assistant"], "user")
    Place(index=1, is_new=True)

    Args:
        roles: the role of each message: `user`, `system`, or any other word.
        tools_in: the role that takes it. A new user message goes after the system messages in front, a new system
            message before all.
    """
    for index, role in enumerate(roles):
        if role == tools_in:
            return Place(index, is_new=False)
    first = next((index for index, role in enumerate(roles) if role != "system"), len(roles))
    return Place(first, is_new=True)  # 0 for a system message: there is no other


def put_prompt(prompt: str, parts: Sequence[str | None], tools_in: ToolsIn) -> tuple[Place, str]:
    r"""Put the prompt before a user message's first text, or after a system message's last one.

    It becomes one text with it, for clients join the texts of a message in different ways.

    >>> put_prompt("Tools: …", ["Be brief."], "system")
    (Place(index=0, is_new=False), 'Be brief.\n\nTools: …')
    >>> put_prompt("Tools: …", [None], "user")
    (Place(index=0, is_new=True), 'Tools: …')

    Args:
        prompt: the tools, rendered.
        parts: the parts of the message, in order: the text, or `None` for anything else, such as an image.
        tools_in: the message's role.

    Returns:
        The place of the text among the parts, and the whole text that is there.
    """
    texts = [index for index, part in enumerate(parts) if part is not None]
    if not texts:
        return Place(0 if tools_in == "user" else len(parts), is_new=True), prompt
    index = texts[0 if tools_in == "user" else -1]
    text = parts[index] or ""
    joined = put_prompt_before(prompt, text) if tools_in == "user" or not text else f"{text}\n\n{prompt}"
    return Place(index, is_new=False), joined


def put_prompt_before(prompt: str, text: str) -> str:
    """Put the prompt before a text, a blank line between them; an empty text leaves the prompt alone."""
    return f"{prompt}\n\n{text}" if text else prompt
