"""The table *What the wrapped model has* of the docs: each row is run with the model alone, and with the wrapper."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.tracers.context import collect_runs
from langgraph_supervisor import create_supervisor
from pydantic import BaseModel

from endpoints.script import Turn, cut_at, scripted
from endpoints.server import LoopbackServer
from endpoints.wire import api
from integrations.langchain.agents import PARIS, QUESTION, call, chat_openai, get_weather
from integrations.langchain.scripted import CUT_OFF
from langchain_llama3_tools import Llama3ToolModel

PAGE = Path(__file__, "../../../../docs/langchain-reference.md").resolve()

pytestmark = pytest.mark.filterwarnings("ignore:The v3 streaming protocol", "ignore:create_react_agent has been moved")


class Person(BaseModel):
    """A person."""

    name: str


OBJECT = '{"name": "Ada"}'


@contextmanager
def lenient(*answers: str) -> Iterator[Any]:
    """Serve the answers in pieces, whatever is asked: tools are taken, and not heeded. Yield ChatOpenAI for it."""
    turns = [Turn(pieces=cut_at(answer, *range(3, len(answer), 3)), prompt_tokens=7) for answer in answers]
    with LoopbackServer(api(["llama3.1"], scripted(turns))) as server:
        yield chat_openai(server)


def calls(wrap: Any) -> str:
    with lenient(PARIS) as llm:
        return "run" if wrap(llm).bind_tools([get_weather]).invoke("Hi").tool_calls else "stay text"


def structured(method: str) -> Callable[[Any], str]:
    def row(wrap: Any) -> str:
        with lenient(OBJECT) as llm:
            given = wrap(llm).with_structured_output(Person, method=method).invoke("Who?")
        return "the object" if given == Person(name="Ada") else f"`{given}`"

    return row


def tokens(wrap: Any) -> str:
    told: list[str] = []

    class Handler(BaseCallbackHandler):
        def on_llm_new_token(self, token: Any, **_: Any) -> None:
            told.append(token)

    with lenient("Hello there.") as llm:
        wrap(llm.model_copy(update={"streaming": True})).invoke("Hi", {"callbacks": [Handler()]})
    return "each token" if "".join(told) == "Hello there." and len(told) > 1 else "none"


def counts(wrap: Any) -> str:
    class Counting(FakeListChatModel):
        def get_num_tokens_from_messages(self, messages: Any, tools: Any = None) -> int:
            return 100 * len(messages) + len(tools or ())

    model = wrap(Counting(responses=[], custom_get_token_ids=lambda text: [len(text)]))
    counted = (
        model.get_token_ids("four"),
        model.get_num_tokens("four"),
        model.get_num_tokens_from_messages([HumanMessage("Hi")], [get_weather]),
    )
    return "its own" if counted == ([4], 1, 101) else "others"


def profile(wrap: Any) -> str:
    own: Any = {"max_input_tokens": 8_000}
    given = wrap(FakeListChatModel(responses=[], profile=own)).profile
    added = {**own, "tool_calling": True, "structured_output": False}
    return {str(own): "its own", str(added): "its own, with `tool_calling`, and without `structured_output`"}[
        str(given)
    ]


async def streamed(model: Any) -> list[Any]:
    return [chunk async for chunk in model.astream("Hi")]


def fallbacks(wrap: Any) -> str:
    with lenient() as dead:
        pass
    with lenient("Hello.", "Hello.") as alive:
        model = wrap(dead).with_fallbacks([wrap(alive)])
        texts = [chunk.text for chunk in model.stream("Hi")], [chunk.text for chunk in asyncio.run(streamed(model))]
    return "falls back" if ["".join(text) for text in texts] == ["Hello."] * 2 else "does not"


def events(wrap: Any) -> str:
    with lenient(CUT_OFF, CUT_OFF) as llm:
        message = wrap(llm).bind_tools([get_weather]).stream_events("Hi", version="v3").output
    return "an invalid call" if message.invalid_tool_calls and not message.tool_calls else "text"


def supervisor(wrap: Any) -> str:
    with lenient(call("transfer_to_weather"), "Sunny.", "It is sunny.") as llm:
        worker: Any = create_agent(wrap(llm), [get_weather], name="weather")
        graph: Any = create_supervisor([worker], model=wrap(llm), parallel_tool_calls=False).compile()
        messages = graph.invoke(QUESTION)["messages"]
    return "hands over" if "Sunny." in [message.text for message in messages] else "hands nothing over"


def summarization(wrap: Any) -> str:
    with lenient("The talk was long.", "Sunny.") as llm:
        model = wrap(llm.model_copy(update={"profile": {"max_input_tokens": 10}}))
        summarize: Any = SummarizationMiddleware(model, trigger=("fraction", 0.8), keep=("messages", 1))
        history: Any = [("user", "How is Paris, and what else? " * 9), ("ai", "Sunny."), ("user", "And Oslo?")]
        messages = create_agent(model, [], middleware=[summarize]).invoke({"messages": history})["messages"]
    return "sums up" if "The talk was long." in messages[0].text else "does not"


def traces(wrap: Any) -> str:
    with lenient("Hello.") as llm, collect_runs() as collected:
        wrap(llm).invoke("Hi")
    [run] = collected.traced_runs
    return "a run a turn, and in it a step a request" if run.child_runs else "a run a request"


ROWS = {
    "calls that come as text": calls,
    '`with_structured_output(method="function_calling")`, and the model writes the object alone': structured(
        "function_calling"
    ),
    '`method="json_schema"`': structured("json_schema"),
    '`method="json_mode"`': structured("json_mode"),
    "`on_llm_new_token` in `invoke`, with `streaming=True`": tokens,
    "`get_token_ids`, `get_num_tokens`, `get_num_tokens_from_messages`": counts,
    "`profile`": profile,
    "`with_fallbacks` in a stream": fallbacks,
    '`stream_events(version="v3")` and a malformed call': events,
    "`langgraph-supervisor`, and the handoff comes as text": supervisor,
    "`SummarizationMiddleware`, by a fraction of the profile": summarization,
    "traces": traces,
}


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_table_is_true(row: str) -> None:
    alone, wrapped = ROWS[row](lambda llm: llm), ROWS[row](Llama3ToolModel)
    assert f"\n| {row} | {alone} | {wrapped} |\n" in PAGE.read_text(encoding="utf-8")


def test_the_table_has_no_other_row() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## What the wrapped model has")[2].partition("\n\n## ")[0]
    assert table.count("\n| ") == len(ROWS) + 1
