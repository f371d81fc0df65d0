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
from typing_extensions import TypedDict

from endpoints.script import Turn, scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_error, api
from integrations.langchain.agents import (
    PARIS,
    QUESTION,
    call,
    chat_openai,
    conversations,
    get_weather,
    serving,
)
from langchain_llama3_tools import Llama3ToolModel, render_llama3_tools


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
    [given] = model.stream("Who?")
    return given


def astream(model: Any) -> Any:
    async def run() -> list[Any]:
        return [given async for given in model.astream("Who?")]

    [given] = asyncio.run(run())
    return given


in_each_way = pytest.mark.parametrize("ask", [invoke, ainvoke, stream, astream])


@pytest.mark.parametrize("include_raw", [False, True])
def test_arguments_of_a_call_reach_the_model_inside(include_raw: bool) -> None:
    with serving(OBJECT, OBJECT, OBJECT) as server:
        asked = structured(server, include_raw=include_raw)
        asked.invoke("Who?", seed=5)
        asyncio.run(asked.ainvoke("Who?", seed=5))
        list(asked.stream("Who?", seed=5))
    assert [request.body["seed"] for request in server.requests] == [5] * 3  # type: ignore[index]


@pytest.mark.parametrize("schema", [Person, Person.model_json_schema()])
def test_a_call_that_does_not_fit_after_a_retry_either_is_an_error(schema: Any) -> None:
    bad = call("Person", name="Ada")
    with serving(bad, bad, bad, bad) as server:
        with pytest.raises(ValueError, match="age"):  # pydantic's own, or LangChain's
            structured(server, schema).invoke("Who?")
        found = structured(server, schema, include_raw=True).invoke("Who?")
    assert found["parsed"] is None
    assert "age" in str(found["parsing_error"])


@in_each_way
class TestObjects:
    @pytest.mark.parametrize(
        "answer",
        [
            CALL,
            OBJECT,
            f"```json\n{OBJECT}\n```",
            f"Here:\n```\n{OBJECT}\n```",
            f"Here:\n{CALL}",
            f"<tool_call>{CALL}</tool_call>",
        ],
    )
    def test_a_call_counts_and_the_one_object_that_fits(self, ask: Callable[[Any], Any], answer: str) -> None:
        with serving(answer) as server:
            assert ask(structured(server)) == ADA

    @pytest.mark.parametrize(
        ("schema", "answer", "expected"),
        [
            (Person.model_json_schema(), OBJECT, {"name": "Ada", "age": 36}),
            (Place, '{"name": "Rome"}', {"name": "Rome"}),
            (Place, call("Place", name="Rome"), {"name": "Rome"}),
            (Titled, OBJECT, Titled(name="Ada", age=36)),
            (Person, '{"name": "Ada", "age": "36"}', ADA),
        ],
        ids=["JSON Schema", "TypedDict", "TypedDict, called", "a class with a title", "arguments made to fit"],
    )
    def test_of_each_kind_of_schema(
        self,
        ask: Callable[[Any], Any],
        schema: object,
        answer: str,
        expected: object,
    ) -> None:
        with serving(answer) as server:
            assert ask(structured(server, schema)) == expected

    @pytest.mark.parametrize(
        ("schema", "misfit", "why"),
        [
            (Person, CHILD, "$.age: Value error, not an adult"),
            (Titled, CHILD, "$.age: Value error, not an adult"),
            (Person, '{"name": "Al"}', "$.age: missing, expected integer"),
            (Person.model_json_schema(), '{"name": "Al"}', "$.age"),
            (Place, '{"name": ["Rome"]}', "$.name"),
            (Person, call("Person", name="Al", age=3), "$.age: Value error, not an adult"),
            (Person, "I do not know.", "Your last reply has no function call."),
        ],
    )
    def test_what_does_not_fit_is_asked_for_again_and_the_model_is_told_why(
        self,
        ask: Callable[[Any], Any],
        schema: object,
        misfit: str,
        why: str,
    ) -> None:
        with serving(misfit, OBJECT.replace(', "age": 36', "") if schema is Place else OBJECT) as server:
            assert ask(structured(server, schema))
        first, second = conversations(server)
        assert second[: len(first)] == first
        assert second[len(first)][1].endswith(misfit)
        assert why in second[-1][1]

    @pytest.mark.parametrize(
        ("schema", "answer", "why"),
        [
            (Person, "I do not know.", "I do not know.'"),
            (Person, CHILD, "$.age: Value error, not an adult"),
            (Titled, CHILD, "$.age: Value error, not an adult"),
            (Place, '{"name": ["Rome"]}', "$.name"),
        ],
    )
    def test_if_it_never_fits_an_error_says_why(
        self,
        ask: Callable[[Any], Any],
        schema: object,
        answer: str,
        why: str,
    ) -> None:
        with serving(answer, answer) as server, pytest.raises(OutputParserException) as error:
            ask(structured(server, schema))
        assert str(error.value).startswith("The model gave no object: ")
        assert why in str(error.value)
        assert error.value.llm_output is not None
        assert error.value.llm_output.endswith(answer)
        assert len(server.requests) == 2

    def test_a_call_of_something_else_is_asked_again(self, ask: Callable[[Any], Any]) -> None:
        with serving(call("who"), CALL) as server:
            assert ask(structured(server)) == ADA

    def test_with_the_raw_message_the_error_is_beside_it(self, ask: Callable[[Any], Any]) -> None:
        with serving(OBJECT) as server:
            found = ask(structured(server, include_raw=True))
        assert (found["parsed"], found["parsing_error"]) == (ADA, None)
        assert [made["args"] for made in found["raw"].tool_calls] == [{"name": "Ada", "age": 36}]
        with serving("No.", "No.") as server:
            found = ask(structured(server, include_raw=True))
        assert found["parsed"] is None
        assert isinstance(found["parsing_error"], OutputParserException)
        assert found["raw"].text.endswith("No.")


