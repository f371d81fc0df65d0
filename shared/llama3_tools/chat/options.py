"""How a conversation with tools works: every option, in one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from llama3_tools.chat.constraint import Constrain
from llama3_tools.errors import require_type, require_words
from llama3_tools.options import ReadOption, ReadOptions, read_options, shown_changes
from llama3_tools.prompts import PromptFormat

ToolsPlace: TypeAlias = Literal["user", "system", "request"]
"""Where the tools are shown: in the first user message, in the system message, or in the request, by the server."""

ToolRole: TypeAlias = Literal["user", "tool", "ipython"]
"""The role in which results are sent: `user` passes every template, `tool` is OpenAI's, `ipython` Meta's."""

RepeatedCalls: TypeAlias = Literal["report", "keep"]
"""What happens to a call that repeats the one before it: it is reported and does not run again, or it runs."""

OnInvalid: TypeAlias = Literal["collect", "raise"]
"""What an adapter's output parser does with a malformed call, which stays in the text: it collects the call, or raises
an exception."""

_READ = ReadOptions(on_unknown_tool="retry", coerce_arguments=True)


class ChatOption(ReadOption, total=False):
    """The options by name, for type checkers: `ToolChat(tools, tool_role="tool", repair=True)`.

    `ChatOptions` and `ReadOptions` say what each means.
    """

    read: ReadOptions
    tools_in: ToolsPlace
    tool_role: ToolRole
    prompt_format: PromptFormat | None
    repeated_calls: RepeatedCalls
    max_retries: int
    constrain: Constrain


@dataclass(frozen=True, kw_only=True, repr=False)
class ChatOptions:
    """How a conversation with tools works. An options value never changes, and may be shared.

    >>> ChatOptions(tool_role="tool").max_retries
    1

    Raises:
        TypeError: `read` is not a `ReadOptions`, or `max_retries` is not a whole number.
        ValueError: `max_retries` is negative, or another option is not one of its words.
    """

    read: ReadOptions = _READ
    """How the model's text is read. By default, it is
    `ReadOptions(on_unknown_tool="retry", coerce_arguments=True)`: after a call of an undeclared tool, the model is told
    the names of the tools, and arguments are made to fit. A call whose arguments still do not fit is a misfit, and the
    model is told so."""
    tools_in: ToolsPlace = "user"
    """Where the tools are shown: before the first `"user"` message, as Llama 3.1 was trained, in the `"system"`
    message, or in the `"request"`, if the server shows them to the model (`Request.tools` are for it)."""
    tool_role: ToolRole = "user"
    """The role in which results are sent back: `"user"` passes every template, `"tool"` is what servers expect of
    OpenAI's clients, `"ipython"` is Llama 3.1's own, which few servers take."""
    prompt_format: PromptFormat | None = "json"
    """The form in which the model is asked to call and shown its earlier calls. Other forms are read, too. With
    `"strict"`, each answer is one object with a message and a call or `null`: the message streams as text. `None`:
    something else wrote the prompt, and this chat only reads answers, in the forms of `read.formats`. If it is asked to
    write a prompt or calls anyway, it writes them as with `"json"`."""
    repeated_calls: RepeatedCalls = "report"
    """What happens to a call that repeats one directly before it, with text in between, or one that was just answered,
    with text after it: with `"report"`, it does not run again; with `"keep"`, it does."""
    max_retries: int = 1
    """How often in a row a model is asked to write a call again."""
    constrain: Constrain = "auto"
    """How the server is held to a call that is due, as the tool choice requires one, or to the strict response format:
    by a schema in OpenAI's `response_format` (`"json_schema"`), in that of llama-cpp-python's server (`"json_object"`),
    or not (`"off"`). With `"auto"`, adapters ask a server that refuses the schema without it from then on."""

    def __post_init__(self) -> None:
        """Check the options."""
        require_type("read", self.read, ReadOptions)
        words = {"tools_in": ToolsPlace, "tool_role": ToolRole, "repeated_calls": RepeatedCalls, "constrain": Constrain}
        if self.prompt_format is not None:
            words["prompt_format"] = PromptFormat
        require_words(vars(self), **words)
        if type(self.max_retries) is not int:
            raise TypeError(f"max_retries must be a whole number, not {self.max_retries!r}")
        if self.max_retries < 0:
            raise ValueError(f"max_retries must be 0 or more, not {self.max_retries}")

    def __repr__(self) -> str:
        """Return what differs from the defaults."""
        return shown_changes(self, _DEFAULTS)


_DEFAULTS = ChatOptions()
_OF_CHAT = tuple(one.name for one in fields(ChatOptions))


def chat_options(options: ChatOptions | None, changes: Mapping[str, Any]) -> ChatOptions:
    """Return options with single ones changed, those of reading by their own names, too.

    >>> chat_options(None, {"tool_role": "tool", "repair": True}).read.repair
    True

    Args:
        options: those to start from. `None`: `ChatOptions()`.
        changes: single options, which go before those in `options`.

    Raises:
        TypeError: `options` is not a `ChatOptions`, there is no such option, or it has the wrong type.
        ValueError: an option has a value that it cannot have.
    """
    if options is not None:
        require_type("options", options, ChatOptions)
    chosen = options or _DEFAULTS
    if not changes:
        return chosen
    chosen = replace(chosen, **{name: value for name, value in changes.items() if name in _OF_CHAT})
    of_reading = {name: value for name, value in changes.items() if name not in _OF_CHAT}
    return replace(chosen, read=read_options(chosen.read, of_reading))
