"""Calls whose arguments do not fit the schema of their tool, noted on the message for the turn that mends them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.messages import ToolCall as LangChainToolCall
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from langchain_llama3_tools.tools import LangChainToolLike, to_openai_tools
from llama3_tools import ProblemReason, ToolDefinitionError, declare_tools
from llama3_tools.arguments import ArgumentValidator

__all__ = ["MISFIT_ARGUMENTS", "ArgumentChecks", "MisfitCall", "misfits_of"]

MISFIT_ARGUMENTS = "misfit_arguments"
"""Where in `response_metadata` they are."""


class MisfitCall(TypedDict):
    """A call whose arguments do not fit: an entry of `response_metadata["misfit_arguments"]`."""

    id: str
    """The id of the call."""
    name: str
    """Its tool."""
    arguments: dict[str, Any]
    """The arguments that were looked at: a call that has others by now was mended."""
    problems: list[str]
    """What is wrong, a sentence each."""
    form: dict[str, str]
    """The parameters to write, each with its type: those that are required, and those that the model wrote."""


def misfits_of(message: AIMessage) -> list[MisfitCall]:
    """Return what was noted of the calls that are in the message as they were then."""
    noted: list[MisfitCall] = message.response_metadata.get(MISFIT_ARGUMENTS, [])
    calls = {call["id"]: (call["name"], call["args"]) for call in message.tool_calls}
    return [misfit for misfit in noted if calls.get(misfit["id"]) == (misfit["name"], misfit["arguments"])]


class ArgumentChecks:
    """Checks the arguments of calls against the schemas of an agent's tools, which are read once.

    >>> def wait(days: int) -> str:
    ...     "Wait."
    ...     return ""
    >>> message = AIMessage("", tool_calls=[{"name": "wait", "args": {"days": "soon"}, "id": "call_1"}])
    >>> misfits_of(ArgumentChecks([wait]).noted(message))[0]["problems"]
    ['$.days: expected integer, got the string "soon"']
    """

    def __init__(self, tools: Sequence[LangChainToolLike]) -> None:
        """Take the tools.

        Raises:
            ToolDefinitionError: a tool cannot be converted.
        """
        self._tools = tuple(tools)
        self._classes = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
        self._declared = declare_tools(to_openai_tools(tools, allow_repeats=True))
        self._validators: dict[str, ArgumentValidator | None] = {}

    def are_of(self, tools: Sequence[LangChainToolLike]) -> bool:
        """Whether these are the tools."""
        return len(tools) == len(self._tools) and all(map(_is, tools, self._tools))

    def noted(self, message: AIMessage) -> AIMessage:
        """Note the calls of a message whose arguments do not fit.

        A call of none of the tools counts as fitting, and so does one of a tool whose schema cannot be checked, and
        one that the tool's own pydantic class accepts.
        """
        misfits = list(self._misfits(message.tool_calls))
        if not misfits:
            return message
        metadata = {**message.response_metadata, MISFIT_ARGUMENTS: misfits}
        return message.model_copy(update={"response_metadata": metadata})

    def _misfits(self, calls: Sequence[LangChainToolCall]) -> Iterator[MisfitCall]:
        for call in calls:
            name, arguments = call["name"], call["args"]
            validator = self._validator(name)
            if validator is None or not call["id"]:
                continue
            found = validator.validate(arguments)
            problems = [problem.message for problem in found if problem.reason is not ProblemReason.TOO_DEEP]
            if problems and not _accepts(self._classes.get(name), arguments):
                form = _form(self._declared[name].parameters, arguments)
                arguments = copy.deepcopy(arguments)
                yield MisfitCall(id=call["id"], name=name, arguments=arguments, problems=problems, form=form)

    def _validator(self, name: str) -> ArgumentValidator | None:
        if name not in self._declared:
            return None
        if name not in self._validators:
            try:
                self._validators[name] = ArgumentValidator(self._declared[name].parameters)
            except ToolDefinitionError:  # what is wrong is the schema, and no model can mend it
                self._validators[name] = None
        return self._validators[name]


def _is(one: object, other: object) -> bool:
    return one is other


def _accepts(tool: BaseTool | None, arguments: dict[str, Any]) -> bool:
    """Whether a tool takes arguments that its JSON Schema does not: pydantic converts, and validators may do more."""
    schema = tool.args_schema if tool is not None else None
    if tool is None or not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return False
    try:
        schema.model_validate(copy.deepcopy(arguments))
    except ValidationError as error:
        shown: Any = tool.tool_call_schema  # of all fields but those that the agent fills in
        places = [problem["loc"] for problem in error.errors(include_url=False)]
        return all(place and place[0] in schema.model_fields.keys() - shown.model_fields.keys() for place in places)
    except Exception:  # noqa: BLE001 (a validator raises what it likes; the model reads what the schema says)
        return False
    return True


def _form(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    properties, required = schema.get("properties"), schema.get("required")
    wanted = {*arguments, *(required if isinstance(required, list) else ())}
    known = properties.items() if isinstance(properties, Mapping) else ()
    return {name: f"<{_type(declared)}>" for name, declared in known if name in wanted}


def _type(declared: object) -> str:
    kind = declared.get("type") if isinstance(declared, Mapping) else None
    return kind if isinstance(kind, str) else "value"
