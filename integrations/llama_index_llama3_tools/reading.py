"""How the text of answers is read: with which options, and by which extractor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import final

from llama_index.core.llms import ChatResponse

from llama3_tools import Extraction, Extractor, Formats, Limits, OnUnknownTool, new_call_id
from llama3_tools.chat.finish_reason import finish_reason_in, is_complete
from llama3_tools.errors import require_bool
from llama3_tools.formats import require_formats
from llama3_tools.limits import DEFAULT_LIMITS, require_limits
from llama_index_llama3_tools.messages import has_native_calls
from llama_index_llama3_tools.reasoning import has_reasoning

__all__ = ["Reading", "TextReader"]


@cache
def _of_reasoning(*, starts: bool) -> Extractor:
    """Return the extractor that looks for reasoning alone, made once one is needed."""
    return Extractor(formats="none", split_reasoning=True, starts_reasoning=starts)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a user asked for, as `Extractor` has it."""

    formats: Formats = None
    lenient: bool = False
    repair: bool = False
    split_reasoning: bool = False
    starts_reasoning: bool = False
    limits: Limits = DEFAULT_LIMITS

    def reader(
        self,
        make: Callable[..., Extractor],
        *,
        on_unknown_tool: OnUnknownTool,
        coerce_arguments: bool,
        id_factory: Callable[[], str] = new_call_id,
    ) -> TextReader:
        """Return what reads the text of answers in which tools may be called.

        Args:
            make: makes an extractor for the tools, given its other options.
            on_unknown_tool: what a call of another tool is.
            coerce_arguments: whether arguments are made to fit the schemas of their tools.
            id_factory: makes the id of a call.

        Raises:
            TypeError: what is true or false is neither.
            ValueError: an option has a value that it does not know, or wants tools.
            MissingExtraError: an option needs an extra.
        """
        require_bool(starts_reasoning=self.starts_reasoning)
        make = partial(
            make,
            on_unknown_tool=on_unknown_tool,
            formats=require_formats(self.formats),
            coerce_arguments=coerce_arguments,
            lenient=self.lenient,
            repair=self.repair,
            split_reasoning=self.split_reasoning,
            limits=require_limits(self.limits),
            id_factory=id_factory,
        )
        return TextReader(make, split_reasoning=self.split_reasoning, starts_reasoning=self.starts_reasoning)

    def reader_of_reasoning(self) -> TextReader:
        """Return what reads the text of answers in which nobody looks for a call."""
        return TextReader(None, split_reasoning=self.split_reasoning, starts_reasoning=self.starts_reasoning)


@final
class TextReader:
    """Chooses the extractor that reads a text.

    Where the server has split reasoning off itself, what is left does not begin inside it. Where it has found the calls
    itself, reasoning is all that is looked for.

    Args:
        make: makes the extractor that looks for calls, given `starts_reasoning`; `None`: nobody looks for calls.
        split_reasoning: whether reasoning is split off.
        starts_reasoning: whether the model's output begins inside it.
    """

    def __init__(self, make: Callable[..., Extractor] | None, *, split_reasoning: bool, starts_reasoning: bool) -> None:
        self.splits_reasoning = split_reasoning
        """Whether reasoning is split off."""
        self._starts_reasoning = starts_reasoning
        self._of_calls = (
            {} if make is None else {starts: make(starts_reasoning=starts) for starts in {False, starts_reasoning}}
        )

    @property
    def extractor(self) -> Extractor:
        """The extractor that reads an output as the model writes it."""
        return self.choose(has_reasoning=False, has_calls=False)

    def choose(self, *, has_reasoning: bool, has_calls: bool) -> Extractor:
        """Return the extractor that reads a text.

        Args:
            has_reasoning: whether the server has split reasoning off itself.
            has_calls: whether the server has found calls itself.
        """
        starts = self._starts_reasoning and not has_reasoning
        return self._of_calls[starts] if self._of_calls and not has_calls else _of_reasoning(starts=starts)

    def extract(self, response: ChatResponse) -> Extraction:
        """Take the text of a whole response apart; one that a limit ended is not complete (rule 7)."""
        message = response.message
        extractor = self.choose(has_reasoning=has_reasoning(response), has_calls=has_native_calls(message))
        complete = is_complete(finish_reason_in(response.raw))
        return extractor.extract(message.content or "", complete=complete)
