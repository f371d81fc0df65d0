"""Between a framework's client and the live model: what is asked, what is said, and what form an answer has.

A model this small answers as it is shown, so that conversations begin with a few answered questions. Where a test needs
a call, and not just any answer, a grammar holds the answer to that form; what is in it is the model's own.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import BaseModel

from e2e.answers import Read, check_read
from e2e.grammars import grammar
from endpoints.assistant import EXAMPLES, TOOLS, write
from endpoints.live import SETTINGS
from endpoints.server import Answer, Request
from llama3_tools import ToolCall, render_tool_call

HISTORY = [m for one in EXAMPLES for m in (("user", one.question), ("assistant", write(one)))]
QUESTIONS = (
    "What is the weather in Oslo?",
    "Set a timer for 25 minutes for the bread.",
    "Good evening!",
)


def get_weather(city: str) -> str:
    """The current weather of a city."""
    return f"Sun in {city}"


def search_web(query: str) -> str:
    """Search the web."""
    return f"Found {query}"


def set_timer(minutes: int, label: str) -> str:
    """Start a timer."""
    del minutes  # a framework may convert it, so that its text would tell nothing
    return f"Timer for {label}"


FUNCTIONS = [get_weather, search_web, set_timer]


def run_of(name: str, arguments: Mapping[str, object]) -> str | None:
    """Return what a call gives; `None` where there is no such tool, or it does not take these arguments."""
    function: Any = {function.__name__: function for function in FUNCTIONS}.get(name)
    try:
        return function and function(**inspect.signature(function).bind(**arguments).arguments)
    except TypeError:
        return None


class Forecast(BaseModel):
    """The forecast for a city."""

    city: str
    degrees: int


Form = Mapping[str, object]
"""What is sent with a request so that its answer has a certain form."""


def form(root: str, tools: Sequence[Mapping[str, Any]] = TOOLS) -> Form:
    """Hold an answer to a grammar made of `words`, `call` and quoted characters."""
    return {"grammar": f"{grammar(tools, root)}\n{_WORDS}", "max_tokens": 240}


_WORDS = 'words ::= [A-Z] [a-z]{2,8} " " [a-z]{2,8} [.!]'  # few, for a grammar makes a model slow
FREELY: Form = {}
TEXT = form("words")
TEXT_AND_TWO_CALLS = form('words " " call "; " call')
FORECAST = form(
    "call", [{"type": "function", "function": {"name": "Forecast", "parameters": Forecast.model_json_schema()}}]
)


@dataclass(frozen=True, slots=True)
class Result:
    """What a framework makes of a call."""

    text: str
    is_error: bool


@dataclass
class Relay:
    """Hands everything to the live server, and keeps what was asked and what the model said."""

    live: str
    url: str = ""
    forms: Sequence[Form] = ()
    """The forms of the answers, in order; the last one is that of all further ones."""
    asked: list[list[dict[str, Any]]] = field(default_factory=list)
    """The messages of each request."""
    said: list[str] = field(default_factory=list)
    """The text of each answer."""

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        address = f"{self.live}{request.path.removeprefix('/v1')}"
        if request.method == "GET":
            return Answer((httpx.get(address, trust_env=False).content,))
        wanted = self.forms[min(len(self.asked), len(self.forms) - 1)] if self.forms else FREELY
        messages: Any = request.body["messages"]
        body = {"max_tokens": 48, **SETTINGS, **request.body, **wanted}
        answer = httpx.post(address, json=body, timeout=300, trust_env=False).raise_for_status()
        self.asked.append(messages)  # unless the server refused it
        if request.stream:
            events = [part for part in answer.text.replace("\r\n", "\n").split("\n\n") if part]
            choices = [json.loads(event[6:])["choices"] for event in events if "[DONE]" not in event]
            self.said.append("".join(one[0]["delta"].get("content") or "" for one in choices if one))
            return Answer(tuple(f"{event}\n\n".encode() for event in events), answer.headers["Content-Type"])
        self.said.append(json.loads(answer.text)["choices"][0]["message"]["content"] or "")
        return Answer((answer.content,))

    def begin(self, *forms: Form) -> None:
        """Begin another conversation, whose answers have these forms."""
        self.forms, self.asked, self.said = forms, [], []

    def messages(self, place: int, *, new: bool = False) -> list[tuple[str, str]]:
        """The role and the content of each message of a request, or of those which that before it did not have."""
        known = len(self.asked[place - 1]) if new else 0
        return [(message["role"], str(message["content"])) for message in self.asked[place][known:]]

    def check(self, answers: Sequence[Read], results: Mapping[str | None, Result]) -> int:
        """Hold an agent's run to what must be true whatever the model says; give how many of its calls ran.

        - Each answer is one that `check_read` passes.
        - Each call is answered: by what its tool gives, or by an error.
        - The next request tells it all as text: what the model wrote, then the results by name, in order.

        Args:
            answers: what the framework read, an answer each.
            results: what it made of each call, by the call's id.
        """
        __tracebackhide__ = True
        assert [answer.raw for answer in answers] == self.said
        assert not any("tool_calls" in message for messages in self.asked for message in messages)
        assert sorted(map(str, results)) == sorted(str(call_id) for answer in answers for call_id in answer.ids)
        for place, answer in enumerate(answers):
            extraction = check_read(answer, on_unknown_tool="call")
            made = [results[call_id] for call_id in answer.ids]
            for (name, arguments), result in zip(answer.calls, made, strict=True):
                assert result.is_error or result.text == run_of(name, arguments), (name, arguments, result)
            if made:
                self._check_told(place + 1, answer.text, extraction.tool_calls, made)
        return sum(not result.is_error for result in results.values())

    def _check_told(self, place: int, text: str, calls: Sequence[ToolCall], results: Sequence[Result]) -> None:
        __tracebackhide__ = True
        wrote, *told = self.messages(place, new=True)
        written = [render_tool_call(call.name, call.arguments) for call in calls]
        assert wrote == ("assistant", "\n".join(filter(None, (text, *written))))
        rest = "\n".join(content for _, content in told)
        for call, result in zip(calls, results, strict=True):
            _, named, rest = rest.partition(f" of {call.name}")
            assert named, told
            _, given, rest = rest.partition(result.text)
            assert given or not result.text, told
