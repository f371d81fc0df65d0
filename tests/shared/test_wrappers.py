"""What stands around calls, and what is quoted: rule 9."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, TextDelta, ToolCallReady

A, B = '{"name": "a", "parameters": {"x": 1}}', '{"name": "b", "arguments": {}}'

WRAPPERS = [
    ("<|python_tag|>", ""),
    ("<|python_tag|>", "<|eom_id|>"),
    ("<|python_start|>", "<|python_end|>"),
    ("<tool>", "</tool>"),
    ("<tool_call>", "</tool_call>"),
    ("<tool_call>\n", "\n</tool_call>\n"),
    ("```json\n", "\n```"),
    ("```JSON\n", "\n```"),
    ("```tool_call\n", "\n```"),
    ("```python\n", "\n```"),
    ("```python", "```"),
    ("```\n", "\n```"),
    ("```", "```"),
    ("````json\n", "\n````"),
    ("```json\n<tool_call>\n", "\n</tool_call>\n```"),
    ("<tool_call>\n```json\n", "\n```\n</tool_call>"),
    ("<|python_start|><tool>", "</tool><|python_end|>"),
]


@pytest.mark.parametrize(("opening", "closing"), WRAPPERS)
def test_a_wrapper_vanishes_with_its_calls(opening: str, closing: str):
    for inside, names in [(A, "a"), (f"{A}; {B}", "ab"), (f"{A}\n{B}", "ab"), (f"[{A}, {B}]", "ab")]:
        extraction = extract_in_every_chunking(f"One {opening}{inside}{closing} two")
        assert "".join(call.name for call in extraction.tool_calls) == names
        assert extraction.content == "One two"


@pytest.mark.parametrize(("opening", "closing"), [pair for pair in WRAPPERS if pair[1] not in ("", "<|eom_id|>")])
def test_a_wrapper_left_open_behind_complete_calls_vanishes_at_the_end(opening: str, closing: str):
    for cut in range(len(closing)):
        extraction = extract_in_every_chunking(f"One {opening}{A}; {B}{closing[:cut]}")
        assert "".join(call.name for call in extraction.tool_calls) == "ab"
        assert extraction.content == "One"


def test_neighbouring_tags_give_their_calls_in_order():
    text = f"<tool_call>{A}</tool_call>\n<tool_call>{B}</tool_call>, ```json\n{A}\n```"
    extraction = extract_in_every_chunking(text)
    assert "".join(call.name for call in extraction.tool_calls) == "aba"
    assert extraction.content is None


@pytest.mark.parametrize(
    ("text", "names", "content"),
    [
        ("<tool_call></tool_call>", "", "<tool_call></tool_call>"),
        ("<tool_call>", "", "<tool_call>"),
        ("<tool>\n", "", "<tool>\n"),
        ("Use <tool_call> tags.", "", "Use <tool_call> tags."),
        (f"Use <tool_call> tags. {A}", "a", "Use <tool_call> tags."),
        ('<tool_call>{"a": 1}</tool_call>', "", '<tool_call>{"a": 1}</tool_call>'),
        # What is inside a wrapper that holds something else is read as if it stood bare: rule 6, nothing is hidden.
        (f"<tool_call>{A} oops</tool_call>", "a", "<tool_call> oops</tool_call>"),
        (f"<tool_call>oops {A}</tool_call>", "a", "<tool_call>oops </tool_call>"),
        (f"<tool_call>; {A}</tool_call>", "a", "<tool_call>; </tool_call>"),
        ("<tool_call><|eot_id|> oops", "", "<tool_call><|eot_id|> oops"),
        (f'<tool_call>{{"bad" }} {A}</tool_call>', "a", '<tool_call>{"bad" } </tool_call>'),
        (f"<tool_call>{A}<tool_call>{B}</tool_call>", "ab", "<tool_call>"),
        (f"<tool_call>{A}</tool>", "a", "<tool_call> </tool>"),
        (f'<tool_call>{A} {{"name": "b", "param', "a", '<tool_call> {"name": "b", "param'),
        (f"</tool_call>{A}", "a", "</tool_call>"),
        (f"<TOOL_CALL>{A}</TOOL_CALL>", "a", "<TOOL_CALL> </TOOL_CALL>"),
        (f"<|python_start|>Well {A}<|python_end|>", "a", "Well"),
        ("Well <|python_start|> x", "", "Well <|python_start|> x"),
        (f"<tool_call>{A}</tool_call></tool_call>", "a", "</tool_call>"),
        (f"<tool_call>{A}<|im_start|>user\nHi", "a", "Hi"),
    ],
)
def test_a_wrapper_around_anything_else_is_text(text: str, names: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        (f"<|python_start|>{A}<|eot_id|> oops", ["python_start"]),
        (f"<|python_start|>{A} oops<|python_end|>", ["json"]),
        (f"<|python_start|>{A}<|python_start|>{B}<|python_end|>", ["json", "python_start"]),
    ],
)
def test_a_call_behind_python_start_is_named_by_it_if_that_is_closed(text: str, formats: list[str]):
    assert [call.format for call in extract_in_every_chunking(text).tool_calls] == formats


@pytest.mark.parametrize(
    ("text", "names", "content"),
    [
        ("```json\n```", "", "```json\n```"),
        ('```json\n{"a": 1}\n```', "", '```json\n{"a": 1}\n```'),
        ("```json\n[1, 2]\n```", "", "```json\n[1, 2]\n```"),
        # A fence that begins with prose or code is a listing: it is shown, not called.
        (f"```python\nrun({A})\n```", "", f"```python\nrun({A})\n```"),
        (f"```\nHere: {A}\n```", "", f"```\nHere: {A}\n```"),
        (f"```\n[1, 2]\n{A}\n``` {B}", "b", f"```\n[1, 2]\n{A}\n```"),
        # One of JSON is none, nor is one that begins with a candidate: what is in it is read as if it stood bare.
        (f"```json\n// a comment\n{A}\n``` {B}", "ab", "```json\n// a comment ```"),
        (f"```tool_call\nCalling: {A}\n``` {B}", "ab", "```tool_call\nCalling: ```"),
        (f"```json\n[1, 2]\n{A}\n```", "a", "```json\n[1, 2] ```"),
        (f'Return ```{{"a": 1}}```. Now: {A}', "a", 'Return ```{"a": 1}```. Now:'),
        (f'Return ```{{"a": 1}}```-ish, and {A}', "a", 'Return ```{"a": 1}```-ish, and'),
        (f'Return ```{{"a": 1}}```Then {A}', "a", 'Return ```{"a": 1}```Then'),
        (
            f'```json\n{{"a": 1}}\n\nNever closed.\n```js\n{A}\n``` {B}',
            "b",
            f'```json\n{{"a": 1}}\n\nNever closed.\n```js\n{A}\n```',
        ),
        (
            f'````\n{{"a":1}}\n```json\n{{"b":1}}\n```\n````\nNow {A}',
            "a",
            '````\n{"a":1}\n```json\n{"b":1}\n```\n````\nNow',
        ),
        (f'````\n{{"a":1}}\n```json\n{{"b":1}}\n````\nNow {A}', "a", '````\n{"a":1}\n```json\n{"b":1}\n````\nNow'),
        # Three backticks within a line that no candidate follows are prose.
        (f"The marker ``` opens a fence. {A}", "a", "The marker ``` opens a fence."),
        (f"Run ```pip install x``` and {A}", "a", "Run ```pip install x``` and"),
        (f"  ```\nlisting: {A}\n  ```\n{B}", "b", f"  ```\nlisting: {A}\n  ```".lstrip()),
        (f"```json\n{A}\nDone.\n``` {B}", "ab", "```json Done.\n```"),
        (f"```python\n{A}\nDone.\n``` {B}", "ab", "```python Done.\n```"),
        (f"```json\n{A}<|eot_id|> oops\n``` {B}", "ab", "```json oops\n```"),
        ("```\n<|eot_id|>", "", "```\n"),
        (f'```json\n{{"bad" }}\n{A}\n```\n{B}', "ab", '```json\n{"bad" } ```'),
        (f'```python\n{{"bad" }}\n{A}\n```\n{B}', "ab", '```python\n{"bad" } ```'),
        (f"x ```js\n{A}\n    ```\n{A}\n``` {B}", "b", f"x ```js\n{A}\n    ```\n{A}\n```"),
        (f'```json\n{{"a": 1}}\n```\n```json\n{A}\n```', "a", '```json\n{"a": 1}\n```'),
        (f'```json\n{{"a": 1}}\n\nNever closed. ```json\n{A}\n```', "a", '```json\n{"a": 1}\n\nNever closed.'),
        # Other languages are quotation, closed or not.
        (f"```js\n{A}\n```", "", f"```js\n{A}\n```"),
        (f"```xml\n<tool_call>{A}</tool_call>\n``` {B}", "b", f"```xml\n<tool_call>{A}</tool_call>\n```"),
        (f"```bash\n{A}", "", f"```bash\n{A}"),
        (f"```pythonista\n{A}\n```", "", f"```pythonista\n{A}\n```"),
        (f"```json5\n{A}\n```", "", f"```json5\n{A}\n```"),
        (f"````\n```json\n{A}\n```\n````{B}", "b", f"````\n```json\n{A}\n```\n````"),
        (f"{'`' * 17}json\n{A}", "a", f"{'`' * 17}json"),
        (f"{'`' * 40}{A}", "a", "`" * 40),
        (f"`` {A}", "a", "``"),
    ],
)
def test_a_fence_around_anything_else_is_text(text: str, names: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


@pytest.mark.parametrize(
    ("text", "names", "content"),
    [
        (f"<think>I could call {A}.</think>\n{B}", "b", f"<think>I could call {A}.</think>"),
        (f"<think><tool_call>{A}</tool_call>", "", f"<think><tool_call>{A}</tool_call>"),
        (f"<think>\n</think>{A}", "a", "<think>\n</think>"),
        (f"<think>Hm.</think>{A}</think>", "a", "<think>Hm.</think> </think>"),
        (f"Use the `<think>` tag. {A}", "a", "Use the `<think>` tag."),
        ("Use the `<think>", "", "Use the `<think>"),
        (f"<thinking>{A}</thinking>", "a", "<thinking> </thinking>"),
        (f'{{"name": "f", "parameters": {{"t": "<think>"}}}} {A}', "fa", None),
    ],
)
def test_thinking_is_never_scanned(text: str, names: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('<function=get_weather>{"city": "Paris"}</function>', None),
        ('<function=get_weather>{"city": "Paris"}</function><|eot_id|>', None),
        ('<function=get_weather> {"city": "Paris"} </function>', None),
        ('<function=get_weather>\n{"city":\n"Paris"}\n</function>\n', None),
        ('<function=get_weather>{"city": "Paris"}', None),
        ('<function=get_weather>{"city": "Paris"}</funct', None),
        ('<function=get_weather>{"city": "Paris"}<', None),
        ('<function=get_weather>{"city": "Paris"}<|eot_id|>', None),
        ('<function=get_weather>{"city": "Paris"}<|eom_id|>\n</function>', None),
        ('Sure: <function=get_weather>{"city": "Paris"}</function> Done.', "Sure: Done."),
        ('<function=get_weather>{"city": "Paris"}</function></function>', "</function>"),
        ('```\n<function=get_weather>{"city": "Paris"}</function>\n```', None),
    ],
)
def test_a_function_tag_carries_the_name(text: str, content: str | None):
    extraction = extract_in_every_chunking(text)
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments) == ("get_weather", {"city": "Paris"})
    assert extraction.content == content
    assert text[slice(*call.span)].startswith("<function=get_weather>")
    assert call.format == ("fence" if text.startswith("`") else "function")


@pytest.mark.parametrize("name", ["math.factorial", "mcp:tool/run", "get-weather", "wetter_für"])
def test_a_function_tag_takes_the_names_that_tools_have(name: str):
    (call,) = extract_in_every_chunking(f"<function={name}>{{}}</function>").tool_calls
    assert call.name == name


@pytest.mark.parametrize(
    ("text", "reasons", "name"),
    [
        ("<function=f>", [], None),
        ("Use <function=name> tags.", [], None),
        ("<function=f></function>", [], None),
        ("<function=f={}</function>", [], None),
        ('<function=f>{"a": 1}}', ["malformed"], "f"),
        ('<function=f>{"a": 1}>', ["malformed"], "f"),
        ('<function=f>{"a": 1} oops</function>', ["malformed"], "f"),
        ('<function=f>{"a": oops}</function>', ["malformed"], "f"),
        ('<function=f>{"a": 1}<|eot_id|> oops', ["malformed"], "f"),
        ('<function=f>{"a": 1', ["truncated"], "f"),
        ('<function=f>{"a": "</function>', ["truncated"], "f"),
        (f'<function=f>{{"a": {"[" * 200}{"]" * 200}}}</function>', ["too_deep"], "f"),
        ("<function=f>[1]</function>", [], None),
        ('<function=>{"a": 1}</function>', ["not_a_call"], None),
        ('<function={"a": 1}</function>', ["not_a_call"], None),
        (f'<function={"f" * 129}>{{"a": 1}}</function>', ["not_a_call"], None),
    ],
)
def test_a_function_tag_around_anything_but_one_object_is_text(text: str, reasons: list[str], name: str | None):
    extraction = extract_in_every_chunking(text)
    assert extraction.content == text
    assert [str(rejection.reason) for rejection in extraction.rejections] == reasons
    assert [rejection.name for rejection in extraction.rejections] == [name] * len(reasons)


def test_a_function_tag_names_a_declared_tool_or_stays_text():
    text = '<function=rm>{"path": "/"}</function> <function=ls>{}</function>'
    extraction = extract_in_every_chunking(text, tools=[{"name": "ls"}])
    assert [call.name for call in extraction.tool_calls] == ["ls"]
    assert extraction.content == '<function=rm>{"path": "/"}</function>'
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == [("unknown_tool", "rm")]


CLOCK = {"name": "clock"}
PLAY = {"name": "play", "parameters": {"type": "object", "properties": {"song": {}}, "required": ["song"]}}


@pytest.mark.parametrize("text", ["<function=clock></function>", "<function=clock>\n</function>", "<function=clock></"])
def test_rule_1_a_function_tag_of_a_declared_tool_that_requires_no_argument_may_be_empty(text: str):
    extraction = extract_in_every_chunking(f"One {text}", tools=[CLOCK, PLAY])
    (call,) = extraction.tool_calls
    assert (call.name, call.arguments, call.arguments_json, call.format) == ("clock", {}, "{}", "function")
    assert (extraction.content, call.span) == ("One", (4, 4 + len(text)))
    assert extract_in_every_chunking(f"<tool_call>{text}", tools=[CLOCK]).tool_calls[0].format == "tool_call"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("<function=clock>None</function>", "expected an object at offset 16, found 'None'"),
        ("<function=play>song=x</function>", "expected an object at offset 15, found 'song=x'"),
        ("<function=play></function>", "expected an object at offset 15, found '</function>'"),
        (f"<function=play>{'x' * 199}</function>", None),
        (f"<function=play>{'x' * 201}</function>", ""),
        ("<function=play> is a tag.", ""),
        ("<function=play> is a <b>tag</function>", ""),
        ("<function=other>x</function>", ""),
        ("<function=clock>", ""),
    ],
)
def test_a_closed_function_tag_of_a_declared_tool_is_an_attempt_whatever_it_holds(text: str, detail: str | None):
    extraction = extract_in_every_chunking(text, tools=[CLOCK, PLAY])
    assert (extraction.content, extraction.tool_calls) == (text, ())
    for rejection in extraction.rejections:
        assert (str(rejection.reason), rejection.is_attempt) == ("malformed", True)
        assert rejection.span == (0, len(text))
        assert detail is None or rejection.detail == detail
    assert bool(extraction.rejections) is (detail != "")


@pytest.mark.parametrize("prose", ["<function=play> is a <b>", f"<function=play>{'x' * 201}"])
def test_prose_behind_a_function_tag_flows_as_soon_as_it_is_none(prose: str):
    assert Extractor(tools=[PLAY]).stream().feed(prose) == [TextDelta(prose)]


def test_a_call_in_a_function_tag_of_anything_else_is_called():
    extraction = extract_in_every_chunking("<function=play>[clock()]</function>", tools=[CLOCK, PLAY])
    assert [call.name for call in extraction.tool_calls] == ["clock"]
    assert extraction.content == "<function=play> </function>"


def test_a_malformed_function_tag_hides_no_call_behind_it():
    text = f'<function=f>{{"a": "x; {A} <function=g>{{}}</function>'
    extraction = extract_in_every_chunking(text)
    assert [call.name for call in extraction.tool_calls] == ["a", "g"]
    assert extraction.content == '<function=f>{"a": "x;'


def test_a_fenced_call_is_out_when_its_fence_is_closed():
    stream = Extractor().stream()
    assert stream.feed(f"Look: ```json\n{A}\n``") == [TextDelta("Look:")]
    assert [type(event) for event in stream.feed("`")] == [ToolCallReady]


@pytest.mark.parametrize("opening", ["```js x", "```\nprint(", "<think>Hm"])
def test_quotation_flows(opening: str):
    stream = Extractor().stream()
    assert stream.feed(opening) == [TextDelta(opening)]
    assert stream.feed(" = 1; </thi") == [TextDelta(" = 1; </thi")]
    assert stream.feed(f"; {A}; b``") == [TextDelta(f"; {A}; b``")]
