"""Malformed calls: text in the content, and collected, or an exception."""

from __future__ import annotations

import json

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call

from integrations.langchain.scripted import CALL, CUT_OFF, counted_ids, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser

OUTPUT = f"Well, {CALL} {CUT_OFF}"


def test_it_stays_in_the_content_and_is_collected() -> None:
    message = Llama3JsonToolOutputParser(id_factory=counted_ids()).invoke(OUTPUT)
    assert (message.content, [call["name"] for call in message.tool_calls]) == (f"Well, {CUT_OFF}", ["get_weather"])
    [refused] = message.response_metadata["refused_tool_calls"]
    error = f"{refused['reason']}: {refused['detail']}"
    args = json.dumps(CUT_OFF)[:-1]
    assert message.invalid_tool_calls == [invalid_tool_call(name="get_weather", args=args, id="call_1", error=error)]


def test_it_raises_when_asked() -> None:
    with pytest.raises(OutputParserException, match=r"a malformed tool call: get_weather \(truncated\): ") as raised:
        Llama3JsonToolOutputParser(on_invalid="raise").invoke(OUTPUT)
    assert raised.value.llm_output == OUTPUT


@pytest.mark.parametrize("pieces", [[OUTPUT], list(OUTPUT)])
def test_it_raises_at_the_end_of_a_stream_and_all_else_is_out(pieces: list[str]) -> None:
    arrived: list[AIMessage] = []
    with pytest.raises(OutputParserException) as raised:
        arrived.extend(Llama3JsonToolOutputParser(on_invalid="raise").transform(iter(pieces)))
    assert raised.value.llm_output == OUTPUT
    message = summed(arrived)
    assert (message.content, [call["name"] for call in message.tool_calls]) == (f"Well, {CUT_OFF}", ["get_weather"])
