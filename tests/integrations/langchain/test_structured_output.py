"""Structured output: an object of the schema, or an error that says why, and how a server is held to the schema."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_ollama import ChatOllama
from pydantic import BaseModel, ConfigDict, field_validator
from pydantic.v1 import BaseModel as BaseModelV1
from pydantic.v1 import validator
from typing_extensions import TypedDict

from endpoints.script import Turn, sent
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_error, answer_json, api
from integrations.langchain.agents import (
    PARIS,
    QUESTION,
    call,
    chat_openai,
    conversations,
    get_weather,
    serving,
)
from langchain_llama3_tools import Llama3ToolModel
from native_calls import found, piece


class Person(BaseModel):
    """A person."""

    name: str
    age: int

    @field_validator("age")
    @classmethod
    def _is_adult(cls, age: int) -> int:
        if age < 18:
            raise ValueError("not an adult")
        return age


class Titled(Person):
    """A person."""

    model_config = ConfigDict(title="human_being")


class OfVersion1(BaseModelV1):
    """A person."""

    age: int

    @validator("age")
    def _is_adult(cls, age: int) -> int:  # noqa: N805 (as version 1 wants it)
        return Person._is_adult(age)  # type: ignore[no-any-return, operator]  # noqa: SLF001 (the same rule)


class Place(TypedDict):
    """A place."""

    name: str


ADA = Person(name="Ada", age=36)
OBJECT = '{"name": "Ada", "age": 36}'
CHILD = '{"name": "Al", "age": 3}'
CALL = call("Person", name="Ada", age=36)


def structured(server: LoopbackServer, schema: Any = Person, **options: Any) -> Any:
    return Llama3ToolModel(chat_openai(server)).with_structured_output(schema, **options)


def invoke(model: Any) -> Any:
    return model.invoke("Who?")


def ainvoke(model: Any) -> Any:
    return asyncio.run(model.ainvoke("Who?"))


def stream(model: Any) -> Any:
    return list(model.stream("Who?"))[-1]


async def collected(model: Any) -> list[Any]:
    return [given async for given in model.astream("Who?")]


def astream(model: Any) -> Any:
    return asyncio.run(collected(model))[-1]


in_each_way = pytest.mark.parametrize("ask", [invoke, ainvoke, stream, astream])
in_some_ways = pytest.mark.parametrize("ask", [invoke, astream])


@pytest.mark.parametrize("include_raw", [False, True])
def test_arguments_of_a_call_reach_the_wrapped_model(include_raw: bool) -> None:
    with serving(OBJECT, OBJECT, OBJECT) as server:
        asked = structured(server, include_raw=include_raw)
        asked.invoke("Who?", seed=5)
        asyncio.run(asked.ainvoke("Who?", seed=5))
        list(asked.stream("Who?", seed=5))
    assert [request.body["seed"] for request in server.requests] == [5] * 3  # type: ignore[index]


@in_some_ways
class TestObjects:
    @pytest.mark.parametrize(
        ("schema", "answer", "expected"),
        [
            (Person, CALL, ADA),
            (Person, '{"name": "Ada", "age": "36"}', ADA),
            (Person.model_json_schema(), OBJECT, {"name": "Ada", "age": 36}),
            (Place, call("Place", name="Rome"), {"name": "Rome"}),
            (Titled, OBJECT, Titled(name="Ada", age=36)),
        ],
        ids=["a class, called", "arguments made to fit", "JSON Schema", "TypedDict, called", "a class with a title"],
    )
    def test_a_call_counts_and_the_object_alone_of_each_kind_of_schema(
        self,
        ask: Callable[[Any], Any],
        schema: object,
        answer: str,
        expected: object,
    ) -> None:
        with serving(answer) as server:
            assert ask(structured(server, schema)) == expected

    @pytest.mark.parametrize(
        ("schema", "answer", "why"),
        [
            (Person, "I do not know.", "I do not know.'"),
            (Titled, CHILD, "$.age: Value error, not an adult"),
            (Person, call("Person", name="Al", age=3), "$.age: Value error, not an adult"),
            (Place, call("Place", name=["Rome"]), "$.name"),
            (OfVersion1, call("OfVersion1", age=3), "not an adult"),
        ],
    )
    def test_if_it_never_fits_there_is_one_kind_of_error_that_says_why(
        self,
        ask: Callable[[Any], Any],
        schema: object,
        answer: str,
        why: str,
    ) -> None:
        with serving(*[answer] * 4) as server:
            with pytest.raises(OutputParserException, match="The model gave no object that fits") as error:
                ask(structured(server, schema))
            found = ask(structured(server, schema, include_raw=True))
        for one in (error.value, found["parsing_error"]):
            assert isinstance(one, OutputParserException)
            assert why in str(one)
        assert error.value.llm_output is not None

    def test_a_call_of_something_else_that_is_let_through_is_no_object(self, ask: Callable[[Any], Any]) -> None:
        with serving(call("who")) as server:
            model = Llama3ToolModel(chat_openai(server), on_unknown_tool="call").with_structured_output(Person)
            with pytest.raises(OutputParserException, match="it called 'who'"):
                ask(model)

    def test_with_the_raw_message_the_object_is_beside_it(self, ask: Callable[[Any], Any]) -> None:
        with serving(OBJECT) as server:
            found = ask(structured(server, include_raw=True))
        assert (found["parsed"], found["parsing_error"]) == (ADA, None)
        assert [made["args"] for made in found["raw"].tool_calls] == [{"name": "Ada", "age": 36}]


PARTS = [{"name": "Ad"}, {"name": "Ada"}, {"name": "Ada", "age": 3}, {"name": "Ada", "age": 36}]
IN_PIECES = Turn(pieces=('{"name": "Ad', 'a"', ', "age": 3', "6}"))


class PersonDict(TypedDict):
    """A person."""

    name: str
    age: int


class TestStreams:
    """The object of a `TypedDict` or a JSON Schema comes while it is written, as with a model that calls natively."""

    @pytest.mark.parametrize("schema", [PersonDict, {**Person.model_json_schema(), "title": "PersonDict"}])
    @pytest.mark.parametrize(
        "answer",
        [
            Turn(pieces=("Sure: ", *IN_PIECES.pieces)),
            Turn(pieces=('{"name": "PersonDict", "parameters": ', *IN_PIECES.pieces, "}")),
        ],
        ids=["an object", "a call"],
    )
    def test_it_comes_in_parts(self, schema: Any, answer: Turn) -> None:
        with serving(answer, answer) as server:
            model = structured(server, schema)
            assert list(model.stream("Who?")) == PARTS
            assert list(asyncio.run(collected(model))) == PARTS

    def test_so_does_one_that_the_server_finds(self) -> None:
        pieces = [piece(0, "", "a", "Person"), *(piece(0, arguments) for arguments in IN_PIECES.pieces)]
        with LoopbackServer(lambda _: found(*pieces, stream=True)) as server:
            model = Llama3ToolModel(chat_openai(server), tools_in="request")
            parts = list(model.with_structured_output(Person.model_json_schema()).stream("Who?"))
        assert parts == PARTS

    def test_if_it_is_asked_for_again_it_begins_anew(self) -> None:
        with serving(Turn(pieces=('{"name": ["Al"]', "}")), IN_PIECES) as server:
            assert list(structured(server, PersonDict).stream("Who?")) == [{"name": ["Al"]}, *PARTS]

    def test_a_class_comes_whole_and_so_does_a_model_that_streams_in_invoke(self) -> None:
        with serving(IN_PIECES, IN_PIECES) as server:
            assert list(structured(server).stream("Who?")) == [ADA]
            streaming = Llama3ToolModel(chat_openai(server), streaming=True)
            assert streaming.with_structured_output(PersonDict).invoke("Who?") == PARTS[-1]

    def test_a_json_answer_that_cannot_be_a_call_streams_as_it_is_written(self) -> None:
        schema = {"type": "json_schema", "json_schema": {"name": "Person", "schema": Person.model_json_schema()}}
        with serving(IN_PIECES) as server:
            bound = Llama3ToolModel(chat_openai(server)).bind_tools([get_weather], response_format=schema)
            pieces = [chunk.text for chunk in bound.stream("Who?") if chunk.text]
        assert pieces == list(IN_PIECES.pieces)
        assert server.requests[-1].body["response_format"] == schema  # type: ignore[index]


class Cat(BaseModel):
    """A cat."""

    name: str


class Dog(BaseModel):
    """A dog."""

    breed: str


@pytest.mark.parametrize("answers", [['{"breed": "Pug"}'], [f"Hm. {PARIS}", call("Dog", breed="Pug")]])
def test_the_one_of_several_classes_that_fits_is_called(answers: list[str]) -> None:
    for is_stream in (False, True):
        with serving(*answers) as server:
            agent: Any = create_agent(
                Llama3ToolModel(chat_openai(server)), [get_weather], response_format=ToolStrategy(Cat | Dog)
            )
            items = list(agent.stream(QUESTION, stream_mode=["messages", "values"])) if is_stream else []
            result = items[-1][1] if items else agent.invoke(QUESTION)
        assert result["structured_response"] == Dog(breed="Pug")
        texts = [item[1][0].text for item in items if item[0] == "messages" and item[1][0].type != "tool"]
        assert "".join(texts) in {"", "Hm."}


@pytest.mark.parametrize("response_format", [ToolStrategy(Place), Place])
def test_an_agent_answers_in_a_schema_after_its_tools(response_format: Any) -> None:
    with serving(PARIS, '{"name": "Paris"}') as server:
        agent: Any = create_agent(Llama3ToolModel(chat_openai(server)), [get_weather], response_format=response_format)
        assert agent.invoke(QUESTION)["structured_response"] == {"name": "Paris"}
    assert held(server) == [True, True]


class TestOtherMethods:
    """They are the model's inside."""

    @pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # langchain-openai's own
    @in_some_ways
    @pytest.mark.parametrize(("method", "kind"), [("json_schema", "json_schema"), ("json_mode", "json_object")])
    def test_they_hold_the_server_as_without_the_wrapper(
        self, ask: Callable[[Any], Any], method: str, kind: str
    ) -> None:
        with serving(OBJECT, OBJECT) as server:
            assert ask(structured(server, method=method)) == ADA
            native: Any = chat_openai(server).with_structured_output(Person, method=method)  # type: ignore[arg-type]
            assert ask(native) == ADA
        ours, theirs = (request.body for request in server.requests)
        assert ours["response_format"]["type"] == kind  # type: ignore[index]
        assert ours == theirs

    def test_history_goes_to_it_as_text(self) -> None:
        made = {"name": "get_weather", "args": {"city": "Paris"}, "id": "1"}
        history = [HumanMessage("Hi"), AIMessage("", tool_calls=[made]), ToolMessage("sunny", tool_call_id="1")]
        with serving(OBJECT) as server:
            structured(server, method="json_schema").invoke(history)
        assert conversations(server)[0][1:] == [("assistant", PARIS), ("user", "Result of get_weather: sunny")]


