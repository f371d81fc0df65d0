"""The tools of a suite's file, and what its cases say of them: names, parameters and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from llama3_acceptance.judging.equality import json_type
from llama3_acceptance.suites.file import SuiteError, read_suite_file
from llama3_acceptance.suites.node import Node
from llama3_acceptance.values import ArgumentRule, ExpectedCall, has_default
from llama3_tools.arguments import coerce_arguments
from llama3_tools.errors import ToolDefinitionError, did_you_mean
from llama3_tools.tools import Tool, declare_tools
from llama3_tools.values import ProblemReason

_OPEN = {"patternProperties", "$ref", "allOf", "anyOf", "oneOf"}
"""Where a schema may name more parameters than its `properties`."""
_NEVER = "no call that fits the schema could pass"
_ANY_PARAMETER: dict[str, Any] = {"type": "object", "additionalProperties": True}
_KEYS = ("type", "function", "name", "description", "parameters", "strict")
_SCHEMA_KEYS = ("type", "properties", "required", "additionalProperties")
_MISSPELT = 0.8
"""How like a key of a tool, or of its schema, another key is that is a misspelling of it, and not somebody else's."""


@dataclass(frozen=True, slots=True)
class SuiteTools:
    """The declared tools, as far as they could be read."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    """The tools by name. Of one that is wrong, it has what can be told: what cases say of it is checked by that."""
    problems: tuple[str, ...] = ()
    """What is wrong with them."""
    are_all: bool = True
    """Whether the names of all of them are known. If not, nothing is said of a tool that is not there."""

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
                salvaged = _salvaged(item.value)
                are_all = are_all and salvaged is not None
                if salvaged is None:
                    continue
                tool = salvaged
            if tool.name in tools:
                problems.append(item.problem(f"the name {tool.name!r} is declared twice"))
                tool = Tool(tool.name, "", _ANY_PARAMETER)
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
    def value(node: Node, name: str, tool: Tool | None, rule: ArgumentRule) -> None:
        """Fail where the schema allows a parameter none of the values that a rule accepts."""
        wrong = [_not_allowed(tool, name, value, rule) for value in rule.any_of] if tool is not None else [""]
        if all(wrong):
            node.fail(f"{wrong[0]}: {_NEVER}")

    @staticmethod
    def call(node: Node, tool: Tool | None, call: ExpectedCall) -> None:
        """Fail where a call that is expected leaves out what the schema of its tool requires."""
        required = tool.parameters.get("required") if tool is not None else None
        if tool is None or call.mode == "partial" or not isinstance(required, list):
            return
        may_be_left_out = {name for name, schema in _properties(tool).items() if has_default(schema)}
        missing = {*required} - {*call.arguments} - call.ignore - {*call.defaults} - may_be_left_out
        if missing:
            names = " and ".join(repr(name) for name in required if name in missing)
            node.fail(f"{tool.name} requires {names}: {_NEVER}; expect it, ignore it, or say mode: partial")


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
    wholes = [node, *_entries_of(node, "function")]
    for whole in wholes:
        _check_keys(whole, _KEYS)
        for parameters in _entries_of(whole, "parameters"):
            _check_keys(parameters, _SCHEMA_KEYS)
    try:
        (tool,) = declare_tools([node.value]).values()
    except (ToolDefinitionError, TypeError) as error:
        node.fail(str(error).removeprefix("tools[0]").lstrip(": "))
    return tool


def _check_keys(node: Node, keys: tuple[str, ...]) -> None:
    for entry in _entries(node):
        key = str(entry.path[-1])
        meant = get_close_matches(key, keys, n=1, cutoff=_MISSPELT)
        if meant and key not in keys:
            entry.fail(f"there is no such key; did you mean {meant[0]!r}?")


def _entries_of(node: Node, key: str) -> list[Node]:
    return [entry for entry in _entries(node) if entry.path[-1] == key]


def _salvaged(value: object) -> Tool | None:
    """Return what can be told of a tool that is wrong: its name, and those of its parameters; `None` without a name."""
    inner = value.get("function") if isinstance(value, Mapping) else None
    about = inner if isinstance(inner, Mapping) else value
    name = about.get("name") if isinstance(about, Mapping) else None
    if not isinstance(about, Mapping) or not isinstance(name, str) or not name:
        return None
    parameters = about.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    if not isinstance(parameters, Mapping) or not isinstance(properties, Mapping):
        return Tool(name, "", _ANY_PARAMETER)
    known = {one: schema if _is_schema(schema) else {} for one, schema in properties.items()}
    rest = {key: parameters[key] for key in ("additionalProperties", *_OPEN) if parameters.get(key)}
    return Tool(name, "", {"type": "object", "properties": known, **dict.fromkeys(rest, True)})


def _is_schema(schema: object) -> bool:
    try:
        declare_tools([{"name": "tool", "parameters": {"type": "object", "properties": {"one": schema}}}])
    except (ToolDefinitionError, TypeError):
        return False
    return True


def _entries(node: Node) -> list[Node]:
    return list(node.entries()) if isinstance(node.value, dict) else []


def _properties(tool: Tool) -> Mapping[str, Any]:
    properties = tool.parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _takes(tool: Tool, name: str) -> bool:
    is_open = tool.parameters.get("additionalProperties") or tool.parameters.keys() & _OPEN
    return bool(name in _properties(tool) or is_open)


def _not_allowed(tool: Tool, name: str, value: object, rule: ArgumentRule) -> str:
    """Say why the schema does not allow a value, by its type or its `enum`; nothing if it does, or if it is null."""
    if value is None:
        return ""
    coercion = coerce_arguments({name: value}, tool.parameters)
    for change in coercion.changes:
        if json_type(change.before) != json_type(change.after):
            return f"expected {change.declared}, got the {json_type(value)} {value!r}"
    reasons = {ProblemReason.WRONG_TYPE} if rule.tolerance else {ProblemReason.WRONG_TYPE, ProblemReason.NOT_IN_ENUM}
    problems = (problem for problem in coercion.problems if problem.reason in reasons)
    return next((problem.message.removeprefix("$.") for problem in problems), "")
