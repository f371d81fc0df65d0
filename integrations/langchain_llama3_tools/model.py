# ruff: noqa: A002, ANN401, ARG002, SLF001  # what a model overrides takes anything, and LangChain marks it with an underscore
"""The model wrapper: any chat model with a Llama 3 behind it, as one that calls tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel, LangSmithParams, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.utils.aiter import aclosing
from pydantic import ConfigDict, Field, InstanceOf, PrivateAttr
from typing_extensions import Self

from langchain_llama3_tools.both_ways import ASYNC, SYNC, Way, adone, astreamed, done, streamed
from langchain_llama3_tools.conversation import flatten_tool_messages
from langchain_llama3_tools.parser import changed_options
from langchain_llama3_tools.runs import Manager, begun, steps_in
from langchain_llama3_tools.structured import read_object
from langchain_llama3_tools.tools import LangChainToolChoice, LangChainToolLike, accepting, bound_chat, output_tool
from langchain_llama3_tools.turn import Turn
from llama3_tools import __version__
from llama3_tools.chat import Accepts, ArgumentChecks, ChatOption, ChatOptions, chat_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Llama3ToolModel"]

_TAKEN_OVER = BaseChatModel.model_fields.keys() - {"profile", "rate_limiter"}
"""What LangChain does around an answer. A rate limiter is inside, where each request counts."""


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

    Ids, metadata, cache, profile, token counts and errors are those of the model inside; where it is known what to do
    about an error, a note says so. The usage of a message is that of all requests of its turn. To callbacks and
    tracers, the turn is the run of a chat model, and each request a step in it (`on_chain_start`) with the prompt that
    was sent, so that nothing counts twice.
    """

    llm: BaseChatModel
    """The model. What is set on it, such as its temperature, its cache or its callbacks, holds."""
    options: InstanceOf[ChatOptions] = Field(default=ChatOptions(), exclude=True)
    """How conversations are held, and the model's text is read. They can be given by name:
    `Llama3ToolModel(llm, tool_role="tool", repair=True)`."""

    model_config = ConfigDict(extra="forbid")

    _answered: list[bool] = PrivateAttr(default_factory=list)
    """Not empty once it, or a copy of it, has answered: both share the list."""
    _accepts: Accepts | None = PrivateAttr(default=None)
    """Whether a tool that is bound takes arguments that its schema does not."""
    _output_tool: str | None = PrivateAttr(default=None)
    """The tool that is bound and runs nothing."""
    _run: Manager | None = PrivateAttr(default=None)
    """What tells of steps in the run of the turn: LangChain hands none to `_stream`."""

    def __init__(
        self, llm: BaseChatModel, *, options: ChatOptions | None = None, **changes: Unpack[ChatOption]
    ) -> None:
        own: dict[str, Any] = {name: value for name, value in changes.items() if name in type(self).model_fields}
        others = {name: value for name, value in changes.items() if name not in own}
        if isinstance(llm, BaseChatModel):
            if limiter := own.pop("rate_limiter", None):  # each request counts
                llm = llm.model_copy(update={"rate_limiter": limiter})
            own = {name: getattr(llm, name) for name in _TAKEN_OVER} | own
        given: dict[str, Any] = {**own, "llm": llm, "options": chat_options(options, others)}
        super().__init__(**given)
        if hasattr(self, "_add_version"):  # of a newer langchain-core
            self._add_version("llama3-tools", __version__)

    def bind_tools(
        self,
        tools: Sequence[LangChainToolLike],
        *,
        tool_choice: LangChainToolChoice = None,
        parallel_tool_calls: bool | None = None,
        strict: bool | None = None,
        response_format: Any = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return a model that may call these tools.

        Args:
            tools: all that LangChain takes for a tool.
            tool_choice: `"auto"` (or `None`), `"any"` (or `"required"`, `True`), `"none"`, the name of a tool, or a
                dict of OpenAI's or Anthropic's. If it names a tool, a call of another one does not run.
            parallel_tool_calls: `False` lets the first call of an answer run, and no other.
            strict: not used: `constrain` holds a server to the schemas.
            response_format: goes to the model inside. It holds each answer to a schema, so that no tool can be called.
            **kwargs: all else is bound to the model inside.

        Raises:
            TypeError: `tools` is no list of tools.
            ToolDefinitionError: a tool cannot be converted, its parameters are no JSON Schema, two that differ have one
                name, or `tool_choice` is none of them.
        """
        del strict
        chat = bound_chat(tools, self.options)
        chat.prompt(tool_choice)  # which checks the choice
        converted = [tool.to_openai() for tool in chat.tools.values()]
        given = {"parallel_tool_calls": parallel_tool_calls, "response_format": response_format}
        model = self.model_copy()
        model._accepts, model._output_tool = accepting(tools), output_tool(tools)
        kwargs |= {name: value for name, value in given.items() if value is not None}
        bound: Runnable[LanguageModelInput, AIMessage] = model.bind(tools=converted, tool_choice=tool_choice, **kwargs)
        return bound

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        method: str = "function_calling",
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Return a model that answers with an object of a schema, or raises why it cannot.

        >>> from langchain_core.language_models import FakeListChatModel
        >>> from pydantic import BaseModel
        >>> class Person(BaseModel):
        ...     name: str
        ...     age: int
        >>> llm = FakeListChatModel(responses=['{"name": "Al", "age": 3}'])
        >>> Llama3ToolModel(llm).with_structured_output(Person).invoke("Who is it?")
        Person(name='Al', age=3)

        Args:
            schema: a pydantic class, a `TypedDict`, a JSON Schema with a title, or an OpenAI tool dict.
            include_raw: whether the message is given, too: `{"raw": …, "parsed": …, "parsing_error": …}`.
            method: `"function_calling"` shows the model one tool, and takes its call or the one object that fits.
                Others, such as `"json_schema"` and `"json_mode"`, are the model's inside; it is sent the history as
                text.
            strict: as the model inside takes it, for its methods.
            **kwargs: the same.

        Raises:
            OutputParserException: in `invoke`, the model gave no object that fits, though it was asked again.
        """
        if method == "function_calling":
            given: Any = super().with_structured_output(schema, include_raw=True, **kwargs)
            # LangChain's first step has the bound model in a map, which hands it no arguments of `invoke`.
            bound = given.first.steps__["raw"]
            checks = ArgumentChecks(bound_chat([schema], self.options).tools)
            misfits = partial(checks.misfits, accepts=accepting([schema]))
            read = partial(read_object, misfits=misfits, include_raw=include_raw)
            return bound | RunnableLambda(lambda raw: {"raw": raw}) | given.last | RunnableLambda(read)  # type: ignore[no-any-return]
        if strict is not None:
            kwargs["strict"] = strict
        options = self.options
        flatten = partial(
            flatten_tool_messages, tool_role=options.tool_role, prompt_format=options.prompt_format or "json"
        )
        flattened = RunnableLambda(self._convert_input) | RunnableLambda(flatten)
        return flattened | self.llm.with_structured_output(schema, include_raw=include_raw, method=method, **kwargs)

    def get_token_ids(self, text: str) -> list[int]:
        """Return the tokens of a text, as the model inside counts them."""
        return self.llm.get_token_ids(text)

    def get_num_tokens(self, text: str) -> int:
        """Return how many tokens a text has, as the model inside counts them."""
        return self.llm.get_num_tokens(text)

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None, **kwargs: Any) -> int:
        """Return how many tokens messages have, as the model inside counts them."""
        return self.llm.get_num_tokens_from_messages(messages, tools, **kwargs)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return whether LangChain can write it as JSON: with all options but the function that makes ids."""
        return True

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The options by name, where they are not the usual ones."""
        changed, usual = changed_options(self.options, ChatOptions()), ChatOptions().read
        changed.pop("read", None)
        return changed | changed_options(self.options.read, usual)

    def _resolve_model_profile(self) -> Any:
        """Return the profile of the model inside, which calls tools now, and is not held to a schema beside them."""
        profile = getattr(self.llm, "profile", None)
        return profile and {**profile, "tool_calling": True, "structured_output": False}

    @property
    def _llm_type(self) -> str:
        return "llama3-tools"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {**self.llm._identifying_params, **self.lc_attributes, "llm": self.llm._llm_type}

    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        # What a cache knows a model by: the one inside tells its address there, which its parameters do not.
        return f"{self.llm._get_llm_string()}---{super()._get_llm_string(stop, **kwargs)}"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.llm._get_ls_params(stop=stop, **kwargs)

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None], /) -> dict[str, Any]:
        return self.llm._combine_llm_outputs(llm_outputs)

    def stream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[AIMessageChunk]:
        """Stream an answer, as any chat model does."""
        config, run = begun(config, SYNC)
        return BaseChatModel.stream(self._in(run), input, config, **kwargs)

    async def astream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessageChunk]:
        """Stream an answer, as any chat model does."""
        config, run = begun(config, ASYNC)
        async with aclosing(BaseChatModel.astream(self._in(run), input, config, **kwargs)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _generate_with_cache(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        model = self._in(run_manager and steps_in(run_manager.run_id, run_manager, SYNC))
        return BaseChatModel._generate_with_cache(model, messages, stop, run_manager, **kwargs)

    async def _agenerate_with_cache(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        model = self._in(run_manager and steps_in(run_manager.run_id, run_manager, ASYNC))
        return await BaseChatModel._agenerate_with_cache(model, messages, stop, run_manager, **kwargs)

    def _in(self, run: Manager | None) -> Self:
        model = self.model_copy()
        model._run = run
        return model

    def _should_stream(self, *, async_api: bool, run_manager: Any = None, **kwargs: Any) -> bool:
        # A model with `streaming=True` streams in `invoke`, too, and LangChain tells each token to the callbacks.
        is_asked = super()._should_stream(async_api=async_api, run_manager=run_manager, **kwargs)
        return is_asked or self.llm._should_stream(async_api=async_api, **kwargs)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return done(self._turn(SYNC, messages, stop, kwargs).whole())

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return await adone(self._turn(ASYNC, messages, stop, kwargs).whole())

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        return streamed(self._turn(SYNC, messages, stop, kwargs).stream())

    def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        return astreamed(self._turn(ASYNC, messages, stop, kwargs).stream())

    def _turn(self, way: Way, messages: list[BaseMessage], stop: Any, kwargs: dict[str, Any]) -> Turn:
        return Turn(self, way, messages, {"stop": stop, **kwargs}, self._run)