def held(server: LoopbackServer) -> list[bool]:
    """Return which requests held the server to a schema."""
    return ["response_format" in request.body for request in server.requests]


class TestConstraints:
    """How a server is held to a call that is due: `constrain`."""

    def test_what_the_user_sends_beside_it_stays(self) -> None:
        with serving(OBJECT, OBJECT) as server:
            llm = chat_openai(server, extra_body={"top_k": 1})
            model = Llama3ToolModel(llm).bind_tools([Person], tool_choice="any")
            assert model.invoke("Who?").tool_calls
            assert model.invoke("Who?", extra_body={"top_k": 2}).tool_calls
        assert ([request.body["top_k"] for request in server.requests], held(server)) == ([1, 2], [True, True])

    @in_each_way
    def test_a_server_that_refuses_one_is_asked_without_and_from_then_on(
        self, ask: Callable[[Any], Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        def model(request: Request) -> Answer:
            if "response_format" in request.body:
                return answer_error(400, "response_format is not supported")
            return sent(Turn(pieces=(OBJECT,)), request)

        caplog.set_level(logging.INFO, "llama3_tools")
        with LoopbackServer(api(["llama3.1"], model)) as server:
            model = structured(server)
            assert [ask(model), ask(model)] == [ADA, ADA]
            assert held(server) == [True, False, False]
            assert ask(structured(server)) == ADA
        assert held(server)[3:] == [True, False], "another model is another server"
        told = [record.message for record in caplog.records if record.name == "llama3_tools"]
        assert told == ["ChatOpenAI: the server does not take response_format, and is not asked with it again"] * 2

    @in_some_ways
    @pytest.mark.parametrize(("event", "requests"), [("on_chain_start", 0), ("on_llm_end", 1)])
    def test_an_error_of_one_s_own_callback_is_raised(
        self, ask: Callable[[Any], Any], event: str, requests: int
    ) -> None:
        class Budget(BaseCallbackHandler):
            raise_error = True

        def raising(*_: Any, **told: Any) -> None:
            if event == "on_llm_end" or "request" in str(told.get("name")):
                raise ValueError("over budget")

        setattr(Budget, event, raising)
        with serving(OBJECT, OBJECT) as server:
            model = structured(server)
            with pytest.raises(ValueError, match="over budget"):
                ask(model.with_config(callbacks=[Budget()]))
            assert ask(model) == ADA
        assert held(server) == [True] * (requests + 1)

    def test_the_responses_api_has_a_place_of_its_own(self) -> None:
        text = {"type": "output_text", "text": CALL, "annotations": []}
        said = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
        answer = {"id": "r", "object": "response", "created_at": 0, "model": "llama3.1", "status": "completed"}
        with LoopbackServer(lambda _: answer_json({**answer, "output": [said], "tools": []})) as server:
            for own in ({"use_responses_api": True}, {"output_version": "responses/v1"}):
                model = Llama3ToolModel(chat_openai(server, **own)).with_structured_output(Person)
                assert model.invoke("Who?") == ADA
        for request in server.requests:
            sent: Any = request.body
            assert "response_format" not in sent
            assert sent["text"]["format"]["type"] == "json_schema"
            assert sent["text"]["format"]["schema"]["properties"]["name"]["enum"] == ["Person"]

    def test_ollama_takes_the_schema_in_its_own_place(self) -> None:
        reply = {"model": "m", "message": {"role": "assistant", "content": CALL}, "done": True, "done_reason": "stop"}
        answer = Answer((json.dumps({**reply, "created_at": "2026-01-01T00:00:00Z"}).encode(),), "application/x-ndjson")
        with LoopbackServer(lambda _: answer) as server:
            llm = ChatOllama(model="llama3.1", base_url=server.base_url.removesuffix("/v1"))
            for inside in (llm, llm.model_copy(update={"format": "json"})):
                assert Llama3ToolModel(inside).with_structured_output(Person).invoke("Who?") == ADA
        sent = [request.body["format"] for request in server.requests]
        assert (sent[0]["properties"]["name"]["enum"], sent[1]) == (["Person"], "json")
