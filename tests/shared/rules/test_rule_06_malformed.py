"""Rule 6: what is malformed is text, is reported, and hides no call around it. Nothing inside it is promoted."""

from __future__ import annotations

import itertools

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extractor, extract
from llama3_tools.formats import switched_off

CALL = '{"name": "ok", "parameters": {"q": "x"}}'
INNER = '{"name": "inner", "parameters": {}}'

MALFORMED = {
    "no comma": '{"name": "f" "parameters": {}}',
    "no colon": '{"name" "f", "parameters": {}}',
    "no value": '{"name": "f", "parameters": }',
    "a key that is no string": '{"name": "f", 1: 2, "parameters": {}}',
    "a trailing comma": '{"name": "f", "parameters": {},}',
    "a comment": '{"name": "f", /* why */ "parameters": {}}',
    "a Python literal": '{"name": "f", "parameters": {"a": True}}',
    "a placeholder": '{"name": "f", "parameters": {"a": <slope_value>}}',
    "an expression": '{"name": "f", "parameters": {"p": 1/6}}',
    "quotes inside quotes": '{"name": "f", "parameters": {"command": "echo "hi" > flag.txt"}}',
    "an escape that JSON lacks": r'{"name": "f", "parameters": {"code": "open(\'x\')"}}',
    "half an escape": r'{"name": "f", "parameters": {"a": "\u12"}}',
    "a line break in a string": '{"name": "f", "parameters": {"text": "one\ntwo"}}',
    "a tab in a string": '{"name": "f", "parameters": {"text": "one\ttwo"}}',
    "a leading zero": '{"name": "f", "parameters": {"a": 01}}',
    "a leading plus": '{"name": "f", "parameters": {"a": +1}}',
    "a bare point": '{"name": "f", "parameters": {"a": .5}}',
    "an open point": '{"name": "f", "parameters": {"a": 1.}}',
    "an open exponent": '{"name": "f", "parameters": {"a": 1e}}',
    "a full-width digit": '{"name": "f", "parameters": {"a": \uff11}}',
    "a wrong bracket": '{"name": "f", "parameters": {"a": [1}}}',
    "a literal cut short": '{"name": "f", "parameters": {"a": nul}}',
    "a non-breaking space": '{"name": "f",\u00a0"parameters": {}}',
}
malformed = pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())


@malformed
def test_it_stays_in_the_content_and_hides_no_call_around_it(text: str):
    extraction = extract_in_every_chunking(f"{CALL} then {text} and {CALL} end", is_sampled=True)
    assert [call.name for call in extraction.tool_calls] == ["ok", "ok"]
    assert extraction.content == f"then {text} and end"
    assert str(extraction.rejections[0].reason) == "malformed"
    assert extraction.rejections[0].span[0] == len(CALL) + len(" then ")


@malformed
@pytest.mark.parametrize("form", ["{}", "[{}]", "<tool_call>{}</tool_call>", "```json\n{}\n```"])
def test_it_is_not_repaired_unasked(form: str, text: str):
    output = form.replace("{}", text)
    extraction = extract_in_every_chunking(output, is_sampled=True)
    assert extraction.content == output
    assert not extraction.tools_called


@malformed
def test_with_its_tool_declared_it_is_an_attempt_whatever_broke_it(text: str):
    if text.startswith('{"name" "f"'):
        pytest.skip("it broke before any name")
    attempts = extract(text, tools=[{"name": "f"}]).attempts
    assert [attempt.name for attempt in attempts][:1] == ["f"]


