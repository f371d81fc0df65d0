"""What the parser gives: text, tool calls as LlamaIndex selects them, and the calls that failed."""

from __future__ import annotations

from dataclasses import dataclass

from llama_index.core.bridge.pydantic import BaseModel, ConfigDict, Field
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.llm import ToolSelection

from llama3_tools import Extraction, RejectionReason
from llama3_tools.text.escaping import escape_invisible
from llama3_tools.text.json_writing import shown
from llama3_tools.values import fields_shown
from llama_index_llama3_tools.messages import assistant_message, tool_selection

__all__ = ["FailedToolCall", "Llama3ToolOutput", "Showable"]


class Showable(BaseModel):
    """A model that is shown with integers of any size, which Python does not write; no character hides."""

    def __repr_str__(self, join_str: str) -> str:
        """Write the fields, for `repr` and `str`."""
        fields = {name: value for name, value in self.__repr_args__() if name}
        try:
            written = {name: repr(value) for name, value in fields.items()}
        except ValueError:
            written = {name: shown(value) for name, value in self.model_dump(include=set(fields)).items()}
        return escape_invisible(join_str.join(f"{name}={value}" for name, value in written.items()), exact=True)


@dataclass(frozen=True, slots=True)
class FailedToolCall:
    """A tool call that the model attempted and that cannot be run. Its text is part of the output's text."""

    name: str
    """The tool that it seems to name; empty where it stands in a tag for calls and names none."""
    text: str
    """What the model wrote, from its first character to the last that could still have been a call."""
    reason: RejectionReason
    """One word for the cause."""
    detail: str
    """What was found, where (an offset into the output), and what was expected."""

    def __repr__(self) -> str:
        """Show it as Python does; no character hides."""
        return fields_shown(self)

    def __str__(self) -> str:
        """Return one line that a person, or the model in a second try, can act on."""
        return escape_invisible(f"{self.name or 'a call'} ({self.reason}): {self.detail}", exact=True)


class Llama3ToolOutput(Showable):
    """One model output, taken apart.

    A pydantic model, so that it can be the field of a Workflow event and be stored in a Workflow's context. Its `str()`
    is the text, which is what `llm.predict` gives where the parser is the LLM's `output_parser`.

    >>> from llama_index_llama3_tools import Llama3JsonToolOutputParser
    >>> output = Llama3JsonToolOutputParser().parse('On it. {"name": "now", "parameters": {}}')
    >>> print(output)
    On it.
    >>> [call.tool_name for call in output.tool_calls]
    ['now']
    """

    model_config = ConfigDict(frozen=True)

    text: str = Field(description="The text that is no call. Empty where calls are all there is.")
    tool_calls: list[ToolSelection] = Field(
        default_factory=list, description="The calls, in the order in which the model wrote them, each with an id."
    )
    errors: list[FailedToolCall] = Field(
        default_factory=list, description="The calls that the model attempted and that cannot be run."
    )
    reasoning: str | None = Field(
        default=None, description="What the model thought, where the parser splits that off; without its tags."
    )
    extraction: Extraction = Field(description="All that was found: spans, formats, every rejection.", repr=False)

    @classmethod
    def from_extraction(cls, output: str, extraction: Extraction) -> Llama3ToolOutput:
        """Read an extraction.

        Args:
            output: the model output that was extracted from.
            extraction: what the extractor found in it.
        """
        return cls(
            text=extraction.content or "",
            tool_calls=[tool_selection(call) for call in extraction.tool_calls],
            errors=failed_tool_calls(output, extraction),
            reasoning=extraction.reasoning,
            extraction=extraction,
        )

    def to_chat_message(self) -> ChatMessage:
        """Return the assistant message that a server with native tool calls would have sent.

        A `ThinkingBlock` where reasoning was split off, one `TextBlock` where there is text, then a `ToolCallBlock` for
        each call. The calls are repeated in `additional_kwargs["tool_calls"]`, in OpenAI's format, because parts of
        LlamaIndex look for them there.
        """
        return assistant_message(self.extraction.content, self.extraction.tool_calls, reasoning=self.reasoning)

    def __str__(self) -> str:
        """Return the text."""
        return self.text


def failed_tool_calls(output: str, extraction: Extraction) -> list[FailedToolCall]:
    """Return the attempts to call a tool that failed (rule 15)."""
    return [
        FailedToolCall(rejection.name or "", output[slice(*rejection.span)], rejection.reason, rejection.detail)
        for rejection in extraction.attempts
    ]
