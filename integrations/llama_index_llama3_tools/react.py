"""ReAct with the calls that Llama 3 writes: the parser of its steps, and the prompt that asks for them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

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
    ProblemReason,
    ReadOptions,
    ReasoningDelta,
    Rejection,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallReady,
    declare_tools,
    new_call_id,
    render_tool_call,
)
from llama3_tools.chat import ChatOptions, RefusedCall, kept_chat, read_options
from llama3_tools.errors import require_str
from llama3_tools.prompts import with_misfits
from llama3_tools.text import escape_invisible
from llama_index_llama3_tools.errors import MalformedToolCallError
from llama_index_llama3_tools.output import Showable
from llama_index_llama3_tools.tools import LlamaIndexToolLike, tool_dicts

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from llama3_tools import ReadOption

__all__ = ["Llama3CallReasoningStep", "Llama3ReActChatFormatter", "Llama3ReActOutputParser"]

_SYSTEM_HEADER = """\
{tool_desc}

Before each function call, write one line that begins with "Thought:" and says what you need, then the function call, \
and nothing after it. What the function gives comes back to you after "Observation:".

When you need no function (they are: {tool_names}) or no further one, answer like this, in the language of the question:

Thought: I can answer now.
Answer: your answer
{context}"""

_ACTION = re.compile(r"^[ \t]*Action:[ \t]*(?P<name>[^\n() ]*)", re.MULTILINE)
_INPUT = re.compile(r"^[ \t]*Action Input:", re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t]*Observation:", re.MULTILINE)
_WORD = re.compile(r"^[ \t]*(?:Thought|Action|Answer|Observation):", re.MULTILINE)
_OBJECT = re.compile(r"[^\[{]*(?=\{)")
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*(?:'|\\?\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}]""", re.DOTALL)
_IMPLICIT = "(Implicit) I can answer without any more tools!"  # as LlamaIndex has it


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
    """How the call differs from the documented forms."""
    repaired_from: str | None = None
    """The malformed text that the call was repaired from."""

    def get_content(self) -> str:
        """Write the step as text."""
        return f"Thought: {self.thought}\n{render_tool_call(self.action or 'unknown', self.action_input)}"


