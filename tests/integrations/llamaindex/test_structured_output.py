"""Asked to call, it calls: structured output, what holds the server to it, and the strict format of a whole agent."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel, ConfigDict, Field

from endpoints.wire import answer_error
from integrations.llamaindex.endpoint import Endpoint, endpoint, get_weather
from llama_index_llama3_tools import Llama3ToolLLM

AL = '{"name": "Al", "age": 3}'
WHO = PromptTemplate("Who?")
TOOLS = [FunctionTool.from_defaults(get_weather)]


class Person(BaseModel):
    """A person."""

    name: str
    age: int


def on(served: Endpoint, inside: dict[str, Any] | None = None, **options: Any) -> Llama3ToolLLM:
    return Llama3ToolLLM(served.llm(**(inside or {})), **options)


def whole(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, **kwargs: Any) -> Any:
    return llm.structured_predict(Person, prompt, **kwargs)


def awhole(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, **kwargs: Any) -> Any:
    return asyncio.run(llm.astructured_predict(Person, prompt, **kwargs))


def stream(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, **kwargs: Any) -> Any:
    return list(llm.stream_structured_predict(Person, prompt, **kwargs))[-1]


def as_structured_llm(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, **kwargs: Any) -> Any:
    llm_kwargs = kwargs.pop("llm_kwargs", {})
    return llm.as_structured_llm(Person).chat(prompt.format_messages(**kwargs), **llm_kwargs).raw


def astream(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, **kwargs: Any) -> Any:
    async def run() -> list[Any]:
        return [one async for one in await llm.astream_structured_predict(Person, prompt, **kwargs)]

    return asyncio.run(run())[-1]


@pytest.mark.parametrize("ask", [whole, awhole, stream, astream, as_structured_llm])
class TestWays:
    @pytest.mark.parametrize("text", [AL, 'Here you are:\n{"name": "Al", "age": "3"}\nBye!'])
    def test_an_object_is_the_output(self, ask: Callable[..., Any], text: str):
        with endpoint(text) as served:
            assert ask(on(served), PromptTemplate("Who in {city}?"), city="Rome") == Person(name="Al", age=3)
        [body] = served.bodies
        assert "response_format" in body
        assert body["messages"][0]["content"].endswith("Call a function in your reply.\n\nWho in Rome?")

    def test_a_server_that_refuses_the_schema_is_asked_without_it_from_then_on(self, ask: Callable[..., Any]):
        with endpoint(answer_error(400, "no schemas"), AL, AL) as served:
            llm = on(served)
            assert [ask(llm), ask(llm)] == [Person(name="Al", age=3)] * 2
        assert ["response_format" in body for body in served.bodies] == [True, False, False]

    def test_what_does_not_fit_is_asked_again_and_then_an_error(self, ask: Callable[..., Any]):
        with endpoint('{"name": "Al"}', AL) as served:
            assert ask(on(served)) == Person(name="Al", age=3)
        assert "$.age: missing, expected integer" in served.messages(1)[-1][1]
        with endpoint("No.", "Still no.") as served, pytest.raises(ValueError, match=r"wrote none: '.*Still no"):
            ask(on(served))
        with (
            endpoint("No.", 'Is {"name": "Al"}!') as served,
            pytest.raises(ValueError, match=r"Person: .*age: missing"),
        ):
            ask(on(served))

    def test_arguments_for_the_llm_reach_it(self, ask: Callable[..., Any]):
        with endpoint(AL) as served:
            ask(on(served), llm_kwargs={"temperature": 0.25, "seed": 7})
        assert [served.bodies[0][key] for key in ("temperature", "seed")] == [0.25, 7]

    @pytest.mark.parametrize("own", [{}, {"top_k": 1}, {"grammar": "mine"}], ids=str)
    @pytest.mark.parametrize("constrain", ["grammar", "json_schema"])
    def test_fields_of_the_user_s_own_stand(self, ask: Callable[..., Any], constrain: str, own: dict[str, Any]):
        with endpoint(*[AL] * 2) as served:
            ask(on(served, {"additional_kwargs": {"extra_body": own}}, constrain=constrain))
            ask(on(served, constrain=constrain), llm_kwargs={"extra_body": own})
        for body in served.bodies:
            assert body.items() >= own.items()
            held_by = {"grammar": "grammar", "json_schema": "response_format"}[constrain]
            assert body.keys() & {"grammar", "response_format"} == ({"grammar"} if "grammar" in own else {held_by})


def test_no_schema_goes_along_if_it_is_not_wanted():
    with endpoint(AL) as served:
        on(served, constrain="off").structured_predict(Person, WHO)
    assert "response_format" not in served.bodies[0]


async def test_an_agent_gives_an_object_of_its_output_class():
    with endpoint("Al is three.", AL) as served, warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        result = await FunctionAgent(tools=TOOLS, llm=on(served), output_cls=Person).run("Who?")
    assert result.structured_response == {"name": "Al", "age": 3}


def test_what_its_class_takes_fits():
    class Door(BaseModel):
        """A door."""

        name: str
        is_open: bool = Field(alias="isOpen")
        model_config = ConfigDict(populate_by_name=True)

    with endpoint('{"name": "front", "is_open": "yes"}') as served:
        assert on(served).structured_predict(Door, WHO).is_open


async def test_a_whole_agent_speaks_the_strict_format():
    call = '{"message": "Let me see.", "tool_call": {"name": "get_weather", "arguments": {"city": "Paris"}}}'
    with endpoint(call, '{"message": "Sunny!", "tool_call": null}') as served:
        handler = FunctionAgent(tools=TOOLS, llm=on(served, prompt_format="strict")).run("The weather?")
        deltas = [event.delta async for event in handler.stream_events() if isinstance(event, AgentStream)]
        assert str(await handler) == "Sunny!"
    first, second = served.bodies
    assert "".join(deltas) == "Let me see.Sunny!"
    assert first["response_format"]["json_schema"]["schema"]["required"] == ["message", "tool_call"]
    assert second["messages"][1]["content"] == call
