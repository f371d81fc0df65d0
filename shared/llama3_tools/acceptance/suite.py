"""A suite out of its file: tools, prompt, policies, and the cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from llama3_tools.acceptance.suite_cases import CaseReader, known_tool, read_messages
from llama3_tools.acceptance.suite_file import SuiteError, read_suite_file
from llama3_tools.acceptance.suite_node import Node
from llama3_tools.acceptance.suite_words import KEYS, PROMPT_FORMATS, TOOLS_IN
from llama3_tools.acceptance.values import Case, Policies, Prompt, Suite
from llama3_tools.errors import ToolDefinitionError
from llama3_tools.tools import Tool, declare_tools

__all__ = ["SuiteError", "load_suite"]

_Read = TypeVar("_Read")


def load_suite(path: str | Path) -> Suite:
    """Read a suite from its file.

    Args:
        path: a YAML file, or a JSON file if its name ends in `.json`, in UTF-8.

    Raises:
        MissingExtraError: PyYAML is not installed.
        OSError: the file cannot be opened.
        SuiteError: something is wrong in it, or in the file of its tools. Its text has a line for each problem, as in
            `commands.yaml:12: cases[2].expect.tool: 'get_wether' is not declared; did you mean 'get_weather'?`.
    """
    path = Path(path)
    file = read_suite_file(path)
    problems: list[str] = []
    members = Node(file, (), file.data).members(KEYS["suite"], required=["tools", "cases"])
    tools = _read_tools(members["tools"])
    reader = CaseReader(tools)
    if "match" in members:
        reader = reader.matching(members["match"])
    cases = _each(members["cases"].items("a list of cases", at_least=1), reader.read, problems)
    problems += _repeated_ids(cases)
    if problems:
        raise SuiteError("\n".join(problems))
    return Suite(
        name=members["name"].text() if "name" in members else path.stem,
        tools=tuple(tools.values()),
        cases=tuple(case for _, case in cases),
        policies=_read_policies(members["policies"], tools) if "policies" in members else Policies(),
        prompt=_read_prompt(members["prompt"]) if "prompt" in members else Prompt(),
        path=path,
    )


def _each(nodes: Iterable[Node], read: Callable[[Node], _Read], problems: list[str]) -> list[tuple[Node, _Read]]:
    """Read each of some values, and go on behind one that cannot be read."""
    found = []
    for node in nodes:
        try:
            found.append((node, read(node)))
        except SuiteError as error:  # noqa: PERF203 - a suite is read once
            problems.append(str(error))
    return found


def _read_tools(node: Node) -> dict[str, Tool]:
    """Read the tools, which stand in the suite or in a file of their own, named relative to the suite's."""
    if isinstance(node.value, str):
        path = node.file.path.parent / node.text()
        try:
            file = read_suite_file(path)
        except OSError as error:
            node.fail(f"{path} cannot be opened: {error.strerror}")
        node = Node(file, (), file.data)
    problems: list[str] = []
    tools: dict[str, Tool] = {}
    nodes = node.items("a list of tools, or the name of a file that holds one", at_least=1)
    for item, tool in _each(nodes, _read_tool, problems):
        if tool.name in tools:
            problems.append(item.file.problem(item.path, f"the name {tool.name!r} is declared twice"))
        tools[tool.name] = tool
    if problems:  # a case that calls a tool which was not read would be one more
        raise SuiteError("\n".join(problems))
    return tools


def _read_tool(node: Node) -> Tool:
    try:
        (tool,) = declare_tools([node.value]).values()
    except (ToolDefinitionError, TypeError) as error:
        node.fail(str(error).removeprefix("tools[0]").lstrip(": "))
    return tool


def _read_prompt(node: Node) -> Prompt:
    members = node.members(KEYS["prompt"])
    prompt = Prompt()
    if "system" in members:
        prompt = replace(prompt, system=members["system"].text())
    if "format" in members:
        prompt = replace(prompt, format=members["format"].one_of(PROMPT_FORMATS))
    if "tools_in" in members:
        prompt = replace(prompt, tools_in=members["tools_in"].one_of(TOOLS_IN))
    if "examples" in members:
        prompt = replace(prompt, examples=read_messages(members["examples"]))
    return prompt


def _read_policies(node: Node, tools: Mapping[str, Tool]) -> Policies:
    members = node.members(KEYS["policies"])
    direct = members.pop("direct_answers", None)
    policies: dict[str, Any] = {key: member.flag() for key, member in members.items()}
    if direct is not None and isinstance(direct.value, bool):
        policies["allow_direct_answers"] = direct.value
    elif direct is not None:
        names = direct.items("true, false or a list of tools")
        policies["direct_answers"] = frozenset(known_tool(name, tools) for name in names)
    return Policies(**policies)


def _repeated_ids(cases: Iterable[tuple[Node, Case]]) -> list[str]:
    lines: dict[str, int] = {}
    problems = []
    for node, case in cases:
        if case.id in lines:
            key = "id" if "id" in node.value else "command"
            message = f"the case in line {lines[case.id]} is called {case.id!r}, too"
            problems.append(node.file.problem((*node.path, key), message))
        lines.setdefault(case.id, case.line)
    return problems
