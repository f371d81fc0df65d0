"""One tool has to be called, and the model writes its arguments without its name."""

from __future__ import annotations

import pytest

from chats import asked as asked_with
from chats import read_in_every_way
from llama3_tools import Limits
from llama3_tools.chat import Request

PERSON = {
    "name": "Person",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
    },
}
AL = {"name": "Al", "age": 3}
FORM = '{"name": "Person", "parameters": {"name": "<string>", "age": "<integer>"}}'


def asked(tools: list[dict[str, object]], tool_choice: str) -> Request:
    return asked_with(tools, request={"tool_choice": tool_choice})


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Al", "age": 3}',
        ' {"name": "Al", "age": "3"}\n',
        '```json\n{"name": "Al", "age": 3}\n```',
        '{"name": "Person", "parameters": {"name": "Al", "age": 3}}',
    ],
)
@pytest.mark.parametrize(
    ("tools", "tool_choice"), [([PERSON, {"name": "now"}], "Person"), ([PERSON], "required"), ([PERSON], "Person")]
)
def test_an_object_alone_that_fits_is_the_call(tools: list[dict[str, object]], tool_choice: str, text: str):
    reply = read_in_every_way(asked(tools, tool_choice), {"content": text})
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("Person", AL)]
    assert (reply.content, reply.finish_reason, reply.report.refused) == (None, "tool_calls", ())


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('Here: {"name": "Al", "age": 3}', "Here:"),
        ('{"name": "Al", "age": "3"} Bye.', "Bye."),
        ('Here:\n```json\n{"name": "Al", "age": 3}\n```\nBye.', "Here:\nBye."),
        ('By {"type": "object"}: {"name": "Al", "age": 3}', 'By {"type": "object"}:'),
        ('{"name": "Al"}, no: {"name": "Al", "age": 3}', '{"name": "Al"}, no:'),
        ('<think>{Hm}</think>\n{"name": "Al", "age": 3}', "<think>{Hm}</think>"),
        ('By {x}: {"name": "Al", "age": 3}', "By {x}:"),
    ],
)
@pytest.mark.parametrize("tool_choice", ["required", "Person"])
def test_so_is_the_one_object_in_a_text_that_fits(text: str, content: str, tool_choice: str):
    reply = read_in_every_way(asked([PERSON], tool_choice), {"content": text})
    assert [call.arguments for call in reply.tool_calls] == [AL]
    assert (reply.content, reply.report.refused) == (content, ())
    assert text[slice(*reply.tool_calls[0].span)].startswith('{"name": "Al", "age"')


@pytest.mark.parametrize(
    ("text", "output_tools", "called"),
    [
        ('```json\n{"name": "Al", "age": 3}\n```', ["Person"], [AL]),
        ('{"name": "Al", "age": 3}', ["now", "Person"], [AL]),
        ('{"name": "Al", "age": 3}', ["Person", "Child"], []),
        ('{"name": "Al", "age": 3}', [], []),
        ('Well: {"name": "Al", "age": 3}', ["Person"], []),
        ('{"name": "Al", "age": 3} Next?', ["Person"], []),
        ('{"name": "Al", "age": 3, "query": "x"}', ["Person"], []),
        ("{}", ["Person"], []),
    ],
)
def test_where_any_tool_is_due_an_object_alone_is_one_of_that_which_runs_nothing(
    text: str, output_tools: list[str], called: list[object]
):
    request = {"tool_choice": "required", "output_tools": output_tools}
    reply = read_in_every_way(
        asked_with([PERSON, {**PERSON, "name": "Child"}, {"name": "now"}], request=request), {"content": text}
    )
    assert [call.arguments for call in reply.tool_calls] == called
    assert reply.content == (None if called else text)


def test_an_empty_object_fits_where_nothing_is_required():
    note = {"name": "note", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}
    given = [(note, "```\n{}\n```", [{}]), (note, "Not {}.", []), (note, 'Not {}: {"text": "a"}', [{"text": "a"}])]
    for tool, text, called in (*given, (PERSON, "{}", [])):
        reply = read_in_every_way(asked([tool], "required"), {"content": text})
        assert [call.arguments for call in reply.tool_calls] == called


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Al", "age": 3',
        "```\nNo.",
        "[1]",
        '{"name": "Al", "age": 3} or {"name": "Bo", "age": 4}',
        '{"name": "Al", "age": 3} or {"name": "Bo"',
        '{"person": {"name": "Al", "age": 3}}',
        '<think>{"name": "Al", "age": 3}</think> No.',
        'Hm, {"name": "now", "age": 3, "parameters": {}}',
    ],
)
def test_anything_else_is_text(text: str):
    reply = read_in_every_way(asked([PERSON], "Person"), {"content": text})
    assert (reply.content, reply.tool_calls) == (text, ())


