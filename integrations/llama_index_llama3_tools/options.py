"""The options of `Llama3ToolLLM`: its fields, checked when it is made, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Literal, TypeAlias

from llama_index.core.bridge.pydantic import Field, ValidationInfo, field_validator, model_validator
from llama_index.core.llms import ChatMessage

from llama3_tools import Extractor, FormatName, Limits, OnUnknownTool, PromptFormat
from llama3_tools.errors import require_bool
from llama3_tools.limits import DEFAULT_LIMITS, loaded_limits
from llama3_tools.prompts.placement import ToolsIn
from llama_index_llama3_tools.history import ToolRole, flatten_messages
from llama_index_llama3_tools.plain import LLMAround
from llama_index_llama3_tools.reading import Reading, TextReader

__all__ = ["ToolLLMOptions", "ToolMode"]

ToolMode: TypeAlias = Literal["auto", "native", "prompt"]
"""How the model gets to know its tools: in the prompt, through the server, or as the LLM itself says."""


class ToolLLMOptions(LLMAround):
    """An LLM around another one, with the options of `Llama3ToolLLM`, which says what they mean."""

    tool_mode: ToolMode = Field(default="auto", description="Whether tools go into the prompt or through the server.")
    tools_in: ToolsIn = Field(default="user", description="The message that shows the model its tools.")
    tool_role: ToolRole = Field(default="tool", description="The role under which results are sent.")
    prompt_format: PromptFormat = Field(default="json", description="The form in which the model is asked to call.")
    on_unknown_tool: OnUnknownTool = Field(default="call", description="What a call of a tool that was not given is.")
    coerce_arguments: bool = Field(default=True, description="Whether arguments are made to fit their tool's schema.")
    formats: tuple[FormatName, ...] | None = Field(
        default=None, description="The forms of calls to read beside `prompt_format`, by name."
    )
    lenient: bool = Field(default=False, description="Whether calls under keys that no manual has are read, too.")
    repair: bool = Field(default=False, description="Whether malformed calls that are closed are repaired.")
    split_reasoning: bool = Field(default=False, description="Whether <think>…</think> is reasoning, and no text.")
    starts_reasoning: bool = Field(default=False, description="Whether the model's output begins inside reasoning.")
    limits: Limits = Field(default=DEFAULT_LIMITS, description="How deep, how long and how many calls may be.")
    max_parse_retries: int = Field(
        default=0, ge=0, description="How many times a model that failed to write a fitting call is asked again."
    )

    @field_validator("tool_role", mode="before")
    @classmethod
    def _check_role(cls, role: object) -> object:
        if role == "ipython":
            raise ValueError(
                'LlamaIndex has no messages of the role "ipython": take "tool", which templates of Llama 3.1 write so'
            )
        return role

    @field_validator("coerce_arguments", "lenient", "repair", "split_reasoning", "starts_reasoning", mode="before")
    @classmethod
    def _check_bools(cls, value: object, info: ValidationInfo) -> object:
        require_bool(**{str(info.field_name): value})
        return value

    @field_validator("limits", mode="before")
    @classmethod
    def _check_limits(cls, limits: object) -> Limits:
        return loaded_limits(limits)

    @model_validator(mode="after")
    def _check_extras(self) -> ToolLLMOptions:
        """Make a reader once, so that an extra that is missing is told of before the model is asked."""
        self._reading().reader(partial(Extractor, tools=()), on_unknown_tool="text", coerce_arguments=False)
        return self

    def _reading(self) -> Reading:
        return Reading(
            self.formats, self.lenient, self.repair, self.split_reasoning, self.starts_reasoning, self.limits
        )

    def _plain_reader(self) -> TextReader:
        return self._reading().reader_of_reasoning()

    def _flatten(self, messages: Iterable[ChatMessage]) -> list[ChatMessage]:
        return flatten_messages(
            messages,
            tool_role=self.tool_role,
            prompt_format=self.prompt_format,
            drop_reasoning=self.split_reasoning,
        )
