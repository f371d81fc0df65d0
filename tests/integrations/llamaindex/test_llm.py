"""The parser as the `output_parser` of an LLM."""

from __future__ import annotations

import pytest
from llama_index.core.llms import LLM, ChatMessage, MessageRole, MockLLM
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate

from integrations.llamaindex.scripted import CALL, ScriptedLLM
from llama3_tools import render_tool_prompt
from llama_index_llama3_tools import Llama3JsonToolOutputParser, MalformedToolCallError

TOOLS = [{"name": "get_weather", "description": "The weather", "parameters": {"type": "object", "required": ["city"]}}]
PROMPT = render_tool_prompt(TOOLS)
QUESTION = PromptTemplate("Weather in {city}?")


@pytest.mark.parametrize("is_chat_model", [True, False])
async def test_predict_gives_the_text_and_shows_the_tools_once(is_chat_model: bool) -> None:
    llm = ScriptedLLM(chunks=["Let me check. ", CALL, " Done."], is_chat_model=is_chat_model)
    llm.output_parser = Llama3JsonToolOutputParser(TOOLS)
    answers = [llm.predict(QUESTION, city="Paris"), await llm.apredict(QUESTION, city="Paris")]
    assert answers == ["Let me check. Done."] * 2
    assert all(type(answer) is str for answer in answers)
    for prompt in llm.prompts:
        assert prompt.count("Given the following functions") == 1
        assert f"{PROMPT}\n\nWeather in Paris?" in prompt


def test_predict_with_a_chat_prompt_shows_the_tools_in_the_first_user_message() -> None:
    llm = ScriptedLLM(chunks=["Hello."])
    llm.output_parser = Llama3JsonToolOutputParser(TOOLS)
    template = ChatPromptTemplate(
        message_templates=[
            ChatMessage(role=MessageRole.SYSTEM, content="Be brief."),
            ChatMessage(role=MessageRole.USER, content="Weather in {city}?"),
        ]
    )
    for city in ["Paris", "Rome"]:
        assert llm.predict(template, city=city) == "Hello."
        assert llm.prompts[-1].startswith(f"system: Be brief.\nuser: {PROMPT}\n\nWeather in {city}?")


def test_predict_without_a_parser_gives_the_json() -> None:
    assert ScriptedLLM(chunks=[CALL]).predict(QUESTION, city="Paris") == CALL


def test_predict_raises_on_a_malformed_call_where_that_is_asked_for() -> None:
    llm = ScriptedLLM(chunks=[CALL[:-3]])
    llm.output_parser = Llama3JsonToolOutputParser(on_invalid="raise")
    with pytest.raises(MalformedToolCallError):
        llm.predict(QUESTION, city="Paris")


def test_chat_complete_and_their_streams_are_left_alone() -> None:
    llm = ScriptedLLM(chunks=[CALL])
    llm.output_parser = Llama3JsonToolOutputParser(TOOLS)
    messages = [ChatMessage(content="Weather?")]
    assert llm.chat(messages).message.content == llm.complete("Weather?").text == CALL
    assert [response.delta for response in llm.stream_chat(messages)] == [CALL]
    with pytest.raises(NotImplementedError, match="not supported for streaming"):
        llm.stream(QUESTION, city="Paris")


def test_an_llm_takes_it_as_an_argument_and_serialises_without_it() -> None:
    llm = ScriptedLLM(chunks=["x"], output_parser=Llama3JsonToolOutputParser(TOOLS))
    assert isinstance(llm.output_parser, Llama3JsonToolOutputParser)
    assert "output_parser" not in llm.model_dump()
    assert "output_parser" not in llm.to_dict()
    assert ScriptedLLM.from_dict(llm.to_dict()).chunks == ["x"]
    assert "output_parser" in LLM.model_json_schema()["properties"]


def test_the_framework_s_own_mock_takes_it() -> None:
    llm = MockLLM()
    llm.output_parser = Llama3JsonToolOutputParser()
    assert llm.predict(PromptTemplate(f"Hm. {CALL}")) == "Hm."