@pytest.mark.parametrize(
    ("text", "names", "content"),
    [
        pytest.param(
            f'{{"name": "f", "parameters": {{"query": "F-0001; {CALL}; {CALL}',
            "ok ok",
            '{"name": "f", "parameters": {"query": "F-0001;',
            id="a string left open before calls",  # the 8B's commonest broken shape
        ),
        pytest.param(
            f'{{"name": "f", "parameters": {{"a": "x"; {CALL}',
            "ok",
            '{"name": "f", "parameters": {"a": "x";',
            id="arguments left open",
        ),
        pytest.param(
            f'{{"name": "f", "parameters": {{"a": "x"}}; {CALL}',
            "ok",
            '{"name": "f", "parameters": {"a": "x"};',
            id="the call left open",
        ),
        pytest.param(f'{{"name": "f", {CALL}', "ok", '{"name": "f",', id="a call where a key was due"),
        pytest.param(f'{{"name": {CALL[1:]}', "", f'{{"name": {CALL[1:]}', id="a call without its brace"),
        pytest.param(f"{{{CALL}", "ok", "{", id="a second brace"),
        pytest.param(f"{{ {CALL} }}", "ok", "{ }", id="braces around"),
        pytest.param(f'["x {CALL}', "ok", '["x', id="an open string in a bracket"),
        pytest.param(f'[1, " {CALL}"]', "ok", '[1, " "]', id="a string in a list of prose"),
        pytest.param(f"{{x}} {CALL}", "ok", "{x}", id="braces of prose"),
        pytest.param(f"[[{{ {CALL}", "ok", "[[{", id="open brackets of prose"),
        pytest.param(f"[{INNER}, oops]", "inner", "[ , oops]", id="prose in a list"),
    ],
)
def test_the_search_goes_on_at_the_token_that_broke_it(text: str, names: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert " ".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{{"name": "f", "parameters": {{"a": {INNER} oops}}}}', id="in the arguments"),
        pytest.param(f'{{"a": {INNER}, oops', id="broken after it"),
        pytest.param(f'{{"a": {INNER}', id="cut off after it"),
        pytest.param(f'{{"query": {INNER}}}', id="in a whole object"),
        pytest.param(f'{{"name": "f", "parameters": {{"a": "x"}}, "b": [{INNER}] "c"}}', id="in an array"),
        pytest.param(f'{{"tags": ["a",], "example": {INNER}}}', id="a member after what broke"),  # F18
        pytest.param(f'{{"tags": ["a",], "example":\n{INNER}}}', id="a member on the next line"),
        pytest.param(f'{{"tags": ["a",], "examples": [{INNER}]}}', id="a list after what broke"),
        pytest.param(f'{{"tags": ["a",], "examples": [[ [{INNER}]]]}}', id="a list of lists after what broke"),
        pytest.param(f'{{"a": oops, "b": {"[" * 20}{INNER}{"]" * 20}}}', id="many brackets after what broke"),
        pytest.param(f'{{"a": oops, "b":{" " * 200}{INNER}}}', id="much white space after what broke"),
        pytest.param(f'{{"a": True, "b": {INNER}, "c": [{INNER}]}}', id="each member after what broke"),
        pytest.param(f'{{"a": True, "b": [{INNER}, {INNER}]}}', id="each element after what broke"),
        pytest.param(f'{{"a": True, "b": [{{"c": 1}}, {INNER}]}}', id="an element after data after what broke"),
        pytest.param(f'{{"a": True, "b": [{{"name": "f"}}, {INNER}]}}', id="an element after a name after what broke"),
        pytest.param(
            f'{{"a": True, "b": [{{"name": "f", "parameters": 5}}, {INNER}]}}', id="an element after a bad call"
        ),
        pytest.param(f'{{"a": True, "b": {{"c": {INNER}}}}}', id="a member of a member"),
        pytest.param(f'{{"result": {"[" * 200}{INNER}{"]" * 200}}}', id="nested too deep"),
    ],
)
def test_an_object_inside_a_malformed_one_is_never_promoted(text: str):
    extraction = extract_in_every_chunking(text, is_sampled=True)
    assert not extraction.tools_called
    assert extraction.content == text
    assert extraction.rejections


def test_nor_is_it_if_a_tag_that_names_a_tool_breaks_in_it_too():
    text = f'{{"a": oops, <function=ok>x</function> "b": {CALL}}}'
    assert extract_in_every_chunking(text, tools=[{"name": "ok"}]).tool_calls == ()


