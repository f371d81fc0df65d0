"""The options, each by its name: those of a conversation, of reading, and of LangChain's chat models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from llama3_tools import Limits, ReadOptions
from llama3_tools.chat import ChatOption, ChatOptions
from llama3_tools.errors import require_options

if TYPE_CHECKING:
    from langchain_core.caches import BaseCache
    from langchain_core.callbacks import Callbacks
    from langchain_core.language_models import ModelProfile
    from langchain_core.rate_limiters import BaseRateLimiter

READ_OPTIONS = tuple(one.name for one in fields(ReadOptions) if one.name != "progress")  # no message has a place for it
CHAT_OPTIONS = (*(one.name for one in fields(ChatOptions) if one.name != "read"), *READ_OPTIONS)


class ModelOption(ChatOption, total=False):
    """The options of `Llama3ToolModel` for type checkers: those of a conversation, and those of LangChain."""

    cache: BaseCache | bool | None
    callbacks: Callbacks
    custom_get_token_ids: Callable[[str], list[int]] | None
    disable_streaming: bool | Literal["tool_calling"]
    metadata: dict[str, Any] | None
    name: str | None
    output_version: str | None
    profile: ModelProfile | None
    rate_limiter: BaseRateLimiter | None
    streaming: bool | None
    tags: list[str] | None
    verbose: bool


def known(owner: str, given: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return options, after a check that the class that the user wrote has each of them."""
    require_options(owner, given, names, "; parameters such as temperature belong to the model itself")
    limits = given.get("limits")  # which `dumps` writes as a list
    return {**given, "limits": Limits(*limits)} if isinstance(limits, list) else dict(given)


def changed_options(options: ChatOptions | ReadOptions, usual: ChatOptions | ReadOptions) -> dict[str, Any]:
    """Return the options that differ from the usual ones, without the `id_factory`, which JSON cannot have."""
    names = (one.name for one in fields(options) if one.name not in {"id_factory", "read"})
    return {name: value for name in names if (value := getattr(options, name)) != getattr(usual, name)}
