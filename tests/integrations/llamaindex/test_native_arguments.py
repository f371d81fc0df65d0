"""The text of arguments that a server sends: read as strictly as a call in text, and once, however it comes in."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import pytest
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage

from llama3_tools import Limits
from llama3_tools.text.json_writing import write_json
from llama_index_llama3_tools.native import NativeCalls, native_calls
from steps import steps_of

LONG = "7" * 5000
LONG_INT = int("7" * 500) * sum(10 ** (500 * place) for place in range(10))

GOOD = '{"b": 2}'
OBJECTS = [
    pytest.param(' \n{"a": "}"} \t', {"a": "}"}, id="white space around"),
    pytest.param(f'{{"a": -{LONG}}}', {"a": -LONG_INT}, id="an integer of any size"),
    pytest.param('{"a": 1, "a": "é\\ud83d\\ude00"}', {"a": "é😀"}, id="a pair of surrogates, and a key twice"),
]
OTHERS = [
    '{"a": NaN}',
    '{"a": [-1E400]}',
    '{"a": "é\\ud83d"}',
    '{"a": "b\nc"}',
    "{'a': 1}",
    '{"a": 1} x',
    '[{"a": 1}]',
    '{"a": 1',
    " ",
]


def message(*arguments: str) -> ChatMessage:
    blocks = [ToolCallBlock(tool_call_id=str(n), tool_name="f", tool_kwargs=text) for n, text in enumerate(arguments)]
    return ChatMessage(role="assistant", content="Hm.", additional_kwargs={"kept": True}).model_copy(
        update={"blocks": [*ChatMessage(content="Hm.").blocks, *blocks]}
    )


def made(settled: ChatMessage) -> list[Any]:
    return [call.arguments for call in native_calls(settled)]


def settled_in_chunks(text: str, size: int) -> ChatMessage:
    calls = NativeCalls(only_first=False, names=None)
    for end in range(0, len(text), size):
        calls.settle(message(text[:end]), is_last=False)
    return calls.settle(message(text), is_last=True)


@pytest.mark.parametrize("size", [1, 3, 10**6])
class TestText:
    @pytest.mark.parametrize(("text", "arguments"), OBJECTS)
    def test_an_object_is_a_call_s_arguments(self, text: str, arguments: object, size: int) -> None:
        settled = settled_in_chunks(text, size)
        assert (settled.content, made(settled)) == ("Hm.", [arguments])
        [call] = settled.additional_kwargs["tool_calls"]
        assert call["function"]["arguments"] == write_json(arguments)

    @pytest.mark.parametrize("text", OTHERS, ids=range(len(OTHERS)))
    def test_what_is_none_stays_text(self, text: str, size: int) -> None:
        settled = settled_in_chunks(text, size)
        assert (settled.content, made(settled)) == (f'Hm. {{"name": "f", "parameters": {text}}}', [])


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"a": math.nan}, '{"a": NaN}'),
        ({"a": [{"b": -math.inf}]}, '{"a": [{"b": -Infinity}]}'),
        ({"a": ["é\ud83d"]}, '{"a": ["é\\ud83d"]}'),
        ({"\ude00": 1}, '{"\\ude00": 1}'),
        ('{"a": "\ud83d"}', '{"a": "\\ud83d"}'),
    ],
)
@pytest.mark.parametrize("is_in_openai_format", [False, True])
def test_what_strict_json_does_not_have_is_text_when_it_comes_decoded(
    given: Any,  # noqa: ANN401 (as clients have it)
    written: str,
    is_in_openai_format: bool,
) -> None:
    sent = message(GOOD, "{}")
    if is_in_openai_format:
        calls = [{"id": str(n), "function": {"name": "f", "arguments": args}} for n, args in enumerate((GOOD, given))]
        sent = ChatMessage(role="assistant", content="Hm.", additional_kwargs={"tool_calls": calls})
    else:
        sent.blocks[-1].tool_kwargs = given  # type: ignore[union-attr]  # a block of a call
    calls_of_turn = NativeCalls(only_first=False, names=None)
    assert made(calls_of_turn.settle(sent, is_last=False)) == [{"b": 2}]
    settled = calls_of_turn.settle(sent, is_last=True)
    assert (settled.content, made(settled)) == (f'Hm. {{"name": "f", "parameters": {written}}}', [{"b": 2}])


def test_an_object_that_does_not_end_there_was_none() -> None:
    calls = NativeCalls(only_first=False, names=None)
    assert made(calls.settle(message('{"a": 1}'), is_last=False)) == [{"a": 1}]
    assert made(calls.settle(message('{"a": 1} '), is_last=False)) == [{"a": 1}]
    assert made(calls.settle(message('{"a": 1} x'), is_last=False)) == []
    assert made(calls.settle(message('{"b": 2}'), is_last=False)) == [{"b": 2}]  # not the text so far, and more
    assert made(calls.settle(message('{"b": 2}'), is_last=True)) == [{"b": 2}]


def test_the_messages_of_a_stream_repeat_the_same_parts() -> None:
    calls = NativeCalls(only_first=False, names=None)
    first, second = (calls.settle(message('{"a": [1]}', text), is_last=False) for text in ('{"b": ', '{"b": 2}'))
    assert made(second) == [{"a": [1]}, {"b": 2}]
    assert first.blocks[1] is second.blocks[1]
    assert first.additional_kwargs["tool_calls"][0] is second.additional_kwargs["tool_calls"][0]


def test_how_many_calls_there_may_be_counts_those_that_are_whole() -> None:
    calls = NativeCalls(only_first=False, names=None, limits=Limits(max_calls=1))
    assert made(calls.settle(message('{"a": ', '{"b": 2}'), is_last=False)) == [{"b": 2}]
    assert made(calls.settle(message('{"a": 1}', '{"b": 2}'), is_last=False)) == [{"a": 1}]


@pytest.mark.no_cover
@pytest.mark.parametrize("piece", ['"x', "}", '{"b": 1}, ', "1, ", '"}", '])
def test_the_work_grows_as_the_arguments_do(piece: str) -> None:
    def work(times: int) -> int:
        calls, text = NativeCalls(only_first=False, names=None), '{"a": [' + piece * times
        messages = [message(json.dumps({"c": "d" * times}), text[:end]) for end in range(0, len(text), 3)]

        def settle() -> None:
            for before, after in itertools.pairwise(messages):
                assert calls.settle(before, is_last=False) != after

        return steps_of(settle)

    work(3)
    assert work(800) < 5 * work(200) + 500
