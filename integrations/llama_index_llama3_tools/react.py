"""ReAct with the calls that Llama 3 writes: the parser of its steps, and the prompt that asks for them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.react.types import (
    ActionReasoningStep,
    BaseReasoningStep,
    ObservationReasoningStep,
    ResponseReasoningStep,
)
from llama_index.core.bridge.pydantic import ConfigDict, Field, field_validator
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.tools import BaseTool

from llama3_tools import (
    ArgumentChange,
    ArgumentProblem,
    Event,
    Extractor,
    Formats,
    Limits,
    OnUnknownTool,
    ReasoningDelta,
    RejectionReason,
    TextDelta,
    ToolCall,
    ToolCallReady,
    render_tool_call,
)
from llama3_tools.chat.toolset import kept_toolset
from llama3_tools.errors import require_bool, require_parameters, require_str
from llama3_tools.limits import DEFAULT_LIMITS, excess
from llama3_tools.prompts.render import formats_asked_for
from llama3_tools.tools.declared import not_declared
from llama_index_llama3_tools.arguments import ToolSchemas, mendable, with_misfits
from llama_index_llama3_tools.errors import MalformedToolCallError
from llama_index_llama3_tools.output import FailedToolCall, Showable, failed_tool_calls
from llama_index_llama3_tools.react_form import Action, is_first_call, read_step
from llama_index_llama3_tools.react_words import mask_quoted
from llama_index_llama3_tools.reading import Reading
from llama_index_llama3_tools.tools import LlamaIndexToolLike, read_tools

__all__ = ["Llama3CallReasoningStep", "Llama3ReActChatFormatter", "Llama3ReActOutputParser"]

_SYSTEM_HEADER = """\
{tool_desc}

Before each function call, write one line that begins with "Thought:" and says what you need, then the function call, \
and nothing after it. What the function gives comes back to you after "Observation:".

When you need no function (they are: {tool_names}) or no further one, answer like this, in the language of the question:

Thought: I can answer now.
Answer: your answer
{context}"""

_BEFORE_LIST = re.compile(r"(?<=Action:)[ \t](?=\[)")


class Llama3CallReasoningStep(Showable, ActionReasoningStep):
    """A step that calls a tool, shown to the model in the form that `Llama3ReActChatFormatter` asks for.

    >>> step = Llama3CallReasoningStep(thought="I need the time.", action="now", action_input={"zone": "UTC"})
    >>> print(step.get_content())
    Thought: I need the time.
    {"name": "now", "parameters": {"zone": "UTC"}}
    """

    changes: tuple[ArgumentChange, ...] = ()
    """What was changed in `action_input` to fit the tool's schema."""
    problems: tuple[ArgumentProblem, ...] = ()
    """What does not fit all the same."""
    deviations: tuple[str, ...] = ()
    """How the call differs from the documented forms, with `lenient`."""
    repaired_from: str | None = None
    """The malformed text that the call was repaired from, with `repair`."""

    def get_content(self) -> str:
        """Write the step as text."""
        return f"Thought: {self.thought}\n{render_tool_call(self.action or 'unknown', self.action_input)}"


