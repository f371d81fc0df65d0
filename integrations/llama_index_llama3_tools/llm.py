"""Any LLM as a function calling one: the tools go into the prompt, and the calls come out of the text."""

from __future__ import annotations

import json
import warnings
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from llama_index.core.base.llms.types import ThinkingBlock, ToolCallBlock
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
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.tools import BaseTool
from llama_index.core.types import BaseOutputParser, PydanticProgramMode

from llama3_tools import Limits
from llama3_tools.chat import ChatOption, ChatOptions, Request, ToolChat, chat_options, kept_chat
from llama3_tools.errors import a_type
from llama3_tools.text import escape_invisible
from llama_index_llama3_tools.answers import Answer, astream_responses, stream_responses
from llama_index_llama3_tools.hints import NO_RESPONSE, explain_errors
from llama_index_llama3_tools.messages import calls_of, conversation, require_messages, to_dicts, to_messages
from llama_index_llama3_tools.tools import as_tools, rename_tools, tool_dicts

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Llama3ToolLLM"]


class _Option(ChatOption, total=False):
    """The options by name, and what `predict` and the like look up on the LLM that they are called on."""

    callback_manager: CallbackManager
    system_prompt: str | None
    messages_to_prompt: Any
    completion_to_prompt: Any
    output_parser: BaseOutputParser | None
    pydantic_program_mode: PydanticProgramMode
    query_wrapper_prompt: BasePromptTemplate | None


