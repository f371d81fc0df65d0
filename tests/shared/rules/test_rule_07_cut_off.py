"""Rule 7: what is cut off is not called: by the end of the output, by a limit, or as the stream broke off."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from chunkings import chunkings, extract_in_every_chunking
from llama3_tools import Extractor, StreamStateError, TextDelta, ToolCallReady

CALL = '{"name": "ok", "parameters": {"q": "x"}}'
INNER = '{"name": "inner", "parameters": {}}'
TOOLS = [{"name": name} for name in ("ok", "f", "code_interpreter")]


@pytest.mark.parametrize("end", range(1, len(CALL)))
def test_an_output_that_ends_inside_a_call_gives_no_call(end: int):
    extraction = extract_in_every_chunking(f"{INNER} and {CALL[:end]}", is_sampled=True)
    assert [call.name for call in extraction.tool_calls] == ["inner"]
    assert extraction.content == f"and {CALL[:end].rstrip()}"
    assert [str(rejection.reason) for rejection in extraction.rejections] == (["truncated"] if end > 1 else [])


@pytest.mark.parametrize("end", range(2, len(CALL)))
@pytest.mark.parametrize("opening", ["[", "<tool_call>", "```json\n"], ids=["list", "tag", "fence"])
def test_a_complete_call_before_it_counts_in_a_wrapper_too(opening: str, end: int):
    extraction = extract_in_every_chunking(f"{opening}{INNER}\n{CALL[:end]}", is_sampled=True)
    assert [call.name for call in extraction.tool_calls] == ["inner"]
    assert [str(one.reason) for one in extraction.rejections] == ["truncated"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param('{"name": "ok", "parameters": {"q": "x', "ok", id="JSON"),
        pytest.param('{"arguments": {"q": "x', None, id="the arguments first"),
        pytest.param('<function=f>{"q": "x', "f", id="a named tag"),
        pytest.param('<tool_call>{"name": "ok", "arg', "ok", id="a tag"),
        pytest.param("[f(q='x', n=", "f", id="a pythonic list"),
        pytest.param("f(q='x', n=", "f", id="a pythonic line"),
        pytest.param('<|python_tag|>f.call(q="x', "f", id="a built-in call"),
        pytest.param("<|python_tag|>print('x", "code_interpreter", id="code"),
        pytest.param("{'name': 'f', 'arguments': {'q': 'x", "f", id="a dict of Python"),
        pytest.param('f\n{"q": "x', "f", id="Functionary's"),
    ],
)
def test_what_is_cut_off_is_an_attempt_that_names_its_tool(text: str, name: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert extraction.tool_calls == ()
    (attempt,) = extraction.attempts
    assert (str(attempt.reason), attempt.name) == ("truncated", name)


def test_what_an_open_string_swallowed_is_not_searched_at_the_end():
    text = '{"name": "write", "parameters": {"text": "use <function=f>{}</function>'
    extraction = extract_in_every_chunking(text)
    assert extraction.content == text
    (rejection,) = extraction.rejections
    assert (str(rejection.reason), rejection.name) == ("truncated", "write")


IN_A_STRING = {
    "of a dict of Python": "{'name': 'ok', 'parameters': {'q': 'Mail: %s and",
    "of one in a tag": "<tool_call>{'name': 'ok', 'parameters': {'q': 'Mail: %s and",
    "of JSON": '{"name": "ok", "parameters": {"q": "Mail: \\"%s and',
}


@pytest.mark.parametrize("text", IN_A_STRING.values(), ids=IN_A_STRING)
def test_a_call_in_a_string_that_is_cut_off_is_not_called(text: str):
    for options in ({}, {"tools": TOOLS}, {"tools": TOOLS, "repair": True}):
        assert not extract_in_every_chunking(text % INNER, **options).tools_called


NOT_CLOSED = [
    "<tool_call>[ok()]\nDone\n",
    "[ok(), x,",
    "[ok(),\nDone;",
    "[ok()é\n",
    "<tool_call>ok()\n" + "x" * 70,
    "[ok() <tool_call>,x",
    '[ok()ok(q="")<function=ok>,{',
    f"```python\n{CALL}\nok()\n{'x' * 70}",
]


@pytest.mark.parametrize("text", NOT_CLOSED)
def test_what_follows_a_call_after_a_limit_reads_alike_in_every_chunking(text: str):
    extract_in_every_chunking(text, tools=TOOLS, complete=False)


@pytest.mark.parametrize("end", ["", "\\", "\\u00"])
def test_a_long_call_that_is_cut_off_is_text_once(end: str):
    text = f'One {{"name": "f", "parameters": {{"a": "{"x" * 700}{end}'
    extraction = extract_in_every_chunking(text, is_sampled=True)
    assert (extraction.content, extraction.tool_calls) == (text, ())


OPEN = {
    "a tag": (f"<tool_call>{CALL}", ["ok"], "<tool_call>"),
    "a tag, its closing cut off": (f"<tool_call>{CALL}</tool_c", ["ok"], "<tool_call> </tool_c"),
    "a list": (f"[{CALL}", ["ok"], "["),
    "a list that goes on": (f"[{CALL},", ["ok"], "["),
    "a fence": (f"```json\n{CALL}\n", ["ok"], "```json"),
    "a fence, its closing cut off": (f"```json\n{CALL}\n``", ["ok"], "```json ``"),
    "a fence of Python, its closing cut off": ("```python\nf(a=1)\n``", [], "```python\nf(a=1)\n``"),
    "a named tag": ('<function=f>{"a": 1}', [], '<function=f>{"a": 1}'),
    "a pythonic list": ("[f(a=1)", [], "[f(a=1)"),
    "code": ("<|python_tag|>print(1)", [], "print(1)"),
}


@pytest.mark.parametrize("text", [text for text, _, _ in OPEN.values()], ids=OPEN)
def test_a_complete_output_closes_the_wrappers_that_hold_nothing_but_calls(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    if "</tool_c" in text:
        assert len(extraction.tool_calls) == 1
        return
    assert (len(extraction.tool_calls), extraction.content) == (1, None)


@pytest.mark.parametrize(("text", "names", "content"), OPEN.values(), ids=OPEN)
def test_after_a_limit_no_open_wrapper_counts_as_closed_and_no_code_is_called(
    text: str, names: list[str], content: str
):
    extraction = extract_in_every_chunking(text, complete=False, tools=TOOLS)
    assert [call.name for call in extraction.tool_calls] == names
    assert "".join((extraction.content or "").split()) == "".join(content.split())
    assert names or [str(one.reason) for one in extraction.attempts] == ["truncated"]


def test_after_a_limit_nothing_in_an_open_fence_of_python_is_called_after_a_pythonic_call():
    text = f"```python\nf(a=1)\n{CALL}\n"  # code may have followed
    extraction = extract_in_every_chunking(text, complete=False, tools=TOOLS)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [(str(one.reason), one.name) for one in extraction.attempts] == [("truncated", "f"), ("truncated", "ok")]


@pytest.mark.parametrize(
    "text", [CALL, f"<tool_call>{CALL}</tool_call>", f"One {CALL} two", "[f(a=1)]", "<|python_tag|>print(1)<|eom_id|>"]
)
def test_what_was_complete_before_the_limit_is_called_all_the_same(text: str):
    assert extract_in_every_chunking(text, complete=False, tools=TOOLS).tools_called


@pytest.mark.parametrize("value", ["length", 1, None])
def test_whether_an_output_is_complete_is_true_or_false(value: object):
    with pytest.raises(TypeError, match="complete"):
        Extractor().extract("Hi", complete=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [text for text, _, _ in OPEN.values()], ids=OPEN)
def test_a_stream_that_breaks_off_calls_nothing_more(text: str):  # F1
    stream = Extractor(TOOLS).stream()
    assert stream.feed(f"One. {CALL}\n{text}")[1:2] == stream_calls(CALL)
    events = stream.abort()
    assert not any(isinstance(event, ToolCallReady) for event in events)
    extraction = stream.extraction
    assert [call.name for call in extraction.tool_calls] == ["ok"]
    released = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert (extraction.content or "").endswith(released.strip())
    (rejection,) = extraction.rejections
    assert (str(rejection.reason), rejection.is_attempt) == ("truncated", True)
    assert rejection.name in {"ok", "f", "code_interpreter"}


def stream_calls(text: str) -> list[object]:
    """Return the event of a call that stands after `One. `."""
    return Extractor(TOOLS).stream().feed(f"One. {text}")[1:]


@pytest.mark.parametrize("end", range(1, len(CALL)))
def test_what_was_held_back_comes_out_as_text_when_a_stream_breaks_off(end: int):
    stream = Extractor().stream()
    events = [*stream.feed(f"One {CALL[:end]}"), *stream.abort()]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == f"One {CALL[:end]}"
    assert stream.extraction.content == f"One {CALL[:end]}"
    assert [str(one.reason) for one in stream.extraction.rejections] == (["truncated"] if end > 1 else [])


@pytest.mark.parametrize("text", ["", "Hello.", "One { two", "1 < 2 <b", "`x", "[1, 2"])
def test_prose_that_breaks_off_is_content_and_no_rejection(text: str):
    stream = Extractor().stream()
    stream.feed(text)
    stream.abort()
    assert (stream.extraction.content, stream.extraction.rejections) == (text, ())


@pytest.mark.parametrize("verb", ["feed", "flush", "abort"])
def test_after_abort_the_turn_is_over(verb: str):
    stream = Extractor().stream()
    stream.abort()
    with pytest.raises(StreamStateError, match=rf"{verb}\(\) after abort\(\): the turn is over"):
        getattr(stream, verb)(*(["x"] if verb == "feed" else []))


def test_a_finish_reason_is_not_whether_the_output_is_complete():
    stream = Extractor().stream()
    wrong: Any = "length"
    with pytest.raises(TypeError, match="complete"):
        stream.flush(complete=wrong)
    stream.flush(complete=False)
    with pytest.raises(StreamStateError, match=r"feed\(\) after flush\(\)"):
        stream.feed("x")


def test_a_stream_that_an_exception_broke_off_can_be_aborted():
    def fail() -> str:
        raise LookupError("no more ids")

    stream = Extractor(id_factory=fail).stream()
    with pytest.raises(LookupError, match="no more ids"):
        stream.feed(f"One {CALL} two {CALL} three")
    stream.abort()
    assert stream.extraction.tool_calls == ()
    assert stream.extraction.content == f"One {CALL} two {CALL} three"


HELD_BACK = {
    "an envelope": '{"message": "m", "tool_call": %s}',
    "an envelope with two calls": '{"tool_calls": [%s, %s], "message": "m"}',
    "a tag": "<tool_call>%s</tool_call>",
    "two calls in a tag": "<tool_call>%s\n%s</tool_call>",
    "an envelope in a tag": '<tool_call>{"tool_calls": [%s, %s]}</tool_call>',
    "a tag that names the tool": '<function=ok>{"q": "x"}</function>',
    "a tag that names the tool, and holds nothing": "<function=f></function>",
    "a list": "[%s, %s]",
    "a list that breaks": "[%s, %s, oops",
    "a tag in a list that breaks": "[<tool_call>%s</tool_call>; %s; oops",
    "a fence": "```json\n%s\n%s\n```",
    "a pythonic list": "[f(a=1), ok(q='x')]",
    "a line": "\nf(a=1); ok(q='x')\n",
    "a code span": "\n`%s`\n",
    "a line that names the tool": '\nok\n{"q": "x"}',
    "code": "\n<|python_tag|>import math\nprint(1)",
}


@pytest.mark.parametrize("form", HELD_BACK.values(), ids=HELD_BACK)
@pytest.mark.parametrize("before", [f"Hi {CALL} and\n", "Hi\n"], ids=["after a call", "first"])
def test_a_stream_that_an_exception_broke_off_loses_no_text(form: str, before: str):
    ids: list[str] = []
    extractor = Extractor(tools=TOOLS, id_factory=ids.pop)
    for chunks in chunkings(f"{before}{form.replace('%s', CALL)}\nbye."):
        ids[:] = ["1"] * before.count(CALL)
        stream, fed = extractor.stream(), ""
        with suppress(IndexError):
            for chunk in chunks:
                fed += chunk
                stream.feed(chunk)
        stream.abort()
        extraction = stream.extraction
        assert len(extraction.tool_calls) == before.count(CALL), chunks
        assert extraction.content.rstrip() == fed.replace(f" {CALL}", "", before.count(CALL)).rstrip(), chunks


def test_what_a_broken_stream_held_back_has_a_place():
    for text in ("<````<function=f></function><", "<````<function=f></function>"):
        stream = Extractor(tools=TOOLS).stream()
        stream.feed(text)
        stream.abort()
        (rejection,) = stream.extraction.rejections
        assert (stream.extraction.content, rejection.span, rejection.name) == (text, (5, 17), "f")


BROKEN_OFF = {
    "what may be repaired": ('{"name": "f", "parameters": {"a": True, "b": "y', "malformed"),
    "a call in a fence": ('```json\n{"name": "f", "parameters": {}}\n', "truncated"),
    "a list": ("[f(a=1), ", "truncated"),
    "a line": ("f(a=1)", "truncated"),
    "a code span": ("`f(a=1)`", "truncated"),
    "bold": ("**f(a=1)*", "truncated"),
    "a tag": ('<tool_call>{"name": "f", "parameters": {}}', "truncated"),
    "a tag that names the tool": ('<function=f>{"a": 1', "truncated"),
    "a line that names the tool": ('f\n{"a": 1', "truncated"),
    "a built-in tool": ('<|python_tag|>f.call(a="x', "truncated"),
    "a fence of tildes": ('~~~\n{"name": "f", "parameters": {}}', "quoted"),
    "a listing": ("```python\nprint(1)\nf(a=1)\n", "quoted"),
    "an envelope": ('{"tool_calls": [{"name": "f", "parameters": {}},', "truncated"),
}


@pytest.mark.parametrize("size", [1, 5, 99])
@pytest.mark.parametrize(("text", "reason"), BROKEN_OFF.values(), ids=BROKEN_OFF)
def test_what_was_open_is_reported_when_a_stream_breaks_off(text: str, reason: str, size: int):
    stream = Extractor([{"name": "f"}], repair=True).stream()
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
    stream.abort()
    extraction = stream.extraction
    assert (extraction.content, extraction.tool_calls) == (text.removeprefix("<|python_tag|>"), ())
    assert [(str(one.reason), one.name) for one in extraction.rejections] == [(reason, "f")]
