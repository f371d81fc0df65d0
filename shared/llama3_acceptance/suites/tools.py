"""The tools of a suite's file, and what its cases say of them: names, parameters and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from llama3_acceptance.judging.equality import json_type
from llama3_acceptance.suites.file import SuiteError, read_suite_file
from llama3_acceptance.suites.node import Node
from llama3_tools.arguments import coerce_arguments
from llama3_tools.errors import ToolDefinitionError, did_you_mean
from llama3_tools.tools import Tool, declare_tools
from llama3_tools.values import ProblemReason

__all__ = ["SuiteTools"]

_OPEN = {"patternProperties", "$ref", "allOf", "anyOf", "oneOf"}
"""Where a schema may name more parameters than its `properties`."""
_KEYS = ("type", "function", "name", "description", "parameters", "strict")
_MISSPELT = 0.8
"""How like a key of a tool another key is that is a misspelling of it, and not one of somebody else's."""


@dataclass(frozen=True, slots=True)
class SuiteTools:
    """The declared tools, as far as they could be read."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    """The tools by name."""
    problems: tuple[str, ...] = ()
    """What is wrong with them."""
    are_all: bool = True
    """Whether all of them could be read. If not, nothing is said of a tool that is not there."""

    @classmethod
    def read(cls, node: Node) -> SuiteTools:
        """Read the tools, which stand in the suite or in a file of their own, named relative to the suite's."""
        try:
            own = _in_own_file(node)
            items = own.items("a list of tools, or the name of a file that holds one", at_least=1)
        except SuiteError as error:
            return cls({}, (str(error),), are_all=False)
        problems = [] if own is node else list(own.file.problems)
        are_all = True
        tools: dict[str, Tool] = {}
        for item in items:
            try:
                tool = _read_tool(item)
            except SuiteError as error:
                problems.append(str(error))
                are_all = False
                continue
            if tool.name in tools:
                problems.append(item.problem(f"the name {tool.name!r} is declared twice"))
            tools[tool.name] = tool
        return cls(tools, tuple(problems), are_all)

    def tool(self, node: Node) -> Tool | None:
        """Return the tool of a name; `None` for one that may be among those that could not be read."""
        name = node.text()
        if name not in self.tools and self.are_all:
            node.fail(f"{name!r} is not declared{did_you_mean(name, self.tools)}")
        return self.tools.get(name)

    def name(self, node: Node) -> str:
        """Return the name of a declared tool."""
        self.tool(node)
        return node.text()

    def parameter_of_any(self, node: Node) -> str:
        """Return the name of a parameter that any of the tools has."""
        name = node.text()
        if self.are_all and not any(_takes(tool, name) for tool in self.tools.values()):
            known = [known for tool in self.tools.values() for known in _properties(tool)]
            node.fail(f"no tool has a parameter {name!r}{did_you_mean(name, known)}")
        return name

    @staticmethod
    def parameter(node: Node, name: str, tool: Tool | None) -> str:
        """Return the name of a parameter, unless the tool's schema says that it has no such one."""
        if tool is not None and not _takes(tool, name):
            node.fail(f"{tool.name} has no parameter {name!r}{did_you_mean(name, _properties(tool))}")
        return name

    @staticmethod
    def value(node: Node, name: str, tool: Tool | None, values: tuple[Any, ...]) -> None:
        """Fail where the schema allows a parameter none of some values, for their type."""
        wrong = [_wrong_type(tool, name, value) for value in values] if tool is not None else [""]
        if all(wrong):
            node.fail(f"{wrong[0]}: no call that fits the schema could pass")


def _in_own_file(node: Node) -> Node:
    if not isinstance(node.value, str):
        return node
    path = node.file.path.parent / node.text()
    try:
        if path.exists() and not path.is_file():  # such as a device, which may have no end
            node.fail(f"{path} is no regular file")
        file = read_suite_file(path)
    except OSError as error:
        node.fail(f"{path} cannot be opened: {error.strerror}")
    own = Node(file, (), file.data)
    if isinstance(own.value, (str, int, float)):  # not to be shown: somebody may have named a file of secrets
        own.fail("expected a list of tools, and the file holds none")
    return own


def _read_tool(node: Node) -> Tool:
    for entries in [node, *(entry for entry in _entries(node) if entry.path[-1] == "function")]:
        for entry in _entries(entries):
            key = str(entry.path[-1])
            meant = get_close_matches(key, _KEYS, n=1, cutoff=_MISSPELT)
            if meant and key not in _KEYS:
                entry.fail(f"there is no such key; did you mean {meant[0]!r}?")
    try:
        (tool,) = declare_tools([node.value]).values()
    except (ToolDefinitionError, TypeError) as error:
        node.fail(str(error).removeprefix("tools[0]").lstrip(": "))
    return tool


def _entries(node: Node) -> list[Node]:
    return list(node.entries()) if isinstance(node.value, dict) else []


def _properties(tool: Tool) -> Mapping[str, Any]:
    properties = tool.parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _takes(tool: Tool, name: str) -> bool:
    is_open = tool.parameters.get("additionalProperties") or tool.parameters.keys() & _OPEN
    return bool(name in _properties(tool) or is_open)


def _wrong_type(tool: Tool, name: str, value: object) -> str:
    """Say how the type of a value is another one than the schema's; nothing where it is not, or where it is null."""
    if value is None:
        return ""
    coercion = coerce_arguments({name: value}, tool.parameters)
    for change in coercion.changes:
        if json_type(change.before) != json_type(change.after):
            return f"expected {change.declared}, got the {json_type(value)} {value!r}"
    of_type = (problem for problem in coercion.problems if problem.reason is ProblemReason.WRONG_TYPE)
    return next((problem.message.removeprefix("$.") for problem in of_type), "")