class Llama3ReActOutputParser(ReActOutputParser):
    r"""Reads ReAct steps in which Llama 3 calls tools in its own way, and those in LlamaIndex's form too.

    For `ReActAgent(output_parser=…)`, beside a `Llama3ReActChatFormatter`. The first call or action of a text is the
    step, for each step has one; text before it is the thought. What stands after it, the model made up. What it only
    thinks, in `<think>…</think>`, is never a call nor an answer.

    >>> parser = Llama3ReActOutputParser([{"name": "now"}])
    >>> step = parser.parse('Thought: I need the time. {"name": "now", "parameters": {}}')
    >>> step.thought, step.action, step.action_input
    ('I need the time.', 'now', {})
    >>> parser.parse("Thought: I need the time.\n<|python_tag|>now()").action
    'now'
    >>> parser.parse("Thought: I need the time.\nAction: now\nAction Input: {'zone': 'UTC'}").action_input
    {'zone': 'UTC'}
    >>> parser.parse("Thought: I know that. Answer: It is noon.").response
    'It is noon.'

    Args:
        tools: the tools that may be called: those of the agent. Without them, any name may be called, but no pythonic
            call is read, nor are arguments made to fit.
        options: how outputs are read. `None`: as an agent's answers are,
            `ReadOptions(on_unknown_tool="call", coerce_arguments=True)`. Without `split_reasoning`, what is thought
            begins the step's thought. (`Llama3ToolLLM(split_reasoning=True)` takes it out of the answer before, and
            keeps it: leave `starts_reasoning` to it, then.) An input in LlamaIndex's form is repaired in any case.
        **changes: single options, by name, which go before those in `options`.

    Raises:
        TypeError: `tools` is no list of tools, there is no such option, or it has the wrong type.
        ToolDefinitionError: a tool without a name, with another one's name, or with parameters that are no JSON Schema.
        ValueError: an option has a value that it cannot have, or `repair` has no `tools`.
    """

    def __init__(
        self,
        tools: Iterable[LlamaIndexToolLike] | None = None,
        *,
        options: ReadOptions | None = None,
        **changes: Unpack[ReadOption],
    ) -> None:
        given = ChatOptions().read if options is None else options
        read = read_options(type(self).__name__, given, changes, ("tools", "options"))
        self._tools = None if tools is None else declare_tools(tool_dicts(tools))
        self._options = replace(
            read, split_reasoning=True, coerce_arguments=read.coerce_arguments and bool(self._tools)
        )
        self._extractor = Extractor(None if self._tools is None else self._tools.values(), options=self._options)
        self._without_calls = Extractor(
            options=replace(self._options, formats=("none",), coerce_arguments=False, repair=False)
        )
        self._keeps_reasoning = not read.split_reasoning

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
        stream = self._extractor.stream()
        text, thoughts, call = _up_to_the_first_call([*stream.feed(output), *stream.flush()])
        if call and _is_step(text, call.name):
            return self._step(_thought(text), thoughts, call, call.repaired_from)
        read = self._without_calls.extract(output)
        text, thoughts = read.content or "", read.reasoning or ""
        thought, answer, response = text.partition("Answer:")
        action = _ACTION.search(thought)
        if action:
            return self._step(_thought(text[: action.start()]), thoughts, *self._of_action(output, text, action))
        if not answer and (attempts := stream.extraction.attempts):
            raise MalformedToolCallError(output, [_refuse(output[slice(*one.span)], one) for one in attempts])
        if output and not text:
            raise ValueError(self._nothing_after_reasoning(output))
        if not answer and ("Thought:" in text or "Action" in text):
            raise ValueError(f"Could not parse output: {escape_invisible(text)}")
        thought, response = (_thought(thought), response.strip()) if answer else ("", text)
        thought = self._with_reasoning(thought or _IMPLICIT, thoughts)
        return ResponseReasoningStep(thought=thought, response=response, is_streaming=is_streaming)

    def _of_action(self, output: str, text: str, action: re.Match[str]) -> tuple[ToolCall, str | None]:
        """Read the action in LlamaIndex's form, by the rules for calls, and what it was repaired from.

        Its input begins after its own `Action Input:`, and before any other word.

        Raises:
            MalformedToolCallError: the input is no object.
            ValueError: there is none.
        """
        name, after = action["name"], _WORD.search(text, action.end())
        end = after.start() if after else len(text)
        label = _INPUT.search(text, action.end(), end)
        found = _OBJECT.match(text, label.end(), end) if label else None
        if not name or not found or _INPUT.search(text, 0, action.start()) or _is_made_up(text[: action.start()]):
            raise ValueError(
                "Could not extract tool use from input text: write a JSON object after the 'Action Input:' of the "
                f"first action, and no 'Observation:' before it. The text was: {escape_invisible(text)}"
            )
        begin = found.end()
        written = text[begin : _end_of_object(text, begin, end)]
        # The offsets in what is read are those in the output.
        opening = f"<function={name}>".rjust(begin + max(output.rfind(text), 0))
        extraction = self._reader_of(name).extract(f"{opening}{written}</function>")
        if not extraction.tool_calls:
            step = text[action.start() : end].rstrip()
            raise MalformedToolCallError(output, [_refuse(step, attempt) for attempt in extraction.rejections])
        call = extraction.tool_calls[0]
        return call, None if call.repaired_from is None else written

    def _reader_of(self, name: str) -> Extractor:
        """Return what reads the input of an action of a tool."""
        options = replace(self._options, formats=("function",), repair=True, starts_reasoning=False)
        if self._tools is None or (name not in self._tools and options.on_unknown_tool == "call"):
            return Extractor([Tool(name)], options=options)
        return Extractor(self._tools.values(), options=options)

    def _step(self, thought: str, thoughts: str, call: ToolCall, repaired_from: str | None) -> Llama3CallReasoningStep:
        return Llama3CallReasoningStep(
            thought=self._with_reasoning(thought or "I need a tool.", thoughts),
            action=call.name,
            action_input=call.arguments,
            changes=call.changes,
            problems=call.problems,
            deviations=call.deviations,
            repaired_from=repaired_from,
        )

    def _with_reasoning(self, thought: str, thoughts: str) -> str:
        return f"<think>{thoughts}</think>\n{thought}" if thoughts and self._keeps_reasoning else thought

    def _nothing_after_reasoning(self, output: str) -> str:
        nothing = "the answer holds reasoning and no step"
        if not self._options.starts_reasoning or "</think>" in output:
            return nothing
        return (
            f"{nothing}, because `</think>` is missing (if Llama3ToolLLM(split_reasoning=True) has split the reasoning "
            "off already, leave out the parser's starts_reasoning)"
        )


