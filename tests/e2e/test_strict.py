"""The strict response format on a live model: held to it by a schema, every answer parses, whatever it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest
from langchain_openai import ChatOpenAI
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr

import strict_format
from endpoints.assistant import TOOLS
from endpoints.connect import Endpoint
from endpoints.fetch import fetch
from endpoints.live import MODEL, SETTINGS
from endpoints.strict import response_format, strict_messages
from langchain_llama3_tools import Llama3JsonToolOutputParser as LangChainParser
from llama3_tools import parse_response, render_response_prompt, response_json_schema
from llama_index_llama3_tools import Llama3JsonToolOutputParser as LlamaIndexParser
from programs import run_program

if TYPE_CHECKING:
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

SETTINGS_OF_REQUEST = {
    **SETTINGS,
    "max_tokens": strict_format.MAX_TOKENS,
    "response_format": response_format("json_object"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_parses(question: str, live: LiveServer) -> None:
    endpoint = Endpoint(base_url=live.base_url, model=MODEL, settings=SETTINGS)
    output = strict_format.ask(endpoint, question, "json_object")
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
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": f"{render_response_prompt(tools, tool_choice='cook')}\n\nCook rice."}],
        "response_format": {"type": "json_object", "schema": schema},
        "max_tokens": 400,
        **SETTINGS,
    }
    answer = json.loads(fetch(f"{live.base_url}/chat/completions", body, timeout=300).text)
    (call,) = parse_response(answer["choices"][0]["message"]["content"], tools=tools).tool_calls
    assert call.name == "cook"
    jsonschema.validate(call.arguments, parameters)


def test_langchain_reads_it(live: LiveServer) -> None:
    llm = ChatOpenAI(
        base_url=live.base_url,
        api_key=SecretStr("none"),
        model=MODEL,
        temperature=0,
        max_retries=0,
        extra_body=SETTINGS_OF_REQUEST,
    )
    chain = llm | LangChainParser(tools=TOOLS)
    messages = [dict(message) for message in strict_messages(QUESTIONS[0])]
    whole = chain.invoke(messages)
    chunks = list(chain.stream(messages))
    assert "".join(str(chunk.text) for chunk in chunks) == whole.text
    streamed = [call for chunk in chunks for call in chunk.tool_calls]
    assert [call["args"] for call in streamed] == [call["args"] for call in whole.tool_calls]


def test_llama_index_reads_it(live: LiveServer) -> None:
    llm = OpenAILike(
        api_base=live.base_url,
        api_key="none",
        model=MODEL,
        is_chat_model=True,
        temperature=0,
        max_retries=0,
        additional_kwargs={"extra_body": SETTINGS_OF_REQUEST},
    )
    parser = LlamaIndexParser(tools=TOOLS)
    messages = [ChatMessage(role=message["role"], content=message["content"]) for message in strict_messages("Hi!")]
    output = parser.parse(llm.chat(messages).message.content or "")
    *_, last = parser.stream(llm.stream_chat(messages))
    assert (last.message.content or "") == output.text


def test_the_example_asks_the_live_model(live: LiveServer) -> None:
    result = run_program(
        strict_format.__file__, "--base-url", live.base_url, "--response-format", "json_object", "Good evening!"
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("1 of 1 answers kept to the format.\n")
