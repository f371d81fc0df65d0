"""What a caller of the kit writes with a wrong type or word: the error names it, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from llama3_acceptance import (
    ArgumentRule,
    Case,
    ExpectedCall,
    Policies,
    Prompt,
    Suite,
    SuiteCase,
    assert_tool_call,
    judge,
    load_suite,
)
from llama3_tools import Tool

CALL = '{"name": "f", "parameters": {"city": "P"}}'
F = ExpectedCall("f")
SUITE = Suite("Home", (), (Case("a", "Go"),))
ONE_CALL = "write ((call,),) for one call, ((),) for an answer in words"

EXPECTED = "write the name of a tool, an ExpectedCall, a list of ExpectedCalls, or None"


def wrong(value: object) -> Any:
    return value


WRONG_TYPES: dict[str, tuple[Callable[[], object], str]] = {
    "a rule of letters": (
        lambda: ArgumentRule(wrong("Paris")),
        "any_of must be a tuple, not a str: for one value, write ('Paris',), with a comma",
    ),
    "a rule of a number": (
        lambda: ArgumentRule(wrong(5)),
        "any_of must be a tuple, not an int: for one value, write (5,), with a comma",
    ),
    "a rule of a dict": (
        lambda: ArgumentRule(wrong({"a": 1})),
        "any_of must be a tuple, not a dict: for one value, write ({'a': 1},), with a comma",
    ),
    "optional": (lambda: ArgumentRule((1,), optional=wrong("no")), "optional must be True or False, not 'no'"),
    "unordered": (lambda: ArgumentRule((1,), unordered=wrong(0)), "unordered must be True or False, not 0"),
    "tolerance": (lambda: ArgumentRule((1,), tolerance=wrong("1")), "tolerance must be a number, not a str"),
    "tolerance of a bool": (lambda: ArgumentRule((1,), tolerance=True), "tolerance must be a number, not a bool"),
    "the tool of a call": (lambda: ExpectedCall(wrong(5)), "tool must be a str, not an int"),
    "the arguments of a call": (
        lambda: ExpectedCall("f", wrong(["Paris"])),
        "arguments must be a dict by name, not a list",
    ),
    "an argument's name": (
        lambda: ExpectedCall("f", wrong({1: ArgumentRule((1,))})),
        "each name in arguments must be a str, not an int",
    ),
    "an argument that is no rule": (
        lambda: ExpectedCall("f", wrong({"city": "Paris"})),
        "arguments['city'] must be an ArgumentRule, not a str: write ArgumentRule((value,))",
    ),
    "ignored letters": (
        lambda: ExpectedCall("f", ignore=wrong("days")),
        "ignore must be a set of names, not a str: write frozenset({'days'})",
    ),
    "an ignored number": (
        lambda: ExpectedCall("f", ignore=wrong([5])),
        "each name in ignore must be a str, not an int",
    ),
    "defaults": (lambda: ExpectedCall("f", defaults=wrong(5)), "defaults must be a dict by name, not an int"),
    "a case's id": (lambda: Case(wrong(1), "Go"), "id must be a str, not an int"),
    "a case's command": (lambda: Case("a", wrong(None)), "command must be a str, not None"),
    "a call for alternatives": (
        lambda: Case("a", "Go", wrong(F)),
        f"alternatives must be a tuple, not an ExpectedCall: {ONE_CALL}",
    ),
    "a call for an alternative": (
        lambda: Case("a", "Go", wrong((F,))),
        f"alternatives[0] must be a tuple, not an ExpectedCall: {ONE_CALL}",
    ),
    "a name for a call": (
        lambda: Case("a", "Go", wrong((("f",),))),
        f"alternatives[0][0] must be an ExpectedCall, not a str: {ONE_CALL}",
    ),
    "ordered": (lambda: Case("a", "Go", ordered=wrong("yes")), "ordered must be True or False, not 'yes'"),
    "direct_answer": (
        lambda: Case("a", "Go", direct_answer=wrong("yes")),
        "direct_answer must be True or False, not 'yes'",
    ),
    "history": (
        lambda: Case("a", "Go", history=wrong({"role": "user"})),
        "history must be a tuple, not a dict: write ({…},) for one message",
    ),
    "tags": (lambda: Case("a", "Go", tags=wrong("x")), 'tags must be a tuple, not a str: write ("tag",) for one'),
    "line": (lambda: Case("a", "Go", line=wrong("1")), "line must be an int, not a str"),
    "a policy": (lambda: Policies(text_calls=wrong("no")), "text_calls must be True or False, not 'no'"),
    "a policy's tools": (
        lambda: Policies(direct_answers=wrong("tell_joke")),
        "direct_answers must be a set of names, not a str: write frozenset({'tell_joke'})",
    ),
    "a system message": (lambda: Prompt(system=wrong(5)), "system must be a str, not an int"),
    "examples": (
        lambda: Prompt(examples=wrong({"role": "user"})),
        "examples must be a tuple, not a dict: write messages, such as ({…}, {…})",
    ),
    "multiple": (lambda: Prompt(format="strict", multiple=wrong(1)), "multiple must be True or False, not 1"),
    "a suite's name": (lambda: Suite(wrong(None), (), ()), "name must be a str, not None"),
    "a suite's tools": (
        lambda: Suite("s", wrong([{"name": "f"}]), ()),
        "tools[0] must be a Tool, not a dict: write tuple(declare_tools(tools).values())",
    ),
    "a suite's cases": (
        lambda: Suite("s", (), wrong(Case("a", "Go"))),
        "cases must be a tuple, not a Case: write (case,) for one",
    ),
    "a suite's policies": (
        lambda: Suite("s", (), (), wrong({"text_calls": False})),
        "policies must be a Policies, not a dict: write Policies(…)",
    ),
    "a suite's prompt": (
        lambda: Suite("s", (), (), prompt=wrong("json")),
        "prompt must be a Prompt, not a str: write Prompt(…)",
    ),
    "a suite's path": (lambda: Suite("s", (), (), path=wrong("a.yaml")), "path must be a Path, not a str"),
    "arguments of an assertion": (
        lambda: assert_tool_call(CALL, "f", wrong(["Paris"])),
        "arguments must be a dict by name, not a list",
    ),
    "no arguments of an assertion": (
        lambda: assert_tool_call(CALL, "f", wrong([])),
        "arguments must be a dict by name, not a list",
    ),
    "a number for a call": (
        lambda: assert_tool_call(CALL, wrong(5)),
        f"expected must be a tuple, not an int: {EXPECTED}",
    ),
    "names for calls": (
        lambda: assert_tool_call(CALL, wrong(["f"])),
        f"expected[0] must be an ExpectedCall, not a str: {EXPECTED}",
    ),
    "the reading of an assertion": (
        lambda: assert_tool_call(CALL, "f", reading=wrong({"repair": True})),
        "reading must be a Reading, not a dict: write Reading(…)",
    ),
    "the name of a case": (
        lambda: judge(wrong("lights"), CALL, SUITE),
        "case must be a Case, not a str: take one of suite.cases",
    ),
    "the path of a suite": (
        lambda: judge(SUITE.cases[0], CALL, wrong("home.yaml")),
        "suite must be a Suite, not a str: load_suite reads one from its file",
    ),
    "a case of a test": (
        lambda: SuiteCase(wrong("lights"), SUITE).check(CALL),
        "case must be a Case, not a str: take one of suite.cases",
    ),
    "a suite that is loaded": (
        lambda: load_suite(wrong({"cases": []})),
        "load_suite takes the path of a file, not a dict: in Python, make a Suite(…)",
    ),
}

WRONG_WORDS: dict[str, tuple[Callable[[], object], str]] = {
    "mode": (lambda: ExpectedCall("f", mode=wrong("any")), 'mode must be "exact" or "partial", not \'any\''),
    "no alternative": (lambda: Case("a", "Go", ()), f"alternatives is empty: {ONE_CALL}"),
    "a prompt's format": (
        lambda: Prompt(format=wrong("x")),
        'format must be "json", "function", "pythonic", "native" or "strict", not \'x\'',
    ),
    "tools_in": (lambda: Prompt(tools_in=wrong("tool")), 'tools_in must be "user" or "system", not \'tool\''),
    "response_format": (
        lambda: Prompt(format="strict", response_format=wrong("json")),
        'response_format must be "json_schema", "json_object" or "none", not \'json\'',
    ),
}


@pytest.mark.parametrize(("make", "message"), WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_a_wrong_type_is_named_with_its_cure(make: Callable[[], object], message: str):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        make()


@pytest.mark.parametrize(("make", "message"), WRONG_WORDS.values(), ids=WRONG_WORDS)
def test_a_word_that_there_is_not_is_named(make: Callable[[], object], message: str):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()


def test_a_forgotten_comma_does_not_pass_a_wrong_answer():
    with pytest.raises(TypeError, match="with a comma"):
        assert_tool_call(CALL, "f", {"city": ArgumentRule(wrong("Paris"))})


def test_lists_are_taken_as_tuples_and_sets():
    lists = Case("a", "Go", wrong([[ExpectedCall("f", ignore=wrong(["x"]))]]), tags=wrong(["t"]))
    assert lists == Case("a", "Go", ((ExpectedCall("f", ignore=frozenset({"x"})),),), tags=("t",))
    assert ArgumentRule(wrong([1, 2])) == ArgumentRule((1, 2))
    assert Policies(direct_answers=wrong(["a"])) == Policies(direct_answers=frozenset({"a"}))
    assert Suite("s", wrong([Tool("f")]), wrong([lists])) == Suite("s", (Tool("f"),), (lists,))
    assert hash(lists)
