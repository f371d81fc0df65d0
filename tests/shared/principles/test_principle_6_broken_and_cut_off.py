"""Principle 6: what is broken or cut off is text, is reported where it is, and hides no call after it."""

from __future__ import annotations

import itertools

import pytest

from chunkings import chunkings, extract_in_every_chunking
from llama3_tools import Extractor, StreamStateError, TextDelta, ToolCallReady, extract
from told import CLOCK, TOOLS, called, refused, tool

ALL = [*TOOLS, tool("code_interpreter", "code")]
SEARCH = [*TOOLS, tool("search", "query")]
GOES_ON = {
    "a string left open before calls": (
        f'{{"name": "f", "parameters": {{"q": "F-0001; {CLOCK}; {CLOCK}',
        "clock clock",
    ),
    "arguments left open": (f'{{"name": "f", "parameters": {{"a": "x"; {CLOCK}', "clock"),
    "a call left open": (f'{{"name": "f", "parameters": {{"a": "x"}}; {CLOCK}', "clock"),
    "a call where a key was due": (f'{{"name": "f", {CLOCK}', "clock"),
    "a call without its brace": (f'{{"name": {CLOCK[1:]}', ""),
    "a second brace": (f"{{{CLOCK}", "clock"),
    "braces around": (f"{{ {CLOCK} }}", "clock"),
    "an open string in a bracket": (f'["x {CLOCK}', "clock"),
    "braces of prose": (f"{{x}} {CLOCK}", "clock"),
    "open brackets of prose": (f"[[{{ {CLOCK}", "clock"),
    "prose in a list": (f"[{CLOCK}, oops]", "clock"),
    "a constant": (f'{{"name": "f", "parameters": {{"a": True}}}} and {CLOCK}', "clock"),
    "a constant between calls": (
        f'{CLOCK} then {{"name": "f", "parameters": {{"a": True}}}} and {CLOCK}',
        "clock clock",
    ),
    "a dict of Python": (f"{{'name': 'f', 'parameters': {{}}}} {CLOCK}", "clock"),
    "a pythonic call": (f"f(a=oops)\n{CLOCK}", "clock"),
    "a function tag": (f'<function=f>{{"a": oops}}</function> {CLOCK}', "clock"),
    "in a tag": (
        f'<tool_call>{{"name": "f", "parameters": oops}}</tool_call>\n<tool_call>{CLOCK}</tool_call>',
        "clock",
    ),
}


@pytest.mark.parametrize(("text", "names"), GOES_ON.values(), ids=GOES_ON)
def test_the_search_goes_on_at_the_token_that_broke_it(text: str, names: str):
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    assert called(extraction) == names
    spans = sorted([one.span for one in (*extraction.rejections, *extraction.tool_calls)])
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "f", "parameters": {"a": True}}', "f"),
        ('{"type": "function", "function": "f", "parameters": {"a": oops}}', "f"),
        ('{"name": "f", "parameters": {"a": "cut o', "f"),
        (r'{"name": "get\u005fw", "parameters": {"a": oops}}', "get_w"),
        (f'{{"name": "{"f" * 129}", "parameters": {{"a": oops}}}}', None),
        (r'{"name": "get\_weather", "parameters": {"a": oops}}', None),
        (r"{'name': 'f\q', 'parameters': {}}", None),
        (r'{"name": "f\ud83d", "parameters": {"a": oops}}', None),
        ('{"id": "%s", "name": "f", "parameters": oops}' % ("x" * 5000), None),
    ],
)
def test_it_names_the_tool_that_is_meant(text: str, name: str | None):
    assert extract_in_every_chunking(text, is_sampled=len(text) > 1000).rejections[0].name == name


