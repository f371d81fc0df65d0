"""ReAct with the calls that Llama 3 writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.agent.react.types import (
    ActionReasoningStep,
    BaseReasoningStep,
    ObservationReasoningStep,
    ResponseReasoningStep,
)
from llama_index.core.agent.workflow import ReActAgent, ToolCallResult
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context, JsonSerializer

from integrations.llamaindex.endpoint import TIME, TOOLS, WEATHER, endpoint
from llama3_tools import render_tool_prompt
from llama_index_llama3_tools import (
    Llama3ReActChatFormatter,
    Llama3ReActOutputParser,
    Llama3ToolLLM,
    MalformedToolCallError,
)
from llama_index_llama3_tools.react import Llama3CallReasoningStep
from llama_index_llama3_tools.tools import tool_dicts

# LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
pytestmark = pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")

PROMPT = render_tool_prompt(tool_dicts(TOOLS))
PARIS = {"city": "Paris"}
ACTION = 'Thought: I need it.\nAction: get_weather\nAction Input: {"city": "Paris"}'


def read(step: BaseReasoningStep) -> Any:  # noqa: ANN401 (a step's own values)
    if isinstance(step, ActionReasoningStep):
        return step.thought, step.action, step.action_input
    assert isinstance(step, ResponseReasoningStep)
    return step.response


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param(
            f"Thought: I need it.\n{WEATHER}", ("I need it.", "get_weather", PARIS), id="a thought and a call"
        ),
        pytest.param(WEATHER, ("I need a tool.", "get_weather", PARIS), id="a call alone"),
        pytest.param(f"Let me see. {WEATHER}", ("Let me see.", "get_weather", PARIS), id="text and a call"),
        pytest.param(f"{WEATHER}; {TIME}", ("I need a tool.", "get_weather", PARIS), id="the first of two calls"),
        pytest.param(f"Thought: So.\n<|python_tag|>{WEATHER}<|eom_id|>", ("So.", "get_weather", PARIS), id="tagged"),
        pytest.param(f"Thought: So.\n```json\n{WEATHER}\n```", ("So.", "get_weather", PARIS), id="fenced"),
        pytest.param(f"Thought: So.\n[{WEATHER}]", ("So.", "get_weather", PARIS), id="an array"),
        pytest.param(f"Thought: So.\nAction: {WEATHER}", ("So.", "get_weather", PARIS), id="a call as the action"),
        pytest.param(
            f"Thought: So.\nAction: get_weather\nAction Input: {WEATHER}",
            ("So.", "get_weather", PARIS),
            id="a call as the input",
        ),
        pytest.param(
            f"Thought: So.\n{WEATHER}\nObservation: Rain\nThought: I know.\nAnswer: Rain.",
            ("So.", "get_weather", PARIS),
            id="an observation that the model made up",
        ),
        pytest.param(ACTION, ("I need it.", "get_weather", PARIS), id="llama index's form"),
        pytest.param("Thought: I know.\nAnswer: Sunny.", "Sunny.", id="an answer"),
        pytest.param(
            f"Thought: I know.\nAnswer: Write {WEATHER}", f"Write {WEATHER}", id="an answer with a call in it"
        ),
        pytest.param("Sunny.", "Sunny.", id="plain text"),
        pytest.param("It is {warm}.", "It is {warm}.", id="braces"),
    ],
)
def test_a_step(output: str, expected: object) -> None:
    assert read(Llama3ReActOutputParser().parse(output)) == expected
    assert read(Llama3ReActOutputParser(TOOLS).parse(output)) == expected


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("[get_weather(city='Paris')]", id="a list"),
        pytest.param("Thought: So.\n[get_weather(city='Paris')]", id="a thought and a list"),
        pytest.param("Thought: So.\n<|python_tag|>[get_weather(city='Paris')]<|eom_id|>", id="a tagged list"),
        pytest.param("Thought: So.\nAction: [get_weather(city='Paris')]", id="a list as the action"),
        pytest.param("<|python_tag|>get_weather(city='Paris')", id="a tagged call"),
        pytest.param("Thought: So.\nget_weather(city='Paris')", id="a call on a line of its own"),
    ],
)
def test_pythonic_calls_of_declared_tools_are_read(output: str) -> None:
    assert read(Llama3ReActOutputParser(TOOLS).parse(output))[1:] == ("get_weather", PARIS)


@pytest.mark.parametrize(
    "output", ["[Smith (2020)] says so.", "[1] and [2].", "[Paris](https://example.com)", "[see(a)"]
)
def test_brackets_that_hold_no_call_are_an_answer(output: str) -> None:
    assert read(Llama3ReActOutputParser().parse(output)) == output


def test_a_call_with_a_keyword_of_react_inside_is_a_call() -> None:
    arguments = {"text": "Action: none. Answer: none. Thought: none."}
    call = json.dumps({"name": "note", "parameters": arguments})
    assert read(Llama3ReActOutputParser().parse(call)) == ("I need a tool.", "note", arguments)


@pytest.mark.parametrize("output", ['Thought: So.\n{"name": "get_weather", "parameters": {"ci', "Thought: So."])
def test_what_is_no_step_is_an_error_on_which_the_agent_asks_again(output: str) -> None:
    with pytest.raises(ValueError, match="truncated" if "{" in output else "Could not parse output"):
        Llama3ReActOutputParser().parse(output)


@pytest.mark.parametrize(
    ("output", "words"),
    [(None, "got NoneType"), (b"x", "got bytes: decode it first"), (ChatMessage("x"), "got ChatMessage")],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_text_is_named(output: Any, words: str) -> None:  # noqa: ANN401 (that is the point)
    with pytest.raises(TypeError, match=rf"^parse takes the model's text, a str, {words}$"):
        Llama3ReActOutputParser().parse(output)


def test_a_malformed_call_says_what_is_wrong() -> None:
    with pytest.raises(MalformedToolCallError, match=r"get_weather \(truncated\)"):
        Llama3ReActOutputParser().parse('{"name": "get_weather", "parameters": {"ci')


def test_an_unknown_tool_may_stay_text() -> None:
    output = '{"name": "forecast", "parameters": {}}'
    assert read(Llama3ReActOutputParser(TOOLS).parse(output))[1] == "forecast"
    with pytest.raises(MalformedToolCallError, match="unknown_tool"):
        Llama3ReActOutputParser(TOOLS, on_unknown_tool="text").parse(output)


class TestFormatter:
    def test_the_steps_come_back_in_the_form_in_which_they_were_written(self) -> None:
        parser = Llama3ReActOutputParser()
        history = [ChatMessage(content="Weather?")]
        steps = [
            parser.parse(f"Thought: So.\n{WEATHER}"),
            ObservationReasoningStep(observation="Sun"),
            parser.parse(ACTION),
            parser.parse("Thought: I know.\nAnswer: Sunny."),
        ]
        system, *messages = Llama3ReActChatFormatter().format(TOOLS, history, steps)
        assert system.role == MessageRole.SYSTEM
        assert (system.content or "").startswith(PROMPT)
        assert "(they are: get_weather, get_time)" in (system.content or "")
        assert [(message.role.value, message.content) for message in messages] == [
            ("user", "Weather?"),
            ("assistant", f"Thought: So.\n{WEATHER}"),
            ("user", "Observation: Sun"),
            ("assistant", f"Thought: I need it.\n{WEATHER}"),
            ("assistant", "Thought: I know.\nAnswer: Sunny."),
        ]
        assert history == [ChatMessage(content="Weather?")]

    @pytest.mark.parametrize("context", ["", "Be brief, {please}."])
    def test_a_context_ends_the_header(self, context: str) -> None:
        formatter = Llama3ReActChatFormatter.from_defaults(context=context, observation_role=MessageRole.TOOL)
        system, observation = formatter.format([], [], [ObservationReasoningStep(observation="Sun")])
        assert (system.content or "").endswith(context or "Answer: your answer")
        assert observation.role == MessageRole.TOOL

    def test_a_header_of_one_s_own(self) -> None:
        [system] = Llama3ReActChatFormatter.from_defaults(system_header="{tool_names}! {context}").format(TOOLS, [])
        assert system.content == "get_weather, get_time!"


def agent_of(llm: Any, **options: Any) -> ReActAgent:  # noqa: ANN401 (any LLM, the agent's options)
    pair = {"output_parser": Llama3ReActOutputParser(TOOLS), "formatter": Llama3ReActChatFormatter()}
    return ReActAgent(**{"tools": TOOLS, "llm": llm, **pair, **options})


class TestAgent:
    @pytest.mark.parametrize("streaming", [True, False])
    @pytest.mark.parametrize("wrap", [lambda llm: llm, Llama3ToolLLM], ids=["bare", "wrapped"])
    async def test_it_runs_the_tool_and_answers(self, wrap: Any, streaming: bool) -> None:  # noqa: ANN401 (a class)
        answers = [f"Thought: So.\n{WEATHER}", "Thought: I know.\nAnswer: Sunny.", "Hello."]
        with endpoint(*answers) as served:
            memory = ChatMemoryBuffer.from_defaults()
            agent = agent_of(wrap(served.llm()), streaming=streaming, system_prompt="Be brief.")
            assert str(await agent.run("Weather?", memory=memory)) == "Sunny."
            assert str(await agent.run("Hi", memory=memory)) == "Hello."
        (_, system), *messages = served.messages(1)
        assert system.startswith(PROMPT)
        assert system.endswith("Be brief.")
        assert messages == [
            ("user", "Weather?"),
            ("assistant", f"Thought: So.\n{WEATHER}"),
            ("user", "Observation: Sun in Paris"),
        ]
        assert served.messages(2)[2] == (
            "assistant",
            f"Thought: So.\n{WEATHER}\nObservation: Sun in Paris\nThought: I know.\nAnswer: Sunny.",
        )

    async def test_a_malformed_call_is_told_to_the_model(self) -> None:
        with endpoint(f"Thought: So.\n{WEATHER[:-3]}", WEATHER, "Sunny.") as served:
            assert str(await agent_of(served.llm()).run("Weather?")) == "Sunny."
        assert "get_weather (truncated)" in served.messages(1)[-1][1]

    async def test_an_unknown_tool_is_answered(self) -> None:
        with endpoint('{"name": "forecast", "parameters": {}}', WEATHER, "Sunny.") as served:
            handler = agent_of(served.llm()).run("Weather?")
            events = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
            assert str(await handler) == "Sunny."
        assert [event.tool_output.content for event in events] == [
            "Tool forecast not found. Please select a tool that is available.",
            "Sun in Paris",
        ]

    async def test_its_steps_can_be_saved_and_restored(self) -> None:
        with endpoint() as served:
            agent = agent_of(served.llm())
        context = Context(agent)
        step = Llama3CallReasoningStep(thought="So.", action="get_weather", action_input=PARIS)
        await context.store.set("current_reasoning", [step])
        saved = json.dumps(context.to_dict(serializer=JsonSerializer()))
        restored = Context.from_dict(agent, json.loads(saved), serializer=JsonSerializer())
        [back] = await restored.store.get("current_reasoning")
        assert back.get_content() == step.get_content() == f"Thought: So.\n{WEATHER}"
