"""The interface of a tool parser."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from openai.types.responses import FunctionTool
from openai.types.responses.tool import Tool as ResponsesTool

from vllm.entrypoints.generate.base.protocol import DeltaMessage, ExtractedToolCallInformation
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest, ChatCompletionToolsParam
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.tokenizers import TokenizerLike

Tool: TypeAlias = ChatCompletionToolsParam | ResponsesTool


class ToolParser:
    supports_required_and_named: bool = True
    structural_tag_model: str | None = None
    engine_based_streaming: bool = False

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if cls.structural_tag_model is not None:  # and the operator has not turned VLLM_ENFORCE_STRICT_TOOL_CALLING off
            cls.supports_required_and_named = False

    def __init__(self, tokenizer: TokenizerLike, tools: list[Tool] | None = None) -> None:
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.current_tool_id: int = -1
        self.current_tool_name_sent: bool = False
        self.streamed_args_for_tool: list[str] = []
        self.model_tokenizer = tokenizer
        functions = (ChatCompletionToolsParam, FunctionTool)
        self.tools = [tool for tool in tools or () if isinstance(tool, functions)]

    def get_remaining_unstreamed_args(self) -> str:
        if not self.prev_tool_call_arr:
            return ""
        expected: str = self.prev_tool_call_arr[-1]["arguments"]
        return expected.removeprefix(self.streamed_args_for_tool[-1])

    def adjust_request(
        self, request: ChatCompletionRequest | ResponsesRequest
    ) -> ChatCompletionRequest | ResponsesRequest:
        return request

    def extract_tool_calls(self, model_output: str, request: ChatCompletionRequest) -> ExtractedToolCallInformation:
        raise NotImplementedError

    def extract_tool_calls_streaming(  # noqa: PLR0913, PLR0917 (vLLM's)
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: ChatCompletionRequest,
    ) -> DeltaMessage | None:
        raise NotImplementedError


class ToolParserManager:
    tool_parsers: ClassVar[dict[str, type[ToolParser]]] = {}
    lazy_parsers: ClassVar[dict[str, tuple[str, str]]] = {}

    @classmethod
    def get_tool_parser(cls, name: str) -> type[ToolParser]:
        if name not in cls.tool_parsers:
            module, parser = cls.lazy_parsers[name]
            cls.tool_parsers[name] = getattr(importlib.import_module(module), parser)
        return cls.tool_parsers[name]

    @classmethod
    def register_lazy_module(cls, name: str, module_path: str, class_name: str) -> None:
        cls.lazy_parsers[name] = (module_path, class_name)

    @classmethod
    def register_module(
        cls,
        name: str | list[str] | None = None,
        force: bool = True,  # noqa: FBT002 (vLLM's)
        module: type[ToolParser] | None = None,
    ) -> type[ToolParser] | None:
        assert isinstance(name, str)
        assert force
        assert module is not None
        cls.tool_parsers[name] = module
        return module
