"""What listens to LlamaIndex: events of the instrumentation, spans, callback managers, rate limiters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMChatStartEvent
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.llms import LLM, ChatMessage

from integrations.llamaindex.endpoint import WEATHER, endpoint
from integrations.llamaindex.scripted import ScriptedLLM, calls_in
from integrations.llamaindex.ways import FUNCTION_AGENTS, QUESTION, WITH_TOOLS
from llama_index_llama3_tools import Llama3ToolLLM

BROKEN = '{"name": "get_weather", "parameters": {oops}}'


class Listener(BaseEventHandler):
    """Keeps the events of chats."""

    heard: list[Any] = []  # noqa: RUF012 (pydantic copies it)

    @classmethod
    def class_name(cls) -> str:
        return "Listener"

    def handle(self, event: Any, **_: Any) -> None:
        if isinstance(event, (LLMChatStartEvent, LLMChatEndEvent)):
            self.heard.append(event)

    def of(self, kind: type, *, by: str) -> list[Any]:
        """Return the events of a kind in the spans of an LLM."""
        return [event for event in self.heard if isinstance(event, kind) and event.span_id.startswith(f"{by}.")]


@pytest.fixture
def listener() -> Iterator[Listener]:
    root, listener = get_dispatcher(), Listener()
    root.add_event_handler(listener)
    yield listener
    root.event_handlers.remove(listener)


@pytest.fixture
def spans() -> Iterator[SimpleSpanHandler]:
    root, spans = get_dispatcher(), SimpleSpanHandler()
    root.add_span_handler(spans)
    yield spans
    root.span_handlers.remove(spans)


@pytest.mark.parametrize("way", WITH_TOOLS)
async def test_the_answer_is_told_with_its_calls_and_each_request_with_its_prompt(
    way: str, listener: Listener, spans: SimpleSpanHandler
) -> None:
    with endpoint(f"Hm. {BROKEN}", f"So. {WEATHER}") as served:
        await WITH_TOOLS[way](Llama3ToolLLM(served.llm()))
    [start], [end] = (listener.of(kind, by="Llama3ToolLLM") for kind in (LLMChatStartEvent, LLMChatEndEvent))
    assert [message.content for message in start.messages] == [QUESTION]
    assert start.span_id == end.span_id
    assert start.span_id.startswith(f"Llama3ToolLLM.{way}-")
    assert start.span_id in {span.id_ for span in spans.completed_spans}
    assert calls_in(end.response.message) == [("get_weather", {"city": "Paris"})]
    asked = listener.of(LLMChatStartEvent, by="OpenAILike")
    assert [[(one.role.value, one.content) for one in event.messages] for event in asked] == [
        served.messages(0),
        served.messages(1),
    ]
    answered = listener.of(LLMChatEndEvent, by="OpenAILike")
    assert [event.response.message.content for event in answered] == [f"Hm. {BROKEN}", f"So. {WEATHER}"]
    assert (end.response.raw, end.response.additional_kwargs) == (None, {})
    assert all(event.response.raw for event in answered), "the LLM inside alone tells what an answer cost"


@pytest.mark.parametrize("way", FUNCTION_AGENTS)
async def test_agents_tell_each_answer_once(way: str, listener: Listener) -> None:
    with endpoint(WEATHER, "Sunny.") as served:
        await FUNCTION_AGENTS[way](Llama3ToolLLM(served.llm()))
    first, second = listener.of(LLMChatEndEvent, by="Llama3ToolLLM")
    assert (calls_in(first.response.message), calls_in(second.response.message)) == (
        [("get_weather", {"city": "Paris"})],
        [],
    )
    assert second.response.message.content == "Sunny."


class Limiter:
    """Counts the requests that wait for it."""

    def __init__(self) -> None:
        self.acquired = 0

    def acquire(self) -> None:
        self.acquired += 1

    async def async_acquire(self) -> None:
        self.acquired += 1


class TestWhatIsGiven:
    @pytest.mark.parametrize("way", WITH_TOOLS)
    async def test_a_callback_manager_counts_each_request_once(self, way: str) -> None:
        counter = TokenCountingHandler(tokenizer=str.split)
        with endpoint(BROKEN, "Sunny.") as served:
            inside = served.llm()
            await WITH_TOOLS[way](Llama3ToolLLM(inside, callback_manager=CallbackManager([counter])))
        assert [event.completion for event in counter.llm_token_counts] == [
            f"assistant: {BROKEN}",
            "assistant: Sunny.",
        ]
        assert inside.callback_manager.handlers == [], "the LLM given is left alone"

    @pytest.mark.skipif("rate_limiter" not in LLM.model_fields, reason="LlamaIndex has none yet")
    @pytest.mark.parametrize("way", WITH_TOOLS)
    async def test_each_request_waits_for_a_rate_limiter(self, way: str) -> None:
        limiter = Limiter()
        with endpoint(BROKEN, "Sunny.") as served:
            await WITH_TOOLS[way](Llama3ToolLLM(served.llm(), rate_limiter=limiter))
        assert limiter.acquired == 2

    def test_the_manager_of_the_settings_is_that_of_the_llm_inside(self, monkeypatch: pytest.MonkeyPatch) -> None:
        counter = TokenCountingHandler(tokenizer=str.split)
        with endpoint("Sunny.") as served:
            monkeypatch.setattr(Settings, "_llm", Llama3ToolLLM(served.llm()))
            monkeypatch.setattr(Settings, "_callback_manager", CallbackManager([counter]))
            Settings.llm.chat([ChatMessage(QUESTION)])
        assert len(counter.llm_token_counts) == 1

    def test_without_them_the_llm_given_is_asked_itself(self) -> None:
        inside = ScriptedLLM(chunks=[])
        assert Llama3ToolLLM(inside, system_prompt="Be brief.").llm is inside
