"""The assistant, asked for answers in the strict response format and held to it by a JSON Schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

from endpoints.assistant import EXAMPLES, TOOLS, Example, Message, chat_messages, write_envelope
from llama3_tools import render_response_prompt, response_json_schema

__all__ = ["ResponseFormatKind", "response_format", "strict_messages"]

ResponseFormatKind: TypeAlias = Literal["json_schema", "json_object"]
"""How a server takes a schema: as OpenAI has it, or beside `json_object`, which llama-cpp-python wants."""

_STRING = r'^[^"\\\x00-\x1F]{0,120}$'
"""What a string may hold where a server lets it hold anything: no raw line break, and an end."""


def strict_messages(question: str) -> list[Message]:
    """Put a question to the assistant that is to be answered in the strict response format, with one call or none.

    >>> strict_messages("What is the weather in Oslo?")[1]["content"]
    '{"message": "You are welcome! Ask me whenever you need something.", "tool_call": null}'
    """
    examples = [_with_message(example) for example in EXAMPLES if len(example.calls) <= 1]
    return chat_messages(question, examples=examples, write=write_envelope, prompt=render_response_prompt(TOOLS))


def response_format(kind: ResponseFormatKind) -> dict[str, Any]:
    """Give what goes into a request as `response_format`.

    llama-cpp-python turns a schema into a grammar whose strings may hold raw line breaks, which JSON forbids, and need
    not end. So there, each string says what it may hold; other servers get the schema as it is.
    """
    schema = response_json_schema(TOOLS)
    if kind == "json_object":
        return {"type": "json_object", "schema": _with_pattern(schema)}
    return {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}


def _with_message(example: Example) -> Example:
    """Say something with each call: a small model that has said something calls if the examples do."""
    return replace(example, text=example.text or "One moment.") if example.calls else example


def _with_pattern(schema: Any) -> Any:  # noqa: ANN401 (any part of a schema)
    if isinstance(schema, list):
        return [_with_pattern(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    described = {key: _with_pattern(part) for key, part in schema.items()}
    is_free = schema.get("type") == "string" and "enum" not in schema
    return {**described, "pattern": _STRING} if is_free else described
