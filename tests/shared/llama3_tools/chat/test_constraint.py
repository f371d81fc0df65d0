"""What holds a server to the form of an answer, and which servers refuse it."""

from __future__ import annotations

from typing import Any

import pytest

from llama3_tools import ToolDefinitionError
from llama3_tools.chat import ServerConstraint, ToolChat

NOW = {"name": "now"}
THEN = {"name": "at.then", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
LOST = {"name": "lost", "parameters": {"type": "object", "properties": {"a": {"$ref": "#/$defs/Gone"}}}}


def constraint(tools: list[dict[str, Any]], tool_choice: str, **options: Any) -> dict[str, Any]:
    chat = ToolChat(tools, **options)
    return chat.request([{"role": "user", "content": "?"}], tool_choice=tool_choice).constraint


@pytest.mark.parametrize(
    ("tool_choice", "options", "names"),
    [
        ("auto", {}, None),
        ("none", {}, None),
        ("required", {}, ["now", "at.then"]),
        ("at.then", {}, ["at.then"]),
        ("required", {"constrain": "off"}, None),
        ("required", {"tools_in": "request"}, None),
        ("auto", {"prompt_format": "strict"}, ["now", "at.then", None]),
        ("now", {"prompt_format": "strict"}, ["now"]),
        ("none", {"prompt_format": "strict"}, None),
        ("auto", {"prompt_format": "strict", "constrain": "off"}, None),
    ],
)
def test_a_schema_holds_a_server_to_what_is_due(tool_choice: str, options: dict[str, Any], names: list[str] | None):
    given = constraint([NOW, THEN], tool_choice, **options)
    if names is None:
        assert given == {}
        return
    schema = given["response_format"]["json_schema"]["schema"]
    if "message" in schema.get("properties", {}):
        schema = schema["properties"]["tool_call"]
    branches = schema.get("anyOf", [schema])
    assert [branch.get("properties", {}).get("name", {}).get("enum", [None])[0] for branch in branches] == names


def test_the_server_of_llama_cpp_python_has_the_schema_elsewhere_and_strings_with_an_end():
    held = constraint([NOW], "auto", prompt_format="strict", constrain="json_object")["response_format"]
    assert held["type"] == "json_object"
    assert "{0,200}" in held["schema"]["properties"]["message"]["pattern"]


def test_a_schema_that_servers_cannot_take_is_an_error_only_if_it_was_asked_for():
    assert constraint([LOST], "required") == {}
    with pytest.raises(ToolDefinitionError, match="which is not in them"):
        constraint([LOST], "required", constrain="json_schema")


class StatusError(Exception):
    def __init__(self, status: int, text: str = "no") -> None:
        super().__init__(text)
        self.status_code = status


class ResponseError(Exception):
    """As httpx and requests raise them."""

    def __init__(self, status: int) -> None:
        super().__init__("no")
        self.response = StatusError(status)


@pytest.mark.parametrize(
    ("error", "may"),
    [
        *((StatusError(status), status in {400, 422, 500, 501}) for status in (400, 401, 404, 422, 429, 500, 501, 503)),
        *((ResponseError(status), status == 400) for status in (400, 503)),
        (TypeError("got an unexpected keyword argument 'response_format'"), True),
        (ConnectionRefusedError(), False),
        (ValueError("The following model_kwargs are not used by the model: ['response_format']"), True),
        *((error, False) for error in (ValueError("over budget"), AttributeError("x"), TypeError("no schema"))),
    ],
)
def test_some_errors_may_be_a_refusal(error: Exception, may: bool):
    class Model: ...

    hold = ServerConstraint(Model(), "auto")
    assert hold.drop_if_refused(error) is may
    assert hold.is_on is not may
    assert ServerConstraint(Model(), "json_schema").drop_if_refused(error) is False
    assert ServerConstraint(Model(), "off").is_on is False


@pytest.mark.parametrize(
    ("settings", "is_on"),
    [
        ({"temperature": 0, "extra_body": None, "format": None, "additional_kwargs": {}}, True),
        ({"response_format": {"type": "json_object"}}, False),
        ({"format": "json"}, False),
        ({"extra_body": {"guided_json": {}, "grammar": "root ::= object"}}, False),
        ({"additional_kwargs": {"extra_body": {"grammar": "root ::= object"}}}, False),
    ],
)
def test_what_the_user_holds_the_server_to_stands(settings: dict[str, Any], is_on: bool):
    class Model: ...

    model = Model()
    assert ServerConstraint(model, "auto", settings).is_on is is_on
    vars(model).update(settings)
    assert ServerConstraint(model, "json_schema").is_on is is_on


class StreamError(Exception):
    """As OpenAI's client raises what a stream says."""

    code = 400


@pytest.mark.parametrize("error", [StatusError(400), StatusError(500, "failed to parse grammar"), StreamError()])
def test_a_refusal_is_remembered_for_its_model_and_logged_once_an_answer_has_come(
    error: Exception, caplog: pytest.LogCaptureFixture
):
    class Model: ...

    model, other = Model(), Model()
    hold = ServerConstraint(model, "auto")
    with caplog.at_level("INFO", "llama3_tools"):
        hold.remember_refusal()
        hold.drop_if_refused(error)
        assert ServerConstraint(model, "auto").is_on, "the error may have been another one"
        hold.remember_refusal()
        hold.remember_refusal()
    assert (ServerConstraint(model, "auto").is_on, ServerConstraint(other, "auto").is_on) == (False, True)
    assert caplog.messages == ["Model: the server does not take response_format, and is not asked with it again"]


def test_a_server_in_trouble_has_refused_nothing():
    class Model: ...

    model = Model()
    hold = ServerConstraint(model, "auto")
    assert hold.drop_if_refused(StatusError(500, "CUDA out of memory"))
    hold.remember_refusal()
    again = ServerConstraint(model, "auto")
    assert [again.drop_if_refused(StatusError(400)), again.drop_if_refused(StatusError(400))] == [True, False]
    again.remember_refusal()
    assert ServerConstraint(model, "auto").is_on
