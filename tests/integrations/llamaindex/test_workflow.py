"""The parser in the steps of a Workflow."""

from __future__ import annotations

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import acall_tool_with_selection
from llama_index.core.workflow import Context, Event, JsonSerializer, StartEvent, StopEvent, Workflow, step

from integrations.llamaindex.scripted import CALL, ScriptedLLM
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolOutput

OUTPUT = f"Let me check. {CALL} One moment."


def get_weather(city: str) -> str:
    """Return the weather of a city."""
    return f"Sun in {city}"


TOOL = FunctionTool.from_defaults(get_weather)


class Parsed(Event):
    """A model output, taken apart."""

    output: Llama3ToolOutput


class Said(Event):
    """A piece of text."""

    text: str


class Called(Event):
    """A call, as soon as it is complete."""

    name: str


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


class Stream(Workflow):
    """Shows the text as it comes."""

    @step
    async def ask(self, ctx: Context, event: StartEvent) -> StopEvent:
        llm = ScriptedLLM(chunks=list(OUTPUT))
        response = ChatResponse(message=ChatMessage())
        shown = 0
        stream = await llm.astream_chat([ChatMessage(content=event.question)])
        async for response in Llama3JsonToolOutputParser().astream(stream):
            if response.delta:
                ctx.write_event_to_stream(Said(text=response.delta))
            calls = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
            for call in calls[shown:]:
                ctx.write_event_to_stream(Called(name=call.tool_name))
            shown = len(calls)
        return StopEvent(result=response.message)


async def test_an_output_travels_between_steps() -> None:
    assert await Ask().run(question="Weather?") == ["Let me check. One moment.", "Sun in Paris"]


async def test_an_output_is_kept_in_a_context_that_is_saved_and_restored() -> None:
    workflow = Ask()
    handler = workflow.run(question="Weather?")
    await handler
    assert handler.ctx is not None
    saved = handler.ctx.to_dict(serializer=JsonSerializer())
    restored = Context.from_dict(workflow, saved, serializer=JsonSerializer())
    output = await restored.store.get("output")
    assert isinstance(output, Llama3ToolOutput)
    [call] = output.report.calls
    assert (output.text, call.arguments) == ("Let me check. One moment.", {"city": "Paris"})
    assert [call.tool_name for call in output.tool_calls] == ["get_weather"]


async def test_text_and_calls_arrive_apart_while_a_step_runs() -> None:
    handler = Stream().run(question="Weather?")
    events = [event async for event in handler.stream_events()]
    assert "".join(event.text for event in events if isinstance(event, Said)) == "Let me check. One moment."
    kinds = [type(event).__name__ for event in events]
    assert kinds.index("Called") < len(kinds) - 1 - kinds[::-1].index("Said")
    message = await handler
    assert message.content == "Let me check. One moment."
    assert [block.tool_name for block in message.blocks if isinstance(block, ToolCallBlock)] == ["get_weather"]
