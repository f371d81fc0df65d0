"""The parser, which vLLM makes for each request. `--tool-parser-plugin` can load this file, too."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.exceptions import VLLMValidationError
from vllm.tokenizers import TokenizerLike
from vllm.tool_parsers import ToolParser, ToolParserManager
from vllm.tool_parsers.abstract_tool_parser import Tool

from llama3_tools import ReadOptions, ToolDefinitionError
from llama3_tools.chat import ChatOptions, ChatStream, Reply, Request, kept_chat

_LOG = logging.getLogger("vllm.llama3_tools")  # which vLLM shows, as it does its own


class Llama3ToolParser(ToolParser):
    r"""Reads the outputs of one request by the rules of `llama3_tools`, whole or in deltas.

    A subclass may set other `options`.

    >>> from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    >>> tool = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
    >>> request = ChatCompletionRequest(messages=[], model="llama3.1", tools=[tool], tool_choice="auto")
    >>> found = Llama3ToolParser(None, request.tools).extract_tool_calls(
    ...     'Let me see.\n{"name": "now", "parameters": {}}', request
    ... )
    >>> found.content, found.tool_calls[0].function.name, found.tool_calls[0].function.arguments
    ('Let me see.', 'now', '{}')
    """

    options: ClassVar[ChatOptions] = ChatOptions(read=ReadOptions(on_unknown_tool="call", coerce_arguments=True))
    """How calls are read. What a model is shown, and whether it is asked again, is not for a parser to say."""

    engine_based_streaming = True  # so that `finish_streaming` is called
    structural_tag_model = "llama"  # how vLLM holds the model to a call, if one has to be made: as for llama3_json

    def __init__(self, tokenizer: TokenizerLike, tools: list[Tool] | None = None) -> None:
        """Declare the tools of a request.

        Args:
            tokenizer: the model's; nothing is asked of it.
            tools: the tools; those that are not functions are vLLM's to call.

        Raises:
            VLLMValidationError: the declaration of a tool cannot be read; the client gets HTTP 400.
            ValueError: `options` has `split_reasoning`.
        """
        super().__init__(tokenizer, tools)
        if self.options.read.split_reasoning:
            raise ValueError("split_reasoning is for vLLM to do: leave it out, and start vLLM with --reasoning-parser")
        options = replace(self.options, tools_in="request", max_retries=0)
        try:
            self._chat = kept_chat([tool.model_dump(exclude_none=True) for tool in self.tools], options)
        except (ToolDefinitionError, TypeError) as error:
            raise VLLMValidationError(str(error), parameter="tools") from error
        self._stream: ChatStream | None = None

    def adjust_request(
        self, request: ChatCompletionRequest | ResponsesRequest
    ) -> ChatCompletionRequest | ResponsesRequest:
        """Keep the special tokens in the output, as some of them say what is a call."""
        request = super().adjust_request(request)
        if self._reads(request):
            request.skip_special_tokens = False
        return request

    def extract_tool_calls(self, model_output: str, request: ChatCompletionRequest) -> ExtractedToolCallInformation:
        """Read a whole output. With `tool_choice="none"`, it comes back as it is."""
        if not self._reads(request):
            return ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=model_output)
        reply = self._request(request).read({"content": model_output})
        _log(reply)
        calls = [
            ToolCall(id=call.id, type="function", function=FunctionCall(**call.to_openai()["function"]))
            for call in reply.tool_calls
        ]
        content = reply.content if isinstance(reply.content, str) else None
        return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=content)

    def extract_tool_calls_streaming(  # noqa: PLR0913, PLR0917 (as vLLM calls it)
        self,
        previous_text: str,  # noqa: ARG002 (the stream knows what came before)
        current_text: str,  # noqa: ARG002
        delta_text: str,
        previous_token_ids: Sequence[int],  # noqa: ARG002
        current_token_ids: Sequence[int],  # noqa: ARG002
        delta_token_ids: Sequence[int],  # noqa: ARG002
        request: ChatCompletionRequest,
    ) -> DeltaMessage | None:
        """Read the next piece of an output, and return what became certain; `None` if nothing did."""
        if not self._reads(request):
            return DeltaMessage(content=delta_text) if delta_text else None
        if self._stream is None:
            self._stream = self._request(request).stream()
        return self._message(self._stream.feed({"content": delta_text}))

    def finish_streaming(self) -> DeltaMessage | None:
        """End an output, and return what was held back for it."""
        if self._stream is None:
            return None
        stream, self._stream = self._stream, None
        message = self._message(stream.end())
        _log(stream.reply)
        return message

    def _reads(self, request: ChatCompletionRequest | ResponsesRequest) -> bool:
        return bool(self.tools) and request.tool_choice != "none"

    def _request(self, request: ChatCompletionRequest | ResponsesRequest) -> Request:
        return self._chat.request([], parallel_tool_calls=request.parallel_tool_calls)

    def _message(self, deltas: Iterable[Mapping[str, Any]]) -> DeltaMessage | None:
        """Return deltas of the chat layer as one of vLLM's, which looks up in lists what it has sent of each call."""
        content = "".join(delta.get("content", "") for delta in deltas)
        calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
        if not content and not calls:
            return None
        self.prev_tool_call_arr += [dict(call["function"]) for call in calls]
        self.streamed_args_for_tool += [call["function"]["arguments"] for call in calls]
        sent = [
            DeltaToolCall(
                index=call["index"], id=call["id"], type="function", function=DeltaFunctionCall(**call["function"])
            )
            for call in calls
        ]
        return DeltaMessage(content=content or None, tool_calls=sent)


def _log(reply: Reply) -> None:
    for line in reply.report.lines():
        _LOG.warning(line)


ToolParserManager.register_module("llama3_tools", module=Llama3ToolParser)
