"""ReAct steps in LlamaIndex's own form, read in time that grows with their length, as its patterns do not."""

from __future__ import annotations

import re
from typing import cast

from llama_index.core.agent.react.output_parser import ReActOutputParser, parse_action_reasoning_step
from llama_index.core.agent.react.types import ActionReasoningStep, ResponseReasoningStep

from llama3_tools.json_text import depth_is_within
from llama3_tools.limits import DEFAULT_LIMITS
from llama3_tools.visible import visible

__all__ = ["read_step"]

_ACTION = re.compile(r"\nAction: ([^\n() ]+)")
_INPUT = "\nAction Input: "


def read_step(text: str, *, is_streaming: bool = False) -> ActionReasoningStep | ResponseReasoningStep:
    r"""Read what LlamaIndex's `ReActOutputParser` reads.

    >>> read_step('Thought: So.\nAction: now\nAction Input: {"zone": "UTC"}').action_input
    {'zone': 'UTC'}

    Args:
        text: what the model wrote.
        is_streaming: whether an answer is still being written.

    Raises:
        ValueError: the text is no step.
    """
    before_answer, found, _ = text.partition("Answer:")
    if "Action:" in before_answer:
        return _action(text)
    if not found and "Thought:" in text:
        raise ValueError(f"Could not parse output: {visible(text)}")
    if not found:  # and no other of its words either
        return cast("ResponseReasoningStep", ReActOutputParser().parse(text, is_streaming))
    thought, found, answer = text.partition("Thought:")[2].partition("Answer:")
    if not found:
        raise ValueError(f"Could not extract final answer from input text: {visible(text)}")
    return ResponseReasoningStep(thought=thought.strip(), response=answer.strip(), is_streaming=is_streaming)


def _action(text: str) -> ActionReasoningStep:
    """Read a call: behind a thought the first action that has an input, and behind other text the last one."""
    closed = text[: text.rfind("}") + 1]
    last_input = closed.rfind(_INPUT, 0, closed.rfind("{") + 1)
    actions = list(_ACTION.finditer(text, 1, max(last_input, 0)))
    if not actions:
        raise ValueError(f"Could not extract tool use from input text: {visible(text)}")
    has_thought = text.lstrip().startswith("Thought: ")
    action = actions[0 if has_thought else -1]
    thought = text[: action.start()].strip()
    behind = closed.index("{", closed.index(_INPUT, action.end()) + len(_INPUT))
    if not depth_is_within(closed, behind, len(closed), DEFAULT_LIMITS.depth):  # of which LlamaIndex makes other ones
        raise ValueError(f"Action Input is nested deeper than {DEFAULT_LIMITS.depth} levels")
    # LlamaIndex reads the input, with all that it forgives there; what it has to search is found already.
    step = parse_action_reasoning_step(f"Thought: .\nAction: {action[1]}\nAction Input: {closed[behind:]}")
    step.thought = thought.removeprefix("Thought:").strip() if has_thought else thought
    return step
