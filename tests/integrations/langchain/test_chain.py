"""The parser as LangChain's machinery drives it: chains, batches, events, configuration, serialization, threads."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, Runnable

from integrations.langchain.scripted import CALL, ScriptedChatModel, as_text_chunks, counted_ids, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser
from llama3_tools import Limits, ReadOptions

ANSWER = f"Let me check. {CALL} One moment."
PROMPT = ChatPromptTemplate.from_messages([("user", "{question}")])
QUESTION = {"question": "How is the weather in Paris?"}


async def test_astream_events() -> None:
    llm = ScriptedChatModel(chunks=as_text_chunks([ANSWER[:20], ANSWER[20:40], ANSWER[40:]]))
    chain: Runnable[Any, AIMessage] = PROMPT | llm | Llama3JsonToolOutputParser()
    events = [event async for event in chain.astream_events(QUESTION, version="v2")]
    chunks = [event["data"]["chunk"] for event in events if event["event"] == "on_parser_stream"]
    [end] = [event for event in events if event["event"] == "on_parser_end"]
    assert end["name"] == "Llama3JsonToolOutputParser"
    for message in (summed(chunks), summed([end["data"]["output"]])):
        assert message.content == "Let me check. One moment."
        assert [(call["name"], call["args"]) for call in message.tool_calls] == [("get_weather", {"city": "Paris"})]
        assert message.usage_metadata == {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
        assert (message.id, message.response_metadata["finish_reason"]) == ("chatcmpl-1", "tool_calls")


class TestConfiguration:
    """Runnables' own ways to configure."""

    def test_configurable_fields(self) -> None:
        parser = Llama3JsonToolOutputParser(tools=[{"name": "f"}]).configurable_fields(
            options=ConfigurableField(id="reading")
        )
        assert parser.invoke(CALL).tool_calls == []
        reading = ReadOptions(on_unknown_tool="call")
        assert len(parser.invoke(CALL, {"configurable": {"reading": reading}}).tool_calls) == 1

    def test_copies(self) -> None:
        parser = Llama3JsonToolOutputParser(tools=[{"name": "f"}], on_invalid="raise", split_reasoning=True)
        assert parser.invoke(CALL).tool_calls == []
        unpickled = pickle.loads(pickle.dumps(parser))  # noqa: S301 (pickled in the same line)
        for other in (unpickled, copy.copy(parser), copy.deepcopy(parser), parser.model_copy()):
            assert other == parser
            assert other.invoke(CALL).tool_calls == []
        for deep in (False, True):
            changed = parser.model_copy(update={"tools": [{"name": "get_weather"}]}, deep=deep)
            assert len(changed.invoke(CALL).tool_calls) == 1


class TestSerialization:
    """`langchain_core.load`."""

    @pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
    @pytest.mark.parametrize(
        "options",
        [
            {"tools": [{"name": "get_weather", "parameters": {"type": "object", "required": ["city"]}}]},
            {"on_invalid": "raise", "on_unknown_tool": "call", "name": "mine"},
            {"formats": ["json", "pythonic"], "split_reasoning": True, "starts_reasoning": True},
            {"limits": Limits(max_call_length=300, max_calls=2)},
        ],
    )
    def test_it_goes_round(self, options: dict[str, Any]) -> None:
        parser = Llama3JsonToolOutputParser(**options)
        loaded = loads(
            dumps(parser),
            allowed_objects=[Llama3JsonToolOutputParser],
            valid_namespaces=["langchain_llama3_tools"],
        )
        assert loaded == parser

    def test_the_id_factory_is_left_out(self) -> None:
        dumped = dumps(Llama3JsonToolOutputParser(id_factory=counted_ids()))
        assert "not_implemented" not in dumped
        assert "id_factory" not in dumped
