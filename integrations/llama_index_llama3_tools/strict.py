"""The strict response format: an error that LlamaIndex retries on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from llama_index.core.output_parsers.base import OutputParserException

from llama3_tools import Extractor, Limits, ResponseFormatError
from llama3_tools.limits import DEFAULT_LIMITS
from llama3_tools.strict.check import check_response

__all__ = ["StrictFormat", "StrictResponseError"]


class StrictResponseError(ResponseFormatError, OutputParserException):
    """An output that is not the one object of the strict response format (`strict=True`).

    It is LlamaIndex's `OutputParserException`, and a `ValueError` too, because parts of LlamaIndex retry on that alone.
    Its text says what is wrong and what was expected, for the model to try again; `output` holds what it wrote.

    >>> from llama_index_llama3_tools import Llama3JsonToolOutputParser
    >>> Llama3JsonToolOutputParser(strict=True).parse("Sunny.")
    Traceback (most recent call last):
    llama_index_llama3_tools.strict.StrictResponseError: no_json: no JSON object is in the output, which begins ...
    """


@dataclass(frozen=True, slots=True)
class StrictFormat:
    """What an output has to be."""

    names: Collection[str] | None
    """The tools that may be called; `None`: any."""
    multiple: bool = False
    """Whether the calls stand in an array."""
    limits: Limits = DEFAULT_LIMITS
    """How deep, how long and how many calls may be."""

    def check(self, output: str, *, reasoning: Extractor | None = None) -> None:
        """Raise unless an output is the one object of the format.

        Args:
            output: the model output.
            reasoning: finds the reasoning that may stand before the object.

        Raises:
            StrictResponseError: it is not.
        """
        answer = output if reasoning is None else _without_reasoning(output, reasoning)
        try:
            check_response(answer, names=self.names, multiple=self.multiple, limits=self.limits)
        except ResponseFormatError as error:
            raise StrictResponseError(
                error.problem, error.detail, expected=error.expected, output=output, offset=error.offset
            ) from None


def _without_reasoning(output: str, reasoning: Extractor) -> str:
    """Put spaces in the place of reasoning before the answer, so that every offset stays what it is."""
    answer = output.rfind(reasoning.extract(output).content or "")
    return output if answer < 0 else " " * answer + output[answer:]
