"""Principle 3: a part of something is never called, however far back that began; once it is closed, a call is a call.

`surroundings.py` writes any number of both at random.
"""

from __future__ import annotations

import random

import pytest

from chunkings import cut, extract_in_every_chunking, pieces, read
from llama3_tools import Extractor
from surroundings import what_is_inside_is_never_called
from told import CLOCK, DELETE, TOOLS, called, tool

ALL = [*TOOLS, tool("search", "query"), tool("write", "path", "content")]
NEAR = (10, 250, 257)
FAR = {5000: (3,), 20_000: (4096,)}
"""How far away, and the pieces that a stream has of it."""
PYTHONIC = "delete(path='/')"
TAGGED = f"<tool_call>{DELETE}</tool_call>"
WRITE = '{"name": "write", "parameters": {'

Apart = tuple[str, str, str]
"""What begins, what is repeated until it is far away, and the rest."""

ARRAYS: dict[str, Apart] = {
    "after a string": ('["', "a", f'", {DELETE}]'),
    "after a string in single quotes": ("['", "a", f"', {DELETE}]"),
    "after strings": ("[", '"a ]", ', f"{DELETE}]"),
    "after numbers": ("[", "0, ", f"{DELETE}]"),
    "after words": ("[", "abc, ", f"{DELETE}]"),
    "after arrays": ("[", "[1, 2], ", f"{DELETE}]"),
    "after arrays in arrays": ("[[", "[1, 2], ", f"{DELETE}]]"),
    "after arrays of objects": ("[", '[{"a": 1}], ', f"{DELETE}]"),
    "after objects": ("[", '{"a": "]"}, ', f"{DELETE}]"),
    "after dicts of Python": ("[", "{'a': ']'}, ", f"{DELETE}]"),
    "after lines": ("[\n", '  "it\'s",\n', f"  {DELETE}\n]"),
    "after a comma and blank lines": ("[1,", "\n", f"{DELETE}]"),
    "in a list": ("[1, ", "2, ", f"[{PYTHONIC}]]"),
    "on a line": ("[1,\n", "2,\n", f"{PYTHONIC}\n]"),
    "in a tag": ("[1, ", "2, ", f"{TAGGED}]"),
    "in a sentence": ("I have [1, ", "2, ", f"{DELETE}] here"),
    "after comments": ("[1, // a", "b", f"\n{DELETE}]"),
    "after other comments": ("[1, # a", "b", f"\n{DELETE}]"),
    "in a tuple": ("[1, (", "0, ", f"{DELETE})]"),
    "in a sign that begins no value": ("[1, <b>", "a", f"</b>{DELETE}]"),
    "after an array of prose with a bracket in a string": ('["a", [', "it is, ", f"'so ]', 1], {DELETE}]"),
    "after an array of code with a bracket in a string": ('["a", [', "g(1), ", f"'so ]', 1], {DELETE}]"),
}
ARGUMENTS: dict[str, Apart] = {
    "after a string": ('print("', "a", f'", {DELETE})'),
    "after a string in single quotes": ("print('", "a", f"', {DELETE})"),
    "in a string": ('print("', "a", f' {DELETE}")'),
    "in a string in single quotes": ("print('", "a", f" {DELETE}')"),
    "in a string with an apostrophe": ("print('it's ", "a", f"\n{DELETE}')"),
    "in backticks": ("print(x=`", "a\n", f"{DELETE}\n`)"),
    "in a string of three quotes": ('print("""', "a\n", f'{DELETE}\n""")'),
    "after numbers": ("print(", "0, ", f"{DELETE})"),
    "after words": ("print(", "abc, ", f"{DELETE})"),
    "after words by name": ("print(", "a=abc, ", f"x={DELETE})"),
    "after calls": ("print(", "len(x), ", f"{DELETE})"),
    "in an array": ("print([", "0, ", f"{DELETE}])"),
    "in a dict": ("print({", "'a': 0, ", f"'b': {DELETE}}})"),
    "after comments": ("run(\n", "    # a comment\n", f"    {DELETE})"),
    "on an indented line": ("run(\n", "    x\n", f"    {DELETE}\n)"),
    "after a comma and a line break": ("run(x,\n", "a=1,\n", f"{DELETE})"),
    "after a line that begins with a comma": ("run(x\n", ", a=1\n", f", {DELETE})"),
    "of a method": ("foo.bar(", "0, ", f"{DELETE})"),
    "of a result": ("f()(", "0, ", f"{DELETE})"),
    "in a sentence": ("So print(", "the 3, ", f"{DELETE}) it"),
    "of a declared tool": ("save(", "oops, ", f"{DELETE})"),
    "in a tag": ('print(x, "', "a", f'", {TAGGED})'),
}
VALUES: dict[str, Apart] = {
    "in backticks": (f'{WRITE}"content": `', "a\n", f"{DELETE}\n`}}}}}}"),
    "in three quotes": (f'{WRITE}"content": """', "a\n", f'{DELETE}\n"""}}}}}}'),
    "after a sign of YAML": (f'{WRITE}"content": |', "\n", f"{DELETE}}}}}}}"),
    "after a comment": (f'{WRITE}"content": // a', "b", f"\n{DELETE}}}}}}}"),
    "in parentheses": (f'{WRITE}"content": (', "1, ", f"{DELETE})}}}}}}"),
    "in curly quotes": (f'{WRITE}"content": “', "a", f"{DELETE}”}}}}}}"),
    "of a bare key": (f'{WRITE}"path": "', "a", f'", content: {DELETE}}}}}'),
    "of a bare key after another": (WRITE, "path: oops, ", f"content: {DELETE}}}}}"),
    "of a key in single quotes": (WRITE, "'path': oops, ", f"'content': {DELETE}}}}}"),
    "of a bare key after blanks": (f"{WRITE}content:", " ", f"{DELETE}}}}}"),
    "of a bare key after lines": (f"{WRITE}content:", "\n", f"{DELETE}}}}}"),
    "of a key in single quotes after blanks": (f"{WRITE}'content':", " ", f"{DELETE}}}}}"),
    "of a bare key, in an array": (f"{WRITE}content: [", "1, ", f"{DELETE}]}}}}"),
    "of a bare key, nested": (f"{WRITE}content: {{", "a: 1, ", f"b: [[{DELETE}]]}}}}}}"),
    "of a bare key after comments": (WRITE, "# why\n", f"content: {DELETE}}}}}"),
    "of a bare key after comments of JavaScript": (WRITE, "// why\n", f"content: {DELETE}}}}}"),
    "of a bare key, in a tag": (f'{WRITE}path: "', "a", f'", content: {TAGGED}}}}}'),
    "of a bare key, a list": (f'{WRITE}path: "', "a", f'", content: [{PYTHONIC}]}}}}'),
    "of a bare key in a function tag": ('<function=write>{path: "', "a", f'", content: {DELETE}}}</function>'),
    "of a key in a function tag": ("<function=write>{'path': \"", "a", f"\", 'content': {DELETE}}}</function>"),
    "of a bare key after the tool's name": ('write\n{path: "', "a", f'", content: {DELETE}}}'),
    "of a bare key of no call": ("{a: {", "b: 1, ", f"c: {DELETE}}}}}"),
    "of a dict of Python": ("{'a': '", "a", f"', 'b': {DELETE}}}"),
    "of a call in a dict of Python": ("{'name': 'write', 'parameters': {'path': '", "a", f"', 'content': {DELETE}}}}}"),
    "of JSON that broke": ('{"a": oops, "b": "', "a", f'", "c": {DELETE}}}'),
    "of a key, after prose with a brace in a string": ('{"a": [', "it is, ", f"'so }}', {DELETE}]}}"),
}
_MAIL = '{"name": "save", "arguments": {"tags": "x", "text": "'
STRINGS: dict[str, Apart] = {
    "in a tag": (f"<tool_call>{_MAIL}", "Hi.\n", f'{DELETE}\n"}}}}</tool_call>'),
    "in a tag, a pythonic call": (f"<tool_call>{_MAIL}", "Hi.\n", f'{PYTHONIC}\n"}}}}</tool_call>'),
    "blank lines": (_MAIL, "Hi.\n\n", f'{DELETE}\n\nBye"}}}}'),
    "a fence": (_MAIL, "Hi.\n", f'```json\n{DELETE}\n```\n"}}}}'),
    "a tag": (_MAIL, "Hi.\n", f'{TAGGED}\n"}}}}'),
    "quotes": (_MAIL, 'say "x" to\n', f'{DELETE}\n"}}}}'),
    "in single quotes": ("{'name': 'save', 'arguments': {'text': '", "Hi.\n", f"{DELETE}\n'}}}}"),
    "in a function tag": ('<function=save>{"text": "', "Hi.\n", f'{DELETE}\n"}}</function>'),
    "of a pythonic call": ("save(text='", "Hi.\n", f"{DELETE}\n')"),
    "of a pythonic call, a pythonic call": ('save(text="', "Hi.\n", f'{PYTHONIC}\n")'),
    "of a list": ("[save(text='", "Hi.\n", f"{DELETE}\n')]"),
}
INSIDE = {
    **{f"an element {label}": apart for label, apart in ARRAYS.items()},
    **{f"an argument {label}": apart for label, apart in ARGUMENTS.items()},
    **{f"the value {label}": apart for label, apart in VALUES.items()},
    **{f"a line of a broken string, {label}": apart for label, apart in STRINGS.items()},
}


