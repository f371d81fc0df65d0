"""The assistant, asked for answers in the strict response format and held to it by a JSON Schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

from endpoints.assistant import EXAMPLES, TOOLS, Example, Message, chat_messages, write_envelope
from llama3_tools import render_response_prompt, response_json_schema

ResponseFormatKind: TypeAlias = Literal["json_schema", "json_object"]
"""How a server takes a schema: as OpenAI has it, or beside `json_object`, which llama-cpp-python wants."""

_MAX_STRING = 120
"""The most characters of a string, where a server would let it go on."""


def strict_messages(question: str) -> list[Message]:
    """Put a question to the assistant that is to be answered in the strict response format, with one call or none.

    >>> strict_messages("What is the weather in Oslo?")[1]["content"]
    '{"message": "You are welcome! Ask me whenever you need something.", "tool_call": null}'
    """
    examples = [_with_message(example) for example in EXAMPLES if len(example.calls) <= 1]
    return chat_messages(question, examples=examples, write=write_envelope, prompt=render_response_prompt(TOOLS))


def response_format(kind: ResponseFormatKind) -> dict[str, Any]:
    """Return what goes into a request as `response_format`.

    llama-cpp-python's strings may hold raw line breaks and need not end, so there each gets an end; other servers get
    the schema as it is.
    """
    if kind == "json_object":
        return {"type": "json_object", "schema": response_json_schema(TOOLS, max_string=_MAX_STRING)}
    return {"type": "json_schema", "json_schema": {"name": "response", "schema": response_json_schema(TOOLS)}}


def _with_message(example: Example) -> Example:
    """Say something with each call: a small model that has said something calls if the examples do."""
    return replace(example, text=example.text or "One moment.") if example.calls else example