def test_text_around_an_object_is_checked_even_if_arguments_are_not_made_to_fit():
    request = asked_with([PERSON], read={"coerce_arguments": False}, request={"tool_choice": "Person"})
    assert read_in_every_way(request, {"content": 'Here: {"name": "Al", "age": "3"}'}).tool_calls == ()
    assert read_in_every_way(request, {"content": 'Here: {"name": "Al", "age": 3}'}).tool_calls[0].arguments == AL
    assert read_in_every_way(request, {"content": '{"name": "Al", "age": "3"}'}).tool_calls != ()


@pytest.mark.parametrize("text", ['{"name": "Al"}', 'Here: {"name": "Al"}'])
def test_what_does_not_fit_is_asked_again_with_the_form_and_does_not_run_after_that(text: str):
    request = asked([PERSON], "Person")
    again = request.retry(read_in_every_way(request, {"content": text}))
    assert again is not None
    assert again.messages[-2] == {"role": "assistant", "content": text}
    assert again.messages[-1]["content"].endswith(
        f"$.age: missing, expected integer. Write all of it again, in the form {FORM}"
    )
    last = read_in_every_way(again, {"content": '{"name": "Al"}'})
    assert (last.content, last.tool_calls) == ('{"name": "Al"}', ())
    assert [call.reason for call in last.report.refused] == ["misfit"]


def test_a_call_of_another_tool_is_not_taken_for_arguments():
    free = {"name": "free", "parameters": {"type": "object", "additionalProperties": True}}
    request = asked([PERSON, {"name": "now"}], "Person")
    reply = read_in_every_way(request, {"content": '{"name": "now", "parameters": {}}'})
    assert [call.reason for call in reply.report.refused] == ["not_chosen"]
    called = read_in_every_way(asked([free], "free"), {"content": '{"a": 1}'})
    assert called.tool_calls[0].arguments == {"a": 1}


def test_a_call_of_the_server_stands_alone():
    sent = {"id": "1", "function": {"name": "Person", "arguments": '{"name": "Bo", "age": 4}'}}
    reply = asked([PERSON], "Person").read({"content": '{"name": "Al", "age": 3}', "tool_calls": [sent]})
    assert [call.arguments for call in reply.tool_calls] == [{"name": "Bo", "age": 4}]
    assert reply.content == '{"name": "Al", "age": 3}'


def test_an_object_beyond_the_limits_is_text():
    limits = {"limits": Limits(max_call_length=256)}
    text = f'{{"name": "{"Al" * 200}", "age": 3}}'
    reply = read_in_every_way(asked_with([PERSON], read=limits, request={"tool_choice": "Person"}), {"content": text})
    assert (reply.content, reply.tool_calls) == (text, ())


PLAN = {
    "name": "Plan",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "parameters": {"type": "object"}},
        "required": ["name", "parameters"],
    },
}
TRIP = '{"name": "Trip", "parameters": {"days": 3}}'


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (TRIP, {"name": "Trip", "parameters": {"days": 3}}),
        (f"Here: {TRIP} Bye.", {"name": "Trip", "parameters": {"days": 3}}),
        ('{"name": "now", "parameters": {}}', {"name": "now", "parameters": {}}),
        ('{"name": "Plan", "parameters": {"days": 3}}', {"name": "Plan", "parameters": {"days": 3}}),
        (f'{{"name": "Plan", "parameters": {TRIP}}}', {"name": "Trip", "parameters": {"days": 3}}),
    ],
)
@pytest.mark.parametrize("unknown", ["retry", "text", "call"])
def test_an_object_that_fits_as_a_whole_is_the_call_though_it_looks_like_another(
    text: str, arguments: dict[str, object], unknown: str
):
    for tools, tool_choice in (([PLAN, {"name": "now"}], "Plan"), ([PLAN], "required")):
        request = asked_with(tools, read={"on_unknown_tool": unknown}, request={"tool_choice": tool_choice})
        reply = read_in_every_way(request, {"content": text})
        assert [(call.name, call.arguments) for call in reply.tool_calls] == [("Plan", arguments)]
        assert reply.report.refused == ()


def test_objects_that_look_like_calls_of_others_are_not_several_calls_that_are_due():
    request = asked([PLAN, {"name": "now"}, {"name": "f"}], "Plan")
    two = '{"name": "now", "parameters": {}} {"name": "f", "parameters": {}}'
    reply = read_in_every_way(request, {"content": two})
    assert (reply.content, reply.tool_calls) == (two, ())
    assert request.retry(reply)
    named = read_in_every_way(asked([PERSON, {"name": "f"}], "Person"), {"content": 'f: {"name": "Al", "age": 3}'})
    assert ([call.arguments for call in named.tool_calls], named.report.refused) == ([AL], ())
