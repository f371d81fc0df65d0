"""Which of the calls of one answer run, and when each is handed out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from llama3_tools.chat.options import RepeatedCalls
from llama3_tools.text.json_writing import write_json
from llama3_tools.values import ToolCall

_RETOLD_WITHIN = 1024
"""In how much text after a tool's name the values of its arguments are looked for."""

Answered: TypeAlias = tuple[str, Mapping[str, Any]]
"""The name and the arguments of a call."""


class CallOrder:
    """Puts the calls of one answer in order: first those in the text, then the server's.

    A call that repeats one of the *run* of calls directly before it does not run again. A run is a list of calls, or
    calls with nothing but delimiters in between; text, or a token that ends a turn, ends it. So a repetition within a
    list is meant, and so is "on", "off", "on".

    A call whose arguments do not fit waits until it is known whether the model is asked once more: it is not if another
    call of the answer runs.
    """

    def __init__(
        self,
        *,
        parallel: bool,
        repeated_calls: RepeatedCalls,
        misfits: Callable[[ToolCall], list[str]],
        answered: Mapping[str, Answered] | None = None,
    ) -> None:
        """Begin an answer.

        Args:
            parallel: whether more than one call may run.
            repeated_calls: what happens to repeated calls.
            misfits: says what does not fit in a call; nothing if the model is not asked again.
            answered: the calls whose results the model was just shown, by their keys.
        """
        self.waiting: list[tuple[ToolCall, list[str]]] = []
        """Calls whose arguments do not fit, and what does not."""
        self.called: list[ToolCall] = []
        """The calls that were handed out."""
        self.repeated: list[ToolCall] = []
        self.surplus: list[ToolCall] = []
        self._is_interrupted = True
        """Whether something that ends a run is between the last call and what comes next."""
        self._parallel = parallel
        self._reports_repeats = repeated_calls == "report"
        self._misfits = misfits
        self._answered = answered or {}
        self._run, self._run_before = set[str](), set[str]()
        self._in_text = Counter[str]()

    @property
    def count(self) -> int:
        """How many calls the answer has so far that would run."""
        return len(self.called) + len(self.waiting)

    def was_answered(self, call: ToolCall) -> bool:
        """Return whether a call was just answered, so that an answer with words after it retells that."""
        return self._reports_repeats and bool(self._answered) and key_of(call.name, call.arguments) in self._answered

    def retells_answered(self, name: str | None, text: str, at: int) -> bool:
        """Return whether a tool's name in another form than JSON retells a call that was just answered.

        Args:
            name: the tool's name.
            text: what the model wrote. It retells a call if it has each value of its arguments after the name.
            at: the index of the name in the text.
        """
        if not (self._answered and self._reports_repeats) or text[at : at + 1] in {"{", "[", "<"}:
            return False
        after = text[at : at + _RETOLD_WITHIN]
        answered = (arguments for one, arguments in self._answered.values() if one == name)
        return any(all(str(value) in after for value in arguments.values()) for arguments in answered)

    def interrupt(self) -> None:
        """End the run: text, a thought, or a token that ends a turn comes after the last call."""
        self._is_interrupted = True

    def take(self, call: ToolCall) -> list[ToolCall]:
        """Add the next call of the text, and return the calls that are to be handed out now."""
        key = key_of(call.name, call.arguments)
        if self._is_interrupted:
            self._run_before, self._run, self._is_interrupted = self._run, set(), False
        self._run.add(key)
        self._in_text[key] += 1
        if self._reports_repeats and key in self._run_before:
            self.repeated.append(call)
            return []
        return self._accept(call)

    def take_from_server(self, call: ToolCall) -> list[ToolCall]:
        """Add the next call of the server. One that was also left in the text counts once."""
        key = key_of(call.name, call.arguments)
        if self._in_text[key]:
            self._in_text[key] -= 1
            return []
        return self._accept(call)

    def release(self) -> list[ToolCall]:
        """Return the calls that waited, to be handed out after all."""
        waited = [call for call, _ in self.waiting]
        self.waiting = []
        self.called += waited
        return waited

    def _accept(self, call: ToolCall) -> list[ToolCall]:
        if not self._parallel and self.count:
            self.surplus.append(call)
            return []
        problems = [] if self.called else self._misfits(call)
        if problems:
            self.waiting.append((call, problems))
            return []
        released = self.release()
        self.called.append(call)
        return [*released, call]


def key_of(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a text that two calls share only if they are the same: `1` is neither `1.0` nor `true`.

    >>> key_of("f", {"b": 1, "a": 2}) == key_of("f", {"a": 2, "b": 1}), key_of("f", {"a": True})
    (True, 'f{"a": true}')
    """
    return name + write_json(arguments, sort_keys=True)
