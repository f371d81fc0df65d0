"""A whole agent in the strict response format: its prompt, its schema, its history, and its message as it comes."""

from __future__ import annotations

import random

import pytest

from chats import asked, read_in_every_way
from llama3_tools.chat import ToolChat

NOW = {"name": "now"}
CITY = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}
CALL = '{"name": "now", "arguments": {}}'
HI = {"role": "user", "content": "Hi"}


def chat(**options: object) -> ToolChat:
    return asked([NOW, CITY], read=options, prompt_format="strict").chat


def test_the_prompt_asks_for_one_object_that_may_be_words():
    [message] = chat().request([HI]).messages
    assert '"tool_call": null or {"name": function name' in message["content"]
    assert "in words, without a call" not in message["content"]


@pytest.mark.parametrize(
    ("text", "content", "called"),
    [
        (f'{{"message": "Let me see.", "tool_call": {CALL}}}', "Let me see.", ["now"]),
        (f'{{"message": "", "tool_call": {CALL}}}', None, ["now"]),
        ('{"message": " a\\n\\u00e9 \\ud83d\\ude00\\t\\"q\\" ", "tool_call": null}', 'a\né 😀\t"q"', []),
        ('\n{ "message" : "Hi" , "tool_call" : null }\n', "Hi", []),
        ('{"message": "Say {\\"name\\": \\"now\\", \\"parameters\\": {}}", "tool_call": null}',
         'Say {"name": "now", "parameters": {}}', []),
        # What is no object of the format is read as always.
        ("Hello.", "Hello.", []),
        ('{"name": "now", "parameters": {}}', None, ["now"]),
        ('{"message": 5}', '{"message": 5}', []),
        # What breaks stays: the message as it was shown, and the rest as it was written.
        ('{"message": "cut o', "cut o", []),
        ('{"message": "Sure. ", "tool_call": {"name": "now", "arguments": {oops}}}',
         'Sure. ", "tool_call": {"name": "now", "arguments": {oops}}}', []),
        ('{"message": "a \\x b", "tool_call": null}', 'a \\x b", "tool_call": null}', []),
        # A raw line break is none that JSON has. Nothing in the string that it cuts is called.
        ('{"message": "Hi.\nYes.", "tool_call": null}', 'Hi.\nYes.", "tool_call": null}', []),
        (f'{{"message": "Hi.  \n```{CALL}``` Yes.', f"Hi.  \n```{CALL}``` Yes.", []),
        ('{"message": "\\u4e2d\\u00a0\\u6587 \\n\\t", "tool_call": null}', "中\u00a0文", []),
        ('{"message": "a \\ud83d b", "tool_call": null}', 'a \\ud83d b", "tool_call": null}', []),
    ],
)  # fmt: skip
def test_an_answer_is_read_alike_in_every_way(text: str, content: str | None, called: list[str]):
    reply = read_in_every_way(chat().request([HI]), {"content": text})
    assert (reply.content, [call.name for call in reply.tool_calls]) == (content, called)


def test_the_message_streams_while_it_is_written():
    stream = chat(progress=True).request([HI]).stream()
    pieces = ['{"mess', 'age": "Let m', "e \\", 'n see. ", "tool', '_call": {"name": "now", "argu', 'ments": {}}', "}"]
    deltas = [[delta.get("content") for delta in stream.feed({"content": piece})] for piece in pieces]
    shown = [[text for text in texts if text] for texts in deltas]
    assert shown[:4] == [[], ["Let m"], ["e"], [" \n see."]]
    assert not any(shown[4:])
    stream.end("stop")
    assert (stream.reply.content, len(stream.reply.tool_calls)) == ("Let me \n see.", 1)


def test_a_stream_that_breaks_off_keeps_what_was_shown():
    stream = chat().request([HI]).stream()
    shown = stream.feed({"content": '{"message": "Sure. ", "tool_call": {"name": "n'})
    shown += stream.abort()
    assert "".join(delta["content"] for delta in shown) == stream.reply.content
    assert stream.reply.content == 'Sure. ", "tool_call": {"name": "n'


def test_the_history_is_in_the_same_form():
    calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("now", "f")]
    turns = [{"role": "assistant", "content": "Hi.", "tool_calls": calls[:given]} for given in (0, 1, 2)]
    written = [message["content"] for message in chat().request(turns, tool_choice="none").messages]
    assert written == [
        '{"message": "Hi.", "tool_call": null}',
        f'{{"message": "Hi.", "tool_call": {CALL}}}',
        f'{{"message": "Hi.", "tool_calls": [{CALL}, {CALL.replace("now", "f")}]}}',
    ]


def test_the_complaint_shows_the_form():
    request = chat().request([HI])
    again = request.retry(request.read({"content": '{"message": "", "tool_call": {"name": "f", "arguments": {}}}'}))
    assert again is not None
    form = '{"message": "", "tool_call": {"name": "f", "arguments": {"a": "<string>"}}}'
    assert f"in the form {form}" in again.messages[-1]["content"]


PIECES = ['{"message": "', "Let me see.", " ", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\x", '"']
PIECES += ['", "tool_call": ', "null", CALL, "}", "```json\n", "\n```", "Hi. ", '\\"', "\n", "[now()]"]
PIECES += ["<think>", '{"a": "x"}']


@pytest.mark.parametrize("seed", range(150))
def test_however_an_answer_breaks_its_streams_say_what_the_whole_says(seed: int):
    pick = random.Random(seed)  # noqa: S311 (nothing secret)
    read_in_every_way(chat().request([HI]), {"content": "".join(pick.choices(PIECES, k=pick.randint(2, 7)))})


@pytest.mark.parametrize("text", ['{"message": "Build failed", "code": 3}', '{"message": "Hi.", "tool_call": null}'])
def test_without_tools_an_object_stays_as_it_was_written(text: str):
    for request in (chat().request([HI], tool_choice="none"), ToolChat([], prompt_format="strict").request([HI])):
        assert read_in_every_way(request, {"content": text}).content == text