def test_a_call_after_a_broken_object_is_a_call_again():
    extraction = extract_in_every_chunking(f'{{"tags": ["a",], "example": {INNER}}}\n{CALL}\nThe value is "x": {CALL}')
    assert [call.name for call in extraction.tool_calls] == ["ok", "ok"]


def test_a_call_after_a_tag_that_broke_is_a_call_also_after_a_word_in_quotation_marks():
    extraction = extract_in_every_chunking(
        f'<function=f>oops</function> The "call": {CALL}', tools=[*TOOL, {"name": "ok"}]
    )
    assert [call.name for call in extraction.tool_calls] == ["ok"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param('{"name": "f", "parameters": {"a": True}}', "f", id="the name first"),
        pytest.param('{"type": "function", "function": "f", "parameters": {"a": oops}}', "f", id="under function"),
        pytest.param('{"name": "f", "parameters": {"a": "cut o', "f", id="cut off"),
        pytest.param('{"arguments": {"a": True}, "name": "f"}', None, id="broken before the name"),
        pytest.param('{"a": True}', None, id="no name"),
        pytest.param('{"id": "%s", "name": "f", "parameters": oops}' % ("x" * 5000), None, id="far in"),
        pytest.param(r'{"name": "get\u005fw", "parameters": {"a": oops}}', "get_w", id="an escape"),
        pytest.param(
            r'{"name": "a\"\/\ud83d\ude00", "parameters": {"a": oops}}', 'a"/\U0001f600', id="escapes of all kinds"
        ),
        pytest.param('{"name": "%s", "parameters": {"a": oops}}' % (r"\u0066" * 128), "f" * 128, id="a long name"),
        pytest.param(f'{{"name": "{"f" * 129}", "parameters": {{"a": oops}}}}', None, id="too long a name"),
        pytest.param(r'{"name": "get\_weather", "parameters": {"x": 1, "a": oops}}', None, id="not JSON"),
        pytest.param(r'{"name": "f\ud83d", "parameters": {"a": oops}}', None, id="half a surrogate pair"),
    ],
)
def test_a_rejection_names_the_tool_that_is_meant(text: str, name: str | None):
    assert extract_in_every_chunking(text).rejections[0].name == name


def test_a_string_of_pythons_that_breaks_names_no_tool():
    (rejection,) = extract_in_every_chunking("{'name': 'f\"\n").rejections
    assert (str(rejection.reason), rejection.name) == ("malformed", None)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"name": "f", "parameters": {"a": True}}', id="the name first"),
        pytest.param('{"arguments": {"city": "Paris", "now": True}, "name": "f"}', id="the arguments first"),  # F3
        pytest.param("{'name': 'f', 'arguments': {'city': 'Paris'}}", id="a dict of Python"),
        pytest.param("{'arguments': {'city': 'Paris'}, 'name': 'f'}", id="a dict of Python, the arguments first"),
    ],
)
@pytest.mark.parametrize("tools", [None, [{"name": "f"}], [{"name": "g"}]], ids=["any", "declared", "another"])
def test_what_has_arguments_is_an_attempt_whichever_key_comes_first(text: str, tools: list[dict[str, str]] | None):
    extraction = extract_in_every_chunking(f"Now: {text}", tools=tools)
    assert (extraction.content, extraction.tool_calls) == (f"Now: {text}", ())
    (attempt,) = extraction.attempts
    assert str(attempt.reason) == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Alice", "age": unknown}',
        '{"a": True}',
        "Use {'name': 'Alice'} or {'x': 'f'}.",
        '{"id": "%s", "parameters": oops}' % ("x" * 5000),
    ],
    ids=["a person", "a constant of Python", "dicts of Python in a sentence", "arguments far in"],
)
def test_data_that_breaks_is_no_attempt(text: str):
    assert extract_in_every_chunking(text, tools=[{"name": "f"}]).attempts == ()


@pytest.mark.parametrize(
    "text", ["{x}", "{}", "[]", "[1]", "[x]", "{{}}", "a {b", "{ ", "[", "[ [", "[[1], [2]]", "f({})"]
)
def test_braces_and_brackets_without_a_key_are_prose_and_no_rejection(text: str):
    assert extract_in_every_chunking(text).rejections == ()