LEFT_OPEN = {
    "a call in single quotes": ("{'name': 'search', 'parameters': {'query': 'x'}\n%s", "malformed search!"),
    "a call in double quotes": ('{"name": "search", "parameters": {"query": "x"}\n%s', "malformed search!"),
    "a string in single quotes": ("{'name': 'search', 'parameters': {'query': 'x}}\n%s", None),
    "a string in double quotes": ('{"name": "search", "parameters": {"query": "x}}\n%s', None),
    "a string, a semicolon after it": ("{'name': 'search', 'parameters': {'query': 'x'; %s", "malformed search!"),
    "a cut string, a semicolon in it": ("{'name': 'search', 'parameters': {'query': 'x\ny; %s", "malformed search!"),
    "a quote of prose": ("In LaTeX, {'a and more.\n\n%s", "malformed"),
    "a quote of prose, on its line": ("In LaTeX, {'a and %s", None),
    "a quotation mark of prose": ('In LaTeX, {"a and more.\n\n%s', "malformed"),
    "prose after a tool's name": ("search(the web for it\nand so on.\n%s", "malformed search"),
    "a string after a tool's name": ("search('it\n\nThen:\n%s", "malformed search!"),
    "a string after a tool's name, no blank line": ("search('it\nThen:\n%s", None),
    "a string of a call": ("search(query='it\n\nThen:\n%s", None),
    "a string of a call, in double quotes": ('search(query="it\n\nThen:\n%s', None),
    "a line break in a string": ("search(query='a\nb')\n%s", "malformed search!"),
    "a line break in a string, in double quotes": ('search(query="a\nb")\n%s', "malformed search!"),
    "a line break in a list's string": ("[search(query='a\nb')]\n%s", "malformed search!"),
}


@pytest.mark.parametrize(("text", "reasons"), LEFT_OPEN.values(), ids=LEFT_OPEN)
def test_what_is_left_open_hides_a_call_only_if_that_may_be_a_line_of_its_string(text: str, reasons: str | None):
    for call in (CLOCK, f"<tool_call>{CLOCK}</tool_call>"):
        extraction = extract_in_every_chunking(text % call, tools=SEARCH)
        if reasons:
            assert (called(extraction), refused(extraction)) == ("clock", reasons)
        else:
            assert called(extraction) == ""
            assert extraction.rejections


FLOWS = [
    *(
        "In LaTeX, {'a",
        'In LaTeX, {"a',
        "The set {'a', 'b",
        "{name: 'it",
        "search(the web",
        "search(x=",
        "[search(the web",
    ),
    *("search('it", 'search("it', "search(query='it", "search(query='a' b", "search(query=[1, oops", "search(oops, "),
    *("{'name': 'search', 'parameters': {'query': 'x'}", "{'name': 'search', 'parameters': {'query': 'x"),
    '{"name": "search", "parameters": {"query": "x',
]


@pytest.mark.parametrize("text", FLOWS)
def test_text_after_what_broke_flows_from_the_next_line_on(text: str):
    stream = Extractor(SEARCH).stream()
    stream.feed(text + " and more" * 100)
    out = "".join(
        event.text for event in stream.feed("\nprose") + stream.feed(" and more") if isinstance(event, TextDelta)
    )
    assert out.endswith(" and more")


@pytest.mark.parametrize("text", ["{x}", "[]", "[1]", "[x]", "{{x}}", "a {b", "[", "[ [", "[[1], [2]]", "f({x})"])
def test_braces_and_brackets_of_prose_are_no_rejection(text: str):
    assert refused(extract_in_every_chunking(text)) == ""


CUT_OFF = {
    "JSON": ('{"name": "f", "parameters": {"q": "x', "f"),
    "the arguments first": ('{"arguments": {"q": "x', None),
    "a function tag": ('<function=f>{"q": "x', "f"),
    "a tag": ('<tool_call>{"name": "f", "arg', "f"),
    "a list": ('[{"name": "f", "par', "f"),
    "a fence": ('```json\n{"name": "f", "par', "f"),
    "a pythonic list": ("[f(a='x', b=", "f"),
    "a pythonic line": ("f(a='x', b=", "f"),
    "a built-in call": ('<|python_tag|>f.call(a="x', "f"),
    "a dict of Python": ("{'name': 'f', 'arguments': {'q': 'x", "f"),
    "a name before its arguments": ('f\n{"q": "x', "f"),
    "an envelope": ('{"tool_calls": [{"name": "f", "parameters": {}},', "f"),
}


@pytest.mark.parametrize(("text", "name"), CUT_OFF.values(), ids=CUT_OFF)
def test_what_is_cut_off_is_an_attempt_that_names_its_tool(text: str, name: str | None):
    for before, names in (("", ""), (f"{CLOCK}\n", "clock")):
        for options in ({}, {"complete": False}, {"repair": True}):
            extraction = extract_in_every_chunking(before + text, tools=TOOLS, is_sampled=bool(options), **options)
            assert called(extraction) == names
            assert [(str(one.reason), one.name) for one in extraction.attempts] == [("truncated", name)]
            assert (extraction.content or "").endswith(text.removeprefix("<|python_tag|>"))


