"""Answers, whole and in deltas: content, reasoning, parts other than text, and streams that break off."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from chats import CITY, asked, call_of, calls_in, deltas_of, made, native, read_in_every_way, refusals
from fragments import FRAGMENTS
from llama3_tools import StreamStateError

IMAGE = {"type": "image_url", "image_url": {"url": "data:"}}
MISFIT = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "soon"}}'
BAD = '{"name": "now", "parameters": {oops}}'
PARIS = '{"city": "Paris"}'

CASES: list[dict[str, Any]] = [
    {"content": "Hello."},
    {"content": ""},
    {"content": None},
    {"content": "  "},
    {"content": f"Let me check. {CITY} Done."},
    {"content": f"<tool_call>{CITY}</tool_call>"},
    {"content": f"```json\n[{CITY}, {MISFIT}]\n```"},
    {"content": f"Sure. {BAD} And {CITY}"},
    {"content": f"{MISFIT} {BAD}"},
    {"content": f"{MISFIT} {MISFIT}"},
    {"content": f"Hm. {MISFIT} {CITY}"},
    {"content": "[get_weather(city='Paris'), now()]"},
    {"content": "<function=get_weather>" + PARIS + "</function>"},
    {"content": f"<think>Which? {CITY}</think>It is {CITY}"},
    {"content": f"{CITY} Hm. {CITY}", "tool_calls": [native("get_weather", PARIS)]},
    {"content": "Sure.", "tool_calls": [native("get_weather", PARIS), native("now", "", "b")]},
    {"content": BAD, "tool_calls": [native("now", "{oops")]},
    {"content": MISFIT, "tool_calls": [native("get_weather", '{"city": 5, "days": "soon"}')]},
    {"content": [{"type": "text", "text": f"Look: {CITY}"}, IMAGE, {"type": "text", "text": " Done."}]},
    {"content": [IMAGE], "tool_calls": [native("now", {"a": 1})]},
    {"content": "Hi", "reasoning_content": "Hm. "},
    {"content": f"<think>Which?</think>{CITY}", "reasoning_content": "Hm."},
    {"content": "<|python_tag|>Hello!"},
    {"content": "<tool_call>oops</tool_call>"},
    {"content": f"I used {BAD} for it.\nnow(a=b)\nSo."},
    {"content": 'Action: light\nAction Input: {"on": oops}'},
    *({"content": fragment} for fragment in FRAGMENTS[:40:2]),
]


@pytest.mark.parametrize("finish_reason", ["stop", "length"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"read": {"split_reasoning": True}},
        {"read": {"split_reasoning": True, "starts_reasoning": True}},
        {"read": {"on_unknown_tool": "text", "coerce_arguments": False}, "max_retries": 0},
        {"read": {"repair": True}, "repeated_calls": "keep"},
        {"prompt_format": "pythonic", "request": {"parallel_tool_calls": False, "tool_choice": "required"}},
    ],
)
@pytest.mark.parametrize("message", CASES)
def test_a_stream_is_the_whole_and_breaks_off_safely(
    message: dict[str, Any], options: dict[str, Any], finish_reason: str
):
    read_in_every_way(asked(**options), message, finish_reason)


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"content": None}, None),
        ({}, None),
        ({"content": ""}, ""),
        ({"content": CITY}, None),
        ({"content": MISFIT}, None),
        ({"content": f"Hi {CITY}"}, "Hi"),
        ({"content": [{"type": "text", "text": "Hi "}, "you"]}, "Hi you"),
        (
            {"content": [{"type": "text", "text": "Hi"}, IMAGE, "you", 5]},
            [{"type": "text", "text": "Hi"}, IMAGE, {"type": "text", "text": "you"}, 5],
        ),
        (
            {"content": ["\n ", IMAGE, "\n Hi ", IMAGE, f"{CITY} you"]},
            [IMAGE, {"type": "text", "text": "\n \n Hi"}, IMAGE, {"type": "text", "text": " you"}],
        ),
        (
            {"content": ["Hi ", IMAGE], "tool_calls": [native("now", "{oops")]},
            [{"type": "text", "text": "Hi"}, IMAGE, {"type": "text", "text": '  {"name": "now", "parameters": {oops}'}],
        ),
    ],
)
def test_the_content_is_the_text_without_calls_and_other_parts_stay(message: dict[str, Any], content: object):
    assert asked().read(message).content == content


def test_other_keys_come_through_and_a_delta_without_anything_gives_nothing():
    stream = asked().stream()
    assert stream.feed({"role": "assistant", "content": ""}) == [{"role": "assistant"}]
    assert stream.feed({"content": "No", "refusal": "No."}) == [{"refusal": "No."}, {"content": "No"}]
    assert stream.feed({}) == []
    assert stream.end() == []


class TestReasoning:
    def test_it_is_the_servers_and_that_of_the_text(self):
        message = {"reasoning_content": "Hm.", "content": f"<think>Which?</think>Hi {CITY}"}
        reply = read_in_every_way(asked(read={"split_reasoning": True}), message)
        assert (reply.reasoning, reply.content) == ("Hm.\n\nWhich?", "Hi")
        assert reply.to_openai()["reasoning_content"] == "Hm.\n\nWhich?"  # type: ignore[typeddict-item]

    def test_the_text_does_not_start_with_it_if_the_server_has_split_it_off(self):
        request = asked(read={"split_reasoning": True, "starts_reasoning": True})
        assert request.read({"content": "Hm.</think>Hi"}).reasoning == "Hm."
        reply = read_in_every_way(request, {"reasoning_content": "Hm.", "content": f"Hi {CITY}"})
        assert (reply.reasoning, reply.content, len(reply.tool_calls)) == ("Hm.", "Hi", 1)

    def test_nor_if_an_empty_text_came_first(self):
        stream = asked(read={"split_reasoning": True, "starts_reasoning": True}).stream()
        for delta in ({"role": "assistant", "content": ""}, {"reasoning_content": "Hm."}, {"content": "Hi"}):
            stream.feed(delta)
        stream.end()
        assert (stream.reply.reasoning, stream.reply.content) == ("Hm.", "Hi")

    def test_it_may_come_in_turns(self):
        stream = asked(read={"split_reasoning": True}).stream()
        for delta in ({"reasoning": "a"}, {"content": "<think>b</think>"}, {"reasoning": "c"}, {"thinking": "d"}):
            stream.feed(delta)
        stream.end()
        assert stream.reply.reasoning == "a\n\nb\n\ncd"


class TestTheEnd:
    def test_a_stream_is_fed_and_ended_once(self):
        stream = asked().stream()
        with pytest.raises(StreamStateError, match=r"^the answer is not over yet: call end"):
            _ = stream.reply
        stream.end()
        for verb in (stream.end, stream.abort, lambda: stream.feed({})):
            with pytest.raises(StreamStateError, match=r"after the end of the answer: use Request\.stream\(\)"):
                verb()

    def test_what_was_held_back_is_text_if_a_stream_breaks_off(self):
        stream = asked().stream()
        cut_off = {"index": 0, **native("now", '{"a": ')}
        before = [
            out
            for delta in ({"content": f"{MISFIT} <tool_call>{CITY}"}, {"tool_calls": [cut_off]})
            for out in stream.feed(delta)
        ]
        assert calls_in(before) == []
        stream.abort()
        reply = stream.reply
        assert reply.content == f'<tool_call>{CITY} {MISFIT} {{"name": "now", "parameters": {{"a": }}'
        assert (reply.tool_calls, reply.finish_reason) == ((), None)
        assert refusals(reply) == [("get_weather", "truncated"), ("get_weather", "misfit"), ("now", "truncated")]
        assert reply.report.refused[-1].id == cut_off["id"]

    def test_what_was_handed_out_is_called(self):
        stream = asked().stream()
        [delta] = stream.feed({"content": CITY})
        stream.abort()
        assert (
            calls_in([delta])
            == [call.to_openai() for call in stream.reply.tool_calls]
            == [call_of("get_weather", PARIS)]
        )

    def test_what_a_limit_ended_is_not_complete(self):
        request, code = asked([{"name": "code_interpreter"}]), {"content": "<|python_tag|>print(1)"}
        assert len(read_in_every_way(request, code, "stop").tool_calls) == 1
        reply = read_in_every_way(request, code, "length")
        assert (reply.tool_calls, reply.finish_reason) == ((), "length")


def test_the_report_says_what_was_done():
    text = '{"name": "light", "parameters": {"on": "true"}} Hm. {"name": "light", "parameters": {"on": true}} ' + BAD
    told = asked().read({"content": text}).report.to_dict()
    assert list(told) == ["coerced_arguments", "refused_tool_calls", "repeated_tool_calls"]
    assert told["repeated_tool_calls"] == [call_of("light", '{"on": true}')]
    [refused] = told["refused_tool_calls"]
    assert (refused["name"], refused["reason"]) == ("now", "malformed")
    assert text[slice(*refused["span"])] == refused["text"] == BAD[: BAD.index("oops")]
    surplus = asked(request={"parallel_tool_calls": False}).read({"content": f"{CITY} {CITY}"}).report.to_dict()
    assert list(surplus) == ["surplus_tool_calls"]


def test_a_refused_call_says_in_one_line_what_is_wrong_and_hides_nothing():
    [refused] = asked().read({"content": BAD}).report.refused
    assert str(refused) == "now (malformed): expected a key or '}' at offset 31, found 'o'"
    [hidden] = asked().read({"content": "<tool_call>{'name': 'a\u3164'}</tool_call>"}).report.refused
    assert str(hidden).startswith(r"a\u3164 (malformed): ")
    assert r"name='a\u3164'" in repr(hidden)
    [unnamed] = asked().read({"content": '<tool_call>{"arguments": {"city": Par'}).report.refused
    assert str(unnamed).startswith("a call (malformed): ")


def test_an_attempt_of_a_tool_that_there_is_not_is_told_if_it_could_be_called():
    unknown = '{"name": "rm", "parameters": {oops}}'
    assert refusals(asked().read({"content": unknown})) == [("rm", "malformed")]
    assert refusals(asked(read={"on_unknown_tool": "text"}).read({"content": unknown})) == []
    assert refusals(asked(read={"on_unknown_tool": "text"}).read({"content": BAD})) == [("now", "malformed")]


def test_a_stream_keeps_its_text_twice_however_small_its_deltas_are():
    """As it was written, and as content. Each delta would take fifty bytes beside them."""
    stream, text = asked().stream(), "Prose, much of it. " * 5_000
    tracemalloc.start()
    try:
        for start in range(0, len(text), 4):
            stream.feed({"content": text[start : start + 4]})
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    stream.end()
    assert stream.reply.content == text
    assert used < 2.5 * len(text)


def test_the_work_is_linear_in_the_number_of_calls_and_deltas():
    calls = " ".join(f'Hm. {{"name": "now", "parameters": {{"a": {place}}}}}' for place in range(900))
    request = asked()
    stream = request.stream()
    for delta in deltas_of({"content": calls}, 5):
        stream.feed(delta)
    stream.end()
    assert made(stream.reply.tool_calls) == [("now", {"a": place}) for place in range(900)]
    assert request.read({"content": calls}) == stream.reply
