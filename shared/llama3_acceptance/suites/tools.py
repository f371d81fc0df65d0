"""The tools of a suite's file, and what its cases may say of them: names, parameters and values."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from llama3_acceptance.judging.equality import json_type
from llama3_acceptance.suites.file import KeyPath, SuiteFile, read_suite_file
from llama3_acceptance.suites.load import SuiteError
from llama3_acceptance.suites.problems import Problems
from llama3_acceptance.values import ArgumentRule
from llama3_tools.arguments import coerce_arguments
from llama3_tools.errors import ToolDefinitionError
from llama3_tools.tools import Tool, declare_tools
from llama3_tools.values import ProblemReason

_OPEN = {"patternProperties", "$ref", "allOf", "anyOf", "oneOf"}
"""Where a schema may name more parameters than its `properties`."""
_KEYS = {
    "tool": ("type", "function", "name", "description", "parameters", "strict"),
    "schema": ("type", "properties", "required", "additionalProperties"),
}
_MISSPELT = 0.8
"""How like a key of a tool, or of its schema, another key is that is a misspelling of it, and not somebody else's."""


def read_tools(problems: Problems, value: object) -> dict[str, Tool] | None:
    """Return the tools by name; `None` if something is wrong with them, which is added to the problems.

    Args:
        problems: what is wrong so far, and the suite's file.
        value: the list of tools, or the name of a file that contains one, relative to the suite's.
    """
    file, before = problems.file, len(problems.found)
    path: KeyPath = ("tools",)
    wanted = "expected a list of tools, or the name of a file that contains one"
    if isinstance(value, str) and value.strip():
        own = _own_file(problems, value)
        if own is None:
            return None
        file, path, value = own, (), own.data
        problems.found.extend(own.problems)
        wanted = "expected a list of tools, and the file has none"  # its content is not shown: it may contain secrets
    if not isinstance(value, list) or not value:
        problems.found.append(file.problem(path, wanted))
        return None
    tools: dict[str, Tool] = {}
    for index, one in enumerate(value):
        tool = _read_tool(problems, file, (*path, index), one)
        if tool is not None and tool.name in tools:
            problems.found.append(file.problem((*path, index), f"the name {tool.name!r} is declared twice"))
        if tool is not None:
            tools[tool.name] = tool
    return tools if len(problems.found) == before else None


def _own_file(problems: Problems, name: str) -> SuiteFile | None:
    path = problems.file.path.parent / name
    try:
        if not path.exists() or path.is_file():  # and no device, which may have no end
            return read_suite_file(path)
        problems.add(("tools",), f"{path} is no regular file")
    except OSError as error:
        problems.add(("tools",), f"{path} cannot be opened: {error.strerror}")
    except SuiteError as error:
        problems.add(("tools",), str(error))
    return None


def _read_tool(problems: Problems, file: SuiteFile, path: KeyPath, value: object) -> Tool | None:
    inner = value.get("function") if isinstance(value, dict) else None
    for whole, at in ((value, path), (inner, (*path, "function"))):
        parameters = whole.get("parameters") if isinstance(whole, dict) else None
        for one, place, kind in ((whole, at, "tool"), (parameters, (*at, "parameters"), "schema")):
            for key in one if isinstance(one, dict) else ():
                meant = get_close_matches(key, _KEYS[kind], n=1, cutoff=_MISSPELT)
                if meant and key not in _KEYS[kind]:
                    told = f"there is no such key; did you mean {meant[0]!r}?"
                    problems.found.append(file.problem((*place, key), told))
    try:
        (tool,) = declare_tools([value]).values()  # type: ignore[list-item] # which is what it checks
    except (ToolDefinitionError, TypeError) as error:
        problems.found.append(file.problem(path, str(error).removeprefix("tools[0]").lstrip(": ")))
        return None
    return tool


def properties(tool: Tool) -> Mapping[str, Any]:
    """Return the schemas of a tool's parameters, by name."""
    named = tool.parameters.get("properties")
    return named if isinstance(named, Mapping) else {}


def takes(tool: Tool, name: str) -> bool:
    """Return whether a tool may have a parameter of a name: its schema names it, or says that there are others."""
    is_open = tool.parameters.get("additionalProperties") or tool.parameters.keys() & _OPEN
    return bool(name in properties(tool) or is_open)


def not_allowed(tool: Tool, name: str, value: object, rule: ArgumentRule) -> str:
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
