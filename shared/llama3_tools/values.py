"""The values that come out: calls and their arguments, rejections, events, and the extraction with all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Literal, TypeAlias, TypedDict

from llama3_tools.text.escaping import escape_invisible
from llama3_tools.text.json_writing import shown, write_json

_LINE_BREAK = re.compile(r"[\r\n]")
_PLAIN_NAME = re.compile(r"[\w.:/-]+")

Span: TypeAlias = tuple[int, int]
"""Start and end (exclusive) of a piece of the model output, in characters."""


def fields_shown(value: Any) -> str:  # noqa: ANN401 (any dataclass)
    """Show a dataclass as Python does, integers of any size too; no character hides."""
    named = [f"{one.name}={shown(getattr(value, one.name))}" for one in fields(value)]
    return escape_invisible(f"{type(value).__name__}({', '.join(named)})", exact=True)


class OpenAIFunction(TypedDict):
    """The `function` of a tool call in OpenAI's chat format."""

    name: str
    arguments: str


class OpenAIToolCall(TypedDict):
    """One tool call in OpenAI's chat format."""

    id: str
    type: str
    function: OpenAIFunction


class OpenAIMessage(TypedDict, total=False):
    """An assistant message in OpenAI's chat format; without calls it has no `tool_calls`."""

    role: str
    content: str | None
    tool_calls: list[OpenAIToolCall]


class Word(str, Enum):
    """A word of a closed list, which is its own text in logs and JSON."""

    def __str__(self) -> str:
        """Return the bare word."""
        return str.__str__(self)


class ProblemReason(Word):
    """Why a value does not fit its schema."""

    WRONG_TYPE = "wrong_type"
    """Not of the JSON type that the schema declares, and cannot be read as that type."""
    NOT_IN_ENUM = "not_in_enum"
    """Of the right type, but none of the values of the `enum` or `const`."""
    UNKNOWN_PARAMETER = "unknown_parameter"
    """A name that the schema does not declare. The value is kept."""
    MISSING_PARAMETER = "missing_parameter"
    """A required name without a value. None is made up."""
    NO_ALTERNATIVE = "no_alternative"
    """Fits none of several schemas that could have been meant (`anyOf`, `oneOf`)."""
    INVALID_VALUE = "invalid_value"
    """Of the right type, but against another rule of the schema, such as `minimum`. Only validation looks at these."""
    TOO_DEEP = "too_deep"
    """The value, or the value in its text, is nested too deep to be checked."""
    TOO_MANY = "too_many"
    """The first of the problems that are not listed."""


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """A value that the model wrote in another type than the declared one, and what was made of it."""

    path: str
    """Where it is, as a JSONPath: `$.labels[0]`. Long names, and paths, are shortened."""
    declared: str
    """What the schema declares, in short: `array of string`."""
    before: Any = field(hash=False)
    """The value as the model wrote it."""
    after: Any = field(hash=False)
    """The value in the arguments now."""

    __repr__ = fields_shown


@dataclass(frozen=True, slots=True)
class ArgumentProblem:
    """A place where the arguments do not fit the schema."""

    path: str
    """Where it is, as a JSONPath: `$.labels[0]`. Of a missing parameter, where it should be. Shortened if long."""
    declared: str
    """What the schema declares there, in short: `array of string`; empty for an unknown parameter."""
    value: Any = field(hash=False)
    """The value, as the model wrote it; `None` for a missing parameter, and if there are too many problems."""
    reason: ProblemReason
    """One word for the cause."""
    message: str
    """One sentence that says where, what was expected and what was found, for people and models alike."""

    __repr__ = fields_shown


