"""The tool prompt, where it goes, and the parser as the `output_parser` of an LLM."""

from __future__ import annotations

import copy

import pytest
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.prompts import PromptTemplate

from integrations.llamaindex.scripted import CALL, ScriptedLLM
from llama3_tools import render_tool_prompt
from llama_index_llama3_tools import Llama3JsonToolOutputParser

TOOLS = [{"name": "get_weather", "description": "The weather", "parameters": {"type": "object", "required": ["city"]}}]
PROMPT = render_tool_prompt(TOOLS)
PARSER = Llama3JsonToolOutputParser(TOOLS)
QUESTION = PromptTemplate("Weather in {city}?")

SYSTEM = ChatMessage(role=MessageRole.SYSTEM, content="Be brief.")
ASKED = ChatMessage(role=MessageRole.USER, content="Weather in Paris?")
ANSWERED = ChatMessage(role=MessageRole.ASSISTANT, content="Sun.")
AGAIN = ChatMessage(role=MessageRole.USER, content="And in Rome?")


def test_the_prompt_goes_into_the_first_user_message_and_no_message_given_changes() -> None:
    messages = [SYSTEM, ASKED, ANSWERED, AGAIN]
    before = copy.deepcopy(messages)
    formatted = PARSER.format_messages(messages)
    assert messages == before
    shown = ChatMessage(role=MessageRole.USER, content=f"{PROMPT}\n\nWeather in Paris?")
    assert formatted == [SYSTEM, shown, ANSWERED, AGAIN]


@pytest.mark.parametrize("parser", [Llama3JsonToolOutputParser(), Llama3JsonToolOutputParser([])])
def test_without_tools_nothing_changes(parser: Llama3JsonToolOutputParser) -> None:
    assert parser.format("Weather?") == "Weather?"
    assert parser.format_messages([SYSTEM, ASKED]) == [SYSTEM, ASKED]


@pytest.mark.parametrize("is_chat_model", [True, False])
async def test_predict_gives_the_text_and_shows_the_tools_once(is_chat_model: bool) -> None:
    llm = ScriptedLLM(chunks=["Let me check. ", CALL, " Done."], is_chat_model=is_chat_model)
    llm.output_parser = PARSER
    answers = [llm.predict(QUESTION, city="Paris"), await llm.apredict(QUESTION, city="Paris")]
    assert answers == ["Let me check. Done."] * 2
    assert all(type(answer) is str for answer in answers)
    for prompt in llm.prompts:
        assert prompt.count("Given the following functions") == 1
        assert f"{PROMPT}\n\nWeather in Paris?" in prompt
