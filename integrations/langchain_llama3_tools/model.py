# ruff: noqa: ANN401, SLF001  # what a model overrides takes anything, and LangChain marks it with an underscore
"""The model wrapper: any chat model with a Llama 3 behind it, as one that calls tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LangSmithParams, LanguageModelInput
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.aiter import aclosing
from pydantic import ConfigDict, Field, field_validator, model_validator
from typing_extensions import Self

from langchain_llama3_tools.chunks import MessageChunks, as_chunk
from langchain_llama3_tools.hints import NO_RESPONSE, explained
from langchain_llama3_tools.history import ToolRole, flatten_tool_messages
from langchain_llama3_tools.invalid import InvalidCalls, OnInvalid
from langchain_llama3_tools.messages import V1Blocks, read_message
from langchain_llama3_tools.native_calls import NativeCalls
from langchain_llama3_tools.native_streams import gathered_chunks
from langchain_llama3_tools.options import checked_bool, require_fields
from langchain_llama3_tools.prompting import (
    LangChainToolChoice,
    ToolsIn,
    put_tools,
    read_tool_choice,
)
from langchain_llama3_tools.reading import Extractors
from langchain_llama3_tools.tools import LangChainToolLike, to_openai_tools
from llama3_tools import (
    FormatName,
    Formats,
    Limits,
    OnUnknownTool,
    PromptFormat,
    new_call_id,
)
from llama3_tools.chat.toolset import kept_toolset
from llama3_tools.errors import a_type
from llama3_tools.formats import require_formats
from llama3_tools.limits import DEFAULT_LIMITS, loaded_limits
from llama3_tools.prompts.render import formats_asked_for

__all__ = ["Llama3ToolModel"]

_TAKEN_OVER = (
    "cache",
    "callbacks",
    "custom_get_token_ids",
    "disable_streaming",
    "metadata",
    "name",
    "output_version",
    "rate_limiter",
    "tags",
    "verbose",
)
"""What LangChain does around a model's answer. It is done here, around the wrapper, and so once."""

_OPTIONS = {
    "tools_in",
    "tool_role",
    "prompt_format",
    "on_invalid",
    "on_unknown_tool",
    "coerce_arguments",
    "formats",
    "lenient",
    "repair",
    "split_reasoning",
    "starts_reasoning",
    "limits",
}
"""On which an answer depends."""

_SERVER_PROMISES = frozenset({"strict", "parallel_tool_calls"})
"""What a request may say of tools that are in it; refused by servers if there are none."""


