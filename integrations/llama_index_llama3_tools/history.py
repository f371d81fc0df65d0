"""A conversation as text: the calls that were made and their results, in a form that no server's template breaks on.

Llama 3.1's own template raises on two calls in one message and drops the text beside a call; some servers answer with
an error to calls whose arguments are no JSON, others to the role `tool`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal, NamedTuple, TypeAlias

from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

from llama3_tools import PromptFormat, render_tool_calls, render_tool_result
from llama_index_llama3_tools.arguments import misfits_told, with_misfits
from llama_index_llama3_tools.messages import assistant_message, checked_messages
from llama_index_llama3_tools.native import NativeCall, native_calls, without_native_calls
from llama_index_llama3_tools.reasoning import without_reasoning

__all__ = ["ToolRole", "flatten_messages"]

ToolRole: TypeAlias = Literal["tool", "user"]
"""The role under which the model is shown what a tool gave."""

_RESULTS = {MessageRole.TOOL, MessageRole.FUNCTION}


class _Called(NamedTuple):
    """What a result is known by."""

    place: int
    """Of its call, among those of the conversation."""
    name: str | None
    arguments: Mapping[str, Any] | str | None = None
    """Where the name alone is not unique in its turn."""
    misfits: Sequence[str] = ()
    """What did not fit in its arguments, and may be why it failed."""


def flatten_messages(
    messages: Iterable[ChatMessage],
    *,
    tool_role: ToolRole = "tool",
    prompt_format: PromptFormat = "json",
    drop_reasoning: bool = False,
) -> list[ChatMessage]:
    r"""Write the calls of a conversation, and their results, as text. Changes no message.

    Results come in the order of their calls, whatever the order in which the tools were done, and say which tool they
    are from; where a turn has two calls of one tool, also what it was called with; and what did not fit in the call's
    arguments, which may be all that the model needs to know about a tool's error. Under the role of the user,
    neighbouring results are one message, so that the roles alternate.

    >>> from llama_index.core.base.llms.types import ToolCallBlock
    >>> call = ToolCallBlock(tool_call_id="1", tool_name="now", tool_kwargs={"zone": "UTC"})
    >>> for message in flatten_messages([
    ...     ChatMessage(role="assistant", blocks=[TextBlock(text="Let me see."), call]),
    ...     ChatMessage(role="tool", content="12:30", additional_kwargs={"tool_call_id": "1"}),
    ... ]):
    ...     print(message)
    assistant: Let me see. {"name": "now", "parameters": {"zone": "UTC"}}
    tool: Result of now: 12:30

    Args:
        messages: the conversation.
        tool_role: the role of the results.
        prompt_format: the form in which the calls are written.
        drop_reasoning: whether reasoning is left out. The templates of models that reason drop it, and clients that do
            not know its block refuse it.

    Raises:
        TypeError: `messages` is no list of messages.
    """
    flattened: list[ChatMessage] = []
    calls: dict[str, _Called] = {}
    places = count()
    results: list[ChatMessage] = []
    for message in checked_messages(messages):
        if message.role in _RESULTS:
            results.append(message)
            continue
        flattened += _results(results, calls, tool_role)
        results = []
        if message.role == MessageRole.ASSISTANT:
            made = native_calls(message)
            # An id that is used again is that of the newer call.
            calls |= _called(made, misfits_told(message.additional_kwargs), places)
            shown = without_reasoning(message) if drop_reasoning else message
            flattened.append(_assistant(shown, made, prompt_format))
        else:
            flattened.append(message.model_copy())
    return flattened + _results(results, calls, tool_role)


def _assistant(message: ChatMessage, calls: Sequence[NativeCall], prompt_format: PromptFormat) -> ChatMessage:
    plain = without_native_calls(message)
    # On an answer that a tool gave directly, LlamaIndex leaves the id of its call.
    plain.additional_kwargs.pop("tool_call_id", None)
    if not calls:
        return plain
    written = render_tool_calls(
        ((call.name or "unknown", call.arguments) for call in calls), prompt_format=prompt_format
    )
    return assistant_message(" ".join(filter(None, [message.content, written])), (), like=plain)


def _called(
    made: Sequence[NativeCall], misfits: Mapping[str, Sequence[str]], places: Iterator[int]
) -> dict[str, _Called]:
    """Return what the results of a turn's calls are known by, by their ids."""
    names = Counter(call.name for call in made)
    calls: dict[str, _Called] = {}
    for call in made:
        if not call.id:
            continue
        first = calls.get(call.id)
        if first is None:
            arguments = call.arguments if names[call.name] > 1 else None
            calls[call.id] = _Called(next(places), call.name, arguments, misfits.get(call.id, ()))
        else:  # which of the two a result is of, nobody knows
            calls[call.id] = _Called(first.place, call.name if call.name == first.name else None)
    return calls


def _results(messages: Sequence[ChatMessage], calls: Mapping[str, _Called], role: ToolRole) -> list[ChatMessage]:
    """Write the results of one turn, in the order of its calls; those of no known call come last."""

    def place(message: ChatMessage) -> float:
        call = calls.get(_call_id(message))
        return math.inf if call is None else call.place

    in_order = sorted(messages, key=place)
    written = [_result(message, calls.get(_call_id(message)), role) for message in in_order]
    if role == "tool" or not written:
        return written
    blocks = [block for message in written for block in message.blocks]
    if all(isinstance(block, TextBlock) for block in blocks):
        blocks = [TextBlock(text="\n\n".join(message.content or "" for message in written))]
    return [ChatMessage(role=MessageRole.USER, blocks=blocks)]


def _result(message: ChatMessage, call: _Called | None, role: ToolRole) -> ChatMessage:
    result, name, arguments = message.content or "", message.additional_kwargs.get("name"), None
    if call is not None:
        result, name, arguments = with_misfits(result, call.misfits), call.name or name, call.arguments
    text = render_tool_result(name, result, arguments=arguments)
    blocks = [TextBlock(text=text), *(block for block in message.blocks if not isinstance(block, TextBlock))]
    return message.model_copy(update={"role": MessageRole(role), "blocks": blocks})


def _call_id(message: ChatMessage) -> str:
    return str(message.additional_kwargs.get("tool_call_id") or "")
