"""Arguments that do not fit, sent back to the model, which writes its answer again."""

from __future__ import annotations

import json
import sys
from typing import Any, get_args

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.tools import FunctionTool, ToolMetadata

from integrations.llamaindex.endpoint import endpoint
from integrations.llamaindex.test_servers import native, native_stream, piece
from integrations.llamaindex.trips import (
    COMPLAINT,
    FITTING,
    SOON,
    SOON_MESSAGE,
    STOPS,
    WRITTEN,
    Planner,
    asked,
    kwargs,
    llm_of,
    native_or_not,
    served_native,
    told,
    ways,
    write,
)
from llama3_tools import Limits, PromptFormat, render_tool_call
from llama_index_llama3_tools.reading import Reading
from llama_index_llama3_tools.tools import read_tools
from llama_index_llama3_tools.turn import ToolTurn


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
            tools=read_tools([Planner().tool]),
            on_unknown_tool="call",
            prompt_format="json",
            only_first=False,
            is_required=False,
            coerce_arguments=True,
            reading=Reading(),
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

    @ways
    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [('{"days": [[1]]}', "(too_deep): arguments nested deeper than 2 levels"), ('{"days": 1', "(truncated): ")],
    )
    async def test_of_a_call_of_the_server_that_cannot_be_run_the_model_is_told_why(
        self, way: str, arguments: str, reason: str
    ) -> None:
        streaming = "streamed" in way
        answer = native_stream(piece(0, arguments, "1", "plan")) if streaming else native(("1", "plan", arguments))
        with endpoint(answer, served_native(WRITTEN, streaming=streaming)) as served:
            llm = llm_of(served, is_native=True, max_parse_retries=1, limits=Limits(max_depth=2))
            *_, last = await asked(llm, way, Planner().tool)
        assert [arguments["days"] for arguments in kwargs(last.message)] == [3]
        assert f"holds a function call that cannot be read:\n- plan {reason}" in served.messages(1)[-1][1]

    @native_or_not
    def test_nor_is_a_call_of_a_tool_that_nobody_declared(self, is_native: bool) -> None:
        answer = native(("1", "other", '{"days": "soon"}')) if is_native else write({"days": "soon"}, name="other")
        with endpoint(answer) as served:
            llm = llm_of(served, is_native=is_native, max_parse_retries=1)
            message = llm.chat_with_tools([Planner().tool], "Plan!").message
        assert (len(served.bodies), kwargs(message)) == (1, [{"days": "soon"}])

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
