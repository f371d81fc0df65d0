"""The options of a conversation."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chats import CITY, TOOLS, asked, made
from llama3_tools import ReadOptions
from llama3_tools.chat import ChatOptions, ToolChat


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"read": {}}, TypeError, "read must be a ReadOptions, not a dict"),
        ({"tools_in": "prompt"}, ValueError, 'tools_in must be "user", "system" or "request", not \'prompt\''),
        ({"prompt_format": "xml"}, ValueError, "prompt_format must be "),
        ({"max_retries": True}, TypeError, "max_retries must be a whole number, not True"),
        ({"max_retries": -1}, ValueError, "max_retries must be 0 or more, not -1"),
    ],
)
def test_what_is_no_option_is_an_error(options: dict[str, Any], error: type[Exception], says: str):
    with pytest.raises(error, match=f"^{says}"):
        ChatOptions(**options)


def test_options_may_be_given_by_name_those_of_reading_too():
    kept = ChatOptions(read=ReadOptions(on_unknown_tool="call", repair=True), tool_role="tool")
    chat = ToolChat([], kept, split_reasoning=True, max_retries=2)
    assert chat.options.read == ReadOptions(on_unknown_tool="call", repair=True, split_reasoning=True)
    assert (chat.options.tool_role, chat.options.max_retries) == ("tool", 2)
    assert ToolChat([], read=ReadOptions(), repair=True).options.read == ReadOptions(repair=True)


def test_an_option_that_there_is_not_is_named():
    with pytest.raises(TypeError, match=r"^ToolChat has no option 'retries'; did you mean 'max_retries'"):
        ToolChat([], retries=2)  # type: ignore[call-arg]


def test_the_tools_can_be_had_as_the_model_is_shown_them():
    chat = ToolChat(TOOLS)
    assert chat.request([{"role": "user", "content": "Hi"}]).messages[0]["content"] == f"{chat.prompt()}\n\nHi"
    assert "get_weather" not in chat.prompt({"type": "allowed_tools", "tools": [{"name": "now"}]})
    assert chat.prompt("none") == ToolChat([]).prompt() == ""


def test_a_chat_can_be_pickled_and_shared_by_threads():
    chat = pickle.loads(pickle.dumps(ToolChat(TOOLS, ChatOptions(max_retries=2))))  # noqa: S301 (our own)
    assert chat.options.max_retries == 2
    assert list(chat.tools) == ["get_weather", "now", "light"]

    def calls(_: int) -> object:
        return made(chat.request([], tool_choice="get_weather").read({"content": CITY}).tool_calls)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(calls, range(40))) == [[("get_weather", {"city": "Paris"})]] * 40


def test_progress_is_told_if_it_is_asked_for():
    stream = ToolChat(TOOLS, ChatOptions(read=ReadOptions(progress=True))).request([]).stream()
    progress = {"name": "get_weather", "characters": 40, "status": "writing"}
    assert stream.feed({"content": CITY[:40]}) == [{"tool_call_progress": progress}]
    call, ready = stream.feed({"content": CITY[40:]})
    assert list(call) == ["tool_calls"]
    assert ready["tool_call_progress"]["status"] == "ready"


def test_without_a_prompt_format_the_formats_of_reading_are_all_that_is_read():
    tools = [{"name": "now"}]
    answers = {
        "json": '{"name": "now", "parameters": {}}',
        "pythonic": "[now()]",
        "function": "<function=now>{}</function>",
    }
    for formats in (["pythonic"], ["function", "pythonic"], ["json"], None):
        chat = ToolChat(tools, prompt_format=None, formats=formats)
        for name, text in answers.items():
            made = chat.request([]).read({"content": text}).tool_calls
            assert bool(made) == (formats is None or name in formats)
    assert ToolChat(tools, prompt_format=None).prompt() == ToolChat(tools).prompt()


def test_the_form_that_was_asked_for_is_read_for_any_name_and_no_other():
    request = asked(prompt_format="pythonic")
    assert made(request.read({"content": "[other(a=1)]"}).tool_calls) == [("other", {"a": 1})]
    assert request.read({"content": "<|python_tag|>x = 1"}).tool_calls == (), "no tool runs code"
    assert made(asked(prompt_format=None, read={"formats": "function"}).read({"content": CITY}).tool_calls) == []
