"""Principles 3 and 6: a call inside something that is not read does not count, whatever comes before it.

Inside are: a candidate that broke, the arguments of a call that is not read, and what is directly after a key.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkings import cut, extract_in_every_chunking, read
from llama3_tools import Extractor
from told import CLOCK, DELETE, TOOLS, called

PYTHONIC = "delete(path='/')"
SAVE = '{{"name": "save", "arguments": {{{}}}}}'.format
BROKE, LINE = SAVE(f'"tags": ["a",], "example": {DELETE}'), SAVE(f'"text": "Never:\n{PYTHONIC}\n"')
RUNS_DATA = {
    "R1, a member of what broke after a call": f"<tool_call>{CLOCK}\n{BROKE}</tool_call>",
    "R1 in a fence": f"```json\n{CLOCK}\n{BROKE}\n```",
    "R1 in a list": f"[{CLOCK}, {BROKE}]",
    "R2, a line of a broken string": f"<tool_call>{CLOCK}\n{LINE}</tool_call>",
    "R2 in a fence": f"```json\n{CLOCK}\n{LINE}\n```",
    "R2 in a list": f"[{CLOCK}, {LINE}]",
    "R3, an argument of a method": f"{CLOCK}\nfoo.call(payload={DELETE})",
    "R3, a tag with parentheses": f"{CLOCK}\n<function=save({DELETE})</function>",
    "R3, a comma": f"{CLOCK}\nsave,{DELETE}",
    "R3, a colon": f"{CLOCK}\nsave:{DELETE}",
    "R3, a name in a tag": f"{CLOCK}\n<tool_call>save {DELETE}</tool_call>",
    "R3, a name in brackets": f"{CLOCK}\n[save]\n{DELETE}",
    "R3, a call that is not read": f"Sure. save(text='see [{PYTHONIC}] now')",
    "no quotation marks": f'{{"name":"save","parameters":{{"text":\n{PYTHONIC}\n}}}}',
    "quotation marks in a string": f'{{"name":"save","parameters":{{"text":"say("x")\n{PYTHONIC}\n"}}}}',
    "a pythonic call with quotation marks in a string": f'save(text="say("x")\n{PYTHONIC}\n")',
    "a call of Python in a string": f"save(text='print('a')\n{PYTHONIC}\n')",
    "a call of Python with two arguments in a string": f"save(text='print('a', 'b')\n{PYTHONIC}\n')",
    "an expression": f'save(text=open("x").read(\n{PYTHONIC}\n))',
    "arguments that are calls": f"save(text=oops(\n{PYTHONIC},\n{PYTHONIC}\n))",
    "on the line of a call that broke": f"save(oops), {PYTHONIC}",
    "after another call that broke in the string": SAVE(f'"text":"x\nsave(text=oops)\n{PYTHONIC}\n"'),
    "a string that is cut off": f'{{"name": "save", "parameters": {{"text": "Mail: \\"{DELETE} and',
    "a string of Python that is cut off": f"{{'name': 'save', 'parameters': {{'text': 'Mail: {DELETE} and",
    "a tag in a string that is cut off": '{"name": "save", "parameters": {"text": "use <function=delete>{}</function>',
    "a tag that breaks in what broke": f'{{"a": oops, <function=save>x</function> "b": {DELETE}}}',
    "text in a tag that names its tool": f"<function=save>So: {DELETE}</function>",
    "a list in a tag that names its tool": f"<function=save>[{PYTHONIC}]</function>",
    "text in a tag within a sentence": f"Sure: <function=save>So: {DELETE}</function>",
    "a list in a tag within a sentence that names no tool": f"Sure: {{<function=rm>[{DELETE}]</function>",
    "a tag in a string of a pythonic call": 'save(text="x\n<function=delete>{}</function>\n")',
}


@pytest.mark.parametrize("text", RUNS_DATA.values(), ids=RUNS_DATA)
def test_it_is_never_called(text: str):
    for options in ({}, {"repair": True}, {"complete": False}):
        extraction = extract_in_every_chunking(text, tools=TOOLS, is_sampled=bool(options), **options)
        assert "delete" not in called(extraction)
        assert extraction.rejections or "save" in called(extraction)


BROKEN = {
    "a pythonic call": "f(a=oops)",
    "a pythonic call on lines": "f(\n a=oops(1),\n b=2)",
    "an object before a call": f'{{"a" b}} {CLOCK}',
    "an object": '{"a" b}',
    "a set": 'The set {"a", "b"} is it.',
    "a set in single quotes": "The set {'a', 'b'} is it.",
    "two sets": 'It is {"a", "b"} or {"c", "d"}.\n',
    "a set that is left open": 'The set {"a", "b" is it.\n',
    "a string that is left open": 'The set {"a", "b is it.\n',
    "a rule of CSS": "body { color: red; }",
    "a smiley": ":-{ well\n",
    "a formula": "\\frac{a}{'b}\n",
    "arguments of prose": "Use f(x, and",
    "a call": SAVE('"tags": [a]'),
    "a call that is left open": SAVE('"tags": [a]')[:-1] + "\n",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize(
    "call", [DELETE, PYTHONIC, f"[{PYTHONIC}]", f"```python\n{PYTHONIC}\n```", 'delete\n{"path": "/"}'], ids=ascii
)
def test_after_it_a_call_of_any_form_is_a_call(broken: str, call: str):
    extraction = extract_in_every_chunking(f"{broken}\n{call}", tools=TOOLS, is_sampled=True)
    assert called(extraction).split()[-1:] == ["delete"]
    assert "delete" not in {one.name for one in extraction.rejections}


_BEFORE = ["", "Hi.\n", CLOCK, f"{CLOCK}\n", "<tool_call>", f"<tool_call>{CLOCK}\n", "```json\n", f"```json\n{CLOCK}\n"]
_BEFORE += [
    "[",
    f"[{CLOCK}, ",
    "[clock(), ",
    "clock()\n",
    "<function=clock>{}</function>",
    "{",
    '{"a": oops}\n',
    "`x` ",
]
_BEFORE += [
    '{"name": "f", "parameters": 5} ',
    "> ",
    "<think>x</think>",
    "<|python_tag|>",
    "**",
    f"<x>{CLOCK}</x>",
    "\n",
]
_BREAKS = ["oops, ", "True, ", '["a",], ', "[1, , ", "{'x'}, ", '"say "x"", ', "1 2, ", '"\\q", ', "{'b': "]
_INSIDE = [DELETE, f"[{DELETE}]", f"[[ {DELETE}, {DELETE}]]", f'{{"c": {DELETE}}}', f"\n{DELETE}", f" {DELETE}, "]
_KEYS = ['"b": ', '"b":\n', '"b"\n: ', '"b":[', '"b": [[\n', '"b": [{"c": 1}, ', '"b": [1, ']
_UNREAD = ["foo.call(x=%s)", "foo(x=%s, y=oops)", "save(text=oops, tags=%s)", "[save(text=x, tags=[%s])]", "foo(%s)"]
_UNREAD += [
    "<function=rm>%s</function>",
    "<function=save>{'a': oops, 'b': %s}</function>",
    "\n<function=save>x %s</function>",
]
_EXTRACTORS = [Extractor(tools=TOOLS), Extractor(tools=TOOLS, repair=True), Extractor(tools=TOOLS, formats="all")]

befores = st.lists(st.sampled_from(_BEFORE), max_size=3).map("".join)
broken = st.tuples(
    st.sampled_from(_BREAKS), st.lists(st.sampled_from([*_BREAKS, '"k": 1, ']), max_size=2), st.sampled_from(_KEYS)
)
keyed = st.tuples(broken, st.sampled_from(_INSIDE)).map(
    lambda parts: f'{{"name": "save", "arguments": {{"a": {parts[0][0]}{"".join(parts[0][1])}{parts[0][2]}{parts[1]}'
)
unread = st.tuples(st.sampled_from(_UNREAD), st.sampled_from(_INSIDE)).map(lambda parts: parts[0] % parts[1])


@given(befores, keyed | unread, st.sampled_from(["", "}}", "]}}", "}}</tool_call>\n", "\n```\nDone."]), st.randoms())
@settings(max_examples=400)
def test_whatever_stands_before_it(before: str, inside: str, after: str, seeded):  # noqa: ANN001 - a Random
    """Nothing in a broken candidate, in an argument of a call that is not read, or after a key, is ever called."""
    text = before + inside + after
    places = sorted(seeded.sample(range(1, len(text)), 3))
    for extractor, chunks in itertools.product(_EXTRACTORS, ([text], list(text), cut(text, places))):
        _, extraction = read(chunks, extractor)
        assert "delete" not in called(extraction), chunks
        rejected = [one.span for one in extraction.rejections]
        for call in extraction.tool_calls:
            assert not any(start <= call.span[0] < end for start, end in rejected), chunks
