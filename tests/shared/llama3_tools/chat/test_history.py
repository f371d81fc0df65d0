"""Conversations with tools, as text."""

from __future__ import annotations

import copy
import json
from typing import Any, get_args

import pytest

from chats import CITY, TOOLS, asked, native
from generated_calls import ANY, ANY_NAME, generate
from llama3_tools import PromptFormat, ReadOptions, Tool
from llama3_tools.chat import ChatOptions, ToolChat, ToolRole
from llama3_tools.chat.history import HistoryOptions, flatten_history
from llama3_tools.text.json_writing import write_json

IMAGE = {"type": "image_url", "image_url": {"url": "data:"}}


def calling(*calls: dict[str, Any], text: object = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def result(content: object, call_id: str = "a", **fields: object) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def flat(*messages: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    given = copy.deepcopy(messages)
    written = flatten_history(messages, HistoryOptions(**options))
    assert messages == given
    return written


def contents(*messages: dict[str, Any], **options: Any) -> list[tuple[str, object]]:
    return [(message["role"], message["content"]) for message in flat(*messages, **options)]


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (calling(native("f", '{"a": 1}')), '{"name": "f", "parameters": {"a": 1}}'),
        (calling(native("f", ""), text=""), '{"name": "f", "parameters": {}}'),
        (calling(native("f", "{oops")), '{"name": "f", "parameters": {oops}'),
        (calling(native("", "{}")), '{"name": "unknown", "parameters": {}}'),
        (
            calling(native("f", "{}"), native("g", "{}")),
            '{"name": "f", "parameters": {}}\n{"name": "g", "parameters": {}}',
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm."},
                    {"type": "text", "text": "Sure."},
                    {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}},
                ],
            },
            'Sure.\n{"name": "f", "parameters": {"a": 1}}',
        ),
        ({"role": "assistant", "content": "Hi", "reasoning_content": "Hm.", "tool_call_id": "1"}, "Hi"),
        ({"role": "assistant", "content": None}, ""),
        (
            calling(native("f", "{}"), text=["Look:", IMAGE]),
            [{"type": "text", "text": "Look:"}, IMAGE, {"type": "text", "text": '{"name": "f", "parameters": {}}'}],
        ),
    ],
)
def test_calls_become_what_the_model_wrote(message: dict[str, Any], content: object):
    assert flat(message) == [{"role": "assistant", "content": content}]


def test_other_messages_stay_and_a_developer_is_the_system():
    messages = [
        {"role": "system", "content": "Be."},
        {"role": "user", "content": [IMAGE, {"type": "text", "text": "Hi"}], "name": "Ann"},
        {"role": "assistant", "content": "Ho", "name": "Bob"},
    ]
    assert flat(*messages) == messages
    assert flat({"role": "developer", "content": "Be."}) == [{"role": "system", "content": "Be."}]


def test_results_come_in_the_order_of_their_calls_in_one_message():
    calls = calling(native("f", "{}", "1"), native("g", "{}", "2"))
    assert contents(calls, result("two", "2"), result("?", "9"), result("one", "1"))[1:] == [
        ("user", "Result of f: one\n\nResult of g: two\n\nResult of a tool: ?")
    ]


@pytest.mark.parametrize("tool_role", get_args(ToolRole))
def test_the_role_of_results_is_an_option(tool_role: str):
    calls = calling(native("f", "{}", "1"), native("g", "{}", "2"))
    written = flat(calls, result("one", "1", name="f", more=[1]), result("two", "2"), tool_role=tool_role)[1:]
    if tool_role == "tool":
        assert written == [
            {"role": "tool", "tool_call_id": "1", "name": "f", "more": [1], "content": "Result of f: one"},
            {"role": "tool", "tool_call_id": "2", "content": "Result of g: two"},
        ]
    else:
        assert written == [{"role": tool_role, "content": "Result of f: one\n\nResult of g: two"}]


@pytest.mark.parametrize(
    ("content", "written"),
    [
        ("", "Result of f:"),
        (None, "Result of f:"),
        ({"n": 1}, 'Result of f: {"n": 1}'),
        ([{"type": "text", "text": "12"}, {"type": "text", "text": ":30"}], "Result of f: 12:30"),
        ([{"type": "text", "text": "Look:"}, IMAGE], [{"type": "text", "text": "Result of f: Look:"}, IMAGE]),
    ],
)
def test_a_result_says_which_tool_it_is_of(content: object, written: object):
    assert contents(calling(native("f", "{}")), result(content))[1] == ("user", written)


def test_a_result_of_one_of_two_calls_says_of_which():
    calls = calling(native("f", '{"a": 1}', "1"), native("f", '{"a": 2}', "2"))
    assert contents(calls, result("x", "2"))[1][1] == 'Result of f {"a": 2}: x'


def test_an_id_that_is_used_again_is_of_the_newer_call():
    turns = (
        calling(native("f", "{}", "0"), text="Sure."),
        result("x", "0"),
        calling(native("g", "{}", "0")),
        result("y", "0"),
    )
    assert [content for role, content in contents(*turns) if role == "user"] == ["Result of f: x", "Result of g: y"]


