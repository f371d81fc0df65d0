"""The finish reason of an answer, and whether a limit ended it (principle 6)."""

from __future__ import annotations

from collections.abc import Mapping

_IN_OPENAI = {
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
}
"""The words of others: Anthropic, OpenAI's Responses API, Mistral, Text Generation Inference."""
_LIMITS = {"content_filter", "length", *(word for word, meaning in _IN_OPENAI.items() if meaning == "length")}
_CALLED = {"tool_calls", "tool_use", "function_call"}
_KEYS = ("finish_reason", "done_reason", "stop_reason", "stopReason")


def is_complete(finish_reason: object) -> bool:
    """Return whether the model ended its turn, rather than a limit. A reason that is not known counts as complete.

    >>> is_complete("stop"), is_complete(None), is_complete("length"), is_complete("content_filter")
    (True, True, False, False)

    Args:
        finish_reason: the server's own word; `None` if it has none.
    """
    return not isinstance(finish_reason, str) or finish_reason.lower() not in _LIMITS


def openai_finish_reason(finish_reason: str | None, *, has_calls: bool) -> str:
    """Return the finish reason as OpenAI means it: `tool_calls` if there are calls, unless a limit ended the answer.

    >>> openai_finish_reason("stop", has_calls=True), openai_finish_reason("length", has_calls=True)
    ('tool_calls', 'length')
    >>> openai_finish_reason("tool_calls", has_calls=False), openai_finish_reason(None, has_calls=False)
    ('stop', 'stop')

    Args:
        finish_reason: the server's own word; `None` if it has none.
        has_calls: whether the answer has calls that run.
    """
    reason = (finish_reason or "").lower()
    if not is_complete(reason):
        return _IN_OPENAI.get(reason, reason)
    if has_calls:
        return "tool_calls"
    return "stop" if not finish_reason or reason in _CALLED else _IN_OPENAI.get(reason, finish_reason)


def finish_reason_in(*places: object) -> str | None:
    """Return the finish reason that the first of some places has, as OpenAI's servers, Ollama or Anthropic write it.

    >>> finish_reason_in({}, {"choices": [{"finish_reason": "length"}]}), finish_reason_in({"done_reason": "stop"})
    ('length', 'stop')

    Args:
        *places: dicts or objects: a chat completion or a chunk of one, one of its choices, metadata of a message, or a
            response of OpenAI's Responses API, which says why it is incomplete.
    """
    for place in filter(None, places):
        choices = _part(place, "choices")
        for holder in (choices[0] if isinstance(choices, (list, tuple)) and choices else None, place):
            for key in _KEYS:
                reason = _part(holder, key)
                if isinstance(reason, str) and reason:
                    return str(reason)
        reason = _part(_part(place, "incomplete_details"), "reason")
        if isinstance(reason, str) and reason:
            return str(reason)
    return None


def _part(whole: object, name: str) -> object:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)
