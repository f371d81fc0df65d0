"""Principle 3: where a pythonic call of a declared tool may be, and where it is prose or code."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, Extractor, TextDelta, ToolCallReady
from told import TOOLS, called, calls, refused, tool

ALL = [*TOOLS, tool("x.call"), tool("math.factorial", "number"), tool("brave_search", "query")]


def read(text: str, **options: Any) -> Extraction:
    return extract_in_every_chunking(text, **{"tools": ALL, **options})


STANDS: dict[str, tuple[str, str, str | None]] = {
    "a list": ("[f(a=1)]", "f", None),
    "a list in a sentence": ("Sure: [f(a=1)] One moment.", "f", "Sure: One moment."),
    "a list before a full stop": ("I call [f(a=1)].", "f", "I call ."),
    "a list in parentheses": ("(Now: [f(a=1)])", "f", "(Now: )"),
    "a list before JSON": ('[f(a=1)] {"name": "g", "parameters": {}}', "f g", None),
    "a list in ChatML": ("<|im_start|>assistant[f(a=1)]<|im_end|>", "f", None),
    "a line": ("f(a=1)", "f", None),
    "a line in white space": ("  f(a=1)  ", "f", None),
    "lines": ("f(a=1)\ng()", "f g", None),
    "a line of several": ("f(a=1), g(); clock()", "f g clock", None),
    "a call on several lines": ("f(\n  a=1,\n)\ng(\n)", "f g", None),
    "a line among prose": ("I will look.\nf(a=1)\nOne moment.", "f", "I will look. One moment."),
    "a line with a semicolon": ("f(a=1);\nDone.", "f", "Done."),
    "after a token": ("<|eom_id|> f(a=1)<|eot|>", "f", None),
    "after <|python_tag|>": ("<|python_tag|>f(a=1)<|eom_id|>", "f", None),
    "after a header": ("<|start_header_id|>assistant<|end_header_id|>\n\nf(a=1)<|eot_id|>", "f", None),
    "in a tag": ("<tool_call>f(a=1);</tool_call>", "f", None),
    "in a fence": ("```python\nf(a=1)\ng()\n```", "f g", None),
    "in bold": ("**f(a=1)**", "f", None),
    "after another call": ('{"name": "g", "parameters": {}} f(a=1)', "g f", None),
    "a name with a dot": ("math.factorial(number=5)", "math.factorial", None),
    "Meta's method": ('<|python_tag|>brave_search.call(query="x")<|eom_id|>', "brave_search", None),
    "a tool that ends with it": ("g(), x.call(), g.call()", "g x.call g", None),
}


@pytest.mark.parametrize(("text", "names", "content"), STANDS.values(), ids=STANDS)
def test_it_stands_on_a_line_after_markup_or_a_call_and_a_list_in_a_line(text: str, names: str, content: str | None):
    extraction = read(text)
    assert (called(extraction), extraction.content, refused(extraction)) == (names, content, "")
    call = next(one for one in extraction.tool_calls if one.format == "pythonic")
    assert text[slice(*call.span)].endswith(")")
    assert not extract_in_every_chunking(text, is_sampled=True, tools=[tool("other")]).tools_called or "{" in text


PROSE = {
    "in a sentence": "I call f(a=1) now.",
    "after a word": "Use f(a=1)",
    "assigned": "x = f(a=1)",
    "after a bullet": "- f(a=1)",
    "a method of something": "self.f(a=1)",
    "the end of a name": "reef(a=1)",
    "an attribute": "f(a=1).temperature",
    "a sum": "f(a=1) + g()",
    "a comparison": "f(a=1) < 3",
    "a comprehension": "[g() for x in y]",
    "before prose": "f(a=1) gives the weather",
    "before a clause": "f(a=1), which",
    "a definition": "def f(a=1):",
    "a signature": "f(a, b) takes two arguments",
    "names in a list": "[f, g]",
    "bold within a line": "Now **f(a=1)** is it.",
    "indented code": "if x:\n    f(a=1)",
    "a list assigned": "x = [f(a=1)]",
    "a list in a call": "print([f(a=1)])",
    "a list in a call, second": "foo(1, [f(a=1)])",
    "a list in a string of a call": "foo(text='see [f(a=1)] now')",
    "a list in a dict": "plan = {'a': [f(a=1)]}",
    "a list returned": "return [f(a=1)]",
    "a list looped over": "for x in [f(a=1)]: pass",
    "an index": "items[f(a=1)]",
    "an index of the list": "Say [f(a=1)][1]",
    "a method of the list": "[f(a=1)].pop()",
    "a link": "A link: [f(a=1)](http://x)",
    "a sum in a list": "[g() + g()]",
    "LaTeX": "so \\[ g() \\] is it",
    "a product": "then [f(2) * g()] is 4",
    "a list in a string": "Sure. g(text='see [f(a=1)] now')",
    "a listing": "```python\nf(a=1)\nprint(1)\n```",
    "an assignment in a fence": "```python\nx = f(a=1)\n```",
}


@pytest.mark.parametrize("text", PROSE.values(), ids=PROSE)
def test_in_prose_and_code_it_is_text(text: str):
    extraction = read(text)
    assert (extraction.content, called(extraction)) == (text, "")
    assert not [one for one in extraction.attempts if text[one.span[0]] == "["]


ARGUMENTS: dict[str, tuple[str, Any]] = {
    "names in other scripts": ("[g(तापमान=5, a·b=1)]", {"तापमान": 5, "a·b": 1}),
    "without names": ("[f(1, 2)]", {"a": 1, "b": 2}),
    "one without a name, one with": ("[f(1, b=2)]", {"a": 1, "b": 2}),
    "an object and another value": ("[f({'a': 1}, 2)]", {"a": {"a": 1}, "b": 2}),
    "all in an object": ("[f({'a': 1})]", {"a": 1}),
    "an object that is a value": ("[f({'x': 1})]", {"a": {"x": 1}}),
    "an object, of a tool without parameters": ("[g({'x': 1})]", {"x": 1}),
    "constants of JSON": ("[g(a=true, b=false, c=null)]", {"a": True, "b": False, "c": None}),
    "strings": (
        """[g(a="it's", b='say "x"', c=r'\\d', d='''a\nb''')]""",
        {"a": "it's", "b": 'say "x"', "c": "\\d", "d": "a\nb"},
    ),
    "a string with calls": (
        '[g(a=\'[g()] {"name": "g", "parameters": {}}\')]',
        {"a": '[g()] {"name": "g", "parameters": {}}'},
    ),
    "Meta's strings": (r'brave_search.call(query="solve \frac{1}{x}")', {"query": r"solve \frac{1}{x}"}),
}


@pytest.mark.parametrize(("text", "arguments"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_its_values_are_literals(text: str, arguments: dict[str, Any]):
    (call,) = read(text).tool_calls
    assert call.arguments == arguments
    assert json.loads(call.arguments_json) == arguments


MALFORMED = {
    "a variable": "a=b",
    "a method": "a='x'.upper()",
    "bytes": "a=b'x'",
    "a wrong bracket": "a=[1}",
    "what Meta's models write for a dict": "{a=1}",
    "an argument twice": "a=1, a=2",
    "an argument twice, once without a name": "1, a=2",
    "a call": "a=g()",
    "calls in a list": "a=[g(), g()]",
    "a string with a call": "a=b, c='see g() now'",
}


@pytest.mark.parametrize("arguments", MALFORMED.values(), ids=MALFORMED)
def test_anything_else_is_rejected_and_hides_nothing(arguments: str):
    text = f"[f({arguments})]"
    extraction = read(f"{text} [g()]")
    assert (called(extraction), extraction.content, refused(extraction)) == ("g", text, "malformed f!")
    beside = read(f"[f({arguments}), g()]")
    assert called(beside) == ("" if arguments == "a=[1}" else "g")
    assert refused(beside).split(", ")[0] == "malformed f!"


def test_required_and_surplus_arguments():
    assert refused(read("[f()]")) == "missing_arguments f!"
    assert refused(read("[f(1, 2, 3)]")) == "invalid_arguments f!"


@pytest.mark.parametrize("bad", [1, 2, 5])
def test_any_number_of_bad_elements_hides_no_call_after_them(bad: int):
    extraction = read(f"[{'clock(zone=x), ' * bad}clock(zone='UTC'), clock(zone=y)]")
    assert calls(extraction) == [("clock", {"zone": "UTC"})]
    assert refused(extraction) == ", ".join(["malformed clock!"] * (bad + 1))


CUT_OFF = {
    "in a list": ("[f(a='x'), g(), f(b=['x', 'y])]", "f g"),
    "in a value": ("[f(a=1), f(a=[1, ", "f"),
    "in a string": ("[f(a=1), f(a='x", "f"),
    "after a name": ("[f(a=1), g", "f"),
    "after a comma": ("[f(a=1), ", "f"),
    "alone": ("[f(a=", ""),
    "a line": ("f(a=1)\nf(a=", "f"),
}


@pytest.mark.parametrize(("text", "names"), CUT_OFF.values(), ids=CUT_OFF)
def test_a_list_that_is_cut_off_keeps_the_calls_that_were_complete(text: str, names: str):
    extraction = read(text)
    assert called(extraction) == names
    if text.rstrip()[-1] not in ",g":
        assert refused(extraction).endswith(("truncated f!", "malformed f!"))


BUILT_IN = {
    "alone": ('brave_search.call(query="x")', "brave_search"),
    "after the token": ('<|python_tag|>brave_search.call(query="x", count=3)<|eom_id|>', "brave_search"),
    "in a list": ('[brave_search.call(query="x"), wolfram_alpha.call(query="1+1")]', "brave_search wolfram_alpha"),
    "another name": ('subprocess.call(args="ls")', ""),
    "in a sentence": ('I call brave_search.call(query="x") now.', ""),
    "no arguments": ("brave_search.call()", ""),
}


@pytest.mark.parametrize(("text", "names"), BUILT_IN.values(), ids=BUILT_IN)
def test_metas_built_in_tools_are_read_if_pythonic_calls_are_asked_for(text: str, names: str):
    for formats in ("all", ["pythonic"]):
        assert called(extract_in_every_chunking(text, formats=formats)) == names
    assert not extract_in_every_chunking(text).tools_called
    assert not extract_in_every_chunking(text, tools=[tool("other")], formats="all").tools_called


@pytest.mark.parametrize(("before", "after"), [("[f(a=1)]", ";"), ("[f(a=1)]", "\n\nx"), ("f(a=1)", "\n")])
def test_a_call_is_out_with_the_character_that_tells_that_it_is_no_code(before: str, after: str):
    stream = Extractor(tools=TOOLS).stream()
    assert stream.feed(before) == []
    assert isinstance(stream.feed(after)[0], ToolCallReady)


def test_prose_about_a_call_flows():
    text = "f(x) is what " + "x" * 1000 + "! "
    assert Extractor(tools=TOOLS).stream().feed(text) == [TextDelta(text.rstrip())]


PIECES = [*"[](){},:='\"\\\n 1-.e_", "True", "'x'", "r'", "f(a=1)", "g()", "[f(", "a=", "`", "```python\n", "{}", "f"]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_of_any_noise_python_reads_the_same(pieces: list[str]):
    text = "".join(pieces)
    for call in read(text, is_sampled=True).tool_calls:
        if call.format != "pythonic":
            continue
        node = ast.parse(text[slice(*call.span)].strip(), mode="eval").body
        assert isinstance(node, ast.Call)
        for keyword in node.keywords:
            written = ast.literal_eval(keyword.value)
            value = sorted(written) if isinstance(written, set) else json.loads(json.dumps(written))
            assert call.arguments[str(keyword.arg)] == value
