"""A turn of a conversation: what the upstream is asked, and its answer, read by `llama3_tools.chat`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from llama3_gateway.errors import BrokenOffError, GatewayError, UpstreamRefusal, bad_request
from llama3_gateway.left_out import parts_of, says_images_are_refused, without_images
from llama3_gateway.metrics import RequestRecord
from llama3_gateway.settings import ModelSettings
from llama3_gateway.shapes import Delta, Dialect, Message
from llama3_tools import ToolDefinitionError
from llama3_tools.chat import Reply, Request, ServerConstraint, kept_chat

_TOOL_FIELDS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})
_RESULT_ROLES = frozenset({"tool", "function", "ipython"})
_MESSAGE = '{"role": "user", "content": "Hi"}'
_TOO_DEEP = "the request is nested too deep: send objects in fewer levels"
_TOOL_PARTS = frozenset({"tool_use", "tool_result"})


@dataclass(frozen=True, slots=True)
class Turn:
    """What the upstream is asked, and how its answers are read."""

    fields: dict[str, Any]
    """The request, without its messages and tools."""
    request: Request
    """The conversation for the model, and the reader of its answers."""
    settings: ModelSettings
    """Where it is answered, and how the upstream is held to a call."""
    dialect: Dialect
    """What the upstream is asked in."""
    hold: ServerConstraint
    """Whether the upstream is held to the form of its answer."""
    is_blind: bool = False
    """Whether a text replaces each image, as the model cannot see any."""

    def to_json(self) -> bytes:
        """Return the request for the upstream as JSON.

        Raises:
            GatewayError: it cannot be written, or the upstream cannot be held to a call of these tools.
        """
        try:
            return json.dumps(self._body()).encode()
        except ToolDefinitionError as error:
            raise bad_request(str(error), "tools") from None
        except RecursionError:
            raise GatewayError(HTTPStatus.BAD_REQUEST, _TOO_DEEP) from None

    def without_what_was_refused(self, refusal: UpstreamRefusal) -> Turn | None:
        """Return the turn in which the upstream is asked without what it refused; `None` if it does not say what."""
        if self._constraint() and self.hold.drop_if_refused(refusal):
            return self
        messages = self.request.messages
        is_blind = says_images_are_refused(refusal) and not self.is_blind and without_images(messages) != messages
        return replace(self, is_blind=True) if is_blind else None

    def again(self, request: Request) -> Turn:
        """Return the turn in which the model is asked once more, for one answer."""
        fields = {**self.fields, "n": 1} if "n" in self.fields else self.fields
        return replace(self, fields=fields, request=request)

    def _body(self) -> dict[str, Any]:
        messages: Sequence[Message] = self.request.messages
        shown = self.dialect.messages(without_images(messages) if self.is_blind else messages)
        body = {**self.fields, "messages": shown, **self._constraint()}
        tools, choice = self.request.tools, self.request.choice
        if tools:
            body["tools"] = tools
            if choice.tool_choice != "auto":
                body["tool_choice"] = self.request.tool_choice
            if not choice.parallel:
                body["parallel_tool_calls"] = False
        return body

    def _constraint(self) -> Mapping[str, Any]:
        """Return what holds the upstream to the form of its answer, unless the client's request does."""
        return self.dialect.constraint(self.request) if self.hold.is_on else {}


