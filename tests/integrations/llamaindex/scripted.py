"""An LLM of LlamaIndex that streams what a test chooses, and what is in its answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_completion_callback

CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
"""A call, as Llama 3.1 writes it."""
OPEN = CALL[: CALL.index("is")]
"""A call that was cut off."""

Style = Literal["delta and content", "delta", "content"]
"""How an LLM says what is new: a delta beside the text so far, a delta alone, or the text so far."""


class ScriptedLLM(CustomLLM):
    """Answers with its chunks, joined or one by one. CustomLLM gives the chat methods and the asynchronous ones."""

    chunks: list[str]
    is_chat_model: bool = True
    style: Style = "delta and content"
    _prompts: list[str] = PrivateAttr(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "ScriptedLLM"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=self.is_chat_model, model_name="scripted")

    @property
    def prompts(self) -> list[str]:
        """The prompts that it was given."""
        return self._prompts

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002, FBT002 (the framework's signature)
        self._prompts.append(prompt)
        return CompletionResponse(text="".join(self.chunks), raw={"chunks": len(self.chunks)})

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:  # noqa: ARG002, FBT002 (the framework's signature)
        self._prompts.append(prompt)

        def responses() -> CompletionResponseGen:
            text = ""
            for number, chunk in enumerate(self.chunks):
                text += chunk
                delta = chunk if self.style != "content" else None
                yield CompletionResponse(text=text * (self.style != "delta"), delta=delta, raw={"number": number})

        return responses()


def said(responses: Iterable[ChatResponse | CompletionResponse]) -> str:
    """Return the text that a stream has shown."""
    return "".join(response.delta or "" for response in responses)


def calls_in(message: ChatMessage) -> list[tuple[str, Any]]:
    """Return the names and the arguments of a message's calls."""
    return [(block.tool_name, block.tool_kwargs) for block in message.blocks if isinstance(block, ToolCallBlock)]
