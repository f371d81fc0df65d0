"""The finish reason of an answer, and whether a limit ended it (rule 7)."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["finish_reason_in", "is_complete"]

_LIMITS = frozenset({"length", "content_filter"})
_KEYS = ("finish_reason", "done_reason")


def is_complete(finish_reason: object) -> bool:
    """Return whether the model ended its turn, rather than a limit. A reason that is not known counts as complete.

    >>> is_complete("stop"), is_complete(None), is_complete("length"), is_complete("content_filter")
    (True, True, False, False)

    Args:
        finish_reason: the server's own word; `None` if it has none.
    """
    return not isinstance(finish_reason, str) or finish_reason not in _LIMITS


def finish_reason_in(*places: object) -> str | None:
    """Return the finish reason that the first of some places has, as OpenAI's servers write it, or Ollama.

    >>> finish_reason_in({}, {"choices": [{"finish_reason": "length"}]}), finish_reason_in({"done_reason": "stop"})
    ('length', 'stop')

    Args:
        *places: dicts or objects: a chat completion or a chunk of one, one of its choices, or metadata of a message.
    """
    for place in places:
        choices = _part(place, "choices")
        for holder in (choices[0] if isinstance(choices, (list, tuple)) and choices else None, place):
            for key in _KEYS:
                reason = _part(holder, key)
                if isinstance(reason, str) and reason:
                    return str(reason)
    return None


def _part(whole: object, name: str) -> object:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)
