"""A LlamaIndex Workflow with a local Llama 3: one step asks the model, one runs its calls.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: a small server plays scripted answers.

    python llamaindex_workflow.py

To ask a real model, pass its server's address, and a question if you like:

    Ollama         python llamaindex_workflow.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python llamaindex_workflow.py --base-url http://localhost:8080/v1
    vLLM           python llamaindex_workflow.py --base-url http://localhost:8000/v1
    LM Studio      python llamaindex_workflow.py --base-url http://localhost:1234/v1

OPENAI_BASE_URL and OPENAI_API_KEY also set the server.
"""

from __future__ import annotations

import missing_packages  # noqa: F401 (first: it says how to install what is missing)

# isort: split

import json
import sys

from llama_index.core.llms import ChatMessage
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import acall_tool_with_selection
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step

from endpoints.connect import Endpoint
from llama_index_llama3_tools import Llama3ToolLLM
from llamaindex_program import Program, chat_model, written
from screen import Transcript


def get_time(city: str) -> str:
    """Return the current time in a city."""
    return {"Oslo": "09:15", "Tokyo": "17:15"}.get(city, "unknown")


class Asked(Event):
    """The model is to be asked."""

    messages: list[ChatMessage]


class Called(Event):
    """The model has called tools."""

    messages: list[ChatMessage]
    calls: list[ToolSelection]


class Said(Event):
    """A piece of text has come."""

    delta: str


class Returned(Event):
    """A tool is done."""

    call: ToolSelection
    result: str


class Assistant(Workflow):
    """Asks the model until it answers without a call."""

    def __init__(self, llm: Llama3ToolLLM, tools: list[FunctionTool]) -> None:
        """Take the model and its tools."""
        super().__init__(timeout=120)
        self._llm = llm
        self._tools = tools

    @step
    async def begin(self, event: StartEvent) -> Asked:
        """Put the question."""
        return Asked(messages=[ChatMessage(content=event.question)])

    @step
    async def ask(self, ctx: Context, event: Asked) -> Called | StopEvent:
        """Ask the model, and show its text as it comes."""
        stream = await self._llm.astream_chat_with_tools(
            self._tools, chat_history=event.messages, allow_parallel_tool_calls=True
        )
        async for response in stream:
            ctx.write_event_to_stream(Said(delta=response.delta or ""))
        messages = [*event.messages, response.message]
        calls = self._llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
        return Called(messages=messages, calls=calls) if calls else StopEvent(result=response.message.content)

    @step
    async def run_tools(self, ctx: Context, event: Called) -> Asked:
        """Run the calls, and tell the model what they gave."""
        messages = list(event.messages)
        for call in event.calls:
            result = str(await acall_tool_with_selection(call, self._tools))
            ctx.write_event_to_stream(Returned(call=call, result=result))
            messages.append(ChatMessage(role="tool", content=result, additional_kwargs={"tool_call_id": call.tool_id}))
        return Asked(messages=messages)


async def ask(endpoint: Endpoint, question: str, transcript: Transcript) -> None:
    """Run the Workflow, and show what it does."""
    workflow = Assistant(Llama3ToolLLM(chat_model(endpoint)), [FunctionTool.from_defaults(get_time)])
    handler = workflow.run(question=question)
    async for event in handler.stream_events():
        if isinstance(event, Said):
            transcript.text(event.delta)
        elif isinstance(event, Returned):
            transcript.call(event.call.tool_name, json.dumps(event.call.tool_kwargs, ensure_ascii=False))
            transcript.result(event.call.tool_name, event.result)
    await handler


PROGRAM = Program(
    file=__file__,
    description="A LlamaIndex Workflow with a local Llama 3.",
    question="What time is it in Tokyo?",
    script=written(
        'One moment. {"name": "get_time", "parameters": {"city": "Tokyo"}}',
        "It is a quarter past five in the afternoon.",
    ),
    ask=ask,
)

if __name__ == "__main__":
    sys.exit(PROGRAM.main())
