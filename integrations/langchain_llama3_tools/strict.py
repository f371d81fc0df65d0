"""The strict response format: a message whose text is the one object, or LangChain's error that says why it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage

from langchain_llama3_tools.answers import to_call
from llama3_tools import ReadOptions, ResponseFormatError, ToolLike
from llama3_tools.strict import parse_after_reasoning
from llama3_tools.text import escape_invisible

__all__ = ["read_strictly"]


def read_strictly(
    message: AIMessage, written: str, *, tools: Sequence[ToolLike] | None, options: ReadOptions, multiple: bool
) -> AIMessage:
    """Return a message whose text was held to the format; one in which the server found calls keeps its own.

    Args:
        message: a message without its thoughts.
        written: all that the model wrote.
        tools: the tools; `None`: any name may be called.
        options: how the text is read.
        multiple: whether the calls stand in an array.

    Raises:
        OutputParserException: it is not in the format. `llm_output` is what was written, `observation` what to tell the
            model.
    """
    if message.tool_calls:
        return message
    without_reasoning = replace(options, split_reasoning=False)
    try:
        read = parse_after_reasoning(str(message.text), tools=tools, multiple=multiple, read=without_reasoning)
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
