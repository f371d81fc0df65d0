"""An agent with tools, in Python, on a server without tool calls. The program only knows the gateway's address.

pip install openai
llama3-tools serve http://localhost:11434/v1    # Ollama; the others: see gateway.toml
python client.py "How is the weather in Paris?"

OPENAI_BASE_URL is the gateway's address, MODEL the model's name.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from openai import OpenAI
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam

GET_WEATHER: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
_MOST_TURNS = 5


def get_weather(city: str) -> str:
    """Return the weather of a city."""
    print(f"[get_weather {city}]")
    return f"Sun in {city}"


TOOLS = {"get_weather": get_weather}


def run(name: str, arguments: str) -> str:
    """Run the tool of a name, and return its result; an error for the model, if there is none: models invent names."""
    if name not in TOOLS:
        return f"Error: there is no tool {name!r}. The tools are: {', '.join(TOOLS)}"
    return TOOLS[name](**json.loads(arguments))


def answer(client: OpenAI, model: str, question: str) -> str:
    """Ask the model, run the tools that it calls, and return its answer."""
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": question}]
    for _ in range(_MOST_TURNS):
        with client.chat.completions.stream(model=model, messages=messages, tools=[GET_WEATHER]) as stream:
            message = stream.get_final_completion().choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.to_dict())  # type: ignore[arg-type]  # which it is, as a dict
        for call in message.tool_calls:
            result = run(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "The model did not come to an end."


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the answer to the question on the command line."""
    words = sys.argv[1:] if arguments is None else arguments
    question = words[0] if words else "How is the weather in Paris?"
    base_url = os.environ.get("OPENAI_BASE_URL", "http://localhost:8089/v1")
    with OpenAI(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY", "none")) as client:
        print(answer(client, os.environ.get("MODEL", "llama3.1"), question))


if __name__ == "__main__":
    main()
