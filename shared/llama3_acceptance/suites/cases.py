"""The cases of a suite's file: commands, and the calls that they expect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from llama3_acceptance.judging.equality import json_type
from llama3_acceptance.suites.keys import EQUALITIES, KEYS, MODES, NO_CALL, ROLES
from llama3_acceptance.suites.node import Members, Node
from llama3_acceptance.suites.tools import SuiteTools
from llama3_acceptance.values import ArgumentRule, Case, ExpectedCall, Mode
from llama3_tools.tools import Tool

_Read = TypeVar("_Read")

_EXPECTED = f"a call, a list of calls, any_of with several of these, or {NO_CALL}"


@dataclass(frozen=True, slots=True)
class CaseReader:
    """Reads cases, by the tools of their suite and by how it compares where a case says nothing else."""

    tools: SuiteTools
    """The declared tools."""
    rule: ArgumentRule = field(default=ArgumentRule((None,)))
    """How values are compared; what it accepts does not matter."""
    mode: Mode = "exact"
    """Whether calls may have other arguments."""
    ignore: frozenset[str] = frozenset()
    """Arguments that are ignored in every call, but for those that a call expects."""

    def matching(self, node: Node) -> CaseReader:
        """Return a reader that compares as the suite's `match` says."""
        members = node.members(KEYS["match"])
        reader = replace(
            self,
            rule=_compared_as(self.rule, members),
            mode=members.read("mode", _mode, self.mode),
            ignore=frozenset(members.read("ignore", self._ignored_everywhere, [])),
        )
        members.check()
        return reader

    def read(self, node: Node) -> Case:
        """Read a case."""
        members = node.members(KEYS["case"], required=["command", "expect"])
        command = members.read("command", Node.text, "")
        alternatives = members.read("expect", self._alternatives, None)
        case = Case(
            id=members.read("id", Node.text, command),
            command=command,
            alternatives=alternatives or ((),),
            ordered=members.read("ordered", Node.flag, default=False),
            direct_answer=members.read("direct_answer", Node.flag, None),
            history=members.read("history", read_messages, ()),
            tags=tuple(members.read("tags", Node.names, [])),
            line=node.line,
        )
        if case.direct_answer is False and () in (alternatives or ()):
            members.problems.append(members.nodes["direct_answer"].problem("the case expects an answer in words"))
        members.check()
        return case

    def _ignored_everywhere(self, node: Node) -> list[str]:
        return node.each(self.tools.parameter_of_any, "a list of names")

    def _alternatives(self, node: Node) -> tuple[tuple[ExpectedCall, ...], ...]:
        if not isinstance(node.value, dict) or "any_of" not in node.value:
            return (self._calls(node),)
        members = node.members(KEYS["alternatives"])
        alternatives = members.read("any_of", self._any_of, ())
        members.check()
        return alternatives

    def _any_of(self, node: Node) -> tuple[tuple[ExpectedCall, ...], ...]:
        return tuple(node.each(self._calls, "a list of alternatives", at_least=1))

    def _calls(self, node: Node) -> tuple[ExpectedCall, ...]:
        if node.value == NO_CALL:
            return ()
        if isinstance(node.value, list):
            return tuple(node.each(self._call, f"a list of calls (where none is expected, {NO_CALL})", at_least=1))
        if not isinstance(node.value, dict):
            node.fail(f"expected {_EXPECTED}, got {node.value!r}")
        return (self._call(node),)

    def _call(self, node: Node) -> ExpectedCall:
        members = node.members(KEYS["call"], required=["tool"])
        tool = members.read("tool", self.tools.tool, None)
        arguments = members.read("arguments", lambda node: self._arguments(node, tool), {})
        ignored = members.read("ignore", lambda node: self._ignored(node, tool), [])
        for name in arguments.keys() & ignored:
            told = f"{name!r} is expected as well: its value would never be looked at"
            members.problems.append(members.nodes["ignore"].problem(told))
        call = ExpectedCall(
            tool.name if tool else "",
            arguments=arguments,
            ignore=(self.ignore - arguments.keys()).union(ignored),
            defaults=members.read("defaults", lambda node: _defaults(node, tool), {}),
            mode=members.read("mode", _mode, self.mode),
        )
        members.check()
        SuiteTools.call(node, tool, call)
        return call

    def _arguments(self, node: Node, tool: Tool | None) -> dict[str, ArgumentRule]:
        return _by_parameter(node, "arguments by name", tool, lambda name, one: self._rule(name, one, tool))

    def _ignored(self, node: Node, tool: Tool | None) -> list[str]:
        return node.each(lambda item: SuiteTools.parameter(item, item.text(), tool), "a list of names")

    def _rule(self, name: str, node: Node, tool: Tool | None) -> ArgumentRule:
        """Read what is expected of an argument: a value, or an object with more to say about it."""
        if not isinstance(node.value, dict):
            rule = replace(self.rule, any_of=(node.value,))
            SuiteTools.value(node, name, tool, rule)
            return rule
        members = node.members(KEYS["rule"])
        if ("value" in members.nodes) == ("any_of" in members.nodes):
            wanted = "expected one of value and any_of; an object that is itself the value is written under value"
            members.problems.append(node.problem(wanted))
        any_of = tuple(members.read("any_of", _values, [])) or (members.read("value", _value, None),)
        rule = replace(
            _compared_as(self.rule, members),
            any_of=any_of,
            optional=members.read("optional", Node.flag, default=False),
        )
        if "tolerance" in members.nodes and not any(map(_has_number, any_of)):
            wanted = "a tolerance is for numbers, and there is none among the values"
            members.problems.append(members.nodes["tolerance"].problem(wanted))
        members.check()
        SuiteTools.value(node, name, tool, rule)
        return rule


