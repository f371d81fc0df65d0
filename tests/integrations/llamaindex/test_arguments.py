"""Arguments that do not fit the schema of their tool: made to fit, told of, and sent back to the model."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Literal, get_args

import pytest
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel, ConfigDict, Field
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.tools import FunctionTool, ToolMetadata

from chunkings import chunkings
from integrations.llamaindex.endpoint import Endpoint, endpoint
from integrations.llamaindex.scripted import ScriptedLLM
from integrations.llamaindex.test_servers import native, native_stream, piece
from llama3_tools import PromptFormat, render_tool_call
from llama_index_llama3_tools import (
    Llama3JsonToolOutputParser,
    Llama3ReActChatFormatter,
    Llama3ReActOutputParser,
    Llama3ToolLLM,
)
from llama_index_llama3_tools.history import flatten_messages
from llama_index_llama3_tools.tools import declare_llama_index_tools
from llama_index_llama3_tools.turn import ToolTurn

if TYPE_CHECKING:
    from endpoints.server import Answer

# LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
pytestmark = pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")


class Stop(BaseModel):
    """A stop of a trip."""

    model_config = ConfigDict(strict=True)

    city: str
    nights: int


class Train(BaseModel):
    """A way to begin a trip."""

    number: str


class Trip(BaseModel):
    """What `plan` is given."""

    model_config = ConfigDict(strict=True)

    stops: list[Stop]
    tags: list[str] = Field(default_factory=list)
    budget: float | None = None
    days: int = Field(default=1, le=14)
    pace: Literal["slow", "fast"] = "slow"
    start: int | Stop | Train = 0


WRITTEN = {
    "stops": '[{"city": "Rome", "nights": "2"}, {"city": "90210", "nights": 1}]',
    "tags": "['sun', 'sea']",
    "budget": "None",
    "days": "3",
}
FITTING = {
    "stops": [{"city": "Rome", "nights": 2}, {"city": "90210", "nights": 1}],
    "tags": ["sun", "sea"],
    "budget": None,
    "days": 3,
}
STOPS = [{"city": "Rome", "nights": 2}]
SOON = {"stops": STOPS, "days": "soon"}
SOON_MESSAGE = '$.days: expected integer, got the string "soon"'
COMPLAINT = (
    "Your last reply holds a function call whose arguments do not fit:\n"
    f"- plan: {SOON_MESSAGE}\n"
    "Write the whole reply again, with arguments that fit."
)


class Planner:
    """A tool that keeps what it was called with. LlamaIndex hands it on as it is: `fn_schema` only describes it."""

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []
        self.tool = FunctionTool.from_defaults(self.plan, name="plan", fn_schema=Trip)

    def plan(self, **arguments: Any) -> str:  # noqa: ANN401 (whatever comes)
        """Plan a trip."""
        self.given.append(arguments)
        return f"Planned for {7 + arguments['days']} days"


def write(arguments: dict[str, Any], *, name: str = "plan") -> str:
    return render_tool_call(name, arguments)


def served_native(arguments: dict[str, Any], *, streaming: bool) -> Answer:
    """Answer as a server that finds the call itself."""
    text = json.dumps(arguments)
    if not streaming:
        return native(("call_1", "plan", text))
    return native_stream(piece(0, "", "call_1", "plan"), piece(0, text[:9]), piece(0, text[9:]))


def told(message: ChatMessage) -> Any:  # noqa: ANN401 (JSON)
    return message.additional_kwargs.get("coerced_arguments")


def kwargs(message: ChatMessage) -> list[Any]:
    return [block.tool_kwargs for block in message.blocks if isinstance(block, ToolCallBlock)]


def llm_of(served: Endpoint, *, is_native: bool = False, **options: Any) -> Llama3ToolLLM:  # noqa: ANN401 (its options)
    return Llama3ToolLLM(served.llm(is_function_calling_model=is_native), **options)


async def asked(llm: Llama3ToolLLM, way: str, tool: FunctionTool) -> list[ChatResponse]:
    """Ask in one of the four ways, and give all responses."""
    if way == "whole":
        return [llm.chat_with_tools([tool], "Plan!", allow_parallel_tool_calls=True)]
    if way == "whole, async":
        return [await llm.achat_with_tools([tool], "Plan!", allow_parallel_tool_calls=True)]
    if way == "streamed":
        return list(llm.stream_chat_with_tools([tool], "Plan!", allow_parallel_tool_calls=True))
    stream = await llm.astream_chat_with_tools([tool], "Plan!", allow_parallel_tool_calls=True)
    return [response async for response in stream]


ways = pytest.mark.parametrize("way", ["whole", "whole, async", "streamed", "streamed, async"])
streamed_or_not = pytest.mark.parametrize("streaming", [True, False])
native_or_not = pytest.mark.parametrize("is_native", [True, False], ids=["native", "text"])


class TestTheWrapper:
    @native_or_not
    @streamed_or_not
    async def test_an_agent_s_tool_gets_the_types_that_it_declares(self, streaming: bool, is_native: bool) -> None:
        planner = Planner()
        answer = served_native(WRITTEN, streaming=streaming) if is_native else write(WRITTEN)
        with endpoint(answer, "Done.") as served:
            llm = llm_of(served, is_native=is_native)
            assert str(await FunctionAgent(tools=[planner.tool], llm=llm, streaming=streaming).run("Plan!")) == "Done."
        assert planner.given == [FITTING]
        assert Trip.model_validate(planner.given[0]).stops[1].city == "90210", "an id of digits stays a string"
        assert served.messages(1)[-2:] == [
            ("assistant", write(FITTING)),
            ("tool", "Result of plan: Planned for 10 days"),
        ]
        assert "coerced_arguments" not in json.dumps(served.bodies)

    @ways
    @native_or_not
    async def test_the_message_tells_what_was_changed_and_what_does_not_fit(self, way: str, is_native: bool) -> None:
        written = {"stops": "[]", "days": "soon", "mood": 1}
        answer = served_native(written, streaming="streamed" in way) if is_native else write(written)
        with endpoint(answer) as served:
            *_, last = await asked(llm_of(served, is_native=is_native), way, Planner().tool)
        [entry] = told(last.message)
        [block] = [block for block in last.message.blocks if isinstance(block, ToolCallBlock)]
        assert block.tool_kwargs == {"stops": [], "days": "soon", "mood": 1}
        assert (entry["id"], entry["name"], json.loads(entry["written"])) == (block.tool_call_id, "plan", written)
        assert [(change["path"], change["before"], change["after"]) for change in entry["changes"]] == [
            ("$.stops", "[]", [])
        ]
        assert [(problem["path"], problem["reason"]) for problem in entry["problems"]] == [
            ("$.days", "wrong_type"),
            ("$.mood", "unknown_parameter"),
        ]
        [mirrored] = last.message.additional_kwargs["tool_calls"]
        assert json.loads(mirrored["function"]["arguments"]) == block.tool_kwargs
        assert ChatMessage.model_validate_json(last.message.model_dump_json()) == last.message

    @ways
    @native_or_not
    async def test_it_can_be_turned_off(self, way: str, is_native: bool) -> None:
        answer = served_native(WRITTEN, streaming="streamed" in way) if is_native else write(WRITTEN)
        with endpoint(answer) as served:
            llm = llm_of(served, is_native=is_native, coerce_arguments=False, max_parse_retries=1)
            *_, last = await asked(llm, way, Planner().tool)
        assert (kwargs(last.message), told(last.message)) == ([WRITTEN], None)

    def test_arguments_that_fit_are_not_told_of(self) -> None:
        with endpoint(write(FITTING)) as served:
            message = llm_of(served).chat_with_tools([Planner().tool], "Plan!").message
        assert (kwargs(message), told(message)) == ([FITTING], None)

    def test_it_is_not_sent_back_to_the_server(self) -> None:
        with endpoint(write(WRITTEN)) as served:
            message = llm_of(served).chat_with_tools([Planner().tool], "Plan!").message
        [flat] = flatten_messages([message])
        assert told(message)
        assert flat.additional_kwargs == {}

    def test_those_of_an_unknown_tool_stay_as_they_are(self) -> None:
        with endpoint(write(WRITTEN, name="other"), native(("1", "other", '{"days": "3"}'))) as served:
            text = llm_of(served).chat_with_tools([Planner().tool], "Plan!").message
            found = llm_of(served, is_native=True).chat_with_tools([Planner().tool], "Plan!").message
        assert (kwargs(text), kwargs(found)) == ([WRITTEN], [{"days": "3"}])
        assert told(text) is told(found) is None

    def test_in_every_chunking_as_whole(self) -> None:
        output = f"Hm. {write({'stops': '[]'})}; {write({'stops': [], 'days': '3'})} So."
        tool = Planner().tool
        for chunks in chunkings(output):
            if all(chunks):
                llm = Llama3ToolLLM(ScriptedLLM(chunks=list(chunks)))
                *_, last = llm.stream_chat_with_tools([tool], "Plan!", allow_parallel_tool_calls=True)
                assert kwargs(last.message) == [{"stops": []}, {"stops": [], "days": 3}], chunks
                assert [entry["changes"][0]["path"] for entry in told(last.message)] == ["$.stops", "$.days"]

    def test_a_structured_answer_fits_its_model(self) -> None:
        with endpoint(write(WRITTEN, name="Trip")) as served:
            trip = llm_of(served).as_structured_llm(Trip).complete("Plan!").raw
        assert trip == Trip.model_validate(FITTING)

    @streamed_or_not
    async def test_what_does_not_fit_reaches_the_tool_and_the_model_is_told_why_that_failed(
        self, streaming: bool
    ) -> None:
        planner = Planner()
        with endpoint(write({**SOON, "mood": "good"}), write({"stops": STOPS, "days": 3}), "Done.") as served:
            agent = FunctionAgent(tools=[planner.tool], llm=llm_of(served), streaming=streaming)
            assert str(await agent.run("Plan!")) == "Done."
        assert [arguments["days"] for arguments in planner.given] == ["soon", 3]
        role, result = served.messages(1)[-1]
        assert role == "tool"
        assert result.startswith("Result of plan: unsupported operand type(s)")
        assert result.endswith(f"\n(The arguments did not fit. {SOON_MESSAGE})")
        assert served.messages(2)[-1] == ("tool", "Result of plan: Planned for 10 days")


class TestRetries:
    @ways
    @native_or_not
    async def test_a_call_that_does_not_fit_is_sent_back_and_not_shown(self, way: str, is_native: bool) -> None:
        streaming = "streamed" in way
        answers = [SOON, WRITTEN]
        served_answers = [served_native(a, streaming=streaming) if is_native else f"Hm. {write(a)}" for a in answers]
        with endpoint(*served_answers) as served:
            llm = llm_of(served, is_native=is_native, max_parse_retries=1)
            responses = await asked(llm, way, Planner().tool)
        shown = [arguments for response in responses for arguments in kwargs(response.message)]
        assert shown
        assert all(arguments == FITTING for arguments in shown)
        assert "".join(response.delta or "" for response in responses) in {"", "Hm.Hm."}
        [*_, wrote, complaint] = served.messages(1)
        assert wrote == ("assistant", write(SOON) if is_native else f"Hm. {write(SOON)}")
        assert complaint == ("user", COMPLAINT)

    @ways
    @native_or_not
    async def test_after_the_last_try_it_is_a_call_as_it_is(self, way: str, is_native: bool) -> None:
        streaming = "streamed" in way
        answers = [served_native(SOON, streaming=streaming) if is_native else write(SOON) for _ in range(3)]
        with endpoint(*answers) as served:
            llm = llm_of(served, is_native=is_native, max_parse_retries=2)
            *_, last = await asked(llm, way, Planner().tool)
        assert len(served.bodies) == 3
        assert kwargs(last.message) == [SOON]
        assert told(last.message)[0]["problems"][0]["message"] == SOON_MESSAGE

    @ways
    async def test_malformed_calls_and_those_that_do_not_fit_have_one_limit(self, way: str) -> None:
        with endpoint(write(SOON)[:-3], write(SOON), write(SOON), write(FITTING)) as served:
            *_, last = await asked(llm_of(served, max_parse_retries=2), way, Planner().tool)
        assert (len(served.bodies), kwargs(last.message)) == (3, [SOON])

    @ways
    async def test_a_call_that_fits_beside_one_that_does_not_is_run_once(self, way: str) -> None:
        fits, misfits = write(FITTING), write(SOON)
        with endpoint(f"{fits}; {misfits} So.", f"{fits}; {fits}") as served:
            responses = await asked(llm_of(served, max_parse_retries=1), way, Planner().tool)
        counts = [len(kwargs(response.message)) for response in responses]
        assert counts == sorted(counts), "no call is taken back"
        assert kwargs(responses[-1].message) == [FITTING, FITTING]

    @ways
    async def test_a_call_that_fits_comes_with_the_end_of_its_answer(self, way: str) -> None:
        with endpoint(f"Hm. {write(WRITTEN)} So.") as served:
            responses = await asked(llm_of(served, max_parse_retries=1), way, Planner().tool)
        assert (responses[-1].message.content, kwargs(responses[-1].message)) == ("Hm. So.", [FITTING])
        assert not any(kwargs(response.message) for response in responses[:-1])
        if "streamed" in way:
            assert "".join(response.delta or "" for response in responses) == "Hm. So."
        assert len(served.bodies) == 1

    @ways
    async def test_without_coercion_a_call_comes_as_soon_as_it_is_whole(self, way: str) -> None:
        with endpoint(f"{write(WRITTEN)} That is it.") as served:
            responses = await asked(llm_of(served, max_parse_retries=1, coerce_arguments=False), way, Planner().tool)
        assert [kwargs(response.message) for response in responses[-2:]] == [[WRITTEN]] * min(2, len(responses))

    def test_a_piece_of_the_reasoning_is_not_repeated_with_the_withheld_call(self) -> None:
        turn = ToolTurn(
            [ChatMessage(content="Plan!")],
            tools=declare_llama_index_tools([Planner().tool]).values(),
            on_unknown_tool="call",
            prompt_format="json",
            only_first=False,
            is_required=False,
            coerce_arguments=True,
            retries=1,
        ).stream()
        message = ChatMessage(role="assistant", content=write(FITTING))
        first = turn.feed(ChatResponse(message=message, additional_kwargs={"thinking_delta": "Hm.", "other": 1}))
        [last] = turn.flush()
        assert (kwargs(first.message), kwargs(last.message)) == ([], [FITTING])
        assert (first.additional_kwargs["thinking_delta"], last.additional_kwargs) == ("Hm.", {"other": 1})

    @pytest.mark.parametrize("prompt_format", get_args(PromptFormat))
    def test_the_model_sees_what_it_wrote_in_its_own_form(self, prompt_format: PromptFormat) -> None:
        wrote = render_tool_call("plan", SOON, prompt_format=prompt_format)
        with endpoint(wrote, write(FITTING)) as served:
            llm = llm_of(served, max_parse_retries=1, prompt_format=prompt_format)
            llm.chat_with_tools([Planner().tool], "Plan!")
        assert served.messages(1)[-2] == ("assistant", wrote)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"stops": STOPS, "days": 30}, "$.days: expected at most 14, got the integer 30"),
            ({}, "$.stops: missing, expected array"),
            ({"stops": [{"city": "Rome", "nights": "two"}]}, "$.stops[0].nights: expected integer, got the string"),
            ({"stops": STOPS, "budget": "high"}, "$.budget"),
            ({"stops": STOPS, "pace": "quick"}, '$.pace: expected "slow" or "fast", got the string "quick"'),
            ({"stops": STOPS, "start": "now"}, "$.start: expected integer or object, got the string"),
            ({"stops": STOPS, "start": {}}, "$.start: "),
        ],
    )
    def test_the_model_is_told_what_it_can_mend(self, arguments: dict[str, Any], message: str) -> None:
        with endpoint(write(arguments), write(FITTING)) as served:
            llm_of(served, max_parse_retries=1).chat_with_tools([Planner().tool], "Plan!")
        assert f"- plan: {message}" in served.messages(1)[-1][1]

    def test_a_parameter_that_nobody_declared_is_not_sent_back(self) -> None:
        with endpoint(write({**FITTING, "mood": "good"})) as served:
            llm_of(served, max_parse_retries=1).chat_with_tools([Planner().tool], "Plan!")
        assert len(served.bodies) == 1

    def test_without_the_extra_the_coercion_says_what_does_not_fit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "llama3_tools.arguments.standard", raising=False)
        monkeypatch.setitem(sys.modules, "jsonschema", None)
        with endpoint(write({"stops": STOPS, "days": 30}), write(SOON), write(FITTING)) as served:
            llm = llm_of(served, max_parse_retries=1)
            assert kwargs(llm.chat_with_tools([Planner().tool], "Plan!").message) == [{"stops": STOPS, "days": 30}]
            assert kwargs(llm.chat_with_tools([Planner().tool], "Plan!").message) == [FITTING]
        assert f"- plan: {SOON_MESSAGE}" in served.messages(2)[-1][1]

    async def test_an_agent_runs_the_call_that_fits_and_no_other(self) -> None:
        planner = Planner()
        with endpoint(write(SOON), write(WRITTEN), "Done.") as served:
            agent = FunctionAgent(tools=[planner.tool], llm=llm_of(served, max_parse_retries=1))
            assert str(await agent.run("Plan!")) == "Done."
        assert planner.given == [FITTING]
        assert "do not fit" not in json.dumps(served.bodies[2]), "it is no part of the conversation"


class TestTheParser:
    def test_off_by_default(self) -> None:
        output = Llama3JsonToolOutputParser([Planner().tool]).parse(write(WRITTEN))
        assert output.tool_calls[0].tool_kwargs == WRITTEN
        assert told(output.to_chat_message()) is None

    async def test_on_whole_and_streamed(self) -> None:
        parser = Llama3JsonToolOutputParser([Planner().tool], coerce_arguments=True)
        output = parser.parse(write(WRITTEN))
        llm = ScriptedLLM(chunks=list(write(WRITTEN)))
        messages = [
            output.to_chat_message(),
            parser.promote(llm.complete("?")).message,
            list(parser.stream(llm.stream_complete("?")))[-1].message,
            [response async for response in parser.astream(await llm.astream_complete("?"))][-1].message,
        ]
        assert output.tool_calls[0].tool_kwargs == FITTING
        assert [change.path for change in output.extraction.tool_calls[0].changes] == [
            "$.stops",
            "$.tags",
            "$.budget",
            "$.days",
        ]
        for message in messages:
            assert kwargs(message) == [FITTING]
            assert [change["path"] for change in told(message)[0]["changes"]] == [
                "$.stops",
                "$.tags",
                "$.budget",
                "$.days",
            ]

    def test_it_needs_tools_to_go_by(self) -> None:
        with pytest.raises(ValueError, match="coerce_arguments goes by the schemas of the tools"):
            Llama3JsonToolOutputParser(coerce_arguments=True)


class TestReAct:
    @pytest.mark.parametrize(
        "output",
        [
            f"Thought: Now.\n{write({'stops': '[]', 'days': 'soon'})}",
            'Thought: Now.\nAction: plan\nAction Input: {"stops": "[]", "days": "soon"}',
        ],
        ids=["a call", "LlamaIndex's form"],
    )
    def test_a_step_has_arguments_that_fit_and_tells_of_them(self, output: str) -> None:
        step: Any = Llama3ReActOutputParser([Planner().tool]).parse(output)
        assert (step.thought, step.action_input) == ("Now.", {"stops": [], "days": "soon"})
        assert [change.path for change in step.changes] == ["$.stops"]
        assert [problem.message for problem in step.problems] == [SOON_MESSAGE]
        assert type(step).model_validate_json(step.model_dump_json()) == step
        for parser in (
            Llama3ReActOutputParser(),
            Llama3ReActOutputParser([Planner().tool], coerce_arguments=False),
            Llama3ReActOutputParser([]),
        ):
            plain: Any = parser.parse(output)
            assert (plain.action_input, plain.changes) == ({"stops": "[]", "days": "soon"}, ())

    @streamed_or_not
    async def test_an_agent_s_tool_gets_them_and_the_model_is_told_what_did_not_fit(self, streaming: bool) -> None:
        planner = Planner()
        misfitting = {**SOON, "mood": "good"}
        thoughts = [f"Thought: Now.\n{write(arguments)}" for arguments in (misfitting, WRITTEN)]
        with endpoint(*thoughts, "Thought: I can answer now.\nAnswer: Done.") as served:
            agent = ReActAgent(
                tools=[planner.tool],
                llm=served.llm(),
                output_parser=Llama3ReActOutputParser([planner.tool]),
                formatter=Llama3ReActChatFormatter(),
                streaming=streaming,
            )
            assert str(await agent.run("Plan!")) == "Done."
        assert planner.given == [misfitting, FITTING]
        assert served.messages(1)[-1][1].endswith(f"\n(The arguments did not fit. {SOON_MESSAGE})")
        assert served.messages(2)[-1][1] == "Observation: Planned for 10 days"


def test_a_schema_that_no_validator_takes_is_gone_by_as_far_as_it_can_be_read() -> None:
    class Metadata(ToolMetadata):
        def get_parameters_dict(self) -> dict[str, Any]:
            days = {"type": "integer", "maximum": "14"}
            return {"type": "object", "properties": {"days": days}, "required": ["days"]}

    tool = FunctionTool(fn=lambda days: days, metadata=Metadata(name="plan", description="Plan."))
    with endpoint(write({"days": "soon"}), write({"days": "3"})) as served:
        message = llm_of(served, max_parse_retries=1).chat_with_tools([tool], "Plan!").message
    assert kwargs(message) == [{"days": 3}]
    assert f"- plan: {SOON_MESSAGE}" in served.messages(1)[-1][1]
