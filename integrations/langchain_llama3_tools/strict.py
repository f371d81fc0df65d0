"""The strict response format: a message whose text is the one object, or LangChain's error that says why it is not."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from langchain_core.exceptions import OutputParserException

from llama3_tools import ResponseFormatError
from llama3_tools.response_format import check_response

__all__ = ["StrictFormat"]


@dataclass(frozen=True, slots=True)
class StrictFormat:
    """What a message's text has to be."""

    names: Collection[str] | None
    """The tools that may be called; `None`: any."""
    multiple: bool = False
    """Whether the calls stand in an array."""

    def check(self, texts: Sequence[str]) -> None:
        """Raise unless a message is the one object of the format.

        Args:
            texts: the texts of the message: more than one where another block stands between them.

        Raises:
            OutputParserException: it is not. `llm_output` holds the text, `observation` what to tell the model.
        """
        try:
            # The first text has to be the object, and the others nothing: they are not one JSON.
            for text in list(itertools.accumulate(texts)) or [""]:
                check_response(text, names=self.names, multiple=self.multiple)
        except ResponseFormatError as error:
            observation = f"Your last reply is not in the format: {error.detail}. Reply again, with {error.expected}"
            raise OutputParserException(
                f"The model did not keep to the response format: {error}",
                observation=observation,
                llm_output="".join(texts),
                send_to_llm=True,
            ) from error
