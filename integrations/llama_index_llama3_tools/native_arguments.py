"""The arguments of a server's call, in the shapes that LlamaIndex's integrations have them: text, or decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from llama3_tools.arguments.native_arguments import GrowingArguments, is_strict, with_escaped_halves
from llama3_tools.text.json_writing import write_json, written_arguments

__all__ = ["RepeatedArguments", "write_arguments"]


@final
class RepeatedArguments:
    """The arguments of one call of a stream, whose messages have all that there is so far, again and again.

    >>> repeated = RepeatedArguments()
    >>> repeated.read('{"city": '), repeated.read('{"city": "Paris"}'), RepeatedArguments().read('{"n": 1e999}')
    ('{"city": ', {'city': 'Paris'}, '{"n": 1e999}')
    """

    def __init__(self) -> None:
        self._text = ""
        self._growing = GrowingArguments()

    def read(self, given: object) -> dict[str, Any] | str:
        """Read what there is: the same dict for the same text of an object, and what is none of strict JSON as text."""
        if isinstance(given, Mapping):
            return dict(given) if is_strict(given) else with_escaped_halves(write_arguments(given))
        text = given if isinstance(given, str) else write_json(given, default=str)
        if not text.startswith(self._text):
            self._text, self._growing = "", GrowingArguments()
        self._growing.feed(text[len(self._text) :])
        self._text = text
        return with_escaped_halves(text) if self._growing.value is None else self._growing.value


def write_arguments(arguments: Mapping[str, Any]) -> str:
    """Write arguments as JSON, however long their integers; see `written_arguments`."""
    try:
        return write_json(arguments, default=str)
    except (TypeError, ValueError):
        return written_arguments(arguments)
