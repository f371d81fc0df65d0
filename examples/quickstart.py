"""Shows what llama3-tools does: on the left what the model writes, on the right the content and the calls.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: it replays recorded streams of a real one.

    python quickstart.py

To ask a real model, pass its server's address, and a question or two:

    Ollama         python quickstart.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python quickstart.py --base-url http://localhost:8080/v1
    LM Studio      python quickstart.py --base-url http://localhost:1234/v1
    vLLM           python quickstart.py --base-url http://localhost:8000/v1

OPENAI_BASE_URL and OPENAI_API_KEY also set the server. The tools go into the prompt, not into the request's `tools`. So
every server leaves the model's text as it is.
"""

# ruff: noqa: PLC0415 (each function shows one framework, and imports what it takes for that)

from __future__ import annotations

import missing_packages  # noqa: F401 (first: it says how to install what is missing)

# isort: split

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from pathlib import Path

from rich.console import Console

from endpoints.assistant import TOOLS, chat_messages
from endpoints.connect import Endpoint
from endpoints.options import add_endpoint_options
from endpoints.program import run_program
from endpoints.questions import SHOWN
from screen import SideBySide

MAX_TOKENS = 160
_OTHER_CLIENTS = """Any other client, in any language:
  pip install '.[gateway]'
  llama3-tools serve --upstream http://localhost:11434/v1"""


def ask_langchain(endpoint: Endpoint, question: str, screen: SideBySide) -> None:
    """Ask through a LangChain chain: `prompt | llm | Llama3JsonToolOutputParser()`."""
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.messages import AIMessage
    from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    from langchain_llama3_tools import Llama3JsonToolOutputParser

    class ShowRaw(BaseCallbackHandler):
        """Sees the model's own text on its way into the parser."""

        def on_llm_new_token(self, token: object, **_: object) -> None:
            screen.raw(str(token))

    *tools_and_examples, _ = chat_messages(question)
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("tools_and_examples"), ("user", "{question}")])
    llm = ChatOpenAI(
        base_url=endpoint.base_url,
        api_key=SecretStr(endpoint.api_key),
        model=endpoint.model,
        temperature=0,
        # As a keyword of its own, ChatOpenAI would send max_tokens by a newer name, which few local servers know.
        extra_body={"max_tokens": MAX_TOKENS, **endpoint.settings},
    )
    chain = prompt | llm | Llama3JsonToolOutputParser(tools=TOOLS)

    chunks = []
    variables = {"tools_and_examples": tools_and_examples, "question": question}
    for chunk in chain.stream(variables, {"callbacks": [ShowRaw()]}):
        screen.text(chunk.text)
        for call in chunk.tool_calls:
            screen.call(call["name"], json.dumps(call["args"], ensure_ascii=False))
        for refused in chunk.response_metadata.get("refused_tool_calls", ()):
            screen.not_a_call(f"{refused['name']} is {refused['reason']}: {refused['detail']}")
        chunks.append(chunk)
    message: AIMessage = reduce(add, chunks)
    screen.summary(
        f"AIMessage: tool_calls {[call['name'] for call in message.tool_calls]}, content {message.content!r}"
    )


def ask_llama_index(endpoint: Endpoint, question: str, screen: SideBySide) -> None:
    """Ask through a LlamaIndex LLM, with the parser's `stream` around its stream."""
    from llama_index.core.base.llms.types import ToolCallBlock
    from llama_index.core.llms import ChatMessage, ChatResponse
    from llama_index.llms.openai_like import OpenAILike

    from llama_index_llama3_tools import Llama3JsonToolOutputParser

    output = ""

    def show_raw(responses: Iterator[ChatResponse]) -> Iterator[ChatResponse]:
        """See the model's own text on its way into the parser."""
        nonlocal output
        for response in responses:
            output += response.delta or ""
            screen.raw(response.delta or "")
            yield response

    llm = OpenAILike(
        api_base=endpoint.base_url,
        api_key=endpoint.api_key,
        model=endpoint.model,
        is_chat_model=True,
        temperature=0,
        max_tokens=MAX_TOKENS,
        additional_kwargs={"extra_body": dict(endpoint.settings)},
    )
    parser = Llama3JsonToolOutputParser(tools=TOOLS)
    messages = [ChatMessage(role=message["role"], content=message["content"]) for message in chat_messages(question)]

    message, called = ChatMessage(role="assistant"), 0
    for response in parser.stream(show_raw(llm.stream_chat(messages))):
        screen.text(response.delta or "")
        message = response.message
        calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
        for call in calls[called:]:
            screen.call(call.tool_name, json.dumps(call.tool_kwargs, ensure_ascii=False))
        called = len(calls)
    for error in parser.parse(output).errors:
        screen.not_a_call(f"{error.name} is {error.reason}: {error.detail}")
    names = [block.tool_name for block in message.blocks if isinstance(block, ToolCallBlock)]
    screen.summary(f"ChatMessage: ToolCallBlocks {names}, content {message.content!r}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask each question through both frameworks.

    Args:
        arguments: those of the command line.

    Returns:
        The exit status: 0, or 1 where the endpoint could not be used.
    """
    parser = argparse.ArgumentParser(
        description="A local model's raw text beside the content and the tool calls that come out of it.",
        epilog="How to run it with Ollama, llama-server, LM Studio and vLLM: see the first lines of this file.",
    )
    parser.add_argument(
        "questions",
        nargs="*",
        metavar="QUESTION",
        help="what to ask (default: a few questions, each for a different case)",
    )
    add_endpoint_options(parser)
    options = parser.parse_args(arguments)
    questions = options.questions or [question.question for question in SHOWN]

    def ask_each(endpoint: Endpoint, console: Console) -> bool:
        console.print()
        for title, ask in (
            ("LangChain   prompt | ChatOpenAI(…) | Llama3JsonToolOutputParser()", ask_langchain),
            ("LlamaIndex  Llama3JsonToolOutputParser().stream(llm.stream_chat(…))", ask_llama_index),
        ):
            console.print(f"{title}\n", style="bold")
            for question in questions:
                with SideBySide(console, question) as screen:
                    ask(endpoint, question, screen)
                console.print()
        if endpoint.is_replay:
            console.print(f"Ask your own model:\n  {_command()}", soft_wrap=True)
        console.print(_OTHER_CLIENTS, soft_wrap=True)
        return True

    return run_program("quickstart", options, ask_each)


def _command() -> str:
    """Return the command line that asks an Ollama on this machine, as it has to be typed here."""
    here = Path.cwd()
    python, program = Path(sys.executable), Path(__file__).resolve()
    words = (
        python.relative_to(here) if python.is_relative_to(here) else "python",
        program.relative_to(here) if program.is_relative_to(here) else program,
    )
    return f'{words[0]} {words[1]} --base-url http://localhost:11434/v1 --model llama3.1 "How is the weather in Oslo?"'


if __name__ == "__main__":
    sys.exit(main())
