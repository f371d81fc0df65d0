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
        self._asks = True
        """Whether the LLM is to be asked, for the first time or again."""
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
        while self._asks:
            self._begin()
            try:
                given = self._ask(way)
            except Exception as error:  # noqa: BLE001 (it is raised again, if nothing can be made of it)
                given = self._recover(error)
            response: _Response = self._read(given)
        return response

    async def awhole(self, way: str) -> _Response:
        """Ask, and return the answer; see `whole`."""
        while self._asks:
            self._begin()
            try:
                given = await self._ask(way)
            except Exception as error:  # noqa: BLE001 (the same)
                given = self._recover(error)
            response: _Response = self._read(given)
        return response

    def stream(self, way: str) -> Generator[_Response, None, None]:
        """Ask, and yield the responses. If the LLM is asked again, its new answer follows the first one."""
        while self._asks:
            self._begin(after=self._answer)
            try:
                yield from stream_responses(self._ask(way), self._answer)
            except Exception as error:  # noqa: BLE001 (the same)
                yield from self._recovered(error)
            else:
                self._settle()

    async def astream(self, way: str) -> AsyncGenerator[_Response, None]:
        """Ask, and yield the responses; see `stream`."""
        while self._asks:
            self._begin(after=self._answer)
            try:
                async with aclosing(astream_responses(await self._ask(way), self._answer)) as responses:
                    async for response in responses:
                        yield response
            except Exception as error:  # noqa: BLE001 (the same)
                for response in self._recovered(error):
                    yield response
            else:
                self._settle()

    def _ask(self, way: str) -> Any:  # noqa: ANN401 (what the LLM gives)
        """Ask the LLM in the way of that name, or through its own tool calling."""
        if self._request is None:
            return getattr(self._llm, way)(**self._settings)
        messages = to_messages(self._request.messages)
        if not self._request.tools:
            return getattr(self._llm, way)(messages, **{**self._settings, **self._constraint_of(self._request)})
        if not isinstance(self._llm, FunctionCallingLLM):
            raise NotImplementedError(
                f'tools_in="request" needs an LLM that calls tools itself, and {type(self._llm).__name__} does not: '
                'use tools_in="user"'
            )
        return getattr(self._llm, f"{way}_with_tools")(chat_history=messages, **self._settings)

    def _constraint_of(self, request: Request) -> dict[str, Any]:
        """Return the form to which the LLM's server must keep, in the argument by which the LLM sends it."""
        constraint = request.constraint if self._constraint.is_on else {}
        is_ollama = constraint and self._llm.class_name() == "Ollama_llm"
        return {"format": request.answer_schema} if is_ollama else constraint

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

    def _begin(self, after: Answer | None = None) -> None:
        """Begin an answer, in a stream after the one before it."""
        if self._request is not None and self._is_read:
            self._answer = Answer(self._request, after=after)

    def _read(self, given: Any) -> Any:  # noqa: ANN401 (what the LLM gave; `None` if it is asked once more)
        if given is not None:
            given = self._answer.whole(given) if self._answer else given
            self._settle()
        return given

    def _recovered(self, error: Exception) -> Generator[Any, None, None]:
        """Yield what a failed stream still answered, if it did."""
        recovered = self._recover(error, is_out=self._answer is None or bool(self._answer.output))
        if recovered is not None:
            self._begin(after=self._answer)
            yield from stream_responses([recovered], self._answer)
            self._settle()

    def _settle(self) -> None:
        """Note whether the answer is kept. If not, the next request is asked."""
        self._asks = False
        if self._answer:
            self._answer.require_responses()
        self._constraint.remember_refusal()
        if self._answer and (again := self._answer.again):
            self._request, self._asks = again, True


def _may_be_several(request: Request) -> bool:
    """Return whether a program wants several objects. A server can only be held to a single one."""
    is_strict = request.chat.options.prompt_format == "strict"  # which has room for one
    return request.class_check is not None and request.choice.parallel and not is_strict
