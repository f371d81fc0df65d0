"""LangChain: chains and models with a typical output, against `StrOutputParser` and against the model alone."""

from __future__ import annotations

from collections.abc import Iterator

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from adapter_runs import CHUNKS, Run, get_weather, read_all, require_one
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolModel
from workloads import TYPICAL

__all__ = ["RUNS"]


class _Scripted(BaseChatModel):
    """A model that always answers the same."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
        del messages
        return ChatResult(generations=[ChatGeneration(message=AIMessage(TYPICAL))])

    def _stream(self, messages: list[BaseMessage], *_: object, **__: object) -> Iterator[ChatGenerationChunk]:
        del messages
        for chunk in CHUNKS:
            yield ChatGenerationChunk(message=AIMessageChunk(content=chunk))


def _runs() -> list[Run]:
    message, chunks = AIMessage(TYPICAL), [AIMessageChunk(content=chunk) for chunk in CHUNKS]
    parser, text, llm = Llama3JsonToolOutputParser(tools=[get_weather]), StrOutputParser(), _Scripted()
    model = Llama3ToolModel(llm).bind_tools([get_weather])
    require_one(len(parser.invoke(message).tool_calls))
    require_one(len(model.invoke("Hello").tool_calls))
    return [
        Run("LangChain: parser.invoke", "message", lambda: parser.invoke(message), lambda: text.invoke(message)),
        Run(
            "LangChain: parser.transform",
            "chunk",
            lambda: read_all(parser.transform(iter(chunks))),
            lambda: read_all(text.transform(iter(chunks))),
        ),
        Run("LangChain: model.invoke", "message", lambda: model.invoke("Hello"), lambda: llm.invoke("Hello")),
        Run(
            "LangChain: model.stream",
            "chunk",
            lambda: read_all(model.stream("Hello")),
            lambda: read_all(llm.stream("Hello")),
        ),
    ]


RUNS = _runs()
