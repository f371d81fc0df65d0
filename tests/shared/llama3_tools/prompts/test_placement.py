"""Where the tool prompt stands, without any framework."""

from __future__ import annotations

import pytest

from llama3_tools.prompts.placement import ToolsIn, find_place, put_prompt, put_prompt_before
from placements import PLACEMENTS, PROMPT, Conversation


@pytest.mark.parametrize(("tools_in", "given", "expected"), PLACEMENTS.values(), ids=PLACEMENTS)
def test_it_stands_where_the_table_says(tools_in: ToolsIn, given: Conversation, expected: Conversation) -> None:
    conversation = [(role, list(parts)) for role, parts in given]
    place = find_place([role for role, _ in conversation], tools_in)
    if place.is_new:
        conversation.insert(place.index, (tools_in, []))
    parts = conversation[place.index][1]
    part, text = put_prompt(PROMPT, parts, tools_in)
    parts[part.index : part.index + (not part.is_new)] = [text]
    assert conversation == expected


@pytest.mark.parametrize(("text", "expected"), [("Hi", f"{PROMPT}\n\nHi"), ("", PROMPT)])
def test_a_query_comes_behind_it(text: str, expected: str) -> None:
    assert put_prompt_before(PROMPT, text) == expected