def _compared_as(rule: ArgumentRule, members: Members) -> ArgumentRule:
    return replace(
        rule,
        equal=members.read("equal", lambda node: node.one_of(EQUALITIES), rule.equal),
        tolerance=members.read("tolerance", Node.tolerance, rule.tolerance),
        unordered=members.read("unordered", Node.flag, rule.unordered),
    )


def _mode(node: Node) -> Mode:
    return node.one_of(MODES)


def _value(node: Node) -> Any:  # noqa: ANN401 - as JSON has it
    return node.value


def _values(node: Node) -> list[Any]:
    return [item.value for item in node.items("a list of values", at_least=1)]


def _defaults(node: Node, tool: Tool | None) -> dict[str, Any]:
    values = _by_parameter(node, "values by name", tool, lambda _, one: (one.value,))
    return {name: value for name, (value,) in values.items()}


def _by_parameter(node: Node, expected: str, tool: Tool | None, read: Callable[[str, Node], _Read]) -> dict[str, _Read]:
    members = Members({str(entry.path[-1]): entry for entry in node.entries(expected)}, [])

    def read_one(entry: Node) -> _Read:
        return read(SuiteTools.parameter(entry, str(entry.path[-1]), tool), entry)

    found = {name: members.read(name, read_one, None) for name in members.nodes}
    members.check()
    return {name: one for name, one in found.items() if one is not None}


def _has_number(value: object) -> bool:
    if isinstance(value, (list, Mapping)):
        return any(map(_has_number, value.values() if isinstance(value, Mapping) else value))
    return json_type(value) == "number"


def read_messages(node: Node) -> tuple[dict[str, Any], ...]:
    """Read a list of messages in OpenAI's chat format.

    Raises:
        SuiteError: it is no such list.
    """
    return tuple(node.each(_message, "a list of messages"))


def _message(node: Node) -> dict[str, Any]:
    entries = {str(entry.path[-1]): entry for entry in node.entries("a message, with a role and a content")}
    if "role" not in entries:
        node.fail("role is missing")
    role = entries["role"].one_of(ROLES)
    if "content" in entries and role != "tool":  # what a tool gave is any value
        entries["content"].require_content()
    return dict(node.value)
