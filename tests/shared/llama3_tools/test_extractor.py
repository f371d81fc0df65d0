"""The extractor itself: its options, how it is copied, pickled and shared, and the errors of wrong use."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any, TypeVar, get_type_hints

import pytest

from chunkings import pieces, read
from fragments import READINGS, TOOLS
from llama3_tools import (
    Extraction,
    Extractor,
    Limits,
    ReadOption,
    ReadOptions,
    Tool,
    extract,
)

CALL = '{"name": "f", "parameters": {"a": "1"}}'
F = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}


THREADS = 8
OUTPUTS = [
    output.replace("NUMBER", str(number))
    for number in range(4)
    for output in (
        'One {"name": "f", "parameters": {"q": "NUMBER"}} two <tool_call>{"name": "g", "arguments": {}}</tool_call>',
        "<think>NUMBER</think> [f(q=NUMBER), g(a='x')]",
        "{'name': 'f', 'parameters': {'q': NUMBER, 'a': [1,]}} <function=g={\"a\": \"NUMBER\"}",
        '```json\n{"name": "f", "parameters": {"q": NUMBER, "a": [oops NUMBER',
        "<|python_tag|>print(NUMBER)<|eom_id|>",
        "Prose, NUMBER of {them}.",
    )
]
"""Outputs that are easily mistaken for each other."""

_T = TypeVar("_T")


def in_threads(run: Callable[[int], _T]) -> list[_T]:
    """Run a function in all threads, each with its number. They begin together, and take turns within each call."""
    together = threading.Barrier(THREADS)

    def begin(number: int) -> _T:
        together.wait(timeout=30)
        return run(number)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(begin, range(THREADS)))
    finally:
        sys.setswitchinterval(interval)


def streamed(extractor: Extractor, output: str) -> Extraction:
    return read(pieces(output, 5), extractor)[1]


class TestOptions:
    def test_are_one_frozen_value(self):
        options = ReadOptions()
        with pytest.raises(FrozenInstanceError):
            options.repair = True  # type: ignore[misc]  # on purpose
        assert options == ReadOptions() == Extractor().options

    def test_have_the_same_names_and_types_as_the_keywords(self):
        assert [field.name for field in fields(ReadOptions)] == list(get_type_hints(ReadOption))

    def test_are_kept_as_they_were_given(self):
        options = ReadOptions(split_reasoning=True, limits=Limits(max_calls=3))
        assert Extractor(options=options).options is options

    def test_single_ones_go_before_the_value(self):
        options = ReadOptions(repair=True, on_unknown_tool="call")
        extractor = Extractor([F], options=options, repair=False)
        assert extractor.options == replace(options, repair=False)
        assert options.repair

    def test_are_taken_by_the_function_too(self):
        text = '{"name": "g", "parameters": {}}'
        options = ReadOptions(on_unknown_tool="call")
        assert extract(text, tools=[F], options=options).tools_called
        assert not extract(text, tools=[F], options=options, on_unknown_tool="text").tools_called
        assert not extract(text, tools=[F]).tools_called

    def test_a_value_of_another_kind_is_refused(self):
        with pytest.raises(TypeError, match="options must be a ReadOptions"):
            Extractor(options={"repair": True})  # type: ignore[arg-type]  # on purpose

    def test_there_are_no_others(self):
        for make in (Extractor, ReadOptions, lambda **options: extract("", **options)):
            with pytest.raises(TypeError, match="'foo'"):
                make(foo=1)  # type: ignore[call-arg]  # on purpose
        with pytest.raises(TypeError, match="Extractor has no option 'reapir'; did you mean 'repair'"):
            extract("", reapir=True)  # type: ignore[call-arg]  # on purpose

    @pytest.mark.parametrize("value", ["no", 1, None])
    @pytest.mark.parametrize("option", [name for name, kind in get_type_hints(ReadOptions).items() if kind is bool])
    def test_what_is_true_or_false_is_nothing_else(self, option: str, value: Any):
        for make in (Extractor, lambda **options: extract("Hi", **options)):
            with pytest.raises(TypeError) as raised:
                make(tools=[], **{option: value})
            assert str(raised.value) == f"{option} must be True or False, not {value!r}"

    @pytest.mark.parametrize("value", ["raise", None])
    def test_an_unknown_tool_is_text_or_called(self, value: Any):
        with pytest.raises(ValueError, match=r'on_unknown_tool must be "text", "call" or "retry"'):
            ReadOptions(on_unknown_tool=value)

    def test_an_id_factory_can_be_called(self):
        with pytest.raises(TypeError, match="id_factory"):
            ReadOptions(id_factory="call_1")  # type: ignore[arg-type]  # on purpose

    @pytest.mark.parametrize("option", ["coerce_arguments", "repair"])
    def test_some_need_declared_tools(self, option: str):
        for make in (Extractor, lambda **options: extract("", **options)):
            with pytest.raises(ValueError, match=f"^{option} needs .* pass tools"):
                make(**{option: True})

    def test_limits_are_limits(self):
        with pytest.raises(TypeError, match="limits are Limits"):
            ReadOptions(limits=(1, 2))  # type: ignore[arg-type]  # on purpose
        for limits in (10, Limits(max_calls=1.5), Limits(max_calls=True)):  # type: ignore[arg-type]  # on purpose
            with pytest.raises(TypeError, match="whole numbers, such as Limits"):
                ReadOptions(limits=limits)  # type: ignore[arg-type]  # on purpose
        for name, value, bound in (
            ("max_calls", 0, "least 1"),
            ("max_call_length", 255, "least 256"),
            ("max_depth", 128, "most 127"),
        ):
            with pytest.raises(ValueError, match=f"limits: {name} is at {bound}, not {value}"):
                ReadOptions(limits=Limits(**{name: value}))


class TestTools:
    def test_are_shown_by_name(self):
        assert Extractor([F]).tools == {"f": Tool("f", parameters=F["parameters"])}
        assert Extractor().tools is None
        assert Extractor([]).tools == {}

    def test_that_are_handed_out_are_a_copy(self):
        extractor = Extractor([F])
        tools = extractor.tools
        assert tools is not None
        tools.clear()
        assert extractor.extract(CALL).tools_called


class TestSharing:
    """One extractor for all: threads, tasks, processes and copies give what one gives alone."""

    @pytest.mark.parametrize("extractor", READINGS.values(), ids=READINGS)
    def test_threads_share_an_extractor(self, extractor: Extractor):
        expected = [extractor.extract(output) for output in OUTPUTS]

        def run(number: int) -> list[bool]:
            rotated = [(index + number) % len(OUTPUTS) for index in range(len(OUTPUTS))][:12]
            return [
                (streamed if number % 2 else Extractor.extract)(extractor, OUTPUTS[index]) == expected[index]
                for index in rotated
            ]

        assert all(all(result) for result in in_threads(run))

    async def test_ids_are_unique_across_threads_and_tasks(self):
        output = '{"name": "f", "parameters": {}}' * 4

        async def run() -> list[str]:
            found = await asyncio.to_thread(extract, output)
            return [call.id for call in (*found.tool_calls, *extract(output).tool_calls)]

        ids = [one for found in await asyncio.gather(*(run() for _ in range(100))) for one in found]
        assert len(set(ids)) == len(ids) == 800

    @pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
    @pytest.mark.parametrize("extractor", READINGS.values(), ids=READINGS)
    def test_a_copy_reads_the_same_whatever_the_options(self, extractor: Extractor, protocol: int):
        pickled = pickle.loads(pickle.dumps(extractor, protocol))  # noqa: S301 - our own bytes
        for other in (pickled, copy.copy(extractor), copy.deepcopy(extractor)):
            assert (other.options, other.tools) == (extractor.options, extractor.tools)
            for output in OUTPUTS[:6]:
                assert other.extract(output) == extractor.extract(output)
                assert streamed(other, output) == extractor.extract(output)

    def test_processes_take_an_extractor_and_give_extractions_back(self):
        extractor = Extractor(tools=TOOLS, coerce_arguments=True, formats="all", split_reasoning=True)
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            found = list(pool.map(extractor.extract, OUTPUTS, chunksize=12))
        assert found == [extractor.extract(output) for output in OUTPUTS]


def test_options_are_shown_as_they_would_be_written():
    assert repr(ReadOptions(repair=True, formats="json")) == "ReadOptions(formats=('json',), repair=True)"
