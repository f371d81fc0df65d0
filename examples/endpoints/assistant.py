"""The assistant that every example talks to: its tools, and how a small model is shown to call them.

Llama 3.1 and larger need the tool prompt alone. A model as small as SmolLM2-135M copies what it is shown, so that the
conversation starts with a few answered questions; those help a larger model too, and do not get in its way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from llama3_tools import render_tool_prompt


class Message(TypedDict):
    """One message of a conversation, in OpenAI's chat format."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Example:
    """One answered question: the text of the answer, then its calls."""

    question: str
    text: str = ""
    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()


def _tool(name: str, description: str, **parameters: tuple[str, str]) -> dict[str, object]:
    """Declare a tool by the type and the description of each parameter."""
    properties = {each: {"type": kind, "description": about} for each, (kind, about) in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": [*parameters]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = (
    _tool("get_weather", "The current weather of a city", city=("string", "Name of the city")),
    _tool("search_web", "Search the web", query=("string", "What to search for")),
    _tool(
        "set_timer",
        "Start a timer",
        minutes=("integer", "How long, in minutes"),
        label=("string", "What it is for"),
    ),
)

EXAMPLES = (
    Example(
        "How warm is it in Nairobi, and who is its mayor?",
        "I will look up both.",
        (("get_weather", {"city": "Nairobi"}), ("search_web", {"query": "mayor of Nairobi"})),
    ),
    Example("Thank you, that is nice!", "You are welcome! Ask me whenever you need something."),
    Example("What is the weather in Lisbon?", calls=(("get_weather", {"city": "Lisbon"}),)),
    Example(
        "Who won the chess world championship in 2024?",
        calls=(("search_web", {"query": "chess world championship 2024 winner"}),),
    ),
    Example("Good morning!", "Good morning! What can I do for you?"),
    Example("Set a timer for 12 minutes for the eggs.", calls=(("set_timer", {"minutes": 12, "label": "eggs"}),)),
    Example(
        "Compare the weather in Cairo and in Lima.",
        calls=(("get_weather", {"city": "Cairo"}), ("get_weather", {"city": "Lima"})),
    ),
    Example("What is a prime number?", "A prime number is a whole number above one that only one and itself divide."),
    Example(
        "Find the height of Kilimanjaro.",
        "Let me search for that.",
        (("search_web", {"query": "height of Kilimanjaro"}),),
    ),
    Example("Start a timer for 3 minutes for the noodles.", calls=(("set_timer", {"minutes": 3, "label": "noodles"}),)),
)


def write(example: Example) -> str:
    """Write an answer as Llama 3.1 does by default: the text, then bare JSON objects with `; ` between them.

    >>> print(write(EXAMPLES[8]))
    Let me search for that. {"name": "search_web", "parameters": {"query": "height of Kilimanjaro"}}
    """
    calls = "; ".join(json.dumps({"name": name, "parameters": arguments}) for name, arguments in example.calls)
    return " ".join(filter(None, (example.text, calls)))


def chat_messages(question: str) -> list[Message]:
    """Put a question to the assistant: the tool prompt before the first user message, the examples, the question.

    >>> chat_messages("What is the weather in Oslo?")[-1]
    {'role': 'user', 'content': 'What is the weather in Oslo?'}
    """
    messages: list[Message] = []
    for example in EXAMPLES:
        messages.append({"role": "user", "content": example.question})
        messages.append({"role": "assistant", "content": write(example)})
    messages.append({"role": "user", "content": question})
    messages[0]["content"] = f"{render_tool_prompt(TOOLS)}\n\n{messages[0]['content']}"
    return messages
