"""Whole messages: what is read in them, and what stays as it was."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessageChunk,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, Generation

from integrations.langchain.scripted import CALL, CUT_OFF, counted_ids
from langchain_llama3_tools import Llama3JsonToolOutputParser

PARIS = tool_call(name="get_weather", args={"city": "Paris"}, id="call_0")
IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


def text(text: str, **other: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **other}


def parser(**options: Any) -> Llama3JsonToolOutputParser:
    return Llama3JsonToolOutputParser(id_factory=counted_ids(), **options)


def test_a_text_gives_the_same_whichever_way_it_comes_and_the_first_generation_counts() -> None:
    output, expected = (
        f"\n Let me check. {CALL}\nOne moment.",
        AIMessage("Let me check. One moment.", tool_calls=[PARIS]),
    )
    assert parser().parse(output) == expected
    assert parser().parse_result([Generation(text=output), Generation(text=CALL)]) == expected
    assert parser().parse_result([ChatGeneration(message=AIMessage(output))]) == expected


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        pytest.param([text("Hi "), IMAGE, "you ", "all"], ["Hi", IMAGE, " you all"], id="no call"),
        pytest.param([], "", id="nothing"),
        pytest.param([IMAGE, text(f"See. {CALL}"), IMAGE], [IMAGE, "See.", IMAGE], id="between other blocks"),
        pytest.param([text(" Su"), text("re. " + CALL[:9]), CALL[9:]], "Sure.", id="a call across blocks"),
    ],
)
def test_the_text_blocks_of_list_content_become_one_text(blocks: list[Any], expected: str | list[Any]) -> None:
    has_call = '"parameters"' in "".join(block if isinstance(block, str) else block.get("text", "") for block in blocks)
    message = parser().invoke(AIMessage(content=blocks))
    assert message == AIMessage(content=expected, tool_calls=[PARIS] if has_call else [])


def test_the_text_of_other_blocks_is_not_read() -> None:
    blocks = [{"type": "reasoning", "reasoning": CALL}, {"type": "file", "text": CALL}, {"type": "text", "text": None}]
    message = parser().invoke(AIMessage(content=blocks))
    assert (message.content, message.tool_calls) == (blocks[1:], [])
    assert message.additional_kwargs["reasoning_content"] == CALL


class TestPreserved:
    """Everything but text and calls."""

    MESSAGE = AIMessage(
        content=f"Let me check. {CALL}",
        id="run-1",
        name="llama",
        additional_kwargs={"reasoning_content": "Hm.", "refusal": None},
        response_metadata={"logprobs": None},
        usage_metadata={"input_tokens": 7, "output_tokens": 5, "total_tokens": 12},
        example=True,
    )

    @pytest.mark.parametrize("output", [f"Let me check. {CALL}", f"Well, {CUT_OFF}"])
    def test_every_other_field_of_the_message(self, output: str) -> None:
        message = self.MESSAGE.model_copy(update={"content": output})
        read = Llama3JsonToolOutputParser().invoke(message)
        read.response_metadata.pop("refused_tool_calls", None)
        changing = {"content", "tool_calls", "invalid_tool_calls"}
        assert read.model_dump(exclude=changing) == message.model_dump(exclude=changing)

    def test_the_message_that_was_read_is_not_touched(self) -> None:
        for content in (f"{CALL} {CUT_OFF}", [text(f"{CALL} {CUT_OFF}"), IMAGE]):
            message = self.MESSAGE.model_copy(update={"content": content}, deep=True)
            before = message.model_copy(deep=True)
            read = Llama3JsonToolOutputParser().invoke(message)
            read.additional_kwargs["mine"] = read.response_metadata["mine"] = 1
            assert message == before

    def test_a_class_of_ai_message_of_one_s_own(self) -> None:
        class Answer(AIMessage):
            stars: int = 5

        read = Llama3JsonToolOutputParser().invoke(Answer(content=CALL, stars=3))
        assert isinstance(read, Answer)
        assert (read.stars, len(read.tool_calls)) == (3, 1)

    @pytest.mark.parametrize("role", ["assistant", "ai"])
    def test_messages_of_other_classes_become_ai_messages(self, role: str) -> None:
        message = ChatMessage(role=role, content=CALL, id="1")
        assert parser().invoke(message) == AIMessage("", id="1", tool_calls=[PARIS])

    @pytest.mark.parametrize(
        "message",
        [ToolMessage(CALL, tool_call_id="1"), HumanMessageChunk(content=CALL), ChatMessage(role="user", content=CALL)],
    )
    async def test_what_no_model_wrote_is_never_a_call(self, message: BaseMessage) -> None:
        error = f"^the parser takes what the model wrote, not an? {type(message).__name__}: "
        with pytest.raises(TypeError, match=error):
            parser().invoke(message)
        with pytest.raises(TypeError, match=error):
            await parser().ainvoke(message)
        with pytest.raises(TypeError, match=error):
            list(parser().transform(iter([message])))
        with pytest.raises(TypeError, match=error):
            parser().parse_result([ChatGeneration(message=message)])
