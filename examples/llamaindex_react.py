"""A LlamaIndex ReAct agent with a local Llama 3: `ReActAgent`, with the parser made for its calls.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: a small server plays scripted answers.

    python llamaindex_react.py

To ask a real model, pass its server's address, and a question if you like:

    Ollama         python llamaindex_react.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python llamaindex_react.py --base-url http://localhost:8080/v1
    vLLM           python llamaindex_react.py --base-url http://localhost:8000/v1
    LM Studio      python llamaindex_react.py --base-url http://localhost:1234/v1

OPENAI_BASE_URL and OPENAI_API_KEY also set the server.
"""

from __future__ import annotations

import missing_packages  # noqa: F401 (first: it says how to install what is missing)

# isort: split

import json
import sys

from llama_index.core.agent.workflow import AgentStream, ReActAgent, ToolCall, ToolCallResult

from endpoints.connect import Endpoint
from llama_index_llama3_tools import Llama3ReActOutputParser
from llamaindex_program import Program, chat_model, written
from screen import Transcript


def get_height(mountain: str) -> str:
    """Return the height of a mountain, in metres."""
    return {"Kilimanjaro": "5895", "Mont Blanc": "4806"}.get(mountain, "unknown")


async def ask(endpoint: Endpoint, question: str, transcript: Transcript) -> None:
    """Ask the agent, and show what it does. ReAct streams what the model writes as it is, calls too."""
    agent = ReActAgent(
        tools=[get_height],
        llm=chat_model(endpoint),
        output_parser=Llama3ReActOutputParser(tools=[get_height]),
    )
    handler = agent.run(question)
    async for event in handler.stream_events():
        if isinstance(event, AgentStream):
            transcript.text(event.delta)
        elif isinstance(event, ToolCallResult):
            transcript.result(event.tool_name, event.tool_output.content)
        elif isinstance(event, ToolCall):
            transcript.call(event.tool_name, json.dumps(event.tool_kwargs, ensure_ascii=False))
    transcript.end()
    transcript.text(f"{await handler}")


PROGRAM = Program(
    file=__file__,
    description="A LlamaIndex ReActAgent with a local Llama 3.",
    question="How high is Kilimanjaro?",
    script=written(
        'Thought: I need its height.\n{"name": "get_height", "parameters": {"mountain": "Kilimanjaro"}}',
        "Thought: I can answer now.\nAnswer: Kilimanjaro is 5895 metres high.",
    ),
    ask=ask,
)

if __name__ == "__main__":
    sys.exit(PROGRAM.main())
