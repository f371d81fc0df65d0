"""Arguments that do not fit the schema of their tool: made to fit, and told of."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage

from integrations.llamaindex.endpoint import Endpoint, endpoint
from integrations.llamaindex.scripted import ScriptedLLM, calls_in
from integrations.llamaindex.test_servers import native, native_stream, piece
from integrations.llamaindex.trips import FITTING, WRITTEN, Planner, asked, write
from integrations.llamaindex.ways import WITH_TOOLS
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolLLM

native_or_not = pytest.mark.parametrize("is_native", [True, False], ids=["native", "text"])


def written(arguments: dict[str, Any], *, is_native: bool, streaming: bool) -> Any:
    """Answer with a call, as a server does that finds it itself or leaves it in the text."""
    if not is_native:
        return write(arguments)
    text = json.dumps(arguments)
    return native_stream(piece(0, "", "1", "plan"), piece(0, text)) if streaming else native(("1", "plan", text))


def llm_of(served: Endpoint, *, is_native: bool, **options: Any) -> Llama3ToolLLM:
    options["tools_in"] = "request" if is_native else "user"
    return Llama3ToolLLM(served.llm(is_function_calling_model=is_native), **options)


class TestTheWrapper:
    @pytest.mark.parametrize("way", WITH_TOOLS)
    @native_or_not
    async def test_the_message_tells_what_was_changed_and_what_does_not_fit(self, way: str, is_native: bool) -> None:
        given = {"stops": "[]", "days": "soon", "mood": 1}
        with endpoint(written(given, is_native=is_native, streaming="stream" in way)) as served:
            *_, last = await asked(llm_of(served, is_native=is_native, max_retries=0), way, Planner().tool)
        [entry] = last.message.additional_kwargs["coerced_arguments"]
        [block] = [block for block in last.message.blocks if isinstance(block, ToolCallBlock)]
        assert block.tool_kwargs == {"stops": [], "days": "soon", "mood": 1}
        assert (entry["id"], entry["name"], json.loads(entry["written"])) == (block.tool_call_id, "plan", given)
        assert [change["path"] for change in entry["changes"]] == ["$.stops"]
        assert [problem["path"] for problem in entry["problems"]] == ["$.days", "$.mood"]
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
            assert [change["path"] for change in message.additional_kwargs["coerced_arguments"][0]["changes"]] == paths
