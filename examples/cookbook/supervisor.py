"""A supervisor with two workers in LangChain: each worker is an agent, and a tool of the supervisor.

python examples/cookbook/supervisor.py
python examples/cookbook/supervisor.py --base-url http://localhost:11434/v1 --model llama3.1     # Ollama
"""

from __future__ import annotations

import sys

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_ollama import ChatOllama
from program import run

from langchain_llama3_tools import Llama3ToolModel


def look_up(topic: str) -> str:
    """Look up a person or a place, such as the mayor of a city."""
    print(f"  look_up({topic!r})")
    return "Anne Lindboe is the mayor of Oslo"


def multiply(a: int, b: int) -> str:
    """Multiply two numbers: a times b."""
    print(f"  multiply({a}, {b})")
    return f"{a} times {b} is {a * b}"


def answer(llm: BaseChatModel, question: str) -> str:
    """Let the supervisor answer a question."""
    model = Llama3ToolModel(llm)
    researcher = create_agent(model, [look_up], system_prompt="You look things up.")
    calculator = create_agent(model, [multiply], system_prompt="You calculate.")

    def ask_researcher(question: str) -> str:
        """Ask the researcher about people and places."""
        print(f"researcher: {question}")
        return str(researcher.invoke({"messages": [("user", question)]})["messages"][-1].text)

    def ask_calculator(question: str) -> str:
        """Ask the calculator for the result of a calculation."""
        print(f"calculator: {question}")
        return str(calculator.invoke({"messages": [("user", question)]})["messages"][-1].text)

    supervisor = create_agent(model, [ask_researcher, ask_calculator], system_prompt="Give each worker its part.")
    last = supervisor.invoke({"messages": [("user", question)]}, {"max_concurrency": 1})["messages"][-1]
    return str(last.text) if isinstance(last, AIMessage) else ""


def main(base_url: str, model: str) -> None:
    """Ask a question that needs both workers."""
    llm = ChatOllama(base_url=base_url.removesuffix("/v1"), model=model, temperature=0)
    print(f"supervisor: {answer(llm, 'Who is the mayor of Oslo, and what is 17 times 23?')}")


if __name__ == "__main__":
    sys.exit(run(main, __doc__))