class Llama3ToolModel(BaseChatModel):
    """A chat model that calls tools, around one whose calls come as text.

    Give it to whatever binds tools to a model: an agent, a graph, `with_structured_output`. The tools that are bound go
    into the prompt, and never into the request; calls that the model writes come out as `tool_calls`, the text without
    them in `content`, in a stream too, and their arguments fit the tools' schemas where they can be made to. Calls that
    the server finds are calls as well. Calls and results of earlier turns go back as text. Without tools, or with
    `tool_choice="none"`, answers are left as they are, save for the reasoning that is split off.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> def get_weather(city: str) -> str:
    ...     "The weather of a city."
    ...     return "sunny"
    >>> llm = FakeListChatModel(responses=['Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}'])
    >>> message = Llama3ToolModel(llm).bind_tools([get_weather]).invoke("How is the weather in Paris?")
    >>> message.content, message.tool_calls[0]["args"]
    ('Let me check.', {'city': 'Paris'})

    Usage, ids, metadata, cache and callbacks are those of the model inside, counted once. So are errors: the text of
    one ends with what to do about it, where that is known.
    """

    llm: BaseChatModel
    """The model. What is set on it, such as its temperature, its cache or its callbacks, holds."""
    tools_in: ToolsIn = "user"
    """Where the tools are shown: before the first `"user"` message, as Llama 3.1 was trained, or in the `"system"`
    message."""
    tool_role: ToolRole = "user"
    """The role in which results are sent back: `"user"` passes every template, `"tool"` is what servers expect of
    OpenAI's clients, `"ipython"` is Llama 3.1's own, which few servers take."""
    prompt_format: PromptFormat = "json"
    """The form in which the model is asked to call. Others are read, too: see `formats`."""
    on_invalid: OnInvalid = "collect"
    """What becomes of a malformed call, whose text stays in the content in any case: as in
    `Llama3JsonToolOutputParser`."""
    on_unknown_tool: OnUnknownTool = "call"
    """What becomes of a call of a tool that is not bound: it is a `"call"`, which LangChain answers with the names that
    are valid, or it stays `"text"`."""
    coerce_arguments: bool = True
    """Whether arguments are made to fit the schemas of their tools, as in `Llama3JsonToolOutputParser`."""
    formats: tuple[FormatName, ...] | None = None
    """The forms of calls to read beside that of the prompt, as there; with `"none"`, no call is read."""
    lenient: bool = False
    """Whether calls under keys that no manual has are read, too, as there."""
    repair: bool = False
    """Whether a malformed call of a tool that is bound is repaired where it is closed, as there."""
    split_reasoning: bool = False
    """Whether `<think>…</think>` is split off the content, as there; of answers without tools, too."""
    starts_reasoning: bool = False
    """Whether the model's text begins inside reasoning, as its template ends the prompt with `<think>`. Without it, a
    call that such a model only thinks of is a call."""
    limits: Limits = DEFAULT_LIMITS
    """How deep, how long and how many calls of an answer may be, as there."""
    id_factory: Callable[[], str] = Field(default=new_call_id, exclude=True)
    """Makes the id of each call; ids must be unique in a conversation."""

    model_config = ConfigDict(extra="forbid")

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913 (an option each)
            self,
            llm: BaseChatModel,
            *,
            tools_in: ToolsIn = "user",
            tool_role: ToolRole = "user",
            prompt_format: PromptFormat = "json",
            on_invalid: OnInvalid = "collect",
            on_unknown_tool: OnUnknownTool = "call",
            coerce_arguments: bool = True,
            formats: Formats = None,
            lenient: bool = False,
            repair: bool = False,
            split_reasoning: bool = False,
            starts_reasoning: bool = False,
            limits: Limits = DEFAULT_LIMITS,
            id_factory: Callable[[], str] = new_call_id,
            **options: Any,
        ) -> None: ...
    else:

        def __init__(self, llm: BaseChatModel, **options: Any) -> None:
            require_fields(type(self), options, BaseChatModel)
            if isinstance(llm, BaseChatModel):
                options = {name: getattr(llm, name) for name in _TAKEN_OVER if hasattr(llm, name)} | options
            super().__init__(llm=llm, **options)

    @field_validator("llm", mode="before")
    @classmethod
    def _check_llm(cls, llm: object) -> object:
        if isinstance(llm, BaseChatModel):
            return llm
        if isinstance(llm, Runnable):
            hint = ": wrap the chat model itself, and bind or chain what comes out"
        else:
            hint = ": expected a chat model, such as ChatOpenAI(…)"
        raise ValueError(f"llm is {a_type(llm)}{hint}")

    _check_bools = field_validator(
        "coerce_arguments", "lenient", "repair", "split_reasoning", "starts_reasoning", mode="before"
    )(checked_bool)

    @field_validator("formats", mode="before")
    @classmethod
    def _check_formats(cls, formats: Formats) -> tuple[str, ...] | None:
        return require_formats(formats)

    @field_validator("limits", mode="before")
    @classmethod
    def _check_limits(cls, limits: object) -> Limits:
        return loaded_limits(limits)

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        Extractors(self, kept_toolset(()))
        return self

    def bind_tools(
        self,
        tools: Sequence[LangChainToolLike],
        *,
        tool_choice: LangChainToolChoice = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return a model that may call these tools.

        Args:
            tools: all that LangChain takes for a tool.
            tool_choice: `"auto"` (or `None`), `"any"` (or `"required"`, `True`), `"none"`, or the name of a tool. It is
                an instruction in the prompt: nothing holds a model to it.
            **kwargs: bound to the model inside. `strict` and `parallel_tool_calls` are left out: no tools are sent
                that they could be about.

        Raises:
            TypeError: `tools` is no list of tools.
            ToolDefinitionError: a tool cannot be converted, its parameters are no JSON Schema, two that differ have one
                name, or `tool_choice` is none of them.
        """
        converted = to_openai_tools(tools, allow_repeats=True)
        choice = read_tool_choice(tool_choice, [tool["function"]["name"] for tool in converted])
        kwargs = {name: value for name, value in kwargs.items() if name not in _SERVER_PROMISES}
        return self.bind(tools=converted, tool_choice=choice, **kwargs)

    def get_token_ids(self, text: str) -> list[int]:
        """Return the tokens of a text, as the model inside counts them."""
        return self.llm.get_token_ids(text)

    @property
    def _llm_type(self) -> str:
        return "llama3-tools"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        options = self.model_dump(include=_OPTIONS)
        return {**self.llm._identifying_params, **options, "llm": self.llm._llm_type}

    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        # What a cache knows a model by: the one inside tells its address there, which its parameters do not.
        return f"{self.llm._get_llm_string()}---{super()._get_llm_string(stop, **kwargs)}"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.llm._get_ls_params(stop=stop, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        # The base class tells the callbacks what is given back. Told by `llm.invoke` too, they would count it twice.
        turn, llm = _Turn(self, messages, kwargs), self.llm
        del run_manager
        with explained(llm, self.tool_role):
            if llm._should_stream(async_api=False, **turn.kwargs):  # as one with `streaming=True` does in `invoke`
                result = generate_from_stream(turn.gathered(llm._stream(turn.messages, stop, **turn.kwargs)))
            else:
                result = llm._generate(turn.messages, stop, **turn.kwargs)
        return turn.read(result)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn, llm = _Turn(self, messages, kwargs), self.llm
        del run_manager
        with explained(llm, self.tool_role):
            if llm._should_stream(async_api=True, **turn.kwargs):
                chunks = [chunk async for chunk in llm._astream(turn.messages, stop, **turn.kwargs)]
                result = generate_from_stream(turn.gathered(iter(chunks)))
            else:
                result = await llm._agenerate(turn.messages, stop, **turn.kwargs)
        return turn.read(result)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        turn, llm = _Turn(self, messages, kwargs), self.llm
        del run_manager
        try:
            with explained(llm, self.tool_role):
                if llm._should_stream(async_api=False, **{**turn.kwargs, "stream": True}):
                    for chunk in llm._stream(turn.messages, stop, **turn.kwargs):
                        yield from turn.feed(chunk)
                else:
                    yield from turn.feed(_whole(llm._generate(turn.messages, stop, **turn.kwargs)))
        except Exception:
            yield from turn.release()
            raise
        yield from turn.flush()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        turn, llm = _Turn(self, messages, kwargs), self.llm
        del run_manager
        try:
            with explained(llm, self.tool_role):
                if llm._should_stream(async_api=True, **{**turn.kwargs, "stream": True}):
                    async with aclosing(llm._astream(turn.messages, stop, **turn.kwargs)) as chunks:
                        async for chunk in chunks:
                            for read in turn.feed(chunk):
                                yield read
                else:
                    for read in turn.feed(_whole(await llm._agenerate(turn.messages, stop, **turn.kwargs))):
                        yield read
        except Exception:
            for read in turn.release():
                yield read
            raise
        for read in turn.flush():
            yield read


class _Turn:
    """One request and its answer: what goes to the model inside, and how that which comes back is read."""

    def __init__(self, model: Llama3ToolModel, messages: list[BaseMessage], kwargs: dict[str, Any]) -> None:
        """Prepare the request.

        Args:
            model: has the options.
            messages: the conversation.
            kwargs: the request's settings; `tools` and `tool_choice`, as bound, are taken out.
        """
        self.kwargs = dict(kwargs)
        given, choice = self.kwargs.pop("tools", None), self.kwargs.pop("tool_choice", None)
        tools = kept_toolset(given or [], to_openai_tools)
        declared = tools.declared
        choice = read_tool_choice(choice, declared)
        may_call = bool(declared) and choice != "none"
        self._reads = may_call or model.split_reasoning
        if may_call:
            messages = put_tools(messages, tools.prompt(model.prompt_format, choice), model.tools_in)
        self.messages = flatten_tool_messages(messages, tool_role=model.tool_role, prompt_format=model.prompt_format)
        extractors = Extractors(model, tools, formats_asked_for(model.prompt_format, model.formats, tools=declared))
        counted = declared if model.on_unknown_tool == "text" else None
        self._extractors = extractors if may_call else extractors.without_calls or extractors
        self._invalid_calls = InvalidCalls(model.on_invalid if may_call else "text", model.id_factory, counted)
        self._native_calls = NativeCalls(model.id_factory, extractors.coercers, model.limits)
        self._chunks = MessageChunks(self._extractors, self._invalid_calls, self._native_calls)
        self._blocks = V1Blocks() if model.output_version == "v1" else None
        self._told: ChatGenerationChunk | None = None
        self._began = False

    def read(self, result: ChatResult) -> ChatResult:
        """Read a whole answer."""
        if not self._reads:
            return result
        generations = []
        for generation in result.generations:
            message = self._blocks.list_content(generation.message) if self._blocks else generation.message
            info = generation.generation_info
            message = read_message(message, self._extractors, self._invalid_calls, self._native_calls, told=info)
            generations.append(ChatGeneration(message=message, generation_info=info))
        return ChatResult(generations=generations, llm_output=result.llm_output)

    def gathered(self, chunks: Iterator[ChatGenerationChunk]) -> Iterator[ChatGenerationChunk]:
        """Return the chunks of an answer that is wanted whole, so that their sum completes no call."""
        return gathered_chunks(chunks, self._native_calls.as_written()) if self._reads else chunks

    def feed(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        """Read the next chunk of an answer."""
        self._began = True
        if not self._reads:
            yield chunk
            return
        if chunk.generation_info:
            self._chunks.note_end(chunk.generation_info)
            told = ChatGenerationChunk(message=AIMessageChunk(content=""), generation_info=chunk.generation_info)
            self._told = self._told + told if self._told else told
        message = self._blocks.list_content(chunk.message) if self._blocks else chunk.message
        yield from self._generated(self._chunks.feed(message))

    def flush(self) -> Iterator[ChatGenerationChunk]:
        """Read the end of an answer.

        Raises:
            ValueError: there was none.
        """
        if not self._began:
            raise ValueError(NO_RESPONSE)
        yield from self._generated(self._chunks.flush())

    def release(self) -> Iterator[ChatGenerationChunk]:
        """Yield what is held back, of an answer that breaks off."""
        yield from self._generated(self._chunks.release())

    def _generated(self, messages: Iterator[AIMessage]) -> Iterator[ChatGenerationChunk]:
        """Put what the model tells beside a chunk's message on the next chunk that goes out, once."""
        for message in messages:
            told, self._told = self._told, None
            chunk = as_chunk(message)
            if self._blocks is not None:  # or LangChain lists the calls of this chunk once more
                chunk.response_metadata["output_version"] = "v1"
            yield ChatGenerationChunk(message=chunk, generation_info=told.generation_info if told else None)


def _whole(result: ChatResult) -> ChatGenerationChunk:
    """Return a whole answer as one chunk, for a model that does not stream."""
    generation = result.generations[0]
    message = generation.message
    info = {**(result.llm_output or {}), **(generation.generation_info or {})}
    return ChatGenerationChunk(message=as_chunk(message), generation_info=info or None)
