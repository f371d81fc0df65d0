"""What a response is worth: the reasons, the policies, and the two scores."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage

from llama3_acceptance import (
    ArgumentRule,
    Case,
    ExpectedCall,
    Judgements,
    Policies,
    Suite,
    Verdict,
    judge,
)
from llama3_tools import Tool
from response_kinds import KINDS, TEXT_KINDS, Kind, openai_dict

TOOLS = (
    Tool(
        "turn_on",
        "",
        {
            "type": "object",
            "properties": {
                "area": {"type": "string"},
                "domain": {"type": "array", "items": {"type": "string"}},
                "brightness": {"type": "integer", "default": 100},
            },
            "required": ["area"],
        },
    ),
    Tool("calculate", "", {"type": "object", "properties": {"expression": {"type": "string"}}}),
    Tool("clock"),
)
LIGHTS = ExpectedCall(
    "turn_on", {"area": ArgumentRule(("kitchen",)), "domain": ArgumentRule((["light", "switch"],), unordered=True)}
)
TURN_ON = Case("lights", "Turn on the kitchen lights", ((LIGHTS,),))
CALCULATE = Case("sum", "2+2?", ((ExpectedCall("calculate", {"expression": ArgumentRule(("2+2",))}),),))
GREETING = Case("hello", "Hello!")

GOOD = '{"name": "turn_on", "parameters": {"area": "kitchen", "domain": ["light", "switch"]}}'
SUM = '{"name": "calculate", "parameters": {"expression": "2+2"}}'


def judged(case: Case, response: object, **policies: object) -> Judgements:
    return judge(case, response, Suite("Home", TOOLS, (case,), Policies(**policies)))


def verdict(case: Case, response: object, **policies: object) -> Verdict:
    return judged(case, response, **policies).parsed.verdict


every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
every_text_kind = pytest.mark.parametrize("kind", TEXT_KINDS, ids=lambda kind: kind.__name__)


@every_text_kind
def test_a_call_in_the_text_counts_where_no_native_one_is(kind: Kind):
    response = kind(f"Sure. {GOOD}", [])
    parsed = judged(TURN_ON, response).parsed
    assert (parsed.verdict, parsed.source, len(parsed.calls)) == (Verdict.PASSED, "text", 1)
    parsed = judged(TURN_ON, response, text_calls=False).parsed
    assert (parsed.verdict, parsed.detail) == (
        Verdict.CALL_IN_TEXT,
        f"the call is in the text, and tool_calls is empty: {GOOD}",
    )


@every_text_kind
def test_words_pass_in_place_of_a_tool_that_is_on_the_list(kind: Kind):
    response = kind("That is 4.", [])
    assert verdict(CALCULATE, response) is Verdict.PASSED
    assert verdict(CALCULATE, response, direct_answers=frozenset({"clock"})) is Verdict.DIRECT_ANSWER_NOT_ALLOWED
    assert verdict(CALCULATE, response, allow_direct_answers=False) is Verdict.DIRECT_ANSWER_NOT_ALLOWED


@every_text_kind
def test_a_case_may_say_otherwise(kind: Kind):
    allowed, forbidden = replace(TURN_ON, direct_answer=True), replace(CALCULATE, direct_answer=False)
    response = kind("Done: 4.", [])
    assert verdict(allowed, response) is Verdict.PASSED
    assert verdict(allowed, response, allow_direct_answers=False) is Verdict.DIRECT_ANSWER_NOT_ALLOWED
    assert verdict(forbidden, response) is Verdict.DIRECT_ANSWER_NOT_ALLOWED


def test_all_calls_of_an_alternative_have_to_be_on_the_list():
    (calculation,) = CALCULATE.alternatives
    both = replace(CALCULATE, alternatives=((*calculation, LIGHTS),))
    assert verdict(both, "4, and there is light.") is Verdict.DIRECT_ANSWER_NOT_ALLOWED
    assert verdict(replace(both, alternatives=(*both.alternatives, calculation)), "4") is Verdict.PASSED


@pytest.mark.parametrize("written", ["['switch', 'light']", '["light", "switch"]', ' ["light","switch"] '])
@every_kind
def test_a_list_in_a_string_is_compared_as_the_list(kind: Kind, written: str):
    response = kind("", [("turn_on", {"area": "kitchen", "domain": written})])
    assert verdict(TURN_ON, response) is Verdict.PASSED
    assert verdict(TURN_ON, response, stringified_lists=False) is Verdict.WRONG_TYPE


@every_text_kind
@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Sure. {GOOD}",
        'All set: {"lights": "on"}',
        GOOD[:-3],
        "{}",
        "[1, 2, 3]",
        "As I said: [{",
        'It is ["milk"], or {"a": ["bread"]}',
        "<tool_call>[]</tool_call>",
    ],
)
def test_json_in_the_text_fails_where_native_calls_alone_are_let_pass(kind: Kind, text: str):
    answer = replace(TURN_ON, direct_answer=True)
    assert verdict(answer, kind(text, []), native_calls_only=True) is Verdict.CALL_IN_TEXT


@pytest.mark.parametrize(
    "text",
    [
        *("I {really} mean [that].", "Done, {so", "Which ["),
        *(
            'x["key"] = a[[1, 2]]',
            "Use {} or [] in Rust.",
            "As I said: [1",
            "Both:\n[1, 2]\nDone.",
            "Sources:\n[1]\n[2]",
        ),
        '<think>{"name": "clock", "parameters": {}}</think>It is noon.',
        'Hello. <think>[{"a": 1}]',
    ],
)
def test_what_is_no_json_does_not(text: str):
    assert verdict(GREETING, text, native_calls_only=True) is Verdict.PASSED


@every_kind
def test_beside_native_calls_too(kind: Kind):
    native = [("turn_on", {"area": "kitchen", "domain": ["light", "switch"]})]
    assert verdict(TURN_ON, kind(GOOD, native)) is Verdict.PASSED
    assert verdict(TURN_ON, kind(GOOD, native), native_calls_only=True) is Verdict.CALL_IN_TEXT
    for harmless in ('Done, {"really" so}.', "[1]\n[2]"):
        assert verdict(TURN_ON, kind(harmless, native), native_calls_only=True) is Verdict.PASSED


def call(name: str, **arguments: object) -> dict[str, object]:
    return openai_dict("", [(name, arguments)])


REASONS = [
    (
        TURN_ON,
        call("turn_on", area="kitchen", domain="['switch', 'light']"),
        Verdict.PASSED,
        (
            """turn_on: domain is the string "['switch', 'light']", expected ["light", "switch"] in any order; """
            "it is compared as the list in it"
        ),
    ),
    (TURN_ON, "", Verdict.MISSING_CALL, "neither text nor a call; expected turn_on"),
    (TURN_ON, "On it!", Verdict.DIRECT_ANSWER_NOT_ALLOWED, "answered in words, expected turn_on: On it!"),
    (TURN_ON, call("clock"), Verdict.WRONG_TOOL, "called clock({}), expected turn_on"),
    (TURN_ON, call("open"), Verdict.UNKNOWN_TOOL, "called open({}), which is not declared; expected turn_on"),
    (TURN_ON, GOOD + SUM, Verdict.UNEXPECTED_CALL, 'calculate({"expression": "2+2"}) was not expected'),
    (GREETING, " \n", Verdict.NO_RESPONSE, "neither text nor a call"),
    (CALCULATE, "4", Verdict.PASSED, "answered in words, in place of calculate"),
    (
        replace(GREETING, alternatives=((LIGHTS,), ())),
        call("open"),
        Verdict.UNKNOWN_TOOL,
        "called open({}), which is not declared; expected turn_on or no call",
    ),
    (
        GREETING,
        "[calculate(17*23)]",
        Verdict.MALFORMED,
        ("a call that cannot be read (expected ',' or ')', found '*'): calculate(17*23)"),
    ),
    (
        TURN_ON,
        f"<think>{'Hm. ' * 40}</think>{GOOD}<|python_tag|>{{}}",
        Verdict.PASSED,
        "beside it, a call that cannot be read (an object with the keys none, but no name): {}",
    ),
]


@pytest.mark.parametrize(("case", "response", "expected", "detail"), REASONS)
def test_a_verdict_has_its_reason(case: Case, response: object, expected: Verdict, detail: str):
    parsed = judged(case, response).parsed
    assert (parsed.verdict, parsed.detail, parsed.passed) == (expected, detail, expected is Verdict.PASSED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SUM[:-1], Verdict.TRUNCATED),
        ('Sure: {"parameters": {"expression": "2+2"}}', Verdict.MALFORMED),
        ("<|python_tag|>calculate(17*23)", Verdict.MALFORMED),
        ('{"na', Verdict.TRUNCATED),
    ],
)
def test_a_call_that_nobody_can_read_is_no_answer_in_words(text: str, expected: Verdict):
    assert [verdict(case, text) for case in (CALCULATE, TURN_ON, GREETING)] == [expected] * 3


NO_WORDS = [
    ('{"expression": "12*12"}', "the arguments of calculate, without its name"),
    ('Sure: {"expression": "12*12"}', "the arguments of calculate, without its name"),
    ("{}", "{}"),
    ("null", "null"),
    ("calculate", "the name of a tool: calculate"),
    ("Action: calculate\nAction Input: 12*12", "a step of an agent: Action: calculate"),
    ("**Function:** calculate\nArguments: 12*12", "a step of an agent: **Function:** calculate"),
    ("<calculate>12*12</calculate>", "a tag of calls, without one: <calculate>"),
    ("\N{REPLACEMENT CHARACTER}", "\N{REPLACEMENT CHARACTER}"),
    ("Sure. <tool_call>", "a tag of calls, without one: <tool_call>"),
    ("<think>2+2</think>\n<function=calc", "a tag of calls, without one: <function=calc"),
    ('<tool_response name="calculate">\n391', '<tool_response name="calculate">'),
]


@pytest.mark.parametrize(("text", "detail"), NO_WORDS)
def test_an_answer_in_words_has_words_and_no_attempt_at_a_call(text: str, detail: str):
    parsed = judged(GREETING, text).parsed
    assert parsed.verdict is Verdict.MALFORMED
    assert parsed.detail.startswith(f"no answer in words: {detail}")


@pytest.mark.parametrize(
    "text",
    [
        "144",
        "\N{SMILING FACE WITH SMILING EYES}\N{HEAVY BLACK HEART}\ufe0f",
        "Action: none",
        "With the <calculate> tag, one can add.",
        '"144"',
        "The field is null.",
        'Sure: {"',
        'It is {"expression": "12*12"}, I think.',
        "I asked: <tool_response>391</tool_response>",
        '{"message": "Hello!", "tool_call": null}',
    ],
)
def test_words_are_an_answer_in_words(text: str):
    assert verdict(GREETING, text) is Verdict.PASSED
    assert verdict(TURN_ON, text) is Verdict.DIRECT_ANSWER_NOT_ALLOWED


def test_without_declared_tools_an_answer_in_words_has_words_too():
    suite = Suite("Any", (), (GREETING,))
    verdicts = [judge(GREETING, text, suite).parsed.verdict for text in ("{}", "<tool_call>", "f(1) is 2.", "f(1)")]
    assert verdicts == [Verdict.MALFORMED, Verdict.MALFORMED, Verdict.PASSED, Verdict.PASSED]


CODE = "<|python_tag|>print(1)"
PRINTED = Case("code", "Print 1.", ((ExpectedCall("code_interpreter", mode="partial"),),))


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("length", Verdict.TRUNCATED),
        ("eos", Verdict.PASSED),
        (None, Verdict.PASSED),
    ],
)
def test_what_a_limit_ended_is_no_call(reason: str | None, expected: Verdict):
    suite = Suite("Code", (Tool("code_interpreter"),), (PRINTED,))
    response = {"choices": [{"message": {"content": CODE}, "finish_reason": reason}]}
    assert judge(PRINTED, response, suite).parsed.verdict is expected


def test_a_broken_call_is_the_reason_for_a_missing_one():
    both = replace(TURN_ON, alternatives=((*TURN_ON.alternatives[0], *CALCULATE.alternatives[0]),))
    assert verdict(both, f"{GOOD}; {SUM[:-3]}") is Verdict.TRUNCATED
    assert verdict(both, GOOD) is Verdict.MISSING_CALL


def test_arguments_that_a_server_could_not_parse_are_malformed():
    message = {"content": None, "tool_calls": [{"function": {"name": "calculate", "arguments": '{"expr'}}]}
    judgements = judged(CALCULATE, message)
    assert judgements.parsed == judgements.coerced
    assert (judgements.parsed.verdict, judgements.parsed.detail) == (
        Verdict.MALFORMED,
        'the arguments of calculate are no JSON object: {"expr',
    )


def test_an_empty_answer_says_why_it_may_be_empty():
    cut_off = {"message": {"content": ""}, "finish_reason": "length"}
    assert judged(TURN_ON, cut_off).parsed.detail == "neither text nor a call (finish_reason length); expected turn_on"
    thought = {"message": {"content": None, "reasoning_content": "Hm"}}
    assert judged(GREETING, thought).parsed.detail == "neither text nor a call, only reasoning"


@pytest.mark.parametrize("text", ["<think>Hm.</think>", "\n<think>One.</think> <think>Two.</think>"])
def test_thoughts_alone_are_no_answer(text: str):
    assert judged(GREETING, text).parsed.verdict is Verdict.NO_RESPONSE
    assert judged(CALCULATE, text).parsed.detail == "neither text nor a call, only reasoning"
    assert judged(GREETING, f"{text} Hello!").parsed.passed


@pytest.mark.parametrize("name", ["turn_on", "clock", "open"])
def test_an_answer_of_ten_thousand_calls_is_judged_soon_and_told_in_short(name: str):
    calls = openai_dict("", [(name, {"area": str(n)}) for n in range(10_000)])
    many = replace(TURN_ON, alternatives=((LIGHTS,) * 20,))
    parsed = judged(many, calls).parsed
    assert not parsed.passed
    assert len(parsed.detail) < 2500
    assert "more" in parsed.detail


def test_the_nearest_alternative_gives_the_reason():
    other = replace(LIGHTS, tool="clock", arguments={})
    case = replace(TURN_ON, alternatives=((other,), (LIGHTS,), (LIGHTS, other)))
    assert verdict(case, call("turn_on", area="bath", domain=["light", "switch"])) is Verdict.WRONG_VALUE
    assert verdict(case, call("clock")) is Verdict.PASSED
    assert judged(case, "Hm.").parsed.detail == "answered in words, expected clock or turn_on or turn_on and clock: Hm."


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("turn_on", {"area": "bath"}), Verdict.WRONG_TOOL),
        (("clock", {"zone": "UTC"}), Verdict.UNEXPECTED_ARGUMENT),
    ],
)
def test_of_several_reasons_the_gravest_is_the_verdict(found: tuple[str, dict[str, object]], expected: Verdict):
    calls = (ExpectedCall("calculate", {"expression": ArgumentRule(("2",))}), ExpectedCall("clock"))
    response = openai_dict("", [("calculate", {"expression": "3"}), found])
    assert verdict(replace(CALCULATE, alternatives=(calls,)), response) is expected


def test_calls_in_another_order_fail_only_where_the_order_matters():
    both = replace(TURN_ON, alternatives=((*CALCULATE.alternatives[0], LIGHTS),))
    assert verdict(both, f"{GOOD}; {SUM}") is Verdict.PASSED
    assert verdict(replace(both, ordered=True), f"{GOOD}; {SUM}") is Verdict.WRONG_ORDER
    assert verdict(replace(both, ordered=True), f"{SUM}; {GOOD}") is Verdict.PASSED


def test_an_integer_of_any_length_is_judged():
    parsed = judged(TURN_ON, f'{{"name": "turn_on", "parameters": {{"area": {"9" * 5000}}}}}').parsed
    assert (parsed.verdict, len(parsed.detail) < 300) == (Verdict.MISSING_ARGUMENT, True)
    native = {"tool_calls": [{"function": {"name": "clock", "arguments": {"n": 10**5000}}}]}
    assert verdict(TURN_ON, native) is Verdict.WRONG_TOOL


def test_what_the_schema_takes_by_default_may_be_left_out_or_written():
    rule = {"area": ArgumentRule(("hall",)), "brightness": ArgumentRule((100,))}
    expected = replace(TURN_ON, alternatives=((ExpectedCall("turn_on", rule),),))
    assert verdict(expected, call("turn_on", area="hall")) is Verdict.PASSED
    silent = replace(TURN_ON, alternatives=((ExpectedCall("turn_on", {"area": ArgumentRule(("hall",))}),),))
    assert verdict(silent, call("turn_on", area="hall", brightness=100)) is Verdict.PASSED
    assert verdict(silent, call("turn_on", area="hall", brightness=50)) is Verdict.UNEXPECTED_ARGUMENT
    written = judged(silent, call("turn_on", area="hall", brightness="100"))
    assert (written.parsed.verdict, written.coerced.verdict) == (Verdict.WRONG_TYPE, Verdict.PASSED)
    half = ExpectedCall("turn_on", {"area": ArgumentRule(("hall",))}, defaults={"brightness": 50})
    assert (
        verdict(replace(TURN_ON, alternatives=((half,),)), call("turn_on", area="hall", brightness=50))
        is Verdict.PASSED
    )


@pytest.mark.parametrize("text", ["[" * 5000, '{"name": "turn_on", "parameters": ' + '{"a":' * 5000, "\ud800", "\x00"])
def test_nothing_that_a_model_writes_raises(text: str):
    assert not judged(TURN_ON, text).parsed.passed


LENGTH = {
    "chat completion": lambda text: {"choices": [{"message": {"content": text}, "finish_reason": "length"}]},
    "Anthropic": lambda text: {"content": [{"type": "text", "text": text}], "stop_reason": "max_tokens"},
    "LangChain": lambda text: AIMessage(text, response_metadata={"finish_reason": "length"}),
}


@pytest.mark.parametrize("response", LENGTH.values(), ids=LENGTH)
def test_words_that_a_limit_ended_are_truncated_wherever_words_would_pass(response: Callable[[str], object]):
    for case in (GREETING, CALCULATE, replace(TURN_ON, direct_answer=True)):
        parsed = judged(case, response("The answer is")).parsed
        assert parsed.verdict is Verdict.TRUNCATED
        assert parsed.detail.startswith("the answer in words is cut off (finish_reason ")
    assert verdict(TURN_ON, response("The answer is")) is Verdict.DIRECT_ANSWER_NOT_ALLOWED
    assert verdict(TURN_ON, response(f"{GOOD} I")) is Verdict.PASSED


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call> x " * 10_000,
        "`a` " * 25_000,
        "calculate {x} " * 10_000,
        "[1] " * 25_000,
        "{" * 25_000 + "x",
        "a\n> " * 25_000,
    ],
    ids=["tags", "spans", "names", "arrays", "braces", "quoted lines"],
)
def test_a_long_answer_in_words_is_judged_soon(text: str):
    started = time.process_time()
    judged(GREETING, f"Hm {text} is it.")
    judged(GREETING, f"Hm {text} is it.", native_calls_only=True)
    assert time.process_time() - started < 5
