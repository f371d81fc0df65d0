"""The strict response format: an error that LlamaIndex retries on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from llama_index.core.output_parsers.base import OutputParserException

from llama3_tools import ResponseFormatError
from llama3_tools.response_format import check_response

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

    def check(self, output: str) -> None:
        """Raise unless an output is the one object of the format.

        Args:
            output: the model output.

        Raises:
            StrictResponseError: it is not.
        """
        try:
            check_response(output, names=self.names, multiple=self.multiple)
        except ResponseFormatError as error:
            raise StrictResponseError(
                error.problem, error.detail, expected=error.expected, output=error.output, offset=error.offset
            ) from None
