"""The parser: what an LLM of LlamaIndex wrote, whole or streamed, into text and tool calls."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.types import BaseOutputParser

from llama3_tools import ReadOption, ReadOptions
from llama3_tools.chat import ChatOptions, OnInvalid, RepeatedCalls, Reply, ToolChat, put_tools
from llama3_tools.errors import a_type, require_options, require_words
from llama_index_llama3_tools.answers import Answer, AnyResponse, astream_responses, stream_responses
from llama_index_llama3_tools.errors import MalformedToolCallError
from llama_index_llama3_tools.messages import NO_PLACE, to_dicts, to_messages
from llama_index_llama3_tools.output import Llama3ToolOutput
from llama_index_llama3_tools.tools import LlamaIndexToolLike, tool_dicts

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Llama3JsonToolOutputParser(BaseOutputParser):
    """Reads the text and the tool calls in outputs of a local Llama 3, as LlamaIndex's own classes.

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
        on_invalid: what happens to a malformed call: it stays text, and is listed in `errors` (`"collect"`), or it
            raises a `MalformedToolCallError` (`"raise"`).
        repeated_calls: what happens to a call that repeats the one before it, with text in between: it is reported and
            does not count (`"report"`), or is a call like others (`"keep"`).
        **options: how outputs are read: the fields of `ReadOptions`, by name.

    Raises:
        TypeError: `tools` is not a list of tools, or an option does not exist or has the wrong type.
        ToolDefinitionError: a tool without a name, with a schema that is not an object, or with another one's name.
        ValueError: an option has a value that it cannot have, or `coerce_arguments` or `repair` comes without `tools`.
    """

    def __init__(
        self,
        tools: Iterable[LlamaIndexToolLike] | None = None,
        *,
        on_invalid: OnInvalid = "collect",
        repeated_calls: RepeatedCalls = "report",
        **options: Unpack[ReadOption],
    ) -> None:
        require_words({"on_invalid": on_invalid}, on_invalid=OnInvalid)
        require_options(
            type(self).__name__, options, {*ReadOption.__optional_keys__, "on_invalid", "repeated_calls"} - NO_PLACE
        )
        read = ReadOptions(**options)
        if tools is None and read.coerce_arguments:
            raise ValueError("coerce_arguments needs the schemas of the tools: pass tools, too")
        self._on_invalid = on_invalid
        declared = None if tools is None else tool_dicts(tools)
        self.chat = ToolChat(
            declared, ChatOptions(read=read, repeated_calls=repeated_calls, prompt_format=None, max_retries=0)
        )
        """What reads the outputs; its `tools` and `options` say how."""
        self._request = self.chat.request([])

    def parse(self, output: str) -> Llama3ToolOutput:
        """Read a model output.

        Args:
            output: the text of one assistant turn, such as `response.message.content` or `completion.text`.

        Raises:
            TypeError: `output` is not a text.
            MalformedToolCallError: a call is malformed, and `on_invalid="raise"`.
        """
        if not isinstance(output, str):
            raise TypeError(
                f"parse takes the model's text, a str, not {a_type(output)}: a response is for promote, many for stream"
            )
        reply = self._request.read({"content": output})
        self._check(output, reply)
        return Llama3ToolOutput.from_reply(reply)

    def promote(self, response: AnyResponse) -> ChatResponse:
        """Read a whole response: its text calls become `ToolCallBlock`s, as if the server had found them.

        All else of the response is kept. Calls that the server found come after those of the text.

        Args:
            response: what `llm.chat` or `llm.complete` returned.

        Raises:
            TypeError: `response` is neither a `ChatResponse` nor a `CompletionResponse`.
            MalformedToolCallError: a call is malformed, and `on_invalid="raise"`.
        """
        answer = Answer(self._request)
        read = answer.whole(response)
        self._check(answer.output, answer.reply)
        return read

    def stream(self, responses: Iterable[AnyResponse]) -> Generator[ChatResponse, None, None]:
        r"""Read a stream of responses while it comes in.

        Each response becomes a `ChatResponse`. Its `delta` is the new text. Its `message` has the text so far and all
        complete calls, each as a `ToolCallBlock`. A new piece of a thought, if these are split off, is in
        `additional_kwargs["thinking_delta"]`; all else stays as it was. Calls that the server found come at the end.
        One more response follows if something was held back, or there is something to report. The last message is what
        `promote` makes of the whole response.

        >>> from llama_index.core.llms import MockLLM
        >>> llm, parser = MockLLM(), Llama3JsonToolOutputParser()
        >>> for response in parser.stream(llm.stream_complete('Hi {"name": "now", "parameters": {}}')):
        ...     print(response.delta, end="")
        Hi
        >>> response.message.blocks[-1].tool_name
        'now'

        Args:
            responses: what `llm.stream_chat` or `llm.stream_complete` returned.

        Raises:
            TypeError: there is something else in `responses`.
            MalformedToolCallError: a call is malformed, and `on_invalid="raise"`; after the last response.
        """
        answer = Answer(self._request)
        yield from stream_responses(responses, answer)
        self._check(answer.output, answer.reply)

    async def astream(self, responses: AsyncIterable[AnyResponse]) -> AsyncGenerator[ChatResponse, None]:
        """Read the responses of `await llm.astream_chat(…)` while they come in; see `stream`."""
        answer = Answer(self._request)
        async with aclosing(astream_responses(responses, answer)) as read:
            async for response in read:
                yield response
        self._check(answer.output, answer.reply)

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
        """
        prompt = self.chat.prompt()
        return to_messages(put_tools(to_dicts(messages), prompt, "user")) if prompt else list(messages)

    def _check(self, output: str, reply: Reply) -> None:
        if self._on_invalid == "raise" and reply.report.refused:
            raise MalformedToolCallError(output, reply.report.refused)
