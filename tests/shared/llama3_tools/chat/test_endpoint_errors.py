"""What is wrong with an endpoint, told by names and texts alone."""

from __future__ import annotations

from json import JSONDecodeError
from types import SimpleNamespace

import pytest

from llama3_tools.chat.endpoint_errors import (
    EndpointFault,
    add_advice,
    endpoint_fault,
    status_of,
)

CLIENT = SimpleNamespace(openai_api_base=None, api_base="http://127.0.0.1:1/v1", model="llama3.1")


def named(name: str, text: str = "", *, status: int | None = None, cause: BaseException | None = None) -> Exception:
    """Make an error of a client that is not installed."""
    error: Exception = type(name, (Exception,), {"status_code": status})(text)
    error.__cause__ = cause
    return error


FAULTS = {
    "nobody listens": (named("APIConnectionError", cause=named("ConnectError")), EndpointFault.NOT_CONNECTED),
    "no scheme": (named("APIConnectionError", cause=named("UnsupportedProtocol")), EndpointFault.NO_SCHEME),
    "refused": (named("OllamaError", cause=ConnectionRefusedError()), EndpointFault.NOT_CONNECTED),
    "not reached in time": (named("APITimeoutError", cause=named("ConnectTimeout")), EndpointFault.NOT_CONNECTED),
    "no connection, for no known reason": (named("APIConnectionError"), EndpointFault.NOT_CONNECTED),
    "too slow": (named("APITimeoutError"), EndpointFault.TIMED_OUT),
    "cut": (named("APIConnectionError", cause=named("RemoteProtocolError")), EndpointFault.BROKE_OFF),
    "cut, in aiohttp": (named("ClientPayloadError"), EndpointFault.BROKE_OFF),
    "a page": (named("APIError", "<!DOCTYPE html>"), EndpointFault.NOT_A_COMPLETION),
    "a page without a type": (named("NotFoundError", "<HTML>", status=404), EndpointFault.NOT_A_COMPLETION),
    "a proxy's page": (named("InternalServerError", "<html>", status=500), EndpointFault.PROXY),
    "not found, by its status": (named("APIError", "no path", status=404), EndpointFault.NOT_A_COMPLETION),
    "not found, by its name": (named("NotFoundError", "no path"), EndpointFault.NOT_A_COMPLETION),
    "no JSON": (JSONDecodeError("no JSON", "x", 0), EndpointFault.NOT_A_COMPLETION),
    "no model": (named("NotFoundError", "The model `x`\ndoes not exist", status=404), EndpointFault.NO_SUCH_MODEL),
    "no model, in Ollama": (named("ResponseError", 'Model "x" not found, pull it'), EndpointFault.NO_SUCH_MODEL),
    "no model, by its code": (named("APIError", "code: model_not_found"), EndpointFault.NO_SUCH_MODEL),
    **{
        f"no model: {text}": (named("NotFoundError", text, status=404), EndpointFault.NO_SUCH_MODEL)
        for text in ("no such model: x", "model x is unknown", "Model 'x': unknown.")
    },
    "a model's template without a role": (
        named("BadRequestError", "model x: unknown role 'tool'", status=400),
        EndpointFault.NO_TOOL_ROLE,
    ),
    "a failure that names a model": (named("InternalServerError", "model not found", status=500), None),
    **{
        text: (named("BadRequestError", text, status=400), EndpointFault.NO_TOOL_ROLE)
        for text in ("roles must alternate user/assistant", "Unexpected role: tool", "Only user roles are supported!")
    },
    "no tools, in Ollama": (
        named("BadRequestError", "llama3:latest does not support tools", status=400),
        EndpointFault.NO_TOOLS,
    ),
    "no tools, in vLLM": (
        named("BadRequestError", '"auto" tool choice requires --enable-auto-tool-choice', status=400),
        EndpointFault.NO_AUTO_TOOLS,
    ),
    "no role, as a failure": (named("InternalServerError", "Unknown role", status=500), EndpointFault.NO_TOOL_ROLE),
    "a closed loop": (
        named("APIConnectionError", cause=RuntimeError("Event loop is closed")),
        EndpointFault.CLOSED_LOOP,
    ),
    "a framework's word": (TypeError("Null value for 'choices'."), EndpointFault.NOT_A_COMPLETION),
    "anything else": (ValueError("out of memory"), None),
}


@pytest.mark.parametrize(("error", "fault"), FAULTS.values(), ids=FAULTS)
def test_the_fault_is_told(error: Exception, fault: EndpointFault | None):
    assert endpoint_fault(error) is fault


def advice(error: BaseException, client: object = CLIENT) -> str:
    add_advice(error, client, "user")
    [said] = getattr(error, "__notes__", [])
    return str(said)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            named("APIConnectionError", cause=OSError("no route")),
            "no connection to http://127.0.0.1:1/v1: is the server running there? no route",
        ),
        (named("MissingSchema"), "http://127.0.0.1:1/v1 must begin with http:// or https://"),
        (named("APIError", "no such model"), "no model 'llama3.1': http://127.0.0.1:1/v1/models lists those that it"),
    ],
)
def test_what_to_do_names_the_address_the_model_and_the_cause(error: Exception, said: str):
    assert said in advice(error)


@pytest.mark.parametrize(("tool_role", "is_told"), [("tool", True), ("ipython", True), ("user", False)])
def test_it_is_added_once_if_it_is_a_cure(tool_role: str, is_told: bool):
    error = named("BadRequestError", "Unexpected role: tool", status=400)
    for client in (CLIENT, object()):
        add_advice(error, client, tool_role)
    assert getattr(error, "__notes__", []) == [EndpointFault.NO_TOOL_ROLE.value] * is_told


@pytest.mark.parametrize(
    ("client", "shown"),
    [
        (SimpleNamespace(openai_api_base="http://a", base_url="http://b"), "http://a"),
        (SimpleNamespace(api_base="", base_url="http://b"), "http://b"),
        (SimpleNamespace(), "the model's address"),
    ],
)
def test_the_address_is_the_clients(client: object, shown: str):
    assert advice(ConnectionError(), client) == f"no connection to {shown}: is the server running there?"


@pytest.mark.parametrize(("code", "status"), [("400", 400), ("model_not_found", None), (None, None)])
def test_the_code_of_an_error_in_a_stream_is_its_status(code: object, status: int | None):
    error = ValueError()
    error.code = code  # type: ignore[attr-defined]
    assert status_of(error) == status
