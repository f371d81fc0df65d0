"""How text is read: with the options of an agent's own extractor, and what was mended is told."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ChatMessage, ChatResponse

from langchain_llama3_tools import Llama3JsonToolOutputParser as LangChainParser
from llama3_acceptance import (
    Allowance,
    Answer,
    Case,
    ExpectedCall,
    Judgement,
    Policies,
    Reading,
    Suite,
    Verdict,
    judge,
    read_response,
)
from llama3_tools import Extractor, ReadOptions, Tool
from llama_index_llama3_tools import Llama3JsonToolOutputParser as LlamaIndexParser

TOOLS = (
    Tool("clock"),
    Tool("timer", "", {"type": "object", "properties": {"minutes": {"type": "integer"}}}),
    Tool("calculate", "", {"type": "object", "properties": {"expression": {"type": "string"}}}),
)
TIME = Case("time", "What time is it?", ((ExpectedCall("clock"),),))
SUM = Case("sum", "2+2?", ((ExpectedCall("calculate", mode="partial"),),))
GREETING = Case("hello", "Hello!")

CLOCK = '{"name": "clock", "parameters": {}}'
BROKEN = "{'name': 'clock', 'parameters': {}}"
TAG = "<function(clock)>{}</function>"
PYTHON = "<|python_tag|>print(17*23)"

MISSPELT = "clock was not written as documented: the tag is written <function(NAME)>{…}"
REPAIRED = f"clock was repaired from {BROKEN}"


def judged(case: Case, response: object, reading: Reading, **policies: object) -> Judgement:
    return judge(case, response, Suite("Home", TOOLS, (case,), Policies(**policies), reading=reading)).parsed


def test_the_options_are_those_of_every_reader():
    defaults = {name: one.default for name, one in inspect.signature(ReadOptions).parameters.items()}
    own = inspect.signature(Reading).parameters
    assert {name: one.default for name, one in own.items()} == {name: defaults[name] for name in own}


@pytest.mark.parametrize(
    ("text", "reading", "strictly", "remark"),
    [
        (TAG, Reading(), Verdict.PASSED, MISSPELT),
        (BROKEN, Reading(repair=True), Verdict.MALFORMED, REPAIRED),
        (
            BROKEN.replace("name", "tool"),
            Reading(repair=True),
            Verdict.MALFORMED,
            f"clock was not written as documented: the name is under 'tool'; {REPAIRED.replace('name', 'tool')}",
        ),
    ],
    ids=["a misspelt tag", "single quotes", "single quotes and an undocumented key"],
)
def test_what_was_mended_is_a_call_and_remarked(text: str, reading: Reading, strictly: Verdict, remark: str):
    clocks = replace(TIME, alternatives=((ExpectedCall("clock"),), (ExpectedCall("clock"),) * 2))
    assert judged(clocks, text, Reading()).verdict is strictly
    mended = judged(clocks, text, reading)
    assert (mended.verdict, mended.source, mended.detail) == (Verdict.PASSED, "text", remark)
    assert mended.allowances == (Allowance.MENDED,)
    plain = judged(clocks, CLOCK, reading)
    assert (plain.is_clean, plain.detail) == (True, "")


FORMS = {
    "json": CLOCK,
    "function": "<function=clock>{}</function>",
    "pythonic": "[clock()]",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_only_the_forms_that_are_asked_for_are_read(form: Any, text: str):
    read = Extractor(tools=TOOLS, formats=form).extract(text).tools_called
    assert read == (text == FORMS[form])
    for written in (text, f"Sure. {text}"):
        judgement = judged(TIME, written, Reading(form))
        assert judgement.verdict is (Verdict.PASSED if read else Verdict.MALFORMED)
        assert not read or not judgement.detail
    assert judged(TIME, text, Reading("all")).passed


@pytest.mark.parametrize("formats", ["function", "none"])
def test_a_call_in_a_form_that_is_not_read_is_no_answer_in_words(formats: Any):
    written = '{"name": "calculate", "parameters": {"expression": "2+2"}}'
    unread = judged(SUM, f"Well: {written}", Reading(formats))
    assert (unread.verdict, unread.detail) == (
        Verdict.MALFORMED,
        f"a call that cannot be read (the form json is not read): {written}",
    )
    assert judged(SUM, "That is 4.", Reading(formats)).passed
    assert judged(GREETING, "She is {name}.", Reading(formats)).passed


def test_a_form_that_is_read_only_where_it_is_asked_for_is_no_broken_call():
    code = judged(TIME, PYTHON, Reading("all"))
    assert (code.verdict, [call.name for call in code.calls]) == (Verdict.UNKNOWN_TOOL, ["code_interpreter"])
    expected = (ExpectedCall("clock"), ExpectedCall("code_interpreter", mode="partial"))
    both = replace(TIME, alternatives=(expected,))
    missing = judge(both, PYTHON, Suite("Any", (), (both,), reading=Reading("all"))).parsed
    assert (missing.verdict, missing.detail) == (Verdict.MISSING_CALL, "no call of clock")


@pytest.mark.parametrize(
    ("case", "text", "verdict", "detail"),
    [
        (TIME, f"I could {BROKEN}, {PYTHON} or {CLOCK}.</think>{CLOCK}", Verdict.PASSED, ""),
        (GREETING, "Hello!", Verdict.NO_RESPONSE, "neither text nor a call, only reasoning"),
        (TIME, CLOCK, Verdict.MALFORMED, f"a call that cannot be read (in thoughts): {CLOCK}"),
    ],
)
def test_a_text_may_begin_inside_reasoning(case: Case, text: str, verdict: Verdict, detail: str):
    judgement = judged(case, text, Reading(starts_reasoning=True))
    assert (judgement.verdict, judgement.detail) == (verdict, detail)


APART = [
    {"content": "Hello!", "reasoning_content": "Hm."},
    AIMessage([{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Hello!"}]),
    AIMessage([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hello!"}]),
    {
        "output": [
            {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "Hello!"}]},
        ]
    },
    LangChainParser(split_reasoning=True).invoke(AIMessage("<think>Hm.</think>Hello!")),
    LlamaIndexParser(split_reasoning=True).parse("<think>Hm.</think>Hello!"),
    LlamaIndexParser(split_reasoning=True).promote(
        ChatResponse(message=ChatMessage(role="assistant", content="<think>Hm.</think>Hello!"))
    ),
]


@pytest.mark.parametrize("response", APART)
def test_where_reasoning_came_apart_the_text_does_not_begin_inside_it(response: object):
    assert read_response(response) == Answer("Hello!", reasoning="Hm.")
    assert judged(GREETING, response, Reading(starts_reasoning=True)).passed
    assert judged(GREETING, response, Reading()).passed


def of_llama_index(text: str, **options: Any) -> object:
    return LlamaIndexParser(TOOLS, **options).parse(text)


def promoted(text: str, **options: Any) -> object:
    response = ChatResponse(message=ChatMessage(role="assistant", content=text))
    return LlamaIndexParser(TOOLS, **options).promote(response)


def of_langchain(text: str, **options: Any) -> object:
    return LangChainParser(tools=[tool.to_openai() for tool in TOOLS], **options).invoke(AIMessage(text))


@pytest.mark.parametrize("adapter", [of_llama_index, promoted, of_langchain])
def test_what_an_adapter_mended_is_told_too(adapter: Callable[..., object]):
    text = f"{TAG} {{'name': 'timer', 'parameters': {{'minutes': '5'}}}}"
    response = adapter(text, repair=True, coerce_arguments=True)
    case = Case("both", "Both", ((ExpectedCall("clock"), ExpectedCall("timer", mode="partial")),))
    parsed, coerced = judge(case, response, Suite("Home", TOOLS, (case,)))
    assert (parsed.source, parsed.detail) == ("native", f"{MISSPELT}; timer was repaired from {text[len(TAG) + 1 :]}")
    assert [call.arguments for call in parsed.calls] == [{}, {"minutes": "5"}]
    assert [call.arguments for call in coerced.calls] == [{}, {"minutes": 5}]
