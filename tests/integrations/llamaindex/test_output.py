"""The value that `parse` gives: as a message, as text, as JSON."""

from __future__ import annotations

import pickle

import pytest
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import MessageRole, TextBlock

from integrations.llamaindex.scripted import CALL, OPEN
from llama_index_llama3_tools import (
    Llama3JsonToolOutputParser,
    Llama3ToolOutput,
)


def parse(output: str) -> Llama3ToolOutput:
    return Llama3JsonToolOutputParser().parse(output)


def test_a_message_has_one_text_then_the_calls_and_repeats_these_as_openai_writes_them() -> None:
    output = parse(f"One {CALL} two")
    message = output.to_chat_message()
    [call] = output.tool_calls
    assert message.role == MessageRole.ASSISTANT
    assert message.blocks == [
        TextBlock(text="One two"),
        ToolCallBlock(tool_call_id=call.tool_id, tool_name="get_weather", tool_kwargs={"city": "Paris"}),
    ]
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    assert message.additional_kwargs == {"tool_calls": [{"id": call.tool_id, "type": "function", "function": function}]}


@pytest.mark.parametrize("text", ["", f"One {CALL}; {CALL} two", f"{CALL} {OPEN}"])
def test_an_output_goes_through_json_and_through_pickle(text: str) -> None:
    output = parse(text)
    assert Llama3ToolOutput.model_validate_json(output.model_dump_json()) == output
    assert pickle.loads(pickle.dumps(output)) == output  # noqa: S301 (made here)


def test_nothing_that_is_shown_hides_or_commands_a_terminal() -> None:
    hidden = "\x1b\u202e\u3164\ufe0fé\u200cé"
    output = parse(f"<tool_call>{{'name': 'f{hidden}'}}</tool_call>")
    assert r"\u202e\u3164" in repr(output)
    assert not {"\x1b", "\u202e", "\u3164", "\ufe0f", "\u200c"} & set(repr(output))
