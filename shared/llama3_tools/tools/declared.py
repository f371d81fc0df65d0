"""Declared tools: which names may be called, and which need no arguments (principle 1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llama3_tools.errors import ToolDefinitionError, a_type
from llama3_tools.tools.schema_check import SCHEMA_KEYS, schema_flaw
from llama3_tools.values import shortened

_EXPECTED = (
    'an OpenAI tool dict such as {"type": "function", "function": {"name": "get_weather", '
    '"description": "…", "parameters": {"type": "object", "properties": {…}}}}'
)

NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}
"""The schema of a tool that takes no arguments."""


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
    """The JSON Schema of its arguments; empty for a tool that takes none. Nobody changes it: many may share it."""

    def __post_init__(self) -> None:
        """Check the declaration, and copy the schema, which is the caller's to change.

        Raises:
            ToolDefinitionError: no name, or parameters that are not a JSON Schema of an object.
        """
        _require_declaration(self.name, self.parameters)
        object.__setattr__(self, "parameters", copied(dict(self.parameters)))

    @property
    def arguments_schema(self) -> dict[str, Any]:
        """A copy of the schema that every call's arguments have to fit: of an empty object for a tool that takes none.

        >>> Tool("now").arguments_schema
        {'type': 'object', 'properties': {}}
        """
        return dict(copied(self.parameters or NO_ARGUMENTS))

    @property
    def requires_arguments(self) -> bool:
        """Whether a call without any argument would be incomplete."""
        return bool(self.parameters.get("required"))

    def to_openai(self) -> dict[str, Any]:
        """Return the tool in OpenAI's chat format, as prompts and servers take it."""
        function: dict[str, Any] = {"name": self.name}
        if self.description:
            function["description"] = self.description
        function["parameters"] = self.arguments_schema
        return {"type": "function", "function": function}


ToolLike = Tool | Mapping[str, Any]
"""A `Tool`, an OpenAI tool dict, or the `function` part of one, whose schema may also be called `input_schema`, as
Anthropic has it, or `inputSchema`, as MCP has it."""


def declare_tools(tools: Iterable[ToolLike]) -> dict[str, Tool]:
    """Read tool declarations into a mapping from name to `Tool`.

    >>> list(declare_tools([{"type": "function", "function": {"name": "f"}}, {"name": "g"}]))
    ['f', 'g']

    Raises:
        TypeError: `tools` is not a list of tools.
        ToolDefinitionError: a declaration has no name, one that another has, parameters that are not JSON Schema, or
            two of them.
    """
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Iterable):
        raise TypeError(f"tools must be a list of tools, got {type(tools).__name__}: expected {_EXPECTED}, in a list")
    declared: dict[str, Tool] = {}
    for index, tool in enumerate(tools):
        read = tool if isinstance(tool, Tool) else read_tool(tool, f"tools[{index}]")
        if read.name in declared:
            raise ToolDefinitionError(f"tools[{index}]: the name {read.name!r} is declared twice")
        declared[read.name] = read
    return declared


def read_tool(tool: object, where: str) -> Tool:
    """Read a tool dict.

    >>> read_tool({"name": "now", "inputSchema": {"type": "object"}}, "tools[0]").parameters
    {'type': 'object'}

    Args:
        tool: the tool dict.
        where: what to call it in an error.

    Raises:
        TypeError: it is not a dict.
        ToolDefinitionError: it cannot be read.
    """
    if not isinstance(tool, Mapping):
        raise TypeError(f"{where} is {a_type(tool)}: expected {_EXPECTED}")
    function = tool.get("function", tool)
    if not isinstance(function, Mapping):
        raise ToolDefinitionError(f"{where}['function'] is {a_type(function)}: expected {_EXPECTED}")
    name: Any = function.get("name")  # Tool checks it
    schemas = [key for key in SCHEMA_KEYS if function.get(key) is not None]
    if len(schemas) > 1:
        raise ToolDefinitionError(f"{where} has both {' and '.join(schemas)}: give the schema of its arguments once")
    try:
        return Tool(name, str(function.get("description") or ""), function[schemas[0]] if schemas else {})
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"{where}: {error}") from None


def copied(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Copy a JSON value, so that no container in it is shared.

    >>> given = {"required": ["city"]}
    >>> copied(given), copied(given)["required"] is given["required"]
    ({'required': ['city']}, False)
    """
    if isinstance(value, dict):
        return {key: copied(member) for key, member in value.items()}
    return type(value)(map(copied, value)) if isinstance(value, (list, tuple)) else value


def not_declared(name: str, names: Collection[str]) -> str:
    """Say that a name is not that of a tool, and which names are.

    >>> not_declared("rm", ["now"])
    "'rm' is not a declared tool; declared: now"
    """
    declared = ", ".join(list(names)[:8]) or "none"
    return f"{shortened(name)!r} is not a declared tool; declared: {declared}"


def _require_declaration(name: object, parameters: object) -> None:
    if not isinstance(name, str) or not name:
        raise ToolDefinitionError(f"no name, or it is not a string: expected {_EXPECTED}")
    if not isinstance(parameters, Mapping):
        raise ToolDefinitionError(f"the parameters of {name} are {a_type(parameters)}, not a JSON Schema object")
    flaw = schema_flaw(parameters)
    if flaw is not None:
        raise ToolDefinitionError(f"the parameters of {name} are no JSON Schema: {flaw}")
