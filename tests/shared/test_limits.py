"""Bounds of one model turn (rule 14)."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from typing import Any

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, Limits, ReasoningDelta, RejectionReason, TextDelta, extract
from llama3_tools.limits import excess, loaded_limits

A = '{"name": "a", "parameters": {}}'


def long_call(length: int) -> str:
    """Write a call of so many characters."""
    call = '{"name": "a", "parameters": {"x": ""}}'
    return f"{call[:-3]}{'x' * (length - len(call))}{call[-3:]}"


@pytest.mark.parametrize(
    ("arguments", "depth", "is_call"),
    [
        ("{}", 1, True),
        ('{"x": 1}', 1, True),
        ('{"x": []}', 1, False),
        ('{"x": {}}', 1, False),
        ('{"x": {"y": "[{"}}', 2, True),
        ('{"x": {"y": [1]}}', 2, False),
        (r'{"x": "\"[[", "y": "{{\\", "z": [1]}', 2, True),
        (r'{"x": "\"]]", "y": "}}\\", "z": [[1]]}', 2, False),
        ('{"x": "é[{", "y": [1]}', 2, True),
        ('{"x": [[[[[[1]]]]]], "y": [[[[[[[1]]]]]]]}', 8, True),
        ('{"x": [[[[[[1]]]]]], "y": [[[[[[[1]]]]]]]}', 7, False),
        (r'"{\"x\": [1]}"', 2, True),
        (r'"{\"x\": [[1]]}"', 2, False),
    ],
)
@pytest.mark.parametrize("shape", ['{"name": "f", "parameters": %s}', '[{"name": "f", "parameters": %s, "id": 1}]'])
def test_arguments_nested_deeper_are_text(shape: str, arguments: str, depth: int, is_call: bool):
    text = f"{shape % arguments} {A}"
    extraction = extract_in_every_chunking(text, limits=Limits(depth=depth))
    assert [call.name for call in extraction.tool_calls] == ["f", "a"][not is_call :]
    if not is_call:
        (rejection,) = extraction.rejections
        assert (rejection.reason, rejection.name) == (RejectionReason.TOO_DEEP, "f")
        assert rejection.detail.endswith(f"arguments nested deeper than {depth} levels")
        assert extraction.content == shape % arguments


@pytest.mark.parametrize("text", ["[f(x=[1])]", '<function=f>{"x": [1]}</function>', "f(x=[1])"])
def test_the_depth_is_the_same_for_every_form(text: str):
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"x": {}}}}]
    assert extract(text, tools=tools, limits=Limits(depth=2)).tools_called
    (rejection,) = extract_in_every_chunking(text, tools=tools, limits=Limits(depth=1)).rejections
    assert rejection.reason == RejectionReason.TOO_DEEP


X = "x" * 300


@pytest.mark.parametrize(
    "call",
    [
        long_call(300),
        f"<tool_call>{long_call(300)}</tool_call>",
        f"[{', '.join([A] * 10)}]",
        f"```json\n{long_call(300)}\n```",
        f"<function=f>{long_call(300)}</function>",
        f"<|python_start|>[f(x={X!r})]<|python_end|>",
        f"[f(x={X!r}), f(x=22)]",
        f"f(x={X!r}, y=2)",
    ],
)
def test_a_candidate_that_is_longer_is_text(call: str):
    tools = [{"name": name} for name in "af"]
    options: dict[str, Any] = {"tools": tools, "on_unknown_tool": "call"}
    length = len(call)
    text = f"One\n{call}\nTwo"
    whole = extract_in_every_chunking(text, **options)
    assert extract_in_every_chunking(text, limits=Limits(candidate=length + 2), **options) == whole
    assert whole.tools_called
    shorter = extract_in_every_chunking(text, limits=Limits(candidate=length - 1), **options)
    assert not shorter.tools_called
    assert shorter.content == text
    (rejection,) = (one for one in shorter.rejections if one.reason == RejectionReason.TOO_LONG)
    assert rejection.span == (4, 3 + length)
    assert rejection.detail == f"longer than {length - 1} characters"


ANOTHER = f"""f(a='{{"name": "g", "parameters": {{}}}}', b={X!r})"""


@pytest.mark.parametrize(
    ("text", "options", "name"),
    [
        (long_call(300), {}, "a"),
        (f"<tool_call>\n{long_call(300)}", {}, "a"),
        (rf'{{"name": "f\u005f1", "parameters": {{"a": "{X}"}}}}', {}, "f_1"),
        (f'{{"name": "Alice", "age": "{X}"}}', {}, None),
        (ANOTHER, {}, "f"),
        (f"[{ANOTHER}]", {}, "f"),
        (f"<|python_start|>[{ANOTHER}]<|python_end|>", {}, "f"),
        (f"```python\n{ANOTHER}\n```", {}, "f"),
        (f"~~~\n[ {ANOTHER} ]\n~~~", {}, "f"),
        (f"brave_search.call(query='{X}')", {}, "brave_search"),
        (f"<|python_tag|>{ANOTHER}", {}, "f"),
        (f"<|python_tag|>import os\n{ANOTHER}", {}, "code_interpreter"),
        (f"<|python_tag|>print('{X}')", {}, "code_interpreter"),
        (f'<function=f>{{"name": "g", "arguments": "{X}"}}</function>', {}, "f"),
        (rf'{{"name": "f\_", "parameters": {{"a": "{X}"}}}}', {"repair": True}, None),
        (rf'{{"name": "f\ud83d", "parameters": {{"a": "{X}"}}}}', {"repair": True}, None),
    ],
)
def test_of_a_candidate_that_is_longer_the_tool_is_named(text: str, options: dict[str, Any], name: str | None):
    """The first one that it calls, and not what its strings quote."""
    tools = [{"name": "f"}, {"name": "brave_search"}, {"name": "code_interpreter"}]
    first = extract_in_every_chunking(text, tools=tools, limits=Limits(candidate=256), **options).rejections[0]
    assert (first.reason, first.name) == (RejectionReason.TOO_LONG, name)


def test_what_stands_behind_a_candidate_that_is_too_long_is_read():
    text = f"{long_call(300)} {A}"
    extraction = extract_in_every_chunking(text, limits=Limits(candidate=256))
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.content == long_call(300)
    assert extraction.rejections[0].is_attempt
    assert extraction.rejections[0].name == "a"


@pytest.mark.parametrize(
    "echo",
    [
        f'{{"result": {{"page": "{X}", "log": [{A}]}}}}',
        f'[{{"page": "{X}"}}, {A}]',
        f'[{{"page": "{"x" * 244}"}}, oops',  # too long with the brace that tells that it is no call
        f'<function=f>{{"page": "{X}", "log": [{A}]}}</function>',
        f'{{"page": "{X}", "log": [{A}]',
    ],
)
def test_json_that_is_too_long_is_not_searched(echo: str):
    extraction = extract_in_every_chunking(echo, limits=Limits(candidate=256))
    assert extraction.tool_calls == ()
    assert [rejection.reason for rejection in extraction.rejections] == [RejectionReason.TOO_LONG]


def test_a_thought_may_begin_with_any_white_space():
    options: dict[str, Any] = {"starts_reasoning": True, "split_reasoning": True, "limits": Limits(candidate=256)}
    extraction = extract_in_every_chunking(f"{' ' * 300}Is it {A}? </think> No.", **options)
    assert (extraction.tool_calls, extraction.reasoning, extraction.content) == ((), f"Is it {A}?", "No.")


@pytest.mark.parametrize(
    "quotation",
    ["<think>{}</think>", "```js\n{}\n```", "```python\nx = {}\n```", "<!-- {} -->", "~" * 3 + "\nx {}\n" + "~" * 3],
)
def test_quotation_may_be_of_any_length(quotation: str):
    text = f"{quotation.replace('{}', X)}\n{A}"
    extraction = extract_in_every_chunking(text, limits=Limits(candidate=256))
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.rejections == ()
    apart = extract_in_every_chunking(text, limits=Limits(candidate=256), split_reasoning=True)
    assert len(apart.tool_calls) == 1


@pytest.mark.parametrize("opening", "{[")
@pytest.mark.parametrize("tools", [None, [{"name": "a"}]])
def test_a_bracket_before_much_white_space_is_prose(opening: str, tools: list[dict[str, Any]] | None):
    text = f"{opening}{' ' * 300}x {A}"
    assert extract_in_every_chunking(text, limits=Limits(candidate=256), tools=tools).rejections == ()


CODE = [{"name": "code_interpreter", "parameters": {"type": "object", "properties": {"code": {"type": "string"}}}}]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f"[{' ' * 256}{A}, 1]", {"tools": [{"name": "a"}]}),
        (f"[{X}, {A}", {"tools": [{"name": "a"}]}),
        (f"[a{' ' * 300}{A}", {"tools": [{"name": "a"}]}),
        (f"<function=a>{' ' * 256}{A}", {}),
        (f"<tools>[{X}</tools>{A}", {"formats": "all"}),
        (f"<tools>{{{' ' * 300}x</tools>{A}", {"formats": "all"}),
        (f"```json\n{' ' * 250}\n```{A}", {}),
        (
            f"<tool_call>{long_call(300)}</tool_call>\n```json\n{A}\n```\n{{'name': 'a', 'parameters': {{}}}}",
            {"tools": [{"name": "a"}], "repair": True},
        ),
        (f"<|python_tag|>[```{'[' * 220}1<|start_header_id|><|", {"tools": CODE}),
        (f"<|python_tag|>[{',' * 257}", {"tools": CODE}),
    ],
)
def test_at_the_bound_a_stream_breaks_off_where_one_shot_does(text: str, options: dict[str, Any]):
    extract_in_every_chunking(text, limits=Limits(candidate=256), **options)


@pytest.mark.parametrize("element", [f'"{X}"', f'{{"y": "{X}"}}'])
def test_an_array_that_is_no_call_may_be_of_any_length(element: str):
    text = f'[{{"x": 1}}, {element}, {A}] {A}'
    extract_in_every_chunking(f"<tool_call>{text}</tool_call>", limits=Limits(candidate=256))
    extraction = extract_in_every_chunking(text, limits=Limits(candidate=256))
    assert [rejection.reason for rejection in extraction.rejections] == [RejectionReason.NOT_A_CALL]
    assert len(extraction.tool_calls) == 1


def test_a_stream_holds_back_no_more_than_a_candidate_may_have():
    stream = Extractor(limits=Limits(candidate=1000)).stream()
    text = '{"name": "a", "parameters": {"x": "' + "x" * 100_000
    released = 0
    for fed, char in enumerate(text, 1):
        released += sum(len(event.text) for event in stream.feed(char) if isinstance(event, TextDelta))
        assert fed - released <= 1001


def test_calls_beyond_the_first_so_many_are_text():
    extraction = extract_in_every_chunking(f"{A}; {A}; {A} and {A}", limits=Limits(calls=2))
    assert len(extraction.tool_calls) == 2
    assert extraction.content == f"{A} and {A}"
    found = [(one.span, one.reason, one.name, one.detail) for one in extraction.rejections]
    reason = RejectionReason.TOO_MANY, "a", "beyond the first 2 calls"
    assert found == [((66, 97), *reason), ((102, 133), *reason)]
    assert extraction.rejections[0].is_attempt


def test_an_array_gives_all_of_its_calls_or_none():
    extraction = extract_in_every_chunking(f"[{A}, {A}] {A}", limits=Limits(calls=1))
    assert [call.span for call in extraction.tool_calls] == [(67, 98)]


def test_rejections_beyond_the_first_so_many_are_not_listed():
    extraction = extract_in_every_chunking(
        f'{{"x": 1}} {{"y": 2}} {{"z": 3}} {{"u": 4}} {A}', limits=Limits(rejections=2)
    )
    assert [rejection.reason.value for rejection in extraction.rejections] == ["not_a_call", "not_a_call", "too_many"]
    assert extraction.rejections[2].span == (18, 26)
    assert extraction.rejections[2].detail == "beyond the first 2 rejections, and no others are listed"
    assert extraction.tools_called


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        (10, TypeError, "limits are Limits of whole numbers, such as Limits(calls=10); not 10"),
        ((1, 2, 3, 4), TypeError, "not (1, 2, 3, 4)"),
        ((127, 300, 1, 1, 1), TypeError, "such as Limits(calls=10); not (127, 300, 1, 1, 1)"),
        (Limits(calls=1.5), TypeError, "whole numbers"),  # type: ignore[arg-type]
        (Limits(calls=True), TypeError, "whole numbers"),
        (Limits(calls=0), ValueError, "limits: calls is at least 1, not 0"),
        (Limits(candidate=255), ValueError, "limits: candidate is at least 256, not 255"),
        (Limits(depth=128), ValueError, "limits: depth is at most 127, not 128"),
    ],
)
def test_limits_are_checked(limits: Any, error: type[Exception], message: str):  # noqa: ANN401 - as users give them
    with pytest.raises(error) as raised:
        Extractor(limits=limits)
    assert message in str(raised.value)


def test_limits_are_copied_with_the_extractor():
    extractor = Extractor(limits=Limits(calls=1))
    for other in (copy.deepcopy(extractor), pickle.loads(pickle.dumps(extractor))):  # noqa: S301 - our own
        assert len(other.extract(f"{A} {A}").tool_calls) == 1


def test_without_its_content_a_stream_takes_no_memory():
    stream = Extractor(split_reasoning=True).stream(keep_content=False)
    piece = "Prose with a {brace} in it, and [1]. " * 20
    lengths = {TextDelta: 0, ReasoningDelta: 0}

    def feed(times: int) -> None:
        for _ in range(times):
            for event in stream.feed(piece):
                assert isinstance(event, TextDelta | ReasoningDelta)
                lengths[type(event)] += len(event.text)

    feed(50)
    tracemalloc.start()
    try:
        feed(1000)
        stream.feed("<think>")
        feed(1000)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 20_000
    assert lengths[TextDelta] == 1050 * len(piece) - 1
    assert lengths[ReasoningDelta] == 1000 * len(piece) - 1


@pytest.mark.parametrize(
    ("before", "piece", "most"),
    [("", "[", 2), ("x", "<|eot_id|>", 4), ("", "<|eot_id|>", 0.1), ("x", " ", 2)],
)
def test_of_what_may_still_vanish_a_stream_keeps_a_byte_or_two_a_character(before: str, piece: str, most: float):
    stream, many = Extractor().stream(keep_content=False), 200_000
    stream.feed(before)
    tracemalloc.start()
    try:
        for _ in range(100):
            stream.feed(piece * (many // len(piece) // 100))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < most * many


def test_a_stream_keeps_its_text_once():
    """Thousands of small pieces would take many times their characters."""
    stream, text = Extractor().stream(), "Prose, much of it. " * 20_000
    tracemalloc.start()
    try:
        for start in range(0, len(text), 4):
            stream.feed(text[start : start + 4])
        streamed, _ = tracemalloc.get_traced_memory()
        stream.flush()
        assert stream.extraction.content == text
        ended, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert streamed < 1.8 * len(text)
    assert ended < 1.2 * len(text)


@pytest.mark.parametrize(
    ("arguments", "made", "beyond"),
    [
        ({"a": [1]}, 2, None),
        ({"a": [[1]]}, 2, (RejectionReason.TOO_DEEP, "arguments nested deeper than 2 levels")),
        ({"a": "x" * 247}, 2, None),
        ({"a": "x" * 248}, 2, (RejectionReason.TOO_LONG, "longer than 256 characters")),
        ({"a": 10**300}, 2, (RejectionReason.TOO_LONG, "longer than 256 characters")),
        ({}, 3, (RejectionReason.TOO_MANY, "beyond the first 3 calls")),
        ({(1, 2): 3}, 2, None),
    ],
)
def test_a_call_that_no_extractor_read_is_held_to_the_same_bounds(
    arguments: Any,  # noqa: ANN401 - on purpose
    made: int,
    beyond: tuple[RejectionReason, str] | None,
):
    assert excess(arguments, Limits(depth=2, candidate=256, calls=3), made) == beyond


@pytest.mark.parametrize("given", [Limits(candidate=300), [127, 300], (127, 300, 1000, 1000)])
def test_limits_that_were_stored_are_loaded(given: object):
    assert loaded_limits(given) == Limits(candidate=300)


@pytest.mark.parametrize("given", [[127, 300, 1, 1, 1], "300", None])
def test_what_are_no_limits_is_an_error(given: object):
    with pytest.raises(TypeError):
        loaded_limits(given)
