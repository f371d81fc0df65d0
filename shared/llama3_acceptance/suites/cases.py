"""The cases of a suite's file as values, and what of them contradicts the tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llama3_acceptance.suites.file import KeyPath
from llama3_acceptance.suites.models import NO_CALL, AnyOf, Call, CaseOfFile, Match, Rule
from llama3_acceptance.suites.problems import Problems
from llama3_acceptance.suites.tools import not_allowed, properties, takes
from llama3_acceptance.values import ArgumentRule, Case, ExpectedCall, has_default
from llama3_tools.errors import did_you_mean
from llama3_tools.tools import Tool

_NEVER = "no call that fits the schema could pass"
_COMPARED = ("equal", "tolerance", "unordered")


@dataclass(frozen=True, slots=True)
class CaseReader:
    """Makes cases, by the tools of their suite and by how it compares if a case says nothing else."""

    problems: Problems
    """Collects what is wrong."""
    tools: Mapping[str, Tool]
    match: Match
    """How calls are compared."""

    def read(self, case: CaseOfFile, path: KeyPath) -> Case:
        """Return a case, and say what is wrong with it."""
        alternatives = tuple(
            tuple(self._call(call, at) for at, call in calls) for calls in _alternatives(case.expect, (*path, "expect"))
        )
        given = case.given("ordered", "direct_answer", "history", "tags")
        if given.get("direct_answer") is False and () in alternatives:
            self.problems.add((*path, "direct_answer"), "the case expects an answer in words")
        line = self.problems.file.problem(path, "").line
        return Case(case.id or case.command, case.command, alternatives, **given, line=line)

    def check_tool(self, name: str, path: KeyPath) -> None:
        """Say so if a tool is not declared."""
        if name not in self.tools:
            self.problems.add(path, f"{name!r} is not declared{did_you_mean(name, self.tools)}")

    def check_ignored_everywhere(self, path: KeyPath) -> None:
        """Say so if what the suite ignores is a parameter of no tool."""
        for index, name in enumerate(self.match.ignore):
            if not any(takes(tool, name) for tool in self.tools.values()):
                known = [known for tool in self.tools.values() for known in properties(tool)]
                self.problems.add((*path, index), f"no tool has a parameter {name!r}{did_you_mean(name, known)}")

    def _call(self, call: Call, path: KeyPath) -> ExpectedCall:
        self.check_tool(call.tool, (*path, "tool"))
        tool = self.tools.get(call.tool)
        ignored = {name: (*path, "ignore", index) for index, name in enumerate(call.ignore)}
        named = [(name, (*path, key, name)) for key in ("arguments", "defaults") for name in getattr(call, key)]
        unknown = [one for one in (*named, *ignored.items()) if tool is not None and not takes(tool, one[0])]
        for name, at in unknown:
            hint = did_you_mean(name, properties(self.tools[call.tool]))
            self.problems.add(at, f"{call.tool} has no parameter {name!r}{hint}")
        for name in call.arguments.keys() & ignored:
            told = f"{name!r} is expected as well: its value would never be looked at"
            self.problems.add((*path, "ignore"), told)
        arguments = {
            name: self._rule(name, given, tool, (*path, "arguments", name)) for name, given in call.arguments.items()
        }
        everywhere = {*self.match.ignore} - arguments.keys()
        mode = call.mode if "mode" in call.model_fields_set else self.match.mode
        expected = ExpectedCall(call.tool, arguments, frozenset({*ignored, *everywhere}), call.defaults, mode)
        if tool is not None and not unknown:  # which may be misspelt
            self._check_required(expected, tool, path)
        return expected

    def _rule(self, name: str, given: Any, tool: Tool | None, path: KeyPath) -> ArgumentRule:  # noqa: ANN401 - as JSON has it
        compared = self.match.given(*_COMPARED)
        if isinstance(given, Rule):
            compared |= given.given(*_COMPARED, "optional")
        rule = ArgumentRule(tuple(given.any_of or [given.value]) if isinstance(given, Rule) else (given,), **compared)
        wrong = [not_allowed(tool, name, value, rule) for value in rule.any_of] if tool is not None else [""]
        if all(wrong):
            self.problems.add(path, f"{wrong[0]}: {_NEVER}")
        return rule

    def _check_required(self, call: ExpectedCall, tool: Tool, path: KeyPath) -> None:
        """Say so if a call that is expected leaves out what the schema of its tool requires."""
        required = tool.parameters.get("required")
        if call.mode == "partial" or not isinstance(required, list):
            return
        may_be_left_out = {name for name, schema in properties(tool).items() if has_default(schema)}
        missing = {*required} - {*call.arguments} - call.ignore - {*call.defaults} - may_be_left_out
        if missing:
            names = " and ".join(repr(name) for name in required if name in missing)
            told = f"{tool.name} requires {names}: {_NEVER}; expect it, ignore it, or say mode: partial"
            self.problems.add(path, told)


def _alternatives(expect: Any, path: KeyPath) -> Iterator[Iterable[tuple[KeyPath, Call]]]:  # noqa: ANN401 - one of the kinds of `models`
    if not isinstance(expect, AnyOf):
        yield _calls(expect, path)
        return
    for index, calls in enumerate(expect.any_of):
        yield _calls(calls, (*path, "any_of", index))


def _calls(expect: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Call]]:  # noqa: ANN401 - as above
    if isinstance(expect, list):
        yield from (((*path, index), call) for index, call in enumerate(expect))
    elif expect != NO_CALL:
        yield path, expect
