"""Your own LangGraph graph on a local Llama 3: a node with `Llama3ToolModel`, a `ToolNode`, and the edges between them.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: a small server plays scripted answers.

    python langgraph_agent.py

To ask a real model, pass its server's address, and a question if you like:

    Ollama         python langgraph_agent.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python langgraph_agent.py --base-url http://localhost:8080/v1
    LM Studio      python langgraph_agent.py --base-url http://localhost:1234/v1
    vLLM           python langgraph_agent.py --base-url http://localhost:8000/v1

OPENAI_BASE_URL and OPENAI_API_KEY also set the server. The tools go into the prompt, not into the request's `tools`. So
no server needs a flag or a template for them.
"""

from __future__ import annotations

import missing_packages  # noqa: F401 (first: it says how to install what is missing)

# isort: split

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from agent_program import chat_model, get_weather, run, subtract
from endpoints.connect import Endpoint
from langchain_llama3_tools import Llama3ToolModel


def ask(endpoint: Endpoint, question: str) -> Iterator[BaseMessage]:
    """Ask the graph, and give its stream of messages."""
    tools: list[Callable[..., object]] = [get_weather, subtract]
    model = Llama3ToolModel(chat_model(endpoint)).bind_tools(tools)

    def call_model(state: MessagesState) -> MessagesState:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    stream: Iterator[Any] = graph.compile().stream({"messages": [HumanMessage(question)]}, stream_mode="messages")
    for message, _ in stream:
        yield message


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the example."""
    return run("langgraph_agent", ask, "A LangGraph graph whose model writes its calls as text.", arguments)


if __name__ == "__main__":
    sys.exit(main())
