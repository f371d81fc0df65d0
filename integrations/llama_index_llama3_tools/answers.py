"""Answers of an LLM, whole and streamed, through the chat layer: text, reasoning and calls apart."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from llama_index.core.base.llms.types import ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, MessageRole

from llama3_tools import OpenAIToolCall
from llama3_tools.chat import EndpointFault, Reply, Report, Request, finish_reason_in
from llama3_tools.errors import a_type
from llama3_tools.text.growing_text import GrowingText
from llama_index_llama3_tools.messages import CALL_KWARGS, answer_message, calls_of

AnyResponse: TypeAlias = ChatResponse | CompletionResponse
"""What an LLM of LlamaIndex answers with."""

Delta: TypeAlias = dict[str, Any]
_THINKING = "thinking_delta"
_NO_RESPONSE = f"The LLM's stream ended without a response: {EndpointFault.NOT_A_COMPLETION.value}"
"""Of a stream without anything, such as a web page read as one."""


def as_chat_response(response: AnyResponse) -> ChatResponse:
    """Return a completion as the chat response that LlamaIndex's own conversion makes of it, with its delta kept."""
    if isinstance(response, ChatResponse):
        return response
    if not isinstance(response, CompletionResponse):
        raise TypeError(f"expected a ChatResponse or a CompletionResponse of an LLM, not {a_type(response)}")
    message = ChatMessage(
        role=MessageRole.ASSISTANT, content=response.text, additional_kwargs=response.additional_kwargs
    )
    return ChatResponse(message=message, raw=response.raw, delta=response.delta, logprobs=response.logprobs)


