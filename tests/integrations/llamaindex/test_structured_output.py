"""Asked to call, it calls: structured output, what holds the server to it, and the strict format of a whole agent."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.program.function_program import FunctionCallingProgram
from llama_index.core.program.llm_program import LLMTextCompletionProgram
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel, ConfigDict, Field

from endpoints.wire import answer_error
from integrations.llamaindex.endpoint import Endpoint, endpoint, get_weather, say
from llama3_tools import render_tool_call
from llama_index_llama3_tools import Llama3ToolLLM, MalformedToolCallError
from native_calls import found, piece

AL = '{"name": "Al", "age": 3}'
WHO = PromptTemplate("Who?")
TOOLS = [FunctionTool.from_defaults(get_weather)]


class Person(BaseModel):
    """A person."""

    name: str
    age: int


class Family(BaseModel):
    """A family: a class that contains itself."""

    name: str
    kids: list[Family] = []


def on(served: Endpoint, inside: dict[str, Any] | None = None, **options: Any) -> Llama3ToolLLM:
    return Llama3ToolLLM(served.llm(**(inside or {})), **options)


def whole(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, output_cls: Any = Person, **kwargs: Any) -> Any:
    return llm.structured_predict(output_cls, prompt, **kwargs)


def awhole(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, output_cls: Any = Person, **kwargs: Any) -> Any:
    return asyncio.run(llm.astructured_predict(output_cls, prompt, **kwargs))


def grown(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, output_cls: Any = Person, **kwargs: Any) -> list[Any]:
    return list(llm.stream_structured_predict(output_cls, prompt, **kwargs))


def agrown(llm: Llama3ToolLLM, prompt: PromptTemplate = WHO, output_cls: Any = Person, **kwargs: Any) -> list[Any]:
    async def run() -> list[Any]:
        return [one async for one in await llm.astream_structured_predict(output_cls, prompt, **kwargs)]

    return asyncio.run(run())


def stream(llm: Llama3ToolLLM, *args: Any, **kwargs: Any) -> Any:
    return grown(llm, *args, **kwargs)[-1]


def astream(llm: Llama3ToolLLM, *args: Any, **kwargs: Any) -> Any:
    return agrown(llm, *args, **kwargs)[-1]


@pytest.mark.parametrize("ask", [whole, astream])
class TestWays:
    @pytest.mark.parametrize("text", [AL, 'Here you are:\n{"name": "Al", "age": "3"}\nBye!'])
    def test_an_object_is_the_output(self, ask: Callable[..., Any], text: str):
        with endpoint(text) as served:
            assert ask(on(served), PromptTemplate("Who in {city}?"), city="Rome") == Person(name="Al", age=3)
        [body] = served.bodies
        assert "response_format" in body
        assert body["messages"][0]["content"].endswith("Call a function in your reply.\n\nWho in Rome?")

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("Al is three.", "wrote no tool call: '.*Al is three.'"),
            ('{"name": "Person", "parameters": {"name": "Al"}}', r"Person \(misfit\): \$.age: "),
        ],
        ids=["words", "a call"],
    )
    @pytest.mark.parametrize("max_retries", [0, 1])
    def test_what_does_not_fit_is_one_error(self, ask: Callable[..., Any], text: str, said: str, max_retries: int):
        answers = [text] * (1 + max_retries)
        with endpoint(*answers) as served, pytest.raises(MalformedToolCallError, match=said):
            ask(on(served, max_retries=max_retries))
        assert len(served.bodies) == len(answers)

    def test_a_class_may_contain_itself(self, ask: Callable[..., Any]):
        with endpoint('{"name": "Al", "kids": [{"name": "Bo"}]}') as served:
            family = ask(on(served), output_cls=Family)
        assert family == Family(name="Al", kids=[Family(name="Bo")])
        assert '"description": "A family: a class that contains itself."' in served.messages(0)[0][1]

    def test_the_mode_of_the_user_s_own_stands(self, ask: Callable[..., Any]):
        if ask in {stream, astream} and "stream_call" not in vars(LLMTextCompletionProgram):
            pytest.skip("LlamaIndex streams no such program yet")
        with endpoint(AL) as served:
            assert ask(on(served, pydantic_program_mode="llm")) == Person(name="Al", age=3)
        assert "following functions" not in served.messages(0)[0][1]
        assert "response_format" not in served.bodies[0]

    def test_arguments_for_the_llm_reach_it(self, ask: Callable[..., Any]):
        with endpoint(AL) as served:
            ask(on(served), llm_kwargs={"temperature": 0.25, "seed": 7})
        assert [served.bodies[0][key] for key in ("temperature", "seed")] == [0.25, 7]


class TestStreams:
    @pytest.mark.parametrize("ask", [grown, agrown])
    @pytest.mark.parametrize(
        "text",
        [
            f"Here: {AL}",
            f'<think>{{"name": "Bo", "age": 9}}?</think>{AL}',
            render_tool_call("Person", {"name": "Al", "age": 3}),
            f'{{"message": "So.", "tool_call": {{"name": "Person", "arguments": {AL}}}}}',
        ],
        ids=["after words", "after thoughts", "a call", "strict"],
    )
    def test_the_object_grows(self, ask: Callable[..., list[Any]], text: str):
        with endpoint(say(text, every=1)) as served:
            objects = ask(on(served, prompt_format="strict" if "message" in text else "json"))
        shown = [one.model_dump() for one in objects]
        assert {"name": "Al", "age": None} in shown
        assert {one["name"] for one in shown} <= {None, "Al"}
        assert objects[-1] == Person(name="Al", age=3)

    def test_the_object_of_a_server_s_own_call_grows(self):
        pieces = [piece(0, "", "1", "Person"), piece(0, '{"name": "Al", "age": '), piece(0, "3}")]
        with endpoint(found(*pieces, stream=True)) as served:
            llm = on(served, {"is_function_calling_model": True}, tools_in="request")
            assert [one.model_dump()["age"] for one in grown(llm)] == [None, 3, 3]

    def test_a_thought_in_which_the_answer_begins_is_none(self):
        with endpoint(say(f'{{"name": "Bo", "age": 9}}?</think>{AL}', every=1)) as served:
            objects = grown(on(served, split_reasoning=True, starts_reasoning=True))
        assert {one.name for one in objects} <= {None, "Al"}

    def test_what_is_asked_again_grows_anew(self):
        with endpoint('{"name": "Al", "age": "unknown"}', AL) as served:
            ages = [one.model_dump()["age"] for one in grown(on(served))]
        assert (ages.count("unknown"), ages[-1]) == (1, 3)

    @pytest.mark.filterwarnings("ignore:The `json` method is deprecated")  # of LlamaIndex's own
    def test_an_llm_of_an_object_streams_it(self):
        with endpoint(AL) as served:
            responses = list(on(served).as_structured_llm(Person).stream_chat(WHO.format_messages()))
        assert len(responses) > 1
        assert responses[-1].raw == Person(name="Al", age=3)


@pytest.mark.parametrize("is_async", [True, False])
def test_a_program_may_write_several_objects(is_async: bool):
    calls = "\n".join(render_tool_call("Person", {"name": name, "age": 3}) for name in ("Al", "Bo"))
    with endpoint(calls) as served:
        program = FunctionCallingProgram.from_defaults(
            Person, prompt=WHO, llm=on(served), allow_parallel_tool_calls=True
        )
        assert (asyncio.run(program.acall()) if is_async else program()) == [
            Person(name="Al", age=3),
            Person(name="Bo", age=3),
        ]
    assert "response_format" not in served.bodies[0]


class TestHolding:
    @pytest.mark.parametrize("ask", [whole, awhole, stream, astream])
    def test_a_server_that_refuses_the_schema_is_asked_without_it_from_then_on(self, ask: Callable[..., Any]):
        with endpoint(answer_error(400, "no schemas"), AL, AL) as served:
            llm = on(served)
            assert [ask(llm), ask(llm)] == [Person(name="Al", age=3)] * 2
        assert ["response_format" in body for body in served.bodies] == [True, False, False]

    def test_a_grammar_of_the_user_s_own_stands(self):
        own = {"grammar": "mine"}
        with endpoint(*[AL] * 2) as served:
            whole(on(served, {"additional_kwargs": {"extra_body": own}}))
            whole(on(served), llm_kwargs={"extra_body": own})
        assert [(body["grammar"], "response_format" in body) for body in served.bodies] == [("mine", False)] * 2


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
