# ruff: noqa: ANN401, FBT001, FBT002  # the framework's signatures
"""Any LLM as a function calling one: the tools go into the prompt, and the calls come out of the text."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Any

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import Field, SerializeAsAny, WithJsonSchema, field_serializer, field_validator
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.llms import (
    LLM,
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.tools import BaseTool
from llama_index.core.types import BaseOutputParser, PydanticProgramMode

from llama3_tools import Limits
from llama3_tools.chat import ChatOption, ChatOptions, Request, chat_options, kept_chat
from llama3_tools.errors import a_type
from llama3_tools.text import escape_invisible
from llama_index_llama3_tools.messages import conversation, require_messages, to_dicts, to_messages
from llama_index_llama3_tools.tools import accepting, as_tools, rename_tools, tool_dicts
from llama_index_llama3_tools.turns import Listeners, Turn, dispatcher

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Llama3ToolLLM"]


class _Option(ChatOption, total=False):
    """The options by name, and what `predict` and the like look up on the LLM that they are called on."""

    callback_manager: CallbackManager
    rate_limiter: Any
    system_prompt: str | None
    messages_to_prompt: Any
    completion_to_prompt: Any
    output_parser: BaseOutputParser | None
    pydantic_program_mode: PydanticProgramMode
    query_wrapper_prompt: BasePromptTemplate | None


_OF_REQUESTS = {"callback_manager", "rate_limiter"}
"""What the LLM inside reports its requests by, and waits for."""


class Llama3ToolLLM(FunctionCallingLLM):
    """Makes any LLM of LlamaIndex one that calls tools, for `FunctionAgent` and all that asks for such an LLM.

    The model is shown its tools in the words that Llama 3.1 was trained on. The calls in its answer, whole or streamed,
    become `ToolCallBlock`s, each as soon as its last character is in; no piece of their JSON is in a delta. The history
    is sent as text; the messages given are never changed. Without tools (`chat`, `complete`, …) the LLM answers as it
    always does. `docs/chat.md` says which calls run, and when the model is asked again.

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
        options: how conversations are held. `None`: `ChatOptions()`. With `tools_in="request"`, the tools go through
            the LLM's own tool calling; what comes back as text is read all the same. LlamaIndex has no messages of the
            role `ipython`.
        **kwargs: single options, those of `ReadOptions` among them, which go before those in `options`; and the fields
            that all LLMs have: what is not given is taken from `llm`. A `callback_manager` or `rate_limiter` given is
            that of a copy of `llm`.

    Raises:
        TypeError: `llm` is no LLM of LlamaIndex, there is no such option, or it has the wrong type.
        ValueError: an option has a value that it cannot have.
    """

    llm: SerializeAsAny[LLM] = Field(description="The LLM that answers.")
    options: Annotated[ChatOptions, WithJsonSchema({"type": "object"})] = Field(
        description="How conversations are held, by name."
    )

    def __init__(self, llm: LLM, *, options: ChatOptions | None = None, **kwargs: Unpack[_Option]) -> None:
        of_llm = {name: value for name, value in kwargs.items() if name in LLM.model_fields}
        changes = {name: value for name, value in kwargs.items() if name not in of_llm}
        inherited = {name: getattr(llm, name) for name in LLM.model_fields if hasattr(llm, name)}
        super().__init__(llm=llm, options=_options(options, changes), **{**inherited, **of_llm})
        if given := {name: value for name, value in kwargs.items() if name in _OF_REQUESTS}:
            self.llm = self.llm.model_copy(update=given)
        if not getattr(llm, "is_chat_model", True) and "is_chat_model" not in llm.model_fields_set:
            warnings.warn(
                f"{type(llm).__name__} completes text, and does not chat: set is_chat_model=True, as most servers "
                "chat. is_chat_model=False says that it is meant",
                stacklevel=2,
            )

    def __setattr__(self, name: str, value: object) -> None:
        """Set a field; what requests are reported by and wait for, on the LLM inside too."""
        super().__setattr__(name, value)
        if name in _OF_REQUESTS:
            setattr(self.llm, name, value)

    @field_validator("llm", mode="before")
    @classmethod
    def _load(cls, llm: object) -> LLM:
        """Take an LLM, or the dict of one that LlamaIndex can load."""
        if isinstance(llm, dict):
            from llama_index.core.llms.loading import load_llm  # noqa: PLC0415 (it imports every LLM that is installed)

            return load_llm(llm)
        if not isinstance(llm, LLM):
            raise TypeError(f"llm must be an LLM of LlamaIndex, such as OpenAILike(…), not {a_type(llm)}")
        return llm

    @field_serializer("options")
    def _dump(self, options: ChatOptions) -> dict[str, Any]:
        """Return the options by name, but for the function that makes ids."""
        named = {one.name: getattr(options, one.name) for one in fields(options) if one.name != "read"}
        of_reading = {one.name: getattr(options.read, one.name) for one in fields(options.read)}
        return {**named, **{name: value for name, value in of_reading.items() if name != "id_factory"}}

    @classmethod
    def class_name(cls) -> str:
        """Return the name that it has where it is serialised."""
        return "Llama3ToolLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The metadata of the LLM inside, which now calls functions."""
        return self.llm.metadata.model_copy(update={"is_function_calling_model": True})

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Let the LLM answer a conversation without tools. Calls and results in the history are sent as text."""
        return self._plain(messages, kwargs).whole("chat")

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Let the LLM answer a conversation without tools; see `chat`."""
        return await self._plain(messages, kwargs).awhole("achat")

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        return self._plain(messages, kwargs).stream("stream_chat")

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        return self._plain(messages, kwargs).astream("astream_chat")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Let the LLM complete a text."""
        return self._completing(prompt, formatted=formatted, **kwargs).whole("complete")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Let the LLM complete a text."""
        return await self._completing(prompt, formatted=formatted, **kwargs).awhole("acomplete")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Let the LLM stream the completion of a text."""
        return self._completing(prompt, formatted=formatted, **kwargs).stream("stream_complete")

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """Let the LLM stream the completion of a text."""
        return self._completing(prompt, formatted=formatted, **kwargs).astream("astream_complete")

    @dispatcher.span
    def chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponse:
        """Ask a model that may call tools.

        Args:
            tools: the tools.
            *args: `user_msg`, what the user says; `chat_history`, what was said before; and what comes after these in
                LlamaIndex. No message is changed.
            **kwargs: these by name; `allow_parallel_tool_calls`, whether an answer may have more than one call (if not,
                the first one counts); `tool_required`, whether the model is told to call a tool; `tool_choice`
                (`"auto"`, `"required"` or `True`, `"none"`, a tool's name, or a dict of OpenAI's or Anthropic's); and
                all that is for the LLM.

        Raises:
            NotImplementedError: `tools_in="request"`, and the LLM calls no tools itself.
            ToolDefinitionError: two tools have one name, one has none or is its server's own, or `tool_choice` names
                none.
            TypeError: `tools` is no list of tools, `chat_history` no list of messages, or `user_msg` neither a text
                nor a message.
        """
        return self._with_tools(tools, *args, **kwargs).whole("chat")

    @dispatcher.span
    async def achat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponse:
        """Ask a model that may call tools; see `chat_with_tools`."""
        return await self._with_tools(tools, *args, **kwargs).awhole("achat")

    @dispatcher.span
    def stream_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponseGen:
        """Ask a model that may call tools, and stream the answer; see `chat_with_tools`.

        `delta` is text alone, and `message` holds each call as soon as it is certain that it runs. If the model is
        asked again, its new answer follows the first one.
        """
        return self._with_tools(tools, *args, **kwargs).stream("stream_chat")

    @dispatcher.span
    async def astream_chat_with_tools(
        self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Ask a model that may call tools, and stream the answer; see `stream_chat_with_tools`."""
        return self._with_tools(tools, *args, **kwargs).astream("astream_chat")

    def get_tool_calls_from_response(
        self,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,
        **kwargs: Any,  # noqa: ARG002 (the framework's signature)
    ) -> list[ToolSelection]:
        """Return the calls of a response as what LlamaIndex runs.

        Args:
            response: what one of the methods with tools gave.
            error_on_no_tool_call: whether a response without a call is an error.
            **kwargs: not used.

        Raises:
            ValueError: there is no call, and `error_on_no_tool_call`.
        """
        made = [
            ToolSelection(tool_id=block.tool_call_id or "", tool_name=block.tool_name, tool_kwargs=block.tool_kwargs)
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock) and isinstance(block.tool_kwargs, dict)
        ]
        if not made and error_on_no_tool_call:
            refused = response.message.additional_kwargs.get("refused_tool_calls", ())
            why = "".join(f"; {call['name']}: {call['detail']}" for call in refused)
            written = escape_invisible(repr(response.message.content))
            raise ValueError(f"Expected a tool call, but the model wrote none: {written}{why}")
        return made

    def predict_and_call(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> AgentChatResponse:
        """Ask a model that may call tools, and run the call. A call of another tool is text here: nobody answers it."""
        return FunctionCallingLLM.predict_and_call(self._knowing_only_given_tools(), as_tools(tools), *args, **kwargs)

    async def apredict_and_call(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> AgentChatResponse:
        """Ask a model that may call tools, and run the call; see `predict_and_call`."""
        knowing = self._knowing_only_given_tools()
        return await FunctionCallingLLM.apredict_and_call(knowing, as_tools(tools), *args, **kwargs)

    def _structured_stream_call(self, output_cls: type[Any], *args: Any, **kwargs: Any) -> Generator[Any, None, None]:
        """Yield the object, at the end of the stream. In the framework's own method, no call is due.

        Raises:
            ValueError: there is none.
        """
        [response] = deque(self._due(output_cls, *args, **kwargs).stream("stream_chat"), maxlen=1)
        yield output_cls.model_validate(self.get_tool_calls_from_response(response)[0].tool_kwargs)

    async def _structured_astream_call(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """Return what yields the object; see `_structured_stream_call`."""
        return self._objects(*args, **kwargs)

    async def _objects(self, output_cls: type[Any], *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        last = deque[ChatResponse](maxlen=1)
        async for response in self._due(output_cls, *args, **kwargs).astream("astream_chat"):
            last.append(response)
        yield output_cls.model_validate(self.get_tool_calls_from_response(last[0])[0].tool_kwargs)

    def _due(
        self,
        output_cls: type[Any],
        prompt: BasePromptTemplate,
        llm_kwargs: Mapping[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Turn[ChatResponse]:
        messages = self._extend_messages(prompt.format_messages(llm=self, **prompt_args))
        settings = {**(llm_kwargs or {}), "tool_choice": "required", "allow_parallel_tool_calls": False}
        tools: list[BaseTool] = [get_function_tool(output_cls)]
        return Llama3ToolLLM._with_tools(self._knowing_only_given_tools(), tools, chat_history=messages, **settings)

    def _prepare_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return what the LLM inside is asked with, as the framework wants it from each such LLM."""
        _, settings, request = self._asked(tools, *args, **kwargs)
        return {"messages": to_messages(request.messages), **settings}

    def _with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> Turn[ChatResponse]:
        messages, settings, request = self._asked(tools, *args, **kwargs)
        listeners = Listeners({"class_name": self.class_name(), **self.metadata.model_dump()}, messages)
        return Turn(self.llm, settings, request, is_read=True, listeners=listeners)

    def _asked(  # noqa: PLR0913, PLR0917 (the framework's signature)
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        tool_choice: object = None,
        **kwargs: Any,
    ) -> tuple[list[ChatMessage], dict[str, Any], Request]:
        """Return the conversation, what the LLM is asked with beside its messages, and the request."""
        tools = list(tools) if isinstance(tools, Iterator) else tools
        chat = kept_chat(tool_dicts(tools, may_repeat=True), self.options)
        if tool_required and tool_choice in (None, False, "auto"):
            tool_choice = "required"
        messages = conversation(chat_history, user_msg)
        request = chat.request(
            to_dicts(messages),
            tool_choice=tool_choice,
            parallel_tool_calls=allow_parallel_tool_calls,
            accepts=accepting(tools),
        )
        if request.tools:
            kwargs |= {
                "tools": rename_tools(tools, request),
                "verbose": verbose,
                "allow_parallel_tool_calls": request.choice.parallel,
                "tool_required": tool_required,
            }
            if request.tool_choice != "auto":
                kwargs["tool_choice"] = request.tool_choice
        return messages, kwargs, request

    def _completing(self, prompt: str, **settings: Any) -> Turn[CompletionResponse]:
        return Turn(self.llm, {"prompt": prompt, **settings})

    def _plain(self, messages: object, settings: Mapping[str, Any]) -> Turn[ChatResponse]:
        options = replace(self.options, max_retries=0)
        request = kept_chat((), options).request(to_dicts(require_messages(messages)))
        return Turn(self.llm, settings, request, is_read=self.options.read.split_reasoning)

    def _knowing_only_given_tools(self) -> Llama3ToolLLM:
        read = replace(self.options.read, on_unknown_tool="text")
        return self.model_copy(update={"options": replace(self.options, read=read)})


def _options(options: ChatOptions | Mapping[str, Any] | None, changes: Mapping[str, Any]) -> ChatOptions:
    """Return the options, which may be a dict of what was serialised.

    Args:
        options: those to start from.
        changes: single options.

    Raises:
        TypeError: there is no such option, or it has the wrong type.
        ValueError: an option has a value that it cannot have.
    """
    if isinstance(options, Mapping):
        limits = {"limits": Limits(*options["limits"])} if "limits" in options else {}
        return _options(None, {**options, **limits, **changes})
    chosen = chat_options(options, changes)
    if chosen.tool_role == "ipython":
        raise ValueError('LlamaIndex has no role "ipython": use tool_role="user" or "tool"')
    return chosen
