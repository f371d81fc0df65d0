"""How outputs are read: every option, in one value that extractors, the chat layer and the adapters take."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, TypedDict

from llama3_tools.errors import require_bool, require_type, require_words
from llama3_tools.formats import FormatName, Formats, require_formats
from llama3_tools.limits import DEFAULT_LIMITS, Limits, require_limits

OnUnknownTool: TypeAlias = Literal["text", "call", "retry"]
"""What happens to a call of a tool that was not declared: it stays text; it is still a call (principle 1); or it stays
text, and in a conversation the model is asked again with the names of the tools."""


def new_call_id() -> str:
    """Return an id for a tool call: `call_` and 24 random hex digits (principle 1).

    >>> len(new_call_id())
    29
    """
    return f"call_{os.urandom(12).hex()}"


def written_id(id_factory: Callable[[], object]) -> str:
    """Make an id by what the caller gave, as text: whoever takes calls refuses other ids.

    >>> written_id(lambda: 5)
    '5'
    """
    return str(id_factory())


class ReadOption(TypedDict, total=False):
    """The options by name, for type checkers: `Extractor(split_reasoning=True)`. `ReadOptions` says what each means."""

    on_unknown_tool: OnUnknownTool
    formats: Formats
    coerce_arguments: bool
    repair: bool
    split_reasoning: bool
    starts_reasoning: bool
    progress: bool
    limits: Limits
    id_factory: Callable[[], str]


@dataclass(frozen=True, kw_only=True, repr=False)
class ReadOptions:
    """How outputs are read. An options value never changes, and may be shared.

    >>> from llama3_tools import Extractor
    >>> options = ReadOptions(split_reasoning=True)
    >>> Extractor(options=options).extract("<think>Easy.</think>42").reasoning
    'Easy.'

    Raises:
        TypeError: `formats` is not a list of names, `limits` is not a `Limits`, `id_factory` is not a function, or a
            flag is not a bool.
        ValueError: `on_unknown_tool` or a format does not exist, or a limit is too low.
    """

    on_unknown_tool: OnUnknownTool = "text"
    """With tools declared, what happens to a call of any other name: `"text"` leaves it in the content and reports a
    rejection, `"call"` lets it through, so that an agent can answer it. With `"retry"`, `llama3_tools.chat`
    asks the model again, and lets the call through after the last retry, unless nobody answers such calls. Elsewhere,
    it is `"text"`."""
    formats: tuple[FormatName, ...] | Formats = None
    """The forms of calls to read, by name, or `"all"`. `None`: `json` and `function`; for declared tools `pythonic`,
    too, and `code` if `code_interpreter` is one. `"none"`: no calls; only reasoning is taken out of the text."""
    coerce_arguments: bool = False
    """Whether arguments are made to fit the schema of their tool, as the function of that name does it. What was
    changed, and what still does not fit, is on the call. It needs declared tools."""
    repair: bool = False
    """Whether a malformed object that calls a declared tool, is closed, and can be read in one way only is repaired.
    The call's `repaired_from` is what the model wrote. It needs declared tools."""
    split_reasoning: bool = False
    """Whether thoughts, such as `<think>…</think>`, are split off as `reasoning`, rather than kept in the content."""
    starts_reasoning: bool = False
    """Whether the output begins inside reasoning, as the prompt ends with `<think>`."""
    progress: bool = False
    """Whether a stream says how far a call has come: `CallProgress` events."""
    limits: Limits = DEFAULT_LIMITS
    """How deep, how long and how many calls may be. A call beyond that is text."""
    id_factory: Callable[[], str] = field(default=new_call_id)
    """Makes the id of each call. Ids must be unique in a conversation, and become `str`s."""

    def __post_init__(self) -> None:
        """Check the options."""
        require_words({"on_unknown_tool": self.on_unknown_tool}, on_unknown_tool=OnUnknownTool)
        if not callable(self.id_factory):
            raise TypeError(f"id_factory is called without arguments for each id; {self.id_factory!r} cannot be called")
        require_bool(
            coerce_arguments=self.coerce_arguments,
            repair=self.repair,
            split_reasoning=self.split_reasoning,
            starts_reasoning=self.starts_reasoning,
            progress=self.progress,
        )
        object.__setattr__(self, "formats", require_formats(self.formats))
        require_limits(self.limits)

    def __repr__(self) -> str:
        """Return what differs from the defaults.

        >>> ReadOptions(repair=True, split_reasoning=False)
        ReadOptions(repair=True)
        """
        return shown_changes(self, _DEFAULTS)


def shown_changes(options: Any, defaults: Any) -> str:  # noqa: ANN401 (dataclasses)
    """Return how options would be written in Python, without what is as in the defaults."""
    given = ((one.name, getattr(options, one.name)) for one in fields(options))
    changed = (f"{name}={value!r}" for name, value in given if value != getattr(defaults, name))
    return f"{type(options).__name__}({', '.join(changed)})"


_DEFAULTS = ReadOptions()


def read_options(options: ReadOptions | None, changes: Mapping[str, Any]) -> ReadOptions:
    """Return options with single ones changed.

    >>> read_options(None, {"repair": True})
    ReadOptions(repair=True)

    Args:
        options: those to start from. `None`: `ReadOptions()`.
        changes: single options, which go before those in `options`.

    Raises:
        TypeError: `options` is not a `ReadOptions`, there is no such option, or it has the wrong type.
        ValueError: an option has a value that it cannot have.
    """
    if options is not None:
        require_type("options", options, ReadOptions)
    chosen = options or _DEFAULTS
    return replace(chosen, **changes) if changes else chosen