def test_an_id_of_two_calls_of_a_turn_is_of_neither_unless_they_are_of_one_tool():
    two = calling(native("f", "{}", "0"), native("g", "{}", "0"), native("h", "{}", ""))
    assert contents(two, result("x", "0"), result("y", ""))[1][1] == "Result of a tool: x\n\nResult of a tool: y"
    same = calling(native("f", "{}", "0"), native("f", "{}", "0"))
    assert contents(same, result("x", "0"))[1][1] == "Result of f: x"
    more = calling(native("f", "{}", ""), native("f", "{}", "0"), native("f", "{}", "0"), native("g", "{}", "1"))
    assert contents(more, result("x", "1"))[1][1] == "Result of g: x"


def test_a_result_may_come_after_a_later_turn():
    turns = (calling(native("f", "{}", "1")), calling(native("g", "{}", "2")), result("y", "2"), result("x", "1"))
    assert contents(*turns)[2][1] == "Result of f: x\n\nResult of g: y"


def test_results_of_anthropic_are_results():
    def message(*parts: dict[str, Any]) -> dict[str, Any]:
        return {"role": "user", "content": list(parts)}

    calls = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}
    failed = {"type": "tool_result", "tool_use_id": "1", "content": "oops", "is_error": True}
    assert contents(calls, message(failed))[1:] == [("user", "Error of f: oops")]
    text = {"type": "text", "text": "And?"}
    assert contents(calls, message(failed, text))[1:] == [("user", "Error of f: oops\n\nAnd?")]
    asked_with = message({"type": "tool_result", "content": [IMAGE]}, text, IMAGE)
    assert contents(asked_with) == [("user", [{"type": "text", "text": "Result of a tool:"}, IMAGE, text, IMAGE])]


def test_a_bad_call_is_reported_with_the_results_of_those_that_ran():
    chat = asked().chat
    turn = [calling(native("now", "{}"), text=f"One: {CITY[:-9]}}}}}"), result("12:30")]
    [written] = chat.request(turn, tool_choice="none").messages[1:]
    assert written["role"] == "user"
    first, complaint, _ = written["content"].split("\n\n")
    assert first == "Result of now: 12:30"
    assert complaint.startswith("Error of get_weather: The call is malformed, and was not run: ")
    [_, with_image] = chat.request([turn[0], result([IMAGE])], tool_choice="none").messages
    assert [part["type"] for part in with_image["content"]] == ["text", "image_url", "text"]
    alone = chat.request([turn[0], {"role": "user", "content": "?"}], tool_choice="none").messages
    assert alone[1] == {"role": "user", "content": "?"}, "only results are told with it"


def test_a_bad_call_of_a_tool_that_ran_may_have_been_written_again():
    turn = [calling(native("get_weather", '{"city": "Rome"}'), text=f"One: {CITY[:-9]}}}}}"), result("Sunny")]
    [_, written] = asked().chat.request(turn, tool_choice="none").messages
    assert written["content"] == "Result of get_weather: Sunny"


def test_a_text_in_parts_is_one_text():
    bad = f"{CITY[:-9]}}}}}"
    turn = [calling(native("now", "{}"), text=[bad[:9], {"type": "text", "text": bad[9:]}]), result("12:30")]
    [assistant, written] = asked().chat.request(turn, tool_choice="none").messages
    assert assistant["content"] == f'{bad}\n{{"name": "now", "parameters": {{}}}}'
    assert "Error of get_weather" in written["content"]


def test_arguments_that_are_no_json_have_no_misfits():
    turn = [calling(native("get_weather", "{oops")), result("Sunny")]
    [_, written] = asked().chat.request(turn, tool_choice="none").messages
    assert written["content"] == "Result of get_weather: Sunny"


def test_a_message_may_carry_its_report():
    reply = asked().read({"content": f'{CITY} {{"name": "light", "parameters": {{oops}}}} [{CITY}]'})
    odd = {"refused_tool_calls": [5, {"told": 5}]}
    for report, complaints in ((reply.report.to_dict(), 1), ({"refused_tool_calls": []}, 0), (odd, 0)):
        message = {**reply.to_openai(), **report}
        [assistant, written] = asked().chat.request([message, result("Sunny", "call_1")], tool_choice="none").messages
        assert assistant.keys() == {"role", "content"}
        assert written["content"].count("Error of light: The call is malformed") == complaints


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            'So {"name": "light", "parameters": {"on": late}} Bye.',
            'So {"name": "light", "parameters": {"on": late}} Bye.',
        ),
        ('As `{"name": "light"}`: {"name": "light", "parameters": {"on": ', 'As `{"name": "light"}`:'),
    ],
)
def test_a_call_that_ran_does_not_go_into_one_that_was_cut_off(text: str, left: str):
    reply = asked().read({"content": f"{CITY}\n{text}"}, "stop")
    message = {**reply.to_openai(), **reply.report.to_dict()}
    assert contents(message, result("Sunny", "call_1"))[0] == ("assistant", f"{left}\n{CITY}")


