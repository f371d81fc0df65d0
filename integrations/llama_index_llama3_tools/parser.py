"""The parser: what an LLM of LlamaIndex wrote, whole or streamed, into text and tool calls."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from llama_index.core.base.llms.types import ThinkingBlock
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.types import BaseOutputParser

from llama3_tools import ReadOptions, ResponseFormatError, new_call_id, render_response_prompt
from llama3_tools.chat import ChatOptions, OnInvalid, RepeatedCalls, Reply, ToolChat, put_tools, read_options
from llama3_tools.errors import a_type, require_bool, require_words
from llama3_tools.strict import parse_after_reasoning, require_strict_reading
from llama_index_llama3_tools.answers import Answer, AnyResponse, astream_responses, stream_responses
from llama_index_llama3_tools.errors import MalformedToolCallError, StrictResponseError
from llama_index_llama3_tools.messages import require_messages, to_dicts, to_messages
from llama_index_llama3_tools.output import Llama3ToolOutput
from llama_index_llama3_tools.tools import LlamaIndexToolLike, tool_dicts

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from llama3_tools import ReadOption

__all__ = ["Llama3JsonToolOutputParser"]


class Llama3JsonToolOutputParser(BaseOutputParser):
    """Takes outputs of a local Llama 3 apart: text, and tool calls in the shapes that LlamaIndex runs.

    It keeps no state, and may be shared by threads and tasks.

    >>> parser = Llama3JsonToolOutputParser()
    >>> output = parser.parse('Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}')
    >>> output.text, output.tool_calls[0].tool_name, output.tool_calls[0].tool_kwargs
    ('Let me check.', 'get_weather', {'city': 'Paris'})
    >>> output = Llama3JsonToolOutputParser(split_reasoning=True).parse("<think>A greeting.</think>Hello!")
    >>> output.reasoning, output.text
    ('A greeting.', 'Hello!')

    Args:
        tools: the tools that may be called: LlamaIndex tools, `ToolMetadata`, functions, tool dicts. Without them, any
            name may be called, and the model is not shown any tool.
        on_invalid: what a call that the model did not manage to write is: text, and reported in `errors`
            (`"collect"`), or a reason to `"raise"` a `MalformedToolCallError`.
        repeated_calls: what becomes of a call that repeats the one before it, with text in between: with `"report"`, it
            does not count; with `"keep"`, it is a call like others.
        strict: the whole output has to be one JSON object,
            `{"message": "…", "tool_call": {"name": "…", "arguments": {…}}}` or with `"tool_call": null`, and anything
            else raises a `StrictResponseError`. A stream comes at its end, as one response; the model is shown the
            format, with or without tools.
        multiple: with `strict`, the calls stand in an array, `"tool_calls"`, rather than one in `"tool_call"`.
        options: how outputs are read. `None`: `ReadOptions()`. With `strict`, reasoning may stand before the object.
        **changes: single options of reading, by name, which go before those in `options`.

    Raises:
        TypeError: `tools` is no list of tools, there is no such option, or it has the wrong type.
        ToolDefinitionError: a tool without a name, with a schema that is no object, or with another one's name.
        ValueError: an option has a value that it cannot have, `multiple` comes without `strict`, `strict` with
            `formats` or `repair`, or `coerce_arguments` or `repair` without `tools`.
    """

    def __init__(  # noqa: PLR0913 (options, each by its name)
        self,
        tools: Iterable[LlamaIndexToolLike] | None = None,
        *,
        on_invalid: OnInvalid = "collect",
        repeated_calls: RepeatedCalls = "report",
        strict: bool = False,
        multiple: bool = False,
        options: ReadOptions | None = None,
        **changes: Unpack[ReadOption],
    ) -> None:
        require_words({"on_invalid": on_invalid}, on_invalid=OnInvalid)
        require_bool(strict=strict, multiple=multiple)
        read = read_options(options, changes)
        if tools is None and read.coerce_arguments:
            raise ValueError("coerce_arguments needs the schemas of the tools: pass tools, too")
        require_strict_reading(read, strict=strict, multiple=multiple)
        self._on_invalid = on_invalid
        self._strict = strict
        self._multiple = multiple
        self._strict_read = replace(read, coerce_arguments=False, id_factory=new_call_id)
        if strict:  # whose object may be long: each call is looked at before
            read = replace(read, limits=read.limits._replace(max_call_length=sys.maxsize))
        declared = None if tools is None else tool_dicts(tools)
        self.chat = ToolChat(
            declared, ChatOptions(read=read, repeated_calls=repeated_calls, prompt_format=None, max_retries=0)
        )
        """What reads the outputs; its `tools` and `options` say how."""
        self._declares = declared is not None
        self._request = self.chat.request([])

    def parse(self, output: str) -> Llama3ToolOutput:
        """Take a model output apart.

        Args:
            output: the text of one assistant turn, such as `response.message.content` or `completion.text`.

        Raises:
            TypeError: `output` is not a text.
            MalformedToolCallError: a call is malformed, and `on_invalid="raise"`.
            StrictResponseError: it is not the one object, and `strict=True`.
        """
        if not isinstance(output, str):
            raise TypeError(
                f"parse takes the model's text, a str, not {a_type(output)}: a response is for promote, many for stream"
            )
        reply = self._request.read({"content": output})
        self._check(output, reply)
        return Llama3ToolOutput.from_reply(reply)

    def promote(self, response: AnyResponse) -> ChatResponse:
        """Take a whole response apart: its text calls become `ToolCallBlock`s, as if the server had found them.

        All else of the response is kept. Calls that the server found stand after those of the text.

        Args:
            response: what `llm.chat` or `llm.complete` gave.

        Raises:
            TypeError: `response` is neither a `ChatResponse` nor a `CompletionResponse`.
            MalformedToolCallError: a call is malformed, and `on_invalid="raise"`.
            StrictResponseError: its text is not the one object, and `strict=True`.
        """
        answer = Answer(self._request)
        read = answer.whole(response)
        self._check(answer.output, answer.reply, answer)
        return read

    def stream(self, responses: Iterable[AnyResponse]) -> Generator[ChatResponse, None, None]:
        r"""Take a stream of responses apart while it comes in.

        Each response comes back as a `ChatResponse` whose `delta` is text that is content and whose `message` holds the
        text so far and each call that is complete; raw answers and additional arguments stay where they were. A piece
        of reasoning that is split off is in the response's `additional_kwargs["thinking_delta"]`. A call appears whole,
        as a `ToolCallBlock`, as soon as its last character is in; those that the server found appear at the end. There,
        one more response follows if something was held back, or there is something to report; the last message is what
        `promote` makes of the whole response.

        >>> from llama_index.core.llms import MockLLM
        >>> llm, parser = MockLLM(), Llama3JsonToolOutputParser()
        >>> for response in parser.stream(llm.stream_complete('Hi {"name": "now", "parameters": {}}')):
        ...     print(response.delta, end="")
        Hi
        >>> response.message.blocks[-1].tool_name
        'now'

        Args:
            responses: what `llm.stream_chat` or `llm.stream_complete` gave.

        Raises:
            TypeError: `responses` holds something else.
            MalformedToolCallError: a call is malformed, and `on_invalid="raise"`; after the last response.
            StrictResponseError: the text is not the one object, and `strict=True`; instead of any response.
        """
        answer = Answer(self._request)
        last: ChatResponse | None = None
        for last in stream_responses(responses, answer):
            if not self._strict:  # in which the last character may break the format
                yield last
        self._check(answer.output, answer.reply, answer)
        if self._strict and last is not None:
            yield _at_once(last)

    async def astream(self, responses: AsyncIterable[AnyResponse]) -> AsyncGenerator[ChatResponse, None]:
        """Take an asynchronous stream of responses apart while it comes in; see `stream`.

        Args:
            responses: what `await llm.astream_chat(…)` or `await llm.astream_complete(…)` gave.

        Raises:
            TypeError: `responses` holds something else.
            MalformedToolCallError: a call is malformed, and `on_invalid="raise"`; after the last response.
            StrictResponseError: the text is not the one object, and `strict=True`; instead of any response.
        """
        answer = Answer(self._request)
        last: ChatResponse | None = None
        async with aclosing(astream_responses(responses, answer)) as read:
            async for last in read:
                if not self._strict:
                    yield last
        self._check(answer.output, answer.reply, answer)
        if self._strict and last is not None:
            yield _at_once(last)

    def format(self, query: str) -> str:
        r"""Put the tool prompt in front of a query; without tools the query stays as it is.

        >>> Llama3JsonToolOutputParser([{"name": "now"}]).format("What time is it?")[-18:]
        '\n\nWhat time is it?'
        """
        [message] = self.format_messages([ChatMessage(content=query)])
        return message.content or ""

    def format_messages(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Put the tool prompt into the first user message, as Llama 3.1 knows it; without tools all stays as it is.

        The messages given are not changed. If there is no user message, the prompt becomes one.

        Raises:
            TypeError: `messages` is no list of messages.
        """
        checked, prompt = require_messages(messages), self._tool_prompt
        return to_messages(put_tools(to_dicts(checked), prompt, "user")) if prompt else checked

    def __repr__(self) -> str:
        """Show which tools may be called."""
        names = ", ".join(self.chat.tools) if self._declares else "any"
        return f"<{type(self).__name__} tools: {names}>"

    @cached_property
    def _tool_prompt(self) -> str:
        if self._strict:
            tools = self.chat.tools.values() if self._declares else None
            return render_response_prompt(tools, multiple=self._multiple)
        return self.chat.prompt()

    def _check(self, output: str, reply: Reply, answer: Answer | None = None) -> None:
        if self._strict and not (answer and answer.server_calls):
            read = self._strict_read
            if answer and answer.has_server_reasoning:
                read = replace(read, starts_reasoning=False)
            tools = self.chat.tools.values() if self._declares else None
            try:
                parse_after_reasoning(output, tools=tools, multiple=self._multiple, read=read)
            except ResponseFormatError as error:
                raise StrictResponseError(
                    error.problem, error.detail, expected=error.expected, output=output, offset=error.offset
                ) from None
        if self._on_invalid == "raise" and reply.report.refused:
            raise MalformedToolCallError(output, reply.report.refused)


def _at_once(last: ChatResponse) -> ChatResponse:
    """Return the last response of a stream, for all of them."""
    thoughts = [block.content for block in last.message.blocks if isinstance(block, ThinkingBlock) and block.content]
    kwargs = {**last.additional_kwargs, **({"thinking_delta": "\n\n".join(thoughts)} if thoughts else {})}
    return last.model_copy(update={"delta": last.message.content or "", "additional_kwargs": kwargs})
