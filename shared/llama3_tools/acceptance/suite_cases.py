"""The cases of a suite's file: commands, and the calls that they expect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from llama3_tools.acceptance.suite_node import Node, did_you_mean
from llama3_tools.acceptance.suite_words import EQUALITIES, KEYS, MODES, NO_CALL, ROLES
from llama3_tools.acceptance.values import ArgumentRule, Case, ExpectedCall, Mode
from llama3_tools.tools import Tool

__all__ = ["CaseReader", "known_tool", "read_messages"]

_OPEN = {"patternProperties", "$ref", "allOf", "anyOf", "oneOf"}
"""Where a schema may name more parameters than its `properties`."""
_EXPECTED = f"a call, a list of calls, any_of with several of these, or {NO_CALL}"


@dataclass(frozen=True, slots=True)
class CaseReader:
    """Reads cases, by the tools of their suite and by how it compares where a case says nothing else."""

    tools: Mapping[str, Tool]
    """The declared tools by name."""
    rule: ArgumentRule = field(default=ArgumentRule((None,)))
    """How values are compared; what it accepts does not matter."""
    mode: Mode = "exact"
    """Whether calls may have other arguments."""
    ignore: frozenset[str] = frozenset()
    """Arguments that are ignored in every call."""

    def matching(self, node: Node) -> CaseReader:
        """Give a reader that compares as the suite's `match` says."""
        members = node.members(KEYS["match"])
        reader = replace(self, rule=_compared_as(self.rule, members))
        if "mode" in members:
            reader = replace(reader, mode=members["mode"].one_of(MODES))
        if "ignore" in members:
            reader = replace(reader, ignore=frozenset(members["ignore"].names()))
        return reader

    def read(self, node: Node) -> Case:
        """Read a case."""
        members = node.members(KEYS["case"], required=["command", "expect"])
        command = members["command"].text()
        case = Case(
            id=members["id"].text() if "id" in members else command,
            command=command,
            alternatives=self._alternatives(members["expect"]),
            line=node.line,
        )
        if "ordered" in members:
            case = replace(case, ordered=members["ordered"].flag())
        if "direct_answer" in members:
            case = replace(case, direct_answer=members["direct_answer"].flag())
            if case.direct_answer is False and () in case.alternatives:
                members["direct_answer"].fail("the case expects an answer in words")
        if "history" in members:
            case = replace(case, history=read_messages(members["history"]))
        if "tags" in members:
            case = replace(case, tags=tuple(members["tags"].names()))
        return case

    def _alternatives(self, node: Node) -> tuple[tuple[ExpectedCall, ...], ...]:
        if isinstance(node.value, dict) and "any_of" in node.value:
            any_of = node.members(KEYS["alternatives"])["any_of"]
            return tuple(map(self._calls, any_of.items("a list of alternatives", at_least=1)))
        return (self._calls(node),)

    def _calls(self, node: Node) -> tuple[ExpectedCall, ...]:
        if node.value == NO_CALL:
            return ()
        if isinstance(node.value, list):
            return tuple(map(self._call, node.items()))
        if not isinstance(node.value, dict):
            node.fail(f"expected {_EXPECTED}, got {node.value!r}")
        return (self._call(node),)

    def _call(self, node: Node) -> ExpectedCall:
        members = node.members(KEYS["call"], required=["tool"])
        tool = self.tools[known_tool(members["tool"], self.tools)]
        call = ExpectedCall(tool.name, mode=self.mode, ignore=self.ignore)
        if "arguments" in members:
            arguments = _of_parameters(members["arguments"].entries("arguments by name"), tool)
            call = replace(call, arguments={name: self._rule(argument) for name, argument in arguments.items()})
        if "defaults" in members:
            defaults = _of_parameters(members["defaults"].entries("values by name"), tool)
            call = replace(call, defaults={name: default.value for name, default in defaults.items()})
        if "ignore" in members:
            ignored = members["ignore"].items("a list of names")
            for item in ignored:
                _check_parameter(item, item.text(), tool)
            call = replace(call, ignore=self.ignore | {item.text() for item in ignored})
        if "mode" in members:
            call = replace(call, mode=members["mode"].one_of(MODES))
        return call

    def _rule(self, node: Node) -> ArgumentRule:
        """Read what is expected of an argument: a value, or an object with more to say about it."""
        if not isinstance(node.value, dict):
            return replace(self.rule, any_of=(node.value,))
        members = node.members(KEYS["rule"])
        if ("value" in members) == ("any_of" in members):
            node.fail("expected one of value and any_of; an object that is itself the value is written under value")
        if "value" in members:
            any_of: tuple[Any, ...] = (members["value"].value,)
        else:
            any_of = tuple(item.value for item in members["any_of"].items("a list of values", at_least=1))
        rule = replace(_compared_as(self.rule, members), any_of=any_of)
        return replace(rule, optional=members["optional"].flag()) if "optional" in members else rule


def known_tool(node: Node, tools: Mapping[str, Tool]) -> str:
    """Give the name of a declared tool."""
    name = node.text()
    if name not in tools:
        node.fail(f"{name!r} is not declared{did_you_mean(name, tools)}")
    return name


def _compared_as(rule: ArgumentRule, members: Mapping[str, Node]) -> ArgumentRule:
    if "equal" in members:
        rule = replace(rule, equal=members["equal"].one_of(EQUALITIES))
    if "tolerance" in members:
        rule = replace(rule, tolerance=members["tolerance"].tolerance())
    if "unordered" in members:
        rule = replace(rule, unordered=members["unordered"].flag())
    return rule


def _of_parameters(nodes: Iterable[Node], tool: Tool) -> dict[str, Node]:
    named = {str(node.path[-1]): node for node in nodes}
    for name, node in named.items():
        _check_parameter(node, name, tool)
    return named


def _check_parameter(node: Node, name: str, tool: Tool) -> None:
    """Fail on a name that the tool's schema does not have, where it says that it has no others or nothing about it."""
    properties = tool.parameters.get("properties")
    is_open = tool.parameters.get("additionalProperties") or tool.parameters.keys() & _OPEN
    if properties and name not in properties and not is_open:
        node.fail(f"{tool.name} has no parameter {name!r}{did_you_mean(name, properties)}")


def read_messages(node: Node) -> tuple[dict[str, Any], ...]:
    """Read a list of messages in OpenAI's chat format.

    Raises:
        SuiteError: it is no such list.
    """
    return tuple(map(_message, node.items("a list of messages")))


def _message(node: Node) -> dict[str, Any]:
    entries = {str(entry.path[-1]): entry for entry in node.entries("a message, with a role and a content")}
    if "role" not in entries:
        node.fail("role is missing")
    entries["role"].one_of(ROLES)
    return dict(node.value)