def _up_to_the_first_call(events: Iterable[Event]) -> tuple[str, str, ToolCall | None]:
    """Return the text and the reasoning before the first call, and that call."""
    text = thoughts = ""
    for event in events:
        if isinstance(event, ToolCallReady):
            return text, thoughts, event.tool_call
        if isinstance(event, TextDelta):
            text += event.text
        elif isinstance(event, ReasoningDelta):
            thoughts += event.text
    return text, thoughts, None


def _is_step(before: str, name: str) -> bool:
    r"""Return whether a call is the step: no answer stands before it, and no action but its own.

    Some models write the whole call after `Action Input:`. It is the step if that is the first input, and belongs to
    the first action, of the same name.

    >>> _is_step("Thought: So.\nAction: now\nAction Input:", "now")
    True
    >>> _is_step("Thought: So.\nAction: f\nAction Input: {}\nAction: now\nAction Input:", "now")
    False

    Args:
        before: the text before the call.
        name: the tool that it calls.
    """
    first, label = _ACTION.search(before), _INPUT.search(before)
    if "Answer:" in before or _is_made_up(before):
        return False
    if label is None:
        return True
    between = before[label.end() :]
    return first is not None and first["name"] == name and not _WORD.search(between) and not _OBJECT.match(between)


def _is_made_up(before: str) -> bool:
    """Return whether the model has made up an observation by then. At the beginning, it may repeat the last one."""
    observation = _OBSERVATION.search(before)
    return observation is not None and bool(before[: observation.start()].strip())


def _thought(before: str) -> str:
    """Return what stands before a step as its thought, without the words of ReAct around it."""
    action = _ACTION.search(before)
    thought = (before[: action.start()] if action else before).strip()
    return thought.removeprefix("Thought:").strip()


def _end_of_object(text: str, begin: int, end: int) -> int:
    """Return where the object ends that begins at an index, in JSON or in Python: what comes after does not matter."""
    depth = 0
    for token in _TOKEN.finditer(text, begin, end):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    return end


def _refuse(text: str, attempt: Rejection) -> RefusedCall:
    name, reason, detail = attempt.name or "", str(attempt.reason), attempt.detail
    return RefusedCall(new_call_id(), name, reason, detail, text, attempt.span, detail)


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
                "system_header may use {tool_desc}, {tool_names} and {context}; write every other brace twice, as in "
                f"'{{{{' ({type(error).__name__}: {error})"
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
        chat = kept_chat(tool_dicts(tools, may_repeat=True))
        header = self.system_header.format(
            tool_desc=chat.prompt() or "There are no functions.",
            tool_names=", ".join(chat.tools) or "none",
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
    shown = list(steps)
    for place, (step, after) in enumerate(itertools.pairwise(steps), start=1):
        if isinstance(step, Llama3CallReasoningStep) and isinstance(after, ObservationReasoningStep):
            # A parameter that nobody declared is the tool's to take or to refuse.
            problems = [one for one in step.problems if one.reason is not ProblemReason.UNKNOWN_PARAMETER]
            misfits = [one.message for one in problems]
            shown[place] = after.model_copy(update={"observation": with_misfits(after.observation, misfits)})
    return shown
