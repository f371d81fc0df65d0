"""Rule 13: every call carries an id of its own, and none that the model wrote."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from llama3_tools import Extractor, extract, new_call_id

A, B = (f'{{"name": "{name}", "parameters": {{}}}}' for name in "ab")


def test_ids_are_call_and_24_hex_digits_each_its_own():
    extraction = extract("[" + ", ".join([A, B] * 50) + "]")
    ids = {call.id for call in extraction.tool_calls}
    assert len(ids) == 100
    assert all(re.fullmatch(r"call_[0-9a-f]{24}", id_) for id_ in ids)


WRITTEN = {
    "in the call": '{"id": "call_1", "name": "f", "parameters": {}}',
    "beside the function": '{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": {}}}',
    "in an envelope": '{"id": "call_1", "tool_calls": [{"id": "call_1", "name": "f", "parameters": {}}]}',
    "twice": '[{"id": "call_1", "name": "f", "parameters": {}}, {"id": "call_1", "name": "f", "parameters": {}}]',
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_an_id_that_the_model_wrote_is_ignored(text: str):
    calls = extract(text).tool_calls
    assert calls
    assert all(re.fullmatch(r"call_[0-9a-f]{24}", call.id) for call in calls)


def test_ids_of_one_output_read_twice_differ_and_the_calls_are_equal():
    first, second = extract(A), extract(A)
    assert first.tool_calls[0].id != second.tool_calls[0].id
    assert first == second


def test_a_stream_and_one_shot_make_ids_of_the_same_form():
    stream = Extractor().stream()
    (event,) = stream.feed(A)
    assert re.fullmatch(r"call_[0-9a-f]{24}", event.tool_call.id)


def test_new_call_id_makes_one():
    assert re.fullmatch(r"call_[0-9a-f]{24}", new_call_id())
    assert len({new_call_id() for _ in range(1000)}) == 1000


def test_an_id_factory_makes_the_ids_in_the_order_of_the_calls():
    numbers = iter(range(9))
    extraction = extract(f"{A}{B}[{A}, {B}]", id_factory=lambda: f"n{next(numbers)}")
    assert [call.id for call in extraction.tool_calls] == ["n0", "n1", "n2", "n3"]


def test_an_id_that_is_no_text_becomes_one():
    extractor = Extractor(id_factory=lambda: 5)  # type: ignore[arg-type,return-value]  # on purpose
    for other in (extractor, copy.deepcopy(extractor)):
        assert [call.id for call in other.extract(A).tool_calls] == ["5"]


def test_a_pickled_extractor_makes_ids_of_its_own():
    other = pickle.loads(pickle.dumps(Extractor()))  # noqa: S301 - our own bytes
    assert other.extract(A).tool_calls[0].id != Extractor().extract(A).tool_calls[0].id
