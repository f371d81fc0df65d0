"""A Llama on Groq or another host, which refuses its own model's calls when they are written wrong.

OPENAI_API_KEY=gsk_… python examples/cookbook/hosted.py \
    --base-url https://api.groq.com/openai/v1 --model llama-3.3-70b-versatile
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import ToolCall
from langchain_openai import ChatOpenAI
from program import run
from pydantic import SecretStr

from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel

QUESTION = "What is the weather in Paris?"


def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Sun in {city}"


def calls_of_the_host(llm: BaseChatModel) -> Sequence[ToolCall]:
    """Let the host find the calls. If it refuses what the model wrote, read that."""
    try:
        return llm.bind_tools([get_weather]).invoke(QUESTION).tool_calls
    except openai.BadRequestError as error:
        body = error.body if isinstance(error.body, Mapping) else {}
        if not body.get("failed_generation"):
            raise
        return Llama3JsonToolOutputParser(tools=[get_weather]).invoke(body["failed_generation"]).tool_calls


def main(base_url: str, model: str) -> None:
    """Ask with the host's own tool calls, then with the tools in the prompt."""
    key = os.environ.get("OPENAI_API_KEY", "none")
    llm = ChatOpenAI(base_url=base_url, api_key=SecretStr(key), model=model, temperature=0)
    wrapped = Llama3ToolModel(llm).bind_tools([get_weather])  # the host sees no tools, so it can refuse no call
    print("the host's calls:", [call["args"] for call in calls_of_the_host(llm)])
    print("the wrapper's:   ", [call["args"] for call in wrapped.invoke(QUESTION).tool_calls])


if __name__ == "__main__":
    sys.exit(run(main, __doc__))
