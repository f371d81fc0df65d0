"""A conversation as text: calls, results and roles in a form that no server's template breaks on.

Llama 3.1's own template raises on two calls in one message and drops the text beside a call. Some servers answer with
an error to calls whose arguments are not JSON, others to the roles `tool` and `developer`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from llama3_tools.arguments.server_arguments import GrowingArguments
from llama3_tools.chat.call_order import Answered, key_of
from llama3_tools.chat.messages import (
    RESULT_ROLES,
    CallPiece,
    Message,
    MessageParts,
    ToolResult,
    content_of,
    id_of,
    joined_text,
    split_message,
    with_text,
)
from llama3_tools.chat.options import ToolRole
from llama3_tools.chat.report import REFUSED_TOOL_CALLS, REPORTED
from llama3_tools.prompts import PromptFormat, render_tool_calls, render_tool_result
from llama3_tools.prompts.complaints import render_complaints, with_misfits
from llama3_tools.prompts.render import render_answer

_OF_RESULTS = {"role", "content", "tool_call_id", "is_error"}
_NOT_SENT = {*REPORTED, "tool_call_id"}  # which frameworks leave on an answer that a tool gave
_ROLES = {"developer": "system", "model": "assistant", "chatbot": "assistant", "ai": "assistant", "human": "user"}
"""Roles that servers of Llama 3 do not know, and those that mean the same."""


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """How a conversation is written."""

    tool_role: ToolRole = "user"
    """The role of a message with results."""
    prompt_format: PromptFormat = "json"
    """The form in which calls are written."""
    shown_name: Callable[[str], str] = str
    """Returns the name by which the model knows a tool."""
    misfits: Callable[[str, dict[str, Any]], list[str]] = lambda *_: []
    """Says what does not fit in the arguments of a call that was run."""
    complaints: Callable[[str, Collection[str]], list[tuple[str | None, str]]] = lambda *_: []
    """Says what was wrong with the calls in an assistant's text that were not run, given the names of those that were.
    It is asked if the message does not have it among its `refused_tool_calls`."""
    is_due: bool = False
    """Whether a call has to be made now."""


class _KnownCall(NamedTuple):
    """What a result is known by."""

    place: int
    """Of its call, among those of the conversation."""
    name: str | None
    arguments: str | None = None
    """If the name alone is not unique in its turn."""
    misfits: Sequence[str] = ()
    """What did not fit in its arguments."""


def flatten_history(messages: Iterable[Message], options: HistoryOptions | None = None) -> list[dict[str, Any]]:
    r"""Turn calls and results into text. Changes no message.

    A model's calls become part of its text, in one form, whatever the form in which it wrote them. Results become
    messages of one role, each with its tool's name, and with the arguments if its turn has two of one tool. The results
    of one turn come in the order of its calls, and in one message, except in the role `tool`. A message that is marked
    as an error and answers a refused call is what an agent made of it: the model is told what was wrong instead. What
    the model thought in earlier turns is left out. Parts of a content other than text stay as they are, and so do other
    keys of a message that is not joined with another one.

    >>> call = {"id": "1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    >>> for message in flatten_history([
    ...     {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
    ...     {"role": "tool", "tool_call_id": "1", "content": "12:30"},
    ... ]):
    ...     print(message)
    {'role': 'assistant', 'content': 'Let me see.\n{"name": "now", "parameters": {}}'}
    {'role': 'user', 'content': 'Result of now: 12:30'}

    Args:
        messages: the conversation, as OpenAI has it, or with Anthropic's `tool_use` and `tool_result` parts.
        options: how it is written. `None`: `HistoryOptions()`.
    """
    history = _History(options or HistoryOptions())
    for message in messages:
        history.add(message)
    history.end_results()
    return history.written


class _History:
    """The conversation so far."""

    def __init__(self, options: HistoryOptions) -> None:
        self.written: list[dict[str, Any]] = []
        self._options = options
        self._calls: dict[str, _KnownCall] = {}
        self._places = count()
        self._results: list[ToolResult] = []
        self._refused: set[str] = set()
        self._ends_with_results = False
        """Whether the last message has results, or complaints, in the role of the user."""
        self._answers_refused = False
        """Whether an agent has answered a refused call among the results."""
        self._complaints: Callable[[], list[tuple[str | None, str]]] = list
        """Says what was wrong with calls of the last message, if it is the model's."""

    def add(self, message: Message) -> None:
        role = message.get("role")
        if role in RESULT_ROLES:
            call_id, name = id_of(message.get("tool_call_id")) or "", message.get("name")
            is_error = message.get("is_error") is True
            if is_error and call_id in self._refused:
                self._answers_refused = True
                return
            self._results.append(ToolResult(call_id, name, message.get("content"), is_error, message))
            return
        parts = split_message(message)
        self._results += parts.results
        if parts.results and not parts.content:
            return
        self.end_results()
        self._complaints = list
        role = _ROLES.get(str(role), role)
        if role == "assistant":
            self._add_assistant(parts)
            return
        content = content_of(parts.content) if parts.results or not parts.has_content else message["content"]
        if role == "user" and self._ends_with_results:  # some templates want the roles in turns
            content = _joined([self.written.pop()["content"], content])
        self.written.append({**parts.rest, "role": role, "content": content})

    def end_results(self) -> None:
        """Write the results of one turn, in the order of its calls; those of no known call come last."""
        self._ends_with_results = False
        results, self._results = self._results, []
        is_answered, self._answers_refused = bool(results) or self._answers_refused, False
        complaints = render_complaints(self._complaints() if is_answered else (), is_due=self._options.is_due)
        if not results and not complaints:
            return
        results.sort(key=lambda result: self._calls[result.id].place if result.id in self._calls else sys.maxsize)
        contents = [self._content(result) for result in results]
        if complaints:
            contents[-1:] = [_joined([*contents[-1:], complaints])]
        role = self._options.tool_role if results else "user"
        if role != "tool":
            self._ends_with_results = role == "user"
            self.written.append({"role": role, "content": _joined(contents)})
            return
        for result, content in zip(results, contents, strict=True):
            rest = {key: value for key, value in result.message.items() if key not in _OF_RESULTS}
            if result.name:
                rest["name"] = self._options.shown_name(result.name)
            self.written.append({"role": role, "tool_call_id": result.id, **rest, "content": content})

    def _add_assistant(self, parts: MessageParts) -> None:
        calls = [call._replace(name=self._options.shown_name(call.name) or "unknown") for call in parts.calls]
        self._calls |= self._known_calls(calls, parts.calls)  # an id that is used again is that of the newer call
        self._complaints = self._complaints_of(parts)
        written = [(call.name, "{}" if call.arguments == "" else call.arguments) for call in calls]
        content = self._answer(parts, written)
        rest = {key: value for key, value in parts.rest.items() if key not in _NOT_SENT}
        self.written.append({**rest, "role": "assistant", "content": content})

    def _answer(self, parts: MessageParts, calls: Sequence[tuple[str, str]]) -> str | list[Any]:
        """Write what the model said and called, each call on its own line, never on one that was cut off."""
        content, prompt_format = content_of(parts.content), self._options.prompt_format
        refused = parts.rest.get(REFUSED_TOOL_CALLS)
        if not isinstance(content, str):
            return with_text(content, render_tool_calls(calls, prompt_format=prompt_format))
        for call in reversed(refused) if calls and isinstance(refused, list) else ():
            text = call.get("text") if isinstance(call, Mapping) else None
            content = content.removesuffix(text.strip()).rstrip() if isinstance(text, str) else content
        return render_answer(content, calls, prompt_format=prompt_format) if content or calls else content

    def _complaints_of(self, parts: MessageParts) -> Callable[[], list[tuple[str | None, str]]]:
        refused = parts.rest.get(REFUSED_TOOL_CALLS)
        if isinstance(refused, list):
            listed = [call for call in refused if isinstance(call, Mapping) and isinstance(call.get("told"), str)]
            self._refused |= {str(call.get("id")) for call in listed}
            shown = self._options.shown_name
            named = [(shown(str(call.get("name") or "")) or None, call["told"]) for call in listed]
            return lambda: named
        text, _ = joined_text(parts.content)
        return partial(self._options.complaints, text, {call.name for call in parts.calls})

    def _known_calls(self, shown: Sequence[CallPiece], calls: Sequence[CallPiece]) -> dict[str, _KnownCall]:
        names = Counter(call.name for call in shown)
        known: dict[str, _KnownCall] = {}
        for call, own in zip(shown, calls, strict=True):
            if not call.id:
                continue
            if call.id in known:  # which of the two a result is of, nobody knows
                first = known[call.id]
                known[call.id] = _KnownCall(first.place, call.name if call.name == first.name else None)
                continue
            misfits = self._options.misfits(own.name, arguments) if (arguments := _decode(call)) is not None else ()
            repeats = call.arguments if names[call.name] > 1 else None
            known[call.id] = _KnownCall(next(self._places), call.name, repeats, misfits)
        return known

    def _content(self, result: ToolResult) -> str | list[Any]:
        call = self._calls.get(result.id)
        name, arguments = (call.name, call.arguments) if call else (None, None)
        text, others = joined_text(result.content)
        text = with_misfits(text, call.misfits if call else ())
        name = name or (self._options.shown_name(result.name) if result.name else None)
        line = render_tool_result(name, text, arguments=arguments, is_error=result.is_error)
        return [{"type": "text", "text": line}, *others] if others else line


def answered_calls(messages: Sequence[Message], own: Callable[[str], str]) -> dict[str, Answered]:
    """Return the calls since the user spoke, by their keys, if their results end the conversation.

    Args:
        messages: the conversation.
        own: returns a tool's own name.
    """
    answered, is_answered = dict[str, Answered](), False
    for message in reversed(messages):
        role, parts = str(message.get("role")), split_message(message)
        if role in RESULT_ROLES or (parts.results and not parts.content):
            is_answered = True
        elif not is_answered or _ROLES.get(role, role) != "assistant":
            break
        for call in parts.calls:
            arguments = _decode(call)
            if arguments is not None:
                name = own(call.name)
                answered[key_of(name, arguments)] = name, arguments
    return answered


def _decode(call: CallPiece) -> dict[str, Any] | None:
    growing = GrowingArguments()
    growing.feed(call.arguments)
    return growing.value


def _joined(contents: Iterable[str | list[Any]]) -> str | list[Any]:
    """Return contents as one, a blank line between texts."""
    pieces: list[Any] = []
    for content in contents:
        pieces += [content] if isinstance(content, str) else content
    return content_of(pieces, "\n\n")
