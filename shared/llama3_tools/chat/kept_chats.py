"""Chats with tools that request after request brings again: each is made once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from llama3_tools.chat.options import ChatOptions
from llama3_tools.chat.tool_chat import ToolChat
from llama3_tools.options import new_call_id

_MOST_KEPT = 64
"""How many are kept: those that were asked for last."""


def kept_chat(tools: Sequence[Mapping[str, Any]] | None, options: ChatOptions | None = None) -> ToolChat:
    """Return the chat with tools that are dicts: the one that was made before if the same were given.

    >>> kept_chat([{"name": "now"}]) is kept_chat([{"name": "now"}])
    True

    Args:
        tools: the tool dicts, which may change later on. `None`: any name may be called.
        options: how conversations are held. With an `id_factory` of the caller's, no chat is kept, as it would keep
            alive what that belongs to.

    Raises:
        TypeError: `tools` is not a list of tools.
        ToolDefinitionError: a declaration that cannot be read.
    """
    chosen = ChatOptions() if options is None else options
    try:
        written = json.dumps(tools)
    except (TypeError, ValueError, RecursionError):  # not in JSON, or not yet
        return ToolChat(tools, chosen)
    return _make_once(written, chosen) if chosen.read.id_factory is new_call_id else ToolChat(tools, chosen)


@lru_cache(_MOST_KEPT)
def _make_once(written: str, options: ChatOptions) -> ToolChat:
    return ToolChat(json.loads(written), options)
