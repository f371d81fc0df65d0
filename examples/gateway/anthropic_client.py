"""An agent with tools by Anthropic's SDK, on a server without tool calls. The program only knows the gateway's address.

pip install anthropic
llama3-tools serve http://localhost:11434/v1    # Ollama; the others: see gateway.toml
python anthropic_client.py "How is the weather in Paris?"

ANTHROPIC_BASE_URL is the gateway's address, without /v1, MODEL the model's name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from anthropic import Anthropic, beta_tool


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: the city's name.
    """
    print(f"[get_weather {city}]")
    return f"Sun in {city}"


def answer(client: Anthropic, model: str, question: str) -> str:
    """Ask the model, let the SDK run the tools that it calls, and return its answer."""
    runner = client.beta.messages.tool_runner(
        model=model,
        max_tokens=1000,
        messages=[{"role": "user", "content": question}],
        tools=[beta_tool(get_weather)],
        max_iterations=5,
    )
    return "".join(block.text for block in runner.until_done().content if block.type == "text")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the answer to the question on the command line."""
    words = sys.argv[1:] if arguments is None else arguments
    question = words[0] if words else "How is the weather in Paris?"
    base_url = os.environ.get("ANTHROPIC_BASE_URL", "http://localhost:8089")
    with Anthropic(base_url=base_url, api_key=os.environ.get("ANTHROPIC_API_KEY", "none")) as client:
        print(answer(client, os.environ.get("MODEL", "llama3.1"), question))


if __name__ == "__main__":
    main()