class TestPrompts:
    def test_the_schema_is_in_the_prompt_and_has_to_be_called(self) -> None:
        with serving(OBJECT) as server:
            structured(server).invoke("Who?")
        prompt = render_llama3_tools([Person], tool_choice="any")
        assert conversations(server) == [[("user", f"{prompt}\n\nWho?")]]

    def test_an_agent_answers_in_a_schema_after_its_tools(self) -> None:
        for response_format in (ToolStrategy(Place), Place):
            for answer in (call("Place", name="Paris"), '{"name": "Paris"}'):
                with serving(PARIS, answer) as server:
                    agent: Any = create_agent(
                        Llama3ToolModel(chat_openai(server)), [get_weather], response_format=response_format
                    )
                    assert agent.invoke(QUESTION)["structured_response"] == {"name": "Paris"}
                assert all("response_format" in request.body for request in server.requests)


class TestOtherMethods:
    """They are the model's inside."""

    @pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # langchain-openai's own
    @in_each_way
    @pytest.mark.parametrize(("method", "sent"), [("json_schema", "json_schema"), ("json_mode", "json_object")])
    def test_they_hold_the_server_as_without_the_wrapper(
        self, ask: Callable[[Any], Any], method: str, sent: str
    ) -> None:
        with serving(OBJECT, OBJECT) as server:
            assert ask(structured(server, method=method)) == ADA
            native: Any = chat_openai(server).with_structured_output(Person, method=method)  # type: ignore[arg-type]
            assert ask(native) == ADA
        ours, theirs = (request.body for request in server.requests)
        assert ours["response_format"]["type"] == sent  # type: ignore[index]
        assert ours == theirs

    def test_history_goes_to_it_as_text(self) -> None:
        made = {"name": "get_weather", "args": {"city": "Paris"}, "id": "1"}
        history = [HumanMessage("Hi"), AIMessage("", tool_calls=[made]), ToolMessage("sunny", tool_call_id="1")]
        with serving(OBJECT) as server:
            structured(server, method="json_schema").invoke(history)
        assert conversations(server)[0][1:] == [("assistant", PARIS), ("user", "Result of get_weather: sunny")]

    def test_an_unknown_one_is_its_error(self) -> None:
        with serving() as server, pytest.raises(ValueError, match="Unrecognized method argument"):
            structured(server, method="nonsense").invoke("Who?")


def body(server: LoopbackServer) -> Any:
    return server.requests[-1].body


def held(server: LoopbackServer) -> list[bool]:
    """Return which requests held the server to a schema."""
    return ["response_format" in request.body for request in server.requests]


def refusing(answer: Answer) -> LoopbackServer:
    """Return a server that gives this answer to a `response_format`, and else the object."""

    def model(request: Request) -> Answer:
        return answer if "response_format" in request.body else scripted([Turn(pieces=(OBJECT,))])(request)

    return LoopbackServer(api(["llama3.1"], model))


@pytest.fixture
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")


