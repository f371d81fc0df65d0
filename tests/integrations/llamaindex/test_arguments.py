"""Arguments that do not fit the schema of their tool: made to fit, and told of."""

from __future__ import annotations

import json

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage

from integrations.llamaindex.endpoint import endpoint
from integrations.llamaindex.scripted import ScriptedLLM, calls_in
from integrations.llamaindex.trips import (
    FITTING,
    WRITTEN,
    Planner,
    Trip,
    asked,
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


class TestTheParser:
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
        paths = ["$.stops", "$.tags", "$.days"]
        assert [change.path for change in output.report.calls[0].changes] == paths
        for message in messages:
            assert calls_in(message) == [("plan", FITTING)]
            assert [change["path"] for change in told(message)[0]["changes"]] == paths