OPEN = '{"name": "f", "parameters": {"a": '  # 34 characters


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"name": "f" "b"', "expected ',' or the closing bracket at offset 13, found '\"'"),
        ('{"name" "f"', "expected ':' after the key at offset 8, found '\"'"),
        ('{"name": "f", }', "expected a key at offset 14, found '}'"),
        ('{"name": "f", [', "expected a key at offset 14, found '['"),
        (f"{OPEN}X}}}}", "expected a value at offset 34, found 'X'"),
        (f"{OPEN}[1}}}}", "expected ',' or the closing bracket at offset 36, found '}'"),
        (f"{OPEN}[,", "expected a value or ']' at offset 35, found ','"),
        (f"{OPEN}01}}}}", "expected ',' or the closing bracket at offset 35, found '1'"),
        (f"{OPEN}-}}}}", "expected a digit at offset 35, found '}'"),
        (f"{OPEN}1.}}}}", "expected a digit at offset 36, found '}'"),
        (f"{OPEN}1e+}}}}", "expected a digit at offset 37, found '}'"),
        (f"{OPEN}nul}}}}", "expected the rest of true, false or null at offset 37, found '}'"),
        (f'{OPEN}"\\x"}}}}', "an escape that JSON does not have in a string, at offset 35"),
        (f'{OPEN}"\t"}}}}', "the character '\\t' in a string, at offset 35"),
    ],
)
def test_a_rejection_says_where_and_what(text: str, detail: str):
    (rejection,) = extract_in_every_chunking(text).rejections
    assert (str(rejection.reason), rejection.detail) == ("malformed", detail)
    assert rejection.span[0] == 0


def test_offsets_are_those_of_the_output():
    (rejection,) = extract('Well, {"name": "f" "parameters"}').rejections
    assert rejection.span[0] == 6
    assert rejection.detail == "expected ',' or the closing bracket at offset 19, found '\"'"


def test_rejections_do_not_overlap_each_other_or_the_calls():
    text = f'{{"a": "b {{"c": "d {{"e" f {{"query": "g {CALL} {{"h": 1}}'
    extraction = extract_in_every_chunking(text)
    spans = sorted([value.span for value in (*extraction.rejections, *extraction.tool_calls)])
    assert len(spans) > 4
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


@pytest.mark.parametrize("between", ["[", "[ ", "```json\n", "<|python_tag|>", "<tool_call>"])
def test_a_rejection_ends_before_what_vanishes(between: str):
    text = f'{{"a{between}{CALL}'
    extraction = extract_in_every_chunking(text + ("]" if "[" in between else ""))
    assert extraction.tools_called
    (rejection,) = extraction.rejections
    assert '{"a'.startswith(text[slice(*rejection.span)].rstrip())
    assert extraction.content == '{"a'


TOOL = [{"name": "f", "parameters": {"type": "object", "properties": {"q": {}}}}]
GOOD, BROKEN = '{"name": "f", "parameters": {"q": 1}}', "{'name': 'f', 'parameters': {'q': 1}}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{GOOD}\n{BROKEN}", id="bare"),
        pytest.param(f"<tool_call>{GOOD}</tool_call>\nThat is: {BROKEN}", id="in a tag"),
        pytest.param(f"[f(q=1)]\n{BROKEN}", id="pythonic"),
        pytest.param(f"{GOOD}\n{BROKEN}\n{BROKEN}", id="twice"),
        pytest.param(f"{GOOD} {GOOD[:-1]},}}", id="a trailing comma"),
        pytest.param(f'[{GOOD}, {{"name": "f", "parameters": {{"q": 1,}}}}]', id="in one list"),
    ],
)
def test_a_repair_runs_no_call_twice(text: str):  # F6
    extraction = extract_in_every_chunking(text, tools=TOOL, repair=True)
    assert len(extraction.tool_calls) == 1


