# ruff: noqa: A002, ANN401  # the methods overridden here have LangChain's parameters
"""The output parser: what turns a model's answer into an `AIMessage` with tool calls, at the end of a chain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import BaseTransformOutputParser
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import RunnableConfig
from langchain_core.utils.aiter import aclosing
from pydantic import ConfigDict, Field, field_validator, model_validator
from typing_extensions import Self

from langchain_llama3_tools.chunks import MessageChunks
from langchain_llama3_tools.invalid import InvalidCalls, OnInvalid
from langchain_llama3_tools.messages import read_message
from langchain_llama3_tools.native_calls import NativeCalls
from langchain_llama3_tools.options import checked_bool, require_fields
from langchain_llama3_tools.reading import Extractors
from langchain_llama3_tools.strict import StrictFormat
from langchain_llama3_tools.tools import LangChainToolLike, to_openai_tools
from llama3_tools import (
    FormatName,
    Formats,
    Limits,
    OnUnknownTool,
    new_call_id,
    render_response_prompt,
    render_tool_prompt,
)
from llama3_tools.chat.toolset import kept_toolset
from llama3_tools.errors import require_str
from llama3_tools.formats import require_formats
from llama3_tools.limits import DEFAULT_LIMITS, loaded_limits
from llama3_tools.strict.check import limits_of_reading

__all__ = ["Llama3JsonToolOutputParser"]


class Llama3JsonToolOutputParser(BaseTransformOutputParser[AIMessage]):
    """Reads the tool calls that a Llama 3 wrote as text.

    Put it at the end of a chain. Out comes the model's message: its calls in `tool_calls`, its text without them in
    `content`, and all else as it was. A stream gives text as it arrives and each call in one piece; the sum of
    the chunks is what `invoke` gives.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> from langchain_core.prompts import ChatPromptTemplate
    >>> prompt = ChatPromptTemplate.from_messages([("user", "{question}")])
    >>> llm = FakeListChatModel(responses=['Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}'])
    >>> chain = prompt | llm | Llama3JsonToolOutputParser()
    >>> message = chain.invoke({"question": "How is the weather in Paris?"})
    >>> message.content
    'Let me check.'
    >>> message.tool_calls[0]["name"], message.tool_calls[0]["args"]
    ('get_weather', {'city': 'Paris'})

    A message in which the server has found the calls itself keeps its text as it is.
    """

    tools: list[dict[str, Any]] | None = Field(default=None)
    """The tools that may be called, kept as OpenAI tool dicts; `None`: any name may be called.

    Give them as anything that LangChain takes for a tool. With tools declared, sample code or data that looks like
    a call stays text, and a call may leave its arguments out where its tool requires none."""
    on_invalid: OnInvalid = "collect"
    """What becomes of a malformed call, whose text stays in the content in any case.

    `"collect"` adds it to `invalid_tool_calls`, and the details to `response_metadata["rejected_tool_calls"]`;
    `"text"` does nothing more; `"raise"` raises `OutputParserException`, in a stream at its end."""
    on_unknown_tool: OnUnknownTool = "text"
    """With `tools` given, what becomes of a call of any other name: it stays `"text"`, or is a `"call"` all the same,
    so that an agent can answer it."""
    coerce_arguments: bool = False
    """Whether arguments are made to fit the schemas of the `tools`, of which there have to be some: lists, numbers and
    the like that the model wrote as strings. What was changed, and what does not fit all the same, is in
    `response_metadata["coerced_arguments"]`."""
    formats: tuple[FormatName, ...] | None = Field(default=None)
    """The forms of calls to read, by name, or `"all"`. `None`: what cannot be mistaken for prose, and with `tools`
    declared the rest, too."""
    lenient: bool = False
    """Whether calls under keys that no manual has are read, too."""
    repair: bool = False
    """Whether a malformed call of one of the `tools` is repaired where it is closed. It needs `tools`."""
    split_reasoning: bool = False
    """Whether `<think>…</think>` is split off the content. It is in `additional_kwargs["reasoning_content"]` then,
    and with `output_version="v1"` in blocks of the type `reasoning`."""
    starts_reasoning: bool = False
    """Whether the model's text begins inside reasoning, as its template ends the prompt with `<think>`. Without it, a
    call that such a model only thinks of is a call."""
    limits: Limits = DEFAULT_LIMITS
    """How deep, how long and how many calls may be. What goes beyond is text, and with `strict` an error."""
    strict: bool = False
    """The whole text has to be one JSON object, `{"message": "…", "tool_call": {"name": "…", "arguments": {…}}}` or
    with `"tool_call": null`; anything else raises `OutputParserException`. A stream comes at its end, all at once."""
    multiple: bool = False
    """With `strict`, the calls stand in an array, `"tool_calls"`, rather than one in `"tool_call"`."""
    id_factory: Callable[[], str] = Field(default=new_call_id, exclude=True)
    """Makes the id of each call; ids must be unique in a conversation. It is not serialized."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913 (options, each by its name)
            self,
            *,
            tools: Iterable[LangChainToolLike] | None = None,
            on_invalid: OnInvalid = "collect",
            on_unknown_tool: OnUnknownTool = "text",
            coerce_arguments: bool = False,
            formats: Formats = None,
            lenient: bool = False,
            repair: bool = False,
            split_reasoning: bool = False,
            starts_reasoning: bool = False,
            limits: Limits = DEFAULT_LIMITS,
            strict: bool = False,
            multiple: bool = False,
            id_factory: Callable[[], str] = new_call_id,
            name: str | None = None,
        ) -> None: ...
    else:

        def __init__(self, **options: Any) -> None:
            require_fields(type(self), options, BaseTransformOutputParser)
            super().__init__(**options)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an option. One that does not fit the others raises, and changes nothing."""
        before, given = dict(self.__dict__), self.model_fields_set.copy()
        try:
            super().__setattr__(name, value)
        except Exception:  # pydantic has set it by then
            self.__dict__.update(before)
            self.model_fields_set.intersection_update(given)
            raise

    @field_validator("tools", mode="before")
    @classmethod
    def _convert_tools(cls, tools: Iterable[LangChainToolLike] | None) -> list[dict[str, Any]] | None:
        return None if tools is None else to_openai_tools(tools)

    _check_bools = field_validator(
        "coerce_arguments",
        "lenient",
        "repair",
        "split_reasoning",
        "starts_reasoning",
        "strict",
        "multiple",
        mode="before",
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
    def _check_pairs(self) -> Self:
        if self.multiple and not self.strict:
            raise ValueError("multiple=True says how calls stand in the strict format: it takes strict=True")
        if self.coerce_arguments and self.tools is None:
            raise ValueError("coerce_arguments=True goes by the schemas of the tools: it takes tools=[…]")
        if self.strict and (self.formats or self.lenient or self.repair):
            raise ValueError("strict=True reads one form, as it is: it takes no formats, lenient or repair")
        self._extractors()
        return self

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> AIMessage:
        """Read the first generation, a model's message or mere text.

        Args:
            result: the generations; the first one counts.
            partial: there is more to come, so that a call cut off at the end is not malformed, nor the format broken.

        Raises:
            OutputParserException: a call is malformed, and `on_invalid` is `"raise"`; or `strict` does not allow the
                text.
        """
        generation = result[0]
        if isinstance(generation, ChatGeneration):
            message = generation.message
        else:
            message = AIMessage(content=generation.text, response_metadata=generation.generation_info or {})
        extractors = self._extractors()
        invalid_calls = self._invalid_calls(extractors, is_whole=not partial)
        read = read_message(message, extractors, invalid_calls, self._native_calls(extractors))
        if invalid_calls.strict is not None:
            invalid_calls.strict.check_read([read])
        return read

    async def aparse_result(self, result: list[Generation], *, partial: bool = False) -> AIMessage:
        """Read the first generation, as `parse_result` does: it takes less time than a change of threads."""
        return self.parse_result(result, partial=partial)

    def parse(self, text: str) -> AIMessage:
        """Read mere text.

        >>> Llama3JsonToolOutputParser().parse('{"name": "now", "parameters": {}}').tool_calls[0]["name"]
        'now'

        Raises:
            TypeError: `text` is not a `str`.
            OutputParserException: a call is malformed, and `on_invalid` is `"raise"`; or `strict` does not allow the
                text.
        """
        require_str(text, "parse() takes the model's text; for a message there is invoke()")
        return self.parse_result([Generation(text=text)])

    async def aparse(self, text: str) -> AIMessage:
        """Read mere text, as `parse` does."""
        return self.parse(text)

    def invoke(self, input: str | BaseMessage, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Read a model's message, or mere text.

        Raises:
            TypeError: `input` is neither.
            OutputParserException: a call is malformed, and `on_invalid` is `"raise"`; or `strict` does not allow the
                text.
        """
        return super().invoke(_checked(input), config, **kwargs)

    async def ainvoke(self, input: str | BaseMessage, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Read a model's message, or mere text, as `invoke` does."""
        return await super().ainvoke(_checked(input), config, **kwargs)

    def stream(
        self, input: str | BaseMessage, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[AIMessage]:
        """Read one whole message into chunks, as at the end of a chain whose model does not stream."""
        yield from self.transform(iter([input]), config, **kwargs)

    async def astream(
        self, input: str | BaseMessage, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessage]:
        """Read one whole message into chunks, as `stream` does."""

        async def inputs() -> AsyncIterator[str | BaseMessage]:
            yield input

        async with aclosing(self.atransform(inputs(), config, **kwargs)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def atransform(
        self, input: AsyncIterator[str | BaseMessage], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessage]:
        """Read a model's message chunk by chunk. Closed early, this closes where they come from, too."""
        del kwargs
        read = self._atransform_stream_with_config(input, self._atransform, config, run_type="parser")
        async with aclosing(input), aclosing(read) as chunks:
            async for chunk in chunks:
                yield chunk

    def get_format_instructions(self) -> str:
        """Return Llama 3.1's prompt for JSON tool calls with the tools, to put before the user's first message.

        With `strict`, it is the prompt for the strict response format.

        >>> Llama3JsonToolOutputParser().get_format_instructions().splitlines()[-1][:62]
        'Respond in the format {"name": function name, "parameters": di'
        """
        if self.strict:
            return render_response_prompt(self.tools, multiple=self.multiple)
        return render_tool_prompt(self.tools or [])

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """`langchain_core.load.dumps` can write it; see the page on LangChain for how to load it."""
        return True

    @property
    def _type(self) -> str:
        return "llama3_json_tools"

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[AIMessage]:
        chunks = self._read(input)
        yield from self._held(list(chunks)) if self.strict else chunks  # the last character may break the format

    async def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[AIMessage]:
        async with aclosing(self._aread(input)) as chunks:
            if self.strict:
                for chunk in self._held([chunk async for chunk in chunks]):
                    yield chunk
            else:
                async for chunk in chunks:
                    yield chunk

    def _held(self, chunks: list[AIMessage]) -> list[AIMessage]:
        self._strict_format().check_read(chunks)
        return chunks

    def _read(self, outputs: Iterable[str | BaseMessage]) -> Iterator[AIMessage]:
        chunks = self._chunks()
        try:
            for output in outputs:
                yield from chunks.feed(_checked(output))
        except Exception:
            yield from chunks.release()
            raise
        yield from chunks.flush()

    async def _aread(self, outputs: AsyncIterator[str | BaseMessage]) -> AsyncIterator[AIMessage]:
        chunks = self._chunks()
        try:
            async with aclosing(outputs) as given:
                async for output in given:
                    for chunk in chunks.feed(_checked(output)):
                        yield chunk
        except Exception:
            for chunk in chunks.release():
                yield chunk
            raise
        for chunk in chunks.flush():
            yield chunk

    def _chunks(self) -> MessageChunks:
        extractors = self._extractors()
        return MessageChunks(extractors, self._invalid_calls(extractors, is_whole=True), self._native_calls(extractors))

    def _extractors(self) -> Extractors:
        tools = None if self.tools is None else kept_toolset(self.tools)
        return Extractors(self, tools, self.formats, limits_of_reading(self.limits) if self.strict else self.limits)

    def _invalid_calls(self, extractors: Extractors, *, is_whole: bool) -> InvalidCalls:
        names = extractors.tools if self.on_unknown_tool == "text" else None
        strict = self._strict_format() if self.strict and is_whole else None
        return InvalidCalls(self.on_invalid if is_whole else "text", self.id_factory, names, strict)

    def _strict_format(self) -> StrictFormat:
        is_open = self.tools is None or self.on_unknown_tool == "call"
        names = None if is_open else [tool["function"]["name"] for tool in self.tools or ()]
        return StrictFormat(names, self.multiple, self.limits)

    def _native_calls(self, extractors: Extractors) -> NativeCalls:
        return NativeCalls(self.id_factory, extractors.coercers, self.limits)


def _checked(output: object) -> str | BaseMessage:
    if isinstance(output, (str, BaseMessage)):
        return output
    hint = "; pass its last message" if isinstance(output, (list, dict)) else ""
    raise TypeError(f"the parser reads a model's message or a str, got {type(output).__name__}{hint}")
