"""Code fences of backticks and tildes: which vanish around their calls, and which are shown or prose (rule 9)."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Extractor, TextDelta, ToolCallReady

A, B = '{"name": "a", "parameters": {"x": 1}}', '{"name": "b", "arguments": {}}'


def check(text: str, names: str, content: str | None) -> None:
    extraction = extract_in_every_chunking(text)
    assert "".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


def in_both(text: str, names: str, content: str | None) -> None:
    """Check a text whose fences are backticks, and the same with tildes."""
    check(text, names, content)
    check(text.replace("`", "~"), names, content and content.replace("`", "~"))


@pytest.mark.parametrize(
    "info",
    [
        *[
            "json",
            "JSON",
            "tool_call",
            "python",
            "",
            " json",
            "\tpython ",
            "json title=x",
            "json {.line}",
            "json{1,3-5}",
        ],
        *[" json title=x", 'json title="a b.json" {.line}', "json\tlines=1", "tool_call {#id .wide}\t"],
    ],
)
def test_a_fence_vanishes_with_its_calls(info: str):
    for inside, names in [(A, "a"), (f"{A}; {B}", "ab"), (f"<tool_call>{A}</tool_call>", "a"), (f"[{A}, {B}]", "ab")]:
        for line_end in ("\n", "\r\n"):
            text = line_end.join(["One", f"```{info}", inside, "```", "two"])
            in_both(text, names, "One two")


@pytest.mark.parametrize(
    "info",
    [
        *["js", "jsonc", "json5", "jsonl", "xml", "c++", " js", "js title=x", "{.json}", "python title=x"],
        *["python {.wide}", "averyveryverylonglanguage"],
    ],
)
def test_a_fence_of_another_language_is_shown(info: str):
    for inside in (A, f"<tool_call>{A}</tool_call>", f"<functioncall> {A} </functioncall>"):
        shown = f"```{info}\n{inside}\n```"
        in_both(f"One\n{shown}\n{B}", "b", f"One\n{shown}")


@pytest.mark.parametrize(
    ("text", "names", "content"),
    [
        # A closing fence has the same character, and is at least as long.
        (f"````json\n{A}\n````\nDone.", "a", "Done."),
        (f"```json\n{A}\n````\nDone.", "a", "Done."),
        (f"```json\n{A}\n``````\nDone.", "a", "Done."),
        (f"```json\n{A}\n`````", "a", None),
        (f"```json\n{A}\n````Done.", "a", "Done."),
        (f"```json\n{A}\n``````json\n{B}\n```", "ab", None),
        (f"```json\n{A}\n{'`' * 30}", "a", "`" * 27),
        (f"```json\n{A}\n{'`' * 20}\nDone.", "a", "Done."),
        (f"```json\n{A}\n{'`' * 21}\nDone.", "a", f"{'`' * 18}\nDone."),
        (f"{'`' * 16}json\n{A}\n{'`' * 16}\nDone.", "a", "Done."),
        (f"````json\n{A}\n```\nDone.", "a", "````json ```\nDone."),
        (f"````js\n{A}\n```\n{A}\n`````\n{B}", "b", f"````js\n{A}\n```\n{A}\n`````"),
        # Several in a row, nested, and in lists.
        (f"```json\n{A}\n```\n```json\n{B}\n```\nDone.", "ab", "Done."),
        (f"```json\n{A}\n```\n```js\n{B}\n```\n{B}", "ab", f"```js\n{B}\n```"),
        (f"```js\n{A}\n```\n```json\n{B}\n```", "b", f"```js\n{A}\n```"),
        (f"````markdown\n```json\n{A}\n```\n````\n{B}", "b", f"````markdown\n```json\n{A}\n```\n````"),
        (f"```md\n```json\n{A}\n```\n{A}\n```\n{B}", "b", f"```md\n```json\n{A}\n```\n{A}\n```"),
        (f"```md\n```js\n```\n\n```json\n{A}\n```\n```{B}", "b", f"```md\n```js\n```\n\n```json\n{A}\n```\n```"),
        (f"```md\n```js\n{A}\n```\n{B}", "", f"```md\n```js\n{A}\n```\n{B}"),
        (f"```js\n```json\n{A}\n```\n{B}", "b", f"```js\n```json\n{A}\n```"),
        (f"````\n```json\n{A}\n```\n````\n{B}", "b", f"````\n```json\n{A}\n```\n````"),
        (f"````json\n```json\n{A}\n```\n````\n{B}", "ab", "````json ````"),
        (f"1. Call:\n   ```json\n   {A}\n   ```\n2. Done.", "a", "1. Call: 2. Done."),
        (f"- ```json\n  {A}\n  ```\n- Done.", "a", "- - Done."),
        (f"1. See:\n   ```js\n   {A}\n   ```\n2. {B}", "b", f"1. See:\n   ```js\n   {A}\n   ```\n2."),
        (f"- ```\n  listing: {A}\n  ```\n- {B}", "b", f"- ```\n  listing: {A}\n  ```\n-"),
        (f"10) ```\n    listing: {A}\n    ```\n{B}", "b", f"10) ```\n    listing: {A}\n    ```"),
        (f"> ```\n> listing: {A}\n> ```\n{B}", "b", f"> ```\n> listing: {A}\n> ```"),
        # Next to calls.
        (f"{A}\n```json\n{B}\n```\n{A}", "aba", None),
        (f"{A}```\n{B}\n```{A}", "aba", None),
        (f"{A}\n```js\n{B}\n```{A}", "aa", f"```js\n{B}\n```"),
        (f"{A}```\nlisting: {B}\n```", "a", f"```\nlisting: {B}\n```"),
        # Never closed.
        (f"One\n```json\n{A}\n{B}", "ab", "One"),
        (f"One\n```\n{A}\n``", "a", "One"),
        (f"```json\n{A}\nThat was it. {B}", "ab", "```json That was it."),
        (f"```js\n{A}\nThat was it. {B}", "", f"```js\n{A}\nThat was it. {B}"),
        (f'```json\n{A}\n{{"name": "b", "par', "a", '```json {"name": "b", "par'),
        # In a tag, and with a tag inside.
        (f"<tool_call>\n```json\n{A}\n````\n</tool_call>\nDone.", "a", "Done."),
        (f"<tool_call>\n```js\n{A}\n```\n</tool_call>", "", f"<tool_call>\n```js\n{A}\n```\n</tool_call>"),
        (f"```json\n<tool_call>{A}</tool_call>\n<tool_call>{B}</tool_call>\n```", "ab", None),
        (f"```json\n<tool_call>\n{A}\n```", "a", "```json\n<tool_call> ```"),
        # What is read as text is closed by a fence as long, which opens none.
        (f"```json\n[1]\n```` Then {A}\n```\nx {A}\n``` {B}", "ab", f"```json\n[1]\n```` Then ```\nx {A}\n```"),
        (f"```json\r\n[1]\r\n```\r\n```js\r\n{A}\r\n```\r\n{B}", "b", f"```json\r\n[1]\r\n```\r\n```js\r\n{A}\r\n```"),
        (f"```json\n[1]\n``` Done.\n{A}", "a", "```json\n[1]\n``` Done."),
        (f"```json\n[1]\n``` json\n{A}\n```", "a", "```json\n[1]"),
        # A token stands in it.
        (f"```json\n{A}\n<|im_start|>x", "a", "```json x"),
        # A run that is too long, in a tag.
        (f"<tool>{'`' * 17} {A}</tool>", "a", f"<tool>{'`' * 17} </tool>"),
    ],
)
def test_fences_of_backticks_and_of_tildes_are_read_alike(text: str, names: str, content: str | None):
    in_both(text, names, content)


@pytest.mark.parametrize(
    "code",
    [
        f"print('```', {A})",
        f"print('~~~', {A})",
        f'"""Call it:\n\n    ```json\n    {A}\n    ```\n"""\nrun({A})',
        f"x = '''\n```json\n{A}'''",
        f"echo ``` {A}",
        f"x ={' ' * 80}```{' ' * 20}\n{A}",
        f"x = {'`' * 80}\n{A}",
    ],
)
def test_a_listing_goes_on_to_a_fence_that_can_close_it(code: str):
    for fence in ("```", "~~~"):
        shown = f"{fence}python\n{code}\n{fence}"
        check(f"Look:\n{shown}\n{B}", "b", f"Look:\n{shown}")


@pytest.mark.parametrize(
    "token", ["<|start_header_id|>assistant<|end_header_id|>", "<|im_start|>assistant", "<|eot_id|> "]
)
@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_token_begins_a_line(token: str, fence: str):
    check(f"{token}{fence}\nrun({A})\n{fence}\n{B}", "b", f"{fence}\nrun({A})\n{fence}")


@pytest.mark.parametrize("closing", ["\n```", "\n   ```", "```", "``` \t", "\r\n````", "\n```  "])
def test_a_listing_is_closed_at_the_start_of_a_line_or_at_the_end_of_the_last(closing: str):
    in_both(f"```python\nrun({A}){closing}\n{B}", "b", f"```python\nrun({A}){closing}".rstrip())


@pytest.mark.parametrize(
    "prose",
    [
        "Hi~~~",
        "(~~~)",
        "~~~ヾ(@∇@)",
        "~~~ hello there",
        "~~~hello~~~",
        "Not ~~this~~ but that",
        "~~",
        "~" * 17,
        "Above\n~~~~~~~~~~~~~~~~~~~~\nbelow",
        "Above\n\n~~~\n\nbelow",
        "~~~json and ~~~python are fences",
        "~5 km",
        "The marker ``` opens a fence",
        "The marker ``` json opens one",
        "```json Here it is:",
        "``` json```",
        "```json\n[1] ~~~",
    ],
)
def test_tildes_and_backticks_in_prose_are_prose(prose: str):
    check(f"{prose} {A}", "a", prose)
    check(prose, "", prose)


def test_tildes_flow():
    stream = Extractor().stream()
    assert stream.feed("Hi~") == [TextDelta("Hi")]
    assert stream.feed("~") == []
    assert stream.feed("~ there") == [TextDelta("~~~ there")]
    assert stream.feed("\n~~~js\n") == [TextDelta("\n~~~js")]
    assert stream.feed("~~") == [TextDelta("\n~~")]


def test_a_call_that_is_cut_off_in_a_fence_is_no_code():
    (rejection,) = extract_in_every_chunking("```\n<function=g>{").rejections
    assert (rejection.name, rejection.span) == ("g", (4, 17))


def test_a_fence_flows_once_it_has_no_attributes():
    assert Extractor().stream().feed('```json"') == [TextDelta('```json"')]


@pytest.mark.parametrize("code", ["f(", "f(a=1) + g(a=2)\n", "f(a=\n"])
def test_a_listing_may_begin_with_what_may_be_a_call(code: str):
    text = f"```python\n{code}{A}"
    assert extract_in_every_chunking(text, tools=[{"name": "f"}, {"name": "a"}]) == Extraction(text)


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_calls_do_not_wait_for_a_longer_closing_fence(fence: str):
    stream = Extractor().stream()
    assert stream.feed(f"{fence}json title=x\n{A}\n{fence[1:]}") == []
    assert [type(event) for event in stream.feed(fence[0])] == [ToolCallReady]
    assert stream.feed(fence[0]) == []
    assert stream.feed("\nDone.") == [TextDelta("Done.")]


@pytest.mark.parametrize(
    "run",
    [
        "`",
        "~",
        "```",
        "~~~\n",
        "~~~json a=b ",
        "```js\n``` x\n",
        "\n> ```",
        f"```json\n{A}\n````",
        " \t",
        '```json {x="',
    ],
)
def test_many_fences_are_read_in_linear_time(run: str):
    """A quadratic reading of these would take minutes."""
    text = f"```js\n{run * 20_000}"
    stream = Extractor().stream()
    for at in range(0, len(text), 7):
        stream.feed(text[at : at + 7])
    stream.flush()
    stream = Extractor().stream()
    stream.feed(f"x {run * 20_000}")
    stream.flush()
