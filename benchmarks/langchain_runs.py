"""LangChain: parser and model with a typical output, against a parser and a model that read no calls in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import BaseTransformOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, Generation
from langchain_core.utils.function_calling import convert_to_openai_tool

from adapter_runs import CHUNKS, OF_MODEL, OF_PARSER, Run, get_weather, read_all, require_one
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel
from workloads import TYPICAL


class _Scripted(BaseChatModel):
    """A model that always answers the same."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401 (the framework's signature)
    ) -> ChatResult:
        del messages, stop, run_manager, kwargs
        return ChatResult(generations=[ChatGeneration(message=AIMessage(TYPICAL))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401 (the framework's signature)
    ) -> Iterator[ChatGenerationChunk]:
        del messages, stop, run_manager, kwargs
        for chunk in CHUNKS:
            yield ChatGenerationChunk(message=AIMessageChunk(content=chunk))


class _AsItIs(BaseTransformOutputParser[BaseMessage]):
    """A parser that gives messages as they are."""

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> BaseMessage:
        del partial
        generation = result[0]
        return generation.message if isinstance(generation, ChatGeneration) else self.parse(generation.text)

    def parse(self, text: str) -> BaseMessage:
        return AIMessage(text)


def _runs() -> list[Run]:
    message, chunks = AIMessage(TYPICAL), [AIMessageChunk(content=chunk) for chunk in CHUNKS]
    parser, bare_parser, llm = Llama3JsonToolOutputParser(tools=[get_weather]), _AsItIs(), _Scripted()
    model = Llama3ToolModel(llm).bind_tools([get_weather])
    bare_model = llm.bind(tools=[convert_to_openai_tool(get_weather)])
    require_one(len(parser.invoke(message).tool_calls))
    require_one(len(model.invoke("Hello").tool_calls))
    return [
        Run(
            "LangChain: parser.invoke",
            "message",
            OF_PARSER,
            lambda: parser.invoke(message),
            lambda: bare_parser.invoke(message),
        ),
        Run(
            "LangChain: parser.transform",
            "chunk",
            OF_PARSER,
            lambda: read_all(parser.transform(iter(chunks))),
            lambda: read_all(bare_parser.transform(iter(chunks))),
        ),
        Run(
            "LangChain: model.invoke",
            "message",
            OF_MODEL,
            lambda: model.invoke("Hello"),
            lambda: bare_model.invoke("Hello"),
        ),
        Run(
            "LangChain: model.stream",
            "chunk",
            OF_MODEL,
            lambda: read_all(model.stream("Hello")),
            lambda: read_all(bare_model.stream("Hello")),
        ),
    ]


RUNS = _runs()
