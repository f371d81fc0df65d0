"""A suite out of its file: all that is wrong with it, or its tools, prompt, reading, policies and cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llama3_acceptance.suites.cases import CaseReader
from llama3_acceptance.suites.file import read_suite_file
from llama3_acceptance.suites.models import CaseOfFile, PoliciesOfFile, SuiteOfFile
from llama3_acceptance.suites.problems import Problems
from llama3_acceptance.suites.tools import read_tools
from llama3_acceptance.values import Policies, Prompt, Reading, Suite


def read_suite(path: Path) -> Suite:
    """Read a suite from its file.

    What is wrong is told in at most two rounds: first the form of all of it, then what it says of the tools. If only
    cases have a wrong form, both are one round.

    Args:
        path: a YAML file, or a JSON file if its name ends in `.json`, in UTF-8.

    Raises:
        OSError: the file cannot be opened.
        SuiteError: something is wrong in it, or in the file of its tools.
    """
    file = read_suite_file(path)
    problems = Problems(file, [*file.problems])
    suite = problems.validated(SuiteOfFile, (), file.data)
    written: dict[str, Any] = file.data if isinstance(file.data, dict) else {}
    tools = read_tools(problems, written["tools"]) if "tools" in written else None
    cases = written.get("cases")
    cases = cases if isinstance(cases, list) else []
    parts = [problems.validated(CaseOfFile, ("cases", index), case) for index, case in enumerate(cases)]
    _check_names(problems, cases)
    if suite is None or tools is None:
        raise problems.error()
    reader = CaseReader(problems, tools, suite.match)
    reader.check_ignored_everywhere(("match", "ignore"))
    policies = _policies(suite.policies)
    if isinstance(suite.policies.direct_answers, list):
        for index, name in enumerate(suite.policies.direct_answers):
            reader.check_tool(name, ("policies", "direct_answers", index))
    made = tuple(reader.read(part, ("cases", index)) for index, part in enumerate(parts) if part is not None)
    if problems.found:
        raise problems.error()
    try:
        prompt, reading = Prompt(**suite.prompt.given()), Reading(**suite.reading.given())
        return Suite(suite.name or path.stem, tuple(tools.values()), made, policies, prompt, path, reading=reading)
    except ValueError as error:
        problems.add(("prompt",), str(error))
        raise problems.error() from None


def _policies(policies: PoliciesOfFile) -> Policies:
    given = policies.given()
    direct = given.pop("direct_answers", True)
    if isinstance(direct, bool):
        return Policies(**given, allow_direct_answers=direct)
    return Policies(**given, direct_answers=frozenset(direct))


def _check_names(problems: Problems, cases: list[Any]) -> None:
    """Name the cases that have the name of one before them, whatever else is wrong with either."""
    first: dict[str, int] = {}
    for index, case in enumerate(cases):
        key = "id" if isinstance(case, dict) and "id" in case else "command"
        name = case.get(key) if isinstance(case, dict) else None
        if isinstance(name, str) and first.setdefault(name, index) != index:
            line = problems.file.problem(("cases", first[name]), "").line
            problems.add(("cases", index, key), f"the case in line {line} is called {name!r}, too")
