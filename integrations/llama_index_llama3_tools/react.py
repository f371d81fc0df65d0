"""ReAct steps in which Llama 3 calls tools in its own way."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from llama_index.core.agent.react.output_parser import ReActOutputParser, extract_tool_use
from llama_index.core.agent.react.types import ActionReasoningStep, BaseReasoningStep

from llama3_tools import Extractor, ReadOption, ReadOptions
from llama3_tools.chat import ChatOptions, Reply, ToolChat
from llama3_tools.errors import require_options
from llama3_tools.literals.beginning import object_at_start
from llama_index_llama3_tools.errors import MalformedToolCallError
from llama_index_llama3_tools.messages import NO_PLACE
from llama_index_llama3_tools.tools import LlamaIndexToolLike, tool_dicts

if TYPE_CHECKING:
    from typing_extensions import Unpack


_OTHER_STEP = re.compile(r"^[ \t]*Action:|Answer:", re.MULTILINE)
_OWN_ACTION = re.compile(r"^[ \t]*Action:(?:[ \t]*(?P<name>[^\s()]+)[^\n]*\s+Action Input:)?[\s`]*\Z", re.MULTILINE)


_READ = ReadOptions(on_unknown_tool="call", coerce_arguments=True)
"""The agent answers a step of a tool that it does not have."""


class Llama3ReActOutputParser(ReActOutputParser):
    r"""Reads ReAct steps in which Llama 3 calls a tool in its own way, and those in LlamaIndex's form.

    For `ReActAgent(output_parser=…)`. If you can choose, take `FunctionAgent` with `Llama3ToolLLM`.

    The first call or action of a text is the step, and the text before it is the thought. What follows, such as an
    observation, the model made up, and it is left out. So is what it thinks in `<think>…</think>`.

    >>> parser = Llama3ReActOutputParser([{"name": "now"}])
    >>> step = parser.parse('Thought: I need the time. {"name": "now", "parameters": {}}')
    >>> step.thought, step.action, step.action_input
    ('I need the time.', 'now', {})
    >>> parser.parse("Thought: I need the time.\nAction: now\nAction Input: {'zone': 'UTC'}").action_input
    {'zone': 'UTC'}
    >>> parser.parse("Thought: I know that. Answer: It is noon.").response
    'It is noon.'

    Args:
        tools: the tools that may be called: those of the agent. Without them, any name may be called, but no pythonic
            call is read, nor are arguments made to fit.
        **options: how outputs are read: the fields of `ReadOptions`, by name. By default, `on_unknown_tool="call"`, as
            the agent answers such a step, and `coerce_arguments=True`.

    Raises:
        TypeError: `tools` is not a list of tools, or an option does not exist or has the wrong type.
        ToolDefinitionError: a tool has no name or another one's, or parameters that are not a JSON Schema.
        ValueError: an option has a value that it cannot have, or `repair` has no `tools`.
    """

    def __init__(
        self,
        tools: Iterable[LlamaIndexToolLike] | None = None,
        **options: Unpack[ReadOption],
    ) -> None:
        require_options(type(self).__name__, options, ReadOption.__optional_keys__ - NO_PLACE)
        read = replace(_READ, **options)
        plain = replace(read, formats=("none",), split_reasoning=True, coerce_arguments=False, repair=False)
        self._thoughts = Extractor(options=plain)
        # The text that it reads has no thoughts left.
        of_steps = ChatOptions(read=replace(read, starts_reasoning=False), prompt_format=None, max_retries=0)
        self._request = ToolChat(None if tools is None else tool_dicts(tools), of_steps).request([])

    def parse(self, output: str, is_streaming: bool = False) -> BaseReasoningStep:  # noqa: FBT001, FBT002 (the framework's signature)
        """Read a step.

        Args:
            output: what the model wrote.
            is_streaming: whether an answer is still being written.

        Raises:
            MalformedToolCallError: a call is malformed or beyond the limits; it is a `ValueError`, on which the agent
                asks the model again.
            ValueError: the text is not a step.
        """
        text = (self._thoughts.extract(output).content or "").lstrip()
        if output and not text:
            raise ValueError("the answer has reasoning and no step")
        written = text.partition("\nObservation:")[0]  # what follows, the model made up
        stream = self._request.stream()
        deltas = [*stream.feed({"content": written}), *stream.end()]
        call = next(iter(stream.tool_calls), None)
        before = "".join(
            delta.get("content", "") for delta in takewhile(lambda delta: "tool_calls" not in delta, deltas)
        )
        own = _OWN_ACTION.search(before)
        if call and (not _OTHER_STEP.search(before) or (own and own["name"] in {None, call.name})):
            thought = (before[: own.start()] if own else before).strip().removeprefix("Thought:").strip()
            return ActionReasoningStep(
                thought=thought or "I need a tool.", action=call.name, action_input=call.arguments
            )
        if not _OTHER_STEP.search(written):
            self._require_none_refused(output, stream.reply)
        text = written if "Action:" in written else text
        step = super().parse(text, is_streaming)
        return self._fitting(output, step, text) if isinstance(step, ActionReasoningStep) else step

    def _fitting(self, output: str, step: ActionReasoningStep, text: str) -> ActionReasoningStep:
        """Return a step in LlamaIndex's form, held to the rules for calls.

        LlamaIndex guesses arguments that it cannot read: of `{"city": "Rome", "days": soon}`, it leaves out the days.
        """
        *_, written = extract_tool_use(text)
        function: dict[str, Any] = {"name": step.action, "arguments": object_at_start(written)}
        reply = self._request.read({"tool_calls": [{"function": function}]})
        self._require_none_refused(output, reply)
        arguments = reply.tool_calls[0].arguments if reply.tool_calls else step.action_input
        return step.model_copy(update={"action_input": arguments})

    @staticmethod
    def _require_none_refused(output: str, reply: Reply) -> None:
        if reply.report.refused:
            raise MalformedToolCallError(output, reply.report.refused)
