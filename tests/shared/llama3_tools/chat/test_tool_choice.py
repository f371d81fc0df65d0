"""Which tools may be called, in all the ways in which that is said."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from chats import CITY, asked, made, native, read_in_every_way, refusals
from llama3_tools import ReadOptions, ToolDefinitionError
from llama3_tools.chat import ChatOptions, ToolChat
from llama3_tools.chat.tool_choice import RequestedChoice, read_tool_choice

NAMED = {"type": "function", "function": {"name": "now"}}


FORMS = {
    "None": (None, RequestedChoice()),
    "false": (False, RequestedChoice()),
    "auto": ("auto", RequestedChoice()),
    "none": ("none", RequestedChoice("none")),
    "required": ("required", RequestedChoice("required")),
    "any": ("any", RequestedChoice("required")),
    "true": (True, RequestedChoice("required")),
    "a name": ("now", RequestedChoice("now")),
    "OpenAI's function": (NAMED, RequestedChoice("now")),
    "a function as Responses has it": ({"type": "function", "name": "now"}, RequestedChoice("now")),
    "OpenAI's custom tool": ({"type": "custom", "custom": {"name": "now"}}, RequestedChoice("now")),
    "Anthropic's tool": ({"type": "tool", "name": "now"}, RequestedChoice("now")),
    "Anthropic's tool, and no other": (
        {"type": "tool", "name": "now", "disable_parallel_tool_use": True},
        RequestedChoice("now", None, parallel=False),
    ),
    "Anthropic's auto": ({"type": "auto"}, RequestedChoice()),
    "Anthropic's none": ({"type": "none"}, RequestedChoice("none")),
    "Anthropic's any": ({"type": "any"}, RequestedChoice("required")),
    "auto, one call at most": ({"type": "auto", "disable_parallel_tool_use": True}, RequestedChoice(parallel=False)),
    "auto, several calls": ({"type": "auto", "disable_parallel_tool_use": False}, RequestedChoice()),
    "one of some tools is required": (
        {"type": "allowed_tools", "mode": "required", "tools": [NAMED]},
        RequestedChoice("required", ("now",)),
    ),
    "some tools, as OpenAI's chats have it": (
        {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}},
        RequestedChoice("auto", ("now",)),
    ),
    "no tool is allowed": ({"type": "allowed_tools", "tools": []}, RequestedChoice("auto", ())),
}


@pytest.mark.parametrize(("tool_choice", "read"), FORMS.values(), ids=FORMS)
def test_every_form_is_read(tool_choice: object, read: RequestedChoice):
    assert read_tool_choice(tool_choice, ["now", "light"]) == read


@pytest.mark.parametrize(
    "tool_choice",
    [{}, {"type": True}, {"type": "allowed_tools"}, {"type": "allowed_tools", "tools": "now"}]
    + [{"function": {"name": name}} for name in (["a"], "", None)]
    + ["rm", 5, {"type": "rm"}, {"type": "function", "function": {"name": "rm"}}, {"type": "function", "function": 5}]
    + [{"type": "allowed_tools", "tools": [tool]} for tool in ("now", {"name": "rm"}, {"name": ""})],
)
def test_what_names_no_tool_is_an_error(tool_choice: object):
    with pytest.raises(
        ToolDefinitionError, match=r"^tool_choice must be .+ or the name of a tool, not .+: the tools are now$"
    ):
        read_tool_choice(tool_choice, ["now"])


@pytest.mark.parametrize(
    ("tool_choice", "last"),
    [
        ("auto", "If no function is needed, reply in words, without a call."),
        ("required", "Call a function in your reply."),
        (NAMED, "Call the function 'now' in your reply."),
    ],
)
def test_the_prompt_says_what_has_to_be_called(tool_choice: object, last: str):
    prompt, _, hi = asked(request={"tool_choice": tool_choice}).messages[0]["content"].rpartition("\n\n")
    assert (prompt.splitlines()[-1], hi) == (last, "Hi")


def test_with_none_no_tool_is_shown_and_nothing_is_called():
    request = asked(request={"tool_choice": "none"})
    assert request.messages == [{"role": "user", "content": "Hi"}]
    reply = request.read({"content": CITY, "tool_calls": [native("now", "{}")]}, "stop")
    assert (reply.content, reply.tool_calls) == (f'{CITY} {{"name": "now", "parameters": {{}}}}', ())
    assert refusals(reply) == []
    assert request.retry(reply) is None


def test_only_allowed_tools_are_shown_and_called():
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [NAMED]}
    request = asked(request={"tool_choice": allowed})
    assert "get_weather" not in request.messages[0]["content"]
    reply = request.read({"content": f'{CITY} {{"name": "now", "parameters": {{}}}}'})
    assert made(reply.tool_calls) == [("now", {})]
    reply = request.read({"tool_calls": [native("light", "{}")]})
    assert (reply.tool_calls, refusals(reply)) == ((), [])


NOW = '{"name": "now", "parameters": {}}'
ONLY = "only 'now' may be called now"


@pytest.mark.parametrize("choice", ["now", NAMED, {"type": "tool", "name": "now"}])
@pytest.mark.parametrize(
    "message",
    [{"content": CITY}, {"tool_calls": [native("get_weather", '{"city": "Paris"}')]}],
    ids=["in text", "by the server"],
)
def test_a_call_of_another_tool_than_the_one_that_is_named_does_not_run(choice: object, message: dict[str, Any]):
    request = asked(request={"tool_choice": choice})
    assert "get_weather" in request.messages[0]["content"]
    reply = read_in_every_way(request, message)
    assert (reply.content, reply.tool_calls, reply.finish_reason) == (CITY, (), "stop")
    [refused] = reply.report.refused
    assert (refused.name, refused.reason, refused.detail, refused.text) == ("get_weather", "not_chosen", ONLY, CITY)
    again = request.retry(reply)
    assert again is not None
    assert again.messages[-1]["content"] == f"Error of get_weather: The call was not run: {ONLY}."
    reply = again.read({"content": NOW})
    assert made(reply.tool_calls) == [("now", {})]
    assert [call.reason for call in reply.report.retried] == ["not_chosen"]


@pytest.mark.parametrize("text", [f"{CITY} and {NOW}", f"[{NOW}, {CITY}]", f"{NOW}; {CITY}"])
def test_beside_the_one_that_is_named_neither(text: str):
    request = asked(request={"tool_choice": "now"})
    reply = read_in_every_way(request, {"content": text})
    assert made(reply.tool_calls) == [("now", {})]
    assert CITY in str(reply.content)
    assert refusals(reply) == [("get_weather", "not_chosen")]
    assert request.retry(reply) is None


def test_nor_does_one_of_an_unknown_tool():
    request = asked(request={"tool_choice": "now"})
    unknown = CITY.replace("get_weather", "rm")
    reply = read_in_every_way(request, {"content": unknown, "tool_calls": [native("rm", "{}")]})
    assert (made(reply.tool_calls), refusals(reply)) == ([], [("rm", "not_chosen")] * 2)


@pytest.mark.parametrize("name", ["files_rm", "files.rm", "files_rm_2"])
def test_a_tool_that_is_named_is_called_by_each_of_its_names(name: str):
    chat = ToolChat([{"name": "files.rm"}, {"name": "files_rm"}], ChatOptions(tools_in="request"))
    request = chat.request([], tool_choice="files.rm")
    assert len(request.tools) == 2
    call = f'{{"name": "{name}", "parameters": {{}}}}'
    for message in ({"content": call}, {"tool_calls": [native(name, "{}")]}):
        reply = request.read(message)
        assert made(reply.tool_calls) == ([] if name == "files_rm" else [("files.rm", {})])
        assert [one.detail for one in reply.report.refused] == (
            ["only 'files_rm_2' may be called now"] if name == "files_rm" else []
        )


@pytest.mark.parametrize("name", ["files_rm", "files.rm", "files_rm_2"])
def test_allowed_tools_keep_the_names_that_they_have_among_all(name: str):
    chat = ToolChat([{"name": "files.rm"}, {"name": "files_rm"}], ChatOptions(tools_in="request"))
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"name": "files.rm"}]}
    request = chat.request([], tool_choice=allowed)
    assert [tool["function"]["name"] for tool in request.tools] == ["files_rm_2"]
    reply = request.read({"content": f'{{"name": "{name}", "parameters": {{}}}}'})
    assert made(reply.tool_calls) == ([] if name == "files_rm" else [("files.rm", {})])
    assert len(request.read({"tool_calls": [native(name, "{}")]}).tool_calls) == len(reply.tool_calls)
    again = pickle.loads(pickle.dumps(request))  # noqa: S301 (our own)
    assert again.tools == request.tools


@pytest.mark.parametrize(("parallel", "count"), [(None, 2), (True, 2), (False, 1)])
def test_parallel_calls_that_are_not_said_are_the_default(parallel: bool | None, count: int):
    request = asked(request={"parallel_tool_calls": parallel})
    assert len(request.read({"content": f'[{CITY}, {{"name": "now", "parameters": {{}}}}]'}).tool_calls) == count


@pytest.mark.parametrize("parallel", [0, 1, "false", []])
def test_parallel_calls_are_true_or_false(parallel: object):
    with pytest.raises(TypeError, match=r"^parallel_tool_calls must be True, False or None, not "):
        asked(request={"parallel_tool_calls": parallel})


def test_without_tools_nothing_in_text_is_called_and_what_the_server_found_is():
    request = asked([], request={"tool_choice": "required"})
    assert request.messages == [{"role": "user", "content": "Hi"}]
    reply = request.read({"content": CITY, "tool_calls": [native("now", "{}")]})
    assert (reply.content, made(reply.tool_calls)) == (CITY, [("now", {})])
    assert request.retry(request.read({"content": "Hello."})) is None


def test_tools_that_are_not_known_are_not_shown_and_any_name_is_called():
    chat = pickle.loads(pickle.dumps(ToolChat(None)))  # noqa: S301 (our own)
    request = chat.request([{"role": "user", "content": "Hi"}])
    assert request.messages == [{"role": "user", "content": "Hi"}]
    assert made(request.read({"content": CITY, "tool_calls": [native("f", "{}")]}).tool_calls) == [
        ("get_weather", {"city": "Paris"}),
        ("f", {}),
    ]
    assert request.read({"content": CITY, "tool_calls": []}).report.to_dict() == {}
    assert chat.request([], tool_choice="none").read({"content": CITY}).tool_calls == ()
    with pytest.raises(ValueError, match="repair needs the names of the tools"):
        ToolChat(None, ChatOptions(read=ReadOptions(repair=True)))
