"""The options, each by its name: those of a conversation, of reading, and of LangChain's chat models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, Literal

from langchain_core.caches import BaseCache
from langchain_core.callbacks import Callbacks
from langchain_core.language_models import ModelProfile
from langchain_core.rate_limiters import BaseRateLimiter

from llama3_tools import Limits, ReadOptions
from llama3_tools.chat import ChatOption, ChatOptions, chat_options, read_options
from llama3_tools.errors import did_you_mean

_OF_READING = tuple(one.name for one in fields(ReadOptions) if one.name != "progress")  # no message has a place for it
_OF_CHAT = (*(one.name for one in fields(ChatOptions) if one.name != "read"), *_OF_READING)


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
    streaming: bool
    tags: list[str] | None
    verbose: bool


def chat_options_of(owner: str, given: Mapping[str, Any], others: Iterable[str] = ()) -> ChatOptions:
    """Return the options of a conversation that were given by name.

    >>> chat_options_of("Llama3ToolModel", {"tool_rol": "tool"})
    Traceback (most recent call last):
    TypeError: Llama3ToolModel has no option 'tool_rol'; did you mean 'tool_role'?

    Args:
        owner: the class that the user wrote, for errors.
        given: the options.
        others: the names of further options that the class has.

    Raises:
        TypeError: there is no such option, or it has the wrong type.
        ValueError: an option has a value that it cannot have.
    """
    _require_known(owner, given, [*_OF_CHAT, *others], "; parameters such as temperature belong to the wrapped model")
    return chat_options(None, _loaded(given))


def read_options_of(owner: str, given: Mapping[str, Any], others: Iterable[str] = ()) -> ReadOptions:
    """Return the options of reading that were given by name; see `chat_options_of`."""
    _require_known(owner, given, [*_OF_READING, *others], "")
    return read_options(None, _loaded(given))


def changed_options(options: ChatOptions | ReadOptions, usual: ChatOptions | ReadOptions) -> dict[str, Any]:
    """Return the options that differ from the usual ones, without the `id_factory`, which JSON cannot have."""
    names = (one.name for one in fields(options) if one.name not in {"id_factory", "read"})
    return {name: value for name in names if (value := getattr(options, name)) != getattr(usual, name)}


def _require_known(owner: str, given: Iterable[str], known: list[str], otherwise: str) -> None:
    for name in given:
        if name not in known:
            raise TypeError(f"{owner} has no option {name!r}{did_you_mean(name, known) or otherwise}")


def _loaded(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the limits as such: `dumps` writes them as a list."""
    limits = given.get("limits")
    return {**given, "limits": Limits(*limits)} if isinstance(limits, list) else dict(given)
