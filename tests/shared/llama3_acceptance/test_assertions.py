"""Assertions about a response, and what they say when they fail."""

from __future__ import annotations

import re
from typing import Any

import pytest

from llama3_acceptance import (
    ArgumentRule,
    Case,
    ExpectedCall,
    Policies,
    Reading,
    Suite,
    SuiteCase,
    assert_tool_call,
)
from llama3_tools import Tool
from response_kinds import KINDS, Kind

PARIS = ("get_weather", {"city": "Paris"})
TOOLS = [Tool("get_weather"), Tool("timer", "", {"type": "object", "properties": {"minutes": {"type": "integer"}}})]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_calls_are_given_back(kind: Kind):
    (call,) = assert_tool_call(kind("", [PARIS]), "get_weather", {"city": "Paris"})
    assert (call.name, call.arguments) == PARIS


def test_no_call_can_be_expected():
    assert assert_tool_call("Hello!", None) == ()
    with pytest.raises(AssertionError, match="unexpected_call"):
        assert_tool_call('{"name": "f", "parameters": {}}', None)


def test_several_calls_can_be_expected():
    two = [ExpectedCall("f"), ExpectedCall("g")]
    response = '{"name": "g", "parameters": {}}; {"name": "f", "parameters": {}}'
    assert [call.name for call in assert_tool_call(response, two)] == ["g", "f"]
    with pytest.raises(AssertionError, match="wrong_order"):
        assert_tool_call(response, two, ordered=True)


def test_policies_can_be_given():
    response = '{"name": "get_weather", "parameters": {}}'
    with pytest.raises(AssertionError, match="call_in_text"):
        assert_tool_call(response, "get_weather", policies=Policies(text_calls=False))


def test_so_can_how_text_is_read():
    response = "{'name': 'timer', 'parameters': {}}"
    (call,) = assert_tool_call(response, "timer", tools=TOOLS, reading=Reading(repair=True))
    assert call.repaired_from == response
    with pytest.raises(AssertionError, match="malformed"):
        assert_tool_call(response, "timer", tools=TOOLS)
    with pytest.raises(AssertionError) as caught:
        assert_tool_call(response, None, tools=TOOLS, reading=Reading(repair=True))
    assert str(caught.value).splitlines()[0].endswith(f"was not expected; timer was repaired from {response}")


def test_arguments_go_with_a_name():
    with pytest.raises(TypeError, match=r"^arguments go with the name of a tool; an ExpectedCall has its own$"):
        assert_tool_call("", ExpectedCall("f"), {})


def test_coerced_arguments_can_be_asked_for():
    response = '{"name": "timer", "parameters": {"minutes": "5"}}'
    (call,) = assert_tool_call(response, "timer", {"minutes": 5}, tools=TOOLS, coerced=True)
    assert call.arguments == {"minutes": 5}
    with pytest.raises(AssertionError) as caught:
        assert_tool_call(response, "timer", {"minutes": 5}, tools=TOOLS)
    assert str(caught.value).splitlines()[2::2] == [
        '  found in text   timer({"minutes": "5"})',
        "  after coercion  passed",
    ]


def test_all_calls_are_shown_and_the_output_at_length():
    two = [ExpectedCall("f", {"a": ArgumentRule((1,)), "b": ArgumentRule((2,))}), ExpectedCall("g")]
    response = {"content": "x" * 500, "tool_calls": [{"name": "f", "args": '{"a"'}, {"name": "g"}]}
    with pytest.raises(AssertionError) as caught:
        assert_tool_call(response, two)
    assert str(caught.value).splitlines() == [
        'malformed: the arguments of f are no JSON object: {"a"',
        "  expected        f(a=1, b=2); g()",
        '  found           f({"a"); g({})',
        f"  output          {'x' * 500}",
    ]


def test_a_failure_shows_all_alternatives_and_all_lines():
    rule = ArgumentRule((5, 10))
    case = Case(
        "tea",
        "Tea, please!",
        ((ExpectedCall("timer", {"minutes": rule}),), (ExpectedCall("brew", mode="partial"),), ()),
    )
    suite = Suite("Kitchen", (*TOOLS, Tool("brew")), (case,))
    with pytest.raises(AssertionError) as caught:
        SuiteCase(case, suite).check({"content": "One.\nTwo.", "tool_calls": [{"function": {"name": "get_weather"}}]})
    assert str(caught.value).splitlines() == [
        "wrong_tool: called get_weather({}), expected timer",
        "  command         Tea, please!",
        "  expected        timer(minutes=5 or 10)",
        "  or              brew(…)",
        "  or              an answer in words",
        "  found           get_weather({})",
        "  output          One.",
        "                  Two.",
    ]


def test_a_long_call_has_a_line_for_each_argument():
    rules = {"title": ArgumentRule(("a" * 80,)), "text": ArgumentRule(("b" * 80,), optional=True)}
    expected = ExpectedCall("note", rules, ignore=frozenset({"day"}))
    with pytest.raises(AssertionError) as caught:
        assert_tool_call({"tool_calls": [{"name": "note", "args": {"title": "a" * 80, "text": "c" * 80}}]}, expected)
    assert str(caught.value).splitlines()[1:] == [
        "  expected        note(",
        f'                    title="{"a" * 80}",',
        f'                    text?="{"b" * 80}",',
        "                    day?=*,",
        "                  )",
        "  found           note(",
        f'                    title="{"a" * 80}",',
        f'                    text="{"c" * 80}",',
        "                  )",
    ]


HOSTILE = [
    "\x1b]0;pwned\x07 Hi \u202e",
    'No.\nE   forged\r\x9b2J {"name": "f\\u001b[2J\\nE   forged", "parameters": {"a\\u009b": "\u202e\x7f"}}',
    {"tool_calls": [{"name": "f\x1b[2J\nE   forged", "args": {"a\x9b": "\u202e\x7f" * 50}}]},
    {"tool_calls": [{"name": "g", "args": '{"a\x1b[2J\nE   forged'}]},
]


@pytest.mark.parametrize("response", HOSTILE)
def test_a_failure_commands_no_terminal_and_no_line_of_it_is_forged(response: object):
    with pytest.raises(AssertionError) as caught:
        assert_tool_call(response, "g", {"a\x1b": ArgumentRule(("\x9b",))})
    first, *others = str(caught.value).split("\n")
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", "".join([first, *others]))
    assert all(re.match(r" {18}|  (expected|found|found in text|output) {2}", line) for line in others)


def test_a_forgotten_comma_passes_no_wrong_answer():
    letters: Any = "Paris"
    with pytest.raises(TypeError, match=r"write \('Paris',\), with a comma"):
        assert_tool_call('{"name": "f", "parameters": {"city": "P"}}', "f", {"city": ArgumentRule(letters)})


def test_lists_are_taken_as_tuples_and_sets():
    call: Any = ExpectedCall("f", {"a": ArgumentRule([1])}, ignore=["x"])  # type: ignore[arg-type]
    alternatives: Any = [[call], []]
    tags: Any = ["t"]
    case = Case("a", "Go", alternatives, tags=tags)
    assert case == Case("a", "Go", ((ExpectedCall("f", {"a": ArgumentRule((1,))}, frozenset({"x"})),), ()), tags=("t",))
    assert hash(case)
    assert Policies(direct_answers=tags) == Policies(direct_answers=frozenset({"t"}))
