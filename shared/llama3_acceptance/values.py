"""The values of the kit: suites and cases, what a case expects, and the judgement of one response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from llama3_tools.chat.tool_prompt import ToolsIn
from llama3_tools.extractor import Extractor
from llama3_tools.formats import Formats, require_formats
from llama3_tools.options import ReadOptions
from llama3_tools.tools import Tool
from llama3_tools.values import Word

DIRECT_ANSWER_TOOLS = frozenset({"calculate", "answer_question", "tell_joke"})
"""The tools that a model may do without by default: what they give, it can say itself."""

Equality: TypeAlias = Literal["exact", "folded"]
"""When two strings are equal: character for character, or with case, white space and accents folded (Unicode's NFC)."""

Mode: TypeAlias = Literal["exact", "partial"]
"""Whether a call may have arguments that were not expected: never, or any."""

ResponseFormat: TypeAlias = Literal["json_schema", "json_object", "none"]
"""How a server is sent the schema of the strict format."""

SuitePromptFormat: TypeAlias = Literal["json", "function", "pythonic", "native", "strict"]
"""How tools are put to a model: in the prompt, in one of its forms or for the strict format, or in the request's
`tools`."""

Source: TypeAlias = Literal["native", "text", "none"]
"""Where calls were found: in the response's `tool_calls`, in its text, or nowhere."""


class Verdict(Word):
    """The verdict on a response: passed, or the one reason why it failed."""

    PASSED = "passed"
    """All that was expected, and nothing else."""
    NO_RESPONSE = "no_response"
    """The endpoint gave no response, or one without text and calls although an answer was expected."""
    MALFORMED = "malformed"
    """A call was meant, and what the model wrote for it is not a call."""
    TRUNCATED = "truncated"
    """The output ended inside a call, or a limit ended an answer in words."""
    WRONG_FORMAT = "wrong_format"
    """In the strict format, anything but its one object."""
    CALL_IN_TEXT = "call_in_text"
    """A call in the text that does not count; if only native calls pass, any JSON there."""
    UNKNOWN_TOOL = "unknown_tool"
    """A call of a tool that the suite does not declare."""
    DIRECT_ANSWER_NOT_ALLOWED = "direct_answer_not_allowed"
    """An answer in words instead of an expected call."""
    MISSING_CALL = "missing_call"
    """Fewer calls than expected."""
    UNEXPECTED_CALL = "unexpected_call"
    """More calls than expected, or any if none was."""
    WRONG_TOOL = "wrong_tool"
    """A call of another tool that the suite declares."""
    WRONG_ORDER = "wrong_order"
    """The right calls in another order, and the order matters."""
    MISSING_ARGUMENT = "missing_argument"
    """The right tool, without an argument that was expected."""
    UNEXPECTED_ARGUMENT = "unexpected_argument"
    """The right tool, with an argument that was not expected."""
    WRONG_TYPE = "wrong_type"
    """An argument of another JSON type than every value that is accepted."""
    WRONG_VALUE = "wrong_value"
    """An argument of the right type, with a value that is not accepted."""

    @property
    def gravity(self) -> int:
        """Its rank among the verdicts: if there are several reasons, the lowest is reported."""
        return list(Verdict).index(self)


class Allowance(Word):
    """Why an unclean response passed: what let it through."""

    WORDS = "words"
    """It answers in words, in place of a call."""
    LIST_IN_STRING = "list_in_string"
    """A string that contains a list was compared as the list."""
    MENDED = "mended"
    """A call was not written as documented, or was repaired."""
    COERCED = "coerced"
    """It is right after coercion only."""


@dataclass(frozen=True, slots=True)
class ArgumentRule:
    """What is expected of one argument.

    >>> ArgumentRule((20,), tolerance=0.5)
    ArgumentRule(any_of=(20,), optional=False, equal='exact', tolerance=0.5, unordered=False)
    """

    any_of: tuple[Any, ...] = field(hash=False)
    """The values that are accepted, as JSON has them."""
    optional: bool = False
    """Whether the argument may be left out."""
    equal: Equality = "exact"
    """How strings are compared, also those inside lists and objects."""
    tolerance: float = 0
    """By how much a number may differ, also one inside lists and objects."""
    unordered: bool = False
    """Whether the order of lists does not matter."""

    def __post_init__(self) -> None:
        """Turn the values into a tuple.

        Raises:
            TypeError: `any_of` is a text, as `("Paris")` without a comma is one.
        """
        given: object = self.any_of
        if isinstance(given, str):
            raise TypeError(f"any_of must be a tuple: for one value, write ({given!r},), with a comma")
        object.__setattr__(self, "any_of", tuple(self.any_of))


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that a case expects."""

    tool: str
    """The name of the tool."""
    arguments: Mapping[str, ArgumentRule] = field(default_factory=dict, hash=False)
    """The arguments that are expected, by name."""
    ignore: frozenset[str] = frozenset()
    """Names of arguments that may be there or not, with any value."""
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What the tool takes for an argument that is left out: to write it and to leave it out is then the same."""
    mode: Mode = "exact"
    """Whether arguments that are named neither here nor in `ignore` are allowed."""

    def __post_init__(self) -> None:
        """Turn the names into a set."""
        object.__setattr__(self, "ignore", frozenset(self.ignore))


@dataclass(frozen=True, slots=True)
class Case:
    """One command, and what the model should make of it."""

    id: str
    """Its name, unique in its suite."""
    command: str
    """What the user says."""
    alternatives: tuple[tuple[ExpectedCall, ...], ...] = ((),)
    """The ways to pass, each with all of its calls; one without calls is an answer in words."""
    ordered: bool = False
    """Whether the calls have to come in the order in which they are expected."""
    direct_answer: bool | None = None
    """Whether an answer in words may replace the calls; `None`: as the suite's policies have it."""
    history: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    """The messages before the command, in OpenAI's chat format."""
    tags: tuple[str, ...] = ()
    """Words to group cases by."""
    line: int = 0
    """The number of the case in its file, from 1 on; 0 for a case without a file."""

    def __post_init__(self) -> None:
        """Turn lists into tuples."""
        object.__setattr__(self, "alternatives", tuple(map(tuple, self.alternatives)))
        object.__setattr__(self, "history", tuple(self.history))
        object.__setattr__(self, "tags", tuple(self.tags))

    @property
    def tool(self) -> str | None:
        """The tool under which tables count the case: the first one expected; `None` if no call is expected."""
        return next((call.tool for calls in self.alternatives for call in calls), None)


@dataclass(frozen=True, slots=True)
class Policies:
    """What a suite lets pass. Each is on by default but the last, and each can be turned off."""

    text_calls: bool = True
    """A call in the text counts if `tool_calls` is empty. Off: it is a failure, `CALL_IN_TEXT`."""
    direct_answers: frozenset[str] = DIRECT_ANSWER_TOOLS
    """The tools in whose place an answer in words passes, unless a case says otherwise; empty: none."""
    allow_direct_answers: bool = True
    """Off: an answer in words never replaces a call, whatever the list and the cases say."""
    stringified_lists: bool = True
    """A string that the model gave is compared as the list that it contains, if a list is expected."""
    native_calls_only: bool = False
    """JSON in the text is a failure, be it a call or not."""

    def __post_init__(self) -> None:
        """Turn the names into a set."""
        object.__setattr__(self, "direct_answers", frozenset(self.direct_answers))


@dataclass(frozen=True, slots=True)
class Reading:
    """How calls are looked for in text: with the options of the `Extractor`, or the adapter, that an agent reads with.

    >>> Reading("pythonic", repair=True)
    Reading(formats=('pythonic',), repair=True, starts_reasoning=False)
    """

    formats: Formats = None
    """The forms of calls to read, by name, or `"all"`. `None`: those that an `Extractor` reads by itself."""
    repair: bool = False
    """Whether a malformed call of a declared tool is repaired, if it is closed."""
    starts_reasoning: bool = False
    """Whether the text begins inside reasoning, as the prompt ends with `<think>`. Not so where that came apart."""

    def __post_init__(self) -> None:
        """Name the forms one by one.

        Raises:
            TypeError: `formats` is not a list of names.
            ValueError: `formats` names none that there is.
        """
        object.__setattr__(self, "formats", require_formats(self.formats))


@dataclass(frozen=True, slots=True)
class Prompt:
    """How a suite's commands are put to the model."""

    system: str | None = None
    """The system message; `None` for none."""
    format: SuitePromptFormat = "json"
    """A format of `render_tool_prompt`; `"native"`: the tools go to the server in `tools`, not into the prompt; or
    `"strict"`: the answer has to be the one object of the strict response format."""
    tools_in: ToolsIn = "user"
    """The message that the tools are put into: before the first user message's text, as Meta does it, or after the
    system message's."""
    examples: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    """Messages before each case's own: commands, and the calls that answer them, for a model that needs to be shown."""
    multiple: bool = False
    """In the strict format, whether an answer has its calls in an array, rather than one call at most."""
    response_format: ResponseFormat = "json_schema"
    """In the strict format, how the server is sent the schema: as OpenAI does it, as llama-cpp-python's server takes
    it, or not at all."""

    def __post_init__(self) -> None:
        """Turn the examples into a tuple.

        Raises:
            ValueError: an option of the strict format, and the format is another one.
        """
        object.__setattr__(self, "examples", tuple(self.examples))
        if self.format != "strict" and (self.multiple or self.response_format != "json_schema"):
            raise ValueError("multiple and response_format are options of the strict format: add format strict")


@dataclass(frozen=True, slots=True)
class Suite:
    """Tools, cases, and how the responses are judged."""

    name: str
    """What reports call it."""
    tools: tuple[Tool, ...]
    """The tools that the model may call. Without any, every name may be called."""
    cases: tuple[Case, ...]
    """The cases, in the order of the file."""
    policies: Policies = Policies()
    """What is let pass."""
    reading: Reading = field(default=Reading(), kw_only=True)
    """How calls are looked for in text."""
    prompt: Prompt = Prompt()
    """How the commands are put to the model."""
    path: Path | None = None
    """The file that it was read from."""
    extractor: Extractor = field(init=False, repr=False, compare=False)
    """Finds the calls in text, those of undeclared tools included: they are a verdict, and no answer in words. What was
    thought is split off."""

    def __post_init__(self) -> None:
        """Make the extractor, once for all cases.

        Raises:
            ValueError: `reading.repair` has no tools to go by, or a policy or an option of reading contradicts the
                strict format.
        """
        object.__setattr__(self, "tools", tuple(self.tools))
        object.__setattr__(self, "cases", tuple(self.cases))
        if self.prompt.format == "strict":
            self._check_strict()
        options = ReadOptions(**asdict(self.reading), on_unknown_tool="call", split_reasoning=True)
        object.__setattr__(self, "extractor", Extractor(self.tools or None, options=options))

    def _check_strict(self) -> None:
        if self.policies.native_calls_only or not self.policies.text_calls:
            raise ValueError("in the strict format, calls are in the text: leave out text_calls and native_calls_only")
        if not self.prompt.multiple:
            several = [case.id for case in self.cases if min(map(len, case.alternatives), default=0) > 1]
            if several:
                raise ValueError(
                    f"in the strict format, an answer has one call at most, and {several[0]!r} expects several: add "
                    "multiple: true"
                )
        if self.reading.formats is not None or self.reading.repair:
            raise ValueError("in the strict format, no other form is read: of reading, leave out formats and repair")

    def without_thoughts(self, text: str) -> str:
        """Return a text without its reasoning."""
        thinking = Extractor(formats="none", split_reasoning=True, starts_reasoning=self.reading.starts_reasoning)
        return thinking.extract(text).content or ""

    def behind_reasoning(self, reasoning: str | None) -> Suite:
        """Return the suite for texts whose reasoning came separately: such a text does not begin inside reasoning."""
        if reasoning is None or not self.reading.starts_reasoning:
            return self
        return replace(self, reading=replace(self.reading, starts_reasoning=False))


@dataclass(frozen=True, slots=True)
class FoundCall:
    """A call that the model made."""

    name: str
    """The tool's name, as the model wrote it."""
    arguments: dict[str, Any] | None = field(hash=False)
    """The arguments; `None` if a server sent text for them that is not a JSON object."""
    arguments_json: str = ""
    """The arguments as the model wrote them, or as the framework has them."""
    deviations: tuple[str, ...] = ()
    """How it differs from the documented forms, one sentence each."""
    repaired_from: str | None = None
    """The malformed text that it was repaired from; `None` for a call that needed no repair."""

    @property
    def is_mended(self) -> bool:
        """Whether it was not written as documented, or was repaired."""
        return bool(self.deviations) or self.repaired_from is not None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one response."""

    verdict: Verdict
    """Passed, or the reason."""
    detail: str = ""
    """One sentence with what was expected and what was found. A response that passed may have one, too."""
    calls: tuple[FoundCall, ...] = ()
    """The calls that were judged; after coercion, with the coerced arguments."""
    source: Source = "none"
    """Where they were found."""
    allowances: tuple[Allowance, ...] = ()
    """What let it pass; empty for a response that is clean, and for one that failed."""

    @property
    def passed(self) -> bool:
        """Whether the verdict is `PASSED`."""
        return self.verdict is Verdict.PASSED

    @property
    def is_clean(self) -> bool:
        """Whether it passed, and nothing had to let it through."""
        return self.passed and not self.allowances


class Judgements(NamedTuple):
    """One response, judged twice."""

    parsed: Judgement
    """What the model did: the arguments as it wrote them."""
    coerced: Judgement
    """The same with the arguments coerced to the types that their tool declares."""

    def of(self, *, coerced: bool) -> Judgement:
        """Return one of the two."""
        return self.coerced if coerced else self.parsed


def has_default(schema: object) -> bool:
    """Return whether the schema of a parameter has a default."""
    return isinstance(schema, Mapping) and "default" in schema  # a schema may be `true`


def repeat_name(case_id: str, repeat: int) -> str:
    """Return the name of one response to a case, as in tables and reports.

    >>> repeat_name("tea", 0), repeat_name("tea", 1)
    ('tea', 'tea[1]')
    """
    return f"{case_id}[{repeat}]" if repeat else case_id
