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

from integrations.llamaindex.endpoint import endpoint
from integrations.llamaindex.scripted import ScriptedLLM
from integrations.llamaindex.ways import AGENTS, QUESTION, WAYS, WITH_TOOLS
from llama_index_llama3_tools import Llama3ToolLLM

BROKEN = '{"name": "get_weather", "parameters": {oops}}'


class Listener(BaseEventHandler):
    """Keeps the events of chats, and the span of each."""

    heard: list[Any] = []  # noqa: RUF012 (pydantic copies it)

    @classmethod
    def class_name(cls) -> str:
        return "Listener"

    def handle(self, event: Any, **_: Any) -> None:
        if isinstance(event, (LLMChatStartEvent, LLMChatEndEvent)):
            self.heard.append(event)


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


@pytest.mark.parametrize("way", {**WITH_TOOLS, **AGENTS})
async def test_the_wrapped_llm_tells_of_each_request_once(
    way: str, listener: Listener, spans: SimpleSpanHandler
) -> None:
    answers = [f"Hm. {BROKEN}", "Sunny."]
    with endpoint(*answers) as served:
        await WAYS[way](Llama3ToolLLM(served.llm()))
    assert [type(event) for event in listener.heard] == [LLMChatStartEvent, LLMChatEndEvent] * 2
    assert all(event.span_id.startswith("OpenAILike.") for event in listener.heard)
    starts, ends = listener.heard[::2], listener.heard[1::2]
    prompts = [[(message.role.value, message.content) for message in event.messages] for event in starts]
    assert prompts == [served.messages(0), served.messages(1)]
    assert [event.response.message.content for event in ends] == answers
    assert all(event.response.raw for event in ends)
    around = way if way in WITH_TOOLS else "chat_with_tools"
    assert any(span.id_.startswith("Llama3ToolLLM.") and around in span.id_ for span in spans.completed_spans)


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

    def test_the_manager_of_the_settings_counts_and_the_llm_given_keeps_its_own(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counter = TokenCountingHandler(tokenizer=str.split)
        with endpoint("Sunny.") as served:
            inside = served.llm()
            own = inside.callback_manager
            monkeypatch.setattr(Settings, "_llm", Llama3ToolLLM(inside))
            monkeypatch.setattr(Settings, "_callback_manager", CallbackManager([counter]))
            Settings.llm.chat([ChatMessage(QUESTION)])
            assert Settings.llm.llm is Settings.llm.llm, "it is copied once"
        assert len(counter.llm_token_counts) == 1
        assert inside.callback_manager is own

    def test_without_them_the_llm_given_is_asked_itself(self) -> None:
        inside = ScriptedLLM(chunks=[])
        assert Llama3ToolLLM(inside, system_prompt="Be brief.").llm is inside
