"""The one-shot function, and the configured extractor that it and every stream are made by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING

from llama3_tools.errors import require_bool, require_options, require_str
from llama3_tools.options import ReadOption, ReadOptions, read_options
from llama3_tools.reader.rules import Rules
from llama3_tools.reader.stream import ExtractionStream
from llama3_tools.reader.turn import Turn
from llama3_tools.tools.declared import Tool, ToolLike, declare_tools
from llama3_tools.values import Extraction

if TYPE_CHECKING:
    from typing_extensions import Unpack

_FEW = 64
"""How many names of tools are looked for one by one."""


class Extractor:
    """Reads content and tool calls out of model outputs.

    An extractor never changes: threads and tasks may share it, and it can be pickled if `id_factory` can.

    >>> extractor = Extractor(tools=[{"name": "get_weather", "parameters": {"type": "object"}}])
    >>> extraction = extractor.extract('Sure. {"name": "get_weather", "parameters": {"city": "Paris"}} One moment.')
    >>> extraction.content
    'Sure. One moment.'
    >>> [(call.name, call.arguments) for call in extraction.tool_calls]
    [('get_weather', {'city': 'Paris'})]
    """

    __slots__ = ("_rules",)

    def __init__(
        self,
        tools: Iterable[ToolLike] | None = None,
        *,
        options: ReadOptions | None = None,
        **changes: Unpack[ReadOption],
    ) -> None:
        """Configure an extractor.

        Args:
            tools: the tools that may be called, as tool dicts or `Tool`s. `None`: any name may be called.
            options: how outputs are read. `None`: `ReadOptions()`.
            **changes: single options, which go before those in `options`.

        Raises:
            TypeError: `tools` is not a list of tools, there is no such option, or an option has the wrong type.
            ToolDefinitionError: a declaration that cannot be read.
            ValueError: an option has a value that it cannot have, or `coerce_arguments` or `repair` has no `tools` to
                go by.
        """
        require_options("Extractor", changes, ReadOption.__optional_keys__)
        chosen = read_options(options, changes)
        if tools is None and chosen.coerce_arguments:
            raise ValueError("coerce_arguments needs the schemas of the tools: pass tools, too")
        if tools is None and chosen.repair:
            raise ValueError("repair needs the names of the tools: pass tools, too")
        self._rules = Rules(None if tools is None else declare_tools(tools), chosen)

    def __reduce__(self) -> tuple[Callable[..., Extractor], tuple[list[Tool] | None]]:
        """Return what an extractor is made of, to copy or pickle it."""
        tools = self._rules.tools
        return partial(type(self), options=self._rules.options), (None if tools is None else list(tools.values()),)

    @property
    def tools(self) -> dict[str, Tool] | None:
        """The declared tools by name, or `None` if any name may be called."""
        tools = self._rules.tools
        return None if tools is None else dict(tools)

    @property
    def options(self) -> ReadOptions:
        """How outputs are read."""
        return self._rules.options

    def extract(self, text: str, *, complete: bool = True) -> Extraction:
        """Return the content and tool calls of one whole model output. It never raises on a `str`.

        Args:
            text: what the model wrote.
            complete: `False` if a limit ended the output (finish reason `length` or `content_filter`). Then code that
                is still open is not a call (principle 6).

        Raises:
            TypeError: `text` is not a `str`, or `complete` neither true nor false.
        """
        require_str(text, "extract() takes the model's output as a str")
        require_bool(complete=complete)
        if self._has_nothing(text):
            return Extraction(text)
        return self._stream().read_whole(text, complete=complete)

    def stream(self, *, keep_content: bool = True) -> ExtractionStream:
        """Begin a model turn that arrives in chunks. A stream is for one turn, and for one thread at a time.

        Args:
            keep_content: whether text and reasoning are kept for the extraction at the end. If not, it has `None` for
                both. The events still have them, and prose of any length takes no memory.

        Raises:
            TypeError: `keep_content` is neither true nor false.
        """
        require_bool(keep_content=keep_content)
        return self._stream(keep_content=keep_content)

    def _has_nothing(self, text: str) -> bool:
        """Return whether an output has no character with which anything begins, and names no tool."""
        names = self._rules.names
        return (
            self._rules.grammars[1].first(text) is None
            and (self._rules.grammars[1].name is None or 0 < len(names) <= _FEW)
            and not any(name in text for name in names)
            and not self._rules.options.starts_reasoning
        )

    def _stream(self, *, keep_content: bool = True) -> ExtractionStream:
        return ExtractionStream(Turn(self._rules, keep_content=keep_content))

    def __repr__(self) -> str:
        """Show the names of the declared tools."""
        rules = self._rules
        names = "any" if rules.tools is None else list(rules.tools)
        return f"Extractor(tools={names}, on_unknown_tool={rules.options.on_unknown_tool!r})"


@cache
def _default() -> Extractor:
    """Make the extractor without options, once it is needed: its patterns take a tenth of the time of the import."""
    return Extractor()


def extract(
    text: str,
    *,
    tools: Iterable[ToolLike] | None = None,
    complete: bool = True,
    options: ReadOptions | None = None,
    **changes: Unpack[ReadOption],
) -> Extraction:
    r"""Return the content and tool calls of one whole model output. It never raises on a `str`.

    >>> extract('Here is the result:\n{"name": "search", "parameters": {"query": "test"}}\nMore?')
    Extraction(content='Here is the result: More?'
      <ToolCall search({"query": "test"}) json 20:71>)

    Args:
        text: what the model wrote.
        tools: the tools that may be called; `None`: any name may be called.
        complete: whether the model ended its turn, rather than a limit: `Extractor.extract` says what that means.
        options: how outputs are read. `None`: `ReadOptions()`.
        **changes: single options, which go before those in `options`.

    Raises:
        TypeError: `text` is not a `str`, `tools` is not a list of tools, there is no such option, or an option has the
            wrong type.
        ToolDefinitionError: a declaration that cannot be read.
        ValueError: an option has a value that it cannot have, or `coerce_arguments` or `repair` has no `tools` to go
            by.
    """
    if tools is None and options is None and not changes:
        return _default().extract(text, complete=complete)
    return Extractor(tools, options=options, **changes).extract(text, complete=complete)
