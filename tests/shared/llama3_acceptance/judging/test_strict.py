"""Suites in the strict response format: what is asked for, and what is not in the format."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from llama3_acceptance import (
    Answer,
    ArgumentRule,
    Case,
    ExpectedCall,
    Judgement,
    Policies,
    Prompt,
    Reading,
    Suite,
    Verdict,
    judge,
)
from llama3_acceptance.running.asking import ask
from llama3_tools import Tool
from response_kinds import TEXT_KINDS, Kind

TOOLS = (
    Tool("timer", "Sets a timer", {"type": "object", "properties": {"minutes": {"type": "integer"}}}),
    Tool("calculate", "", {"type": "object", "properties": {"expression": {"type": "string"}}}),
)
TEA = Case("tea", "Set a timer", ((ExpectedCall("timer", {"minutes": ArgumentRule((5,))}),),))
TWO = Case("two", "Set two timers", (tuple(ExpectedCall("timer", {"minutes": ArgumentRule((n,))}) for n in (5, 9)),))
SUM = Case("sum", "2+2?", ((ExpectedCall("calculate", mode="partial"),),))
GREETING = Case("hello", "Hello!")
ONE, SEVERAL = Prompt(format="strict"), Prompt(format="strict", multiple=True)


def suite(*cases: Case, prompt: Prompt = ONE) -> Suite:
    return Suite("Home", TOOLS, cases, prompt=prompt)


def judged(case: Case, response: object, prompt: Prompt = ONE) -> Judgement:
    return judge(case, response, suite(case, prompt=prompt)).parsed


def single(message: str, name: str | None = None, **arguments: object) -> str:
    return json.dumps({"message": message, "tool_call": {"name": name, "arguments": arguments} if name else None})


def several(message: str, *minutes: object) -> str:
    calls = [{"name": "timer", "arguments": {"minutes": one}} for one in minutes]
    return json.dumps({"message": message, "tool_calls": calls})


@pytest.mark.parametrize("kind", TEXT_KINDS, ids=lambda kind: kind.__name__)
def test_the_object_alone_passes(kind: Kind) -> None:
    assert judged(TEA, kind(single("On it.", "timer", minutes=5), [])).verdict is Verdict.PASSED
    assert judged(TWO, kind(several("", 9, 5), []), SEVERAL).verdict is Verdict.PASSED


@pytest.mark.parametrize("text", ["", "Hello!", '{"message": "Hel'])
def test_a_limit_is_named_that_left_no_object(text: str) -> None:
    answer = Answer(text, finish_reason="length")
    assert judged(GREETING, answer).verdict is Verdict.TRUNCATED
    assert judged(GREETING, answer).detail.endswith("(finish_reason length)")


@pytest.mark.parametrize("message", ["<think>Hm.</think>", "<think>Hm.</think>Hello!", "<think>Hm."])
@pytest.mark.parametrize("tool", [None, "timer"])
@pytest.mark.parametrize("starts_reasoning", [False, True])
def test_thoughts_in_the_message_are_no_words(message: str, tool: str | None, starts_reasoning: bool) -> None:
    text = single(message, tool, minutes=5) if tool else single(message)
    case = TEA if tool else GREETING
    thinking = replace(suite(case), reading=Reading(starts_reasoning=starts_reasoning))
    judgement = judge(case, f"Hm.</think>{text}" if starts_reasoning else text, thinking).parsed
    assert judgement.verdict is Verdict.WRONG_FORMAT
    assert judgement.detail == f"thoughts are in the message, which the user sees: {message}"


GOOD = single("On it.", "timer", minutes=5)
WRONG_FORMAT = {
    "a thought": (f"<think>Hm.</think>{GOOD}", "text_around"),
    "words": ("Hello!", "no_json"),
    "several calls": (several("", 5), "wrong_shape"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("text", "problem"), WRONG_FORMAT.values(), ids=WRONG_FORMAT)
def test_anything_else_is_the_wrong_format_and_says_why(text: str, problem: str) -> None:
    for case in (TEA, SUM, GREETING):
        judgements = judge(case, text, suite(case))
        assert judgements.parsed == judgements.coerced
        assert judgements.parsed.verdict is Verdict.WRONG_FORMAT
        assert problem in judgements.parsed.detail


def test_a_call_of_the_server_is_not_in_the_object() -> None:
    message = {"content": GOOD, "tool_calls": [{"function": {"name": "timer", "arguments": '{"minutes": 5}'}}]}
    parsed = judged(TEA, message)
    told = 'the call is in tool_calls, not in the object: timer({"minutes": 5})'
    assert (parsed.verdict, parsed.detail) == (Verdict.WRONG_FORMAT, told)


def test_the_model_is_asked_for_the_format_and_the_server_is_sent_the_schema() -> None:
    request = ask(TEA, suite(TEA))
    assert '"tool_call": null or' in request["messages"][0]["content"]
    schema = request["response_format"]["json_schema"]["schema"]
    assert request["response_format"]["type"] == "json_schema"
    assert list(schema["properties"]) == ["message", "tool_call"]
    schema = ask(TEA, suite(TEA, prompt=SEVERAL))["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["message", "tool_calls"]


def test_a_server_may_be_sent_the_schema_in_another_way_or_not_at_all() -> None:
    asked = ask(TEA, suite(TEA, prompt=replace(ONE, response_format="json_object")))["response_format"]
    assert (asked["type"], "pattern" in asked["schema"]["properties"]["message"]) == ("json_object", True)
    assert "response_format" not in ask(TEA, suite(TEA, prompt=replace(ONE, response_format="none")))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Suite("s", TOOLS, (), Policies(native_calls_only=True), prompt=ONE), "calls are in the text"),
        (lambda: Suite("s", TOOLS, (), prompt=ONE, reading=Reading(repair=True)), "no other form is read"),
        (lambda: Suite("s", TOOLS, (), prompt=ONE, reading=Reading("json")), "no other form is read"),
        (lambda: Prompt(multiple=True), "are options of the strict format: add format strict"),
    ],
    ids=["native calls only", "repair", "forms", "several calls"],
)
def test_what_contradicts_the_format_is_refused(make: Callable[[], object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()
