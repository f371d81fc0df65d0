"""One question to an LLM, until its answer can be kept: a bad call is asked for again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from llama_index.core.llms import LLM, ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.llms.function_calling import FunctionCallingLLM

from llama3_tools.chat import Request, ServerConstraint, add_advice
from llama_index_llama3_tools.answers import Answer, astream_responses, stream_responses
from llama_index_llama3_tools.messages import to_messages

_Response = TypeVar("_Response", ChatResponse, CompletionResponse)


class Turn(Generic[_Response]):
    """One question to an LLM, whole or streamed, synchronous or not."""

    def __init__(
        self, llm: LLM, settings: Mapping[str, Any], request: Request | None = None, *, is_read: bool = False
    ) -> None:
        """Begin a turn.

        Args:
            llm: what is asked.
            settings: what it is asked with beside the messages.
            request: the request; `None` if `settings` are all that the LLM is asked with.
            is_read: whether answers are read. If not, they are passed on as they come.
        """
        self._llm, self._settings, self._request, self._is_read = llm, settings, request, is_read
        self._answer: Answer | None = None
        self._constraint = ServerConstraint(
            llm, "off" if request is None or _may_be_several(request) else request.chat.options.constrain, settings
        )

    @property
    def written(self) -> str:
        """What the model has written so far in its last answer, which is read."""
        return self._answer.written if self._answer else ""

    def whole(self, way: str) -> _Response:
        """Ask, and return the answer.

        Args:
            way: the LLM's method.
        """
        while True:
            answer = self._next_answer()
            try:
                given = self._ask(way)
            except Exception as error:  # noqa: BLE001 (it is raised again, if nothing can be made of it)
                given = self._recover(error)
            if given is not None:
                response: _Response = answer.whole(given) if answer else given
                if self._stands(answer):
                    return response

    async def awhole(self, way: str) -> _Response:
        """Ask, and return the answer; see `whole`."""
        while True:
            answer = self._next_answer()
            try:
                given = await self._ask(way)
            except Exception as error:  # noqa: BLE001 (the same)
                given = self._recover(error)
            if given is not None:
                response: _Response = answer.whole(given) if answer else given
                if self._stands(answer):
                    return response

    def stream(self, way: str) -> Generator[_Response, None, None]:
        """Ask, and yield the responses. If the LLM is asked again, its new answer follows the first one."""
        answer, stands = None, False
        while not stands:
            before, answer = answer, self._next_answer(answer)
            try:
                yield from stream_responses(self._ask(way), answer)
            except Exception as error:  # noqa: BLE001 (the same)
                recovered = self._recover(error, is_out=answer is None or bool(answer.output))
                answer = before
                if recovered is None:
                    continue
                answer = self._next_answer(before)
                yield from stream_responses([recovered], answer)
            stands = self._stands(answer)

    async def astream(self, way: str) -> AsyncGenerator[_Response, None]:
        """Ask, and yield the responses; see `stream`."""
        answer, stands = None, False
        while not stands:
            before, answer = answer, self._next_answer(answer)
            try:
                async with aclosing(astream_responses(await self._ask(way), answer)) as responses:
                    async for response in responses:
                        yield response
            except Exception as error:  # noqa: BLE001 (the same)
                recovered = self._recover(error, is_out=answer is None or bool(answer.output))
                answer = before
                if recovered is None:
                    continue
                answer = self._next_answer(before)
                for response in stream_responses([recovered], answer):
                    yield response
            stands = self._stands(answer)

    def _ask(self, way: str) -> Any:  # noqa: ANN401 (what the LLM gives)
        """Ask the LLM in the way of that name, or through its own tool calling."""
        if self._request is None:
            return getattr(self._llm, way)(**self._settings)
        messages = to_messages(self._request.messages)
        if not self._request.tools:
            llm, settings = self._held(self._request)
            return getattr(llm, way)(messages, **settings)
        if not isinstance(self._llm, FunctionCallingLLM):
            raise NotImplementedError(
                f'tools_in="request" needs an LLM that calls tools itself, and {type(self._llm).__name__} does not: '
                'use tools_in="user"'
            )
        return getattr(self._llm, f"{way}_with_tools")(chat_history=messages, **self._settings)

    def _held(self, request: Request) -> tuple[LLM, dict[str, Any]]:
        """Return the LLM, and what it is asked with, to hold its server to the form of the answer."""
        llm, settings = self._llm, dict(self._settings)
        constraint = request.constraint if self._constraint.is_on else {}
        if constraint and llm.class_name() == "Ollama_llm":
            return llm, {**settings, "format": request.answer_schema}
        return llm, {**settings, **constraint}

    def _recover(self, error: Exception, *, is_out: bool = False) -> ChatResponse | None:
        """Return what a failed request still answered; `None`: it is asked again, without what it refused.

        Args:
            error: why it failed.
            is_out: whether something of its answer is out.

        Raises:
            Exception: the error, with a note on what to do about it, if that is known.
        """
        add_advice(error, self._llm, self._request.chat.options.tool_role if self._request else "user")
        if self._request is None or is_out:
            raise error
        answer = self._request.after_error(error, self._constraint)
        if answer is None:
            return None
        kwargs = {key: value for key, value in answer.items() if key != "content"}
        message = ChatMessage(role="assistant", content=answer["content"], additional_kwargs=kwargs)
        return ChatResponse(message=message, delta=answer["content"], raw={"finish_reason": "stop"})

    def _next_answer(self, before: Answer | None = None) -> Any:  # noqa: ANN401 (an `Answer` or `None`)
        if self._request is None or not self._is_read:
            return None
        self._answer = Answer(self._request, after=before)
        return self._answer

    def _stands(self, answer: Answer | None) -> bool:
        """Return whether an answer is kept. If not, make the next request."""
        if answer is not None:
            answer.require_responses()
        self._constraint.remember_refusal()
        if self._request is None or answer is None:
            return True
        self._request = answer.again or self._request
        return answer.again is None


def _may_be_several(request: Request) -> bool:
    """Return whether a program wants several objects. A server can only be held to a single one."""
    is_strict = request.chat.options.prompt_format == "strict"  # which has room for one
    return request.class_check is not None and request.choice.parallel and not is_strict
