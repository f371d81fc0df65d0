"""A LangChain agent on a model that thinks before it answers, in `<think>…</think>`: no call in a thought runs.

python examples/cookbook/thinking.py
python examples/cookbook/thinking.py --base-url http://localhost:11434/v1 --model deepseek-r1:8b
"""

from __future__ import annotations

import sys

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from program import run
from pydantic import SecretStr

from langchain_llama3_tools import Llama3ToolModel


def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Rain in {city}"


def ask(llm: BaseChatModel, question: str) -> None:
    """Ask an agent, and show its thoughts, its calls and its answers apart."""
    agent = create_agent(Llama3ToolModel(llm, split_reasoning=True), [get_weather])
    for message in agent.invoke({"messages": [("user", question)]})["messages"]:
        if isinstance(message, AIMessage):
            print("thought:", message.additional_kwargs.get("reasoning_content"))
            print("calls:  ", [call["args"] for call in message.tool_calls])
            print("text:   ", message.text)


def main(base_url: str, model: str) -> None:
    """Ask a question to think about."""
    llm = ChatOpenAI(base_url=base_url, api_key=SecretStr("none"), model=model, temperature=0)
    ask(llm, "Do I need an umbrella in Bergen? Look at the weather.")


if __name__ == "__main__":
    sys.exit(run(main, __doc__))
