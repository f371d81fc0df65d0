"""The parser: what an LLM of LlamaIndex wrote, whole or streamed, into text and tool calls."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Literal, NoReturn, get_args

from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.types import BaseOutputParser

from llama3_tools import (
    Extraction,
    Extractor,
    Formats,
    Limits,
    OnUnknownTool,
    new_call_id,
    render_response_prompt,
    render_tool_prompt,
)
from llama3_tools.errors import require_bool, require_parameters
from llama3_tools.limits import DEFAULT_LIMITS
from llama3_tools.prompts.placement import put_prompt_before
from llama3_tools.strict.check import limits_of_reading
from llama_index_llama3_tools.errors import MalformedToolCallError
from llama_index_llama3_tools.messages import (
    AnyResponse,
    as_chat_response,
    checked_messages,
    has_native_calls,
    promote_message,
)
from llama_index_llama3_tools.output import Llama3ToolOutput, failed_tool_calls
from llama_index_llama3_tools.prompting import with_tool_prompt
from llama_index_llama3_tools.reading import Reading
from llama_index_llama3_tools.reasoning import has_reasoning
from llama_index_llama3_tools.streaming import HeldStream, ResponseStream, astream_responses, stream_responses
from llama_index_llama3_tools.strict import StrictFormat
from llama_index_llama3_tools.tools import LlamaIndexToolLike, read_tools

__all__ = ["Llama3JsonToolOutputParser"]

OnMalformed = Literal["text", "raise"]


class Llama3JsonToolOutputParser(BaseOutputParser):
    """Finds the tool calls that a Llama 3 wrote into its text.

    It is configured once, keeps no state between outputs, and may be shared by threads. In short: `parse` for a text,
    `promote` for a response, `stream` and `astream` for a stream of responses; as an LLM's `output_parser` it also
    shows the model its tools.

    >>> parser = Llama3JsonToolOutputParser()
    >>> output = parser.parse('Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}')
    >>> output.text, output.tool_calls[0].tool_name, output.tool_calls[0].tool_kwargs
    ('Let me check.', 'get_weather', {'city': 'Paris'})
    >>> output = Llama3JsonToolOutputParser(split_reasoning=True).parse("<think>A greeting.</think>Hello!")
    >>> output.reasoning, output.text
    ('A greeting.', 'Hello!')

    Args:
        tools: the tools that may be called: LlamaIndex tools, `ToolMetadata`, functions, tool dicts. Without
            them any name is a call, and the model is not shown any tool.
        on_unknown_tool: what a call of a tool outside `tools` is: `"text"`, as the model wrote it and reported in
            `errors`, or a `"call"` like others.
        on_malformed: what a call that the model did not manage to write is: `"text"`, as the model wrote it and
            reported in `errors`, or a reason to `"raise"` a `MalformedToolCallError`. What a call of an unknown tool
            is, malformed or not, `on_unknown_tool` says.
        strict: the whole output has to be one JSON object,
            `{"message": "…", "tool_call": {"name": "…", "arguments": {…}}}` or with `"tool_call": null`, and anything
            else raises a `StrictResponseError`. A stream comes at its end, all at once; the model is shown the format,
            with or without tools.
        multiple: with `strict`, the calls stand in an array, `"tool_calls"`, rather than one in `"tool_call"`.
        coerce_arguments: whether the arguments of the text's calls are made to fit the schemas of `tools`, without
            guessing. What was changed and what does not fit is in the message's
            `additional_kwargs["coerced_arguments"]`, and on the calls of `extraction`.
        formats: the forms of calls to read, by name, or `"all"`; `None`: as `Extractor` has it.
        lenient: whether calls under keys that no manual has are read, too. The same places tell which.
        repair: whether malformed calls of `tools` are repaired where they are closed. The same places
            tell what the model wrote.
        split_reasoning: whether `<think>…</think>` is no text, but reasoning: a `ThinkingBlock` in messages, a
            `thinking_delta` in streams, `reasoning` of what `parse` gives. With `strict`, it may stand before the
            object.
        starts_reasoning: whether the output begins inside reasoning, as the prompt ends with `<think>`. Not so, where
            the server has split reasoning off itself. Without it, a call that such a model only thinks of is a call.
        limits: how deep, how long and how many calls may be. What goes beyond is text, and with `strict` an error.
        id_factory: makes the id of a call. Ids must be unique in a conversation.

    Raises:
        TypeError: `tools` is no list of tools, there is no such option, `limits` are no `Limits`, or what is true or
            false is neither.
        ToolDefinitionError: a tool without a name, with a schema that is no object, or with another one's name.
        ValueError: an option has a value that it does not know, `multiple` comes without `strict`, `strict` with
            `formats`, `lenient` or `repair`, or `coerce_arguments` or `repair` without `tools`; or a limit is too low.
    """

    def __init__(  # noqa: PLR0913 (options, each by its name)
        self,
        tools: Iterable[LlamaIndexToolLike] | None = None,
        *,
        on_unknown_tool: OnUnknownTool = "text",
        on_malformed: OnMalformed = "text",
        strict: bool = False,
        multiple: bool = False,
        coerce_arguments: bool = False,
        formats: Formats = None,
        lenient: bool = False,
        repair: bool = False,
        split_reasoning: bool = False,
        starts_reasoning: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        id_factory: Callable[[], str] = new_call_id,
        **unknown: NoReturn,
    ) -> None:
        require_parameters(Llama3JsonToolOutputParser, unknown)
        if on_malformed not in get_args(OnMalformed):
            raise ValueError(f"on_malformed must be 'text' or 'raise', got {on_malformed!r}")
        require_bool(strict=strict, multiple=multiple)
        if multiple and not strict:
            raise ValueError("multiple=True says how calls stand in the strict format: it takes strict=True")
        if strict and (formats or lenient or repair):
            raise ValueError("strict=True reads one form, as it is: it takes no formats, lenient or repair")
        declared = None if tools is None else read_tools(tools).declared.values()
        self._on_malformed = on_malformed
        self._on_unknown_tool = on_unknown_tool
        self._strict = strict
        self._multiple = multiple
        self._limits = limits
        of_reading = limits_of_reading(limits) if strict else limits
        self._reader = Reading(formats, lenient, repair, split_reasoning, starts_reasoning, of_reading).reader(
            partial(Extractor, tools=declared),
            on_unknown_tool=on_unknown_tool,
            coerce_arguments=coerce_arguments,
            id_factory=id_factory,
        )

    @property
    def extractor(self) -> Extractor:
        """The extractor that decides what a call is."""
        return self._reader.extractor

    def parse(self, output: str) -> Llama3ToolOutput:
        """Take a model output apart.

        Args:
            output: the text of one assistant turn, such as `response.message.content` or `completion.text`.

        Raises:
            TypeError: `output` is not a text.
            MalformedToolCallError: a call is malformed, and `on_malformed="raise"`.
            StrictResponseError: it is not the one object, and `strict=True`.
        """
        if not isinstance(output, str):
            raise TypeError(f"parse takes the model's text, a str, got {type(output).__name__}{_hint(output)}")
        extraction = self.extractor.extract(output)
        self._check(output, extraction)
        return Llama3ToolOutput.from_extraction(output, extraction)

    def promote(self, response: AnyResponse) -> ChatResponse:
        """Take a whole response apart: its text calls become `ToolCallBlock`s, as if the server had parsed them.

        All else of the response is kept. One in which the server has found calls itself stays as it is, but for
        reasoning that is split off.

        Args:
            response: what `llm.chat` or `llm.complete` gave.

        Raises:
            TypeError: `response` is neither a `ChatResponse` nor a `CompletionResponse`.
            MalformedToolCallError: a call is malformed, and `on_malformed="raise"`.
            StrictResponseError: its text is not the one object, and `strict=True`.
        """
        chat = as_chat_response(response)
        has_calls = has_native_calls(chat.message)
        if has_calls and not self._reader.splits_reasoning:
            return chat
        extraction = self._reader.extract(chat)
        if not has_calls:
            self._check(chat.message.content or "", extraction, has_reasoning=has_reasoning(chat))
        message = promote_message(chat.message, extraction)
        if message is chat.message:
            return chat
        delta = None if chat.delta is None else message.content or ""
        return chat.model_copy(update={"message": message, "delta": delta})

    def stream(self, responses: Iterable[AnyResponse]) -> Generator[ChatResponse, None, None]:
        r"""Take a stream of responses apart while it comes in.

        Each response comes back as a `ChatResponse` whose `delta` is text that is content and whose `message` holds the
        text so far and each call that is complete; raw answers and additional arguments stay where they were. A piece
        of reasoning that is split off is in the response's `additional_kwargs["thinking_delta"]`. A call
        appears whole, as a `ToolCallBlock`, as soon as its last character is in. At the end one more response follows
        where something was held back; the last message is what `promote` makes of the whole response.

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
            TypeError: `responses` is no stream of responses.
            MalformedToolCallError: a call is malformed, and `on_malformed="raise"`; after the last response.
            StrictResponseError: the text is not the one object, and `strict=True`; instead of any response.
        """
        _require_stream(responses, Iterable, "stream")
        return self._stream(responses)

    def astream(self, responses: AsyncIterable[AnyResponse]) -> AsyncGenerator[ChatResponse, None]:
        """Take an asynchronous stream of responses apart while it comes in; see `stream`.

        Args:
            responses: what `await llm.astream_chat(…)` or `await llm.astream_complete(…)` gave.

        Raises:
            TypeError: `responses` is no asynchronous stream of responses.
            MalformedToolCallError: a call is malformed, and `on_malformed="raise"`; after the last response.
            StrictResponseError: the text is not the one object, and `strict=True`; instead of any response.
        """
        _require_stream(responses, AsyncIterable, "astream")
        return self._astream(responses)

    def format(self, query: str) -> str:
        r"""Put the tool prompt in front of a query; without tools the query stays as it is.

        >>> Llama3JsonToolOutputParser([{"name": "now"}]).format("What time is it?")[-18:]
        '\n\nWhat time is it?'
        """
        _require_query(query)
        prompt = self._tool_prompt()
        return query if prompt is None else put_prompt_before(prompt, query)

    def format_messages(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Put the tool prompt into the first user message, as Llama 3.1 knows it; without tools all stays as it is.

        The messages given are not changed. If there is no user message, the prompt becomes one.

        Raises:
            TypeError: `messages` is no list of messages.
        """
        given: object = messages
        if isinstance(given, str):
            raise TypeError("format_messages takes a list of ChatMessage, got str: use format")
        checked, prompt = checked_messages(given), self._tool_prompt()
        return checked if prompt is None else with_tool_prompt(checked, prompt)

    def __repr__(self) -> str:
        """Show which tools may be called."""
        tools = self.extractor.tools
        names = "any" if tools is None else ", ".join(tools)
        return f"<{type(self).__name__} tools: {names}>"

    def _tool_prompt(self) -> str | None:
        tools = self.extractor.tools
        if self._strict:
            return render_response_prompt(None if tools is None else tools.values(), multiple=self._multiple)
        return render_tool_prompt(tools.values()) if tools else None

    def _check(self, output: str, extraction: Extraction, *, has_reasoning: bool = False) -> None:
        if self._strict:
            names = self.extractor.tools if self._on_unknown_tool == "text" else None
            reasoning = self._reader.choose(has_reasoning=has_reasoning, has_calls=True)
            format_ = StrictFormat(names, self._multiple, self._limits)
            format_.check(output, reasoning=reasoning if self._reader.splits_reasoning else None)
        if self._on_malformed == "text":
            return
        errors = [error for error in failed_tool_calls(output, extraction) if self._may_be_called(error.name)]
        if errors:
            raise MalformedToolCallError(output, errors)

    def _may_be_called(self, name: str) -> bool:
        """Return whether a call of that name would be one, were it well-formed."""
        tools = self.extractor.tools
        return self._on_unknown_tool == "call" or tools is None or not name or name in tools

    def _stream(self, responses: Iterable[AnyResponse]) -> Generator[ChatResponse, None, None]:
        if self._strict:  # the last character may break the format
            held = HeldStream(self._reader)
            deque(stream_responses(responses, held), maxlen=0)
            self._check_turn(held.turn)
            yield from held.shown()
            return
        turn = ResponseStream(self._reader)
        yield from stream_responses(responses, turn)
        self._check_turn(turn)

    async def _astream(self, responses: AsyncIterable[AnyResponse]) -> AsyncGenerator[ChatResponse, None]:
        if self._strict:
            held = HeldStream(self._reader)
            async with aclosing(astream_responses(responses, held)) as coming:
                async for _ in coming:
                    pass
            self._check_turn(held.turn)
            for response in held.shown():
                yield response
            return
        turn = ResponseStream(self._reader)
        async with aclosing(astream_responses(responses, turn)) as promoted:
            async for response in promoted:
                yield response
        self._check_turn(turn)

    def _check_turn(self, turn: ResponseStream) -> None:
        if turn.extraction is not None:
            self._check(turn.output, turn.extraction, has_reasoning=turn.has_reasoning)


def _require_query(given: object) -> None:
    if not isinstance(given, str):
        hint = ": use format_messages" if isinstance(given, (ChatMessage, list)) else ""
        raise TypeError(f"format takes a query, a str, got {type(given).__name__}{hint}")


def _require_stream(given: object, kind: type, method: str) -> None:
    # A response is iterable: over its fields.
    if isinstance(given, (ChatResponse, CompletionResponse, ChatMessage, str)) or not isinstance(given, kind):
        name = type(given).__name__
        raise TypeError(f"{method} takes what llm.{method}_chat gives, a stream of responses, got {name}{_hint(given)}")


def _hint(given: object) -> str:
    """Say what to do with something that LlamaIndex gives and that was handed to the wrong method."""
    if isinstance(given, (ChatResponse, CompletionResponse)):
        return ": for a whole response use promote(response), or parse its text"
    if isinstance(given, ChatMessage):
        return ": pass message.content"
    if isinstance(given, Awaitable):
        return ": await it first"
    if isinstance(given, AsyncIterable):
        return ": use astream"
    if isinstance(given, Generator):
        return ": use stream"
    return ""