@dataclass(slots=True, unsafe_hash=True)  # not frozen: that takes six times as long to make
class ToolCall:
    """A tool call that the model wrote out completely (principle 1). Do not change it.

    Two calls are equal if only their ids differ: each extraction makes new ids.
    """

    name: str
    """The tool's name, never empty."""
    arguments: dict[str, Any] = field(hash=False)
    """The arguments, decoded; integers of any size keep their value. With `coerce_arguments`, as fits the schema."""
    arguments_json: str
    """The arguments as the model wrote them: one JSON object, every digit kept. Python's literals as JSON."""
    id: str = field(compare=False)
    """`call_` and 24 hex digits. An id that the model wrote is ignored."""
    span: Span
    """Where the call is in the model output: its JSON, or `NAME(…)`; for `<function=NAME>{…}` and for arguments
    after a name, from the name's markup to the end of the arguments."""
    format: str
    """How it was written, such as `json`, `fence`, `tool_call` or `pythonic`: the page Reading lists what there is."""
    changes: tuple[ArgumentChange, ...] = ()
    """What was changed to fit the tool's schema, with `coerce_arguments`; `arguments_json` has the model's own."""
    problems: tuple[ArgumentProblem, ...] = ()
    """What still does not fit the tool's schema, with `coerce_arguments`. It stays as the model wrote it."""
    deviations: tuple[str, ...] = ()
    """How it differs from the documented forms, one sentence each."""
    repaired_from: str | None = None
    """With `repair`, the malformed text that it was repaired from: the whole object, array or envelope, or the
    arguments in a `<function=NAME>` tag. `None` if nothing was repaired."""

    def __repr__(self) -> str:
        """Show the call as Python would: `get_weather({"city": "Paris"})`, then its place; no character hides."""
        start, end = self.span
        arguments = shortened(_in_one_line(self.arguments_json))  # whose strings have no line breaks
        name = shortened(self.name if _PLAIN_NAME.fullmatch(self.name) else repr(self.name))
        repaired = "" if self.repaired_from is None else " repaired"
        return escape_invisible(f"<ToolCall {name}({arguments}) {self.format} {start}:{end}{repaired}>", exact=True)

    @property
    def usable_json(self) -> str:
        """The arguments as JSON, to run the tool with: the model's own text, unless something in them was changed."""
        return write_json(self.arguments) if self.changes else self.arguments_json

    def to_openai(self) -> OpenAIToolCall:
        """Return the call in OpenAI's chat format, the arguments as JSON text."""
        function = OpenAIFunction(name=self.name, arguments=self.usable_json)
        return OpenAIToolCall(id=self.id, type="function", function=function)


class RejectionReason(Word):
    """Why a candidate is not a call. The text of a rejected candidate stays in the content."""

    MALFORMED = "malformed"
    """Not strict JSON (principle 1), a tag that names a tool but has no object in it, or a pythonic call with anything
    but literals."""
    TRUNCATED = "truncated"
    """The output ended inside it, or a stream broke off (principle 6)."""
    NOT_A_CALL = "not_a_call"
    """JSON in none of the shapes, a part of data or code (principle 3), or a declared name in an odd form."""
    INVALID_NAME = "invalid_name"
    """Has arguments, but its name is empty or not a string; or other keys have two names."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """Its arguments are neither an object nor a string that contains one, or are more than the parameters."""
    MISSING_ARGUMENTS = "missing_arguments"
    """It has a name and no arguments, and is not a declared tool that requires none."""
    CONFLICTING_ARGUMENTS = "conflicting_arguments"
    """Both `parameters` and `arguments`, with different values."""
    SCHEMA_ECHO = "schema_echo"
    """A tool's schema, repeated by the model instead of a call."""
    UNKNOWN_TOOL = "unknown_tool"
    """A call of a tool that was not declared (principle 1)."""
    QUOTED = "quoted"
    """It is in quotation (principle 4)."""
    TOO_DEEP = "too_deep"
    """Nested deeper than 128 levels, or than `Limits.max_depth` says (principle 8)."""
    TOO_LONG = "too_long"
    """Longer than `Limits.max_call_length` characters (principle 8)."""
    TOO_MANY = "too_many"
    """A call beyond the first `Limits.max_calls`, or the first of the rejections that are not listed (principle 8)."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A place that looks like a call and is not one. Its text is part of the content."""

    span: Span
    """From its first character to the last token that could still have been a call."""
    reason: RejectionReason
    """One word for the cause."""
    detail: str
    """What was found, where (an offset into the output), and what was expected."""
    name: str | None = None
    """The tool that it seems to name, if it names one. `None` for mere prose or data."""
    is_attempt: bool = False
    """Whether the model tried to call a tool (principle 7), so that an agent tells it what was wrong."""

    def __repr__(self) -> str:
        """Show where, why, and the detail; no character hides."""
        start, end = self.span
        name = "" if self.name is None else f" of {shortened(self.name)!r}"
        return escape_invisible(
            f"<Rejection {start}:{end}{name} {self.reason}: {_in_one_line(self.detail)}>", exact=True
        )


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text that is content, as soon as that is certain. Never empty."""

    text: str
    """The next piece of the content."""

    __repr__ = fields_shown


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """Text that is the model's reasoning, with `split_reasoning`, as soon as that is certain. Never empty."""

    text: str
    """The next piece of the reasoning."""

    __repr__ = fields_shown