class Llama3ReActOutputParser(ReActOutputParser):
    r"""Reads ReAct steps in which Llama 3 calls tools in its own way, and those in LlamaIndex's form too.

    For `ReActAgent(output_parser=…)`, beside a `Llama3ReActChatFormatter`. The first call of a text is the step's
    action, for each step has one; text before it is the thought. Text without a call, or with an action before it, is
    what LlamaIndex's own parser makes of it, but that the first action counts and nothing is made up: its input is one
    object of strict JSON, or a dict of Python's literals. An action in quotation is none, be it in a listing or a
    comment (rule 9); a fence that wraps the step is no quotation. What the model only thinks, in `<think>…</think>`, is
    never a call nor an answer.

    >>> parser = Llama3ReActOutputParser([{"name": "now"}])
    >>> step = parser.parse('Thought: I need the time. {"name": "now", "parameters": {}}')
    >>> step.thought, step.action, step.action_input
    ('I need the time.', 'now', {})
    >>> parser.parse("Thought: I need the time.\n<|python_tag|>now()").action
    'now'
    >>> parser.parse("Thought: I know that. Answer: It is noon.").response
    'It is noon.'
    >>> parser.parse("<think>Answer: One?</think>Thought: I know that. Answer: It is noon.").response
    'It is noon.'

    Args:
        tools: the tools that may be called: those of the agent. Without them any name is a call, also in a pythonic
            list; a pythonic call without brackets, which prose could be, is none then.
        on_unknown_tool: what a call of another tool is, in either form: a `"call"`, which the agent answers, or
            `"text"`, and no step.
        coerce_arguments: whether arguments are made to fit the schemas of `tools`, without guessing, in either form of
            call. A step's `changes` and `problems` tell of it. Without `tools` there is nothing to go by.
        formats: the forms of calls to read, by name, `"all"` or `"none"`; `None`: all that is said above. Steps in
            LlamaIndex's form are read in any case.
        lenient: whether calls under keys that no manual has are read, too. A step's `deviations` tell which.
        repair: whether malformed calls of `tools` are repaired where they are closed. A step's
            `repaired_from` is what the model wrote.
        split_reasoning: whether `<think>…</think>` is no part of the step, rather than the beginning of its thought.
            (`Llama3ToolLLM(split_reasoning=True)` takes it out of the answer before, and keeps it.)
        starts_reasoning: whether the output begins inside reasoning, as the prompt ends with `<think>`. Without it,
            a call that such a model only thinks of is run. Not for a `Llama3ToolLLM(split_reasoning=True)`: it leaves
            none.
        limits: how deep and how long a call may be. What goes beyond is none.

    Raises:
        TypeError: `tools` is no list of tools, there is no such option, `limits` are no `Limits`, or what is true or
            false is neither.
        ToolDefinitionError: a tool without a name, with another one's name, or with parameters that are no JSON Schema.
        ValueError: an option has a value that it does not know, a limit is too low, or `repair` has no `tools`.
    """

    def __init__(  # noqa: PLR0913 (options, each by its name)
        self,
        tools: Iterable[LlamaIndexToolLike] | None = None,
        *,
        on_unknown_tool: OnUnknownTool = "call",
        coerce_arguments: bool = True,
        formats: Formats = None,
        lenient: bool = False,
        repair: bool = False,
        split_reasoning: bool = False,
        starts_reasoning: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        **unknown: NoReturn,
    ) -> None:
        require_parameters(Llama3ReActOutputParser, unknown)
        require_bool(coerce_arguments=coerce_arguments, split_reasoning=split_reasoning)
        toolset = None if tools is None else read_tools(tools)
        # A step without an answer is meant as a call: where no tools are known, a list of calls is read by its form.
        is_any = toolset is None and formats is None
        meant = formats_asked_for("pythonic", tools=()) if is_any else formats
        # What is thought is no part of what is read, and kept beside it where it is not split off.
        reading = Reading(
            meant, lenient, repair, split_reasoning=True, starts_reasoning=starts_reasoning, limits=limits
        )
        make = partial(Extractor, tools=None if toolset is None else toolset.declared.values())
        self._extractor = reading.reader(make, on_unknown_tool=on_unknown_tool, coerce_arguments=False).extractor
        # A list of calls that is none may be prose then: `[Smith (2020)]`.
        self._failing = self._extractor
        if is_any:
            failing = replace(reading, formats=None)
            self._failing = failing.reader(make, on_unknown_tool=on_unknown_tool, coerce_arguments=False).extractor
        self._without_calls = reading.reader_of_reasoning().extractor
        self._keeps_reasoning = not split_reasoning
        self._starts_reasoning = starts_reasoning
        self._schemas = ToolSchemas(
            toolset if toolset and coerce_arguments else kept_toolset(()), depth=limits.max_depth
        )
        self._names = toolset.declared if toolset is not None and on_unknown_tool == "text" else None
        self._repairable = toolset.declared if toolset is not None and repair else ()
        self._limits = limits

    def parse(self, output: str, is_streaming: bool = False) -> BaseReasoningStep:  # noqa: FBT001, FBT002 (the framework's signature)
        """Read a step.

        Args:
            output: what the model wrote.
            is_streaming: whether an answer is still being written.

        Raises:
            TypeError: `output` is no `str`.
            MalformedToolCallError: a call is malformed, beyond the limits, or of an unknown tool that is not to be
                called; it is a `ValueError`, on which the agent asks the model again.
            ValueError: the text is no step.
        """
        require_str(output, "parse takes the model's text, a str")
        masked = mask_quoted(self._extractor, output)
        events = self._read(masked.text)
        text, reasoning = _before_call(events)
        # Arguments are as the model wrote them, with the words in them that are masked.
        call = _first_call(events if masked.text == output else self._read(output))
        if call and is_first_call(text, call.name):
            return self._step(
                masked.shown(_thought(text)),
                masked.shown(reasoning),
                call.name,
                call.arguments,
                deviations=call.deviations,
                repaired_from=call.repaired_from,
            )
        read = self._without_calls.extract(masked.text)
        answer, reasoning = read.content or "", masked.shown(read.reasoning or "")
        if output and not answer:
            raise ValueError(self._nothing_behind_reasoning(output))
        if "Answer:" not in answer and "Action:" not in answer:
            errors = failed_tool_calls(output, self._failing.extract(output))
            if errors:
                raise MalformedToolCallError(output, errors)
        offset = max(masked.text.rfind(answer), 0)
        step = read_step(
            answer, is_streaming=is_streaming, offset=offset, repairable=self._repairable, shown=masked.shown
        )
        if not isinstance(step, ResponseReasoningStep):
            if failed := self._failed(step, masked.shown(answer)):
                raise MalformedToolCallError(output, [failed])
            assert isinstance(step, Action)  # noqa: S101  # what has not failed
            return self._step(step.thought, reasoning, step.name, step.arguments, repaired_from=step.repaired_from)
        step.thought = self._with_reasoning(step.thought, reasoning)
        return step

    def _read(self, text: str) -> list[Event]:
        """Read all that a text holds.

        A list of tools that nobody declared is one of calls at the start of a line alone, as that of an action is meant
        to be.
        """
        stream = self._extractor.stream()
        return [*stream.feed(_BEFORE_LIST.sub("\n", text)), *stream.flush()]

    def _with_reasoning(self, thought: str, reasoning: str) -> str:
        return f"<think>{reasoning}</think>\n{thought}" if reasoning and self._keeps_reasoning else thought

    def _nothing_behind_reasoning(self, output: str) -> str:
        nothing = "there is no step after the reasoning"
        if not self._starts_reasoning or "</think>" in output:
            return nothing
        return (
            f"{nothing}, which `</think>` never ends (if the reasoning was split off already, as "
            "Llama3ToolLLM(split_reasoning=True) does it, leave out the parser's starts_reasoning)"
        )

    def _failed(self, step: Action | FailedToolCall, answer: str) -> FailedToolCall | None:
        """Say why a step in LlamaIndex's form is none, if so."""
        if self._names is not None and step.name not in self._names:
            return FailedToolCall(step.name, answer, RejectionReason.UNKNOWN_TOOL, not_declared(step.name, self._names))
        if isinstance(step, FailedToolCall):
            return step
        beyond = excess(step.arguments, self._limits)
        return FailedToolCall(step.name, answer, *beyond) if beyond else None

    def _step(  # noqa: PLR0913 (what a step has)
        self,
        thought: str,
        reasoning: str,
        tool: str,
        arguments: dict[str, Any],
        *,
        deviations: tuple[str, ...] = (),
        repaired_from: str | None = None,
    ) -> Llama3CallReasoningStep:
        coercion = self._schemas.coerce(tool, arguments)
        return Llama3CallReasoningStep(
            thought=self._with_reasoning(thought, reasoning),
            action=tool,
            action_input=coercion.arguments,
            changes=coercion.changes,
            problems=coercion.problems,
            deviations=deviations,
            repaired_from=repaired_from,
        )


