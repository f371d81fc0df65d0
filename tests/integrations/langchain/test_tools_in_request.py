"""`tools_in="request"`: the tools are bound to the wrapped model, by names that its API allows."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.tools import tool

from endpoints.script import Turn, cut_at, sent
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import api
from integrations.langchain.agents import call, chat_openai
from integrations.langchain.scripted import summed
from langchain_llama3_tools import Llama3ToolModel
from native_calls import found, piece


@tool("math.add")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ANSWERS = {
    "as text": call("math_add", a=1, b=2),
    "as text, by its own name": call("math.add", a=1, b=2),
    "native": None,
}


def calling(text: str | None) -> Any:
    """Return what answers with a call: in this text, or the server's own."""

    def model(request: Request) -> Answer:
        if text is not None:
            return sent(Turn(pieces=cut_at(text, 9, 20)), request)
        return found(piece(0, '{"a": 1, "b": 2}', "a", "math_add"), stream=request.stream)

    return api(["llama3.1"], model)


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
async def test_the_server_gets_them_and_calls_come_back_by_their_own_names(text: str | None) -> None:
    with LoopbackServer(calling(text)) as server:
        bound = Llama3ToolModel(chat_openai(server), tools_in="request").bind_tools([add])
        for message in (
            bound.invoke("1 + 2?"),
            await bound.ainvoke("1 + 2?"),
            summed(bound.stream("1 + 2?")),
            summed([chunk async for chunk in bound.astream("1 + 2?")]),
        ):
            assert [(made["name"], made["args"]) for made in message.tool_calls] == [("math.add", {"a": 1, "b": 2})]
            assert message.text == ""
    for request in server.requests:
        body: Any = request.body
        assert [one["function"]["name"] for one in body["tools"]] == ["math_add"]
        assert body["messages"] == [{"role": "user", "content": "1 + 2?"}]
        assert "tool_choice" not in body


@pytest.mark.parametrize(
    ("option", "sent"),
    [
        ({"tool_choice": "any"}, {"tool_choice": "required"}),
        ({"tool_choice": "math.add"}, {"tool_choice": {"type": "function", "function": {"name": "math_add"}}}),
        ({"parallel_tool_calls": False}, {"parallel_tool_calls": False}),
    ],
)
def test_so_does_what_is_asked_of_the_calls(option: dict[str, Any], sent: dict[str, Any]) -> None:
    with LoopbackServer(calling(None)) as server:
        bound = Llama3ToolModel(chat_openai(server), tools_in="request").bind_tools([add], **option)
        bound.invoke("1 + 2?")
        list(bound.stream("1 + 2?"))
    assert all(request.body.items() >= sent.items() for request in server.requests)


def test_a_model_that_cannot_be_asked_for_one_call_is_not() -> None:
    class Model(FakeListChatModel):
        def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
            assert "parallel_tool_calls" not in kwargs
            return self.bind(tools=tools, tool_choice=tool_choice, **kwargs)

    model = Llama3ToolModel(Model(responses=[ANSWERS["as text"] * 2]), tools_in="request")
    assert len(model.bind_tools([add], parallel_tool_calls=False).invoke("1 + 2?").tool_calls) == 1


def test_a_model_that_takes_no_tools_is_an_error_that_says_what_to_do() -> None:
    bound = Llama3ToolModel(FakeListChatModel(responses=["Hi"]), tools_in="request").bind_tools([add])
    with pytest.raises(NotImplementedError, match='FakeListChatModel has none: use tools_in="user"'):
        bound.invoke("Hi")
