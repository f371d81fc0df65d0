"""The one-shot function, and the configured extractor behind it and behind every stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Literal, NamedTuple, TypeAlias, get_args

from llama3_tools.calls.plain_calls import take_plain_calls
from llama3_tools.calls.reader import CallReader, coercers_of
from llama3_tools.calls.repair import load_repair
from llama3_tools.errors import require_bool, require_str
from llama3_tools.formats import Choice, Formats, reads_of, require_formats
from llama3_tools.limits import DEFAULT_LIMITS, Limits, require_limits
from llama3_tools.stream.content import Content
from llama3_tools.stream.machine import ExtractionStream
from llama3_tools.tools import Tool, ToolLike, declare_tools
from llama3_tools.values import Extraction

__all__ = ["Extractor", "OnUnknownTool", "extract", "new_call_id", "written_id"]

OnUnknownTool: TypeAlias = Literal["text", "call"]
"""What becomes of a call of a tool that was not declared: it stays text, or it is a call all the same (rule 11)."""


def new_call_id() -> str:
    """Make an id for a tool call: `call_` and 24 random hex digits (rule 13).

    >>> len(new_call_id())
    29
    """
    return f"call_{os.urandom(12).hex()}"


def written_id(id_factory: Callable[[], object]) -> str:
    """Make an id by what the caller gave, as text: whoever takes calls refuses other ids.

    >>> written_id(lambda: 5)
    '5'
    """
    return str(id_factory())


class _Options(NamedTuple):
    """What an extractor is made of."""

    tools: dict[str, Tool] | None
    on_unknown_tool: OnUnknownTool
    formats: tuple[str, ...] | None
    coerce_arguments: bool
    lenient: bool
    repair: bool
    split_reasoning: bool
    starts_reasoning: bool
    limits: Limits
    id_factory: Callable[[], str]


class Extractor:
    """Takes model output apart into content and tool calls. Configured once, then shared freely.

    An extractor never changes: threads and tasks may share it, and it can be pickled if `id_factory` can.

    >>> extractor = Extractor(tools=[{"name": "get_weather", "parameters": {"type": "object"}}])
    >>> extraction = extractor.extract('Sure. {"name": "get_weather", "parameters": {"city": "Paris"}} One moment.')
    >>> extraction.content
    'Sure. One moment.'
    >>> [(call.name, call.arguments) for call in extraction.tool_calls]
    [('get_weather', {'city': 'Paris'})]
    """

    __slots__ = ("_calls", "_choice", "_options", "_reads")

    def __init__(  # noqa: PLR0913 (an option each)
        self,
        *,
        tools: Iterable[ToolLike] | None = None,
        on_unknown_tool: OnUnknownTool = "text",
        formats: Formats = None,
        coerce_arguments: bool = False,
        lenient: bool = False,
        repair: bool = False,
        split_reasoning: bool = False,
        starts_reasoning: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        id_factory: Callable[[], str] = new_call_id,
    ) -> None:
        """Configure an extractor.

        Args:
            tools: the tools that may be called, as tool dicts or `Tool`s. `None`: any name may be called.
            on_unknown_tool: with `tools` given, what becomes of a call of any other name: `"text"` leaves it in
                the content and reports a rejection, `"call"` lets it through, so that an agent can answer it.
            formats: the forms of calls to read, by name, or `"all"`. `None`: all but `pythonic` and `code`, and for
                declared tools these, too. `"none"`: no calls; nothing but reasoning is taken out of the text.
            coerce_arguments: whether arguments are made to fit the schema of their tool, as the function of that
                name does it. What was changed, and what does not fit all the same, is on the call.
            lenient: whether variants that no manual has are read, too: other tags for `<function=NAME>`, other keys for
                `name` and `parameters`. A call's `deviations` say what was read so.
            repair: whether a malformed object that is closed and names a declared tool is repaired (extra `repair`).
                The call's `repaired_from` is what the model wrote.
            split_reasoning: whether `<think>…</think>` is split off as `reasoning`, rather than kept in the content.
            starts_reasoning: whether the output begins inside reasoning, as the prompt ends with `<think>`.
            limits: how deep, how long and how many calls may be. What goes beyond is text.
            id_factory: makes the id of each call; ids must be unique in a conversation. What is no `str` becomes one.

        Raises:
            TypeError: `tools` is no list of tools, `formats` no list of names, `limits` no `Limits`, `id_factory` no
                function, or what is true or false neither.
            ToolDefinitionError: a declaration that cannot be read.
            ValueError: `on_unknown_tool` is neither of the two, `formats` names none that there is, a
                limit is below 1, or `coerce_arguments` or `repair` has no `tools` to go by.
            MissingExtraError: `repair` needs the extra of that name.
        """
        if on_unknown_tool not in get_args(OnUnknownTool):
            raise ValueError(f'on_unknown_tool is "text" or "call", not {on_unknown_tool!r}')
        if not callable(id_factory):
            raise TypeError(f"id_factory is called without arguments for each id; {id_factory!r} cannot be called")
        require_bool(
            coerce_arguments=coerce_arguments,
            lenient=lenient,
            repair=repair,
            split_reasoning=split_reasoning,
            starts_reasoning=starts_reasoning,
        )
        if coerce_arguments and tools is None:
            raise ValueError("coerce_arguments goes by the schemas of the tools: give tools, too")
        if repair and tools is None:
            raise ValueError("repair is for calls of declared tools: give tools, too")
        self._set_up(
            _Options(
                tools=None if tools is None else declare_tools(tools),
                on_unknown_tool=on_unknown_tool,
                formats=require_formats(formats),
                coerce_arguments=coerce_arguments,
                lenient=lenient,
                repair=repair,
                split_reasoning=split_reasoning,
                starts_reasoning=starts_reasoning,
                limits=require_limits(limits),
                id_factory=id_factory,
            )
        )

    def _set_up(self, options: _Options) -> None:
        tools = options.tools
        self._options = options
        self._calls = CallReader(
            tools,
            options.on_unknown_tool,
            new_call_id if options.id_factory is new_call_id else partial(written_id, options.id_factory),
            None if tools is None or not options.coerce_arguments else coercers_of(tools),
            lenient=options.lenient,
            repair=load_repair() if options.repair else None,
            depth=None if options.limits.depth == DEFAULT_LIMITS.depth else options.limits.depth,
        )
        self._choice = Choice(
            asked_for=options.formats,
            declared=None if tools is None else tuple(tools),
            lenient=options.lenient,
            repair=options.repair,
            split_reasoning=options.split_reasoning,
            starts_reasoning=options.starts_reasoning,
        )
        self._reads = reads_of(self._choice)

    def __getstate__(self) -> _Options:
        """Give what an extractor is made of, to copy or pickle it."""
        return self._options

    def __setstate__(self, options: _Options) -> None:
        """Take what `__getstate__` gave."""
        self._set_up(options)

    @property
    def tools(self) -> dict[str, Tool] | None:
        """The declared tools by name, or `None` where any name may be called."""
        return None if self._calls.tools is None else dict(self._calls.tools)

    def extract(self, text: str) -> Extraction:
        """Take one whole model output apart. It never raises on a `str`.

        Raises:
            TypeError: `text` is not a `str`.
        """
        require_str(text, "extract() takes the model's output as a str")
        content = Content()
        behind, is_prose = take_plain_calls(text, content, self._calls, self._reads, self._options.limits)
        if not is_prose or self._reads.first is not None:
            return self.stream().read_whole(text, content, behind)
        if not behind:
            return Extraction(text)
        content.text(text[behind:])
        content.end()
        return Extraction(content.content, tuple(content.tool_calls))

    def stream(self, *, keep_content: bool = True) -> ExtractionStream:
        """Begin a model turn that arrives in chunks. A stream is for one turn, and for one thread at a time.

        Args:
            keep_content: whether text and reasoning are kept for the extraction at the end. Without, it has `None` for
                both, the events have them all the same, and prose of any length takes no memory.

        Raises:
            TypeError: `keep_content` is neither true nor false.
        """
        require_bool(keep_content=keep_content)
        return ExtractionStream(self._calls, self._reads, self._options.limits, keep_content=keep_content)

    def __repr__(self) -> str:
        """Show the names of the declared tools."""
        names = "any" if self._calls.tools is None else list(self._calls.tools)
        return f"Extractor(tools={names}, on_unknown_tool={self._calls.on_unknown_tool!r})"


@cache
def _default() -> Extractor:
    """Make the extractor without options, once it is needed: its patterns take a tenth of the time of the import."""
    return Extractor()


def extract(  # noqa: PLR0913 (an option each)
    text: str,
    *,
    tools: Iterable[ToolLike] | None = None,
    on_unknown_tool: OnUnknownTool = "text",
    formats: Formats = None,
    coerce_arguments: bool = False,
    lenient: bool = False,
    repair: bool = False,
    split_reasoning: bool = False,
    starts_reasoning: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    id_factory: Callable[[], str] = new_call_id,
) -> Extraction:
    r"""Take one whole model output apart into content and tool calls. It never raises on a `str`.

    >>> extract('Here is the result:\n{"name": "search", "parameters": {"query": "test"}}\nMore?')
    Extraction(content='Here is the result: More?'
      <ToolCall search({"query": "test"}) json 20:71>)

    Args:
        text: what the model wrote.
        tools: the tools that may be called; `None`: any name may be called.
        on_unknown_tool: what becomes of a call of any other name.
        formats: the forms of calls to read, by name, `"all"` or `"none"`; `None`: as `Extractor` has it.
        coerce_arguments: whether arguments are made to fit the schema of their tool.
        lenient: whether variants that no manual has are read, too.
        repair: whether a malformed object that is closed and names a declared tool is repaired (extra `repair`).
        split_reasoning: whether `<think>…</think>` is split off as `reasoning`.
        starts_reasoning: whether the output begins inside reasoning, as the prompt ends with `<think>`.
        limits: how deep, how long and how many calls may be. What goes beyond is text.
        id_factory: makes the id of each call.

    Raises:
        TypeError: `text` is not a `str`, or an option of another type than `Extractor` takes.
        ToolDefinitionError: a declaration that cannot be read.
        ValueError: `on_unknown_tool` is neither of the two, `formats` names none that there is, a
            limit is below 1, or `coerce_arguments` or `repair` has no `tools` to go by.
        MissingExtraError: `repair` needs the extra of that name.
    """
    is_default = tools is None and on_unknown_tool == "text" and formats is None and id_factory is new_call_id
    is_plain = coerce_arguments is lenient is repair is split_reasoning is starts_reasoning is False
    if is_default and is_plain and limits is DEFAULT_LIMITS:
        return _default().extract(text)
    extractor = Extractor(
        tools=tools,
        on_unknown_tool=on_unknown_tool,
        formats=formats,
        coerce_arguments=coerce_arguments,
        lenient=lenient,
        repair=repair,
        split_reasoning=split_reasoning,
        starts_reasoning=starts_reasoning,
        limits=limits,
        id_factory=id_factory,
    )
    return extractor.extract(text)
