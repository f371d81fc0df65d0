"""The strict response format: a schema makes every answer one JSON object with a message and a tool call.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: it replays recorded streams of a real one.

    python strict_format.py

To ask a real model, pass its server's address, and a question or two if you like:

    Ollama         python strict_format.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python strict_format.py --base-url http://localhost:8080/v1
    LM Studio      python strict_format.py --base-url http://localhost:1234/v1
    vLLM           python strict_format.py --base-url http://localhost:8000/v1

OPENAI_BASE_URL and OPENAI_API_KEY also set the server. These servers take the schema in OpenAI's format. For
llama-cpp-python's server, add `--response-format json_object`.
"""

from __future__ import annotations

import missing_packages  # noqa: F401 (first: it says how to install what is missing)

# isort: split

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any, get_args

import openai
from rich.console import Console

from endpoints.assistant import TOOLS
from endpoints.connect import Endpoint
from endpoints.options import add_endpoint_options
from endpoints.program import run_program
from endpoints.questions import STRICT
from endpoints.strict import ResponseFormatKind, response_format, strict_messages
from llama3_tools import ResponseFormatError, parse_response

MAX_TOKENS = 400


def ask(endpoint: Endpoint, question: str, kind: ResponseFormatKind) -> str:
    """Ask for one answer in the format, and give it as it came."""
    client = openai.OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key)
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": strict_messages(question),
        "response_format": response_format(kind),
    }
    completion = client.chat.completions.create(
        **body, temperature=0, max_tokens=MAX_TOKENS, extra_body=dict(endpoint.settings)
    )
    return completion.choices[0].message.content or ""


def show(console: Console, output: str) -> bool:
    """Show an answer as it came and as it was read; tell whether it kept to the format."""
    console.print(f"output   {output}", style="dim", soft_wrap=True)
    try:
        extraction = parse_response(output, tools=TOOLS)
    except ResponseFormatError as error:
        console.print(f"error    {error}", style="yellow", soft_wrap=True)
        return False
    if extraction.content:
        console.print(f"message  {extraction.content}", style="green", soft_wrap=True)
    for call in extraction.tool_calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        console.print(f"call     {call.name} {arguments}", style="bold cyan", soft_wrap=True)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask each question.

    Args:
        arguments: those of the command line.

    Returns:
        The exit status: 0, or 1 where an answer was not in the format, or the endpoint could not be used.
    """
    parser = argparse.ArgumentParser(
        description="The strict response format: each answer is one JSON object, held to it by a schema.",
        epilog="How to run it with Ollama, llama-server, LM Studio and vLLM: see the first lines of this file.",
    )
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help="what to ask (default: a few)")
    parser.add_argument(
        "--response-format",
        choices=get_args(ResponseFormatKind),
        help="how the server takes the schema (default: json_schema; json_object for the embedded servers)",
    )
    add_endpoint_options(parser)
    options = parser.parse_args(arguments)

    def ask_each(endpoint: Endpoint, console: Console) -> bool:
        is_embedded = endpoint.is_replay or bool(endpoint.settings)
        kind: ResponseFormatKind = "json_object" if is_embedded else "json_schema"
        kind = options.response_format or kind
        questions = options.questions or [question.question for question in STRICT]
        kept = 0
        for question in questions:
            console.print(f"\nQuestion {question}", style="bold", soft_wrap=True)
            kept += show(console, ask(endpoint, question, kind))
        console.print(f"\n{kept} of {len(questions)} answers kept to the format.")
        return kept == len(questions)

    return run_program("strict_format", options, ask_each)


if __name__ == "__main__":
    sys.exit(main())
