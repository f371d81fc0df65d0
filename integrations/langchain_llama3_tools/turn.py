# ruff: noqa: ANN401, SLF001  # LangChain marks what a model overrides with an underscore
"""One turn: the request to the model inside, and the further ones by which it is asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import add_usage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from langchain_llama3_tools.answers import AnswerStream, read_answer, with_reason
from langchain_llama3_tools.both_ways import Out, Steps, Way
from langchain_llama3_tools.conversation import to_dict, to_message
from langchain_llama3_tools.hints import NO_RESPONSE, advise
from langchain_llama3_tools.runs import Answer, Manager, told
from langchain_llama3_tools.tools import bound_chat
from llama3_tools.chat import Hold, Request, failed_generation

if TYPE_CHECKING:
    from langchain_llama3_tools.model import Llama3ToolModel

__all__ = ["Turn"]


class Turn:
    """A request, and the further ones by which the model is asked again."""

    def __init__(
        self,
        model: Llama3ToolModel,
        way: Way,
        messages: list[BaseMessage],
        kwargs: Mapping[str, Any],
        run: Manager | None,
    ) -> None:
        """Prepare the request.

        Args:
            model: the wrapper.
            way: how the model inside is asked.
            messages: the conversation.
            kwargs: the request's settings. `tools`, `tool_choice` and `parallel_tool_calls`, as bound, are taken out.
            run: what tells of steps in the wrapper's run.
        """
        self._llm, self._options, self._way, self._run = model.llm, model.options, way, run
        self._answered = model._answered
        self._first_index = _BEYOND_TEXTS if model.output_version == "v1" else 0
        given = dict(kwargs)
        tools = given.pop("tools", None) or []
        self._request: Request = bound_chat(tools, model.options).request(
            [*map(to_dict, messages)],
            tool_choice=given.pop("tool_choice", None),
            parallel_tool_calls=given.pop("parallel_tool_calls", None),
            accepts=model._accepts,
            output_tool=model._output_tool,
        )
        self._next: Request | None = self._request
        self._given = {**given, **self._of_tools()}
        self._hold = Hold(model.llm, model.options.constrain, given)

    def whole(self) -> Steps[ChatResult]:
        """Ask, and return the answer."""
        answer = ChatResult(generations=[])
        while self._asks():
            try:
                result: ChatResult | None = yield from self._told(self._whole)
            except Exception as error:  # noqa: BLE001 (it is raised again, if nothing can be made of it)
                result = self._recover(error)
            if result is not None:
                answer = self._read(result, answer)
        return answer

    def stream(self) -> Steps[None]:
        """Ask, and let the answer out in chunks. If the model is asked again, its next one follows."""
        answer: AnswerStream | None = None
        while self._asks():
            answer = AnswerStream(self._request, after=answer, first_index=self._first_index)
            try:
                yield from self._told(partial(self._streamed, answer))
            except Exception as error:
                if answer.has_content:
                    yield from _out(answer.abort())
                    yield Out(answer.report())
                    advise(error, self._llm, self._options.tool_role)
                    raise
                recovered = self._recover(error)
                if recovered is None:
                    continue
                yield from _fed_whole(answer, recovered)
            yield from self._end(answer)

    def _told(self, ask: Callable[..., Steps[Answer]]) -> Steps[Answer]:
        kwargs = {"messages": [*map(to_message, self._request.messages)], **self._kwargs}
        nobody = self._way.run.get_noop_manager()  # some models need one, and what they tell it has calls in it
        return told(ask(run_manager=nobody, **kwargs), self._run, self._llm, self._way, kwargs)

    def _whole(self, **kwargs: Any) -> Steps[ChatResult]:
        result: ChatResult = yield getattr(self._llm, f"_{self._way.a}generate")(**kwargs)
        return result

    def _streamed(self, answer: AnswerStream, **kwargs: Any) -> Steps[ChatResult | list[ChatGenerationChunk]]:
        """Ask the model inside; one that does not stream answers with one chunk."""
        llm, way = self._llm, self._way
        if not llm._should_stream(async_api=bool(way.a), **{**kwargs, "stream": True}):
            result = yield from self._whole(**kwargs)
            yield from _fed_whole(answer, result)
            return result
        chunks = getattr(llm, f"_{way.a}stream")(**kwargs)
        came: list[ChatGenerationChunk] = []
        try:
            while (chunk := (yield way.next(chunks, None))) is not None:
                came.append(chunk)
                yield from _out(answer.feed(chunk.message, chunk.generation_info))
        finally:
            if hasattr(chunks, f"{way.a}close"):
                yield getattr(chunks, f"{way.a}close")()
        return came

    def _asks(self) -> bool:
        """Go on to the next request, and return whether there is one: the first, or one that asks again."""
        if self._next is None:
            return False
        self._request, self._next = self._next, None
        return True

    @property
    def _kwargs(self) -> dict[str, Any]:
        return {**self._given, **(_in_kwargs(self._request, self._llm, self._given) if self._hold.is_on else {})}

    def _recover(self, error: Exception) -> ChatResult | None:
        """Return what a failed request answered all the same; `None`: it is asked again, without what it refused.

        Raises:
            Exception: the error, with advice if there is some.
        """
        text = failed_generation(error)
        told = {} if text is None else {"failed_generation": text}
        if text is None and self._request.constraint and self._hold.lets_go(error):
            self._next = self._request
            return None
        if told or self._request.gives_up(error):
            message = AIMessage(text or "", response_metadata={**told, "finish_reason": "stop"})
            return ChatResult(generations=[ChatGeneration(message=message)])
        advise(error, self._llm, self._options.tool_role)
        raise error

    def _read(self, result: ChatResult, earlier: ChatResult) -> ChatResult:
        """Return a whole answer as it is read, with the usage of the earlier one."""
        self._note_answer()
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

    def _end(self, answer: AnswerStream) -> Iterator[Out]:
        """Yield the end of a streamed answer, and find out whether the model is asked again.

        Raises:
            ValueError: nothing has arrived, though nothing was asked that a server may refuse.
        """
        if not answer.has_begun and not self._request.retried:
            self._recover(ValueError(NO_RESPONSE))
            return
        self._note_answer()
        yield from _out(answer.end())
        self._next = self._request.retry(answer.reply)
        if self._next is None:
            yield Out(answer.report())

    def _note_answer(self) -> None:
        self._answered[:] = [True]
        self._hold.note_answer()

    def _of_tools(self) -> dict[str, Any]:
        """Return what the model inside is asked with if it gets the tools in its request."""
        if not self._request.tools:
            return {}
        choice: Any = self._request.tool_choice
        llm = self._llm
        settings: dict[str, Any] = {"tool_choice": None if choice == "auto" else choice}
        if not self._request.choice.parallel and "parallel_tool_calls" in signature(llm.bind_tools).parameters:
            settings["parallel_tool_calls"] = False  # not every server takes it: the model's class says so
        try:
            bound: Any = llm.bind_tools(self._request.tools, **settings)
        except NotImplementedError as error:
            raise NotImplementedError(
                f'tools_in="request" needs a model with bind_tools, and {type(llm).__name__} has none: '
                'use tools_in="user"'
            ) from error
        return dict(bound.kwargs)


_BEYOND_TEXTS = 1_000_000
"""An index that no text has: in version 1 of the content, LangChain counts texts and adds up what has one index."""


def _in_kwargs(request: Request, llm: BaseChatModel, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holds a server to the form of an answer, as the model inside takes it."""
    if llm._llm_type == "chat-ollama":
        schema = request.answer_schema
        return {} if schema is None else {"format": schema}
    constraint = request.constraint
    if constraint and hasattr(llm, "extra_body"):  # OpenAI's client parses what comes back for `response_format`
        own = given.get("extra_body") or llm.extra_body or {}
        return {"extra_body": {**constraint, **own}}
    return constraint


def _sum_usage(earlier: BaseMessage, message: AIMessage) -> Any:
    used = earlier.usage_metadata if isinstance(earlier, AIMessage) else None
    return add_usage(used, message.usage_metadata) if used or message.usage_metadata else None


def _out(messages: Iterable[AIMessageChunk]) -> Iterator[Out]:
    return (Out(ChatGenerationChunk(message=message)) for message in messages)


def _fed_whole(answer: AnswerStream, result: ChatResult) -> Iterator[Out]:
    """Feed a whole answer, with all that is known of it."""
    generation = result.generations[0]
    info = {**(result.llm_output or {}), **(generation.generation_info or {})}
    return _out(answer.feed(generation.message, info or None))
