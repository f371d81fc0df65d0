"""One turn of a model that has tools: what it is shown, how its answers are read, when it is asked again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import final

from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole

from llama3_tools import Extraction, OnUnknownTool, PromptFormat, ToolChoice, ToolDefinitionError
from llama3_tools.chat.toolset import Toolset
from llama3_tools.prompts.render import formats_asked_for
from llama_index_llama3_tools.arguments import ToolSchemas
from llama_index_llama3_tools.history import flatten_messages
from llama_index_llama3_tools.messages import (
    AnyResponse,
    as_chat_response,
    assistant_message,
    has_native_calls,
    promote_message,
)
from llama_index_llama3_tools.native import NativeCall, NativeCalls, native_calls, without_native_calls
from llama_index_llama3_tools.output import FailedToolCall, failed_tool_calls
from llama_index_llama3_tools.reading import Reading
from llama_index_llama3_tools.reasoning import without_thinking_delta
from llama_index_llama3_tools.streaming import ResponseStream

__all__ = ["ToolTurn", "TurnStream", "read_tool_choice"]

_BROKEN = (
    "Your last reply holds a function call that cannot be read:\n{errors}\n"
    "Write the whole call again, in the format that you were given."
)
_MISFIT = (
    "Your last reply holds a function call whose arguments do not fit:\n{misfits}\n"
    "Write the whole reply again, with arguments that fit."
)
_MISSING = "Your last reply holds no function call. Call a function, in the format that you were given."


def read_tool_choice(tool_choice: object, names: Collection[str], *, is_required: bool) -> ToolChoice:
    """Read a tool choice, a name or a dict of OpenAI's or Anthropic's, into `auto`, `required`, `none` or a name.

    >>> read_tool_choice({"type": "function", "function": {"name": "now"}}, ["now"], is_required=False)
    'now'
    >>> read_tool_choice({"type": "tool", "name": "now"}, ["now"], is_required=False)
    'now'
    >>> read_tool_choice(None, ["now"], is_required=True)
    'required'

    Args:
        tool_choice: what the user asked for.
        names: the tools; without any, a choice of one is not looked up.
        is_required: whether `auto` means that a tool has to be called.

    Raises:
        ToolDefinitionError: it names no tool that is there.
    """
    choice = tool_choice
    if isinstance(choice, Mapping):
        named = choice.get("function", choice)
        choice = (named.get("name") if isinstance(named, Mapping) else named) or choice.get("type")
    if not choice or choice == "auto":
        return "required" if is_required else "auto"
    if choice is True or choice in ("any", "required"):
        return "required"
    if isinstance(choice, str) and (choice == "none" or choice in names or not names):
        return choice
    raise ToolDefinitionError(
        f'tool_choice {tool_choice!r} is none of "auto", "any", "required", "none" and the tools: {", ".join(names)}'
    )


@final
class ToolTurn:
    """One turn, with as many tries as it may take.

    Args:
        messages: what the model is shown.
        tools: the tools that it may call; none where it shall call none.
        on_unknown_tool: what a call of another one is.
        prompt_format: the form in which it was asked to call them.
        only_first: whether all calls but the first are dropped.
        is_required: whether an answer without a call is a failure.
        coerce_arguments: whether arguments are made to fit the schemas of their tools.
        reading: how else the text is read.
        retries: how many times a model that failed to write a call, or one that fits, is asked again.
    """

    def __init__(  # noqa: PLR0913 (each by name, from one caller)
        self,
        messages: list[ChatMessage],
        *,
        tools: Toolset,
        on_unknown_tool: OnUnknownTool,
        prompt_format: PromptFormat,
        only_first: bool,
        is_required: bool,
        coerce_arguments: bool,
        reading: Reading,
        retries: int,
    ) -> None:
        self.messages = messages
        """What the model is shown; it grows with each retry."""
        self.only_first = only_first
        declared = tools.declared
        self._names = None if on_unknown_tool == "call" else declared
        self._reading = replace(reading, formats=formats_asked_for(prompt_format, reading.formats, tools=declared))
        # A model without tools calls none, whatever it writes.
        self.reader = self._reading.reader(
            tools.extractor,
            on_unknown_tool=on_unknown_tool if declared else "text",
            coerce_arguments=coerce_arguments,
        )
        self._schemas = ToolSchemas(tools, depth=reading.limits.max_depth) if coerce_arguments else None
        self._prompt_format = prompt_format
        self._is_required = is_required
        self._retries = retries if declared else 0
        self._failure: list[ChatMessage] = []

    def native_calls(self) -> NativeCalls:
        """Return what settles the calls that the server finds in one answer."""
        limits = self._reading.limits
        return NativeCalls(only_first=self.only_first, names=self._names, limits=limits, schemas=self._schemas)

    def read(self, response: AnyResponse) -> ChatResponse:
        """Take a whole answer apart: its text calls become blocks, unless the server found calls itself."""
        chat = as_chat_response(response)
        text, message = chat.message.content or "", chat.message
        if has_native_calls(message):
            if self.reader.splits_reasoning:
                message = promote_message(message, self.reader.extract(chat))
            message = self.native_calls().settle(message, is_last=True)
            self.note(message, text, None)
        else:
            extraction = self.reader.extract(chat)
            kept = replace(extraction, tool_calls=extraction.tool_calls[:1]) if self.only_first else extraction
            message = promote_message(message, kept)
            self.note(message, text, extraction)
        return chat.model_copy(update={"message": message})

    def stream(self) -> TurnStream:
        """Return what takes one streamed answer apart."""
        return TurnStream(self)

    def note(self, message: ChatMessage, output: str, extraction: Extraction | None) -> None:
        """Note how an answer ended.

        Args:
            message: all of it, read.
            output: the text, as it came.
            extraction: what was extracted from that; `None` where the server found the calls itself.
        """
        self._failure = []
        if calls := native_calls(message):
            if complaint := self._misfits(calls):
                written = flatten_messages(
                    [message], prompt_format=self._prompt_format, drop_reasoning=self._reading.split_reasoning
                )
                self._failure = [*written, ChatMessage(role=MessageRole.USER, content=complaint)]
            return
        is_of_server = extraction is None
        if extraction is None:  # what is none of its calls stands in the text, as a model would write it
            output = message.content or ""
            extraction = self.reader.choose(has_reasoning=True, has_calls=False).extract(output)
        errors = failed_tool_calls(output, extraction)
        if errors or is_of_server or self._is_required:
            wrote = ChatMessage(role=MessageRole.ASSISTANT, content=message.content or "")
            self._failure = [wrote, ChatMessage(role=MessageRole.USER, content=_complaint(errors))]

    @property
    def holds_calls(self) -> bool:
        """Whether a call may still turn out to be one that the model is to write again."""
        return self._schemas is not None and self._retries > 0

    @property
    def has_failed(self) -> bool:
        """Whether the last answer is to be written again."""
        return bool(self._failure and self._retries)

    def retry(self) -> bool:
        """Return whether the model is asked again; if so, it is shown what it wrote and what was wrong with it."""
        if not self.has_failed:
            return False
        self._retries -= 1
        self.messages = [*self.messages, *self._failure]
        return True

    def _misfits(self, calls: Iterable[NativeCall]) -> str | None:
        """Say what does not fit in the arguments of calls, while the model may be asked again."""
        if self._schemas is None or not self._retries:
            return None
        lines = [
            f"- {call.name}: {misfit}"
            for call in calls
            if isinstance(call.arguments, dict)
            for misfit in self._schemas.misfits(call.name, call.arguments)
        ]
        return _MISFIT.format(misfits="\n".join(lines)) if lines else None


class TurnStream(ResponseStream):
    """One streamed answer of a turn; the calls that the server finds are fit to be run as soon as they are whole.

    Calls that may have to be written again are withheld until that is known.
    """

    def __init__(self, turn: ToolTurn) -> None:
        super().__init__(turn.reader, only_first=turn.only_first)
        self._turn = turn
        self._calls_of_server = turn.native_calls()
        self._latest: ChatResponse | None = None
        self._settled: str | None = None

    @property
    def output(self) -> str:
        """The model output so far; once flushed, with what the server did not find whole."""
        return super().output if self._settled is None else self._settled

    def feed(self, response: AnyResponse) -> ChatResponse:
        """Take the next response; see `ResponseStream.feed`."""
        self._latest = super().feed(response)
        return self._shown(self._latest, self._so_far(self._latest), withholds=self._turn.holds_calls)

    def flush(self, *, broke_off: bool = False) -> list[ChatResponse]:
        """End the answer; see `ResponseStream.flush`. A call that the server did not find whole is text by then."""
        responses = super().flush(broke_off=broke_off)
        if self._latest is None:
            return responses
        last = responses[-1] if responses else self._latest
        message, delta = last.message, last.delta if responses else ""
        given = self._so_far(self._latest)
        if self._native:
            message = self._calls_of_server.settle(message, is_last=True)
            self._settled, before = message.content or "", given.content or ""
            delta = self._settled[len(before) :] if self._settled.startswith(before) else ""
        withheld = self._turn.holds_calls
        self._turn.note(message, self.output, self.extraction)
        ending = self._shown(last, message, withholds=self._turn.has_failed)
        if not responses and ending.message == self._shown(last, given, withholds=withheld).message:
            return []
        kwargs = last.additional_kwargs if responses else without_thinking_delta(last.additional_kwargs)
        return [ending.model_copy(update={"delta": delta, "logprobs": None, "additional_kwargs": kwargs})]

    def _so_far(self, response: ChatResponse) -> ChatMessage:
        if not self._native:
            return response.message
        return self._calls_of_server.settle(response.message, is_last=False)

    @staticmethod
    def _shown(response: ChatResponse, message: ChatMessage, *, withholds: bool) -> ChatResponse:
        if withholds and has_native_calls(message):
            message = assistant_message(message.content, (), like=without_native_calls(message))
        elif message is response.message:
            return response
        return response.model_copy(update={"message": message})


def _complaint(errors: Iterable[FailedToolCall]) -> str:
    lines = "\n".join(f"- {error}" for error in errors)
    return _BROKEN.format(errors=lines) if lines else _MISSING
