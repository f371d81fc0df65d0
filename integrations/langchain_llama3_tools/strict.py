"""The strict response format: a message whose text is the one object, or LangChain's error that says why it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage

from langchain_llama3_tools.answers import to_call
from llama3_tools import Extraction, ReadOptions, ResponseFormatError, ToolLike, parse_response
from llama3_tools.text import escape_invisible

__all__ = ["StrictFormat"]


class StrictFormat:
    """What a message's text has to be."""

    def __init__(self, tools: Sequence[ToolLike] | None, options: ReadOptions, *, multiple: bool) -> None:
        """Take the tools and how they are read.

        Raises:
            ValueError: an option does not go with the format.
        """
        is_open = options.on_unknown_tool == "call"
        if is_open and options.coerce_arguments:
            raise ValueError('strict=True makes arguments fit for tools that are known: on_unknown_tool is "text"')
        self.options = replace(options, formats="none")
        """How the text is read before it is held to the format: its thoughts are split off, if that is asked for."""
        self._settings: dict[str, Any] = {
            "tools": None if is_open else tools,
            "multiple": multiple,
            "coerce_arguments": options.coerce_arguments,
            "limits": options.limits,
            "id_factory": options.id_factory,
        }

    def read(self, message: AIMessage, written: str) -> AIMessage:
        """Return a message whose text was held to the format; one in which the server found calls keeps its own.

        Args:
            message: a message without its thoughts.
            written: all that the model wrote.

        Raises:
            OutputParserException: it is not in the format. `llm_output` is what was written, `observation` what to tell
                the model.
        """
        if message.tool_calls:
            return message
        try:
            read: Extraction = parse_response(str(message.text), **self._settings)
        except ResponseFormatError as error:
            observation = f"Your last reply is not in the format: {error.detail}. Reply again, with {error.expected}"
            raise OutputParserException(
                escape_invisible(f"The model did not keep to the response format: {error}", exact=True),
                observation=escape_invisible(observation, exact=True),
                llm_output=written,
                send_to_llm=True,
            ) from error
        return message.model_copy(
            update={"content": read.content or "", "tool_calls": [to_call(call) for call in read.tool_calls]}
        )
