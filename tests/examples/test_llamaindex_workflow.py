"""The Workflow of the examples, where a call comes to nothing."""

from __future__ import annotations

from llama_index.core.tools import FunctionTool

from integrations.llamaindex.endpoint import endpoint, fail, get_time
from llama3_tools import render_tool_call
from llama_index_llama3_tools import Llama3ToolLLM
from llamaindex_workflow import Assistant


async def test_the_model_is_told_of_an_error() -> None:
    call = render_tool_call("fail", {"reason": "paper"})
    with endpoint(call, "Sorry.") as served:
        tools = [FunctionTool.from_defaults(fn) for fn in (get_time, fail)]
        answer = await Assistant(Llama3ToolLLM(served.llm()), tools).run(question="Time?")
    assert answer == "Sorry."
    _, wrote, result = served.messages(1)
    assert wrote == ("assistant", call)
    assert result[0] == "user"
    assert "Error of fail: Encountered error: out of paper" in result[1]