_INHERITED = _Option.__annotations__.keys() - ChatOption.__annotations__.keys()
_Response = TypeVar("_Response", ChatResponse, CompletionResponse)
_ANY = ToolChat(None, max_retries=0).request([])
"""Reads the calls of messages that come from elsewhere."""


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
            that all LLMs have: what is not given is taken from `llm`.

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
        inherited = {name: getattr(llm, name) for name in _INHERITED if hasattr(llm, name)}
        super().__init__(llm=llm, options=_options(options, changes, llm), **{**inherited, **of_llm})
        if not getattr(llm, "is_chat_model", True) and "is_chat_model" not in llm.model_fields_set:
            warnings.warn(
                f"{type(llm).__name__} completes text, and does not chat: set is_chat_model=True, as most servers "
                "chat. is_chat_model=False says that it is meant",
                stacklevel=2,
            )

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

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ANN401 (the framework's signature)
        """Let the LLM answer a conversation without tools. Calls and results in the history are sent as text."""
        plain = self._without_tools(messages)
        with explain_errors(self.llm):
            return self._read(self.llm.chat(to_messages(plain.messages), **kwargs), plain)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ANN401 (the same)
        """Let the LLM answer a conversation without tools; see `chat`."""
        plain = self._without_tools(messages)
        with explain_errors(self.llm):
            return self._read(await self.llm.achat(to_messages(plain.messages), **kwargs), plain)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:  # noqa: ANN401 (the same)
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        plain = self._without_tools(messages)
        with explain_errors(self.llm):
            return self._pass_on(self.llm.stream_chat(to_messages(plain.messages), **kwargs), plain)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:  # noqa: ANN401 (the same)
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        plain = self._without_tools(messages)
        with explain_errors(self.llm):
            return self._apass_on(await self.llm.astream_chat(to_messages(plain.messages), **kwargs), plain)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM complete a text."""
        with explain_errors(self.llm):
            return self._read(self.llm.complete(prompt, formatted=formatted, **kwargs), self._without_tools(()))

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM complete a text."""
        with explain_errors(self.llm):
            response = await self.llm.acomplete(prompt, formatted=formatted, **kwargs)
            return self._read(response, self._without_tools(()))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:  # noqa: ANN401, FBT001, FBT002 (the same)
        """Let the LLM stream the completion of a text."""
        with explain_errors(self.llm):
            responses = self.llm.stream_complete(prompt, formatted=formatted, **kwargs)
            return self._pass_on(responses, self._without_tools(()))

    async def astream_complete(
        self,
        prompt: str,
        formatted: bool = False,  # noqa: FBT001, FBT002 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> CompletionResponseAsyncGen:
        """Let the LLM stream the completion of a text."""
        with explain_errors(self.llm):
            responses = await self.llm.astream_complete(prompt, formatted=formatted, **kwargs)
            return self._apass_on(responses, self._without_tools(()))

    def chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponse:  # noqa: ANN401 (the framework's arguments)
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
        settings, request = self._begin(tools, *args, **kwargs)
        with explain_errors(self.llm):
            while True:
                answer = Answer(request)
                response = answer.whole(self._ask("chat", settings, request))
                if (again := request.retry(answer.reply)) is None:
                    return response
                request = again

    async def achat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponse:  # noqa: ANN401 (the same)
        """Ask a model that may call tools; see `chat_with_tools`."""
        settings, request = self._begin(tools, *args, **kwargs)
        with explain_errors(self.llm):
            while True:
                answer = Answer(request)
                response = answer.whole(await self._ask("achat", settings, request))
                if (again := request.retry(answer.reply)) is None:
                    return response
                request = again

    def stream_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponseGen:  # noqa: ANN401 (the same)
        """Ask a model that may call tools, and stream the answer; see `chat_with_tools`.

        `delta` is text alone, and `message` holds each call as soon as it is certain that it runs. If the model is
        asked again, its new answer follows the first one.
        """
        return self._stream(*self._begin(tools, *args, **kwargs))

    async def astream_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        *args: Any,  # noqa: ANN401 (the same)
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> ChatResponseAsyncGen:
        """Ask a model that may call tools, and stream the answer; see `stream_chat_with_tools`."""
        return self._astream(*self._begin(tools, *args, **kwargs))

    def get_tool_calls_from_response(
        self,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,  # noqa: FBT001, FBT002 (the framework's signature)
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
        made = _selections(response.message)
        if not made and error_on_no_tool_call:
            written = escape_invisible(repr(response.message.content))
            raise ValueError(f"Expected a tool call, but the model wrote none: {written}")
        return made

    def predict_and_call(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> AgentChatResponse:  # noqa: ANN401 (the framework's arguments)
        """Ask a model that may call tools, and run the call. A call of another tool is text here: nobody answers it."""
        return FunctionCallingLLM.predict_and_call(self._knowing_only_given_tools(), as_tools(tools), *args, **kwargs)

    async def apredict_and_call(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> AgentChatResponse:  # noqa: ANN401 (the same)
        """Ask a model that may call tools, and run the call; see `predict_and_call`."""
        knowing = self._knowing_only_given_tools()
        return await FunctionCallingLLM.apredict_and_call(knowing, as_tools(tools), *args, **kwargs)

    def _prepare_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 (the same)
        """Return what the LLM inside is asked with, as the framework wants it from each such LLM."""
        settings, request = self._begin(tools, *args, **kwargs)
        return {"messages": to_messages(request.messages), **settings}

    def _begin(  # noqa: PLR0913, PLR0917 (the framework's signature)
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,  # noqa: FBT001, FBT002 (the same)
        allow_parallel_tool_calls: bool = False,  # noqa: FBT001, FBT002 (the same)
        tool_required: bool = False,  # noqa: FBT001, FBT002 (the same)
        tool_choice: object = None,
        **kwargs: Any,  # noqa: ANN401 (the same)
    ) -> tuple[dict[str, Any], Request]:
        """Return what the LLM is asked with beside the messages, and the request."""
        tools = list(tools) if isinstance(tools, Iterator) else tools
        chat = kept_chat(tool_dicts(tools, may_repeat=True), self.options)
        if tool_required and tool_choice in (None, False, "auto"):
            tool_choice = "required"
        messages = to_dicts(conversation(chat_history, user_msg))
        request = chat.request(messages, tool_choice=tool_choice, parallel_tool_calls=allow_parallel_tool_calls)
        if request.tools:
            kwargs |= {
                "tools": rename_tools(tools, request),
                "verbose": verbose,
                "allow_parallel_tool_calls": request.choice.parallel,
                "tool_required": tool_required,
            }
            if request.tool_choice != "auto":
                kwargs["tool_choice"] = request.tool_choice
        return kwargs, request

    def _ask(self, way: str, settings: dict[str, Any], request: Request) -> Any:  # noqa: ANN401 (what the LLM gives)
        """Ask the LLM inside: in the way of that name, or through its own tool calling."""
        messages = to_messages(request.messages)
        if not request.tools:
            return getattr(self.llm, way)(messages, **settings)
        if not isinstance(self.llm, FunctionCallingLLM):
            raise NotImplementedError(
                f'tools_in="request" needs an LLM that calls tools itself, and {type(self.llm).__name__} does not: '
                'use tools_in="user"'
            )
        return getattr(self.llm, f"{way}_with_tools")(chat_history=messages, **settings)

    def _stream(self, settings: dict[str, Any], first: Request) -> Generator[ChatResponse, None, None]:
        request: Request | None = first
        answer = None
        while request is not None:
            answer = Answer(request, after=answer)
            with explain_errors(self.llm):
                yield from stream_responses(self._ask("stream_chat", settings, request), answer)
            answer.require_responses()
            request = request.retry(answer.reply)

    async def _astream(self, settings: dict[str, Any], first: Request) -> AsyncGenerator[ChatResponse, None]:
        request: Request | None = first
        answer = None
        while request is not None:
            answer = Answer(request, after=answer)
            with explain_errors(self.llm):
                async with aclosing(
                    astream_responses(await self._ask("astream_chat", settings, request), answer)
                ) as responses:
                    async for response in responses:
                        yield response
            answer.require_responses()
            request = request.retry(answer.reply)

    def _knowing_only_given_tools(self) -> Llama3ToolLLM:
        read = replace(self.options.read, on_unknown_tool="text")
        return self.model_copy(update={"options": replace(self.options, read=read)})

    def _without_tools(self, messages: object) -> Request:
        return kept_chat((), self.options).request(to_dicts(require_messages(messages)))

    def _read(self, response: _Response, plain: Request) -> _Response:
        """Return an answer without tools, with reasoning apart."""
        if not self.options.read.split_reasoning:
            return response
        return _like(response, Answer(plain).whole(response))

    def _pass_on(self, responses: Iterable[_Response], plain: Request) -> Generator[_Response, None, None]:
        answer = _PlainStream[_Response](plain)
        with explain_errors(self.llm):
            yield from stream_responses(responses, answer)
        answer.require_responses()

    async def _apass_on(self, responses: AsyncIterable[_Response], plain: Request) -> AsyncGenerator[_Response, None]:
        answer = _PlainStream[_Response](plain)
        with explain_errors(self.llm):
            async with aclosing(astream_responses(responses, answer)) as responses_read:
                async for response in responses_read:
                    yield response
        answer.require_responses()


class _PlainStream(Generic[_Response]):
    """A streamed answer without tools: as it comes, or with reasoning apart."""

    def __init__(self, plain: Request) -> None:
        self._apart = Answer(plain) if plain.chat.options.read.split_reasoning else None
        self._last: _Response | None = None

    def require_responses(self) -> None:
        """Raise if there were none."""
        if self._last is None:
            raise ValueError(NO_RESPONSE)

    def feed(self, response: _Response, /) -> _Response:
        self._last = response
        return response if self._apart is None else _like(response, self._apart.feed(response))

    def end(self) -> list[_Response]:
        return self._ending(self._apart.end() if self._apart else [])

    def abort(self) -> list[_Response]:
        return self._ending(self._apart.abort() if self._apart else [])

    def _ending(self, responses: Iterable[ChatResponse]) -> list[_Response]:
        return [] if self._last is None else [_like(self._last, response) for response in responses]


def _like(response: _Response, chat: ChatResponse) -> _Response:
    """Return a chat response as the kind of response that it was made of; a completion has no blocks for reasoning."""
    if not isinstance(response, CompletionResponse):
        return chat
    given = {key: value for key, value in response.additional_kwargs.items() if key != "thinking_delta"}
    reasoning = "\n\n".join(block.content or "" for block in chat.message.blocks if isinstance(block, ThinkingBlock))
    kwargs = {**given, **chat.additional_kwargs, **({"thinking": reasoning} if reasoning else {})}
    changes = {"text": chat.message.content or "", "delta": chat.delta, "logprobs": chat.logprobs}
    return response.model_copy(update={**changes, "additional_kwargs": kwargs})


def _selections(message: ChatMessage) -> list[ToolSelection]:
    """Return the calls of a message. Agents ask for them with each response of a stream."""
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if blocks and all(map(_is_read, blocks)):
        made: list[Any] = [(block.tool_call_id, block.tool_name, block.tool_kwargs) for block in blocks]
    else:
        reply = _ANY.read({"tool_calls": calls_of(message)})
        made = [(call.id, call.name, call.arguments) for call in reply.tool_calls]
    return [ToolSelection(tool_id=call_id, tool_name=name, tool_kwargs=kwargs) for call_id, name, kwargs in made]


def _is_read(block: ToolCallBlock) -> bool:
    """Return whether a call is one that the chat layer could have read, as those of an `Answer` are."""
    if not block.tool_call_id or not block.tool_name or not isinstance(block.tool_kwargs, dict):
        return False
    try:
        json.dumps(block.tool_kwargs, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _options(options: ChatOptions | Mapping[str, Any] | None, changes: Mapping[str, Any], llm: object) -> ChatOptions:
    """Return the options, which may be a dict of what was serialised.

    Args:
        options: those to start from.
        changes: single options.
        llm: the LLM inside, which may have what is no option here.

    Raises:
        TypeError: there is no such option, or it has the wrong type.
        ValueError: an option has a value that it cannot have.
    """
    if isinstance(options, Mapping):
        limits = {"limits": Limits(*options["limits"])} if "limits" in options else {}
        return _options(None, {**options, **limits, **changes}, llm)
    elsewhere = {
        **dict.fromkeys(getattr(type(llm), "model_fields", ()), "set it on the LLM inside"),
        "tools": "pass the tools to the agent, or to chat_with_tools(tools, …)",
    }
    chosen = chat_options("Llama3ToolLLM", options, changes, elsewhere)
    if chosen.tool_role == "ipython":
        raise ValueError('LlamaIndex has no role "ipython": use tool_role="user" or "tool"')
    return chosen
