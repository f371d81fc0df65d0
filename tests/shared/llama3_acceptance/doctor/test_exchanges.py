"""Requests, and answers of any shape: whole and put together from streams."""

from __future__ import annotations

import json

import pytest

from endpoints.server import Answer, LoopbackServer
from endpoints.wire import answer_events, answer_json
from llama3_acceptance.doctor.exchanges import Connection, Exchange


def asked(answer: Answer, *, stream: object = False) -> Exchange:
    with LoopbackServer(lambda _: answer) as server:
        connection = Connection(server.base_url, "none", 30)
        try:
            return connection.ask("/chat/completions", {"stream": stream})
        finally:
            connection.close()


def chunk(delta: object, finish_reason: str | None = None) -> str:
    return json.dumps({"choices": [{"delta": delta, "finish_reason": finish_reason}]})


def piece(index: int, name: str | None, arguments: str) -> dict[str, object]:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return {"tool_calls": [{"index": index, "id": "a" if name else None, "function": function}]}


def test_a_stream_is_put_together() -> None:
    events = [
        *(": ping", "oops", "7", '{"choices": []}'),
        chunk({"role": "assistant", "reasoning_content": "Hm."}),
        chunk({"content": "Let me "}),
        chunk({"content": "see."}),
        chunk(piece(0, "now", '{"zone"')),
        chunk(piece(0, None, ': "UTC"}')),
        chunk(None, "tool_calls"),
        json.dumps({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}}),
        "[DONE]",
    ]
    exchange = asked(answer_events(events), stream=True)
    (call,) = exchange.calls
    assert (exchange.is_answered, exchange.error) == (True, "")
    assert (exchange.content, exchange.reasoning, exchange.finish_reason) == ("Let me see.", "Hm.", "tool_calls")
    assert (call.name, call.arguments, call.id, call.is_decoded) == ("now", {"zone": "UTC"}, "a", False)
    assert (exchange.prompt_tokens, exchange.completion_tokens) == (7, 5)


@pytest.mark.parametrize(
    ("events", "error"),
    [
        (["[DONE]"], "the answer is no stream of a chat completion"),
        ([chunk({"content": "I"})], "the stream broke off: it has neither a finish_reason nor [DONE]"),
        (
            [chunk({"tool_calls": "none"}), "[DONE]"],
            "a message that cannot be read: tool_calls must be a list of dicts",
        ),
    ],
    ids=["nothing", "no end", "no calls"],
)
def test_what_is_not_a_stream_says_why(events: list[str], error: str) -> None:
    exchange = asked(answer_events(events), stream=True)
    assert not exchange.is_answered
    assert exchange.error.startswith(error)


@pytest.mark.parametrize("body", [7, {}, {"choices": []}, {"choices": [{"message": "Hi"}]}], ids=str)
def test_another_answer_is_no_completion(body: object) -> None:
    assert asked(answer_json(body)).error == "the answer is no chat completion"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"message": "no\n  memory"}}, "no memory"),
        ({"error": {"message": "it is gone", "code": "model_not_found"}}, "it is gone (model_not_found)"),
        ({"error": {"message": "model_not_found: llama", "code": "model_not_found"}}, "model_not_found: llama"),
        ({"error": "no memory"}, "no memory"),
        ({"detail": "no memory"}, "no memory"),
        ({"detail": [{"loc": 1}]}, '{"detail": [{"loc": 1}]}'),
    ],
    ids=str,
)
def test_what_a_server_says_of_an_error_is_one_line(body: object, told: str) -> None:
    exchange = asked(answer_json(body, status=400))
    assert (exchange.status, exchange.error) == (400, told)


def test_a_fault_in_the_request_itself_is_raised_and_no_answer() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        asked(answer_json({}), stream=object())
