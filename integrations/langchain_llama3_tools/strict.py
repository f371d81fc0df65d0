"""The strict response format: a message whose text is the one object, or LangChain's error that says why it is not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage

from langchain_llama3_tools.content import joined_text
from llama3_tools import Limits, ResponseFormatError
from llama3_tools.limits import DEFAULT_LIMITS
from llama3_tools.strict.check import check_response
from llama3_tools.text.escaping import escape_invisible

__all__ = ["StrictFormat"]


@dataclass(frozen=True, slots=True)
class StrictFormat:
    """What a message's text has to be."""

    names: Collection[str] | None
    """The tools that may be called; `None`: any."""
    multiple: bool = False
    """Whether the calls stand in an array."""
    limits: Limits = DEFAULT_LIMITS
    """How deep, how long and how many calls may be."""

    def check(self, texts: Sequence[str], *, output: str | None = None) -> None:
        """Raise unless a message is the one object of the format.

        Args:
            texts: the texts of the message: more than one where another block stands between them.
            output: all that the model wrote, where reasoning was split off the texts.

        Raises:
            OutputParserException: it is not. `llm_output` holds the text, `observation` what to tell the model.
        """
        text = "".join(texts)
        # Each text is read by itself, so that an object in pieces is none.
        pieces = [text for text in texts if text.strip(" \t\n\r")]
        try:
            for checked in (text, pieces[0]) if len(pieces) > 1 else (text,):
                check_response(checked, names=self.names, multiple=self.multiple, limits=self.limits)
        except ResponseFormatError as error:
            observation = f"Your last reply is not in the format: {error.detail}. Reply again, with {error.expected}"
            raise OutputParserException(
                escape_invisible(f"The model did not keep to the response format: {error}", exact=True),
                observation=escape_invisible(observation, exact=True),
                llm_output=text if output is None else output,
                send_to_llm=True,
            ) from error

    def check_read(self, read: Sequence[AIMessage]) -> None:
        """Raise where there was nothing to read, or nothing but calls of the server that cannot be run.

        Args:
            read: what came of a message: itself, or its chunks.

        Raises:
            OutputParserException: as `check` has it.
        """
        if any(message.tool_calls for message in read):
            return
        if not read or any(message.invalid_tool_calls for message in read):
            contents = (message.content for message in read)
            self.check([joined_text([content] if isinstance(content, str) else content) for content in contents])