@pytest.mark.usefixtures("_no_proxy")
class TestConstraints:
    """How a server is held to a call that is due: `constrain`."""

    def test_a_call_that_is_due_is_held_to_its_schema(self) -> None:
        with serving(CALL) as server:
            structured(server).invoke("Who?")
        schema = body(server)["response_format"]["json_schema"]["schema"]
        assert schema["properties"]["name"] == {"type": "string", "enum": ["Person"]}
        assert schema["properties"]["parameters"]["required"] == ["name", "age"]

    @pytest.mark.parametrize(
        ("choice", "is_held"), [(None, False), ("auto", False), ("none", False), ("any", True), ("get_weather", True)]
    )
    def test_none_is_if_words_may_be_the_answer(self, choice: Any, is_held: bool) -> None:
        with serving(PARIS) as server:
            Llama3ToolModel(chat_openai(server)).bind_tools([get_weather], tool_choice=choice).invoke("Hi")
        assert held(server) == [is_held]

    def test_none_is_without_the_option(self) -> None:
        with serving(OBJECT) as server:
            model = Llama3ToolModel(chat_openai(server), constrain="off")
            assert model.with_structured_output(Person).invoke("Who?") == ADA
        assert held(server) == [False]

    def test_a_user_s_own_response_format_stands(self) -> None:
        with serving(OBJECT) as server:
            model: Any = Llama3ToolModel(chat_openai(server))
            model.bind_tools([Person], tool_choice="any", response_format={"type": "json_object"}).invoke("Hi")
        assert body(server)["response_format"] == {"type": "json_object"}

    def test_what_the_user_sends_beside_it_stays(self) -> None:
        with serving(OBJECT, OBJECT) as server:
            llm = chat_openai(server).model_copy(update={"extra_body": {"top_k": 1}})
            model = Llama3ToolModel(llm).bind_tools([Person], tool_choice="any")
            assert model.invoke("Who?").tool_calls
            assert model.invoke("Who?", extra_body={"top_k": 2}).tool_calls
        assert ([request.body["top_k"] for request in server.requests], held(server)) == ([1, 2], [True, True])

    @in_each_way
    @pytest.mark.parametrize(
        "answer",
        [
            answer_error(400, "response_format is not supported"),
            answer_error(422, "Extra inputs are not permitted"),
            answer_error(500, "failed to parse grammar"),
        ],
        ids=["400", "a schema that it does not take", "llama-cpp-python"],
    )
    def test_a_server_that_refuses_one_is_asked_without_and_from_then_on(
        self, ask: Callable[[Any], Any], answer: Answer, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO, "llama3_tools")
        with refusing(answer) as server:
            model = structured(server)
            assert [ask(model), ask(model)] == [ADA, ADA]
            assert held(server) == [True, False, False]
            assert ask(structured(server)) == ADA
        assert held(server)[3:] == [True, False], "another model is another server"
        told = [record.message for record in caplog.records if record.name == "llama3_tools"]
        assert told == ["ChatOpenAI: the server does not take response_format, and is not asked with it again"] * 2

    def test_an_error_of_one_s_own_callback_is_raised(self) -> None:
        class Budget(BaseCallbackHandler):
            raise_error = True

            def on_llm_end(self, *_: Any, **__: Any) -> None:
                raise ValueError("over budget")

        with serving(OBJECT) as server:
            llm = chat_openai(server).model_copy(update={"callbacks": [Budget()]})
            with pytest.raises(ValueError, match="over budget"):
                Llama3ToolModel(llm).with_structured_output(Person).invoke("Who?")
        assert held(server) == [True]

    @pytest.mark.parametrize("status", [401, 403, 429, 503])
    def test_an_error_that_is_about_something_else_is_raised(self, status: int) -> None:
        with refusing(answer_error(status, "no")) as server:
            with pytest.raises(Exception, match=str(status)):
                structured(server).invoke("Who?")
            assert held(server) == [True]

    def test_if_it_fails_without_one_as_well_nothing_is_remembered(self) -> None:
        with LoopbackServer(lambda _: answer_error(500, "out of memory")) as server:
            model = structured(server)
            for _ in range(2):
                with pytest.raises(Exception, match="out of memory"):
                    model.invoke("Who?")
        assert held(server) == [True, False] * 2

    def test_json_schema_is_asked_for_whatever_a_server_says(self) -> None:
        with refusing(answer_error(400, "no")) as server:
            model = Llama3ToolModel(chat_openai(server), constrain="json_schema").with_structured_output(Person)
            with pytest.raises(Exception, match="no"):
                model.invoke("Who?")
        assert held(server) == [True]

    def test_ollama_takes_the_schema_in_its_own_place(self) -> None:
        reply = {"model": "m", "message": {"role": "assistant", "content": CALL}, "done": True, "done_reason": "stop"}
        answer = Answer((json.dumps({**reply, "created_at": "2026-01-01T00:00:00Z"}).encode(),), "application/x-ndjson")
        with LoopbackServer(lambda _: answer) as server:
            llm = ChatOllama(model="llama3.1", base_url=server.base_url.removesuffix("/v1"))
            for inside in (llm, llm.model_copy(update={"format": "json"})):
                assert Llama3ToolModel(inside).with_structured_output(Person).invoke("Who?") == ADA
        sent = [request.body["format"] for request in server.requests]
        assert (sent[0]["properties"]["name"]["enum"], sent[1]) == (["Person"], "json")
