# ruff: noqa: A002, ANN401, ARG002  # the methods overridden here have LangChain's parameters
"""The output parser: what turns a model's answer into an `AIMessage` with tool calls, at the end of a chain."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import BaseTransformOutputParser
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import RunnableConfig
from langchain_core.utils.aiter import aclosing
from pydantic import ConfigDict, Field, InstanceOf

from langchain_llama3_tools.answers import AnswerStream, read_answer
from langchain_llama3_tools.options import READ_OPTIONS, changed_options, known
from langchain_llama3_tools.tools import LangChainToolLike, to_openai_tools
from llama3_tools import Extractor, ReadOption, ReadOptions, render_tool_prompt
from llama3_tools.chat import ChatOptions, OnInvalid, RepeatedCalls, Reply, Request, kept_chat, read_options
from llama3_tools.errors import a_type

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Llama3JsonToolOutputParser(BaseTransformOutputParser[AIMessage]):
    """Reads the tool calls that a Llama 3 wrote as text.

    Put it at the end of a chain. It returns the model's message with the calls in `tool_calls`, the text without them
    in `content`, and all else as it was. A stream has text as it arrives and each call in one piece; the sum of the
    chunks is what `invoke` returns.

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

    Calls that the server found itself follow those in the text, and obey the same rules.
    """

    tools: list[dict[str, Any]] | None = None
    """The tools that may be called, kept as OpenAI tool dicts; `None`: any name may be called.

    Pass anything that LangChain accepts as a tool. With tools, data that looks like a call stays text."""
    on_invalid: OnInvalid = "collect"
    """What happens to a malformed call, which stays in the content: `"collect"` adds it to `invalid_tool_calls`, and
    details to `response_metadata`; `"raise"` raises `OutputParserException`, in a stream at its end."""
    repeated_calls: RepeatedCalls = "report"
    """What happens to a call that repeats the one before it, with text in between: `"report"` moves it to
    `response_metadata["repeated_tool_calls"]`; with `"keep"`, it is a call like others."""
    options: InstanceOf[ReadOptions] = Field(default=ReadOptions(), exclude=True)
    """How the model's text is read. Give the options by name: `Llama3JsonToolOutputParser(repair=True)`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __init__(
        self,
        tools: Iterable[LangChainToolLike] | None = None,
        *,
        on_invalid: OnInvalid = "collect",
        repeated_calls: RepeatedCalls = "report",
        name: str | None = None,
        **options: Unpack[ReadOption],
    ) -> None:
        """Set the tools, and the options by name.

        Raises:
            ToolDefinitionError: a tool cannot be read.
            TypeError, ValueError: there is no such option, it has the wrong type or value, or it needs `tools`.
        """
        given: dict[str, Any] = dict(options)
        copied = given.pop("options", None)  # by LangChain, of another parser
        names = [*READ_OPTIONS, *type(self).model_fields]
        read = read_options(copied, known("Llama3JsonToolOutputParser", given, names))
        declared = None if tools is None else to_openai_tools(tools)
        own: dict[str, Any] = {"tools": declared, "on_invalid": on_invalid, "repeated_calls": repeated_calls}
        own |= {"options": read, "name": name}
        super().__init__(**own)
        Extractor(declared, options=read)  # which checks that there are tools if an option goes by them

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> AIMessage:
        """Read the first generation, a model's message or a text; `partial` is not used.

        Raises:
            TypeError: the message is not a model's.
            OutputParserException: a call is malformed, and `on_invalid` is `"raise"`.
        """
        generation = result[0]
        if isinstance(generation, ChatGeneration):
            message = _require_output(generation.message)
        else:
            message = AIMessage(content=generation.text, response_metadata=generation.generation_info or {})
        read, reply = read_answer(self._request, message, generation.generation_info)
        if self.on_invalid == "raise":
            _require_whole_calls(reply, str(message.text))
        return read

    def parse(self, text: str) -> AIMessage:
        """Read a text, as `parse_result` does.

        >>> Llama3JsonToolOutputParser().parse('{"name": "now", "parameters": {}}').tool_calls[0]["name"]
        'now'
        """
        return self.parse_result([Generation(text=text)])

    async def atransform(
        self, input: AsyncIterator[str | BaseMessage], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessage]:
        """Read a model's message chunk by chunk. Closing this closes the source of the chunks, too."""
        async with aclosing(input), aclosing(super().atransform(input, config, **kwargs)) as chunks:
            async for chunk in chunks:
                yield chunk

    def get_format_instructions(self) -> str:
        """Return Llama 3.1's prompt with the tools, to put before the user's first message. Without tools, it is empty.

        >>> Llama3JsonToolOutputParser(tools=[{"name": "now"}]).get_format_instructions()[:50]
        'Given the following functions, please respond with'
        """
        return render_tool_prompt(self.tools or [])

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """`langchain_core.load.dumps` can write it; see the page on LangChain for how to load it."""
        return True

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The options of reading that differ from the defaults, to be written with the fields."""
        return changed_options(self.options, ReadOptions())

    @property
    def _type(self) -> str:
        return "llama3_json_tools"

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[AIMessage]:
        answer = AnswerStream(self._request)
        try:
            for output in input:
                yield from answer.feed(_require_output(output))
        except Exception:
            yield from answer.abort()
            yield from answer.last()
            raise
        yield from self._ending(answer)

    async def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[AIMessage]:
        answer = AnswerStream(self._request)
        try:
            async for output in input:
                for chunk in answer.feed(_require_output(output)):
                    yield chunk
        except Exception:
            for chunk in (*answer.abort(), *answer.last()):
                yield chunk
            raise
        for chunk in self._ending(answer):
            yield chunk

    @property
    def _request(self) -> Request:
        """What every answer is read by: it asks for nothing."""
        options = ChatOptions(
            read=self.options, tools_in="request", prompt_format=None, repeated_calls=self.repeated_calls, max_retries=0
        )
        return kept_chat(self.tools, options).request([])

    def _ending(self, answer: AnswerStream) -> Iterator[AIMessageChunk]:
        if not answer.has_begun:
            return
        yield from answer.end()
        if self.on_invalid == "raise":
            _require_whole_calls(answer.reply, answer.written)
        yield from answer.last()


def _require_whole_calls(reply: Reply, written: str) -> None:
    refused = reply.report.refused
    if not refused:
        return
    count = "a malformed tool call" if len(refused) == 1 else f"{len(refused)} malformed tool calls"
    raise OutputParserException(f"The model wrote {count}: {'; '.join(map(str, refused))}", llm_output=written)


def _require_output(output: object) -> Any:
    """Require a text, or a message that a model may have written: a call in any other one was not made."""
    if isinstance(output, (str, AIMessage)) or getattr(output, "role", None) in {"assistant", "ai", "model"}:
        return output
    raise TypeError(
        f"the parser takes what the model wrote, not {a_type(output)}: pass the last AIMessage, or its text"
    )
