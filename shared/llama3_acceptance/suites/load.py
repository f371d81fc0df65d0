"""A suite out of its file: tools, prompt, reading, policies, and the cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from llama3_acceptance.suites.cases import CaseReader, read_messages
from llama3_acceptance.suites.file import SuiteError, read_suite_file
from llama3_acceptance.suites.keys import FORMATS, KEYS, PROMPT_FORMATS, RESPONSE_FORMATS, TOOLS_IN
from llama3_acceptance.suites.node import Node
from llama3_acceptance.suites.tools import SuiteTools
from llama3_acceptance.values import Case, Policies, Prompt, Reading, Suite
from llama3_tools.errors import a_type
from llama3_tools.formats import FormatName


def load_suite(path: str | Path) -> Suite:
    """Read a suite from its file.

    Args:
        path: a YAML file, or a JSON file if its name ends in `.json`, in UTF-8.

    Raises:
        MissingExtraError: PyYAML is not installed.
        OSError: the file cannot be opened.
        TypeError: `path` is no path.
        SuiteError: something is wrong in it, or in the file of its tools. Its text has a line for each problem, as in
            `commands.yaml:12: cases[2].expect.tool: 'get_wether' is not declared; did you mean 'get_weather'?`.
    """
    if not isinstance(path, (str, PathLike)):
        raise TypeError(f"load_suite takes the path of a file, not {a_type(path)}: in Python, make a Suite(…)")
    path = Path(path)
    file = read_suite_file(path)
    members = Node(file, (), file.data).members(KEYS["suite"], required=["tools", "cases"])
    members.problems[:0] = file.problems
    tools = members.read("tools", SuiteTools.read, None) or SuiteTools(are_all=False)
    if "tools" in members.nodes:
        members.problems.extend(tools.problems)
    name = members.read("name", Node.text, path.stem)
    prompt = members.read("prompt", _read_prompt, Prompt())
    reading = members.read("reading", _read_reading, Reading())
    policies = members.read("policies", lambda node: _read_policies(node, tools), Policies())
    reader = CaseReader(tools)
    reader = members.read("match", reader.matching, reader)
    cases = members.read("cases", lambda node: _read_cases(node, reader), ())
    members.check()
    try:
        return Suite(name, tuple(tools.tools.values()), cases, policies, prompt, path, reading=reading)
    except ValueError as error:
        members.nodes.get("prompt", members.nodes["cases"]).fail(str(error))


def _read_cases(node: Node, reader: CaseReader) -> tuple[Case, ...]:
    problems: list[str] = []
    cases: list[Case] = []
    try:
        cases = node.each(reader.read, "a list of cases", at_least=1)
    except SuiteError as error:
        problems.append(str(error))
    problems += _named_twice(node)
    if problems:
        raise SuiteError("\n".join(problems))
    return tuple(cases)


def _named_twice(node: Node) -> Iterator[str]:
    """Yield the cases that have the name of one before them, whatever else is wrong with either."""
    first: dict[str, Node] = {}
    for item in node.items("a list of cases", at_least=1) if isinstance(node.value, list) else ():
        key = "id" if isinstance(item.value, dict) and "id" in item.value else "command"
        name = item.value.get(key) if isinstance(item.value, dict) else None
        if not isinstance(name, str):
            continue
        other = first.setdefault(name, item)
        if other is not item:
            message = f"the case in line {other.line} is called {name!r}, too"
            yield item.file.problem((*item.path, key), message)


def _read_prompt(node: Node) -> Prompt:
    members = node.members(KEYS["prompt"])
    words: dict[str, Any] = {
        "system": members.read("system", Node.text, None),
        "format": members.read("format", lambda node: node.one_of(PROMPT_FORMATS), Prompt().format),
        "tools_in": members.read("tools_in", lambda node: node.one_of(TOOLS_IN), Prompt().tools_in),
        "examples": members.read("examples", read_messages, ()),
        "multiple": members.read("multiple", Node.flag, default=False),
        "response_format": members.read(
            "response_format", lambda node: node.one_of(RESPONSE_FORMATS), Prompt().response_format
        ),
    }
    members.check()
    try:
        return Prompt(**words)
    except ValueError as error:
        node.fail(str(error))


def _read_reading(node: Node) -> Reading:
    members = node.members(KEYS["reading"])
    reading = Reading(
        formats=members.read("formats", _read_formats, None),
        repair=members.read("repair", Node.flag, default=False),
        starts_reasoning=members.read("starts_reasoning", Node.flag, default=False),
    )
    members.check()
    return reading


def _read_formats(node: Node) -> FormatName | list[FormatName]:
    def read(item: Node) -> FormatName:
        return item.one_of(FORMATS)

    if isinstance(node.value, str):
        return read(node)
    return node.each(read, "a form of calls, or a list of them", at_least=1)


def _read_policies(node: Node, tools: SuiteTools) -> Policies:
    members = node.members(KEYS["policies"])
    policies = Policies(
        text_calls=members.read("text_calls", Node.flag, default=True),
        stringified_lists=members.read("stringified_lists", Node.flag, default=True),
        native_calls_only=members.read("native_calls_only", Node.flag, default=False),
    )
    direct = members.read("direct_answers", lambda node: _read_direct_answers(node, tools), default=True)
    members.check()
    if isinstance(direct, bool):
        return replace(policies, allow_direct_answers=direct)
    return replace(policies, direct_answers=frozenset(direct))


def _read_direct_answers(node: Node, tools: SuiteTools) -> bool | list[str]:
    return node.value if isinstance(node.value, bool) else node.each(tools.name, "true, false or a list of tools")
