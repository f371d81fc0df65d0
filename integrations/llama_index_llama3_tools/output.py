"""What the parser returns: text, tool calls as LlamaIndex selects them, and what was done with them."""

from __future__ import annotations

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import BaseModel, ConfigDict, Field
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.llm import ToolSelection

from llama3_tools.chat import RefusedCall, Reply, Report
from llama3_tools.text import escape_invisible
from llama_index_llama3_tools.messages import answer_message


class Llama3ToolOutput(BaseModel):
    """One model output, taken apart.

    A pydantic model, so that it can be the field of a Workflow event and be stored in a Workflow's context. Its `str()`
    is the text, which is what `llm.predict` returns if the parser is the LLM's `output_parser`.

    >>> from llama_index_llama3_tools import Llama3JsonToolOutputParser
    >>> output = Llama3JsonToolOutputParser().parse('On it. {"name": "now", "parameters": {}}')
    >>> print(output)
    On it.
    >>> [call.tool_name for call in output.tool_calls]
    ['now']
    """

    model_config = ConfigDict(frozen=True)

    text: str = Field(description="The text without the calls. Empty if there is none.")
    tool_calls: list[ToolSelection] = Field(
        default_factory=list, description="The calls, in the order in which the model wrote them, each with an id."
    )
    errors: list[RefusedCall] = Field(default_factory=list, description="The calls that do not run, and why.")
    reasoning: str | None = Field(
        default=None, description="What the model thought, if the parser splits that off; without its tags."
    )
    report: Report = Field(description="What was done with the calls: changed, refused, repeated.", repr=False)

    @classmethod
    def from_reply(cls, reply: Reply) -> Llama3ToolOutput:
        """Return what the chat layer has read as an output."""
        return cls(
            text=str(reply.content or ""),
            tool_calls=[
                ToolSelection(tool_id=call.id, tool_name=call.name, tool_kwargs=call.arguments)
                for call in reply.tool_calls
            ],
            errors=list(reply.report.refused),
            reasoning=reply.reasoning,
            report=reply.report,
        )

    def to_chat_message(self) -> ChatMessage:
        """Return the assistant message that a server with native tool calls would have sent.

        A `ThinkingBlock` if reasoning was split off, one `TextBlock` if there is text, then a `ToolCallBlock` for each
        call. `additional_kwargs` has the calls in OpenAI's form, because parts of LlamaIndex look for them there, and
        what was done with the calls.
        """
        calls = self.report.calls
        blocks = [ToolCallBlock(tool_call_id=one.id, tool_name=one.name, tool_kwargs=one.arguments) for one in calls]
        kwargs = {"tool_calls": [call.to_openai() for call in calls]} if calls else {}
        message = ChatMessage(role=MessageRole.ASSISTANT)
        return answer_message(message, self.text, self.reasoning or "", blocks, {**kwargs, **self.report.to_dict()})

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    def __repr__(self) -> str:
        """Show the fields; no character hides."""
        return escape_invisible(super().__repr__(), exact=True)
