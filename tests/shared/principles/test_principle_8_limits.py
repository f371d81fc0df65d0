"""Principle 8: depth, length, calls and rejections are limited; a stream holds back no more than a call may have."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking, pieces, read
from llama3_tools import Extractor, Limits, TextDelta
from told import CLOCK, called, refused, tool

A = '{"name": "a", "parameters": {}}'
TOOLS = [tool("a", "x", "y"), tool("f", "x", "y", "z"), tool("brave_search", "query"), tool("code_interpreter", "code")]
LIMIT = Limits(max_call_length=256)
X = "x" * 300


def long_call(length: int) -> str:
    """Write a call of so many characters."""
    call = '{"name": "a", "parameters": {"x": ""}}'
    return f"{call[:-3]}{'x' * (length - len(call))}{call[-3:]}"


DEPTHS = {
    "none": ("{}", 1, True),
    "one level": ('{"x": 1}', 1, True),
    "an array in one level": ('{"x": []}', 1, False),
    "brackets in a string": ('{"x": {"y": "[{"}}', 2, True),
    "an array in two levels": ('{"x": {"y": [1]}}', 2, False),
    "escaped quotes": (r'{"x": "\"[[", "y": "{{\\", "z": [1]}', 2, True),
    "escaped quotes, two arrays": (r'{"x": "\"]]", "y": "}}\\", "z": [[1]]}', 2, False),
    "a letter beyond ASCII": ('{"x": "é[{", "y": [1]}', 2, True),
    "eight levels": ('{"x": [[[[[[1]]]]]], "y": [[[[[[[1]]]]]]]}', 8, True),
    "eight levels in seven": ('{"x": [[[[[[1]]]]]], "y": [[[[[[[1]]]]]]]}', 7, False),
}
FORMS = ['{"name": "f", "parameters": %s}', '[{"name": "f", "parameters": %s, "id": 1}]', "<function=f>%s</function>"]
FORMS += ["[f(%s)]", "f\n%s", '{"tool_calls": [{"name": "f", "arguments": %s}]}']


@pytest.mark.parametrize(("arguments", "depth", "is_call"), DEPTHS.values(), ids=DEPTHS)
def test_arguments_nested_deeper_are_text(arguments: str, depth: int, is_call: bool):
    for form in FORMS:
        text = f"{form % arguments}\n{A}"
        extraction = extract_in_every_chunking(text, tools=TOOLS, limits=Limits(max_depth=depth), is_sampled=True)
        assert called(extraction) == ("f a" if is_call else "a"), form
        if not is_call:
            assert (extraction.content, refused(extraction)) == (form % arguments, "too_deep f!")
            assert extraction.rejections[0].detail == f"arguments nested deeper than {depth} levels"


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
    for limit, names in ((length, 1), (length - 1, 0)):
        extraction = extract_in_every_chunking(text, tools=TOOLS, limits=Limits(max_call_length=limit), is_sampled=True)
        assert len(extraction.tool_calls) == names
    assert (extraction.content, refused(extraction)[:8], extraction.rejections[0].span[0]) == (text, "too_long", 4)
    if "(" not in call:  # what follows a pythonic call that broke may be a part of one of its strings
        after = extract_in_every_chunking(f"{text}\n{CLOCK}", limits=LIMIT, tools=[*TOOLS, tool("clock")])
        assert called(after) == "clock"


TOO_LONG = {
    "a tag": (f"<tool_call>\n{long_call(300)}", "a"),
    "a list": (f"[{long_call(300)}]", "a"),
    "a pythonic call that quotes another": (f"""f(a='{{"name": "g", "parameters": {{}}}}', b={X!r})""", "f"),
    "a function tag": (f'<function=f>{{"x": "{X}"}}</function>', "f"),
    "an escape in the name": (rf'{{"name": "f\u005f1", "parameters": {{"a": "{X}"}}}}', "f_1"),
    "the name after the limit": (f'{{"page": "{X}", "name": "f", "parameters": {{}}}}', None),
}


@pytest.mark.parametrize(("text", "name"), TOO_LONG.values(), ids=TOO_LONG)
def test_of_a_candidate_that_is_too_long_the_tool_is_named(text: str, name: str | None):
    extraction = extract_in_every_chunking(text, tools=TOOLS, limits=LIMIT, is_sampled=True)
    first = extraction.rejections[0]
    assert (extraction.content, called(extraction), str(first.reason), first.name) == (text, "", "too_long", name)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"result": {{"page": "{X}", "log": [{A}]}}}}',
        f'<function=f>{{"page": "{X}", "log": [{A}]}}</function>',
        f'{{"page": "{X}", "log": [{A}]',
        f'[{{"page": "{X}", "log": [{A}]}}]',
    ],
    ids=["an object", "arguments", "an open object", "in an array"],
)
def test_a_member_of_an_object_that_is_too_long_is_not_called(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, limits=LIMIT)
    assert called(extraction) == ""
    assert refused(extraction).startswith("too_long")


QUOTATION = [
    "<think>{}</think>",
    "```js\n{}\n```",
    "```python\nx = {}\n```",
    "> {}",
    "<tool_response>{}</tool_response>",
]


@pytest.mark.parametrize("quotation", QUOTATION)
def test_quotation_and_thoughts_may_be_of_any_length(quotation: str):
    text = f"{quotation.replace('{}', X)}\n{A}"
    for split in (False, True):
        extraction = extract_in_every_chunking(text, limits=LIMIT, split_reasoning=split, is_sampled=True)
        assert (called(extraction), refused(extraction)) == ("a", "")


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
    "a declared name and prose": ("search(the web for it\n", "prose without brackets "),
    "a name and a parenthesis": ("f(", "("),
    "code": ("<|python_tag|>import os\n", "print(1)\n"),
    "code in a fence": ("<|python_tag|>```python\n", "print(1)\n"),
    "a dict of Python": ("{'name': 'f', 'arguments': {'x': '", "x"),
    "a function tag": ('<function=f>{"x": "', "x"),
    "a name in a tag": ("<function=", "f"),
    "a header": ("<|start_header_id|>", "x"),
    "a name before its arguments": ('f\n{"x": "', "x"),
    "backticks": ("`", "`"),
    "stars": ("*", "*"),
    "tildes": ("~", "~"),
    "angle brackets": ("<", "<"),
    "a span": ("`", f"{A}"),
    "delimiters after a call": (A, "; ,"),
    "closing brackets after a call": (A, "}"),
    "markup": ("", "<x>"),
    "an envelope": ('{"message": "', "x"),
    "malformed JSON to repair": ('{"name": "f", "parameters": {"x": tru, "y": "', "x"),
    "thoughts": ("<think>", "x y\n"),
}


@pytest.mark.parametrize(("head", "piece"), ENDLESS.values(), ids=ENDLESS)
def test_a_stream_never_holds_back_more_than_a_call_may_have(head: str, piece: str):
    extractor = Extractor([*TOOLS, tool("search")], limits=LIMIT, repair=True)
    text = head + piece * (3000 // len(piece))
    whole = extractor.extract(text)
    for size in (1, 7, 100, 5000):
        for end in (250, 300, 1000, 2999):
            stream = extractor.stream()
            for chunk in pieces(text[:end], size):
                stream.feed(chunk)
            held = "".join(event.text for event in stream.abort() if isinstance(event, TextDelta))
            assert len(held.strip()) <= 256, (size, end)
        assert read(pieces(text, size), extractor)[1] == whole, size


AROUND = {
    "a token closes": '<function=a>{"x": "PAD"}<|eom_id|>',
    "a header closes": '<tool_call>{"name": "a", "x": "PAD"}<|start_header_id|>assistant<|end_header_id|></s>',
    "text follows": '<function=a>{"x": "PAD"}Observation: ',
    "another call follows": 'a(x="PAD")a(x=1)',
    "a list follows": '<tool_call>a(x="PAD");[',
    "a fence follows": '[a(x="PAD")```,',
    "bold does not close": '**a(x="PAD")>\n\n]',
    "a comma too many": '{"name": "f", "parameters": {"x": "PAD",}}',
    "a comma too many in a tag": '<tool_call>{"name": "f", "parameters": {"x": "PAD",}}</tool_call>',
    "code": "<|python_tag|>x = 'PAD'<|eom_id|>",
    "code and a header": "<|python_tag|>x = 'PAD'<|start_header_id|>",
    "a dict of Python": "{'name': 'f', 'parameters': {'x': 'PAD'}}",
    "an object after a name": 'f\n{"x": "PAD"}',
}


@pytest.mark.parametrize("text", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("complete", [True, False])
def test_around_the_limit_every_chunking_reads_alike(text: str, *, complete: bool):
    extractor = Extractor(tools=TOOLS, limits=LIMIT, repair=True)
    for length in range(246, 272):
        written = text.replace("PAD", "p" * (length - len(text) + 3))
        whole = extractor.extract(written, complete=complete)
        for size in (1, 3):
            assert read(pieces(written, size), extractor, complete=complete)[1] == whole, written


def test_calls_beyond_the_first_so_many_are_text():
    for text in (f"{A}; {A}; {A} and {A}", f"<tool_call>{A}\n{A}</tool_call>; {A} and {A}", f"[{A}, {A}]; {A} and {A}"):
        extraction = extract_in_every_chunking(text, limits=Limits(max_calls=2))
        assert (called(extraction), extraction.content) == ("a a", f"{A} and {A}")
        assert (refused(extraction), extraction.attempts) == ("too_many a, too_many a", ())
    assert extraction.rejections[0].detail == "beyond the first 2 calls"


TOO_MANY = {
    "a list": f"[{A}, {A}, {A}]",
    "a pythonic list": "[a(), a(), a()]",
    "a fence": f"```json\n{A}\n{A}\n{A}\n```",
    "an envelope": f'{{"tool_calls": [{A}, {A}, {A}]}}',
    "code": "<|python_tag|>x = 1<|eom_id|>" * 3,
}


@pytest.mark.parametrize("text", TOO_MANY.values(), ids=TOO_MANY)
def test_a_list_with_too_many_keeps_the_first(text: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS, limits=Limits(max_calls=2))
    assert len(extraction.tool_calls) == 2
    assert refused(extraction).split(" ")[0] == "too_many"


def test_rejections_beyond_the_first_so_many_are_not_listed():
    text = f'{{"x": 1}} {{"y": 2}} {{"z": 3}} {{"u": 4}} {A}'
    extraction = extract_in_every_chunking(text, limits=Limits(max_rejections=2))
    assert (called(extraction), refused(extraction)) == ("a", "not_a_call, not_a_call, too_many")
    assert extraction.rejections[2].span == (18, 26)
