"""What is recorded: questions, and the forms of answer that the model is shown before it gets them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from endpoints import grammars
from endpoints.assistant import (
    EXAMPLES,
    Call,
    Example,
    Writer,
    chat_messages,
    completion_prompt,
    write_bare,
    write_envelope,
)
from endpoints.strict import response_format, strict_messages
from endpoints.wire import CHAT, COMPLETIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question to the live model."""

    name: str
    """What the recording is called."""
    about: str
    """What the answer shows, in one line."""
    question: str
    """The question itself."""
    path: str = CHAT
    """The endpoint that is asked."""
    write: Writer = write_bare
    """How the examples before the question are answered."""
    examples: Sequence[Example] = EXAMPLES
    """The examples before the question."""
    grammar: str | None = None
    """What the answer is held to; `None` leaves it to the model."""
    is_strict: bool = False
    """Whether it asks for the strict response format, and holds the answer to it by a schema."""
    max_tokens: int = 160
    """Where the answer is cut off."""

    @property
    def request(self) -> dict[str, object]:
        """The part of the request's body that differs from question to question."""
        body: dict[str, object] = {"max_tokens": self.max_tokens}
        if self.is_strict:
            body["messages"] = strict_messages(self.question)
            body["response_format"] = response_format("json_object")
        elif self.path == CHAT:
            body["messages"] = chat_messages(self.question, examples=self.examples, write=self.write)
        else:
            body["prompt"] = completion_prompt(self.question, examples=self.examples, write=self.write)
            body["stop"] = ["\n\n", "Question:"]
        if self.grammar is not None:
            body["grammar"] = self.grammar
        return body


def _json_calls(calls: Sequence[Call]) -> list[str]:
    return [json.dumps({"name": name, "parameters": arguments}, ensure_ascii=False) for name, arguments in calls]


def _array(example: Example) -> str:
    calls = f"[{', '.join(_json_calls(example.calls))}]" if example.calls else ""
    return " ".join(filter(None, (example.text, calls)))


def _python_tag(example: Example) -> str:
    calls = f"<|python_tag|>{'; '.join(_json_calls(example.calls))}<|eom_id|>" if example.calls else ""
    return example.text + calls


def _fence(example: Example) -> str:
    calls = "```json\n{}\n```".format("\n".join(_json_calls(example.calls))) if example.calls else ""
    return "\n".join(filter(None, (example.text, calls)))


def _tool_call(example: Example) -> str:
    calls = [f"<tool_call>\n{call}\n</tool_call>" for call in _json_calls(example.calls)]
    return "\n".join(filter(None, (example.text, *calls)))


def _tool(example: Example) -> str:
    calls = "".join(f"<tool>{call}</tool>" for call in _json_calls(example.calls))
    return " ".join(filter(None, (example.text, calls)))


def _function(example: Example) -> str:
    calls = "".join(f"<function={name}>{json.dumps(arguments)}</function>" for name, arguments in example.calls)
    return " ".join(filter(None, (example.text, calls)))


SHOWN = (
    Question(
        name="text-then-call",
        about="Text, then a call",
        question="Find a recipe for pumpkin soup.",
    ),
    Question(
        name="two-calls",
        about="Two calls in one answer",
        question="What is the weather in Oslo and in Rome?",
    ),
    Question(
        name="text",
        about="An answer without a call",
        question="Explain what JSON is in one sentence.",
    ),
    Question(
        name="malformed",
        about="A call whose backslashes are not escaped: no JSON, and so text",
        question=r"Search for the folder C:\Windows\System32.",
    ),
)
"""What the demo asks."""

STRICT = (
    Question(
        name="strict-call",
        about="The strict response format: a message and a call",
        question="Look up the opening hours of the Louvre.",
        is_strict=True,
    ),
    Question(
        name="strict-integer",
        about="The strict response format: an argument that is a number",
        question="Set a timer for 25 minutes for the bread.",
        is_strict=True,
    ),
    Question(
        name="strict-text",
        about="The strict response format: a message and no call",
        question="Good evening!",
        is_strict=True,
    ),
)
"""What the example of the strict response format asks."""

