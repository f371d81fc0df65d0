"""The integrations as a type checker sees them, with their frameworks' own types around them. Nothing runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import BaseOutputParser as LangChainParser
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import Runnable, RunnableSerializable
from llama_index.core import PromptTemplate
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.llms import LLM, ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool
from llama_index.core.types import BaseOutputParser as LlamaIndexParser
from pydantic import BaseModel
from typing_extensions import assert_type

import langchain_llama3_tools
import llama_index_llama3_tools
from langchain_llama3_tools import LangChainToolChoice, LangChainToolLike
from llama3_tools import (
    Formats,
    Limits,
    OnUnknownTool,
    PromptFormat,
    ReadOptions,
    Tool,
)
from llama3_tools.chat import ChatOptions, OnInvalid, RefusedCall, Report, ToolRole, ToolsPlace
from llama_index_llama3_tools import (
    Llama3ToolOutput,
    LlamaIndexToolLike,
    MalformedToolCallError,
)


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}"


class City(BaseModel):
    """A city."""

    name: str


def a_langchain_chain(llm: BaseChatModel) -> RunnableSerializable[LanguageModelInput, AIMessage]:
    parser = langchain_llama3_tools.Llama3JsonToolOutputParser(tools=[get_weather], on_invalid="raise")
    base: LangChainParser[AIMessage] = parser
    assert_type(base.parse("text"), AIMessage)
    assert_type(parser.invoke("text"), AIMessage)
    assert_type(parser.get_format_instructions(), str)
    return llm | parser


def a_llama_index_pipeline(llm: LLM, messages: list[ChatMessage]) -> Llama3ToolOutput:
    parser = llama_index_llama3_tools.Llama3JsonToolOutputParser(tools=[get_weather], on_invalid="raise")
    base: LlamaIndexParser = parser
    llm.output_parser = base
    for response in parser.stream(llm.stream_chat(messages)):
        assert_type(response, ChatResponse)
    assert_type(parser.promote(llm.chat(messages)), ChatResponse)
    return parser.parse("text")


def the_parts_of_a_llama_index_output(output: Llama3ToolOutput) -> None:
    assert_type(output.text, str)
    assert_type(output.tool_calls, list[ToolSelection])
    assert_type(output.errors, list[RefusedCall])
    assert_type(output.reasoning, str | None)
    assert_type(output.report, Report)
    assert_type(output.to_chat_message(), ChatMessage)


def a_langchain_model_with_tools(llm: BaseChatModel) -> Runnable[LanguageModelInput, AIMessage]:
    base: BaseChatModel = langchain_llama3_tools.Llama3ToolModel(llm)
    assert_type(base.invoke("text"), AIMessage)
    return base.bind_tools([get_weather, {"name": "now"}]) | langchain_llama3_tools.Llama3JsonToolOutputParser()


def the_options_of_langchain_by_name(  # noqa: PLR0913, PLR0917 (an option each)
    llm: BaseChatModel,
    tools_in: ToolsPlace,
    tool_role: ToolRole,
    prompt_format: PromptFormat,
    on_invalid: OnInvalid,
    on_unknown_tool: OnUnknownTool,
    formats: Formats,
) -> langchain_llama3_tools.Llama3ToolModel:
    parser = langchain_llama3_tools.Llama3JsonToolOutputParser(formats=formats, on_invalid=on_invalid)
    assert_type(parser.options, ReadOptions)
    langchain_llama3_tools.Llama3ToolMiddleware(
        formats="all", repair=True, starts_reasoning=True, limits=Limits(max_calls=10)
    )
    return langchain_llama3_tools.Llama3ToolModel(
        llm,
        tools_in=tools_in,
        tool_role=tool_role,
        prompt_format=prompt_format,
        on_unknown_tool=on_unknown_tool,
        coerce_arguments=False,
        formats=formats,
        split_reasoning=True,
        id_factory=lambda: "call_1",
        rate_limiter=InMemoryRateLimiter(),
        cache=False,
        callbacks=[],
        disable_streaming="tool_calling",
        metadata={"a": 1},
        name="mine",
        output_version="v1",
        profile={"max_input_tokens": 8_000},
        streaming=True,
        tags=["mine"],
        verbose=True,
    )


async def the_ways_to_ask_a_langchain_model(model: langchain_llama3_tools.Llama3ToolModel) -> None:
    tools: list[LangChainToolLike] = [get_weather, {"name": "now"}, Tool("clock"), City]
    choice: LangChainToolChoice = {"type": "function", "function": {"name": "now"}}
    bound = model.bind_tools(tools, tool_choice=choice, strict=True)
    assert_type(bound.invoke("text"), AIMessage)
    assert_type(await bound.ainvoke([("user", "text")]), AIMessage)
    assert_type(bound.stream("text"), Iterator[AIMessage])
    assert_type(bound.astream("text"), AsyncIterator[AIMessage])
    assert_type(bound.batch(["text"]), list[AIMessage])
    model.with_structured_output(City).invoke("text")


def a_langchain_agent(llm: BaseChatModel) -> AgentMiddleware[Any, Any]:
    middleware = langchain_llama3_tools.Llama3ToolMiddleware(max_retries=2, tools_in="system", coerce_arguments=False)
    create_agent(llm, [get_weather], middleware=[middleware], response_format=City)
    return middleware


def a_llama_index_llm_with_tools(llm: LLM, tools: Sequence[BaseTool], message: ChatMessage) -> list[ToolSelection]:
    model = llama_index_llama3_tools.Llama3ToolLLM(
        llm,
        tools_in="system",
        tool_role="tool",
        prompt_format="strict",
        repeated_calls="keep",
        max_retries=1,
        constrain="json_object",
        on_unknown_tool="call",
        coerce_arguments=False,
        id_factory=lambda: "call_1",
        callback_manager=CallbackManager(),
        rate_limiter=None,
        system_prompt="Be brief.",
        pydantic_program_mode="llm",
        output_parser=llama_index_llama3_tools.Llama3JsonToolOutputParser(tools, repeated_calls="keep"),
    )
    assert_type(model.model, str)
    base: FunctionCallingLLM = model
    for response in base.stream_chat_with_tools(tools, message):
        assert_type(response, ChatResponse)
    return model.get_tool_calls_from_response(model.chat_with_tools(tools, "text"))


async def the_ways_to_ask_a_llama_index_llm(
    llm: llama_index_llama3_tools.Llama3ToolLLM, tools: list[BaseTool], prompt: PromptTemplate
) -> list[ToolSelection]:
    history = [ChatMessage("text")]
    response = await llm.achat_with_tools(tools, chat_history=history, allow_parallel_tool_calls=True)
    assert_type(response, ChatResponse)
    async for streamed in await llm.astream_chat_with_tools(tools, "text", tool_required=True):
        assert_type(streamed, ChatResponse)
    assert_type(llm.chat(history), ChatResponse)
    assert_type(llm.complete("text"), CompletionResponse)
    assert_type(llm.metadata, LLMMetadata)
    llm.structured_predict(City, prompt, llm_kwargs={"seed": 1}, question="text")
    llm.as_structured_llm(City)
    assert_type(llm.predict_and_call(tools, "text"), AgentChatResponse)
    return llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)


def what_goes_wrong_in_llama_index(llm: LLM, message: ChatMessage, tool: LlamaIndexToolLike) -> str:
    parser = llama_index_llama3_tools.Llama3JsonToolOutputParser([tool], on_invalid="raise", coerce_arguments=True)
    try:
        return str(parser.promote(llm.chat([message])))
    except MalformedToolCallError as error:
        assert_type(error.output, str)
        assert_type(error.errors, tuple[RefusedCall, ...])
        assert_type(error.errors[0].reason, str)
        return f"{error.errors[0].name}: {error.errors[0].detail}"


def llama_index_agents(llm: LLM, tools: list[BaseTool]) -> tuple[FunctionAgent, ReActAgent]:
    function_agent = FunctionAgent(tools=tools, llm=llama_index_llama3_tools.Llama3ToolLLM(llm))  # type: ignore[arg-type]  # it wants its own union
    react_agent = ReActAgent(
        tools=tools,  # type: ignore[arg-type]  # the same
        llm=llm,
        output_parser=llama_index_llama3_tools.Llama3ReActOutputParser(
            tools, on_unknown_tool="text", coerce_arguments=False
        ),
    )
    return function_agent, react_agent


def what_a_type_checker_must_refuse(llm: LLM, chat_model: BaseChatModel) -> None:
    langchain_llama3_tools.Llama3ToolModel(chat_model, tools_in="assistant")  # type: ignore[arg-type]
    langchain_llama3_tools.Llama3ToolMiddleware(max_retries="once")  # type: ignore[arg-type]
    langchain_llama3_tools.Llama3ToolModel(chat_model, options=ChatOptions())  # type: ignore[call-arg]
    langchain_llama3_tools.flatten_tool_messages([], tool_role="system")  # type: ignore[arg-type]
    llama_index_llama3_tools.Llama3ToolLLM(llm, tools_in="never")  # type: ignore[arg-type]
    llama_index_llama3_tools.Llama3ToolLLM(llm, options=ChatOptions())  # type: ignore[call-arg]
    llama_index_llama3_tools.Llama3ReActOutputParser(on_unknown_tool="raise")  # type: ignore[arg-type]
    llama_index_llama3_tools.Llama3JsonToolOutputParser(formats=["xml"])  # type: ignore[list-item]
