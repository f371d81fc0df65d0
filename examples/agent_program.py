"""What the examples of LangChain agents share: the command line, the endpoint, and how an agent's stream is shown."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from rich.console import Console

from endpoints.connect import Endpoint
from endpoints.options import add_endpoint_options
from endpoints.program import run_program
from endpoints.script import Turn, cut_at

Ask = Callable[[Endpoint, str], Iterator[BaseMessage]]
"""Asks an agent, and gives the messages and chunks of messages of its stream."""

ANSWERS = (
    """I will look up both.
{"name": "get_weather", "parameters": {"city": "Oslo"}}; {"name": "get_weather", "parameters": {"city": "Rome"}}""",
    'Now the difference. {"name": "subtract", "parameters": {"a": 24, "b": 7}}',
    "Rome has 24 degrees and Oslo has 7, so Rome is 17 degrees warmer.",
)
"""What the embedded endpoint answers, one after another: two calls, a call of another tool, the answer."""

QUESTION = "How much warmer is it in Rome than in Oslo?"


def get_weather(city: str) -> str:
    """Return the weather of a city."""
    return f"{city}: sunny, {7 if city == 'Oslo' else 24} degrees"


def subtract(a: float, b: float) -> float:
    """Subtract b from a."""
    return a - b


def chat_model(endpoint: Endpoint) -> ChatOpenAI:
    """Return LangChain's client for the endpoint. Nothing in it knows of tools."""
    return ChatOpenAI(
        base_url=endpoint.base_url,
        api_key=SecretStr(endpoint.api_key),
        model=endpoint.model,
        temperature=0,
        extra_body=dict(endpoint.settings),
    )


def show(console: Console, messages: Iterable[BaseMessage]) -> None:
    """Show a stream as it comes: text in green, calls in cyan, results dim, each on lines of their own."""
    is_within_text = False

    def line(text: str, style: str) -> None:
        nonlocal is_within_text
        console.print("\n" * is_within_text + text, style=style, soft_wrap=True)
        is_within_text = False

    try:
        for message in messages:
            if isinstance(message, ToolMessage):
                line(f"result  {message.text}", "dim")
                continue
            if message.text:
                console.print(message.text if is_within_text else f"text    {message.text}", style="green", end="")
                is_within_text = True
            for call in message.tool_calls if isinstance(message, AIMessage) else ():
                line(f"call    {call['name']} {json.dumps(call['args'], ensure_ascii=False)}", "bold cyan")
    finally:
        if is_within_text:
            console.print()


def run(name: str, ask: Ask, description: str, arguments: Sequence[str] | None = None) -> int:
    """Ask a question on the endpoint that the command line names, and show what comes.

    Args:
        name: of the program.
        ask: asks the agent.
        description: of the program, for `--help`.
        arguments: those of the command line.

    Returns:
        The exit status: 0, or 1 where the endpoint could not be used.
    """
    parser = argparse.ArgumentParser(prog=f"{name}.py", description=description)
    parser.add_argument("question", nargs="?", default=QUESTION, help="what to ask (default: %(default)s)")
    add_endpoint_options(parser)
    options = parser.parse_args(arguments)
    script = [Turn(pieces=cut_at(text, *range(4, len(text), 4)), pause=options.pause) for text in ANSWERS]

    def ask_and_show(endpoint: Endpoint, console: Console) -> bool:
        console.print(f"\nQuestion: {options.question}\n", style="bold")
        show(console, ask(endpoint, options.question))
        return True

    return run_program(name, options, ask_and_show, script=script)


if __name__ == "__main__":
    programs = "langchain_agent.py, langgraph_agent.py or langchain_chain.py"
    print(f"This is what LangChain's examples share: run {programs}", file=sys.stderr)
    sys.exit(2)
