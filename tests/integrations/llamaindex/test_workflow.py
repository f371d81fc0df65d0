"""The parser in the steps of a Workflow."""

from __future__ import annotations

from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import acall_tool_with_selection
from llama_index.core.workflow import Context, Event, JsonSerializer, StartEvent, StopEvent, Workflow, step

from integrations.llamaindex.endpoint import get_weather
from integrations.llamaindex.scripted import CALL, ScriptedLLM
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolOutput

OUTPUT = f"Let me check. {CALL} One moment."


TOOL = FunctionTool.from_defaults(get_weather)


class Parsed(Event):
    """A model output, taken apart."""

    output: Llama3ToolOutput


class Ask(Workflow):
    """Asks, and runs what the model calls."""

    @step
    async def ask(self, event: StartEvent) -> Parsed:
        response = await ScriptedLLM(chunks=[OUTPUT]).achat([ChatMessage(content=event.question)])
        return Parsed(output=Llama3JsonToolOutputParser([TOOL]).parse(response.message.content or ""))

    @step
    async def run_tools(self, ctx: Context, event: Parsed) -> StopEvent:
        await ctx.store.set("output", event.output)
        results = [await acall_tool_with_selection(call, [TOOL]) for call in event.output.tool_calls]
        return StopEvent(result=[str(event.output), *(result.content for result in results)])


async def test_an_output_travels_between_steps_and_in_a_context_that_is_saved_and_restored() -> None:
    workflow = Ask()
    handler = workflow.run(question="Weather?")
    assert await handler == ["Let me check. One moment.", "Sun in Paris"]
    assert handler.ctx is not None
    saved = handler.ctx.to_dict(serializer=JsonSerializer())
    restored = Context.from_dict(workflow, saved, serializer=JsonSerializer())
    output = await restored.store.get("output")
    assert isinstance(output, Llama3ToolOutput)
    [call] = output.report.calls
    assert (output.text, call.arguments) == ("Let me check. One moment.", {"city": "Paris"})
    assert [call.tool_name for call in output.tool_calls] == ["get_weather"]
