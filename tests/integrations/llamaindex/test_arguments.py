"""Arguments that do not fit the schema of their tool: made to fit, and told of."""

from __future__ import annotations

import json

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage

from chunkings import chunkings
from integrations.llamaindex.endpoint import endpoint
from integrations.llamaindex.scripted import ScriptedLLM
from integrations.llamaindex.test_servers import native
from integrations.llamaindex.trips import (
    FITTING,
    SOON,
    SOON_MESSAGE,
    STOPS,
    WRITTEN,
    Planner,
    Trip,
    asked,
    kwargs,
    llm_of,
    native_or_not,
    served_native,
    streamed_or_not,
    told,
    ways,
    write,
)
from llama_index_llama3_tools import (
    Llama3JsonToolOutputParser,
    Llama3ToolLLM,
)


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
            ("user", "Result of plan: Planned for 10 days"),
        ]
        assert "coerced_arguments" not in json.dumps(served.bodies)

    @ways
    @native_or_not
    async def test_the_message_tells_what_was_changed_and_what_does_not_fit(self, way: str, is_native: bool) -> None:
        written = {"stops": "[]", "days": "soon", "mood": 1}
        answer = served_native(written, streaming="streamed" in way) if is_native else write(written)
        with endpoint(answer) as served:
            *_, last = await asked(llm_of(served, is_native=is_native, max_retries=0), way, Planner().tool)
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
            llm = llm_of(served, is_native=is_native, coerce_arguments=False)
            *_, last = await asked(llm, way, Planner().tool)
        assert (kwargs(last.message), told(last.message)) == ([WRITTEN], None)

    def test_arguments_that_fit_are_not_told_of(self) -> None:
        with endpoint(write(FITTING)) as served:
            message = llm_of(served).chat_with_tools([Planner().tool], "Plan!").message
        assert (kwargs(message), told(message)) == ([FITTING], None)

    def test_those_of_an_unknown_tool_stay_as_they_are(self) -> None:
        with endpoint(write(WRITTEN, name="other"), native(("1", "other", '{"days": "3"}'))) as served:
            text = llm_of(served, on_unknown_tool="call").chat_with_tools([Planner().tool], "Plan!").message
            found = (
                llm_of(served, is_native=True, on_unknown_tool="call")
                .chat_with_tools([Planner().tool], "Plan!")
                .message
            )
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

    @streamed_or_not
    async def test_what_does_not_fit_reaches_the_tool_and_the_model_is_told_why_that_failed(
        self, streaming: bool
    ) -> None:
        planner = Planner()
        with endpoint(write({**SOON, "mood": "good"}), write({"stops": STOPS, "days": 3}), "Done.") as served:
            agent = FunctionAgent(tools=[planner.tool], llm=llm_of(served, max_retries=0), streaming=streaming)
            assert str(await agent.run("Plan!")) == "Done."
        assert [arguments["days"] for arguments in planner.given] == ["soon", 3]
        role, result = served.messages(1)[-1]
        assert role == "user"
        assert result.startswith("Result of plan: unsupported operand type(s)")
        assert result.endswith(f"\n(The arguments did not fit. {SOON_MESSAGE})")
        assert served.messages(2)[-1] == ("user", "Result of plan: Planned for 10 days")


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
        paths = ["$.stops", "$.tags", "$.budget", "$.days"]
        assert [change.path for change in output.report.calls[0].changes] == paths
        for message in messages:
            assert kwargs(message) == [FITTING]
            assert [change["path"] for change in told(message)[0]["changes"]] == paths

    def test_it_needs_tools_to_go_by(self) -> None:
        with pytest.raises(ValueError, match="coerce_arguments needs the schemas of the tools"):
            Llama3JsonToolOutputParser(coerce_arguments=True)
