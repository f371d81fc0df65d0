"""What frameworks ask of a chat model beside answers: the wrapper has it as the wrapped model does."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from integrations.langchain.agents import get_weather
from integrations.langchain.scripted import CUT_OFF, ScriptedChatModel, as_text_chunks
from langchain_llama3_tools import Llama3ToolModel
from llama3_tools import Limits

REFUSED = {
    "cut off": CUT_OFF,
    "malformed": '{"name": "get_weather", "parameters": {"city": Paris}}',
}


def gpt(**options: Any) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-4o", api_key=SecretStr("none"), **options)


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
class TestSerialisation:
    def test_it_comes_back_with_its_model_and_its_options(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        model = Llama3ToolModel(gpt(temperature=0.5), tool_role="tool", repair=True, max_retries=3, id_factory=str)
        text = dumps(model)
        namespaces = ["langchain_llama3_tools", "langchain_openai", "langchain"]
        copy = loads(
            text, valid_namespaces=namespaces, allowed_objects=[Llama3ToolModel, ChatOpenAI], secrets_from_env=True
        )
        assert isinstance(copy, Llama3ToolModel)
        assert (copy.options.tool_role, copy.options.read.repair, copy.options.max_retries) == ("tool", True, 3)
        assert isinstance(copy.llm, ChatOpenAI)
        assert (copy.llm.model_name, copy.llm.temperature) == ("gpt-4o", 0.5)
        assert dumps(copy) == text


def test_a_cache_tells_wrappers_apart_by_their_options() -> None:
    llm = gpt()
    options: list[dict[str, Any]] = [{}, {"repair": True}, {"formats": "json"}, {"limits": Limits(max_calls=2)}]
    wrappers = [Llama3ToolModel(llm, **each) for each in options]
    assert len({one._get_llm_string() for one in wrappers}) == len(wrappers)  # noqa: SLF001 (what a cache asks)


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
class TestEvents:
    """`stream_events(version="v3")`, whose bridge makes a call of all arguments that are JSON."""

    def model(self, text: str) -> Llama3ToolModel:
        return Llama3ToolModel(ScriptedChatModel(chunks=as_text_chunks(list(text))), max_retries=0)

    def check(self, message: Any) -> None:
        assert isinstance(message, AIMessage)
        assert message.tool_calls == []
        assert [refused["name"] for refused in message.invalid_tool_calls] == ["get_weather"]
        assert [refused["name"] for refused in message.response_metadata["refused_tool_calls"]] == ["get_weather"]

    async def test_a_refused_call_of_a_model_is_no_call(self, text: str) -> None:
        bound: Any = self.model(text).bind_tools([get_weather])
        self.check(bound.stream_events("Hi", version="v3").output)
        self.check(await (await bound.astream_events("Hi", version="v3")).output)