@pytest.mark.parametrize("end", range(1, len(CLOCK)))
def test_an_output_that_ends_inside_a_call_gives_no_call_and_keeps_those_before(end: int):
    for opening in ("", "[", "<tool_call>", "```json\n"):
        extraction = extract_in_every_chunking(f"{opening}{CLOCK}\n{CLOCK[:end]}", is_sampled=True)
        assert called(extraction) == "clock"
        assert refused(extraction).rstrip("!").split(" ")[0] == ("truncated" if end > 1 else "")
        assert (extraction.content or "").replace(" ", "") == CLOCK[:end].replace(" ", "")


def test_after_a_limit_code_is_not_called():
    for complete, names in ((True, "code_interpreter"), (False, "")):
        extraction = extract_in_every_chunking("<|python_tag|>x = 1", complete=complete, tools=ALL)
        assert (called(extraction), refused(extraction)) == (names, "" if names else "truncated code_interpreter!")
    closed = extract_in_every_chunking("<|python_tag|>x = 1<|eom_id|>", complete=False, tools=ALL)
    assert called(closed) == "code_interpreter"


OPEN = {
    "a tag": f"<tool_call>{CLOCK}",
    "a tag, its closing begun": f"<tool_call>{CLOCK}</tool_c",
    "a tag with two calls": f"<tool_call>{CLOCK}\n{CLOCK}",
    "a tag and a bracket": f"<tool_call>{CLOCK}<",
    "a function tag": "<function=clock>{}",
    "a function tag, its closing begun": "<function=clock>{}</",
    "an empty function tag": "<function=clock></func",
    "a pythonic list": "[clock(), g(",
    "a pythonic list that is closed": "[clock()]",
    "a line": "clock()",
    "a line in bold": "**clock()*",
    "a fence of pythonic calls": "```python\nclock()\n",
    "code": "<|python_tag|>x = 1",
    "code after a line": "<|python_tag|>import os\nprint(1)",
    "JSON": CLOCK[:-1],
    "an envelope": f'{{"tool_calls": [{CLOCK},',
    "what may be repaired": '{"name": "clock", "arguments": {"zone": True',
}


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
def test_a_stream_that_breaks_off_calls_nothing_more_and_all_is_text(text: str):
    extractor = Extractor(ALL, repair=True)
    for chunks in chunkings(f"One. {CLOCK}\nThen:\n{text}"):
        stream = extractor.stream()
        sent = [event for chunk in chunks for event in stream.feed(chunk) if isinstance(event, ToolCallReady)]
        events = stream.abort()
        assert not any(isinstance(event, ToolCallReady) for event in events), chunks
        assert called(stream.extraction) == "clock" == " ".join(event.tool_call.name for event in sent)
        assert stream.extraction.content.split() == f"One. Then: {text}".split(), chunks
        assert [str(one.reason) for one in stream.extraction.attempts][:1] in (["truncated"], ["malformed"]), chunks


def test_after_an_exception_of_id_factory_the_turn_has_to_begin_anew():
    def fail() -> str:
        raise LookupError("no more ids")

    stream = Extractor(tools=TOOLS, id_factory=fail).stream()
    with pytest.raises(LookupError):
        stream.feed('{"name": "clock", "arguments": {}} ')
    for verb in (lambda: stream.feed("x"), stream.flush, stream.abort):
        with pytest.raises(StreamStateError, match="id_factory"):
            verb()


def test_after_its_end_a_turn_is_over():
    for end, verb in itertools.product(("flush", "abort"), ("feed", "flush", "abort")):
        stream = Extractor().stream()
        with pytest.raises(StreamStateError, match=r"extraction before flush\(\)"):
            _ = stream.extraction
        getattr(stream, end)()
        with pytest.raises(StreamStateError, match=rf"{verb}\(\) after {end}\(\): the turn is over"):
            getattr(stream, verb)(*(["x"] if verb == "feed" else []))


@pytest.mark.parametrize("value", ["length", 1, None])
def test_whether_an_output_is_complete_is_true_or_false(value: object):
    with pytest.raises(TypeError, match="complete must be True or False"):
        extract("Hi", complete=value)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"True or False|bool"):  # mypyc's own words, if compiled
        Extractor().stream().flush(complete=value)  # type: ignore[arg-type]
