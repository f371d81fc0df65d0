"""Calls, code and brackets that never end well: the work grows as the output does, and no faster."""

from __future__ import annotations

from typing import Any

import pytest

from llama3_tools import Extractor, extract
from steps import steps_of

pytestmark = pytest.mark.no_cover  # much of the same: other tests cover what these try

TOOLS: list[dict[str, Any]] = [
    {"name": "f", "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}},
    {"name": "code_interpreter"},
]
TAG = "<|python_tag|>"
THREE = "'" * 3

PYTHONIC = [
    *("[", "[f(", "[f(a=", "[f(a=1)", "[f(a={x=", "[f('a' ", "[f(a=1_", "[h(a=[", "[x, ", "[f(a=[f(b=", "[f({'a':"),
    *("f(a=1)\n", "f(a=1), ", "f(a=x)\n", "f(a='", "f(\"'", "[f(a='\\'", f"[f(a={THREE}", "brave_search.call("),
    *("{'a': ", "(", "1, ", "'a' ", "'", "\\", " ", "\n", "xx"),
]
CODE = [
    TAG,
    f"{TAG}[h('",
    f"{TAG}[1, ",
    f"{TAG}```python\n",
    f"{TAG}x = 1\n",
    f"{TAG}I am ",
    "<|",
    "\n```",
    "#(",
    '"""',
]
OPEN = [
    *('["a", ', "['a', ", "[[1], ", "[abc, ", "{'", "{'\n", '{"\n', "{a: ", "{'a':\n", '{"a": [', "{a: 'x\n", ":\n{"),
    *("f(x, ", "f(x,\n", "run(\n    x\n", "print('", 'print("\n', "f(a='x\n", "a(b[c{", "([{", "\n\n[", "=\n{", "x; {"),
    *("{'name': 'f', 'parameters': {'a': 'x\n", "{name: 'f', parameters: {a: [", '{"a" b}\n', "{# x\n", "f:\n{a: "),
    *("```\n", "```json\n{", "~~~\n", "`", "<b>", "<tool_call>{'", "<function=f>{a: [", "<think>", "<!-- "),
    *("[TOOL_CALLS]", "{]", "(]", "])}", "> {'", "x: ", "Result of f: ", "it's "),
]
"""Brackets, quotation marks, fences and tags that nothing closes, or what does not match."""
OPEN_HEADS = ["", "['a', ", "print('", "{'name': 'f', 'parameters': {'a': 'x\n"]
HEADS = ["", "[f(a='x', b=[", "f(a={'k': [", f"[f(a={THREE}", f"{TAG}x = ", f"{TAG}```python\nx = "]


@pytest.mark.parametrize(
    ("heads", "piece"), [*((HEADS, piece) for piece in PYTHONIC + CODE), *((OPEN_HEADS, piece) for piece in OPEN)]
)
def test_the_work_grows_as_the_output_does(heads: list[str], piece: str):
    def work(head: str, times: int) -> int:
        return steps_of(lambda: extract(head + piece * times, tools=TOOLS))

    for head in heads:
        work(head, 3)
        assert work(head, 800) < 2.16 * work(head, 400) + 250, head  # beyond the depth that is read at all


STREAMED = [(head, "1, \n") for head in ("[f(a='", "f(a=[", f"{TAG}x = '", f"{TAG}```python\nx = ")]
STREAMED += [
    (head, piece) for head in ("['a', ", "print('") for piece in ('["a", ', "{'a':\n", "\n\n[", "{]", "f\n", "<b>")
]


@pytest.mark.parametrize(("head", "piece"), STREAMED, ids=ascii)
def test_in_a_stream_of_single_characters_too(head: str, piece: str):
    def work(times: int) -> int:
        stream = Extractor(tools=TOOLS).stream()

        def feed() -> None:
            for char in head + piece * times:
                stream.feed(char)
            stream.flush()

        return steps_of(feed)

    work(3)
    assert work(800) < 5 * work(200) + 500


@pytest.mark.parametrize(
    ("head", "piece"),
    [("[", '{"name": "f", "parameters": {}}, '), ("[", "f(a=1), "), ('{"text": "', "x"), ("", "f(a=1)\n")],
    ids=["a list", "a pythonic list", "no name", "lines"],
)
def test_so_does_telling_of_progress(head: str, piece: str):
    def work(times: int) -> int:
        stream = Extractor(tools=TOOLS, progress=True).stream()

        def feed() -> None:
            for chunk in [head] + [piece[start : start + 8] for start in range(0, len(piece), 8)] * times:
                stream.feed(chunk)
            stream.flush()

        return steps_of(feed)

    work(3)
    assert work(400) < 5 * work(100) + 500


def test_so_does_building_an_extractor_with_its_tools():
    def work(number: int) -> int:
        declared = [{**tool, "name": f"{tool['name']}_{copy}"} for copy in range(number // 2) for tool in TOOLS]
        return steps_of(lambda: Extractor(tools=declared))

    work(10)
    assert work(1000) <= 10 * work(100)
