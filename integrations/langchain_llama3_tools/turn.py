# ruff: noqa: ANN401, SLF001  # LangChain marks what a model overrides with an underscore
"""One turn: the request to the model inside, and the further ones by which it is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import add_usage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from langchain_llama3_tools.accepting import ToolClass, accepting
from langchain_llama3_tools.answers import AnswerStream, read_answer, with_reason
from langchain_llama3_tools.conversation import to_dicts, to_messages
from langchain_llama3_tools.hints import NO_RESPONSE, advise
from langchain_llama3_tools.tools import bound_chat
from llama3_tools.chat import (
    ChatOptions,
    Hold,
    Request,
    failed_generation,
)

__all__ = ["Turn", "to_generations", "whole"]


class _Wrapper(Protocol):
    """What of a `Llama3ToolModel` is needed."""

    llm: BaseChatModel
    options: ChatOptions
    output_version: str | None
    _classes: Mapping[str, ToolClass]


class Turn:
    """A request, and the further ones by which the model is asked again."""

    def __init__(self, model: _Wrapper, messages: list[BaseMessage], kwargs: Mapping[str, Any]) -> None:
        """Prepare the request.

        Args:
            model: the wrapper.
            messages: the conversation.
            kwargs: the request's settings. `tools`, `tool_choice` and `parallel_tool_calls`, as bound, are taken out.
        """
        self._llm, self._options = model.llm, model.options
        given = dict(kwargs)
        tools = given.pop("tools", None) or []
        self.request: Request = bound_chat(tools, model.options).request(
            to_dicts(messages),
            tool_choice=given.pop("tool_choice", None),
            parallel_tool_calls=given.pop("parallel_tool_calls", None),
            accepts=accepting(model._classes),
        )
        """What is asked."""
        self._next: Request | None = self.request
        self._given = {**given, **self._of_tools()}
        self._hold = Hold(model.llm, None if _CONSTRAINTS & given.keys() else model.options.constrain)
        self.result = ChatResult(generations=[])
        """The answer, whole."""
        self._answer: AnswerStream | None = None
        self._v1 = model.output_version == "v1"

    def asks(self) -> bool:
        """Go on to the next request, and return whether there is one: the first, or one that asks again."""
        if self._next is None:
            return False
        self.request, self._next = self._next, None
        return True

    @property
    def messages(self) -> list[BaseMessage]:
        """The conversation for the model."""
        return to_messages(self.request.messages)

    @property
    def kwargs(self) -> dict[str, Any]:
        """What the model inside is asked with, beside the messages."""
        return {**self._given, **(_in_kwargs(self.request, self._llm) if self._hold.is_on else {})}

    def recover(self, error: Exception) -> ChatResult | None:
        """Return what a failed request answered all the same; `None`: it is asked again, without what it refused.

        Raises:
            Exception: the error, with advice if there is some.
        """
        text = failed_generation(error)
        if text is not None:
            message = AIMessage(text, response_metadata={"failed_generation": text, "finish_reason": "stop"})
            return ChatResult(generations=[ChatGeneration(message=message)])
        if self.request.constraint and self._hold.lets_go(error):
            self._next = self.request
            return None
        advise(error, self._llm, self._options.tool_role)
        raise error

    def read(self, result: ChatResult) -> None:
        """Read a whole answer."""
        self._hold.note_answer()
        generations: list[ChatGeneration] = []
        output = result.llm_output
        for generation in result.generations:
            info = generation.generation_info
            message, reply = read_answer(self.request, generation.message, info, v1=self._v1)
            info = info and with_reason(info, reply)
            if generation is result.generations[0]:
                self._next = self.request.retry(reply)
                output = output and with_reason(output, reply)
                for earlier in self.result.generations[:1]:
                    message.usage_metadata = _sum_usage(earlier.message, message)
            generations.append(ChatGeneration(message=message, generation_info=info))
        if output and self.result.llm_output:
            output |= self._llm._combine_llm_outputs([self.result.llm_output, output])
        self.result = ChatResult(generations=generations, llm_output=output)

    def begin(self) -> AnswerStream:
        """Begin to read an answer that arrives in chunks."""
        self._answer = AnswerStream(self.request, v1=self._v1, after=self._answer)
        return self._answer

    def end(self, answer: AnswerStream) -> Iterator[ChatGenerationChunk]:
        """Yield the end of a streamed answer; if the model is asked again, its next one follows.

        Raises:
            ValueError: nothing has arrived, though nothing was asked that a server may refuse.
        """
        if not answer.has_begun and not self.request.retried:
            self.recover(ValueError(NO_RESPONSE))
            return
        self._hold.note_answer()
        yield from to_generations(answer.end())
        self._next = self.request.retry(answer.reply)
        if self._next is None:
            yield from answer.last()

    def _of_tools(self) -> dict[str, Any]:
        """Return what the model inside is asked with if it gets the tools in its request."""
        if not self.request.tools:
            return {}
        choice: Any = self.request.tool_choice
        llm = self._llm
        settings: dict[str, Any] = {"tool_choice": None if choice == "auto" else choice}
        if not self.request.choice.parallel and "parallel_tool_calls" in signature(llm.bind_tools).parameters:
            settings["parallel_tool_calls"] = False  # not every server takes it: the model's class says so
        try:
            bound: Any = llm.bind_tools(self.request.tools, **settings)
        except NotImplementedError as error:
            raise NotImplementedError(
                f'tools_in="request" needs a model with bind_tools, and {type(llm).__name__} has none: '
                'use tools_in="user"'
            ) from error
        return dict(bound.kwargs)


_CONSTRAINTS = {"response_format", "format", "grammar"}
"""The user's own, which stand."""


def _in_kwargs(request: Request, llm: BaseChatModel) -> dict[str, Any]:
    """Return what holds a server to the form of an answer, as the model inside takes it."""
    if llm._llm_type == "chat-ollama":
        schema = request.answer_schema
        return {} if schema is None else {"format": schema}
    constraint = request.constraint
    if constraint and hasattr(llm, "extra_body"):  # OpenAI's client parses what comes back for `response_format`
        return {"extra_body": {**(llm.extra_body or {}), **constraint}}
    return constraint


def _sum_usage(earlier: BaseMessage, message: AIMessage) -> Any:
    used = earlier.usage_metadata if isinstance(earlier, AIMessage) else None
    return add_usage(used, message.usage_metadata) if used or message.usage_metadata else None


def to_generations(
    messages: Iterator[AIMessageChunk], given: ChatGeneration | None = None
) -> Iterator[ChatGenerationChunk]:
    """Yield messages as LangChain streams them: what was given, if it is as it was, as making them takes time."""
    for message in messages:
        if isinstance(given, ChatGenerationChunk) and given.message is message and not given.generation_info:
            yield given
        else:
            yield ChatGenerationChunk(message=message)


def whole(result: ChatResult) -> ChatGeneration:
    """Return a whole answer as what is fed, with all that is known of it."""
    generation = result.generations[0]
    info = {**(result.llm_output or {}), **(generation.generation_info or {})}
    return ChatGeneration(message=generation.message, generation_info=info or None)
