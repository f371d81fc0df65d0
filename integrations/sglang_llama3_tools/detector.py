"""The detector, which SGLang makes for each answer."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, StructureInfo, ToolCallItem

from llama3_tools import ReadOptions, ToolDefinitionError
from llama3_tools.chat import ChatOptions, ChatStream, Reply, Request, kept_chat

_LOG = logging.getLogger("sglang.llama3_tools")
_OF_CALLS = ("{", "(", "<")
"""What no call does without."""


class Llama3Detector(BaseFormatDetector):
    r"""Reads one answer by the rules of `llama3_tools`, whole or in pieces.

    A subclass may set other `options`.

    >>> from sglang.srt.entrypoints.openai.protocol import Function, Tool
    >>> tools = [Tool(type="function", function=Function(name="now", parameters={"type": "object"}))]
    >>> found = Llama3Detector().detect_and_parse('Let me see.\n{"name": "now", "parameters": {}}', tools)
    >>> found.normal_text, found.calls[0].name, found.calls[0].parameters
    ('Let me see.', 'now', '{}')
    """

    options: ClassVar[ChatOptions] = ChatOptions(read=ReadOptions(on_unknown_tool="call", coerce_arguments=True))
    """How calls are read. What a model is shown, and whether it is asked again, is not for a detector to say."""

    def __init__(self) -> None:
        """Begin an answer.

        Raises:
            ValueError: `options` has `split_reasoning`.
        """
        super().__init__()
        if self.options.read.split_reasoning:
            raise ValueError("split_reasoning is for SGLang to do: leave it out, and start it with --reasoning-parser")
        self._stream: ChatStream | None = None
        self._is_read = True
        """Whether the tools could be read."""

    def has_tool_call(self, text: str) -> bool:
        """Return whether an answer is worth reading. SGLang asks that before it says which tools there are."""
        return any(character in text for character in _OF_CALLS)

    def detect_and_parse(self, text: str, tools: list[Tool]) -> StreamingParseResult:
        """Read a whole answer."""
        request = self._request(tools)
        if request is None:
            return StreamingParseResult(normal_text=text)
        reply = request.read({"content": text})
        _log(reply)
        content = reply.content if isinstance(reply.content, str) else ""
        calls = [{"index": index, **call.to_openai()} for index, call in enumerate(reply.tool_calls)]
        return StreamingParseResult(normal_text=content, calls=[_item(call) for call in calls])

    def parse_streaming_increment(self, new_text: str, tools: list[Tool]) -> StreamingParseResult:
        """Read the next piece of an answer, and return what became certain."""
        if self._stream is None and self._is_read:
            request = self._request(tools)
            self._stream = None if request is None else request.stream()
            self._is_read = request is not None
        if self._stream is None:
            return StreamingParseResult(normal_text=new_text)
        return self._result(self._stream.feed({"content": new_text}))

    def finish(self, tools: list[Tool]) -> StreamingParseResult:  # noqa: ARG002 (as SGLang calls it)
        """End an answer, and return what was held back for it."""
        if self._stream is None:
            return StreamingParseResult()
        stream, self._stream = self._stream, None
        result = self._result(stream.end())
        _log(stream.reply)
        return result

    def get_structural_tag_name(self) -> str:
        """Return how SGLang holds the model to a call, if one has to be made: by XGrammar's name for Llama."""
        return "llama"

    def structure_info(self) -> Callable[[str], StructureInfo]:
        """Return the text around the arguments of a tool's call, for grammars without XGrammar's names."""
        return lambda name: StructureInfo(
            begin=f'{{"name": {json.dumps(name)}, "parameters": ', end="}", trigger='{"name": '
        )

    def _request(self, tools: list[Tool]) -> Request | None:
        """Return what reads an answer; `None` if a tool cannot be read, as it is too late to refuse the request."""
        options = replace(self.options, tools_in="request", max_retries=0)
        try:
            return kept_chat([tool.model_dump(exclude_none=True) for tool in tools], options).request([])
        except (ToolDefinitionError, TypeError) as error:
            _LOG.error("no calls are read: %s", error)
            return None

    def _result(self, deltas: Iterable[Mapping[str, Any]]) -> StreamingParseResult:
        """Return deltas of the chat layer as SGLang has them, which looks up in lists what it has sent of each call."""
        content = "".join(delta.get("content", "") for delta in deltas)
        calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
        self.prev_tool_call_arr += [dict(call["function"]) for call in calls]
        self.streamed_args_for_tool += [call["function"]["arguments"] for call in calls]
        return StreamingParseResult(normal_text=content, calls=[_item(call) for call in calls])


def _item(call: Mapping[str, Any]) -> ToolCallItem:
    return ToolCallItem(
        tool_index=call["index"], name=call["function"]["name"], parameters=call["function"]["arguments"]
    )


def _log(reply: Reply) -> None:
    for line in reply.report.lines():
        _LOG.warning(line)
