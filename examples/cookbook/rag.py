"""A LlamaIndex agent with a local Llama 3: `FunctionAgent` and `Llama3ToolLLM`.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: a small server plays scripted answers.

    python llamaindex_agent.py

To ask a real model, pass its server's address, and a question if you like:

    Ollama         python llamaindex_agent.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python llamaindex_agent.py --base-url http://localhost:8080/v1
    vLLM           python llamaindex_agent.py --base-url http://localhost:8000/v1
    LM Studio      python llamaindex_agent.py --base-url http://localhost:1234/v1

OPENAI_BASE_URL and OPENAI_API_KEY also set the server.
"""

from __future__ import annotations

import missing_packages  # noqa: F401 (first: it says how to install what is missing)

# isort: split

import json
import sys

from llama_index.core.agent.workflow import AgentStream, FunctionAgent, ToolCall, ToolCallResult

from endpoints.connect import Endpoint
from llama_index_llama3_tools import Llama3ToolLLM
from llamaindex_program import Program, chat_model, written
from screen import Transcript


def get_weather(city: str) -> str:
    """Return the current weather of a city."""
    return {"Oslo": "Rain, 4 degrees", "Rome": "Sun, 21 degrees"}.get(city, "No station there")


async def ask(endpoint: Endpoint, question: str, transcript: Transcript) -> None:
    """Ask the agent, and show what it does."""
    agent = FunctionAgent(tools=[get_weather], llm=Llama3ToolLLM(chat_model(endpoint)))
    handler = agent.run(question)
    async for event in handler.stream_events():
        if isinstance(event, AgentStream):
            transcript.text(event.delta)
        elif isinstance(event, ToolCallResult):
            transcript.result(event.tool_name, event.tool_output.content)
        elif isinstance(event, ToolCall):
            transcript.call(event.tool_name, json.dumps(event.tool_kwargs, ensure_ascii=False))
    await handler


PROGRAM = Program(
    file=__file__,
    description="A LlamaIndex FunctionAgent with a local Llama 3.",
    question="Do I need an umbrella in Oslo, or in Rome?",
    script=written(
        'Let me look. {"name": "get_weather", "parameters": {"city": "Oslo"}}; '
        '{"name": "get_weather", "parameters": {"city": "Rome"}}',
        "In Oslo: it rains there. In Rome the sun shines.",
    ),
    ask=ask,
)

if __name__ == "__main__":
    sys.exit(PROGRAM.main())