TYPED = [
    {
        "name": "f",
        "parameters": {
            "properties": {"n": {"type": "integer"}, "ok": {"type": "boolean"}, "tags": {"type": "array"}, "q": {}}
        },
    }
]
ALIKE = {
    "a number in a string": ('{"n": "1", "q": 2}', "{'q': 2, 'n': 1}"),
    "a number, then a string": ('{"n": 1, "q": 2}', "{'q': 2, 'n': '1'}"),
    "a boolean in a string": ('{"ok": "true"}', "{'ok': True}"),
    "an array in a string": ('{"tags": "[\\"a\\"]"}', "{'tags': ['a']}"),
}


@pytest.mark.parametrize(
    "wrapped", ["{good}\n{broken}", "<tool_call>\n{good}\n</tool_call>\n{broken}", "[{good}, {broken}]"]
)
@pytest.mark.parametrize(("good", "broken"), ALIKE.values(), ids=ALIKE)
def test_a_repair_runs_no_call_twice_that_coercion_makes_the_same(good: str, broken: str, wrapped: str):  # F6
    text = wrapped.format(
        good=f'{{"name": "f", "parameters": {good}}}', broken=f"{{'name': 'f', 'parameters': {broken}}}"
    )
    extraction = extract_in_every_chunking(text, tools=TYPED, repair=True, coerce_arguments=True, is_sampled=True)
    assert len(extraction.tool_calls) == 1
    (apart,) = {len(extract(text, tools=TYPED, repair=True).tool_calls)}
    assert apart == 2


def test_a_repair_is_compared_with_every_call_before_it():
    good = "\n".join(f'{{"name": "f", "parameters": {{"q": {number}}}}}' for number in range(400))
    text = f"{good}\n{{'name': 'f', 'parameters': {{'q': 0}}}}"
    assert len(extract(text, tools=TOOL, repair=True).tool_calls) == 400


def test_a_repair_is_compared_with_integers_that_python_does_not_convert():
    good = f'{{"name": "f", "parameters": {{"q": {"9" * 5000}}}}}'
    calls = extract(f"{good}\n{{'name': 'f', 'parameters': {{'q': 1}}}}", tools=TOOL, repair=True).tool_calls
    assert [len(call.arguments_json) for call in calls] == [5007, 7]


def test_another_call_is_repaired_next_to_a_good_one():
    extraction = extract_in_every_chunking(f"{GOOD}\n{BROKEN.replace('1', '2')}", tools=TOOL, repair=True)
    assert [call.arguments for call in extraction.tool_calls] == [{"q": 1}, {"q": 2}]


@pytest.mark.parametrize(
    "text", ["[f(q=['a' 'b'])]", "f(q='a' 'b')", "[f(q='a' 'b', q2=1)]", "{'name': 'f', 'parameters': {'q': 'a' 'b'}}"]
)
def test_strings_that_merely_stand_side_by_side_are_not_glued(text: str):  # F9
    extraction = extract_in_every_chunking(text, tools=TOOL, repair=True)
    assert extraction.content == text
    assert [(str(attempt.reason), attempt.name) for attempt in extraction.attempts] == [("malformed", "f")]


@pytest.mark.parametrize("tag", ["<function=clock></function>", "<function=clock>{}</function>"])
def test_after_a_call_a_broken_object_before_it_matters_no_more(tag: str):
    clock = '{"name": "clock", "parameters": {}}'
    text = f'{{"tags": ["a",], "example": {clock}}}\n{tag}\n{clock}'
    extraction = extract_in_every_chunking(text, tools=[{"name": "clock"}], is_sampled=True)
    assert [call.name for call in extraction.tool_calls] == ["clock", "clock"]


