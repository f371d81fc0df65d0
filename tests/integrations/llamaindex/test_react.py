"""ReAct with the calls that Llama 3 writes."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.agent.react.types import ActionReasoningStep, BaseReasoningStep, ResponseReasoningStep
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.memory import ChatMemoryBuffer

from integrations.llamaindex.endpoint import TIME, TOOLS, WEATHER, endpoint
from llama3_tools import Limits
from llama_index_llama3_tools import Llama3ReActOutputParser, Llama3ToolLLM, MalformedToolCallError

# LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
pytestmark = pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")

PARIS = {"city": "Paris"}
ACTION = 'Thought: I need it.\nAction: get_weather\nAction Input: {"city": "Paris"}'
REWRITTEN = "Thought: So.\nAction: get_weather\nAction Input: {'city': 'Paris'}"
"""A step as LlamaIndex shows it to the model."""


def read(step: BaseReasoningStep) -> Any:
    if isinstance(step, ActionReasoningStep):
        return step.thought, step.action, step.action_input
    assert isinstance(step, ResponseReasoningStep)
    return step.response


CALLS = {
    "a thought and a call": (f"Thought: I need it.\n{WEATHER}", "I need it."),
    "a call alone": (WEATHER, "I need a tool."),
    "a call as the action": (f"Thought: So.\nAction: {WEATHER}", "So."),
    "a call as the input": (f"Thought: So.\nAction: get_weather\nAction Input: {WEATHER}", "So."),
    "before a made-up observation": (f"Thought: So.\n{WEATHER}\nObservation: Rain\nAnswer: Rain.", "So."),
    "after the last observation": (f"Observation: Rain\nThought: So.\n{WEATHER}", "Observation: Rain\nThought: So."),
    "LlamaIndex's form": (ACTION, "I need it."),
    "LlamaIndex's form, then a call": (f"{ACTION}\n{TIME}", "I need it."),
    "LlamaIndex's form, then a made-up observation": (
        f"{ACTION}\nObservation: Rain\nThought: So.\n{TIME}",
        "I need it.",
    ),
    "after a thought": (f"<think>{TIME}\nAnswer: No.</think>Thought: So.\n{WEATHER}", "So."),
}


@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize(("output", "thought"), CALLS.values(), ids=CALLS)
def test_a_call_is_a_step(output: str, thought: str, tools: Any) -> None:
    assert read(Llama3ReActOutputParser(tools).parse(output)) == (thought, "get_weather", PARIS)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("Thought: I know.\nAnswer: Sunny.", "Sunny."),
        (f"Thought: I know.\nAnswer: Write {WEATHER}", f"Write {WEATHER}"),
        (f"<think>{WEATHER}?</think>Thought: I know.\nAnswer: Sunny.", "Sunny."),
        ("Sunny.", "Sunny."),
        ("It is {warm}.", "It is {warm}."),
    ],
)
def test_all_else_is_an_answer(output: str, answer: str) -> None:
    assert read(Llama3ReActOutputParser(TOOLS).parse(output)) == answer


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ('Thought: So.\n{"name": "get_weather", "parameters": {"ci', r"get_weather \(truncated\)"),
        ('{"name": "get_weather", "parameters": {oops}}', r"get_weather \(malformed\)"),
        ("Thought: So.", "Could not parse output"),
        ("<think>Hm.</think>", "has reasoning and no step"),
    ],
)
def test_what_is_no_step_is_an_error_on_which_the_agent_asks_again(output: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Llama3ReActOutputParser(TOOLS).parse(output)


def wait(days: int) -> str:
    """Wait."""
    return f"waited {days}"


@pytest.mark.parametrize(
    "output",
    ['{"name": "wait", "parameters": {"days": "3"}}', 'Thought: So.\nAction: wait\nAction Input: {"days": "3"}'],
)
def test_arguments_fit_the_tool(output: str) -> None:
    assert read(Llama3ReActOutputParser([wait]).parse(output))[2] == {"days": 3}
    assert read(Llama3ReActOutputParser([wait], coerce_arguments=False).parse(output))[2] == {"days": "3"}


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"city": "Rome", "days": 2} I hope.', {"city": "Rome", "days": 2}),
        ("```\n{'city': \"Rome's\",\n\n 'sunny': None,}\n```", {"city": "Rome's", "sunny": None}),
        ('{"code": "f({})"}\nAnswer: {x}', {"code": "f({})"}),
        ("{oops}", None),
        ('{"city": "Rome", "days": soon}', None),
        ("{'city': 'Rome'} {", {"city": "Rome"}),
        ("get_weather {city} {}", None),
    ],
)
def test_the_input_of_an_action_is_what_the_model_wrote_or_the_step_is_an_error(written: str, arguments: Any) -> None:
    output = f"Thought: So.\nAction: get_weather\nAction Input: {written}"
    parser = Llama3ReActOutputParser(coerce_arguments=False)
    if arguments is None:
        with pytest.raises(MalformedToolCallError, match=r"get_weather \(malformed\)"):
            parser.parse(output)
    else:
        assert read(parser.parse(output)) == ("So.", "get_weather", arguments)


def test_limits_hold_in_both_forms() -> None:
    limited = Llama3ReActOutputParser(TOOLS, limits=Limits(max_call_length=256))
    action, call = (output.replace("Paris", "Paris" * 60) for output in (ACTION, WEATHER))
    with pytest.raises(MalformedToolCallError, match=r"get_weather \(too_long\)") as error:
        limited.parse(action)
    assert error.value.output == action
    assert read(limited.parse(call)) == call


def agent_of(llm: Any, **options: Any) -> ReActAgent:
    return ReActAgent(**{"tools": TOOLS, "llm": llm, "output_parser": Llama3ReActOutputParser(TOOLS), **options})


class TestAgent:
    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize("wrap", [lambda llm: llm, Llama3ToolLLM], ids=["bare", "wrapped"])
    async def test_it_runs_the_tool_and_answers(self, wrap: Any, streaming: bool) -> None:
        answers = [f"<think>Hm.</think>Thought: So.\n{WEATHER}", "Thought: I know.\nAnswer: Sunny.", "Hello."]
        with endpoint(*answers) as served:
            memory = ChatMemoryBuffer.from_defaults()
            agent = agent_of(wrap(served.llm()), streaming=streaming, system_prompt="Be brief.")
            assert str(await agent.run("Weather?", memory=memory)) == "Sunny."
            assert str(await agent.run("Hi", memory=memory)) == "Hello."
        assert served.messages(1)[1:] == [
            ("user", "Weather?"),
            ("assistant", REWRITTEN),
            ("user", "Observation: Sun in Paris"),
        ]
        assert served.messages(2)[2] == (
            "assistant",
            f"{REWRITTEN}\nObservation: Sun in Paris\nThought: I know.\nAnswer: Sunny.",
        )

    async def test_a_malformed_call_is_told_to_the_model(self) -> None:
        with endpoint(f"Thought: So.\n{WEATHER[:-3]}", WEATHER, "Sunny.") as served:
            assert str(await agent_of(served.llm()).run("Weather?")) == "Sunny."
        assert "get_weather (truncated)" in served.messages(1)[-1][1]
