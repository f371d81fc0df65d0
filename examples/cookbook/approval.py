"""A LangChain agent on a local Llama 3: `create_agent` with `Llama3ToolModel`.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: a small server plays scripted answers.

    python langchain_agent.py

To ask a real model, pass its server's address, and a question if you like:

    Ollama         python langchain_agent.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python langchain_agent.py --base-url http://localhost:8080/v1
    LM Studio      python langchain_agent.py --base-url http://localhost:1234/v1
    vLLM           python langchain_agent.py --base-url http://localhost:8000/v1

OPENAI_BASE_URL and OPENAI_API_KEY also set the server. The tools go into the prompt, not into the request's `tools`. So
no server needs a flag or a template for them.
"""

from __future__ import annotations

import missing_packages  # noqa: F401 (first: it says how to install what is missing)

# isort: split

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage

from agent_program import chat_model, get_weather, run, subtract
from endpoints.connect import Endpoint
from langchain_llama3_tools import Llama3ToolModel


def ask(endpoint: Endpoint, question: str) -> Iterator[BaseMessage]:
    """Ask the agent, and give its stream of messages."""
    agent = create_agent(Llama3ToolModel(chat_model(endpoint)), [get_weather, subtract])
    stream: Iterator[Any] = agent.stream({"messages": [HumanMessage(question)]}, stream_mode="messages")
    for message, _ in stream:
        yield message


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the example."""
    return run("langchain_agent", ask, "A LangChain agent whose model writes its calls as text.", arguments)


if __name__ == "__main__":
    sys.exit(main())
