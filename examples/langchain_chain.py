"""A LangChain chain on a local Llama 3: `prompt | llm | Llama3JsonToolOutputParser()`, streamed. It runs no calls.

Run it from a clone, after `pip install '.[demo]'`. It needs no model: a small server plays scripted answers.

    python langchain_chain.py

To ask a real model, pass its server's address, and a question if you like:

    Ollama         python langchain_chain.py --base-url http://localhost:11434/v1 --model llama3.1
    llama-server   python langchain_chain.py --base-url http://localhost:8080/v1
    LM Studio      python langchain_chain.py --base-url http://localhost:1234/v1
    vLLM           python langchain_chain.py --base-url http://localhost:8000/v1

OPENAI_BASE_URL and OPENAI_API_KEY also set the server. The tools go into the prompt, not into the request's `tools`. So
no server needs a flag or a template for them.
"""

from __future__ import annotations

import missing_packages  # noqa: F401 (first: it says how to install what is missing)

# isort: split

import sys
from collections.abc import Iterator, Sequence

from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate

from agent_program import chat_model, get_weather, run, subtract
from endpoints.connect import Endpoint
from langchain_llama3_tools import Llama3JsonToolOutputParser


def ask(endpoint: Endpoint, question: str) -> Iterator[BaseMessage]:
    """Ask the chain, and give its stream of messages."""
    parser = Llama3JsonToolOutputParser(tools=[get_weather, subtract])
    prompt = ChatPromptTemplate([("user", "{tools}\n\n{question}")])
    chain = prompt | chat_model(endpoint) | parser
    yield from chain.stream({"tools": parser.get_format_instructions(), "question": question})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the example."""
    return run("langchain_chain", ask, "A LangChain chain whose model writes its calls as text.", arguments)


if __name__ == "__main__":
    sys.exit(main())
