"""The strict response format on a live model: held to it by a schema, every answer parses, whatever it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import jsonschema
import pytest

from endpoints.assistant import TOOLS
from endpoints.live import MODEL, SETTINGS
from llama3_tools import parse_response, render_response_prompt, response_json_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from endpoints.live import LiveServer

pytestmark = pytest.mark.model

QUESTIONS = (
    "Find a recipe for pumpkin soup.",
    "What is the weather in Oslo and in Rome?",
    "Explain what JSON is in one sentence.",
    "Set a timer for 25 minutes for the bread.",
    r"Search for C:\Windows\System32 and the \n escape.",
    'Search for "Don\'t panic" and "So long, and thanks".',
    "What is the weather like in Reykjavík right now?",
    "Write a poem of four lines.",
    "Write a Python function that adds two numbers.",
    "Good evening!",
    "Answer in a Markdown code fence, please.",
    "Do not answer in JSON. What is 2 + 2?",
)
"""Among them what breaks JSON where nothing holds the model to it: backslashes, quotes, line breaks, fences."""


def ask(
    live: LiveServer, tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], question: str, **choice: Any
) -> str:
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": f"{render_response_prompt(tools, **choice)}\n\n{question}"}],
        "response_format": {"type": "json_object", "schema": schema},
        "max_tokens": 400,
        **SETTINGS,
    }
    answer = httpx.post(f"{live.base_url}/chat/completions", json=body, timeout=300, trust_env=False)
    return str(answer.json()["choices"][0]["message"]["content"])


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_parses(question: str, live: LiveServer) -> None:
    output = ask(live, TOOLS, response_json_schema(TOOLS, max_string=120), question)
    extraction = parse_response(output, tools=TOOLS)
    written = json.loads(output)
    assert (extraction.content or "") == written["message"].strip()
    calls = [{"name": call.name, "arguments": call.arguments} for call in extraction.tool_calls]
    assert calls == ([written["tool_call"]] if written["tool_call"] else [])


def test_a_schema_with_definitions_holds_the_model_too(live: LiveServer) -> None:
    """Among them one that refers to itself, so that it cannot be written out."""
    step = {"type": "object", "properties": {"do": {"enum": ["boil", "stir"]}, "then": {"$ref": "#/$defs/Step"}}}
    parameters = {
        "type": "object",
        "properties": {"first": {"$ref": "#/$defs/Step"}},
        "required": ["first"],
        "$defs": {"Step": {**step, "required": ["do"]}},
    }
    tools = [{"name": "cook", "description": "Cook by steps", "parameters": parameters}, {"name": "rest"}]
    schema = response_json_schema(tools, tool_choice="cook")
    schema["properties"]["message"]["maxLength"] = 60
    (call,) = parse_response(ask(live, tools, schema, "Cook rice.", tool_choice="cook"), tools=tools).tool_calls
    assert call.name == "cook"
    jsonschema.validate(call.arguments, parameters)
