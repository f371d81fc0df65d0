"""How many calls of a live model are valid, free and held to their form: by prompt format.

    python benchmarks/constrained.py        # starts llama.cpp with SmolLM2-135M; some minutes on two cores

A call is due in each request (`tool_choice="required"`), and the model is shown no example. A call is *valid* if it
names a declared tool and its arguments fit; whether it is the right one is counted, too. llama-cpp-python's server
refuses OpenAI's `response_format` with a schema, and takes `grammar`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, get_args
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from endpoints.assistant import TOOLS  # (after the path)
from endpoints.live import MODEL, SETTINGS, LiveServer
from figures import Row
from llama3_tools import PromptFormat
from llama3_tools.chat import Constrain, ToolChat
from pages import table

__all__ = ["Valid", "count", "main"]

_QUESTIONS = (
    ("What is the weather in Oslo?", "get_weather"),
    ("Is it warm in Lisbon today?", "get_weather"),
    ("Will I need an umbrella in Lima?", "get_weather"),
    ("Search for the opening hours of the Louvre.", "search_web"),
    ("Find a recipe for pumpkin soup.", "search_web"),
    ("Look up the population of Iceland.", "search_web"),
    ("Set a timer for 25 minutes for the bread.", "set_timer"),
    ("Wake me in ten minutes.", "set_timer"),
)


@dataclass(frozen=True, slots=True)
class Valid(Row):
    """How many answers have a valid call, and how many the right one: free, and held by a grammar."""

    headings: ClassVar[Sequence[str]] = (f"valid (right) of {len(_QUESTIONS)}", "free", 'constrain="grammar"')
    free: tuple[int, int]
    held: tuple[int, int]

    @property
    def figures(self) -> Mapping[str, float]:
        """None that is better if it is smaller."""
        return {}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        return [f"`{self.name}`", *(f"{valid} ({right})" for valid, right in (self.free, self.held))]


def count(base_url: str, prompt_format: PromptFormat, constrain: Constrain) -> tuple[int, int]:
    """Ask each question once; return how many answers have a valid call, and how many the right one."""
    chat = ToolChat(TOOLS, prompt_format=prompt_format, constrain=constrain, max_retries=0, on_unknown_tool="text")
    called = []
    for question, _ in _QUESTIONS:
        request = chat.request([{"role": "user", "content": question}], tool_choice="required")
        choice = _ask(base_url, {"messages": request.messages, **request.constraint})
        calls = request.read(choice["message"], choice["finish_reason"]).tool_calls
        fits = [call.name for call in calls if not call.problems]
        called.append(fits[0] if fits else None)
    right = sum(name == tool for name, (_, tool) in zip(called, _QUESTIONS, strict=True))
    return sum(name is not None for name in called), right


def _ask(base_url: str, body: Mapping[str, Any]) -> dict[str, Any]:
    data = json.dumps({"model": MODEL, "max_tokens": 200, **SETTINGS, **body}).encode()
    with urlopen(Request(f"{base_url}/chat/completions", data, {"content-type": "application/json"})) as response:  # noqa: S310 (on loopback)
        answer: dict[str, Any] = json.load(response)["choices"][0]
    return answer


def main() -> None:
    """Print the table."""
    with LiveServer(progress=lambda line: print(line, file=sys.stderr)) as live:
        url = live.base_url
        rows = (Valid(name, count(url, name, "off"), count(url, name, "grammar")) for name in get_args(PromptFormat))
        for line in table(rows):
            print(line, flush=True)


if __name__ == "__main__":
    main()
