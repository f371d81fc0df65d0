"""Conversations as text."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from llama_index.core.base.llms.types import ImageBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

from llama3_tools import PromptFormat, extract
from llama_index_llama3_tools.history import flatten_messages

WEATHER = '{"name": "get_weather", "parameters": {"city": "Paris"}}'


def call(call_id: str, name: str = "get_weather", kwargs: Any = None) -> ToolCallBlock:  # noqa: ANN401 (as the block has it)
    return ToolCallBlock(
        tool_call_id=call_id, tool_name=name, tool_kwargs={"city": "Paris"} if kwargs is None else kwargs
    )


def assistant(*blocks: Any) -> ChatMessage:  # noqa: ANN401 (any block)
    return ChatMessage(role="assistant", blocks=list(blocks))


def result(call_id: str, text: str) -> ChatMessage:
    return ChatMessage(role="tool", content=text, additional_kwargs={"tool_call_id": call_id})


def shown(messages: list[ChatMessage], **options: Any) -> list[tuple[str, str | None]]:  # noqa: ANN401 (the options)
    return [(message.role.value, message.content) for message in flatten_messages(messages, **options)]


def test_a_conversation_without_calls_stays_as_it_is() -> None:
    messages = [
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(content="Hi"),
        ChatMessage(role="assistant", content="Hello.", additional_kwargs={"logprobs": 1}),
    ]
    assert flatten_messages(messages) == messages


@pytest.mark.parametrize("prompt_format", get_args(PromptFormat))
def test_what_is_written_is_what_the_extractor_reads(prompt_format: PromptFormat) -> None:
    kwargs = {"text": 'a "quoted" } <|eot_id|> ö', "n": 2**70}
    message = assistant(TextBlock(text="Both."), call("1"), call("2", "now", {}), call("3", "note", kwargs))
    [(_, text)] = shown([message], prompt_format=prompt_format)
    declared = [{"name": name, "parameters": {"type": "object"}} for name in ("get_weather", "now", "note")]
    extraction = extract(text or "", tools=declared)
    assert extraction.content == "Both."
    assert [(found.name, found.arguments) for found in extraction.tool_calls] == [
        ("get_weather", {"city": "Paris"}),
        ("now", {}),
        ("note", kwargs),
    ]


def test_pythonic_calls_are_one_list_as_the_prompt_asks_for() -> None:
    calls = [call("1"), call("2", "now", {})]
    for made, written in (
        (calls, "[get_weather(city='Paris'), now()]"),
        ([*calls, call("3", "now", {"a-b": 1})], '; {"name": "now", "parameters": {"a-b": 1}}'),
        ([*calls, call("3", "now", '{"a": ')], """[get_weather(city='Paris')]; [now()]; [now({"a": )]"""),
    ):
        [(_, text)] = shown([assistant(*made)], prompt_format="pythonic")
        assert (text or "").endswith(written)


def test_results_say_their_tool_and_come_in_the_order_of_the_calls() -> None:
    messages = [
        ChatMessage(content="?"),
        assistant(call("1"), call("2", "get_time", {})),
        result("2", "12:30"),
        result("1", "Sun"),
        assistant(call("1", "now", {})),  # some servers begin their ids anew
        result("1", "Now"),
        result("9", "Lost"),
        ChatMessage(role="function", content="Old", additional_kwargs={"name": "ancient"}),
    ]
    expected = [
        "Result of get_weather: Sun",
        "Result of get_time: 12:30",
        "Result of now: Now",
        "Result of a tool: Lost",
        "Result of ancient: Old",
    ]
    flattened = shown(messages)
    assert [content for role, content in flattened if role == "tool"] == expected
    as_user = shown(messages, tool_role="user")
    assert as_user[1:] == [
        ("assistant", f'{WEATHER}; {{"name": "get_time", "parameters": {{}}}}'),
        ("user", "\n\n".join(expected[:2])),
        ("assistant", '{"name": "now", "parameters": {}}'),
        ("user", "\n\n".join(expected[2:])),
    ]


def test_two_results_of_one_tool_are_told_apart() -> None:
    messages = [
        assistant(call("1"), call("2", "now", {}), call("3", kwargs='{"city": "Oslo"}')),
        result("3", "Rain"),
        result("2", "12:30"),
        result("1", "Sun"),
        assistant(call("4")),
        result("4", "Sun again"),
    ]
    assert [content for role, content in shown(messages) if role == "tool"] == [
        'Result of get_weather {"city": "Paris"}: Sun',
        "Result of now: 12:30",
        'Result of get_weather {"city": "Oslo"}: Rain',
        "Result of get_weather: Sun again",
    ]


def test_results_keep_the_order_of_the_newest_calls_of_their_ids() -> None:
    messages = [
        assistant(call("1"), call("2", "get_time", {})),
        result("2", "12:30"),
        result("1", "Sun"),
        assistant(call("2", "get_time", {}), call("1")),
        result("1", "Rain"),
        result("2", "12:40"),
    ]
    assert [content for role, content in shown(messages) if role == "tool"] == [
        "Result of get_weather: Sun",
        "Result of get_time: 12:30",
        "Result of get_time: 12:40",
        "Result of get_weather: Rain",
    ]


@pytest.mark.parametrize(
    ("other", "label"),
    [
        pytest.param(call("1", kwargs={"city": "Oslo"}), "get_weather", id="two of one tool"),
        pytest.param(call("1", "now", {}), "a tool", id="two tools"),
    ],
)
def test_results_of_two_calls_with_one_id_claim_no_more_than_is_known(other: ToolCallBlock, label: str) -> None:
    message = assistant(call("1"), other)
    problem = {"message": "$.city: expected array", "reason": "wrong_type"}
    message.additional_kwargs["coerced_arguments"] = [{"id": "1", "problems": [problem]}]
    shown_results = [content for _, content in shown([message, result("1", "Sun"), result("1", "Rain")])[1:]]
    assert shown_results == [f"Result of {label}: Sun", f"Result of {label}: Rain"]


def test_a_result_without_an_id_is_of_no_call() -> None:
    messages = [assistant(call(""), call("1", "now", {})), result("", "Sun"), result("1", "12:30")]
    assert [content for role, content in shown(messages) if role == "tool"] == [
        "Result of now: 12:30",
        "Result of a tool: Sun",
    ]


@pytest.mark.parametrize("role", ["tool", "user"])
def test_an_image_in_a_result_is_kept(role: Any) -> None:  # noqa: ANN401 (a role)
    image = ImageBlock(url="http://localhost/cat.png")
    message = ChatMessage(role="tool", blocks=[image, TextBlock(text="A cat")], additional_kwargs={"tool_call_id": "1"})
    [flat] = flatten_messages([message], tool_role=role)
    assert (flat.role, flat.blocks) == (MessageRole(role), [TextBlock(text="Result of a tool: A cat"), image])


def test_other_blocks_and_arguments_of_an_answer_are_kept() -> None:
    thought = ThinkingBlock(content="Hm")
    message = assistant(thought, TextBlock(text="A"), call("1"), TextBlock(text="B"))
    message.additional_kwargs = {"tool_calls": ["…"], "tool_call_id": "0", "kept": 1}
    [flat] = flatten_messages([message])
    assert flat.blocks == [thought, TextBlock(text=f"A\nB {WEATHER}")]
    assert flat.additional_kwargs == {"kept": 1}
    assert message.additional_kwargs == {"tool_calls": ["…"], "tool_call_id": "0", "kept": 1}


@pytest.mark.parametrize(
    "arguments", ['{"city": "Paris"}', {"city": "Paris"}], ids=["as OpenAI has them", "as Ollama has them"]
)
def test_calls_in_the_additional_arguments_count(arguments: object) -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}]
    message = ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": calls})
    assert shown([message, result("1", "Sun")]) == [("assistant", WEATHER), ("tool", "Result of get_weather: Sun")]


def test_arguments_that_are_no_json_are_shown_as_they_are() -> None:
    assert shown([assistant(call("1", kwargs='{"city": "Par'))]) == [
        ("assistant", '{"name": "get_weather", "parameters": {"city": "Par}')
    ]


def test_a_call_without_a_name_is_shown_all_the_same() -> None:
    assert shown([assistant(ToolCallBlock(tool_call_id="1", tool_name="", tool_kwargs={}))]) == [
        ("assistant", '{"name": "unknown", "parameters": {}}')
    ]


def test_messages_of_their_own_come_out() -> None:
    message = ChatMessage(content="Hi")
    [flat] = flatten_messages([message])
    flat.content = "Bye"
    assert message.content == "Hi"
