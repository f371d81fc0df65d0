"""Rule 14: depth, length, calls and rejections are limited, and a stream never holds back more than a call may have."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from typing import Any

import pytest

from chunkings import extract_in_every_chunking, read
from llama3_tools import Extractor, Limits, ReasoningDelta, RejectionReason, TextDelta, ToolCallReady, extract
from llama3_tools.limits import excess, loaded_limits

A = '{"name": "a", "parameters": {}}'


def long_call(length: int) -> str:
    """Write a call of so many characters."""
    call = '{"name": "a", "parameters": {"x": ""}}'
    return f"{call[:-3]}{'x' * (length - len(call))}{call[-3:]}"


@pytest.mark.parametrize(
    ("arguments", "depth", "is_call"),
    [
        pytest.param("{}", 1, True, id="none"),
        pytest.param('{"x": 1}', 1, True, id="one level"),
        pytest.param('{"x": []}', 1, False, id="an array in one level"),
        pytest.param('{"x": {}}', 1, False, id="an object in one level"),
        pytest.param('{"x": {"y": "[{"}}', 2, True, id="brackets in a string"),
        pytest.param('{"x": {"y": [1]}}', 2, False, id="an array in two levels"),
        pytest.param(r'{"x": "\"[[", "y": "{{\\", "z": [1]}', 2, True, id="escaped quotes before brackets, an array"),
        pytest.param(
            r'{"x": "\"]]", "y": "}}\\", "z": [[1]]}', 2, False, id="escaped quotes before brackets, two arrays"
        ),
        pytest.param('{"x": "é[{", "y": [1]}', 2, True, id="a letter beyond ASCII"),
        pytest.param('{"x": [[[[[[1]]]]]], "y": [[[[[[[1]]]]]]]}', 8, True, id="eight levels"),
        pytest.param('{"x": [[[[[[1]]]]]], "y": [[[[[[[1]]]]]]]}', 7, False, id="eight levels in seven"),
        pytest.param(r'"{\"x\": [1]}"', 2, True, id="written as a string"),
        pytest.param(r'"{\"x\": [[1]]}"', 2, False, id="written as a string, too deep"),
    ],
)
@pytest.mark.parametrize("shape", ['{"name": "f", "parameters": %s}', '[{"name": "f", "parameters": %s, "id": 1}]'])
def test_arguments_nested_deeper_are_text(shape: str, arguments: str, depth: int, is_call: bool):
    text = f"{shape % arguments} {A}"
    extraction = extract_in_every_chunking(text, limits=Limits(max_depth=depth))
    assert [call.name for call in extraction.tool_calls] == ["f", "a"][not is_call :]
    if not is_call:
        (rejection,) = extraction.rejections
        assert (rejection.reason, rejection.name) == (RejectionReason.TOO_DEEP, "f")
        assert rejection.detail.endswith(f"arguments nested deeper than {depth} levels")
        assert extraction.content == shape % arguments


@pytest.mark.parametrize("text", ["[f(x=[1])]", '<function=f>{"x": [1]}</function>', "f(x=[1])"])
def test_the_depth_is_the_same_for_every_form(text: str):
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"x": {}}}}]
    assert extract(text, tools=tools, limits=Limits(max_depth=2)).tools_called
    (rejection,) = extract_in_every_chunking(text, tools=tools, limits=Limits(max_depth=1)).rejections
    assert rejection.reason == RejectionReason.TOO_DEEP


X = "x" * 300
TOOLS = [{"name": name} for name in ("a", "f", "brave_search", "code_interpreter")]
LIMIT = Limits(max_call_length=256)

BARE = {
    "JSON": long_call(300),
    "pythonic": f"f(x={X!r}, y=2)",
    "pythonic, built-in": f"brave_search.call(query={X!r})",
    "OpenAI's": f'{{"type": "function", "function": {long_call(300)}}}',
}


@pytest.mark.parametrize("call", BARE.values(), ids=BARE)
def test_a_call_that_is_longer_is_text(call: str):
    length = len(call)
    text = f"One\n{call}\nTwo"
    assert extract_in_every_chunking(text, tools=TOOLS, limits=Limits(max_call_length=length)).tools_called
    shorter = extract_in_every_chunking(text, tools=TOOLS, limits=Limits(max_call_length=length - 1))
    assert not shorter.tools_called
    assert shorter.content == text
    (rejection,) = shorter.rejections
    assert (rejection.reason, rejection.span) == (RejectionReason.TOO_LONG, (4, 3 + length))
    assert rejection.detail == f"longer than {length - 1} characters"


WRAPPED = {
    "a tag": ("<tool_call>", [long_call(250)], "</tool_call>"),
    "a list": ("[", [A] * 10, "]"),
    "a fence": ("```json\n", [long_call(250)], "\n```"),
    "a pythonic list": ("[", [f"f(x='{'x' * 200}')", "f(x=22)", f"f(x='{'x' * 200}')"], "]"),
    "tokens of Llama 4": ("<|python_start|>", [f"[f(x='{'x' * 230}')]"], "<|python_end|>"),
}


@pytest.mark.parametrize(("opening", "calls", "closing"), WRAPPED.values(), ids=WRAPPED)
def test_a_wrapper_that_is_longer_breaks_and_its_calls_come(opening: str, calls: list[str], closing: str):
    text = f"One\n{opening}{', '.join(calls)}{closing}\nTwo"
    extraction = extract_in_every_chunking(text, tools=TOOLS, limits=LIMIT)
    assert len(extraction.tool_calls) == len(calls)
    assert (extraction.content or "").startswith(f"One\n{opening[0]}")
    assert extract_in_every_chunking(text, tools=TOOLS).content == "One Two"


def test_arguments_that_are_too_long_with_their_tag_are_none():
    arguments = f'{{"x": "{"x" * 247}"}}'
    assert len(arguments) == LIMIT.max_call_length
    text = f"<function=f>{arguments}</function>"
    extraction = extract_in_every_chunking(text, tools=TOOLS, limits=LIMIT)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [str(one.reason) for one in extraction.rejections] == ["not_a_call"]


def test_a_call_longer_than_the_limit_is_no_call_in_a_wrapper_either():
    text = f"[f(x={X!r})]"
    extraction = extract_in_every_chunking(text, tools=TOOLS, limits=LIMIT)
    assert extraction.tool_calls == ()
    assert [rejection.reason for rejection in extraction.rejections] == [RejectionReason.TOO_LONG]
    assert extraction.content == text


ANOTHER = f"""f(a='{{"name": "g", "parameters": {{}}}}', b={X!r})"""


@pytest.mark.parametrize(
    ("text", "options", "name"),
    [
        pytest.param(long_call(300), {}, "a", id="JSON"),
        pytest.param(f"<tool_call>\n{long_call(300)}", {}, "a", id="a tag"),
        pytest.param(rf'{{"name": "f\u005f1", "parameters": {{"a": "{X}"}}}}', {}, "f_1", id="an escape"),
        pytest.param(f'{{"page": "{X}", "name": "f", "parameters": {{}}}}', {}, None, id="the name after the limit"),
        pytest.param(ANOTHER, {}, "f", id="pythonic"),
        pytest.param(f"[{ANOTHER}]", {}, "f", id="a pythonic list"),
        pytest.param(f"<|python_start|>[{ANOTHER}]<|python_end|>", {}, "f", id="tokens of Llama 4"),
        pytest.param(f"```python\n{ANOTHER}\n```", {}, "f", id="a fence"),
        pytest.param(f"brave_search.call(query='{X}')", {}, "brave_search", id="a built-in call"),
        pytest.param(f"<|python_tag|>{ANOTHER}", {}, "f", id="after the token"),
        pytest.param(f"<|python_tag|>import os\n{ANOTHER}", {}, "code_interpreter", id="code that calls"),
        pytest.param(f"<|python_tag|>print('{X}')", {}, "code_interpreter", id="code"),
        pytest.param(f'<function=f>{{"name": "g", "x": "{X}"}}</function>', {}, "f", id="a named tag"),
    ],
)
def test_of_a_candidate_that_is_longer_the_tool_is_named(text: str, options: dict[str, Any], name: str | None):
    """The one that it calls, and not one that its strings quote."""
    first = extract_in_every_chunking(text, tools=TOOLS, limits=LIMIT, **options).rejections[0]
    assert (first.reason, first.name) == (RejectionReason.TOO_LONG, name)


def test_what_stands_after_a_candidate_that_is_too_long_is_read():
    text = f"{long_call(300)} {A}"
    extraction = extract_in_every_chunking(text, limits=LIMIT)
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.content == long_call(300)
    assert extraction.rejections[0].is_attempt
    assert extraction.rejections[0].name == "a"


@pytest.mark.parametrize(
    "echo",
    [
        pytest.param(f'{{"result": {{"page": "{X}", "log": [{A}]}}}}', id="an object"),
        pytest.param(f'<function=f>{{"page": "{X}", "log": [{A}]}}</function>', id="arguments"),
        pytest.param(f'{{"page": "{X}", "log": [{A}]', id="an open object"),
        pytest.param(f'[{{"page": "{X}", "log": [{A}]}}]', id="in an array"),
    ],
)
def test_json_that_is_too_long_is_not_searched(echo: str):
    extraction = extract_in_every_chunking(echo, limits=LIMIT)
    assert extraction.tool_calls == ()
    assert [rejection.reason for rejection in extraction.rejections] == [RejectionReason.TOO_LONG]


def test_a_thought_may_begin_with_any_white_space():
    options: dict[str, Any] = {"starts_reasoning": True, "split_reasoning": True, "limits": Limits(max_call_length=256)}
    extraction = extract_in_every_chunking(f"{' ' * 300}Is it {A}? </think> No.", **options)
    assert (extraction.tool_calls, extraction.reasoning, extraction.content) == ((), f"Is it {A}?", "No.")


@pytest.mark.parametrize(
    "quotation",
    ["<think>{}</think>", "```js\n{}\n```", "```python\nx = {}\n```", "> {}", "<tool_response>{}</tool_response>"],
)
def test_quotation_may_be_of_any_length(quotation: str):
    text = f"{quotation.replace('{}', X)}\n{A}"
    extraction = extract_in_every_chunking(text, limits=LIMIT)
    assert [call.name for call in extraction.tool_calls] == ["a"]
    assert extraction.rejections == ()
    apart = extract_in_every_chunking(text, limits=LIMIT, split_reasoning=True)
    assert len(apart.tool_calls) == 1


@pytest.mark.parametrize("opening", "{[")
@pytest.mark.parametrize("tools", [None, [{"name": "a"}]])
def test_a_bracket_before_much_white_space_is_prose(opening: str, tools: list[dict[str, Any]] | None):
    text = f"{opening}{' ' * 300}x {A}"
    assert extract_in_every_chunking(text, limits=Limits(max_call_length=256), tools=tools).rejections == ()


NEAR_THE_LIMIT = {
    "a token closes": '<function=a>{"x": "PAD"}<|eom_id|>',
    "a header closes": '<tool_call>{"name": "a", "x": "PAD"}<|start_header_id|>assistant<|end_header_id|></s>',
    "two tokens close": '```json\n<function=a>{"x": "PAD"}<|im_end|><|eot_id|>',
    "text follows": '<function=a>{"x": "PAD"}Observation: ',
    "another call follows": 'a(x="PAD")a(x=1)',
    "a list follows": '<tool_call>a(x="PAD");[',
    "a fence follows": '[a(x="PAD")```,',
    "bold does not close": '**a(x="PAD")>\n\n]',
    "white space": "<function=a>;PAD</function>",
    "more white space": '<tool_call>PAD{"name": "a", "parameters": {}}<|python_tag|>',
}


@pytest.mark.parametrize("text", NEAR_THE_LIMIT.values(), ids=NEAR_THE_LIMIT)
@pytest.mark.parametrize("complete", [True, False])
def test_what_stands_beyond_the_limit_decides_nothing_in_a_wrapper(text: str, *, complete: bool):
    padding = "\n" if text.count('"PAD') == 0 else "p"
    extractor = Extractor(tools=[{"name": "a"}], limits=Limits(max_call_length=256))
    for length in range(246, 272):
        written = text.replace("PAD", padding * (length - len(text) + 3))
        whole = extractor.extract(written, complete=complete)
        for size in (1, 3):
            chunks = [written[start : start + size] for start in range(0, len(written), size)]
            assert read(chunks, extractor, complete=complete)[1] == whole, written


@pytest.mark.parametrize("text", ["`[a(x=1)]`PAD\nDone.", "a(x=1)PAD\nDone.", "**a(x=1)**PAD", "<tool_call>PADa(x=1)"])
def test_white_space_to_beyond_the_limit_breaks_a_wrapper(text: str):
    extractor = Extractor(tools=[{"name": "a"}], limits=Limits(max_call_length=2048))
    written = text.replace("PAD", " " * 5000)
    whole = extractor.extract(written)
    assert not any(call.format == "tool_call" for call in whole.tool_calls)
    for size in (1, 7, 3000):
        chunks = [written[start : start + size] for start in range(0, len(written), size)]
        assert read(chunks, extractor)[1] == whole


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
    extract_in_every_chunking(text, limits=Limits(max_call_length=256), **options)


@pytest.mark.parametrize(
    ("token", "longest"),
    [("<|eom_id|>", 247), ("<|eom_id", 248), ("<|start_header_id|>assistant<|end_header_id|>", 211), ("", 256)],
)
@pytest.mark.parametrize("length", [211, 212, 247, 248, 249, 256, 257])
def test_code_at_the_bound_is_a_call_or_too_long_in_every_chunking(length: int, token: str, longest: int):
    text = f"<|python_tag|>{'x' * length}{token}"  # where it ends has to be known one character after the bound
    extraction = extract_in_every_chunking(text, limits=Limits(max_call_length=256), tools=CODE)
    assert len(extraction.tool_calls) == (length <= longest)
    assert [(str(one.reason), one.name, one.is_attempt) for one in extraction.rejections] == (
        [] if length <= longest else [("too_long", "code_interpreter", True)]
    )


def held_back(extractor: Extractor, chunks: list[str]) -> str:
    """Return what a stream holds back after the chunks: what comes out of it as it breaks off."""
    stream = extractor.stream()
    for chunk in chunks:
        stream.feed(chunk)
    return "".join(event.text for event in stream.abort() if isinstance(event, TextDelta))


ENDLESS = {
    "a call": ('{"name": "a", "parameters": {"x": "', "x"),
    "an object": ('{"a": [', "1, "),
    "a bracket": ("[", "["),
    "a list of calls": ("[", f"{A}, "),
    "a tag of calls": ("<tool_call>", f"{A}\n"),
    "a fence": ("```json\n", f"{A}\n"),
    "a tag without calls": ("<tool_call>", "\n"),
    "a pythonic call": ("f(a='", "x"),
    "a pythonic list": ("[f(a=1), ", "f(a=2), "),
    "a declared name and prose": ("search(the web for it\n", "prose without brackets "),  # F2
    "a name and a parenthesis": ("f(", "("),
    "a built-in call": ('brave_search.call(query="', "x"),
    "code": ("<|python_tag|>import os\n", "print(1)\n"),
    "code in a fence": ("<|python_tag|>```python\n", "print(1)\n"),
    "a dict of Python": ("{'name': 'f', 'arguments': {'x': '", "x"),
    "a named tag": ('<function=f>{"x": "', "x"),
    "a name in a tag": ("<function=", "f"),
    "a header": ("<|start_header_id|>", "x"),
    "Functionary's": ('f\n{"x": "', "x"),
    "backticks": ("`", "`"),
    "stars": ("*", "*"),
    "a span": ("`", f"{A}"),
    "a code span": ("`", "x"),
    "delimiters after a call": (A, "; ,"),
    "an envelope": ('{"message": "', "x"),
    "malformed JSON to repair": ('{"name": "f", "parameters": {"x": tru, "y": "', "x"),
}


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
@pytest.mark.parametrize(("head", "piece"), ENDLESS.values(), ids=ENDLESS)
def test_a_stream_never_holds_back_more_than_a_call_may_have(head: str, piece: str, size: int):
    extractor = Extractor([*TOOLS, {"name": "search"}], limits=LIMIT, repair=True)
    text = head + piece * (3000 // len(piece))
    for end in (250, 300, 1000, 2999):
        chunks = [text[start : min(start + size, end)] for start in range(0, end, size)]
        assert len(held_back(extractor, chunks).strip()) <= 256
    stream = extractor.stream()
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
    after = [event.text for event in stream.feed("\nx\n\nx") if isinstance(event, TextDelta)]
    assert len("".join("".join(after).split())) <= 256 + len("xx")


def test_a_token_that_may_begin_at_the_limit_ends_no_code_that_flows():
    stream = Extractor([{"name": "code_interpreter"}], limits=LIMIT).stream()
    for text in (f"<|python_tag|>{'x' * 256}<", " b"):
        stream.feed(text)
    stream.flush()
    assert stream.extraction.content == f"{'x' * 256}< b"
    assert [str(one.reason) for one in stream.extraction.rejections] == ["too_long"]


def test_a_call_after_a_declared_name_in_prose_comes_at_once():  # F2
    call = '{"name": "search", "parameters": {}}'
    text = f"search(the web for it\n{'prose without brackets ' * 50}{call} and more"
    extractor = Extractor([{"name": "search"}], limits=Limits(max_call_length=2000))
    assert [found.name for found in extractor.extract(text).tool_calls] == ["search"]
    stream, ready_at = extractor.stream(), None
    for start in range(0, len(text), 4):
        if any(isinstance(event, ToolCallReady) for event in stream.feed(text[start : start + 4])):
            ready_at = start + 4
    assert ready_at is not None
    assert ready_at < text.index(" and more") + 4


@pytest.mark.parametrize("length", range(240, 258))
@pytest.mark.parametrize(
    ("opening", "head", "closing"),
    [
        pytest.param("<tool_call>", '{"name": "f", "parameters": {"x": "', '",}}</tool_call>', id="a tag"),
        pytest.param("<function=f>", '{"x": "', '",}</function>', id="a tag with a name"),
        pytest.param("<tool_call>\n[", '{"name": "f", "parameters": {"x": "', '",}}, x', id="a list in a tag"),
    ],
)
def test_what_may_be_repaired_in_a_tag_reads_alike_around_the_limit(opening: str, head: str, closing: str, length: int):
    text = f"{opening}{head}{'x' * (length - len(head) - 3)}{closing}"
    extract_in_every_chunking(text, is_sampled=True, tools=[{"name": "f"}], repair=True, limits=LIMIT)


def test_what_may_be_repaired_is_as_long_wherever_it_stands():
    broken = f'{{"name": "f", "parameters": {{"x": "{"x" * 200}",}}}}'
    text = f"{'Well, well. ' * 40}{broken}"
    (call,) = extract_in_every_chunking(text, is_sampled=True, tools=TOOLS, repair=True, limits=LIMIT).tool_calls
    assert call.arguments == {"x": "x" * 200}


def test_calls_beyond_the_first_so_many_are_text():
    extraction = extract_in_every_chunking(f"{A}; {A}; {A} and {A}", limits=Limits(max_calls=2))
    assert len(extraction.tool_calls) == 2
    assert extraction.content == f"{A} and {A}"
    found = [(one.span, one.reason, one.name, one.detail) for one in extraction.rejections]
    reason = RejectionReason.TOO_MANY, "a", "beyond the first 2 calls"
    assert found == [((66, 97), *reason), ((102, 133), *reason)]
    assert extraction.attempts == ()


def test_code_beyond_them_is_text_too():
    text = "<|python_tag|>print(1)<|eom_id|><|python_tag|>print(2)<|eom_id|>"
    extraction = extract_in_every_chunking(text, limits=Limits(max_calls=1), tools=CODE)
    assert [call.arguments for call in extraction.tool_calls] == [{"code": "print(1)"}]
    assert extraction.content == "print(2)"


@pytest.mark.parametrize("form", ["<tool_call>{}</tool_call>", "[{}]", "```json\n{}\n```"])
def test_a_wrapper_may_hold_as_many_calls_as_there_may_be(form: str):
    extraction = extract_in_every_chunking(form.replace("{}", f"{A}\n{A}"), limits=Limits(max_calls=2))
    assert (len(extraction.tool_calls), extraction.content) == (2, None)


@pytest.mark.parametrize("form", ["<tool_call>{}</tool_call>", "[{}]", "```json\n{}\n```"])
def test_a_wrapper_around_calls_beyond_them_is_text_too(form: str):
    wrapped = form.replace("{}", A)
    extraction = extract_in_every_chunking(f"{A}\n{wrapped}", limits=Limits(max_calls=1))
    assert len(extraction.tool_calls) == 1
    assert extraction.content == wrapped
    assert [(one.reason, one.name) for one in extraction.rejections] == [(RejectionReason.TOO_MANY, "a")]


def test_a_tag_around_an_envelope_beyond_them_is_text_too():
    text = f'<tool_call>{{"tool_calls": [{", ".join([A] * 5)}]}}</tool_call>'
    extraction = extract_in_every_chunking(text, limits=Limits(max_calls=4))
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [one.reason for one in extraction.rejections] == [RejectionReason.TOO_MANY]


def test_rejections_beyond_the_first_so_many_are_not_listed():
    extraction = extract_in_every_chunking(
        f'{{"x": 1}} {{"y": 2}} {{"z": 3}} {{"u": 4}} {A}', limits=Limits(max_rejections=2)
    )
    assert [rejection.reason.value for rejection in extraction.rejections] == ["not_a_call", "not_a_call", "too_many"]
    assert extraction.rejections[2].span == (18, 26)
    assert extraction.rejections[2].detail == "beyond the first 2 rejections, and no others are listed"
    assert extraction.tools_called


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        (10, TypeError, "limits are Limits of whole numbers, such as Limits(max_calls=10); not 10"),
        ((1, 2, 3, 4), TypeError, "not (1, 2, 3, 4)"),
        ((127, 300, 1, 1, 1), TypeError, "such as Limits(max_calls=10); not (127, 300, 1, 1, 1)"),
        (Limits(max_calls=1.5), TypeError, "whole numbers"),  # type: ignore[arg-type]
        (Limits(max_calls=True), TypeError, "whole numbers"),
        (Limits(max_calls=0), ValueError, "limits: max_calls is at least 1, not 0"),
        (Limits(max_call_length=255), ValueError, "limits: max_call_length is at least 256, not 255"),
        (Limits(max_depth=128), ValueError, "limits: max_depth is at most 127, not 128"),
    ],
)
def test_limits_are_checked(limits: Any, error: type[Exception], message: str):  # noqa: ANN401 - as users give them
    with pytest.raises(error) as raised:
        Extractor(limits=limits)
    assert message in str(raised.value)


def test_limits_are_copied_with_the_extractor():
    extractor = Extractor(limits=Limits(max_calls=1))
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
    assert used < 200_000  # of 1.5 million characters
    assert lengths[TextDelta] == 1050 * len(piece) - 1
    assert lengths[ReasoningDelta] == 1000 * len(piece) - 1


@pytest.mark.parametrize(
    ("before", "piece", "most"),
    [("", "[", 2), ("x", "<|eot_id|>", 4), ("", "<|eot_id|>", 0.1), ("x", " ", 2)],
)
def test_of_what_may_still_vanish_a_stream_keeps_a_byte_or_two_a_character(before: str, piece: str, most: float):
    stream, many = Extractor().stream(keep_content=False), 20_000
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
    assert streamed < 2 * len(text)
    assert ended < 1.2 * len(text)


@pytest.mark.parametrize(
    ("arguments", "made", "beyond"),
    [
        pytest.param({"a": [1]}, 2, None, id="deep enough"),
        pytest.param(
            {"a": [[1]]}, 2, (RejectionReason.TOO_DEEP, "arguments nested deeper than 2 levels"), id="too deep"
        ),
        pytest.param({"a": "x" * 247}, 2, None, id="long enough"),
        pytest.param({"a": "x" * 248}, 2, (RejectionReason.TOO_LONG, "longer than 256 characters"), id="too long"),
        pytest.param(
            {"a": 10**300}, 2, (RejectionReason.TOO_LONG, "longer than 256 characters"), id="a number that is too long"
        ),
        pytest.param({}, 3, (RejectionReason.TOO_MANY, "beyond the first 3 calls"), id="too many"),
        pytest.param({(1, 2): 3}, 2, None, id="a name that is a tuple"),
    ],
)
def test_a_call_that_no_extractor_read_is_held_to_the_same_bounds(
    arguments: Any,  # noqa: ANN401 - on purpose
    made: int,
    beyond: tuple[RejectionReason, str] | None,
):
    assert excess(arguments, Limits(max_depth=2, max_call_length=256, max_calls=3), made) == beyond


@pytest.mark.parametrize("given", [Limits(max_call_length=300), [127, 300], (127, 300, 1000, 1000)])
def test_limits_that_were_stored_are_loaded(given: object):
    assert loaded_limits(given) == Limits(max_call_length=300)


@pytest.mark.parametrize("given", [[127, 300, 1, 1, 1], "300", None])
def test_what_are_no_limits_is_an_error(given: object):
    with pytest.raises(TypeError):
        loaded_limits(given)


@pytest.mark.parametrize("length", [230, 300])
@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>f(a=1) x",
        "<tool_call> f(a=1)</tool_call>",
        '<tool_call>{"name": "f", "parameters": {}} </tool_call>',
        "[f(a=1) ]",
        "f(a=1) ",
        "f(a=1) \nx",
        "- **f(a=1)** ",
    ],
)
def test_white_space_in_a_wrapper_counts(text: str, length: int):
    before, _, after = text.rpartition(" ")
    text = f"{before}{' ' * length}{after}"
    extract_in_every_chunking(text, is_sampled=True, tools=[{"name": "f"}], limits=Limits(max_call_length=256))


@pytest.mark.parametrize("length", [1, 79, 81, 200])
def test_however_much_white_space_stands_between_elements_of_data(length: int):
    extract_in_every_chunking(f"[{{}},{' ' * length}{A}]", is_sampled=True)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_what_may_be_repaired_is_held_back_up_to_the_limit(size: int):
    text = f'{{"name":"f","parameters":{{"a":True,"x":"{"and more " * 99}'
    stream = Extractor(tools=[{"name": "f"}], repair=True, limits=Limits(max_call_length=256)).stream()
    released = 0
    for start in range(0, len(text), size):
        chunk = text[start : start + size]
        released += sum(len(event.text) for event in stream.feed(chunk) if isinstance(event, TextDelta))
        assert start + len(chunk) - released <= 256 + size
