"""One request of a conversation with tools, its answers, and what is asked once more."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from llama3_tools.chat.call_order import Answered
from llama3_tools.chat.constraint import LONGEST_STRING, ServerConstraint, answer_schema
from llama3_tools.chat.endpoint_errors import endpoint_fault, failed_generation, status_of
from llama3_tools.chat.messages import Message, joined_text, with_text
from llama3_tools.chat.misfits import ClassCheck
from llama3_tools.chat.report import MISFIT, Earlier, Reply
from llama3_tools.chat.stream import ChatStream
from llama3_tools.chat.tool_choice import RequestedChoice
from llama3_tools.errors import ToolDefinitionError
from llama3_tools.tools import Tool
from llama3_tools.tools.choice import ToolChoice

if TYPE_CHECKING:
    from llama3_tools.chat.tool_chat import ToolChat

_LOG = logging.getLogger("llama3_tools")
_NO_EARLIER = Earlier()


@dataclass(frozen=True, slots=True)
class Request:
    """One request: what goes to the model, and how its answer is read."""

    chat: ToolChat
    """The chat that made it."""
    choice: RequestedChoice
    """What was asked for."""
    messages: list[dict[str, Any]]
    """The conversation for the model, in OpenAI's form."""
    class_check: ClassCheck | None = None
    """What a framework's own class says of a tool's arguments. `None`: the schemas decide."""
    output_tools: Collection[str] = ()
    """The tools that run nothing, as their arguments are the answer."""
    answers_unknown: bool = True
    """Whether the program answers a call of an undeclared tool."""
    answered: Mapping[str, Answered] = field(default_factory=dict)
    """The calls whose results end the conversation, by their keys."""
    retried: int = 0
    """How often the model has been asked again in this turn."""
    earlier: Earlier = _NO_EARLIER
    """What earlier answers of this turn had."""

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools for the request, by names that an API allows; none if the prompt has them."""
        if self.chat.options.tools_in != "request" or self.choice.tool_choice == "none":
            return []
        return [tool.to_openai() for tool in self.chat.shown_tools.values()]

    @property
    def tool_choice(self) -> str | dict[str, Any]:
        """The tool choice for the request, as OpenAI's API has it, by the tool's name in `tools`."""
        if (name := self.choice.tool) is None:
            return self.choice.tool_choice
        return {"type": "function", "function": {"name": self.chat.shown_name(name)}}

    @property
    def constraint(self) -> dict[str, Any]:
        """The fields of OpenAI's request that hold the server to the form of the answer; empty if there are none.

        >>> from llama3_tools.chat import ToolChat
        >>> chat = ToolChat([{"name": "now"}], constrain="json_schema")
        >>> request = chat.request([{"role": "user", "content": "The time?"}], tool_choice="required")
        >>> request.constraint["response_format"]["json_schema"]["schema"]["properties"]["name"]
        {'type': 'string', 'enum': ['now']}

        Raises:
            ToolDefinitionError: the schema of a tool refers to what is not in it, and `constrain` is not `"auto"`.
        """
        schema = self.answer_schema
        if schema is None:
            return {}
        if self.chat.options.constrain == "json_object":
            return {"response_format": {"type": "json_object", "schema": schema}}
        json_schema = {"name": "answer", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": json_schema}}

    @property
    def answer_schema(self) -> dict[str, Any] | None:
        """The JSON Schema to which the server is held; `None` if there is none. It raises as `constraint` does."""
        if not self._held_to:
            return None
        try:
            choice: ToolChoice = "required" if self.is_due else "auto"
            most = LONGEST_STRING if self.chat.options.constrain == "json_object" else None
            return answer_schema(self._held_to, tool_choice=choice, is_strict=self._is_strict, max_string=most)
        except ToolDefinitionError:
            if self.chat.options.constrain != "auto":
                raise
            return None

    @property
    def is_due(self) -> bool:
        """Whether a call has to be made."""
        return self.choice.is_due and bool(self.chat.tools)

    @property
    def may_retry(self) -> bool:
        """Whether the model may be asked again after the answer."""
        return self.retried < self.chat.options.max_retries and self.choice.tool_choice != "none"

    @property
    def _is_strict(self) -> bool:
        return self.chat.options.prompt_format == "strict"

    @property
    def _held_to(self) -> list[Tool]:
        """The tools, one of which the server must call; none if it is free."""
        options, tools, choice = self.chat.options, self.chat.shown_tools, self.choice
        is_free = options.constrain == "off" or options.tools_in == "request" or choice.tool_choice == "none"
        if is_free or not (self._is_strict or self.is_due):
            return []
        return [*tools.values()] if choice.tool is None else [tools[choice.tool]]

    def read(self, message: Message, finish_reason: str | None = None) -> Reply:
        """Read a whole answer. If the model was asked again and says nothing, its earlier answer is kept.

        Args:
            message: the assistant's message, in OpenAI's form or with Anthropic's `tool_use` parts.
            finish_reason: the server's word for why the model ended, if it has one.

        Raises:
            TypeError: the message, or a call in it, is not a dict.
        """
        stream = self.stream()
        stream.feed(message)
        stream.end(finish_reason)
        return stream.reply

    def stream(self) -> ChatStream:
        """Begin to read an answer that arrives in deltas.

        If the model was asked again, a blank line comes between what has gone out before and this answer.
        """
        return self.chat._begin(self)  # noqa: SLF001 (the way in)

    def retry(self, reply: Reply) -> Request | None:
        """Return the request by which the model is asked to write its calls again; `None` if it is not asked.

        It is asked if nothing that it called runs, and a call was refused, or one had to be made: `max_retries` times
        at most, and not if a limit cut the answer off. If other calls of the answer run, the next request tells it of
        the refused ones, with the results. The logger `llama3_tools` notes with `INFO` that it is asked, and why.

        >>> from llama3_tools.chat import ToolChat
        >>> chat = ToolChat([{"name": "now"}])
        >>> request = chat.request([{"role": "user", "content": "The time?"}])
        >>> again = request.retry(request.read({"content": '{"name": "now", "parameters": {oops}}'}))
        >>> print(again.messages[-1]["content"].partition(":")[0])
        Error of now

        Args:
            reply: the answer.
        """
        if reply.earlier is None:
            return None
        messages = [
            *self.messages,
            {"role": "assistant", "content": _content_with_misfits(reply)},
            {"role": "user", "content": self.chat._complain(self, reply)},  # noqa: SLF001
        ]
        why = replace(reply.report, retried=()).lines()  # each retry has its own line
        _LOG.info("the model is asked again: %s", "; ".join(why) or "a call has to be made")
        return replace(self, messages=messages, retried=self.retried + 1, earlier=reply.earlier)

    def after_error(self, error: Exception, constraint: ServerConstraint) -> Message | None:
        """Return the answer despite the server's error, if there is one; `None` if the server is asked once more.

        Groq has what the model wrote in the error. A server that may have refused the constraint is asked without it.
        If the model was asked again, words may be an answer and `earlier_is_text`, then its first answer is kept, and
        this one is empty. The logger `llama3_tools` notes that with `INFO`.

        Args:
            error: what the client raised.
            constraint: whether the server is held to the form of its answers.

        Raises:
            Exception: the error, if nothing can be made of it.
        """
        if (text := failed_generation(error)) is not None:
            return {"content": text, "failed_generation": text}
        if self.constraint and constraint.drop_if_refused(error):
            return None
        is_of_server = (status_of(error) or endpoint_fault(error)) is not None
        if not is_of_server or not self.earlier_is_text or self.is_due:
            raise error
        _LOG.info("the model could not be asked again: %s", error)
        return {"content": ""}

    @property
    def earlier_is_text(self) -> bool:
        """Whether the answer before is in its text, with what was refused of it: of a call that misfits, none is."""
        earlier = self.earlier
        has_content = earlier.reply is not None and bool(earlier.reply.content)
        return has_content and all(call.reason != MISFIT for call in earlier.refused)


def _content_with_misfits(reply: Reply) -> str | list[Any]:
    """Return what the model wrote, with the calls that are not in the content: those that do not fit."""
    text, _ = joined_text(reply.content)
    misfits = [call.text for call in reply.report.refused if call.reason == MISFIT and call.text not in text]
    return with_text(reply.content, "\n".join(misfits))