PARTS_OF_STRINGS = {
    "a line break in a string": '{"name":"write","parameters":{"content":"x\nINNER\nend"}}',
    "in a tag": '<tool_call>{"name":"write","parameters":{"content":"x\nINNER\nend"}}</tool_call>',
    "in a fence": '```json\n{"name":"write","parameters":{"content":"x\nINNER\nend"}}\n```',
    "in a tag that names the tool": '<function=write>{"content":"x\nINNER\nend"}</function>',
    "with a fence in it": '{"name":"write","parameters":{"content":"x\n```python\nINNER\n```\nend"}}',
    "cut off": '{"name":"write","parameters":{"content":"x\nINNER\n',
    "quotation marks in a string": '{"name":"write","parameters":{"content":"say("x")\nINNER\n"}}',
    "braces of prose in a string": '{"name":"write","parameters":{"content":"x\n{y}\nINNER\n"}}',
    "no quotation marks": '{"name":"write","parameters":{"content":\nINNER\n}}',
    "a dict of Python": "{'name':'write','parameters':{'content':'x\nINNER\n'}}",
    "a pythonic call": 'write(content="x\nINNER\n")',
    "a pythonic call with quotation marks in a string": 'write(content="say("x")\nINNER\n")',
    "an expression": 'write(content=open("x").read(\nINNER\n))',
}


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("inner", ["delete(path='/')", "[delete(path='/')]", "> delete(path='/')"])
@pytest.mark.parametrize("text", PARTS_OF_STRINGS.values(), ids=PARTS_OF_STRINGS)
def test_a_line_in_a_broken_string_is_no_pythonic_call(text: str, inner: str, complete: bool):
    tools = [{"name": "write"}, {"name": "delete"}]
    text = text.replace("INNER", inner)
    extraction = extract_in_every_chunking(text, tools=tools, complete=complete)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    is_element = '"content":\n[' in text  # of an array of JSON, which breaks at the name
    assert [rejection.name for rejection in extraction.rejections] == ["write", "delete"][: 2 - is_element]


@pytest.mark.parametrize("other", ["write(content=oops)", "[write(content=oops)]"])
def test_nor_is_one_after_another_call_that_breaks_in_the_string(other: str):
    text = f'{{"name":"write","parameters":{{"content":"x\n{other}\ndelete(path=1)\n"}}}}'
    extraction = extract_in_every_chunking(text, tools=[{"name": "write"}, {"name": "delete"}])
    assert (extraction.content, extraction.tool_calls) == (text, ())


@pytest.mark.parametrize(
    "text", ["write(content=oops(\ndelete(path=1),\ndelete(path=2)\n))", "write(oops), delete(path=1)"]
)
def test_nor_is_any_in_the_brackets_of_a_broken_pythonic_call_or_on_its_line(text: str):
    extraction = extract_in_every_chunking(text, tools=[{"name": "write"}, {"name": "delete"}])
    assert (extraction.content, extraction.tool_calls) == (text, ())


def test_nor_is_an_object_in_the_broken_string_of_a_pythonic_call():
    text = f"write(content='\n{CALL}\n')"
    extraction = extract_in_every_chunking(text, tools=[{"name": "write"}, {"name": "ok"}])
    assert (extraction.content, extraction.tool_calls) == (text, ())
    assert [rejection.name for rejection in extraction.rejections] == ["write", "ok"]


@pytest.mark.parametrize("broken", ["f(a=oops)", "f(\n a=oops(1),\n b=2)", '{"a" b} {"name": "ok", "parameters": {}}'])
def test_a_pythonic_call_after_what_broke_is_a_call(broken: str):
    extraction = extract_in_every_chunking(f"{broken}\ng(a=1)", tools=[{"name": name} for name in ("f", "g", "ok")])
    assert extraction.tool_calls[-1].name == "g"


def test_a_line_of_prose_after_a_pythonic_call_that_broke_is_none():
    text = "f(a=oops(1),\n b=2)\ng(a=1) is what I would call."
    extraction = extract_in_every_chunking(text, tools=[{"name": "f"}, {"name": "g"}])
    assert (extraction.content, extraction.tool_calls) == (text, ())


def test_without_the_rule_a_part_of_a_broken_object_is_called():  # what the evidence counts
    text = '{"tags": ["a",], "example": {"name": "f", "parameters": {}}}'
    with switched_off("broken_data"):
        assert Extractor().extract(text).tools_called
    assert not Extractor().extract(text).tools_called