class Llama3ReActChatFormatter(ReActChatFormatter):
    """Asks for ReAct steps whose calls are written as Llama 3.1 was trained to write them.

    For `ReActAgent(formatter=…)`, beside a `Llama3ReActOutputParser`, whose steps it shows again in the same form.

    >>> from llama_index.core.tools import FunctionTool
    >>> def now() -> str:
    ...     "Tell the time."
    ...     return "noon"
    >>> system, question = Llama3ReActChatFormatter().format([FunctionTool.from_defaults(now)], [ChatMessage("Time?")])
    >>> system.content.startswith("Given the following functions, please respond with a JSON for a function call")
    True

    Raises:
        ValidationError: `system_header` has other places to fill in than those three, or an option is none.
    """

    model_config = ConfigDict(extra="forbid")

    system_header: str = Field(
        default=_SYSTEM_HEADER, description="The system message; {tool_desc}, {tool_names} and {context} are filled in."
    )

    @field_validator("system_header")
    @classmethod
    def _check_header(cls, header: str) -> str:
        """Fill the header in once, so that what is wrong is said before the agent runs."""
        try:
            header.format(tool_desc="", tool_names="", context="")
        except (LookupError, ValueError, AttributeError) as error:
            raise ValueError(
                f"only {{tool_desc}}, {{tool_names}} and {{context}} are filled in, and any other brace is written "
                f"twice, as in '{{{{': {type(error).__name__}: {error}"
            ) from None
        return header

    def format(
        self,
        tools: Sequence[BaseTool],
        chat_history: list[ChatMessage],
        current_reasoning: list[BaseReasoningStep] | None = None,
    ) -> list[ChatMessage]:
        """Return the messages that the model is sent: the tools, the conversation, the steps so far.

        Args:
            tools: the tools.
            chat_history: the conversation.
            current_reasoning: the steps since the last question.
        """
        toolset = read_tools(tools, may_repeat=True)
        header = self.system_header.format(
            tool_desc=toolset.prompt() if toolset.declared else "There are no functions.",
            tool_names=", ".join(toolset.declared) or "none",
            context=f"\n{self.context}" if self.context else "",
        )
        # LlamaIndex's own way with the steps, and a header of ours.
        _, *messages = ReActChatFormatter(system_header="", context="", observation_role=self.observation_role).format(
            [], chat_history, _with_misfits(current_reasoning or [])
        )
        return [ChatMessage(role=MessageRole.SYSTEM, content=header.strip()), *messages]

    @classmethod
    def from_defaults(
        cls,
        system_header: str | None = None,
        context: str | None = None,
        observation_role: MessageRole = MessageRole.USER,
    ) -> Llama3ReActChatFormatter:
        """Make a formatter; what is not given has its default.

        Args:
            system_header: the system message, with `{tool_desc}`, `{tool_names}` and `{context}` in it.
            context: what else the model should know.
            observation_role: the role of what tools give.
        """
        header = system_header or _SYSTEM_HEADER
        return cls(system_header=header, context=context or "", observation_role=observation_role)


def _with_misfits(steps: Sequence[BaseReasoningStep]) -> list[BaseReasoningStep]:
    """Add to what tools gave what did not fit in their arguments."""
    told = list(steps)
    for place, (step, after) in enumerate(itertools.pairwise(steps), start=1):
        if isinstance(step, Llama3CallReasoningStep) and isinstance(after, ObservationReasoningStep):
            misfits = mendable(step.problems)
            told[place] = after.model_copy(update={"observation": with_misfits(after.observation, misfits)})
    return told


def _first_call(events: Iterable[Event]) -> ToolCall | None:
    return next((event.tool_call for event in events if isinstance(event, ToolCallReady)), None)


def _before_call(events: Iterable[Event]) -> tuple[str, str]:
    """Return the text and the reasoning before the first call; what comes after that, the model made up."""
    before = list(itertools.takewhile(lambda event: not isinstance(event, ToolCallReady), events))
    text = "".join(event.text for event in before if isinstance(event, TextDelta))
    return text, "".join(event.text for event in before if isinstance(event, ReasoningDelta))


def _thought(before: str) -> str:
    thought = before.rpartition("Thought:")[2].partition("Action:")[0].strip()
    return thought or "I need a tool."