QUESTIONS = (
    *SHOWN,
    *STRICT,
    Question(
        name="one-call",
        about="A call, and nothing else",
        question="Set a timer for 25 minutes for the bread.",
    ),
    Question(
        name="cut-off",
        about="An answer that reaches its length limit inside a call",
        question='Search for the JSON {"a": 1}.',
        max_tokens=48,
    ),
    Question(
        name="quotes",
        about="Two calls with an apostrophe in an argument",
        question='Search for "Don\'t panic" and "So long, and thanks".',
    ),
    Question(
        name="accents",
        about="Letters beyond ASCII in an argument, which the server escapes in the stream",
        question="What is the weather like in Reykjavík right now?",
    ),
    Question(
        name="code",
        about="Text with a block of Python in it",
        question="Write a Python function that adds two numbers.",
    ),
    Question(
        name="array",
        about="Calls in a JSON array",
        question="What is the weather in Oslo and in Rome?",
        write=_array,
    ),
    Question(
        name="array-unknown-tool",
        about="A call of a tool that was never declared",
        question='Find the phrase "to be or not to be".',
        write=_array,
    ),
    Question(
        name="python-tag",
        about="Calls after <|python_tag|>, which arrives in several pieces",
        question="What is the weather in Oslo and in Rome?",
        write=_python_tag,
    ),
    Question(
        name="fence",
        about="Calls in a code fence",
        question="What is the weather in Oslo and in Rome?",
        write=_fence,
    ),
    Question(
        name="tool-call-tag",
        about="A call in <tool_call>",
        question="Find a recipe for pumpkin soup.",
        write=_tool_call,
    ),
    Question(
        name="tool-call-tag-malformed",
        about="No JSON between the tags",
        question=r"Search for the folder C:\Windows\System32.",
        write=_tool_call,
    ),
    Question(
        name="tool-tag",
        about="A call in <tool>",
        question="Look up the opening hours of the Louvre.",
        write=_tool,
    ),
    Question(
        name="function-tag",
        about="Calls in <function=NAME>",
        question="What is the weather in Oslo and in Rome?",
        write=_function,
    ),
    Question(
        name="envelope-call",
        about="A sentence and a call in one object",
        question="Set a timer for 25 minutes for the bread.",
        write=write_envelope,
    ),
    Question(
        name="envelope-message-and-call",
        about="A message and a call in one object",
        question="Look up the opening hours of the Louvre.",
        write=write_envelope,
    ),
    Question(
        name="envelope-text",
        about="A message and no call in one object",
        question="What is the capital of Australia?",
        write=write_envelope,
    ),
    Question(
        name="grammar-text-then-call",
        about="Text, then a call, held to that by a grammar",
        question="Look up the opening hours of the Louvre.",
        grammar=grammars.TEXT_THEN_CALL,
    ),
    Question(
        name="grammar-two-calls",
        about="Two calls, held to that by a grammar",
        question="Compare the weather in Tokyo and in Quito.",
        grammar=grammars.TWO_CALLS,
    ),
    Question(
        name="grammar-text-call-text",
        about="A call between two texts, held to that by a grammar",
        question="Look up the population of Iceland, please.",
        grammar=grammars.TEXT_CALL_TEXT,
    ),
    Question(
        name="completion-one-call",
        about="A call, from /v1/completions",
        question="Set a timer for 25 minutes for the bread.",
        path=COMPLETIONS,
    ),
    Question(
        name="completion-two-calls",
        about="Two calls, from /v1/completions",
        question="What is the weather in Oslo and in Rome?",
        path=COMPLETIONS,
    ),
    Question(
        name="completion-text",
        about="An answer without a call, from /v1/completions",
        question="Explain what JSON is in one sentence.",
        path=COMPLETIONS,
    ),
)
"""What `make record` asks."""
