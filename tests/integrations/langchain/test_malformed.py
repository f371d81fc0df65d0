"""Malformed calls: text in the content, and collected, or an exception."""

from __future__ import annotations

import json

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import invalid_tool_call

from chunkings import chunkings
from integrations.langchain.scripted import (
    CALL,
    CUT_OFF,
    as_block_chunks,
    as_text_chunks,
    counted_ids,
    fields,
    streamed,
    summed,
)
from langchain_llama3_tools import Llama3JsonToolOutputParser
from llama3_tools import extract

ATTEMPTS = [CUT_OFF, '{"name": "get_weather", "parameters": {"city": Paris}}']


@pytest.mark.parametrize("attempt", ATTEMPTS)
class TestCollected:
    """`on_invalid="collect"`, the default."""

    def test_it_stays_in_the_content_and_is_collected(self, attempt: str) -> None:
        output = f"Well, {attempt}"
        [rejection] = extract(output).rejections
        message = Llama3JsonToolOutputParser(id_factory=counted_ids()).invoke(output)
        assert message.content == output
        assert message.tool_calls == []
        args = json.dumps(output[slice(*rejection.span)])[:-1]
        error = f"{rejection.reason}: {rejection.detail}"
        [collected] = message.invalid_tool_calls
        assert collected == invalid_tool_call(name="get_weather", args=args, id="call_0", error=error)

    def test_no_sum_of_chunks_makes_a_call_of_it(self, attempt: str) -> None:
        output = f"Well, {CALL} {attempt}"
        expected = Llama3JsonToolOutputParser(id_factory=counted_ids()).invoke(output)
        for pieces in chunkings(output, is_sampled=True):
            for chunks in (as_text_chunks(pieces), as_block_chunks(pieces)):
                out = streamed(Llama3JsonToolOutputParser(id_factory=counted_ids()), chunks)
                message = summed([AIMessageChunk(content=""), *out, AIMessageChunk(content="")])
                assert message.tool_calls == expected.tool_calls
                assert fields(message)["invalid_tool_calls"] == fields(expected)["invalid_tool_calls"]
                refused = message.response_metadata["refused_tool_calls"]
                assert refused == expected.response_metadata["refused_tool_calls"]

    def test_it_raises_when_asked(self, attempt: str) -> None:
        output = f"Well, {CALL} {attempt}"
        with pytest.raises(OutputParserException) as raised:
            Llama3JsonToolOutputParser(on_invalid="raise").invoke(output)
        [rejection] = extract(output).rejections
        assert f"a malformed tool call: get_weather ({rejection.reason}): {rejection.detail}" in str(raised.value)
        assert raised.value.llm_output == output

    def test_it_raises_at_the_end_of_a_stream_and_all_else_is_out(self, attempt: str) -> None:
        output = f"Well, {CALL} {attempt}"
        for pieces in ([output], list(output)):
            arrived: list[AIMessage] = []
            with pytest.raises(OutputParserException) as raised:
                arrived.extend(Llama3JsonToolOutputParser(on_invalid="raise").transform(iter(pieces)))
            assert raised.value.llm_output == output
            message = summed(arrived)
            assert message.content == f"Well, {attempt}"
            assert [call["name"] for call in message.tool_calls] == ["get_weather"]
