"""LlamaIndex: parser and LLM with a typical output, against a parser and an LLM that read no calls in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.llms import (
    ChatMessage,
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import BaseTool, FunctionTool
from llama_index.core.types import BaseOutputParser

from adapter_runs import CHUNKS, OF_MODEL, OF_PARSER, Run, get_weather, read_all, require_one
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolLLM
from workloads import TYPICAL


class _Scripted(CustomLLM):
    """An LLM that always answers the same."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, *_: object, **__: object) -> CompletionResponse:
        del prompt
        return CompletionResponse(text=TYPICAL)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, *_: object, **__: object) -> CompletionResponseGen:
        del prompt
        text = ""
        for chunk in CHUNKS:
            text += chunk
            yield CompletionResponse(text=text, delta=chunk)


class _Calling(_Scripted, FunctionCallingLLM):
    """One that is told of tools, as LlamaIndex's own are for each request."""

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        *_: Any,  # noqa: ANN401 (more of what the framework has)
        **__: Any,  # noqa: ANN401 (the same)
    ) -> dict[str, Any]:
        specs = [tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools]
        return {"messages": [ChatMessage(user_msg)], "tools": specs}


class _AsItIs(BaseOutputParser):
    """A parser that gives texts as they are."""

    def parse(self, output: str) -> str:
        return output


def _runs() -> list[Run]:
    parser, llm, messages = Llama3JsonToolOutputParser([get_weather]), _Scripted(), [ChatMessage("Hello")]
    bare_parser, calling = _AsItIs(), _Calling()
    model, tools = Llama3ToolLLM(llm), [FunctionTool.from_defaults(get_weather)]
    require_one(len(parser.parse(TYPICAL).tool_calls))
    require_one(len(model.get_tool_calls_from_response(model.chat_with_tools(tools, "Hello"))))
    return [
        Run(
            "LlamaIndex: parser.parse",
            "message",
            OF_PARSER,
            lambda: parser.parse(TYPICAL),
            lambda: bare_parser.parse(TYPICAL),
        ),
        Run(
            "LlamaIndex: parser.promote",
            "message",
            OF_PARSER,
            lambda: parser.promote(llm.chat(messages)),
            lambda: llm.chat(messages),
        ),
        Run(
            "LlamaIndex: parser.stream",
            "chunk",
            OF_PARSER,
            lambda: read_all(parser.stream(llm.stream_chat(messages))),
            lambda: read_all(llm.stream_chat(messages)),
        ),
        Run(
            "LlamaIndex: llm.chat_with_tools",
            "message",
            OF_MODEL,
            lambda: model.chat_with_tools(tools, "Hello"),
            lambda: calling.chat_with_tools(tools, "Hello"),
        ),
        Run(
            "LlamaIndex: llm.stream_chat_with_tools",
            "chunk",
            OF_MODEL,
            lambda: read_all(model.stream_chat_with_tools(tools, "Hello")),
            lambda: read_all(calling.stream_chat_with_tools(tools, "Hello")),
        ),
    ]


RUNS = _runs()
