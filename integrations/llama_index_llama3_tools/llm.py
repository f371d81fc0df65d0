"""Any LLM as a function calling one: the tools go into the prompt, and the calls come out of the text."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.llms import (
    LLM,
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    LLMMetadata,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool

from llama3_tools import Formats, Limits, OnUnknownTool, PromptFormat
from llama3_tools.chat.toolset import kept_toolset
from llama3_tools.formats import require_formats
from llama3_tools.limits import DEFAULT_LIMITS
from llama3_tools.prompts.placement import ToolsIn
from llama3_tools.text.escaping import escape_invisible
from llama_index_llama3_tools.errors import LLMRequestError
from llama_index_llama3_tools.hints import NO_RESPONSE, explained
from llama_index_llama3_tools.history import ToolRole
from llama_index_llama3_tools.messages import conversation
from llama_index_llama3_tools.native import native_calls
from llama_index_llama3_tools.options import ToolLLMOptions, ToolMode
from llama_index_llama3_tools.prompting import with_tool_prompt
from llama_index_llama3_tools.streaming import astream_responses, stream_responses
from llama_index_llama3_tools.tools import read_tools
from llama_index_llama3_tools.turn import ToolTurn, read_tool_choice

__all__ = ["Llama3ToolLLM"]


class Llama3ToolLLM(ToolLLMOptions):
    """Makes any LLM of LlamaIndex one that calls tools, for `FunctionAgent` and all that asks for such an LLM.

    The model is shown its tools in the words that Llama 3.1 was trained on. The calls in its answer, whole or streamed,
    become `ToolCallBlock`s, each as soon as its last character is in; no piece of their JSON is in a delta. Calls that
    the server finds itself are taken as they are. The history is sent as text, which no chat template breaks on; the
    messages given are never changed. Without tools (`chat`, `complete`, …) the LLM answers as it always does.

    It keeps no state between requests: many agents may share it.

    >>> from llama_index.core.llms import MockLLM
    >>> from llama_index.core.tools import FunctionTool
    >>> def get_weather(city: str) -> str:
    ...     "Tell the weather of a city."
    ...     return f"Sun in {city}"
    >>> llm = Llama3ToolLLM(MockLLM())  # it repeats what it is told
    >>> answer = 'Let me check. {"name": "get_weather", "parameters": {"city": "Rome"}}'
    >>> tools = [FunctionTool.from_defaults(get_weather)]
    >>> response = llm.chat_with_tools(tools, answer)
    >>> llm.get_tool_calls_from_response(response)[0].tool_kwargs
    {'city': 'Rome'}
    >>> thinking = Llama3ToolLLM(MockLLM(), split_reasoning=True)
    >>> thinking.chat_with_tools(tools, f"<think>Hm.</think>{answer}").message.blocks[0].content
    'Hm.'

    Args:
        llm: the LLM that answers; one for chats or one that completes text.
        tool_mode: `"prompt"`: the tools go into the prompt, and nothing into the request's `tools`. `"native"`: they go
            through the LLM's own tool calling, and what comes back as text is read all the same. `"auto"`: native where
            the LLM's metadata says `is_function_calling_model`, else the prompt.
        tools_in: the message that shows the tools: the first of the user, or the system message. Llama 3.1 does worse
            with the latter.
        tool_role: the role in which results are sent back: `"tool"`, or `"user"` for servers that know no such role.
            LlamaIndex has no messages of the role `ipython`; the templates of Llama 3.1 write `tool` as that.
        prompt_format: the form in which the model is asked to call, and shown the calls that it made.
        on_unknown_tool: what a call of a tool that was not given is: a `"call"`, which the agent answers with "Tool …
            not found", or `"text"`.
        coerce_arguments: whether arguments are made to fit the schemas of their tools, without guessing; those of calls
            that the server found, too. The message's `additional_kwargs["coerced_arguments"]` says what was changed
            and what does not fit, and so is the model told with the tool's result.
        formats: the forms of calls to read beside `prompt_format`, by name, or `"all"`; `None`: as `Extractor` has it;
            `"none"`: no call is read.
        lenient: whether calls under keys that no manual has are read, too. `additional_kwargs["coerced_arguments"]`
            says which.
        repair: whether malformed calls are repaired where they are closed. The same place says what
            the model wrote.
        split_reasoning: whether `<think>…</think>` is no text, but reasoning: a `ThinkingBlock` in the message, a
            `thinking_delta` in streams; also in answers without tools. The model is not sent it again.
        starts_reasoning: whether the model's output begins inside reasoning, as the prompt ends with `<think>`. Not so,
            where the server has split reasoning off itself. Without it, a call that such a model only thinks of is run.
        limits: how deep, how long and how many calls of an answer may be. What goes beyond is text.
        max_parse_retries: how many times a model is shown what was wrong and asked again: one that failed to write any
            call, or (with `coerce_arguments`) wrote one whose arguments do not fit. After that, the call is run.
        **kwargs: the fields that all LLMs have; what is not given is taken from `llm`.

    Raises:
        TypeError: `llm` is no LLM of LlamaIndex, an option is none, or what is true or false is neither.
        ValueError: an option has a value that it does not know, or a limit is too low (a `ValidationError` is one).
    """

    def __init__(  # noqa: PLR0913 (its options, each by name)
        self,
        llm: LLM,
        *,
        tool_mode: ToolMode = "auto",
        tools_in: ToolsIn = "user",
        tool_role: ToolRole = "tool",
        prompt_format: PromptFormat = "json",
        on_unknown_tool: OnUnknownTool = "call",
        coerce_arguments: bool = True,
        formats: Formats = None,
        lenient: bool = False,
        repair: bool = False,
        split_reasoning: bool = False,
        starts_reasoning: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        max_parse_retries: int = 0,
        **kwargs: Any,  # noqa: ANN401 (the fields of all LLMs)
    ) -> None:
        super().__init__(
            llm=llm,
            tool_mode=tool_mode,
            tools_in=tools_in,
            tool_role=tool_role,
            prompt_format=prompt_format,
            on_unknown_tool=on_unknown_tool,
            coerce_arguments=coerce_arguments,
            formats=require_formats(formats),
            lenient=lenient,
            repair=repair,
            split_reasoning=split_reasoning,
            starts_reasoning=starts_reasoning,
            limits=limits,
            max_parse_retries=max_parse_retries,
            **kwargs,
        )

    @classmethod
    def class_name(cls) -> str:
        """Return the name that it has where it is serialised."""
        return "Llama3ToolLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The metadata of the LLM inside, which now calls functions."""
        return self.llm.metadata.model_copy(update={"is_function_calling_model": True})

    def chat_with_tools(  # noqa: PLR0913, PLR0917 (the framework's signature)
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,  # noqa: FBT001, FBT002 (the same)
        allow_parallel_tool_calls: bool = False,  # noqa: FBT001, FBT002 (the same)
        tool_required: bool = False,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> ChatResponse:
        """Ask a model that may call tools.

        Args:
            tools: the tools.
            user_msg: what the user says, after the history.
            chat_history: the conversation so far; it is not changed.
            verbose: for an LLM with native tool calls.
            allow_parallel_tool_calls: whether an answer may hold more than one call; if not, the first one counts.
            tool_required: whether the model is told to call a tool.
            **kwargs: `tool_choice` (`"auto"`, `"required"` or `True`, `"none"`, a tool's name, or a dict of OpenAI's or
                Anthropic's), and all that is for the LLM.

        Raises:
            LLMRequestError: the LLM refuses tools or gives no answer, in a way about which there is something to say.
            ToolDefinitionError: two tools have one name, one has none or is its server's own, or `tool_choice` names
                none.
            TypeError: `tools` is no list of tools, `chat_history` no list of messages, or `user_msg` neither a text
                nor a message.
        """
        options = _Options(verbose, allow_parallel_tool_calls, tool_required, kwargs)
        request = self._begin(tools, user_msg, chat_history, options)
        ask = self._native_llm().chat_with_tools if request.is_native else self.llm.chat
        with explained(self.llm):
            response = request.turn.read(ask(**request.arguments))
            while request.turn.retry():
                response = request.turn.read(ask(**request.arguments))
        return response

    async def achat_with_tools(  # noqa: PLR0913, PLR0917 (the framework's signature)
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,  # noqa: FBT001, FBT002 (the same)
        allow_parallel_tool_calls: bool = False,  # noqa: FBT001, FBT002 (the same)
        tool_required: bool = False,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> ChatResponse:
        """Ask a model that may call tools; see `chat_with_tools`."""
        options = _Options(verbose, allow_parallel_tool_calls, tool_required, kwargs)
        request = self._begin(tools, user_msg, chat_history, options)
        ask = self._native_llm().achat_with_tools if request.is_native else self.llm.achat
        with explained(self.llm):
            response = request.turn.read(await ask(**request.arguments))
            while request.turn.retry():
                response = request.turn.read(await ask(**request.arguments))
        return response

    def stream_chat_with_tools(  # noqa: PLR0913, PLR0917 (the framework's signature)
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,  # noqa: FBT001, FBT002 (the same)
        allow_parallel_tool_calls: bool = False,  # noqa: FBT001, FBT002 (the same)
        tool_required: bool = False,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> ChatResponseGen:
        """Ask a model that may call tools, and stream the answer; see `chat_with_tools`.

        `delta` is text alone, and `message` holds each call as soon as it is complete. What a retry gives
        (`max_parse_retries`) comes after the answer that failed; as long as there may be one, calls come at the end
        of the answer, so that none is taken back.
        """
        options = _Options(verbose, allow_parallel_tool_calls, tool_required, kwargs)
        request = self._begin(tools, user_msg, chat_history, options)
        ask = self._native_llm().stream_chat_with_tools if request.is_native else self.llm.stream_chat
        return self._stream(request, ask)

    async def astream_chat_with_tools(  # noqa: PLR0913, PLR0917 (the framework's signature)
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,  # noqa: FBT001, FBT002 (the same)
        allow_parallel_tool_calls: bool = False,  # noqa: FBT001, FBT002 (the same)
        tool_required: bool = False,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> ChatResponseAsyncGen:
        """Ask a model that may call tools, and stream the answer; see `stream_chat_with_tools`."""
        options = _Options(verbose, allow_parallel_tool_calls, tool_required, kwargs)
        request = self._begin(tools, user_msg, chat_history, options)
        ask = self._native_llm().astream_chat_with_tools if request.is_native else self.llm.astream_chat
        return self._astream(request, ask)

    def get_tool_calls_from_response(
        self,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401, ARG002 (the same)
    ) -> list[ToolSelection]:
        """Return the calls of a response as what LlamaIndex runs. Arguments that are no JSON object are no call.

        Args:
            response: what one of the methods with tools gave.
            error_on_no_tool_call: whether a response without a call is an error.
            **kwargs: not used.

        Raises:
            ValueError: there is no call, and `error_on_no_tool_call`.
        """
        selections = [
            ToolSelection(tool_id=call.id, tool_name=call.name, tool_kwargs=call.arguments)
            for call in native_calls(response.message)
            if call.name and isinstance(call.arguments, dict)
        ]
        if not selections and error_on_no_tool_call:
            written = escape_invisible(repr(response.message.content))
            raise ValueError(f"Expected a tool call, but the model wrote none: {written}")
        return selections

    def predict_and_call(
        self,
        tools: Sequence[BaseTool],
        *args: Any,  # noqa: ANN401 (the framework's arguments)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> AgentChatResponse:
        """Ask a model that may call tools, and run the call. A call of another tool is text here: nobody answers it."""
        return FunctionCallingLLM.predict_and_call(self._knowing_only_given_tools(), tools, *args, **kwargs)

    async def apredict_and_call(
        self,
        tools: Sequence[BaseTool],
        *args: Any,  # noqa: ANN401 (the framework's arguments)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> AgentChatResponse:
        """Ask a model that may call tools, and run the call; see `predict_and_call`."""
        return await FunctionCallingLLM.apredict_and_call(self._knowing_only_given_tools(), tools, *args, **kwargs)

    def _prepare_chat_with_tools(  # noqa: PLR0913, PLR0917 (the framework's signature)
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,  # noqa: FBT001, FBT002 (the same)
        allow_parallel_tool_calls: bool = False,  # noqa: FBT001, FBT002 (the same)
        tool_required: bool = False,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> dict[str, Any]:
        """Return what the LLM inside is asked with, as the framework wants it from each such LLM."""
        options = _Options(verbose, allow_parallel_tool_calls, tool_required, kwargs)
        return self._begin(tools, user_msg, chat_history, options).arguments

    def _begin(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None,
        chat_history: list[ChatMessage] | None,
        options: _Options,
    ) -> _Request:
        kwargs = dict(options.kwargs)
        given_choice = kwargs.pop("tool_choice", None)
        toolset = read_tools(tools, may_repeat=True)
        choice = read_tool_choice(given_choice, toolset.declared, is_required=options.is_required)
        if choice == "none":
            toolset = kept_toolset(())
        messages = conversation(chat_history, user_msg)
        is_native = bool(toolset.declared) and self._is_native()
        if is_native:
            kwargs |= {
                "tools": tools,
                "verbose": options.verbose,
                "allow_parallel_tool_calls": options.is_parallel,
                "tool_required": options.is_required,
            }
            # What `True` is, no LLM knows; a dict may be of the server's own.
            kwargs |= {"tool_choice": choice if given_choice is True else given_choice} if given_choice else {}
        elif toolset.declared:
            prompt = toolset.prompt(self.prompt_format, choice)
            messages = with_tool_prompt(messages, prompt, tools_in=self.tools_in)
        turn = ToolTurn(
            self._flatten(messages),
            tools=toolset,
            on_unknown_tool=self.on_unknown_tool,
            prompt_format=self.prompt_format,
            only_first=not options.is_parallel,
            is_required=choice not in {"auto", "none"},
            coerce_arguments=self.coerce_arguments,
            reading=self._reading(),
            retries=self.max_parse_retries,
        )
        return _Request(turn, is_native, kwargs)

    def _is_native(self) -> bool:
        if self.tool_mode != "auto":
            return self.tool_mode == "native"
        metadata = self.llm.metadata
        return (
            isinstance(self.llm, FunctionCallingLLM) and metadata.is_function_calling_model and metadata.is_chat_model
        )

    def _native_llm(self) -> FunctionCallingLLM:
        if not isinstance(self.llm, FunctionCallingLLM):
            raise LLMRequestError(
                f'tool_mode="native" needs an LLM with tool calls of its own, and {type(self.llm).__name__} is none: '
                'take tool_mode="prompt"'
            )
        return self.llm

    def _knowing_only_given_tools(self) -> Llama3ToolLLM:
        return self.model_copy(update={"on_unknown_tool": "text"})

    def _stream(self, request: _Request, ask: Callable[..., ChatResponseGen]) -> Generator[ChatResponse, None, None]:
        while True:
            answer, response = request.turn.stream(), None
            with explained(self.llm, answer):
                for response in stream_responses(ask(**request.arguments), answer):
                    yield response
            if response is None:
                raise LLMRequestError(NO_RESPONSE)
            if not request.turn.retry():
                return

    async def _astream(
        self, request: _Request, ask: Callable[..., Awaitable[ChatResponseAsyncGen]]
    ) -> AsyncGenerator[ChatResponse, None]:
        while True:
            answer, response = request.turn.stream(), None
            with explained(self.llm, answer):
                async with aclosing(astream_responses(await ask(**request.arguments), answer)) as responses:
                    async for response in responses:
                        yield response
            if response is None:
                raise LLMRequestError(NO_RESPONSE)
            if not request.turn.retry():
                return


@dataclass(frozen=True, slots=True)
class _Options:
    """What the framework asks for beside tools and messages."""

    verbose: bool
    is_parallel: bool
    is_required: bool
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Request:
    """A turn, and how the LLM inside is asked."""

    turn: ToolTurn
    is_native: bool
    kwargs: dict[str, Any]

    @property
    def arguments(self) -> dict[str, Any]:
        # A list of its own for each request: OpenAI's LLM, for one, appends to what it is given.
        messages = "chat_history" if self.is_native else "messages"
        return {messages: list(self.turn.messages), **self.kwargs}