def written(apart: Apart, distance: int) -> str:
    begin, repeated, rest = apart
    return begin + repeated * (distance // len(repeated) + 1) + rest


def called_from_afar(apart: Apart, after: str = "") -> set[str]:
    """Return what is called at each distance that is too long to cut at every place, whole and in pieces."""
    extractor = Extractor(tools=ALL)
    names: set[str] = set()
    for distance, sizes in FAR.items():
        text = written(apart, distance) + after
        whole = extractor.extract(text)
        places = sorted(random.Random(distance).sample(range(1, len(text)), 5))  # noqa: S311 - the same cuts each time
        for chunks in (*(pieces(text, size) for size in sizes), cut(text, places)):
            assert read(chunks, extractor)[1] == whole, (distance, len(chunks))
        names.add(called(whole))
    return names


@pytest.mark.parametrize("apart", INSIDE.values(), ids=INSIDE)
def test_what_is_inside_is_never_called_and_once_that_is_closed_a_call_is_a_call(apart: Apart):
    for distance in NEAR:
        extraction = extract_in_every_chunking(f"{written(apart, distance)}\n\n{CLOCK}", tools=ALL, is_sampled=True)
        assert called(extraction) == "clock", distance
        assert extraction.rejections, distance
    for options in ({}, {"tools": ALL, "repair": True}):
        text = f"{written(apart, NEAR[0])}\n\n{CLOCK}"
        names = called(extract_in_every_chunking(text, is_sampled=True, **options))
        assert names in ("clock", "save clock", "write clock")
    assert called_from_afar(apart, f"\n\n{CLOCK}") == {"clock"}


OUTSIDE: dict[str, Apart] = {
    "a word in quotes and a colon, on the line before": ("I'll call ", "a ", f'"search":\n{CLOCK}'),
    "a bracket in quotes": ("SyntaxError: '{' was never closed", ". ", f"\n{CLOCK}"),
    "apostrophes": ("It's 5 o'clock, ", "that's it, ", CLOCK),
    "a quotation mark": ('He said "', "so ", CLOCK),
    "a list's number": ("1) ", "so, ", CLOCK),
    "a smiley": ("Fine :-( ", "so, ", CLOCK),
    "a parenthesis of prose": ("It is (see ", "so, ", CLOCK),
    "a bracket of prose": ("It is [see the docs, ", "so, ", CLOCK),
    "a note in brackets": ("[Note: ", "so, ", CLOCK),
    "a heading with a number": ("Result [1]:\n", "so ", CLOCK),
    "a link": ("[a](http://x), ", "so, ", CLOCK),
    "citations": ("[1], [2], ", "so, ", CLOCK),
    "a task": ("- [ ] ", "so, ", CLOCK),
    "a footnote": ("[^1]: ", "so, ", CLOCK),
    "a formula": ("\\[ f(x) \\], ", "so, ", CLOCK),
    "an array that is closed": ('["', "a", f'"] {CLOCK}'),
    "an array that closes over what was left open": ('["a", [{(', "1, ", f"] {CLOCK}"),
    "an array with a bracket in its string": ('["a ]", "', "a", f'"] {CLOCK}'),
    "an array that a blank line ends": ('["a"', " ", f"\n\n{CLOCK}"),
    "an array without a comma": ('["', "a", f'" {CLOCK}'),
    "numbers without a comma": ("[1, ", "2, ", f"3 {CLOCK}"),
    "arguments that are closed": ("print(", "1, ", f") {CLOCK}"),
    "arguments that their line ends": ("print(the ", "list ", f"\n{CLOCK}"),
    "arguments that a blank line ends": ("run(x,\n", "y,\n", f"\n{CLOCK}"),
    "indented arguments that a blank line ends": ("run(\n  x,\n", "  y,\n", f"\n{CLOCK}"),
    "an object that is closed": ('{a: "', "a", f'"}} {CLOCK}'),
    "an object without a comma": ('{"a": "', "a", f'" {CLOCK}'),
    "an object left open after a comma": ('{"a": "', "a", f'", {CLOCK}'),
    "a call left open": ('{"name": "f", "parameters": {"a": "', "a", f'"\n{CLOCK}'),
    "a call left open, in single quotes": ("{'name': 'f', 'parameters': {'a': '", "a", f"'}}\n{CLOCK}"),
    "a call left open, before a tag": (
        "{'name': 'f', 'parameters': {'a': '",
        "a",
        f"'}}\n<tool_call>{CLOCK}</tool_call>",
    ),
    "a call left open, with bare keys": ("{name: 'f', parameters: {a: '", "a", f"'}}\n<tool_call>{CLOCK}</tool_call>"),
    "a brace and a quote of prose": ("In LaTeX, {'", "a and more. ", f"\n\n{CLOCK}"),
    "a brace and a quotation mark of prose": ('In LaTeX, {"', "a and more. ", f"\n\n{CLOCK}"),
    "a set left open": ("The set {'a', '", "b", f"'\n\n{CLOCK}"),
    "prose after a tool's name": ("search(the web for it\n", "prose ", f"\n{CLOCK}"),
    "a string after a tool's name": ("search('it\n", "prose ", f"\n\nThen:\n{CLOCK}"),
    "a string in double quotes after a tool's name": ('search("it\n', "prose ", f"\n\nThen:\n{CLOCK}"),
    "a string with a line break": ("search(query='a\n", "b", f"')\n{CLOCK}"),
    "a string in double quotes with a line break": ('search(query="a\n', "b", f'")\n{CLOCK}'),
    "a value of words": ("search(query=", "oops ", f"\n{CLOCK}"),
    "a pythonic call left open": ("search(query='x'", " ", f"\n{CLOCK}"),
    "a list left open": ("[search(the web ", "prose ", f"\n{CLOCK}"),
}


@pytest.mark.parametrize("apart", OUTSIDE.values(), ids=OUTSIDE)
def test_prose_and_what_has_ended_hide_no_call(apart: Apart):
    for distance in NEAR[::2]:
        assert called(extract_in_every_chunking(written(apart, distance), tools=ALL, is_sampled=True)) == "clock"
    assert called_from_afar(apart) == {"clock"}


def test_a_call_that_is_made_ends_what_was_left_open_around_it():
    text = f'["x" {CLOCK}, {CLOCK}] and [{CLOCK}'
    assert called(extract_in_every_chunking(text, tools=ALL)) == "clock clock clock"


@pytest.mark.parametrize(("seeds", "longest"), [(range(100), 300), (range(10), 5000), (range(2), 30_000)])
def test_whatever_is_opened_and_whatever_fills_it(seeds: range, longest: int):
    """No element of data, no argument, no string in these and no value of a key is ever called; after it, a call is."""
    for seed in seeds:
        what_is_inside_is_never_called(seed, longest)
