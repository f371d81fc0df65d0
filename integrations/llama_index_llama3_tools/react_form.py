"""ReAct steps in LlamaIndex's own form, read in time that grows with their length, as its patterns do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, cast

from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.react.types import ResponseReasoningStep

from llama3_tools import RejectionReason
from llama3_tools.reading.refusal import Refusal
from llama3_tools.text.escaping import escape_invisible
from llama_index_llama3_tools.output import FailedToolCall
from llama_index_llama3_tools.react_input import BrokenInput, Input, read_input

__all__ = ["Action", "is_first_call", "read_step"]

_ACTION = re.compile(r"^Action: ([^\n() ]+)", re.MULTILINE)
_INPUT = "\nAction Input: "
_OTHER_ACTION = re.compile(r"\n[ \t]*(?:Action|Action Input|Answer|Observation):")
_OTHER_WORD = re.compile(r"\n[ \t]*(?:Thought|Action|Action Input|Answer|Observation):|[\[{]")
# As they may be written around a call:
_NAMED = re.compile(r"Action:[ \t]*([^\n() ]+)")
_ACTION_LINE = re.compile(r"^[ \t]*Action:", re.MULTILINE)
_INPUT_LINE = re.compile(r"^[ \t]*Action Input:", re.MULTILINE)
_OBSERVATION_LINE = re.compile(r"^[ \t]*Observation:", re.MULTILINE)


class Action(NamedTuple):
    """A step that calls a tool."""

    thought: str
    name: str
    """The tool's name."""
    arguments: dict[str, Any]
    repaired_from: str | None = None
    """The malformed input that the arguments were repaired from."""


def read_step(
    text: str,
    *,
    is_streaming: bool = False,
    offset: int = 0,
    repairable: Collection[str] = (),
    shown: Callable[[str], str] = str,
) -> Action | ResponseReasoningStep | FailedToolCall:
    r"""Read what LlamaIndex's `ReActOutputParser` reads, but for inputs of which it has to make something up.

    >>> read_step('Thought: So.\nAction: now\nAction Input: {"zone": "UTC"}').arguments
    {'zone': 'UTC'}

    Args:
        text: what the model wrote.
        is_streaming: whether an answer is still being written.
        offset: where the text begins in the model output.
        repairable: the tools whose malformed inputs are repaired.
        shown: gives a part of the text as the model wrote it, if words in it are masked. It is as long.

    Raises:
        ValueError: the text is no step.
    """
    before_answer, found, _ = text.partition("Answer:")
    if "Action:" in before_answer:
        return _action(text, shown(text), offset, repairable, end=len(before_answer))
    written = shown(text)
    if not found and "Action:" in written:
        raise ValueError(f"Could not parse output, for its actions are quoted: {escape_invisible(written)}")
    if not found and "Thought:" in text:
        raise ValueError(f"Could not parse output: {escape_invisible(written)}")
    if not found:  # and no other of its words either
        step = cast("ResponseReasoningStep", ReActOutputParser().parse(text, is_streaming))
        step.response = shown(step.response)
        return step
    thought, found, answer = text.partition("Thought:")[2].partition("Answer:")
    if not found:
        raise ValueError(f"Could not extract final answer from input text: {escape_invisible(written)}")
    thought, answer = shown(thought).strip(), shown(answer).strip()
    return ResponseReasoningStep(thought=thought, response=answer, is_streaming=is_streaming)


def is_first_call(before: str, name: str) -> bool:
    r"""Return whether a call is the step: no answer stands before it, and no action but its own.

    Some models write the whole call after `Action Input:`. It is the step if that is the first input, and belongs to
    the first action, of the same name. Behind an action and an observation the model makes up what it reads.

    >>> is_first_call("Thought: So.\nAction: now\nAction Input:", "now")
    True
    >>> is_first_call("Thought: So.\nAction: f\nAction Input: {}\nAction: now\nAction Input:", "now")
    False

    Args:
        before: the text before the call.
        name: the tool that it calls.
    """
    if "Answer:" in before or _is_made_up(before, len(before)):
        return False
    label, first = _INPUT_LINE.search(before), _ACTION_LINE.search(before)
    if label is None:
        return True
    own = max(before.rfind("Action:", 0, label.start()), 0)
    named = _NAMED.match(before, own)
    is_first = first is None or own < first.end()
    return is_first and named is not None and named[1] == name and not _OTHER_WORD.search(before, label.end())


def _is_made_up(text: str, end: int) -> bool:
    """Return whether an action stands before a place, and an observation between."""
    first = _ACTION_LINE.search(text, 0, end)
    return first is not None and _OBSERVATION_LINE.search(text, first.end(), end) is not None


def _action(text: str, shown: str, offset: int, repairable: Collection[str], *, end: int) -> Action | FailedToolCall:
    """Read a call: the first action that has an input, if it is not made up, and no input is before it, nor the end.

    What words stand before an input, and what is in it, is read in the text as it was written.
    """
    last_input = text.rfind(_INPUT, 0, text.rfind("{") + 1)
    action = _ACTION.search(text, 0, max(last_input, 0))
    start = action.start() if action else 0
    if not action or start > end or _INPUT_LINE.search(text, 0, start) or _is_made_up(text, start):
        raise ValueError(f"Could not extract tool use from input text: {escape_invisible(shown)}")
    label = text.index(_INPUT, action.end())
    brace = text.index("{", label + len(_INPUT))
    read = _stray(shown, action.end(), label, brace, offset) or read_input(
        shown, brace, offset=offset, repaired_for=action[1] if action[1] in repairable else None
    )
    if not isinstance(read, Input):
        written = shown[start : read.end - offset]
        return FailedToolCall(action[1], written, read.refusal.reason, read.refusal.detail)
    thought = shown[:start].strip()
    if text.lstrip().startswith("Thought: "):
        thought = thought.removeprefix("Thought:").strip()
    return Action(thought, action[1], read.arguments, read.repaired_from)


def _stray(text: str, action: int, label: int, brace: int, offset: int) -> BrokenInput | None:
    """Refuse a brace that is no input of the action: one of another action, of an observation, of a list."""
    stray = _OTHER_ACTION.search(text, action, label) or _OTHER_WORD.search(text, label + len(_INPUT), brace)
    if stray is None:
        return None
    found = stray[0].strip()
    at = offset + stray.end() - len(found)
    detail = f"expected an object after 'Action Input:', found {found!r} before it, at offset {at}"
    return BrokenInput(Refusal(RejectionReason.MALFORMED, detail), at)
