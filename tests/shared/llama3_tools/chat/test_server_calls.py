"""Calls that a server found itself: in pieces of all kinds, and held to the rules of calls in text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from chats import CITY, asked, call_of, made, native, read_in_every_way, refusals
from llama3_tools import Limits
from llama3_tools.chat.messages import CallPiece as P
from llama3_tools.chat.server_calls import ServerCalls

PARIS = '{"city": "Paris"}'


def gathered(*pieces: P) -> list[tuple[str | None, str, str]]:
    calls = ServerCalls()
    for piece in pieces:
        calls.add(piece)
    return [(call.id, call.name, call.text) for call in calls.gathered]


GATHERED = {
    "as OpenAI sends them": ([P(0, "a", "f", ""), P(0, None, "", "{"), P(0, None, "", "}")], [("a", "f", "{}")]),
    "name and id repeated": ([P(0, "a", "f", "{"), P(0, "a", "f", "}")], [("a", "f", "{}")]),
    "name in pieces": ([P(0, "a", "ge", ""), P(0, None, "t", "{}")], [("a", "get", "{}")]),
    "two at once": (
        [P(0, "a", "f", "{"), P(1, "b", "g", "{"), P(0, None, "", "}")],
        [("a", "f", "{}"), ("b", "g", "{")],
    ),
    "all numbered 0, with ids": ([P(0, "a", "f", "{}"), P(0, "b", "g", "{}")], [("a", "f", "{}"), ("b", "g", "{}")]),
    "all numbered 0, without ids": (
        [P(0, None, "f", "{}"), P(0, None, "f", "{}")],
        [(None, "f", "{}"), (None, "f", "{}")],
    ),
    "the id comes late": (
        [P(0, None, "f", "{"), P(0, "a", "", "}"), P(0, "b", "g", "{}")],
        [("a", "f", "{}"), ("b", "g", "{}")],
    ),
    "without numbers, by ids": (
        [P(None, "a", "f", "{"), P(None, "b", "g", "{"), P(None, "a", "", "}")],
        [("a", "f", "{}"), ("b", "g", "{")],
    ),
    "without either": (
        [P(None, None, "f", "{"), P(None, None, "", "}"), P(None, None, "f", "{}")],
        [(None, "f", "{}"), (None, "f", "{}")],
    ),
    "without a beginning": ([P(3, None, "", "{}")], [(None, "", "{}")]),
    "ends again": ([P(0, "a", "f", PARIS), P(0, "a", "f", "")], [("a", "f", PARIS)]),
    "in pieces, then whole": ([P(0, "a", "f", ""), P(0, None, "", PARIS), P(0, "a", "f", PARIS)], [("a", "f", PARIS)]),
    "twice, written in two ways": (
        [P(0, "a", "f", '{"b": 1, "a": 2}'), P(1, "a", "f", '{"a":2,"b":1}')],
        [("a", "f", '{"b": 1, "a": 2}')],
    ),
    "one id, other arguments": (
        [P(0, "a", "f", '{"n": 1}'), P(0, "a", "f", '{"n": 1.0}')],
        [("a", "f", '{"n": 1}'), ("a", "f", '{"n": 1.0}')],
    ),
    "filled by its namesake": (
        [P(0, "a", "f", ""), P(1, "b", "g", "{}"), P(2, "a", "f", PARIS)],
        [("a", "f", PARIS), ("b", "g", "{}")],
    ),
    "malformed twice": (
        [P(None, "a", "f", "{oops"), P(None, "a", "f", "{oops"), P(None, "a", "f", "")],
        [("a", "f", "{oops")],
    ),
    "one id for all, in pieces": (
        [P(0, "0", "f", ""), P(0, None, "", '{"n": 1}'), P(1, "0", "f", ""), P(1, None, "", '{"n": 2}')],
        [("0", "f", '{"n": 1}'), ("0", "f", '{"n": 2}')],
    ),
    "an id for each piece": ([P(0, "a", "f", ""), P(0, "b", "", "{"), P(0, "c", "", "}")], [("a", "f", "{}")]),
    "another number, an id that is known": (
        [P(0, "a", "f", ""), P(1, "b", "g", ""), P(0, "b", "", "{}")],
        [("a", "f", ""), ("b", "g", "{}")],
    ),
    "a call without a name after a whole one": (
        [P(0, "a", "f", "{}"), P(0, "b", "", ""), P(0, "c", "", PARIS)],
        [("a", "f", "{}"), ("c", "", PARIS)],
    ),
    "the name comes late": ([P(0, None, "", PARIS), P(0, "a", "f", "")], [("a", "f", PARIS)]),
    "a call without a name before a whole one": (
        [P(0, None, "", "{}"), P(0, "a", "f", PARIS)],
        [(None, "", "{}"), ("a", "f", PARIS)],
    ),
}


@pytest.mark.parametrize(("pieces", "calls"), GATHERED.values(), ids=GATHERED)
def test_pieces_are_gathered(pieces: Sequence[P], calls: list[tuple[str | None, str, str]]):
    assert gathered(*pieces) == calls


@pytest.mark.parametrize(
    ("name", "arguments", "called"),
    [
        ("get_weather", PARIS, {"city": "Paris"}),
        ("get_weather", {"city": "Paris"}, {"city": "Paris"}),
        ("get_weather", '{"city": "Rome", "city": "Paris"}', {"city": "Paris"}),
        ("other", '{"n": 1}', {"n": 1}),
        ("light", '{"on": "true"}', {"on": True}),
        *(("now", blank, {}) for blank in ("", "\n ")),
    ],
)
def test_they_are_called_whole_and_in_pieces(name: str, arguments: object, called: dict[str, Any]):
    reply = read_in_every_way(asked(), {"tool_calls": [native(name, arguments)]})
    assert (made(reply.tool_calls), reply.content, reply.finish_reason) == ([(name, called)], None, "tool_calls")


def test_parts_of_anthropic_are_calls_in_a_stream():
    stream = asked().stream()
    block = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {}, "index": 1}
    assert stream.feed({"content": [block]}) == []
    for piece in (PARIS[:5], PARIS[5:]):
        assert stream.feed({"content": [{"type": "input_json_delta", "partial_json": piece, "index": 1}]}) == []
    assert stream.end("tool_use") == [{"tool_calls": [{"index": 0, **call_of("get_weather", PARIS, "a")}]}]


@pytest.mark.parametrize(
    ("name", "arguments", "reason", "written"),
    [
        pytest.param("now", "{oops", "malformed", "{oops", id="no JSON"),
        pytest.param("now", "[1]", "malformed", "[1]", id="a list for arguments"),
        pytest.param("now", {"n": float("inf")}, "malformed", '{"n": Infinity}', id="infinity"),
        pytest.param("now", '{"s": "\ud83d"}', "malformed", '{"s": "\\ud83d"}', id="a lone surrogate"),
        pytest.param("", "{}", "invalid_name", "{}", id="no name"),
        pytest.param("now", '{"n": [[[1]]]}', "too_deep", '{"n": [[[1]]]}', id="too deep"),
        pytest.param("now", f'{{"n": "{"x" * 300}"}}', "too_long", f'{{"n": "{"x" * 300}"}}', id="too long"),
    ],
)
def test_what_is_no_call_is_text_and_reported(name: str, arguments: object, reason: str, written: str):
    call, text = native(name, arguments), f'{{"name": "{name or "unknown"}", "parameters": {written}}}'
    request = asked(read={"limits": Limits(max_depth=3, max_call_length=256)})
    reply = read_in_every_way(request, {"content": "Sure.", "tool_calls": [call]}, "tool_calls")
    assert (reply.tool_calls, reply.content, reply.finish_reason) == ((), f"Sure. {text}", "stop")
    assert refusals(reply) == [(name, reason)]
    [refused] = reply.report.refused
    assert (refused.text, refused.span) == (text, None)


def test_too_deep_for_anything_is_too_deep():
    deep = '{"n": ' * 200 + "1" + "}" * 200
    reply = asked().read({"tool_calls": [native("now", deep)]})
    assert refusals(reply) == [("now", "too_deep")]
    assert reply.report.refused[0].detail == "arguments nested deeper than 127 levels"


def test_too_many_are_refused():
    request = asked(read={"limits": Limits(max_calls=2)})
    calls = [native("now", "{}"), native("now", '{"a": 1}'), native("now", '{"a": 2}')]
    reply = request.read({"content": CITY, "tool_calls": calls})
    assert len(reply.tool_calls) == 2
    assert refusals(reply) == [("now", "too_many")] * 2
    assert reply.report.refused[0].told.startswith("The call was not run: it is beyond the first 2 calls. Make fewer")


def test_an_unknown_tool_is_a_call_or_text_as_it_is_in_text():
    message = {"content": None, "tool_calls": [native("rm", "{}")]}
    assert made(asked().read(message).tool_calls) == [("rm", {})]
    reply = asked(read={"on_unknown_tool": "text"}).read(message)
    assert (reply.content, refusals(reply)) == ('{"name": "rm", "parameters": {}}', [])


@pytest.mark.parametrize(
    ("arguments", "is_called"), [("{}", True), ('{"a": ', False), ("", False), ('{"a": 1}', True), ({}, True)]
)
def test_what_a_limit_cut_off_is_no_call(arguments: object, is_called: bool):
    reply = read_in_every_way(asked(), {"tool_calls": [native("now", arguments)]}, "length")
    assert bool(reply.tool_calls) == is_called
    assert reply.finish_reason == "length"
    assert refusals(reply) == ([] if is_called else [("now", "truncated")])


def test_a_call_that_was_left_in_the_text_is_one():
    calls = [native("get_weather", PARIS), native("now", "{}")]
    reply = read_in_every_way(asked(), {"content": f"Sure. {CITY}", "tool_calls": calls})
    assert (reply.content, made(reply.tool_calls)) == ("Sure.", [("get_weather", {"city": "Paris"}), ("now", {})])


def test_two_equal_calls_are_two_if_the_text_has_one():
    calls = [native("get_weather", PARIS), native("get_weather", PARIS, "b")]
    assert len(asked().read({"content": CITY, "tool_calls": calls}).tool_calls) == 2
    assert len(asked().read({"content": "", "tool_calls": calls}).tool_calls) == 2


def test_text_goes_first_whatever_came_first():
    stream = asked().stream()
    stream.feed({"tool_calls": [{"index": 0, **native("now", "{}")}]})
    first = stream.feed({"content": CITY})
    assert first[0]["tool_calls"][0]["function"]["name"] == "get_weather"
    assert stream.end()[0]["tool_calls"][0]["index"] == 1


def test_ids_are_those_of_the_server_and_each_is_of_one_call():
    calls = [
        native("now", "{}", "0"),
        native("now", '{"a": 1}', "0"),
        native("light", "{}", ""),
        native("f", "{}", "1"),
    ]
    reply = asked().read({"tool_calls": calls})
    assert [call.id for call in reply.tool_calls] == ["0", "call_1", "call_1", "1"]


@pytest.mark.parametrize(
    "call",
    [
        {"function": {"name": "get_weather", "parameters": {"city": "Paris"}}},
        {"name": "get_weather", "args": {"city": "Paris"}},
        {"type": "tool_use", "name": "get_weather", "input": {"city": "Paris"}},
    ],
    ids=["parameters", "LangChain's", "Anthropic's"],
)
def test_arguments_are_read_wherever_clients_put_them(call: dict[str, Any]):
    reply = asked().read({"tool_calls": [{"id": "1", **call}]})
    assert made(reply.tool_calls) == [("get_weather", {"city": "Paris"})]


def test_a_call_that_does_not_run_is_shown_once_if_the_server_left_it_in_the_text():
    wrong = '{"name": "get_weather", "parameters": {"city": "<string>"}}'
    sent = native("get_weather", '{"city": "<string>"}')
    for content, shown in ((wrong, wrong), ("Hm.", f"Hm. {wrong}")):
        reply = read_in_every_way(asked(max_retries=0), {"content": content, "tool_calls": [sent]})
        assert (reply.content, reply.tool_calls) == (shown, ())
