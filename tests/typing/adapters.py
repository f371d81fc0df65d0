"""The integrations as a type checker sees them, with their frameworks' own types around them. Nothing runs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import BaseOutputParser as LangChainParser
from langchain_core.runnables import Runnable, RunnableSerializable
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.llms import LLM, ChatMessage, ChatResponse
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool
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


def a_langchain_model_with_tools(llm: BaseChatModel) -> Runnable[LanguageModelInput, AIMessage]:
    model = langchain_llama3_tools.Llama3ToolModel(
        llm, tools_in="system", tool_role="tool", prompt_format="function", on_invalid="raise", on_unknown_tool="text"
    )
    base: BaseChatModel = model
    assert_type(base.invoke("text"), AIMessage)
    for choice in ("any", "get_weather", None, True):
        assert_type(model.bind_tools([get_weather], tool_choice=choice), Runnable[LanguageModelInput, AIMessage])
    return model.bind_tools([get_weather, {"name": "now"}]) | langchain_llama3_tools.Llama3JsonToolOutputParser()


def a_langchain_agent(
    llm: BaseChatModel,
) -> AgentMiddleware[langchain_llama3_tools.middleware.RepairState]:
    middleware = langchain_llama3_tools.Llama3ToolMiddleware(max_repairs=2, tools_in="system", tool_role="tool")
    create_agent(llm, [get_weather], middleware=[middleware])
    return middleware


def a_langgraph_of_ones_own(messages: list[BaseMessage]) -> list[BaseMessage]:
    assert_type(langchain_llama3_tools.render_llama3_tools([get_weather], tool_choice="any"), str)
    return langchain_llama3_tools.flatten_tool_messages(messages, tool_role="ipython")


def a_llama_index_llm_with_tools(llm: LLM, tools: Sequence[BaseTool], message: ChatMessage) -> list[ToolSelection]:
    model = llama_index_llama3_tools.Llama3ToolLLM(
        llm, tool_mode="prompt", tools_in="system", tool_result_role="user", max_parse_retries=1
    )
    base: FunctionCallingLLM = model
    for response in base.stream_chat_with_tools(tools, message):
        assert_type(response, ChatResponse)
    return model.get_tool_calls_from_response(model.chat_with_tools(tools, "text"))


def llama_index_agents(llm: LLM, tools: list[BaseTool]) -> tuple[FunctionAgent, ReActAgent]:
    function_agent = FunctionAgent(tools=tools, llm=llama_index_llama3_tools.Llama3ToolLLM(llm))  # type: ignore[arg-type]  # it wants its own union
    react_agent = ReActAgent(
        tools=tools,  # type: ignore[arg-type]  # the same
        llm=llm,
        output_parser=llama_index_llama3_tools.Llama3ReActOutputParser(tools, on_unknown_tool="text"),
        formatter=llama_index_llama3_tools.Llama3ReActChatFormatter(context="Be brief."),
    )
    return function_agent, react_agent
