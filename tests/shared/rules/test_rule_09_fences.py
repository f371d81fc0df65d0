"""Rule 9: which code fences go with their calls, which are listings, and which are shown."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Extractor, RejectionReason, TextDelta, ToolCallReady
from steps import steps_of

A, B = '{"name": "a", "parameters": {"x": 1}}', '{"name": "b", "arguments": {}}'
TOOLS = [{"name": "a", "parameters": {"properties": {"x": {}}}}, {"name": "b"}]


def names(extraction: Extraction) -> str:
    return "".join(call.name for call in extraction.tool_calls)


WORDS = ["json", "jsonl", "JSON", "python", "", "tool_call", "tool_calls", "tool_code", "tool", "tools"]
WORDS += ["function", "functions", "function_call", "function_calls", " json", "json title=x"]


@pytest.mark.parametrize("info", WORDS)
def test_a_fence_around_calls_goes_with_them(info: str):
    for inside, called in [(A, "a"), (f"{A}; {B}", "ab"), (f"<tool_call>{A}</tool_call>", "a"), (f"[{A}, {B}]", "ab")]:
        for line_end in ("\n", "\r\n"):
            text = line_end.join(["One", f"```{info}", inside, "```", "two"])
            extraction = extract_in_every_chunking(text, is_sampled=True)
            assert (names(extraction), extraction.content) == (called, "One two")


@pytest.mark.parametrize("info", ["python", "", "tool_code"])
def test_a_fence_around_pythonic_calls_goes_with_them(info: str):
    for inside in ("[a(x=1), b()]", "a(x=1)\nb()", "a(x=1); b()"):
        extraction = extract_in_every_chunking(f"One\n```{info}\n{inside}\n```\ntwo", tools=TOOLS)
        assert (names(extraction), extraction.content) == ("ab", "One two")


LANGUAGES = [
    "js",
    "jsonc",
    "json5",
    "xml",
    "c++",
    "bash",
    "pythonista",
    "markdown",
    " js",
    "js title=x",
    'js {1} "x y"',
]


@pytest.mark.parametrize("info", LANGUAGES)
def test_a_fence_of_another_language_is_shown(info: str):
    for inside in (A, f"<tool_call>{A}</tool_call>", f"x = [{A}]"):
        shown = f"```{info}\n{inside}\n```"
        extraction = extract_in_every_chunking(f"One\n{shown}\n{B}", is_sampled=True)
        assert (names(extraction), extraction.content) == ("b", f"One\n{shown}")
        assert [(str(one.reason), one.name) for one in extraction.rejections] == [("quoted", "a")]


def test_a_fence_of_tildes_is_shown_too():
    for opening in ("~~~js", "~~~python\nx =", "Like\n  ~~~", "- ~~~"):
        (rejection,) = extract_in_every_chunking(f"{opening}\n{A}\n~~~").rejections
        assert rejection.reason is RejectionReason.QUOTED


LISTINGS = {
    "code": f"```python\nrun({A})\n```",
    "code before a call": f"```python\nimport x\n{A}\n```",
    "a comment before a call": f"```python\n# call\n{A}\n```",
    "prose": f"```\nHere: {A}\n```",
    "data": f"```\n[1, 2]\n{A}\n```",
    "an object that is no call": f'````\n{{"a": 1}}\n{A}\n````',
    "a document": f"````\n```json\n{A}\n```\n````",
    "fences within a line": f"```python\nprint('```', {A})\n```",
    "an assignment of a pythonic call": "```python\nx = a(x=1)\n```",
    "pythonic calls and code": "```python\na(x=1)\nprint(1)\n```",
    "a pythonic list and code": "```python\n[a(x=1)]\nprint(1)\n```",
    "a list of its own fence": f"- ```\n  listing: {A}\n  ```",
}


@pytest.mark.parametrize("shown", LISTINGS.values(), ids=LISTINGS)
def test_a_listing_is_shown(shown: str):
    extraction = extract_in_every_chunking(f"Look:\n{shown}\n{B}", tools=TOOLS)
    assert (names(extraction), extraction.content) == ("b", f"Look:\n{shown}")
    assert {str(one.reason) for one in extraction.rejections} <= {"quoted"}


def test_a_listing_of_pythonic_calls_is_decided_at_its_closing():
    stream = Extractor(tools=TOOLS).stream()
    assert stream.feed("```python\na(x=1)\n") == []
    assert stream.feed("print(1)\n")[0] == TextDelta("```python\na(x=1)\nprint(1)")


BROKEN = {
    "nothing": ("```json\n```", "", "```json\n```"),
    "data in JSON": ('```json\n{"a": 1}\n```', "", '```json\n{"a": 1}\n```'),
    "data in JSON before a call": (f"```json\n[1, 2]\n{A}\n```", "a", "```json\n[1, 2] ```"),
    "a comment in JSON": (f"```json\n// a comment\n{A}\n```\n{B}", "ab", "```json\n// a comment ```"),
    "prose after a call": (f"```json\n{A}\nDone.\n```\n{B}", "ab", "```json Done.\n```"),
    "prose after a call in JSON of Python": (f"```python\n{A}\nDone.\n```\n{B}", "ab", "```python Done.\n```"),
    "words before a call": (f"```tool_call\nCalling: {A}\n```\n{B}", "ab", "```tool_call\nCalling: ```"),
    "a malformed call": (f'```json\n{{"bad" }}\n{A}\n```\n{B}', "ab", '```json\n{"bad" } ```'),
    "a tag that is open": (f"```json\n<tool_call>\n{A}\n```", "a", "```json\n<tool_call> ```"),
    "another fence": (f'```json\n{{"a": 1}}\n```\n```json\n{A}\n```', "a", '```json\n{"a": 1}\n```'),
    "a call that is cut off": (f'```json\n{A}\n{{"name": "b", "par', "a", '```json {"name": "b", "par'),
}


@pytest.mark.parametrize(("text", "called", "content"), BROKEN.values(), ids=BROKEN)
def test_a_fence_around_anything_else_is_text_and_its_calls_are_called_bare(text: str, called: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert (names(extraction), extraction.content) == (called, content)


CLOSINGS = {
    "as long": (f"````json\n{A}\n````\nDone.", "a", "Done."),
    "longer": (f"```json\n{A}\n`````\nDone.", "a", "Done."),
    "longer at the end": (f"```json\n{A}\n`````", "a", None),
    "shorter": (f"````json\n{A}\n```\nDone.", "a", "````json ```\nDone."),
    "shorter, of a language": (f"````js\n{A}\n```\n{A}\n`````\n{B}", "b", f"````js\n{A}\n```\n{A}\n`````"),
    "indented": (f"1. Call:\n   ```json\n   {A}\n   ```\n2. Done.", "a", "1. Call: 2. Done."),
    "none, and the end": (f"One\n```json\n{A}\n{B}", "ab", "One"),
    "a part of one, and the end": (f"One\n```\n{A}\n``", "a", "One"),
    "none, and prose": (f"```json\n{A}\nThat was it. {B}", "ab", "```json That was it."),
    "none, of a language": (f"```js\n{A}\nThat was it. {B}", "", f"```js\n{A}\nThat was it. {B}"),
    "with more on its line, of a language": (f"```js\n{A}\n``` {B}", "", f"```js\n{A}\n``` {B}"),
}


@pytest.mark.parametrize(("text", "called", "content"), CLOSINGS.values(), ids=CLOSINGS)
def test_a_line_of_as_many_backticks_closes_a_fence(text: str, called: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    assert (names(extraction), extraction.content) == (called, content)


IN_A_ROW = {
    "two wrappers": (f"```json\n{A}\n```\n```json\n{B}\n```\nDone.", "ab", "Done."),
    "a wrapper and a language": (f"```json\n{A}\n```\n```js\n{B}\n```\n{B}", "ab", f"```js\n{B}\n```"),
    "a language and a wrapper": (f"```js\n{A}\n```\n```json\n{B}\n```", "b", f"```js\n{A}\n```"),
    "a call before and after": (f"{A}\n```json\n{B}\n```\n{A}", "aba", None),
    "a document of Markdown": (f"````md\n```json\n{A}\n```\n````\n{B}", "b", f"````md\n```json\n{A}\n```\n````"),
    "two tags in a fence": (f"```json\n<tool_call>{A}</tool_call>\n<tool_call>{B}</tool_call>\n```", "ab", None),
    "a fence in a list": (f"1. See:\n   ```js\n   {A}\n   ```\n2. {B}", "b", f"1. See:\n   ```js\n   {A}\n   ```\n2."),
}


@pytest.mark.parametrize(("text", "called", "content"), IN_A_ROW.values(), ids=IN_A_ROW)
def test_fences_in_a_row_and_in_fences(text: str, called: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    assert (names(extraction), extraction.content) == (called, content)


@pytest.mark.parametrize(
    "token", ["<|start_header_id|>assistant<|end_header_id|>", "<|im_start|>assistant", "<|eot_id|> "]
)
def test_a_fence_may_follow_a_token(token: str):
    extraction = extract_in_every_chunking(f"{token}```\nrun({A})\n```\n{B}")
    assert (names(extraction), extraction.content) == ("b", f"```\nrun({A})\n```")


PROSE = {
    "backticks that are spoken of": "The marker ``` opens a fence.",
    "a fence on one line": "Run ```pip install x``` and",
    "data on one line": 'Return ```{"a": 1}```. Now:',
    "data on one line, and a word": 'Return ```{"a": 1}```Then',
    "a fence closed with words": "```json\n[1]\n``` Done.\n",
    "tildes": "Hi ~~~ there",
    "tildes at the end of a line": "Hi ~~~\n",
    "about": "It costs ~5 euros, ~ 6 at most",
    "a strike": "Not ~~this~~ but that",
}


@pytest.mark.parametrize("before", PROSE.values(), ids=PROSE)
def test_backticks_and_tildes_in_prose_are_prose(before: str):
    extraction = extract_in_every_chunking(f"{before} {A}")
    assert (names(extraction), extraction.content) == ("a", before.strip())


def test_a_fenced_call_is_out_when_its_fence_is_closed():
    stream = Extractor().stream()
    assert stream.feed(f"Look: ```json\n{A}\n``") == [TextDelta("Look:")]
    assert [type(event) for event in stream.feed("`\n")] == [ToolCallReady]


def test_data_after_a_pythonic_call_makes_a_fence_no_listing():
    text = '```python\nf(a=1)\n{"a": 1}\n```'
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}])
    assert [call.arguments for call in extraction.tool_calls] == [{"a": 1}]


RUNS = ["`", "```", "```js\n``` x\n", "\n> ```", f"```json\n{A}\n````", '```json {x="', f"```\n{A}\nx\n"]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("before", ["```js\n", "x "])
def test_many_fences_are_read_in_linear_time(run: str, before: str):
    extractor = Extractor(id_factory=str)

    def steps(times: int) -> int:
        text = before + run * times

        def read() -> None:
            stream = extractor.stream()
            for at in range(0, len(text), 7):
                stream.feed(text[at : at + 7])
            stream.flush()

        return steps_of(read)

    assert steps(800) < 2.5 * steps(400)