class Answer:
    """One answer: it is fed the responses of an LLM and returns each with text, reasoning and calls apart.

    `delta` is text that is content, perhaps empty. `message` has the text so far, the reasoning that was split off so
    far, and the calls that were handed out. A new piece of that reasoning is in `additional_kwargs["thinking_delta"]`.
    """

    def __init__(self, request: Request, after: Answer | None = None) -> None:
        """Begin an answer.

        Args:
            request: what was asked.
            after: the answer that this one follows in a stream, as the model was asked again.
        """
        self._stream = request.stream()
        self._request = request
        self._text_before: str = after.text if after else ""
        self.text: str = self._text_before
        """The text so far."""
        self.reasoning: str = after.reasoning if after else ""
        """The reasoning that was split off so far."""
        self._output = GrowingText()
        """What the model has written so far."""
        self._has_deltas = False
        self._calls: list[ToolCallBlock] = []
        self._in_openai: list[OpenAIToolCall] = []
        """The calls in OpenAI's form, for those parts of LlamaIndex that look for it."""
        self._last: ChatResponse | None = None
        self._message: ChatMessage | None = None
        self._server_calls: list[Any] = []
        """The calls that the server found."""
        self._has_server_reasoning = False
        """Whether the server has split reasoning off itself."""
        self._finish_reason: str | None = None

    def require_responses(self) -> None:
        """Raise a `ValueError` if there were none. If the model was asked again, its first answer is kept."""
        if self._last is None and not self._request.retried:
            raise ValueError(_NO_RESPONSE)

    @property
    def output(self) -> str:
        """What the model has written, once it is over, with the calls of the server that became text."""
        if self._last is None:
            return ""
        refused = self.reply.report.refused
        return " ".join(filter(None, [self._output.joined(), *(call.text for call in refused if call.span is None)]))

    @property
    def written(self) -> str:
        """What the model has written so far: the arguments of the last call that the server found, or the text."""
        call = self._server_calls[-1] if self._server_calls else None
        if not isinstance(call, Mapping):
            return self._output.joined()
        arguments = (call.get("function") or {}).get("arguments") or ""
        return arguments if isinstance(arguments, str) else json.dumps(arguments)

    @cached_property
    def again(self) -> Request | None:
        """The request by which the model is asked again, once the answer is over; `None` if the answer is kept."""
        return self._request.retry(self.reply)

    @property
    def reply(self) -> Reply:
        """The answer as the chat layer has read it, once it is over."""
        return self._stream.reply

    def whole(self, response: AnyResponse) -> ChatResponse:
        """Return a whole response with text, reasoning and calls apart. All else of it is kept."""
        given = as_chat_response(response)
        # The last response of a stream has a delta, but is the whole answer.
        self._note(self._read(given if given.message.content is None else given.model_copy(update={"delta": None})))
        self._conclude(self._stream.end)
        if self.reply.report == Report() and not self.reasoning and self.text == (given.message.content or ""):
            return given
        return self._to_response(given, None if given.delta is None else self.text)

    def feed(self, response: AnyResponse) -> ChatResponse:
        """Read the next response, and return it with text, reasoning and calls apart."""
        chat = as_chat_response(response)
        return self._to_response(chat, *self._note(self._read(chat)))

    def end(self) -> list[ChatResponse]:
        """End the answer: one more response, if something was held back or there is something to report.

        None comes if all of it is asked for again, before a word went out.
        """
        ending = self._finish(self._stream.end)
        return ending if self.text or self.reasoning or self.again is None else []

    def abort(self) -> list[ChatResponse]:
        """End an answer whose stream broke off: held-back output becomes text, and no more calls are made."""
        return self._finish(lambda _: self._stream.abort())

    def _read(self, chat: ChatResponse) -> list[Delta]:
        self._last = chat
        self._finish_reason = finish_reason_in(chat.raw) or self._finish_reason
        kinds = {block.block_type for block in chat.message.blocks}
        if not self._has_server_reasoning and (_THINKING in chat.additional_kwargs or "thinking" in kinds):
            self._note_server_thought(chat)
        if "tool_call" in kinds or not CALL_KWARGS.isdisjoint(chat.message.additional_kwargs):
            self._note_server_calls(calls_of(chat.message))
        self._has_deltas = self._has_deltas or chat.delta is not None
        new = chat.delta or self._new_in(chat.message.content or "")
        if not new:
            return []
        self._output.add(new)
        return self._stream.feed({"content": new})

    def _new_in(self, content: str) -> str:
        """Return what a content adds to the text so far: some LLMs send no deltas, and some then a piece at a time."""
        known = self._output.length
        if self._has_deltas and len(content) <= known:
            return ""
        if content.startswith(self._output.joined()):
            return content[known:]
        return "" if self._has_deltas else content

    def _note_server_thought(self, chat: ChatResponse) -> None:
        """Tell the chat layer that the server has split reasoning off itself; what it is goes its own way."""
        thoughts = [block.content for block in chat.message.blocks if isinstance(block, ThinkingBlock)]
        thought = next(filter(None, [chat.additional_kwargs.get(_THINKING), *thoughts]), None)
        if thought:
            self._has_server_reasoning = True
            self._stream.feed({"reasoning_content": thought})

    def _note_server_calls(self, calls: list[Any]) -> None:
        """Note the calls of a message. Most LLMs repeat those that came before; some send each call once."""
        before = self._server_calls
        ids, others = ({call.get("id") for call in given if isinstance(call, Mapping)} for given in (calls, before))
        self._server_calls = [*before, *calls] if all(ids) and all(others) and ids.isdisjoint(others) else calls

    def _conclude(self, end: Callable[[str | None], list[Delta]]) -> tuple[str, str]:
        """End the answer, with the calls that the server found, and return what is new of its text and reasoning."""
        if self._server_calls:
            calls = enumerate(self._server_calls)
            numbered = [{**call, "index": index} if isinstance(call, Mapping) else call for index, call in calls]
            self._stream.feed({"tool_calls": numbered})
        fresh = self._note(end(self._finish_reason))
        if self.again is None and not (self._text_before and self._stream.is_silent):
            # Between two answers of a stream is a blank line, which is none of the reply's.
            self.text = "\n\n".join(filter(None, [self._text_before, str(self.reply.content or "")]))
        return fresh

    def _finish(self, end: Callable[[str | None], list[Delta]]) -> list[ChatResponse]:
        fresh, before = self._conclude(end), self._message
        if self._last is None:
            return []
        # What belongs to a delta belongs to one response alone.
        kwargs = {key: value for key, value in self._last.additional_kwargs.items() if key != _THINKING}
        last = self._last.model_copy(update={"logprobs": None, "additional_kwargs": kwargs})
        ending = self._to_response(last, *fresh)
        return [ending] if any(fresh) or ending.message != before else []

    def _note(self, deltas: Iterable[Delta]) -> tuple[str, str]:
        """Note what has become certain, and return what is new of the text and of the reasoning."""
        deltas = list(deltas)
        text = "".join(delta.get("content") or "" for delta in deltas)
        thought = "".join(delta.get("reasoning_content") or "" for delta in deltas)
        self.text += text
        self.reasoning += thought if self.reasoning else thought.lstrip()
        for call in self._stream.tool_calls[len(self._calls) :]:
            self._calls.append(ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=call.arguments))
            self._in_openai.append(call.to_openai())
        return text, thought

    def _to_response(self, response: ChatResponse, delta: str | None, thought: str = "") -> ChatResponse:
        """Return a response with all that is certain, and what is new of it."""
        kwargs: dict[str, Any] = {"tool_calls": list(self._in_openai)} if self._calls else {}
        if self._stream.is_over:
            # The model has been told about the calls in its first answer, which is in the text.
            kwargs |= self.reply.report.to_dict()
        self._message = answer_message(response.message, self.text, self.reasoning, self._calls, kwargs)
        changes: dict[str, Any] = {"delta": delta, "message": self._message}
        if thought:
            given = response.additional_kwargs
            changes["additional_kwargs"] = {**given, _THINKING: (given.get(_THINKING) or "") + thought}
        return response.model_copy(update=changes)


def stream_responses(responses: Iterable[Any], answer: Answer | None) -> Generator[Any, None, None]:
    """Read a stream of responses, and close it at the end. Without an answer to feed, they pass as they come."""
    response = None
    try:
        for response in responses:
            yield answer.feed(response) if answer else response
    except Exception:
        yield from answer.abort() if answer else ()
        raise
    finally:
        if isinstance(responses, Generator):
            responses.close()
    yield from _ending(answer, response)


async def astream_responses(responses: AsyncIterable[Any], answer: Answer | None) -> AsyncGenerator[Any, None]:
    """Read an asynchronous stream of responses; see `stream_responses`."""
    response = None
    try:
        async for response in responses:
            yield answer.feed(response) if answer else response
    except Exception:
        for read in answer.abort() if answer else ():
            yield read
        raise
    finally:
        if isinstance(responses, AsyncGenerator):
            await responses.aclose()
    for read in _ending(answer, response):
        yield read


def _ending(answer: Answer | None, last: object) -> list[ChatResponse]:
    if answer is None and last is None:
        raise ValueError(_NO_RESPONSE)
    return answer.end() if answer else []
