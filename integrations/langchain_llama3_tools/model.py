# ruff: noqa: ANN401, SLF001  # what a model overrides takes anything, and LangChain marks it with an underscore
"""The model wrapper: any chat model with a Llama 3 behind it, as one that calls tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from inspect import signature
from itertools import chain
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LangSmithParams, LanguageModelInput
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import add_usage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tools import BaseTool
from langchain_core.utils.aiter import aclosing
from pydantic import ConfigDict, InstanceOf, PrivateAttr, field_validator
from pydantic.fields import FieldInfo

from langchain_llama3_tools.accepting import accepting
from langchain_llama3_tools.answers import AnswerStream, read_answer, with_errors, with_reason
from langchain_llama3_tools.conversation import to_dicts, to_messages
from langchain_llama3_tools.hints import NO_RESPONSE, explain_errors
from langchain_llama3_tools.plain_errors import plain_errors
from langchain_llama3_tools.tools import LangChainToolChoice, LangChainToolLike, to_openai_tools
from llama3_tools.chat import ChatOption, ChatOptions, Request, chat_options, kept_chat
from llama3_tools.errors import a_type

if TYPE_CHECKING:
    from typing_extensions import Unpack

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


class Llama3ToolModel(BaseChatModel):
    """A chat model that calls tools, around one whose calls come as text.

    Give it to whatever binds tools to a model: an agent, a graph, `with_structured_output`. What happens to tools,
    calls and results is on the page *What happens to calls in an agent*. `response_metadata` says what was done with
    the calls of a message, as `llama3_tools.chat.Report.to_dict` has it.

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
    options: InstanceOf[ChatOptions] = ChatOptions()
    """How conversations are held, and the model's text is read. They can be given by name:
    `Llama3ToolModel(llm, tool_role="tool", repair=True)`."""

    model_config = ConfigDict(extra="forbid")

    _classes: Mapping[str, BaseTool] = PrivateAttr(default_factory=dict)
    """The tools that are bound, if they are LangChain's own: they may take arguments that their schemas do not."""

    if TYPE_CHECKING:

        def __init__(
            self, llm: BaseChatModel, *, options: ChatOptions | None = None, **changes: Unpack[ChatOption]
        ) -> None: ...
    else:

        def __init__(
            self, llm: BaseChatModel | None = None, *, options: ChatOptions | None = None, **changes: Any
        ) -> None:
            if llm is None:
                given = ", not model=llm" if "model" in changes else ""
                raise TypeError(f"{type(self).__name__} needs a chat model: write Llama3ToolModel(llm){given}")
            fields = type(self).model_fields
            own = {*fields, *(field.alias for field in fields.values() if field.alias)}
            given = {name: changes.pop(name) for name in list(changes) if name in own}
            if isinstance(llm, BaseChatModel):
                given = {name: getattr(llm, name) for name in _TAKEN_OVER if hasattr(llm, name)} | given
            chosen = _options(self, llm, options, changes)
            with plain_errors():
                super().__init__(llm=llm, options=chosen, **given)

    @field_validator("llm", mode="before")
    @classmethod
    def _check_llm(cls, llm: object) -> object:
        if isinstance(llm, BaseChatModel):
            return llm
        if isinstance(llm, Runnable):
            hint = f", not {a_type(llm)}: wrap the model first, as in Llama3ToolModel(model){_around(llm)}"
        else:
            hint = f" such as ChatOpenAI(…), not {a_type(llm)}"
        raise ValueError(f"llm must be a chat model{hint}")

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
            tool_choice: `"auto"` (or `None`), `"any"` (or `"required"`, `True`), `"none"`, the name of a tool, or a
                dict of OpenAI's or Anthropic's. It is an instruction in the prompt: nothing holds a model to it. If it
                names a tool, a call of another one does not run.
            **kwargs: `parallel_tool_calls=False` lets the first call of an answer run. All else is bound to the model
                inside, but for `strict`: no tools are sent that it could be about.

        Raises:
            TypeError: `tools` is no list of tools.
            ToolDefinitionError: a tool cannot be converted, its parameters are no JSON Schema, two that differ have one
                name, or `tool_choice` is none of them.
        """
        converted = to_openai_tools(tools, allow_repeats=True)
        kept_chat(converted, self.options, to_openai_tools).prompt(tool_choice)  # which checks the choice
        kwargs.pop("strict", None)
        model = self.model_copy()
        model._classes = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
        return model.bind(tools=converted, tool_choice=tool_choice, **kwargs)

    def get_token_ids(self, text: str) -> list[int]:
        """Return the tokens of a text, as the model inside counts them."""
        return self.llm.get_token_ids(text)

    @property
    def _llm_type(self) -> str:
        return "llama3-tools"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        read = {name: value for name, value in vars(self.options.read).items() if name != "id_factory"}
        options = {**vars(self.options), "read": read}
        return {**self.llm._identifying_params, "options": options, "llm": self.llm._llm_type}

    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        # What a cache knows a model by: the one inside tells its address there, which its parameters do not.
        return f"{self.llm._get_llm_string()}---{super()._get_llm_string(stop, **kwargs)}"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.llm._get_ls_params(stop=stop, **kwargs)

    # Below, the base class tells the callbacks what is given back. Told by `llm.invoke` too, they would count it twice.

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del run_manager
        if self.llm._should_stream(async_api=False, **kwargs):  # as one with `streaming=True` does in `invoke`
            return _sum_chunks(self._stream(messages, stop, **kwargs))
        turn = _Turn(self, messages, kwargs)
        while turn.asks():
            with explain_errors(self.llm, self.options.tool_role):
                result = self.llm._generate(turn.messages, stop, **turn.kwargs)
            turn.read(result)
        return turn.result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del run_manager
        if self.llm._should_stream(async_api=True, **kwargs):
            return _sum_chunks(iter([chunk async for chunk in self._astream(messages, stop, **kwargs)]))
        turn = _Turn(self, messages, kwargs)
        while turn.asks():
            with explain_errors(self.llm, self.options.tool_role):
                result = await self.llm._agenerate(turn.messages, stop, **turn.kwargs)
            turn.read(result)
        return turn.result

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        del run_manager
        turn, llm = _Turn(self, messages, kwargs), self.llm
        while turn.asks():
            answer = turn.begin()
            try:
                with explain_errors(llm, self.options.tool_role):
                    if llm._should_stream(async_api=False, **{**turn.kwargs, "stream": True}):
                        for chunk in llm._stream(turn.messages, stop, **turn.kwargs):
                            yield from _to_generations(answer.feed(chunk.message, chunk.generation_info), chunk)
                    else:
                        result = llm._generate(turn.messages, stop, **turn.kwargs)
                        yield from _to_generations(answer.feed(*_whole(result)))
            except Exception:
                yield from _to_generations(answer.abort())
                yield from answer.last()
                raise
            yield from turn.end(answer)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        del run_manager
        turn, llm = _Turn(self, messages, kwargs), self.llm
        while turn.asks():
            answer = turn.begin()
            try:
                with explain_errors(llm, self.options.tool_role):
                    if llm._should_stream(async_api=True, **{**turn.kwargs, "stream": True}):
                        async with aclosing(llm._astream(turn.messages, stop, **turn.kwargs)) as chunks:
                            async for chunk in chunks:
                                for read in _to_generations(answer.feed(chunk.message, chunk.generation_info), chunk):
                                    yield read
                    else:
                        result = await llm._agenerate(turn.messages, stop, **turn.kwargs)
                        for read in _to_generations(answer.feed(*_whole(result))):
                            yield read
            except Exception:
                for read in (*_to_generations(answer.abort()), *answer.last()):
                    yield read
                raise
            for read in turn.end(answer):
                yield read


class _Turn:
    """A request, and the further ones by which the model is asked again."""

    def __init__(self, model: Llama3ToolModel, messages: list[BaseMessage], kwargs: Mapping[str, Any]) -> None:
        """Prepare the request.

        Args:
            model: has the options.
            messages: the conversation.
            kwargs: the request's settings. `tools`, `tool_choice` and `parallel_tool_calls`, as bound, are taken out.
        """
        self._model = model
        self._given = dict(kwargs)
        tools = self._given.pop("tools", None) or []
        request: Request = kept_chat(tools, model.options, to_openai_tools).request(
            to_dicts(messages),
            tool_choice=self._given.pop("tool_choice", None),
            parallel_tool_calls=self._given.pop("parallel_tool_calls", None),
            accepts=accepting(model._classes),
        )
        self._next: Request | None = request
        self.request = request
        """What is asked."""
        self.kwargs = {**self._given, **self._of_tools()}
        """What the model inside is asked with, beside the messages."""
        self.result = ChatResult(generations=[])
        """The answer, whole."""
        self._answer: AnswerStream | None = None
        self._v1 = model.output_version == "v1"

    def asks(self) -> bool:
        """Go on to the next request, and return whether there is one: the first, or one that asks again."""
        if self._next is None:
            return False
        self.request, self._next = self._next, None
        return True

    @property
    def messages(self) -> list[BaseMessage]:
        """The conversation for the model."""
        return to_messages(self.request.messages)

    def read(self, result: ChatResult) -> None:
        """Read a whole answer."""
        generations: list[ChatGeneration] = []
        for generation in result.generations:
            info = generation.generation_info
            message, reply = read_answer(self.request, generation.message, info, v1=self._v1)
            info = info and with_reason(info, reply)
            if generation is result.generations[0]:
                self._next = self.request.retry(reply)
                for earlier in self.result.generations[:1]:
                    message.usage_metadata = _sum_usage(earlier.message, message)
            generations.append(ChatGeneration(message=message, generation_info=info))
        self.result = ChatResult(generations=generations, llm_output=result.llm_output)

    def begin(self) -> AnswerStream:
        """Begin to read an answer that arrives in chunks."""
        self._answer = AnswerStream(self.request, v1=self._v1, after=self._answer)
        return self._answer

    def end(self, answer: AnswerStream) -> Iterator[ChatGenerationChunk]:
        """Yield the end of a streamed answer; if the model is asked again, its next one follows.

        Raises:
            ValueError: nothing has arrived.
        """
        if not answer.has_begun and not self.request.retried:
            raise ValueError(NO_RESPONSE)
        yield from _to_generations(answer.end())
        self._next = self.request.retry(answer.reply)
        if self._next is None:
            yield from answer.last()

    def _of_tools(self) -> dict[str, Any]:
        """Return what the model inside is asked with if it gets the tools in its request."""
        if not self.request.tools:
            return {}
        choice: Any = self.request.tool_choice
        llm = self._model.llm
        settings: dict[str, Any] = {"tool_choice": None if choice == "auto" else choice}
        if not self.request.choice.parallel and "parallel_tool_calls" in signature(llm.bind_tools).parameters:
            settings["parallel_tool_calls"] = False  # not every server takes it: the model's class says so
        try:
            bound: Any = llm.bind_tools(self.request.tools, **settings)
        except NotImplementedError as error:
            raise NotImplementedError(
                f'tools_in="request" needs a model with bind_tools, and {type(llm).__name__} has none: '
                'use tools_in="user"'
            ) from error
        return dict(bound.kwargs)


def _options(owner: object, llm: object, options: ChatOptions | None, changes: Mapping[str, Any]) -> ChatOptions:
    fields: Mapping[str, FieldInfo] = getattr(type(llm), "model_fields", {})
    of_llm = {name for field, info in fields.items() for name in (field, info.alias) if name}
    elsewhere = {
        **dict.fromkeys(of_llm, "set it on the chat model inside"),
        "tools": "pass the tools to bind_tools(…), or to the agent",
    }
    return chat_options(type(owner).__name__, options, changes, elsewhere)


def _around(runnable: Runnable[Any, Any]) -> str:
    """Return how what was put around a model is put around the wrapper instead."""
    # They take time to import, and are for an error alone.
    from langchain_core.runnables import RunnableWithFallbacks  # noqa: PLC0415
    from langchain_core.runnables.retry import RunnableRetry  # noqa: PLC0415

    with_tools = ".bind_tools(tools)"
    if isinstance(runnable, RunnableRetry):
        return f"{with_tools}.with_retry(…)"
    if isinstance(runnable, RunnableWithFallbacks):
        return f"{with_tools}.with_fallbacks(…)"
    if isinstance(runnable, RunnableBinding):
        bound = "".join(f", {name}=…" for name in runnable.kwargs if name != "tools")
        return f".bind_tools(tools{bound})" if runnable.kwargs else f"{with_tools}.with_config(…)"
    return " | parser"


def _sum_usage(earlier: BaseMessage, message: AIMessage) -> Any:
    used = earlier.usage_metadata if isinstance(earlier, AIMessage) else None
    return add_usage(used, message.usage_metadata) if used or message.usage_metadata else None


def _sum_chunks(chunks: Iterator[ChatGenerationChunk]) -> ChatResult:
    last = ChatGenerationChunk(message=AIMessageChunk(content="", chunk_position="last"))
    result = generate_from_stream(chain(chunks, [last]))
    [generation] = result.generations
    if isinstance(generation.message, AIMessage):
        generation.message = with_errors(generation.message)
    return result


def _to_generations(
    messages: Iterator[AIMessageChunk], given: ChatGenerationChunk | None = None
) -> Iterator[ChatGenerationChunk]:
    """Yield messages as LangChain streams them: what was given, if it is as it was, as making them takes time."""
    for message in messages:
        is_as_it_was = given is not None and given.message is message and not given.generation_info
        yield given if given is not None and is_as_it_was else ChatGenerationChunk(message=message)


def _whole(result: ChatResult) -> tuple[BaseMessage, dict[str, Any] | None]:
    """Return a whole answer as what is fed, for a model that does not stream."""
    generation = result.generations[0]
    return generation.message, {**(result.llm_output or {}), **(generation.generation_info or {})} or None
