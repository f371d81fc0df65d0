# ruff: noqa: A002, ANN401, ARG002, SLF001  # what a model overrides takes anything, and LangChain marks it with an underscore
"""The model wrapper: any chat model that runs a Llama 3, as one that calls tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.language_models import BaseChatModel, LangSmithParams, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableGenerator, RunnableLambda
from langchain_core.utils.aiter import aclosing
from pydantic import BaseModel, ConfigDict, Field, InstanceOf, PrivateAttr
from pydantic.v1 import BaseModel as BaseModelV1
from typing_extensions import Self

from langchain_llama3_tools.conversation import flatten_tool_messages
from langchain_llama3_tools.options import CHAT_OPTIONS, changed_options, known
from langchain_llama3_tools.runs import Manager, with_step_manager
from langchain_llama3_tools.structured import ObjectReader
from langchain_llama3_tools.tools import LangChainToolChoice, LangChainToolLike, bound_chat, class_check, output_tools
from langchain_llama3_tools.turn import Turn
from llama3_tools.chat import ArgumentChecks, ChatOptions, ClassCheck, chat_options
from llama3_tools.errors import a_type

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from langchain_llama3_tools.options import ModelOption

_TAKEN_OVER = BaseChatModel.model_fields.keys() - {"profile", "rate_limiter"}
"""What LangChain does around an answer. A rate limiter stays with the wrapped model, where each request counts."""


class Llama3ToolModel(BaseChatModel):
    """A chat model that calls tools, around a chat model that writes its calls as text.

    Give it to an agent or a graph, or use its `with_structured_output`. The page *What happens to calls in an agent*
    says what happens to tools, calls and results; `response_metadata` reports it.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> def get_weather(city: str) -> str:
    ...     "The weather of a city."
    ...     return "sunny"
    >>> llm = FakeListChatModel(responses=['Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}'])
    >>> message = Llama3ToolModel(llm).bind_tools([get_weather]).invoke("How is the weather in Paris?")
    >>> message.content, message.tool_calls[0]["args"]
    ('Let me check.', {'city': 'Paris'})

    Ids, metadata, cache, profile, token counts and errors are those of the wrapped model. To callbacks and tracers, a
    turn is the run of a chat model, and each request a step in it (`on_chain_start`), so that nothing counts twice.
    """

    llm: BaseChatModel
    """The wrapped model. Its own settings, such as its temperature, its cache or its callbacks, apply."""
    streaming: bool | None = None
    """`True`: `invoke` streams, too. `False`: nothing streams. `None`: as it is set on the wrapped model."""
    options: InstanceOf[ChatOptions] = Field(default=ChatOptions(), exclude=True)
    """How conversations are held, and text is read. Give them by name: `Llama3ToolModel(llm, repair=True)`."""

    model_config = ConfigDict(extra="forbid")

    _class_check: ClassCheck | None = PrivateAttr(default=None)
    """What a class among the bound tools says of arguments."""
    _output_tools: tuple[str, ...] = PrivateAttr(default=())
    """The tools that are bound and run nothing."""
    _previews: bool = PrivateAttr(default=False)
    """Whether a stream has what the model writes as it comes, too."""
    _steps: Manager | None = PrivateAttr(default=None)
    """What tells of steps in the run of the turn: LangChain hands none to `_stream`."""

    def __init__(self, llm: BaseChatModel, **options: Unpack[ModelOption]) -> None:
        """Wrap a model. Options are those of a conversation, of reading, and of LangChain's chat models, by name.

        Raises:
            TypeError, ValueError: `llm` is not a chat model, or an option does not exist, or has a wrong type or value.
        """
        if not isinstance(llm, BaseChatModel):
            raise TypeError(
                "llm must be a chat model, such as ChatOpenAI(…), or init_chat_model(…) with the name of a model, "
                f"not {a_type(llm)}"
            )
        names = type(self).model_fields
        own: dict[str, Any] = {name: value for name, value in options.items() if name in names}
        others = {name: value for name, value in options.items() if name not in names}
        own_options = known("Llama3ToolModel", others, [*CHAT_OPTIONS, *names])
        own["options"] = chat_options(own.get("options"), own_options)  # there already where LangChain copies a model
        if limiter := own.pop("rate_limiter", None):
            llm = llm.model_copy(update={"rate_limiter": limiter})
        if own.get("streaming") is None and "streaming" in llm.model_fields_set:
            own["streaming"] = getattr(llm, "streaming", None)
        profile = getattr(llm, "profile", None)
        calling = profile and {**profile, "tool_calling": True, "structured_output": False}
        taken_over = {name: getattr(llm, name) for name in _TAKEN_OVER} | {"profile": calling}
        super().__init__(**{**taken_over, **own, "llm": llm})

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
            tools: everything that LangChain accepts as a tool.
            tool_choice: `"auto"` (or `None`), `"any"` (or `"required"`, `True`), `"none"`, the name of a tool, or a
                dict of OpenAI's or Anthropic's. If it names a tool, a call of another one does not run.
            parallel_tool_calls: with `False`, only the first call of an answer runs.
            strict: ignored; `constrain` is the option that makes a server keep to the schemas.
            response_format: goes to the wrapped model. With a JSON Schema and the choice `"auto"`, each answer is an
                object of that schema, which streams as text: the model is shown no tool, and cannot call any.
            **kwargs: all else is bound to the wrapped model.

        Raises:
            TypeError: `tools` is not a list of tools.
            ToolDefinitionError: a tool cannot be converted, its parameters are not a JSON Schema, two that differ have
                one name, or `tool_choice` is none of them.
        """
        del strict
        is_schema = isinstance(response_format, dict) and response_format.get("type") == "json_schema"
        if is_schema and tool_choice in (None, "auto"):
            tool_choice = "none"
        chat = bound_chat(tools, self.options)
        chat.prompt(tool_choice)  # which checks the choice
        converted = [tool.to_openai() for tool in chat.tools.values()]
        given = {"parallel_tool_calls": parallel_tool_calls, "response_format": response_format}
        model = self.model_copy()
        model._class_check, model._output_tools = class_check(tools), output_tools(tools)
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
        """Return a model that answers with an object of a schema, or raises an error that says why it cannot.

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
            include_raw: whether the message is returned, too: `{"raw": …, "parsed": …, "parsing_error": …}`.
            method: `"function_calling"` shows the model one tool, and reads its call or the one object that fits. A
                stream yields the object of a `TypedDict` or a JSON Schema while it is written, and at the end the one
                that fits. Other methods, such as `"json_schema"` and `"json_mode"`, are the wrapped model's; it is sent
                the history as text.
            strict: passed to the wrapped model, for its methods.
            **kwargs: the same; with `"function_calling"`, they are bound to it.

        Raises:
            OutputParserException: in `invoke`, the model wrote no object that fits, though it was asked again.
        """
        if method == "function_calling":
            return self._calling(schema, include_raw=include_raw, **kwargs)
        if strict is not None:
            kwargs["strict"] = strict
        structured = self.llm.with_structured_output(schema, include_raw=include_raw, method=method, **kwargs)
        return RunnableLambda(self._flattened) | structured

    def _calling(
        self, schema: dict[str, Any] | type, *, include_raw: bool, **kwargs: Any
    ) -> Runnable[LanguageModelInput, Any]:
        tools = bound_chat([schema], self.options).tools
        kind = schema if isinstance(schema, type) and issubclass(schema, (BaseModel, BaseModelV1)) else None
        misfits = partial(ArgumentChecks(tools).misfits, class_check=class_check([schema]))
        starts = self.options.read.starts_reasoning
        [tool] = tools.values()
        reader = ObjectReader(tool, kind, misfits, include_raw=include_raw, starts_reasoning=starts)
        model = self.model_copy()
        model._previews = reader.previews
        told = {"kwargs": {"method": "function_calling"}, "schema": schema}  # for traces, as with any model
        bound = model.bind_tools([schema], tool_choice="any", ls_structured_output_format=told, **kwargs)
        return bound | RunnableGenerator(reader.stream, reader.astream, name="ObjectReader")

    def _flattened(self, given: LanguageModelInput) -> LanguageModelInput:
        form = {"tool_role": self.options.tool_role, "prompt_format": self.options.prompt_format or "json"}
        return given if isinstance(given, str) else flatten_tool_messages(given, **form)  # type: ignore[arg-type]

    def get_token_ids(self, text: str) -> list[int]:
        """Return the tokens of a text, as the wrapped model counts them."""
        return self.llm.get_token_ids(text)

    def get_num_tokens(self, text: str) -> int:
        """Return how many tokens a text has, as the wrapped model counts them."""
        return self.llm.get_num_tokens(text)

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None, **kwargs: Any) -> int:
        """Return how many tokens messages have, as the wrapped model counts them."""
        return self.llm.get_num_tokens_from_messages(messages, tools, **kwargs)

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return `True`: LangChain can write it as JSON, without the `id_factory`."""
        return True

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The options by name, if they are not the usual ones."""
        usual = ChatOptions()
        return changed_options(self.options, usual) | changed_options(self.options.read, usual.read)

    @property
    def _llm_type(self) -> str:
        return "llama3-tools"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {**self.llm._identifying_params, **self.lc_attributes, "llm": self.llm._llm_type}

    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        # What a cache knows a model by: the wrapped one tells its address there, which its parameters do not.
        return f"{self.llm._get_llm_string()}---{super()._get_llm_string(stop, **kwargs)}"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.llm._get_ls_params(stop=stop, **kwargs)

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None], /) -> dict[str, Any]:
        return self.llm._combine_llm_outputs(llm_outputs)

    def invoke(self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Return an answer, as any chat model does."""
        model, config = self._with_step_manager(config, CallbackManager)
        return BaseChatModel.invoke(model, input, config, **kwargs)

    async def ainvoke(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        """Return an answer, as any chat model does."""
        model, config = self._with_step_manager(config, AsyncCallbackManager)
        return await BaseChatModel.ainvoke(model, input, config, **kwargs)

    def stream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[AIMessageChunk]:
        """Stream an answer, as any chat model does."""
        model, config = self._with_step_manager(config, CallbackManager)
        return BaseChatModel.stream(model, input, config, **kwargs)

    async def astream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessageChunk]:
        """Stream an answer, as any chat model does."""
        model, config = self._with_step_manager(config, AsyncCallbackManager)
        async with aclosing(BaseChatModel.astream(model, input, config, **kwargs)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _with_step_manager(
        self, config: RunnableConfig | None, kind: type[CallbackManager | AsyncCallbackManager]
    ) -> tuple[Self, RunnableConfig]:
        model = self.model_copy()
        config, model._steps = with_step_manager(config, kind)
        return model, config

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return Turn(self, messages, {"stop": stop, **kwargs}).whole()

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return await Turn(self, messages, {"stop": stop, **kwargs}).awhole()

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        return Turn(self, messages, {"stop": stop, **kwargs}).stream()

    def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        return Turn(self, messages, {"stop": stop, **kwargs}).astream()
