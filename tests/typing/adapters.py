"""The two parsers as a type checker sees them, with their frameworks' own types around them. Nothing runs this file."""

from __future__ import annotations

from collections.abc import Iterator

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import BaseOutputParser as LangChainParser
from langchain_core.runnables import RunnableSerializable
from llama_index.core.llms import LLM, ChatMessage, ChatResponse
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.types import BaseOutputParser as LlamaIndexParser
from typing_extensions import assert_type

import langchain_llama3_tools
import llama_index_llama3_tools
from llama3_tools import Extraction
from llama_index_llama3_tools import FailedToolCall, Llama3ToolOutput


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}"


def a_langchain_chain(llm: BaseChatModel) -> RunnableSerializable[LanguageModelInput, AIMessage]:
    parser = langchain_llama3_tools.Llama3JsonToolOutputParser(tools=[get_weather], on_invalid="raise")
    base: LangChainParser[AIMessage] = parser
    assert_type(base.parse("text"), AIMessage)
    assert_type(parser.invoke("text"), AIMessage)
    assert_type(parser.get_format_instructions(), str)
    return llm | parser


def a_langchain_stream(parser: langchain_llama3_tools.Llama3JsonToolOutputParser) -> Iterator[AIMessage]:
    return parser.stream("text")


def a_llama_index_pipeline(llm: LLM, messages: list[ChatMessage]) -> Llama3ToolOutput:
    parser = llama_index_llama3_tools.Llama3JsonToolOutputParser(tools=[get_weather], on_malformed="raise")
    base: LlamaIndexParser = parser
    llm.output_parser = base
    for response in parser.stream(llm.stream_chat(messages)):
        assert_type(response, ChatResponse)
    assert_type(parser.promote(llm.chat(messages)), ChatResponse)
    return parser.parse("text")


def the_parts_of_a_llama_index_output(output: Llama3ToolOutput) -> None:
    assert_type(output.text, str)
    assert_type(output.tool_calls, list[ToolSelection])
    assert_type(output.errors, list[FailedToolCall])
    assert_type(output.extraction, Extraction)
    assert_type(output.to_chat_message(), ChatMessage)
