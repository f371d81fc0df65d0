"""The tool prompt, and where it goes."""

from __future__ import annotations

import copy

import pytest
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate

from llama3_tools import render_tool_prompt
from llama_index_llama3_tools import Llama3JsonToolOutputParser

TOOLS = [{"name": "get_weather", "description": "The weather", "parameters": {"type": "object", "required": ["city"]}}]
PROMPT = render_tool_prompt(TOOLS)
PARSER = Llama3JsonToolOutputParser(TOOLS)

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


def test_without_a_user_message_it_becomes_one() -> None:
    assert PARSER.format_messages([]) == [ChatMessage(role=MessageRole.USER, content=PROMPT)]


@pytest.mark.parametrize("parser", [Llama3JsonToolOutputParser(), Llama3JsonToolOutputParser([])])
def test_without_tools_nothing_changes(parser: Llama3JsonToolOutputParser) -> None:
    assert parser.format("Weather?") == "Weather?"
    assert parser.format_messages([SYSTEM, ASKED]) == [SYSTEM, ASKED]


def test_a_query_gets_the_prompt_in_front() -> None:
    assert PARSER.format("Weather in {city}?") == f"{PROMPT}\n\nWeather in {{city}}?"


def test_a_prompt_template_shows_the_tools() -> None:
    template = PromptTemplate("Weather in {city}?", output_parser=PARSER)
    assert template.format(city="Paris") == f"{PROMPT}\n\nWeather in Paris?"


def test_a_chat_prompt_template_shows_the_tools_and_can_be_used_again() -> None:
    template = ChatPromptTemplate(
        message_templates=[SYSTEM, ChatMessage(role=MessageRole.USER, content="Weather in {city}?")],
        output_parser=PARSER,
    )
    for city in ["Paris", "Rome"]:
        assert template.format_messages(city=city)[1].content == f"{PROMPT}\n\nWeather in {city}?"