@dataclass(frozen=True, slots=True)
class ToolCallReady:
    """A whole tool call, as soon as it is complete. There are no partial calls."""

    tool_call: ToolCall
    """The call."""


@dataclass(frozen=True, slots=True)
class CallProgress:
    """How much of a call has been written, with `progress`. It is for a display, and does not promise a call.

    A call has one or more events with `writing`, then one with `ready` or `withdrawn`. A call that comes whole in one
    chunk has none, and of an envelope only the first call has any.
    """

    name: str
    """The tool that it seems to name."""
    characters: int
    """How many characters of it have come."""
    status: Literal["writing", "ready", "withdrawn"]
    """Whether it is still being written, has become a call, or turned out not to be one."""


Event: TypeAlias = TextDelta | ReasoningDelta | ToolCallReady | CallProgress
"""What a stream hands out."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """One model output, taken apart: nothing lost, nothing invented."""

    content: str | None
    """The text apart from calls and from reasoning that was split off. `None` if there is none; `""` for an empty
    output."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls, in the order in which the model wrote them."""
    rejections: tuple[Rejection, ...] = ()
    """The candidates that were not calls, in the order of the text."""
    reasoning: str | None = None
    """What the model thought, with `split_reasoning`: without the tags, thoughts a blank line apart."""

    @property
    def attempts(self) -> tuple[Rejection, ...]:
        """The rejections in which the model tried to call (principle 7): an agent tells it what was wrong."""
        return tuple(rejection for rejection in self.rejections if rejection.is_attempt)

    @property
    def tools_called(self) -> bool:
        """Whether there is at least one call."""
        return bool(self.tool_calls)

    def to_openai(self) -> OpenAIMessage:
        """Return the assistant message that an OpenAI-compatible server should have sent.

        >>> from llama3_tools import extract
        >>> extract("Hello!").to_openai()
        {'role': 'assistant', 'content': 'Hello!'}
        """
        message = OpenAIMessage(role="assistant", content=self.content)
        if self.tool_calls:
            message["tool_calls"] = [call.to_openai() for call in self.tool_calls]
        return message

    def __repr__(self) -> str:
        """Show the content (shortened) and each call and rejection on its own line."""
        content = None if self.content is None else shortened(self.content)
        reasoning = "" if self.reasoning is None else f", reasoning={shortened(self.reasoning)!r}"
        lines = [f"Extraction(content={content!r}{reasoning}"]
        lines += [f"  {value!r}" for value in (*self.tool_calls, *self.rejections)]
        return escape_invisible("\n".join(lines) + ")")


def shortened(text: str, limit: int = 120) -> str:
    """Return text of at most about `limit` characters, saying how long it was: what a model writes may be long."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 20]}… ({len(text)} characters)"


def _in_one_line(text: str) -> str:
    return " ".join(filter(None, map(str.strip, _LINE_BREAK.split(text))))
