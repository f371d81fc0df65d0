"""Shows what llama3-tools does: on the left what the model writes, on the right the content and the calls.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: it replays what a real one wrote.

    python quickstart.py

To ask your own model, pass its server's address:

    Ollama         python quickstart.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python quickstart.py --base-url http://localhost:8080/v1
    LM Studio      python quickstart.py --base-url http://localhost:1234/v1
    vLLM           python quickstart.py --base-url http://localhost:8000/v1

The tools go into the prompt, not into the request's `tools`. So every server leaves the model's text as it is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_openai import ChatOpenAI
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.llms.openai_like import OpenAILike
from pydantic import SecretStr
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

import langchain_llama3_tools
import llama_index_llama3_tools
from endpoints import live
from endpoints.assistant import TOOLS, chat_messages
from endpoints.demo import RECORDED
from endpoints.program import run

MAX_TOKENS = 160
console = Console(highlight=False, emoji=False, markup=False)


class SideBySide(BaseCallbackHandler):
    """One answer as a table: what the model sends, and what the program gets. On a terminal, it grows."""

    def __init__(self) -> None:
        self.output = ""
        """What the model has written so far."""
        self._shown = 0
        self._rows: list[tuple[str, str, str]] = []

    def on_llm_new_token(self, token: object, **_: object) -> None:
        """Take what the model writes, before it is read."""
        self.output += str(token)

    def show(self, kind: str, text: str) -> None:
        """Show what came out of the text since the last piece: `text`, a `call`, or what is `not a call`."""
        if kind == "text" and not text:
            return
        raw, self._shown = self.output[self._shown :], len(self.output)
        if self._rows and self._rows[-1][1] == kind == "text":
            before, _, shown = self._rows.pop()
            raw, text = before + raw, shown + text
        self._rows.append((raw, kind, text))

    def __rich__(self) -> Table:
        """Return the table."""
        table = Table(box=box.ROUNDED, width=min(console.width, 108), show_lines=True)
        table.add_column("the model sends", ratio=1, overflow="fold", style="dim")
        table.add_column("your program gets", ratio=1, overflow="fold")
        rest = self.output[self._shown :]
        for raw, kind, text in [*self._rows, *([(rest, "", "")] if rest else [])]:
            style = {"text": "green", "call": "bold cyan"}.get(kind, "yellow")
            table.add_row(Text(raw.strip("\n")), Text(f"{kind:4}  {text}", style=style))
        return table


def ask_langchain(base_url: str, model: str, question: str, screen: SideBySide) -> str:
    """Ask through a LangChain chain: `llm | Llama3JsonToolOutputParser()`."""
    llm = ChatOpenAI(
        base_url=base_url,
        api_key=SecretStr("none"),
        model=model,
        temperature=0,
        # As a keyword of its own, ChatOpenAI would send max_tokens by a newer name, which few local servers know.
        extra_body={"max_tokens": MAX_TOKENS, **_settings(model)},
    )
    chain = llm | langchain_llama3_tools.Llama3JsonToolOutputParser(tools=TOOLS)
    messages: list[Any] = [dict(message) for message in chat_messages(question)]
    chunks = []
    for chunk in chain.stream(messages, {"callbacks": [screen]}):
        screen.show("text", chunk.text)
        for call in chunk.tool_calls:
            screen.show("call", f"{call['name']} {json.dumps(call['args'])}")
        for refused in chunk.response_metadata.get("refused_tool_calls", ()):
            screen.show("not a call", f"{refused['name']} is {refused['reason']}: {refused['detail']}")
        chunks.append(chunk)
    message: Any = reduce(add, chunks)
    return f"AIMessage: tool_calls {[call['name'] for call in message.tool_calls]}, content {message.content!r}"


def ask_llama_index(base_url: str, model: str, question: str, screen: SideBySide) -> str:
    """Ask through a LlamaIndex LLM, with the parser's `stream` around its stream."""
    llm = OpenAILike(
        api_base=base_url,
        api_key="none",
        model=model,
        is_chat_model=True,
        temperature=0,
        max_tokens=MAX_TOKENS,
        additional_kwargs={"extra_body": _settings(model)},
    )
    parser = llama_index_llama3_tools.Llama3JsonToolOutputParser(tools=TOOLS)

    def heard(responses: Iterator[ChatResponse]) -> Iterator[ChatResponse]:
        for response in responses:
            screen.on_llm_new_token(response.delta or "")
            yield response

    calls: list[ToolCallBlock] = []
    message = ChatMessage()
    messages = [ChatMessage(role=message["role"], content=message["content"]) for message in chat_messages(question)]
    for response in parser.stream(heard(llm.stream_chat(messages))):
        screen.show("text", response.delta or "")
        message = response.message
        shown, calls = len(calls), [block for block in message.blocks if isinstance(block, ToolCallBlock)]
        for call in calls[shown:]:
            screen.show("call", f"{call.tool_name} {json.dumps(call.tool_kwargs)}")
    for error in parser.parse(screen.output).errors:
        screen.show("not a call", f"{error.name} is {error.reason}: {error.detail}")
    return f"ChatMessage: ToolCallBlocks {[call.tool_name for call in calls]}, content {message.content!r}"


def _settings(model: str) -> dict[str, object]:
    return dict(live.SETTINGS) if model == live.MODEL else {}


def main(base_url: str, model: str) -> None:
    """Ask each question through both frameworks."""
    for title, ask in (
        ("LangChain   llm | Llama3JsonToolOutputParser(tools=…)", ask_langchain),
        ("LlamaIndex  Llama3JsonToolOutputParser(tools=…).stream(llm.stream_chat(…))", ask_llama_index),
    ):
        console.print(f"{title}\n", style="bold")
        for question in RECORDED:
            console.print(f"Question  {question}")
            screen = SideBySide()
            with Live(screen, console=console, refresh_per_second=15):
                summary = ask(base_url, model, question, screen)
            console.print(f"{summary}\n", no_wrap=True, overflow="ellipsis")
    console.print("Any other client, in any language: llama3-tools serve http://localhost:11434/v1")


if __name__ == "__main__":
    sys.exit(run(main, __doc__))