@pytest.mark.parametrize("role", get_args(ToolRole))
def test_what_an_agent_answers_to_a_refused_call_is_what_was_wrong(role: ToolRole):
    reply = asked().read({"content": 'Hm. {"name": "light", "parameters": {oops}}'})
    [refused] = reply.report.refused
    told = ("user", f"Error of light: {refused.told}\n\nIf no call is needed, answer in words.")
    wrong = {**reply.to_openai(), **reply.report.to_dict()}
    answer = result("invalid JSON", refused.id, is_error=True)
    assert contents(wrong, answer, tool_role=role) == [("assistant", reply.content), told]
    assert contents(wrong, answer, calling(), answer, tool_role=role)[2:] == [("assistant", "")]
    assert contents(wrong, result("dark", refused.id), tool_role=role)[1][1].startswith("Result of a tool: dark")


@pytest.mark.parametrize("split_reasoning", [True, False])
def test_the_model_is_told_what_it_wrote_after_its_thoughts(split_reasoning: bool):
    read = ReadOptions(starts_reasoning=True, split_reasoning=split_reasoning)
    bad = f"{CITY[:-9]}}}}}"
    text = bad if split_reasoning else f"Hm.</think>{bad}"
    turn = [calling(native("now", "{}"), text=text), result("12:30")]
    [_, written] = ToolChat(TOOLS, ChatOptions(read=read)).request(turn, tool_choice="none").messages
    assert "Error of get_weather" in written["content"]


def test_what_did_not_fit_is_told_with_the_result():
    turn = [calling(native("get_weather", '{"city": "Paris", "days": "soon"}')), result("not supported")]
    [_, written] = asked().chat.request(turn, tool_choice="none").messages
    assert written["content"] == (
        "Result of get_weather: not supported\n"
        '(The arguments did not fit. $.days: expected integer, got the string "soon")'
    )
    [_, written] = asked(read={"coerce_arguments": False}).chat.request(turn, tool_choice="none").messages
    assert written["content"] == "Result of get_weather: not supported"


@pytest.mark.parametrize("prompt_format", get_args(PromptFormat))
@pytest.mark.parametrize("names", [ANY_NAME[:9], ANY_NAME])
def test_what_is_rendered_reads_back(prompt_format: Any, names: tuple[str, ...]):
    read = ReadOptions(on_unknown_tool="text")
    chat = ToolChat([Tool(name) for name in names], ChatOptions(read=read, prompt_format=prompt_format))
    calls = [call for call in generate(ANY, 400) if call.name in names]
    for start in range(0, len(calls), 3):
        group = calls[start : start + 3]
        sent = [native(call.name, write_json(call.arguments), str(place)) for place, call in enumerate(group)]
        request = chat.request([calling(*sent, text="Sure.")], tool_choice="auto")
        reply = request.read(request.messages[-1])
        assert [json.loads(call.arguments_json) for call in reply.tool_calls] == [
            json.loads(write_json(call.arguments)) for call in group
        ]
        assert [call.name for call in reply.tool_calls] == [call.name for call in group]
        assert reply.content == "Sure."


@pytest.mark.parametrize("text", ["Use `x`", "Note:\n> a", "a `", '{"a": 1}', "a\n", "- a\n\n"])
def test_it_reads_back_after_text_that_opens_a_quotation_on_its_line(text: str):
    chat = asked().chat
    [message] = chat.request([calling(native("now", "{}"), text=text)], tool_choice="none").messages
    reply = chat.request([]).read(message)
    assert [call.name for call in reply.tool_calls] == ["now"]
    assert reply.content == text.strip()


def test_a_result_in_the_role_of_tools_has_the_name_that_the_server_knows():
    chat = ToolChat([{"name": "math.add"}], tools_in="request", tool_role="tool")
    written = chat.request([{"role": "tool", "tool_call_id": "1", "name": "math.add", "content": "2"}]).messages
    assert written == [{"role": "tool", "tool_call_id": "1", "name": "math_add", "content": "Result of math_add: 2"}]


@pytest.mark.parametrize(("call_id", "result_id"), [(1, 1), (0, 0), (2, "2"), ("3", 3)], ids=repr)
def test_ids_that_are_numbers_are_text(call_id: Any, result_id: Any):
    written = contents(calling(native("now", "{}", call_id)), result("12:30", result_id))
    assert written[1] == ("user", "Result of now: 12:30")


@pytest.mark.parametrize("role", ["assistant", "model", "chatbot", "ai"])
def test_each_role_of_a_model_is_the_assistant_s(role: str):
    call = {**calling(native("now", "{}"), text="Sure."), "role": role}
    assert contents(call, result("12:30", "a")) == [
        ("assistant", 'Sure.\n{"name": "now", "parameters": {}}'),
        ("user", "Result of now: 12:30"),
    ]
