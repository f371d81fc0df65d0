"""Declared tools: which names may be called, and which need no arguments (rule 11)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from llama3_tools.errors import ToolDefinitionError
from llama3_tools.schemas import schema_flaw
from llama3_tools.values import shortened

__all__ = ["Tool", "ToolLike", "declare_tools", "not_declared"]

_EXPECTED = (
    'an OpenAI tool dict such as {"type": "function", "function": {"name": "get_weather", '
    '"description": "…", "parameters": {"type": "object", "properties": {…}}}}'
)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call.

    >>> Tool("get_weather", "The weather of a city", {"type": "object", "required": ["city"]}).requires_arguments
    True
    """

    name: str
    """The name, as the model has to write it."""
    description: str = ""
    """What the tool does, for the prompt."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of its arguments; empty for a tool that takes none."""

    def __post_init__(self) -> None:
        """Check the declaration, and copy the schema, which is the caller's to change.

        Raises:
            ToolDefinitionError: no name, or parameters that are no JSON Schema of an object.
        """
        _require_declaration(self.name, self.parameters)
        object.__setattr__(self, "parameters", deepcopy(dict(self.parameters)))

    @property
    def arguments_schema(self) -> dict[str, Any]:
        """The schema that every call's arguments have to fit: that of an empty object for a tool that takes none.

        >>> Tool("now").arguments_schema
        {'type': 'object', 'properties': {}}
        """
        return dict(self.parameters) or {"type": "object", "properties": {}}

    @property
    def requires_arguments(self) -> bool:
        """Whether a call without any argument would be incomplete."""
        return bool(self.parameters.get("required"))

    def to_openai(self) -> dict[str, Any]:
        """Give the tool in OpenAI's chat format, as prompts and servers take it."""
        function: dict[str, Any] = {"name": self.name}
        if self.description:
            function["description"] = self.description
        function["parameters"] = self.arguments_schema
        return {"type": "function", "function": function}


ToolLike = Tool | Mapping[str, Any]
"""A `Tool`, an OpenAI tool dict, or the `function` part of one."""


def declare_tools(tools: Iterable[ToolLike]) -> dict[str, Tool]:
    """Read tool declarations into a mapping from name to `Tool`.

    >>> list(declare_tools([{"type": "function", "function": {"name": "f"}}, {"name": "g"}]))
    ['f', 'g']

    Raises:
        TypeError: `tools` is no list of tools.
        ToolDefinitionError: a declaration has no name, one that another has, or parameters that are no JSON Schema.
    """
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        raise TypeError(f"tools must be a list of tools, got {type(tools).__name__}: expected {_EXPECTED}, in a list")
    declared: dict[str, Tool] = {}
    for index, tool in enumerate(tools):
        read = tool if isinstance(tool, Tool) else _read(tool, f"tools[{index}]")
        if read.name in declared:
            raise ToolDefinitionError(f"tools[{index}]: the name {read.name!r} is declared twice")
        declared[read.name] = read
    return declared


def not_declared(name: str, names: Collection[str]) -> str:
    """Say that a name is not that of a tool, and which names are.

    >>> not_declared("rm", ["now"])
    "'rm' is not a declared tool; declared: now"
    """
    declared = ", ".join(list(names)[:8]) or "none"
    return f"{shortened(name)!r} is not a declared tool; declared: {declared}"


def _read(tool: object, where: str) -> Tool:
    if not isinstance(tool, Mapping):
        raise TypeError(f"{where} is a {type(tool).__name__}: expected {_EXPECTED}")
    function = tool.get("function", tool)
    if not isinstance(function, Mapping):
        raise ToolDefinitionError(f"{where}['function'] is a {type(function).__name__}: expected {_EXPECTED}")
    name: Any = function.get("name")  # Tool checks it
    parameters = function.get("parameters")
    try:
        return Tool(name, str(function.get("description") or ""), {} if parameters is None else parameters)
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"{where}: {error}") from None


def _require_declaration(name: object, parameters: object) -> None:
    if not isinstance(name, str) or not name:
        raise ToolDefinitionError(f"no name, or none that is a string: expected {_EXPECTED}")
    if not isinstance(parameters, Mapping):
        found = type(parameters).__name__
        raise ToolDefinitionError(f"the parameters of {name} are a {found}, not a JSON Schema object")
    flaw = schema_flaw(parameters)
    if flaw is not None:
        raise ToolDefinitionError(f"the parameters of {name} are no JSON Schema: {flaw}")
