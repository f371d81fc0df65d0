"""An LLM of LlamaIndex that streams what a test chooses, and the ways to cut an output."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Literal

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback

CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
"""A call, as Llama 3.1 writes it."""

Style = Literal["delta and content", "delta", "content", "pieces"]
"""How an LLM says what is new: a delta beside the text so far, a delta alone, the text so far, or the piece as text."""

STYLES: list[Style] = ["delta and content", "delta", "content", "pieces"]


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
                shown = {"delta and content": text, "delta": "", "content": text, "pieces": chunk}[self.style]
                delta = chunk if self.style.startswith("delta") else None
                yield CompletionResponse(text=shown, delta=delta, raw={"number": number})

        return responses()


def chunkings(output: str) -> Iterator[list[str]]:
    """Cut an output: not at all, at each character, once at each place, and five times at random places."""
    yield [output]
    yield list(output)
    for place in range(1, len(output)):
        yield [output[:place], output[place:]]
    rng = random.Random(output)  # noqa: S311 (no secret: the same cuts in every run)
    for _ in range(5):
        places = sorted(rng.sample(range(len(output) + 1), min(6, len(output))))
        yield [output[start:end] for start, end in zip([0, *places], [*places, len(output)], strict=True)]
