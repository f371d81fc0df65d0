"""What reads the texts of a message: the options that the parser and the model share, as extractors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Protocol

from llama3_tools import Extractor, Formats, Limits, OnUnknownTool, Tool
from llama3_tools.arguments import Coercer
from llama3_tools.chat.toolset import Toolset, kept_toolset

__all__ = ["Extractors", "ReadingOptions"]


class ReadingOptions(Protocol):
    """The options of an extractor that are given on as they are."""

    on_unknown_tool: OnUnknownTool
    coerce_arguments: bool
    lenient: bool
    repair: bool
    split_reasoning: bool
    starts_reasoning: bool
    limits: Limits

    @property
    def id_factory(self) -> Callable[[], str]:
        """Makes the id of each call."""


class Extractors:
    """Gives the extractor for each text of a message.

    A message may have several, where another block stands between them. Only the one that the message begins with can
    begin inside reasoning.
    """

    def __init__(
        self, options: ReadingOptions, tools: Toolset | None, formats: Formats = None, limits: Limits | None = None
    ) -> None:
        """Take the options.

        Args:
            options: the options that are given on as they are.
            tools: the tools that may be called; `None`: any name may be called.
            formats: the forms of calls to read.
            limits: bounds in place of those of the options.

        Raises:
            ValueError: an option is none of its words, or goes by tools that are not there.
        """
        self._options = options
        self._formats = formats
        self._tools = tools
        self._limits = options.limits if limits is None else limits
        self.first = self._made(starts_reasoning=options.starts_reasoning)
        """Reads the text that a message begins with."""

    @cached_property
    def later(self) -> Extractor:
        """Reads a text that something stands before."""
        return self._made(starts_reasoning=False) if self._options.starts_reasoning else self.first

    @cached_property
    def without_calls(self) -> Extractors | None:
        """Read reasoning alone, where calls are not to be read; `None`: it is not to be split off."""
        if not self._options.split_reasoning:
            return None
        return self if self._formats == "none" else Extractors(self._options, kept_toolset(()), "none")

    @property
    def tools(self) -> dict[str, Tool] | None:
        """The declared tools by name, or `None` where any name may be called."""
        return self.first.tools

    @cached_property
    def coercers(self) -> Mapping[str, Coercer]:
        """What makes the arguments of a server's calls fit, where that is wanted, by the names of their tools."""
        if self._tools is None or not self._options.coerce_arguments:
            return {}
        declared = self._tools.declared
        return {name: coercer for name, coercer in self._tools.coercers.items() if declared[name].parameters}

    def _made(self, *, starts_reasoning: bool) -> Extractor:
        options = self._options
        make: Callable[..., Extractor] = Extractor if self._tools is None else self._tools.extractor
        return make(
            on_unknown_tool=options.on_unknown_tool,
            formats=self._formats,
            coerce_arguments=options.coerce_arguments,
            lenient=options.lenient,
            repair=options.repair,
            split_reasoning=options.split_reasoning,
            starts_reasoning=starts_reasoning,
            limits=self._limits,
            id_factory=options.id_factory,
        )
