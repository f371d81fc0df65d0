"""Principle 8: however an output is cut, the stream is the same; it holds back what is undecided, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from chunkings import pieces, read
from llama3_tools import Extractor, Limits, ReasoningDelta, TextDelta, ToolCallReady, extract
from told import TOOLS

CALL = '{"name": "f", "parameters": {"a": "Paris"}}'
RELEASED: list[tuple[list[str], list[str]]] = [
    (["Hel", "lo"], ["Hel", "lo"]),
    (["Hello "], ["Hello"]),
    (["Hello ", "you"], ["Hello", " you"]),
    ([" Hello"], [" Hello"]),
    (["\n", "\n", "Hi"], ["\n\nHi"]),
    (["]"], ["]"]),
    (["{"], []),
    (["{x"], ["{x"]),
    (["{", "x"], ["{x"]),
    (['{"a"'], []),
    (['{"a": 1}'], ['{"a": 1}']),
    (['{"a": 1'], []),
    (["["], []),
    (["[1"], ["[1"]),
    (["[1,", " 2]"], ["[1,", " 2]"]),
    (['["open string'], ['["open string']),
    (["<"], []),
    (["<b"], []),
    (["<b>", "x"], ["<b>x"]),
    (["<tool>", "x y"], ["<tool>x y"]),
    (["<tool_call>", " \n"], []),
    (["<|eot_", "id|>"], []),
    (["a<|eot_id|>", "b"], ["a", "<|eot_id|>b"]),
    (["1 < 2"], ["1 < 2"]),
    (["`"], []),
    (["`x"], ["`x"]),
    (["```js", "\n"], []),
    (["```js\n", "x y"], ["```js\nx y"]),
    ([CALL, ";"], []),
    ([CALL, "; ", "x"], ["x"]),
    ([CALL, ", ", "x"], [", x"]),
    (["a ", CALL, " x"], ["a", " x"]),
    ([f"[{CALL}", ", {"], []),
]


@pytest.mark.parametrize(("chunks", "out"), RELEASED, ids=lambda texts: " ".join(map(repr, texts))[:60])
def test_text_comes_as_soon_as_it_can_be_no_part_of_a_call(chunks: list[str], out: list[str]):
    stream = Extractor().stream()
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    assert [event.text for event in events if isinstance(event, TextDelta)] == out


NAMES: list[tuple[list[str], list[str]]] = [
    (["I use", " f and", " g"], ["I use", " f and", " g"]),
    (["f"], []),
    (["f", "ish"], ["fish"]),
    (["f", "(x) is"], ["f(x) is"]),
    (["Hi.\ncl", "o", "se"], ["Hi.", "\nclose"]),
    (["self", ".", "f"], ["self", ".", "f"]),
    (["Hi.\nxy"], ["Hi.\nxy"]),
]


@pytest.mark.parametrize(("chunks", "out"), NAMES, ids=lambda texts: " ".join(map(repr, texts))[:60])
def test_a_lines_beginning_that_may_become_a_declared_name_is_held_back(chunks: list[str], out: list[str]):
    stream = Extractor(tools=TOOLS).stream()
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    assert [event.text for event in events if isinstance(event, TextDelta)] == out


BEFORE_LONG_ONES = {
    "a line of prose": "so " * 180,
    "a line": "Hi.\n",
    "a quoted line": "> It is ",
    "a listing": "```js\n",
    "a code span": "`x` and `",
    "a key": '"k": ',
    "a heading of a result": "Result of f: ",
    "thoughts": "<think>so ",
    "arguments": "print(",
}


@pytest.mark.parametrize("before", BEFORE_LONG_ONES.values(), ids=BEFORE_LONG_ONES)
@pytest.mark.parametrize(
    "candidate", ["<function=f>{'a': [", "f\n{'a': [", "{'name': 'f', 'arguments': {'a': [", "f(a=["]
)
@pytest.mark.parametrize("after", ["", f"\n{CALL}"], ids=["the end", "a call"])
def test_a_candidate_of_any_length_is_reported_as_in_the_whole(before: str, candidate: str, after: str):
    for repeated in ("1, ", "[1, ", "\n1, ", "x "):
        text = before + candidate + repeated * 200 + after
        for options in ({"tools": TOOLS}, {"tools": TOOLS, "repair": True}):
            extractor = Extractor(**options)
            whole = extractor.extract(text)
            for size in (1, 30):
                assert read(pieces(text, size), extractor)[1] == whole, (repeated, size)


WIDE = [("<function=f>", '{"a": 1}</function>'), ("<function=f>", CALL), ("<tool_call>", "f(a=1)</tool_call>")]
WIDE += [("<|python_tag|>", "f(a=1)"), ("[TOOL_CALLS]", 'f\n{"a": 1}'), ("<tool_call>", "{}"), (CALL, "</tool_call>")]
WIDE += [("Hi.", "f(a=1)"), ("[", CALL), ("```json\n", CALL), ("f", '{"a": 1}'), ("f(a=", "1)")]


@pytest.mark.parametrize(("before", "after"), WIDE)
def test_white_space_of_any_length_is_read_as_in_the_whole(before: str, after: str):
    for length in (250, 257, 300, 1030, 5000):
        for space in " \n":
            text = before + space * length + after
            for options in ({"tools": TOOLS}, {"tools": TOOLS, "limits": Limits(max_call_length=256)}):
                extractor = Extractor(**options)
                whole = extractor.extract(text)
                for size in (1, 7, 100):
                    assert read(pieces(text, size), extractor)[1] == whole, (length, space, size)


def test_white_space_before_the_first_text_has_been_sent_when_a_call_strips_it():
    stream = Extractor().stream()
    assert stream.feed(" One ") == [TextDelta(" One")]
    stream.feed(CALL)
    stream.flush()
    assert stream.extraction.content == "One"


def test_a_stream_may_leave_text_and_reasoning_to_its_events():
    stream = Extractor(split_reasoning=True).stream(keep_content=False)
    reasoning, ready, text = stream.feed(f"<think>Hm.</think>{CALL} two")
    assert (reasoning, text) == (ReasoningDelta("Hm."), TextDelta("two"))
    assert isinstance(ready, ToolCallReady)
    stream.flush()
    extraction = stream.extraction
    assert (extraction.content, extraction.reasoning, extraction.tool_calls) == (None, None, (ready.tool_call,))


@pytest.mark.parametrize("value", ["no", 1, None])
def test_whether_text_is_left_to_the_events_is_true_or_false(value: Any):
    with pytest.raises(TypeError, match=f"^keep_content must be True or False, not {value!r}$"):
        Extractor().stream(keep_content=value)


def test_empty_chunks_change_nothing_and_an_empty_output_has_empty_content():
    extractor = Extractor()
    assert read(["", "One ", "", CALL, "", " two", ""], extractor) == read([f"One {CALL} two"], extractor)
    stream = extractor.stream()
    assert stream.flush() == []
    assert stream.extraction == extract("")
    assert extract("").content == ""


@pytest.mark.parametrize(("chunk", "message"), [(b"x", "got bytes: decode it first"), (None, "got NoneType")])
def test_what_is_fed_and_extracted_is_text(chunk: Any, message: str):
    with pytest.raises(TypeError, match=r"str\b.* got "):  # mypyc's own words, if compiled
        Extractor().stream().feed(chunk)
    with pytest.raises(TypeError, match=rf"^extract\(\) takes the model's output as a str, {message}"):
        extract(chunk)
