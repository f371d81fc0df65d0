# ruff: noqa: ANN401, SLF001  # LangChain marks what a model overrides with an underscore
"""One turn: the request to the wrapped model, and the further ones by which it is asked again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import add_usage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.aiter import aclosing

from langchain_llama3_tools.answers import AnswerStream, read_answer, with_reason
from langchain_llama3_tools.conversation import to_dict, to_message
from langchain_llama3_tools.runs import Step
from langchain_llama3_tools.settings import constraint_settings, tool_settings
from langchain_llama3_tools.tools import bound_chat
from llama3_tools.chat import EndpointFault, Request, ServerConstraint, add_advice

if TYPE_CHECKING:
    from langchain_llama3_tools.model import Llama3ToolModel

_NO_RESPONSE = f"No generation chunks were returned ({EndpointFault.NOT_A_COMPLETION.value})"
"""Of a stream without anything, such as a web page read as one. LangChain says the first half of it."""
# Some models need a run manager. What they tell it has calls in it, so nobody listens.
_NOBODY = CallbackManagerForLLMRun.get_noop_manager()
_ANOBODY = AsyncCallbackManagerForLLMRun.get_noop_manager()


class Turn:
    """A request, and the further ones by which the model is asked again, in one of four ways, once."""

    def __init__(self, model: Llama3ToolModel, messages: list[BaseMessage], kwargs: Mapping[str, Any]) -> None:
        """Prepare the request. Of its settings, `tools`, `tool_choice` and `parallel_tool_calls` are taken out."""
        self._llm, self._options, self._steps = model.llm, model.options, model._steps
        self._reading: dict[str, Any] = {"is_v1": model.output_version == "v1", "previews": model._previews}
        given = dict(kwargs)
        tools = given.pop("tools", None) or []
        self._request: Request = bound_chat(tools, model.options).request(
            [*map(to_dict, messages)],
            tool_choice=given.pop("tool_choice", None),
            parallel_tool_calls=given.pop("parallel_tool_calls", None),
            class_check=model._class_check,
            output_tools=model._output_tools,
        )
        self._next: Request | None = self._request
        self._given = {**given, **tool_settings(self._request, self._llm)}
        self._constraint = ServerConstraint(self._llm, self._options.constrain, given)

    def whole(self) -> ChatResult:
        """Ask, and return the answer."""
        answer = ChatResult(generations=[])
        while self._asks():
            with self._step() as request:
                request.result = self._llm._generate(**request.kwargs, run_manager=_NOBODY)
            answer = self._read(request, answer)
        return answer

    async def awhole(self) -> ChatResult:
        """Ask, and return the answer."""
        answer = ChatResult(generations=[])
        while self._asks():
            async with self._step() as request:
                request.result = await self._llm._agenerate(**request.kwargs, run_manager=_ANOBODY)
            answer = self._read(request, answer)
        return answer

    def stream(self) -> Iterator[ChatGenerationChunk]:
        """Ask, and yield the answer in chunks. If the model is asked again, its next answer follows."""
        answer: AnswerStream | None = None
        while self._asks():
            answer = AnswerStream(self._request, after=answer, **self._reading)
            with self._step() as request:
                for chunk in self._chunks(request.kwargs):
                    request.chunks.append(chunk)
                    yield from _fed(answer, chunk)
            yield from self._ended(answer, request.error)

    async def astream(self) -> AsyncIterator[ChatGenerationChunk]:
        """Ask, and yield the answer in chunks. If the model is asked again, its next answer follows."""
        answer: AnswerStream | None = None
        while self._asks():
            answer = AnswerStream(self._request, after=answer, **self._reading)
            async with self._step() as request, aclosing(self._achunks(request.kwargs)) as chunks:
                async for chunk in chunks:
                    request.chunks.append(chunk)
                    for out in _fed(answer, chunk):
                        yield out
            for out in self._ended(answer, request.error):
                yield out

    def _asks(self) -> bool:
        """Go on to the next request, and return whether there is one: the first, or one that asks again."""
        if self._next is None:
            return False
        self._request, self._next = self._next, None
        return True

    def _step(self) -> Step:
        held = constraint_settings(self._request, self._llm, self._given) if self._constraint.is_on else {}
        messages = [*map(to_message, self._request.messages)]
        return Step(self._steps, self._llm, {"messages": messages, **self._given, **held})

    def _chunks(self, kwargs: Mapping[str, Any]) -> Iterator[ChatGeneration]:
        """Yield what the wrapped model answers; one that does not stream answers with one chunk."""
        if type(self._llm)._stream is not BaseChatModel._stream:
            yield from self._llm._stream(**kwargs, run_manager=_NOBODY)
        else:
            yield _with_all(self._llm._generate(**kwargs, run_manager=_NOBODY))

    async def _achunks(self, kwargs: Mapping[str, Any]) -> AsyncIterator[ChatGeneration]:
        """Yield what the wrapped model answers, as `_chunks` does."""
        kind = type(self._llm)
        if kind._astream is BaseChatModel._astream and kind._stream is BaseChatModel._stream:
            yield _with_all(await self._llm._agenerate(**kwargs, run_manager=_ANOBODY))
            return
        async with aclosing(self._llm._astream(**kwargs, run_manager=_ANOBODY)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _recover(self, error: Exception) -> ChatResult | None:
        """Return what a failed request answered nevertheless, `None` if it is sent again in another form, or raise."""
        add_advice(error, self._llm, self._options.tool_role)
        answer = self._request.after_error(error, self._constraint)
        if answer is None:
            self._next = self._request
            return None
        metadata = {key: value for key, value in answer.items() if key != "content"}
        message = AIMessage(answer["content"], response_metadata={**metadata, "finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _read(self, request: Step, earlier: ChatResult) -> ChatResult:
        """Return a whole answer as it is read, with the usage of the earlier one; that one if there is none."""
        result = request.result if request.error is None else self._recover(request.error)
        if result is None:
            return earlier
        self._constraint.remember_refusal()
        generations: list[ChatGeneration] = []
        output = result.llm_output
        for generation in result.generations:
            info = generation.generation_info
            message, reply = read_answer(self._request, generation.message, info)
            info = info and with_reason(info, reply)
            if generation is result.generations[0]:
                self._next = self._request.retry(reply)
                output = output and with_reason(output, reply)
                for before in earlier.generations[:1]:
                    message.usage_metadata = _sum_usage(before.message, message)
            generations.append(ChatGeneration(message=message, generation_info=info))
        if output and earlier.llm_output:
            output |= self._llm._combine_llm_outputs([earlier.llm_output, output])
        return ChatResult(generations=generations, llm_output=output)

    def _ended(self, answer: AnswerStream, error: Exception | None) -> Iterator[ChatGenerationChunk]:
        """Yield the end of a streamed answer, unless all of it is asked for again; or raise that it broke off."""
        if error is None and not answer.has_begun and not self._request.retried:
            error = ValueError(_NO_RESPONSE)
        if error is not None and answer.has_content:
            yield from _out(answer.abort())
            yield answer.report()
            add_advice(error, self._llm, self._options.tool_role)
            raise error
        if error is not None:
            recovered = self._recover(error)
            if recovered is None:
                return
            yield from _fed(answer, _with_all(recovered))
        self._constraint.remember_refusal()
        yield from _out(answer.end())
        self._next = self._request.retry(answer.reply)
        if self._next is None:
            yield answer.report()


def _sum_usage(earlier: BaseMessage, message: AIMessage) -> Any:
    used = earlier.usage_metadata if isinstance(earlier, AIMessage) else None
    return add_usage(used, message.usage_metadata) if used or message.usage_metadata else None


def _fed(answer: AnswerStream, chunk: ChatGeneration) -> Iterator[ChatGenerationChunk]:
    return _out(answer.feed(chunk.message, chunk.generation_info))


def _out(messages: Iterable[AIMessageChunk]) -> Iterator[ChatGenerationChunk]:
    return (ChatGenerationChunk(message=message) for message in messages)


def _with_all(result: ChatResult) -> ChatGeneration:
    """Return a whole answer, for a stream, with all that is known of it."""
    generation = result.generations[0]
    info = {**(result.llm_output or {}), **(generation.generation_info or {})}
    return ChatGeneration(message=generation.message, generation_info=info or None)