def prepare_turn(body: Mapping[str, Any], settings: ModelSettings, dialect: Dialect) -> Turn:
    """Prepare a turn.

    Raises:
        GatewayError: tools, tool choice or messages cannot be read.
    """
    tools, messages, stream = body.get("tools") or [], body.get("messages"), body.get("stream")
    if messages is None:
        raise bad_request(f"messages is missing: send a list such as [{_MESSAGE}]", "messages")
    if not isinstance(stream, (bool, type(None))):
        raise bad_request(f"stream is true or false, not {json.dumps(stream)[:100]}", "stream")
    parallel, param = body.get("parallel_tool_calls"), "tools"
    try:
        chat = kept_chat(tools, settings.chat)
        param = "messages" if isinstance(parallel, (bool, type(None))) else "parallel_tool_calls"
        request = chat.request(
            messages,
            tool_choice=body.get("tool_choice"),
            parallel_tool_calls=parallel,
            answers_unknown=False,  # some clients end their run with an exception
        )
    except RecursionError:
        raise bad_request(_TOO_DEEP, param) from None
    except (TypeError, AttributeError, ToolDefinitionError) as error:
        is_choice = isinstance(error, ToolDefinitionError) and param != "tools"
        raise bad_request(str(error), "tool_choice" if is_choice else param) from None
    fields = {name: value for name, value in body.items() if name not in _TOOL_FIELDS and name != "messages"}
    hold = ServerConstraint(settings.upstream, settings.chat.constrain, fields)
    return Turn(fields, request, settings, dialect, hold)


def has_tool_history(messages: object) -> bool:
    """Return whether a conversation contains calls or results, which a server without tools may refuse."""
    return isinstance(messages, list) and any(
        str(message.get("role")) in _RESULT_ROLES
        or message.get("tool_calls")
        or message.get("function_call")
        or any(isinstance(part, Mapping) and str(part.get("type")) in _TOOL_PARTS for part in parts_of(message))
        for message in messages
        if isinstance(message, Mapping)
    )


class ChoiceReader:
    """Reads one of the answers to a turn."""

    def __init__(self, request: Request, record: RequestRecord) -> None:
        self.request = request
        self.has_begun = False
        """Whether the upstream has said a word of it."""
        self.waiting_logprobs: list[Any] = []
        """Those whose text was not handed out yet."""
        self._record = record
        self._stream = request.stream()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._stream.is_over

    @property
    def reply(self) -> Reply:
        """The answer, once it is over."""
        return self._stream.reply

    def feed(self, delta: Delta) -> list[Delta]:
        """Add the next delta, and return what goes to the client now.

        Raises:
            BrokenOffError: it is none in OpenAI's form.
        """
        self.has_begun = self.has_begun or any(value for name, value in delta.items() if name != "role")
        content = delta.get("content")
        try:
            if not isinstance(content, (str, list, type(None))):
                raise TypeError(f"a content is a text or a list of parts, not {type(content).__name__}")  # noqa: TRY301
            return _not_empty(self._stream.feed(delta))
        except TypeError as error:
            raise BrokenOffError(f"the upstream's answer cannot be read: {error}") from None

    def end(self, finish_reason: str | None) -> list[Delta]:
        """End the answer, and return what was held back for it."""
        deltas = _not_empty(self._stream.end(finish_reason))
        self._record.count(self.reply)
        return deltas

    def abort(self) -> list[Delta]:
        """End an answer that broke off: held-back output becomes text, and no more calls are made."""
        if self.is_over:
            return []
        deltas = _not_empty(self._stream.abort())
        self._record.count(self.reply)
        return deltas

    def logprobs(self, given: object, deltas: Sequence[Delta]) -> dict[str, Any] | None:
        """Add those that came with a delta, and return those that go out now, with the next text that does.

        After a call there are none, as the text is not what was written.
        """
        if self._stream.tool_calls:
            return None
        if isinstance(given, Mapping) and isinstance(given.get("content"), list):
            self.waiting_logprobs += given["content"]
        if not self.waiting_logprobs or not (self.is_over or any("content" in delta for delta in deltas)):
            return None
        logprobs, self.waiting_logprobs = self.waiting_logprobs, []
        return {"content": logprobs, "refusal": None}


def _not_empty(deltas: list[Delta]) -> list[Delta]:
    """Return deltas without their role, which is sent once, and without what is nothing."""
    kept = [{name: value for name, value in delta.items() if value is not None and name != "role"} for delta in deltas]
    return [delta for delta in kept if delta]
