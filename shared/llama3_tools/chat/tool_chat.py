"""The way in to the chat layer: tools that are read once, and prepare the requests of conversations with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

from llama3_tools.chat.answer_reader import AnswerReader
from llama3_tools.chat.call_order import CallOrder
from llama3_tools.chat.due_call import DueCall
from llama3_tools.chat.history import HistoryOptions, answered_calls, flatten_history
from llama3_tools.chat.messages import Message, require_messages
from llama3_tools.chat.misfits import ArgumentChecks, ClassCheck
from llama3_tools.chat.options import ChatOption, ChatOptions, chat_options
from llama3_tools.chat.report import Reply
from llama3_tools.chat.request import Request
from llama3_tools.chat.stream import ChatStream
from llama3_tools.chat.tool_choice import RequestedChoice, read_tool_choice
from llama3_tools.chat.tool_names import ToolNames
from llama3_tools.chat.tool_prompt import put_tools
from llama3_tools.errors import require_options
from llama3_tools.extractor import Extractor
from llama3_tools.options import ReadOptions, new_call_id
from llama3_tools.prompts import PromptFormat, render_tool_prompt
from llama3_tools.prompts.complaints import Complaints, render_complaints
from llama3_tools.prompts.render import formats_asked_for, is_after_heading
from llama3_tools.reader.rules import coercer_of
from llama3_tools.tools import Tool, ToolLike, declare_tools
from llama3_tools.tools.choice import ToolChoice
from llama3_tools.values import ToolCall

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MOST_KEPT = 64
"""How many chats are kept: those that were asked for last."""


class ToolChat:
    """Prepares requests with tools and reads the answers, for a model whose calls come as text. Shared freely.

    It never changes: threads and tasks may share it, and it can be pickled if its options can.

    >>> tools = [{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]
    >>> chat = ToolChat(tools)
    >>> request = chat.request([{"role": "user", "content": "How is the weather in Paris?"}])
    >>> print(request.messages[0]["content"].splitlines()[-1])
    How is the weather in Paris?
    >>> answer = 'Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}'
    >>> reply = request.read({"role": "assistant", "content": answer}, "stop")
    >>> reply.content, reply.tool_calls[0].arguments, reply.finish_reason
    ('Let me check.', {'city': 'Paris'}, 'tool_calls')
    """

    def __init__(
        self,
        tools: Iterable[ToolLike] | None = (),
        options: ChatOptions | None = None,
        **changes: Unpack[ChatOption],
    ) -> None:
        """Declare the tools.

        Args:
            tools: the tools, as tool dicts or `Tool`s. Without any, nothing in text is a call. `None`: the tools are
                not known, none is shown, and any name may be called.
            options: how conversations are held. `None`: `ChatOptions()`.
            **changes: single options, those of `ReadOptions` among them, which go before those in `options`.

        Raises:
            TypeError: `tools` is not a list of tools, `options` is not a `ChatOptions`, there is no such option, or it
                has the wrong type.
            ToolDefinitionError: a declaration that cannot be read.
            ValueError: an option has a value that it cannot have, or `repair` has no `tools` to go by.
        """
        require_options("ToolChat", changes, ChatOption.__optional_keys__)
        chosen = chat_options(options, changes)
        declared = None if tools is None else declare_tools(tools)
        self._set_up(declared, chosen, ToolNames(declared or {}))

    def _set_up(
        self,
        declared: dict[str, Tool] | None,
        options: ChatOptions,
        names: ToolNames,
    ) -> None:
        self.options = options
        """How conversations are held."""
        self._prompt_format: PromptFormat = options.prompt_format or "json"
        self._declared = declared
        self._tools = tools = declared or {}
        self._names = names
        is_in_request = options.tools_in == "request"
        self.shown_name: Callable[[str], str] = names.allowed if is_in_request else str
        """Returns the name by which the model knows a tool: one that APIs allow, if the tools are in the request."""
        self.shown_tools: Mapping[str, Tool] = {
            name: replace(tool, name=names.allowed(name)) if is_in_request else tool for name, tool in tools.items()
        }
        """The tools by name, as the model is shown them."""
        shown = {tool.name: tool for tool in self.shown_tools.values()}
        self._complaints = Complaints({**self.shown_tools, **shown}, self._prompt_format)
        self._prompts: dict[ToolChoice, str] = {}
        self._checks = ArgumentChecks(tools)
        readable = None if declared is None else self._names.readable(tools)
        self._calling = self._reader(readable, tools, options.read)
        self._silent = self._reader([], {}, replace(options.read, on_unknown_tool="text"))

    def __getstate__(self) -> tuple[dict[str, Tool] | None, ChatOptions, ToolNames]:
        """Return what it is made of, to copy or pickle it."""
        return self._declared, self.options, self._names

    def __setstate__(self, state: tuple[dict[str, Tool] | None, ChatOptions, ToolNames]) -> None:
        """Set up from what `__getstate__` returned."""
        self._set_up(*state)

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools by name."""
        return dict(self._tools)

    def prompt(self, tool_choice: object = "auto") -> str:
        """Return the tools as the model is shown them; nothing without tools, or with `"none"`.

        >>> ToolChat([{"name": "now"}]).prompt("required").splitlines()[-1]
        'Call a function in your reply.'

        Args:
            tool_choice: as `request` takes it.

        Raises:
            ToolDefinitionError: `tool_choice` names no tool that is there.
        """
        choice = read_tool_choice(tool_choice, self._tools)
        chat = self if choice.allowed is None else self._only(choice.allowed)
        return chat._prompt(choice.tool_choice)  # noqa: SLF001 (the same class)

    def request(  # noqa: PLR0913 (options, each by its name)
        self,
        messages: Sequence[Message],
        *,
        tool_choice: object = "auto",
        parallel_tool_calls: bool | None = True,
        class_check: ClassCheck | None = None,
        output_tools: Collection[str] = (),
        answers_unknown: bool = True,
    ) -> Request:
        """Prepare a request.

        Args:
            messages: the conversation, in OpenAI's form or with Anthropic's `tool_use` and `tool_result` parts. It is
                left as it is.
            tool_choice: `"auto"`, `"required"` or `"any"`, `"none"`, a tool's name, or a dict of OpenAI's or
                Anthropic's. In the prompt it is only an instruction. If it names a tool, a call
                of another one does not run. With `"none"`, the model is shown no tool, and nothing that it writes is a
                call.
            parallel_tool_calls: whether an answer may have more than one call. If not, the first one counts. `None`
                is `True`.
            class_check: what a framework's own class says of a tool's arguments. `None`: the schemas decide.
            output_tools: the tools that run nothing, as their arguments are the answer. If any tool has to be
                called, an object alone that fits one of them is a call of it.
            answers_unknown: whether the program answers a call of an undeclared tool, as frameworks do. With
                `on_unknown_tool="retry"`, it then gets such a call after the last retry; otherwise that stays text.

        Raises:
            TypeError: `messages` is not a list of dicts, the content of one is neither text nor a list of parts, or an
                option is of another type.
            ToolDefinitionError: `tool_choice` names no tool that is there.
        """
        messages = require_messages(messages)
        if parallel_tool_calls is not None and not isinstance(parallel_tool_calls, bool):
            raise TypeError(f"parallel_tool_calls must be True, False or None, not {parallel_tool_calls!r}")
        choice = read_tool_choice(tool_choice, self._tools)
        chat = self if choice.allowed is None else self._only(choice.allowed)
        choice = replace(choice, parallel=choice.parallel and parallel_tool_calls is not False)
        for_model = chat._messages_for_model(messages, choice, class_check)  # noqa: SLF001 (the same class)
        answered = answered_calls(messages, chat._names.own)  # noqa: SLF001
        return Request(chat, choice, for_model, class_check, output_tools, answers_unknown, answered)

    def _begin(self, request: Request) -> ChatStream:
        """Begin to read an answer to one of its requests."""
        choice, class_check, may_retry = request.choice, request.class_check, request.may_retry

        def misfits(call: ToolCall) -> list[str]:
            return self._misfits(call.name, call.arguments, class_check) if may_retry else []

        order = CallOrder(
            parallel=choice.parallel,
            repeated_calls=self.options.repeated_calls,
            misfits=misfits,
            answered=request.answered,
        )
        reader = self._reader_for(request)
        due = self._due(request, reader)
        return ChatStream(reader, order, request.earlier, due, may_retry=may_retry, is_due=request.is_due)

    def _complain(self, request: Request, reply: Reply) -> str:
        """Say what was wrong with an answer to one of its requests, to ask the model again."""
        told = [(self.shown_name(call.name) or None, call.told) for call in reply.report.refused]
        alone = request.choice.tool or (next(iter(self._tools)) if len(self._tools) == 1 else None)
        nothing = self._complaints.of_nothing(alone)
        return render_complaints(told, is_due=request.is_due) or nothing

    def _due(self, request: Request, reader: AnswerReader) -> DueCall | None:
        """Return what takes a bare object for the call that is due; `None` if none is due."""
        if not request.is_due:
            return None
        name = request.choice.tool
        is_one_of_several = name is None and len(self._tools) > 1
        names = request.output_tools if is_one_of_several else [name] if name else self._tools
        tools = [self._tools[one] for one in names if one in self._tools]

        def misfits(name: str, arguments: dict[str, Any]) -> list[str]:
            placeholders = self._complaints.placeholders_in(name, arguments)
            return placeholders or self._checks.misfits(name, arguments, request.class_check)

        return DueCall(tools, reader, misfits, must_be_whole_answer=is_one_of_several) if tools else None

    def _reader_for(self, request: Request) -> AnswerReader:
        """Return what reads the answers to a request."""
        choice = request.choice
        if choice.tool_choice == "none":
            return self._silent
        if choice.tool is not None:
            return replace(self._calling, chosen=choice.tool)
        asks_again = request.may_retry or not request.answers_unknown
        if asks_again or self.options.read.on_unknown_tool != "retry" or self._declared is None:
            return self._calling
        return self._letting_unknown

    @cached_property
    def _letting_unknown(self) -> AnswerReader:
        """What reads an answer after the last retry: undeclared tools may be called."""
        read = replace(self.options.read, on_unknown_tool="call")
        return self._reader(self._names.readable(self._tools), self._tools, read)

    def _only(self, names: Sequence[str]) -> ToolChat:
        """Return the same for some of the tools, by the names that they have among all; no others can be called."""
        options = replace(self.options, read=replace(self.options.read, on_unknown_tool="text"))
        chat = ToolChat.__new__(ToolChat)
        chat.__setstate__(({name: self._tools[name] for name in names}, options, self._names))
        return chat

    def _reader(self, readable: Sequence[Tool] | None, tools: Mapping[str, Tool], read: ReadOptions) -> AnswerReader:
        is_free = not tools and read.on_unknown_tool != "text"  # the server may know other tools
        if readable is None or is_free:
            read = replace(read, on_unknown_tool="call", coerce_arguments=False)
        if self.options.prompt_format is not None:
            read = replace(read, formats=formats_asked_for(self._prompt_format, read.formats, tools=tools))
        options = replace(read, formats="none") if readable == [] else read
        extractor = without_start = Extractor(readable, options=options)
        if read.starts_reasoning:
            without_start = Extractor(readable, options=replace(options, starts_reasoning=False))
        coercers = {name: coercer_of(tool) for name, tool in tools.items()} if read.coerce_arguments else {}
        return AnswerReader(extractor, without_start, tools, coercers, read, self._names, self._complaints)

    def _messages_for_model(
        self, messages: Sequence[Message], choice: RequestedChoice, class_check: ClassCheck | None
    ) -> list[dict[str, Any]]:
        options = self.options
        if options.tools_in != "request" and (prompt := self._prompt(choice.tool_choice)):
            messages = put_tools(messages, prompt, options.tools_in)
        how = HistoryOptions(
            tool_role=options.tool_role,
            prompt_format=self._prompt_format,
            shown_name=self.shown_name,
            misfits=partial(self._misfits, class_check=class_check),
            complaints=self._complaints_of,
            is_due=choice.is_due,
        )
        return flatten_history(messages, how)

    def _prompt(self, tool_choice: ToolChoice) -> str:
        """Return the tools, rendered once for each choice."""
        if not self._tools or tool_choice == "none":
            return ""
        if tool_choice not in self._prompts:
            self._prompts[tool_choice] = render_tool_prompt(
                self.shown_tools.values(),
                prompt_format=self._prompt_format,
                tool_choice=self.shown_name(tool_choice) if tool_choice in self._tools else tool_choice,
            )
        return self._prompts[tool_choice]

    def _misfits(self, name: str, arguments: dict[str, Any], class_check: ClassCheck | None) -> list[str]:
        return self._checks.misfits(name, arguments, class_check) if self.options.read.coerce_arguments else []

    def _complaints_of(self, text: str, called: Collection[str]) -> list[tuple[str | None, str]]:
        """Say what was wrong with the calls in a text that the model wrote in an earlier turn.

        A tool that it called beside them is left out: the call may be the malformed one, written again.
        """
        reader = self._calling
        extractor = reader.without_start if self.options.read.split_reasoning else reader.extractor
        return [
            (one.name, self._complaints.of_unread(one.name, one.reason, one.detail))
            for one in extractor.extract(text).rejections
            if reader.reports(one)
            and self._names.own(one.name or "") not in called
            and not is_after_heading(text, one.span[0])
        ]


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
