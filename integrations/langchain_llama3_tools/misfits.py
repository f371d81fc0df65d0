"""Calls whose arguments do not fit the schema of their tool, noted on the message for the turn that mends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypedDict

from langchain_core.messages import AIMessage

from langchain_llama3_tools.tools import LangChainToolLike, to_openai_tools
from llama3_tools import ProblemReason, Tool, ToolDefinitionError, declare_tools
from llama3_tools.arguments import ArgumentValidator

__all__ = ["MISFIT_ARGUMENTS", "MisfitCall", "misfits_of", "with_misfits"]

MISFIT_ARGUMENTS = "misfit_arguments"
"""Where in `response_metadata` they are."""


class MisfitCall(TypedDict):
    """A call whose arguments do not fit: an entry of `response_metadata["misfit_arguments"]`."""

    id: str
    """The id of the call."""
    name: str
    """Its tool."""
    problems: list[str]
    """What is wrong, a sentence each."""


def misfits_of(message: AIMessage) -> list[MisfitCall]:
    """Give what `with_misfits` has noted."""
    noted: list[MisfitCall] = message.response_metadata.get(MISFIT_ARGUMENTS, [])
    return noted


def with_misfits(message: AIMessage, tools: Iterable[LangChainToolLike]) -> AIMessage:
    """Note the calls of a message whose arguments do not fit the schemas of their tools.

    A call of none of the tools counts as fitting, and so does one of a tool whose schema cannot be checked.

    >>> def wait(days: int) -> str:
    ...     "Wait."
    ...     return ""
    >>> message = AIMessage("", tool_calls=[{"name": "wait", "args": {"days": "soon"}, "id": "call_1"}])
    >>> misfits_of(with_misfits(message, [wait]))[0]["problems"]
    ['$.days: expected integer, got the string "soon"']
    """
    if not message.tool_calls:
        return message
    misfits = list(_misfits(message, declare_tools(to_openai_tools(tools, allow_repeats=True))))
    if not misfits:
        return message
    return message.model_copy(update={"response_metadata": {**message.response_metadata, MISFIT_ARGUMENTS: misfits}})


def _misfits(message: AIMessage, tools: dict[str, Tool]) -> Iterator[MisfitCall]:
    for call in message.tool_calls:
        tool = tools.get(call["name"])
        if tool is None or not call["id"]:
            continue
        try:
            found = ArgumentValidator(tool.parameters).validate(call["args"])
        except ToolDefinitionError:  # what is wrong is the schema, and no model can mend it
            continue
        problems = [problem.message for problem in found if problem.reason is not ProblemReason.TOO_DEEP]
        if problems:
            yield MisfitCall(id=call["id"], name=call["name"], problems=problems)
