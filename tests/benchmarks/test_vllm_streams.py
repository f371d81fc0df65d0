"""The program that counts calls in vLLM's streams: on parsers that are made up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from vllm_streams import OURS, THEIRS, Output, Streams, calls_alone, count_streams, in_deltas, with_text


class Letters:
    """A tokenizer whose tokens are bytes."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode(errors="replace")


class Sends:
    """A parser that sends what it is told at the end of the stream."""

    def __init__(self, content: str, calls: Sequence[tuple[str, str]]) -> None:
        self._message = SimpleNamespace(
            content=content,
            tool_calls=[
                SimpleNamespace(index=index, function=SimpleNamespace(name=name, arguments=arguments))
                for index, (name, arguments) in enumerate(calls)
            ],
        )

    def parse_delta(self, *_: object, finished: bool, **__: object) -> SimpleNamespace | None:
        return self._message if finished else None


def test_a_character_of_several_tokens_comes_with_its_last() -> None:
    deltas = in_deltas("aø東b", Letters(), 2)
    assert [text for text, _ in deltas] == ["a", "ø", "東", "b"]
    assert "".join(text for text, _ in in_deltas("aø東b", Letters(), 5)) == "aø東b"


def test_the_outputs_are_the_same_each_time_and_of_every_kind() -> None:
    outputs = calls_alone(250)
    assert outputs == calls_alone(250)
    assert {len(output.calls) for output in outputs} == {1, 2, 3}
    assert any(arguments == {} for output in outputs for _, arguments in output.calls)
    around = with_text(outputs)[0]
    assert around.text.splitlines()[1:-1] == outputs[0].text.splitlines()
    assert around.calls == outputs[0].calls


def test_it_counts_outputs_with_valid_arguments_and_those_that_are_as_they_were_written() -> None:
    outputs = [Output('{"name": "f"}', "", [("f", {"a": 1})])] * 3
    parsers = {
        THEIRS: lambda: (Sends("", [("f", '{"a": 2}')]), None),
        OURS: lambda: (Sends("", [("f", json.dumps({"a": 1}))]), None),
    }
    rows = list(count_streams({"calls": outputs}, Letters(), parsers))
    counted: list[Any] = [({THEIRS: 3, OURS: 3}, {THEIRS: 0, OURS: 3})] * 3
    assert rows == [Streams(f"calls, {size}", 3, *each) for size, each in zip((1, 2, 5), counted, strict=True)]
    assert rows[0].cells() == ("calls, 1", "3 of 3", "3 of 3", "0 of 3", "3 of 3")
    assert rows[0].figures == {"not as written": 0}


def test_arguments_that_are_cut_off_and_no_calls_are_not_valid() -> None:
    outputs = [Output("x", "", [("f", {})])]
    parsers = {
        THEIRS: lambda: (Sends("", [("f", '{"a')]), None),
        OURS: lambda: (Sends("x", []), None),
    }
    row = next(count_streams({"calls": outputs}, Letters(), parsers))
    assert (row.valid, row.whole) == ({THEIRS: 0, OURS: 0}, {THEIRS: 0, OURS: 0})
