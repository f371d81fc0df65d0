"""A LangGraph agent that remembers, and asks a person before it refunds.

python examples/cookbook/approval.py
python examples/cookbook/approval.py --base-url http://localhost:11434/v1 --model llama3.1
"""

from __future__ import annotations

import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from program import run
from pydantic import SecretStr

from langchain_llama3_tools import Llama3ToolModel


def refund(order: int, euros: int) -> str:
    """Refund an order."""
    if interrupt(f"Refund {euros} euros of order {order}?") != "yes":
        return "A person refused this refund."
    return f"{euros} euros of order {order} are refunded."


def answer(agent: Any, question: str, thread: str) -> str:  # noqa: ANN401 (a graph has six type parameters)
    """Ask the agent, and a person whenever a tool wants to know."""
    config = {"configurable": {"thread_id": thread}}
    state = agent.invoke({"messages": [("user", question)]}, config)
    while pending := state.get("__interrupt__"):
        state = agent.invoke(Command(resume={each.id: input(f"{each.value} yes/no: ") for each in pending}), config)
    return str(state["messages"][-1].text)


def build(llm: BaseChatModel) -> Any:  # noqa: ANN401 (the same)
    """Return the agent. Another checkpointer, such as a database, keeps the memory for longer."""
    return create_agent(Llama3ToolModel(llm), [refund], checkpointer=InMemorySaver())


def main(base_url: str, model: str) -> None:
    """Ask twice in one conversation."""
    agent = build(ChatOpenAI(base_url=base_url, api_key=SecretStr("none"), model=model, temperature=0))
    for question in ("Please refund order 4711, 20 euros.", "Which order was that?"):
        print(f"you    {question}")
        print(f"agent  {answer(agent, question, 'customer-1')}")


if __name__ == "__main__":
    sys.exit(run(main, __doc__))
