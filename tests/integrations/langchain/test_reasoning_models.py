"""Models that think first: asked through the wrapper in every way, and in agents."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk

from integrations.langchain.agents import (
    PARIS,
    QUESTION,
    agent_on,
    chat_openai,
    conversations,
    get_weather,
    in_every_way,
    serving,
    shown,
)
from integrations.langchain.scripted import ScriptedChatModel, as_text_chunks, counted_ids, summed
from langchain_llama3_tools import Llama3ToolModel

CALLING = f"<think>\nThey want {PARIS}.\n</think>\n\nLet me check. {PARIS}"
ANSWERING = "<think>\nIt is sunny there.\n</think>\n\nIt is sunny in Paris."


def wrapped(output: str | list[str], **options: Any) -> Llama3ToolModel:
    llm = ScriptedChatModel(chunks=as_text_chunks([output] if isinstance(output, str) else output))
    return Llama3ToolModel(llm, **{"split_reasoning": True, "id_factory": counted_ids(), **options})


def thoughts(message: AIMessage) -> Any:
    return message.additional_kwargs.get("reasoning_content")


class TestTheModel:
    @pytest.mark.parametrize("output_version", [None, "v1"])
    async def test_it_splits_reasoning_off_in_every_way_to_ask(self, output_version: str | None) -> None:
        def bound() -> Any:
            return wrapped(CALLING, output_version=output_version).bind_tools([get_weather])

        message = bound().invoke("How is Paris?")
        assert (message.text, thoughts(message)) == ("Let me check.", f"They want {PARIS}.")
        assert [block["type"] for block in message.content_blocks] == ["reasoning", "text", "tool_call"]
        same = [
            await bound().ainvoke("How is Paris?"),
            *bound().batch(["How is Paris?"]),
            *await bound().abatch(["How is Paris?"]),
            summed(bound().stream("How is Paris?")),
            summed([chunk async for chunk in bound().astream("How is Paris?")]),
        ]
        for other in same:
            assert (other.text, other.tool_calls) == (message.text, message.tool_calls)
            assert other.additional_kwargs == message.additional_kwargs

    @pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")
    def test_langchain_s_events_tell_it_apart(self) -> None:
        stream: Any = wrapped(list(CALLING)).bind_tools([get_weather]).stream_events("Hi", version="v3")
        assert ("".join(stream.reasoning), "".join(stream.text)) == (f"They want {PARIS}.", "Let me check.")

    @pytest.mark.parametrize("output_version", [None, "v1"])
    def test_it_is_not_sent_back(self, output_version: str | None) -> None:
        with serving(CALLING, ANSWERING, "Sure.") as server:
            model = Llama3ToolModel(chat_openai(server), split_reasoning=True, output_version=output_version)
            bound = model.bind_tools([get_weather])
            first = summed(bound.stream("How is Paris?"))
            second = bound.invoke([("user", "How is Paris?"), first])
            thoughts = [block["reasoning"] for block in second.content_blocks if block["type"] == "reasoning"]
            assert thoughts == ["It is sunny there."]
            bound.invoke([("user", "How is Paris?"), first, ("user", "Result."), second, ("user", "And now?")])
        sent = str(conversations(server)[1:])
        assert "Let me check." in sent
        assert "It is sunny in Paris." in sent
        assert not any(thought in sent for thought in ("They want", "It is sunny there", "reasoning", "think>"))


class TestAgents:
    @in_every_way
    def test_they_run_the_calls_and_end_without_it(self, run: Any) -> None:
        with serving(CALLING, ANSWERING) as server:
            messages = run(agent_on(server, split_reasoning=True))["messages"]
        assert shown(messages) == [
            ("human", "How is Paris?"),
            ("ai", [{"city": "Paris"}]),
            ("tool", "sunny in Paris"),
            ("ai", "It is sunny in Paris."),
        ]
        assert [message.content for message in messages[1::2]] == ["Let me check.", "It is sunny in Paris."]
        assert [thoughts(message) for message in messages[1::2]] == [f"They want {PARIS}.", "It is sunny there."]
        assert "They want" not in str(conversations(server))

    def test_who_watches_sees_it_apart(self) -> None:
        with serving(CALLING, ANSWERING) as server:
            agent = agent_on(server, split_reasoning=True)
            chunks = [
                chunk
                for chunk, _ in agent.stream(QUESTION, stream_mode="messages")
                if isinstance(chunk, AIMessageChunk)
            ]
        assert "".join(str(chunk.text) for chunk in chunks) == "Let me check.It is sunny in Paris."
        assert "".join(filter(None, map(thoughts, chunks))) == f"They want {PARIS}.It is sunny there."
        assert len([chunk for chunk in chunks if thoughts(chunk)]) > 10  # piece by piece
