"""Python's literals as JSON: the arguments of a call, one literal, and objects that are not quite JSON."""

from __future__ import annotations

import ast
import json
import re
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llama3_tools.literals.bracket_span import BracketSpan
from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.literals.python_literals import mend_object, parse_arguments, parse_literal, plain_arguments

PLAIN = {
    "none": ("()", "{}"),
    "a blank": ("( )", "{}"),
    "strings": ("""(a='x, y', b="it's", c='')""", """{"a": "x, y", "b": "it's", "c": ""}"""),
    "numbers": ("(a=-1, b=2.50, c=4e-7, d=-0.5e10)", '{"a": -1, "b": 2.50, "c": 4e-7, "d": -0.5e10}'),
    "constants": ("(a=True, b=None, c=false)", '{"a": true, "b": null, "c": false}'),
    "lists": ("(a=[1, 'x', \"y\"], b=[])", '{"a": [1, "x", "y"], "b": []}'),
    "blanks": ("( a = 1 ,b=2 )", '{"a": 1, "b": 2}'),
}
NOT_PLAIN = {
    "no parenthesis yet": "(a=1",
    "a quote to come": "(a='x",
    "no name": "('x')",
    "an escape": r"(a='\n')",
    "a control character": "(a='\x00')",
    "half a surrogate pair": "(a='\ud83d')",
    "a dict": "(a={})",
    "a comma at the end": "(a=1,)",
    "a line break": "(a=1,\nb=2)",
    "a leading zero": "(a=01)",
    "a constant as a name": "(True=1)",
    "a name twice": "(a=1, a=2)",
    "a long number": f"(a={'1' * 101})",
}


@pytest.mark.parametrize(("text", "written"), PLAIN.values(), ids=PLAIN)
def test_plain_arguments_are_parsed_in_one_go(text: str, written: str):
    assert plain_arguments(f"f{text} and more", 1) == (json.loads(written), written, len(text) + 1)


@pytest.mark.parametrize("text", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_all_others_are_not(text: str):
    assert plain_arguments(text, 0) is None


SPELLINGS = st.sampled_from([*"(),='\"[]-.1ae \n", "a=", "'x'", "True", ", b=", "1e5", "0", "[]", "\\'", "é"])


@given(st.lists(SPELLINGS, max_size=8).map("".join))
@example("a=-0, b=1.50e-7, c='', d=[-0, 1.0, 'x', \"\"], e=null")
def test_plain_arguments_are_what_the_parser_reads(inside: str):
    text = f"({inside})"
    plain = plain_arguments(text, 0)
    if plain is not None:
        span = BracketSpan()
        assert (span.read(text, 0, ended=False), span.is_complete) == (plain[2], True)
        parsed = parse_arguments(text[: plain[2]])
        assert plain[1] == f"{{{', '.join(f'{json.dumps(name)}: {value}' for name, value in parsed.keywords.items())}}}"
        assert plain[0] == json.loads(plain[1])
        assert not parsed.positional


ARGUMENTS = {
    "both kinds": ("(1, 'x', b=[True, null],)", ["1", '"x"'], {"b": "[true, null]"}),
    "white space": ("(\n\ta = 1 ,\r\n)", [], {"a": "1"}),
    "names that begin as something else": (
        "(X=1, r='', true=2, é=3)",
        [],
        {"X": "1", "r": '""', "true": "2", "é": "3"},
    ),
}


@pytest.mark.parametrize(("text", "positional", "keywords"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments(text: str, positional: list[str], keywords: dict[str, str]):
    arguments = parse_arguments(text)
    assert (arguments.positional, arguments.keywords) == (positional, keywords)


BROKEN = {
    "a name": ("(a=b)", "expected a literal, found the name 'b'"),
    "a call": ("(a=g())", "expected a literal, found a call of 'g'"),
    "bytes": ("(b'x')", "expected a literal, found the name 'b'"),
    "a constant as a name": ("(None=1)", "expected ',' or ')', found '='"),
    "a comparison": ("(a==1)", "expected a literal, found '='"),
    "a sum": ("(a=1+1)", "expected ',' or ')', found '+1'"),
    "no value": ("(,)", "expected a literal, found ','"),
    "no item": ("([1,,2])", "expected a literal, found ','"),
    "strings side by side": ("(['a' 'b'])", "expected ',' or ']', found a string"),
    "another bracket": ("(a=[1})", "expected ',' or ']', found '}'"),
    "more": ("(a=1) and", "there is more after its end"),
    "a number that is none": ("(01)", "expected a number that JSON has, found '01'"),
    "a name twice": ("(a=1, a=2)", "the argument 'a' occurs twice"),
    "a name too few": ("(a=1, 2)", "an argument without a name after one that has one"),
    "a number as a key": ("({1: 2})", "a key that is not a string"),
    "a key without a value": ("({'a': 1, 'b'})", "expected ':' after the key, found '}'"),
    "a key in a set": ("({'a', 'b': 1})", "expected ',' or '}', found ':'"),
    "a line break in a string": ("('a\nb')", "a line break in a string"),
    "half an escape": (r"('\x4')", r"an escape that Python does not have in a string: \x"),
    "a character that has no name": (r"('\N{no}')", r"an escape that names no character: \N{no}"),
    "half a surrogate pair": (r"('\ud83d')", "half a surrogate pair in a string"),
    "a raw half, and another": ("('\ud83d\\ude00')", "half a surrogate pair in a string"),
    "too many levels": (f"({'[' * MAX_DEPTH})", f"nested deeper than {MAX_DEPTH} levels"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_anything_but_literals_is_named(text: str, message: str):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        parse_arguments(text)


@pytest.mark.parametrize("text", ["(", "(a", "(a=", "(a=1", "(a=1,", "(a=tr", "(a=1.5e", "(a=-", "(a='x", "(a='''x''"])
def test_what_could_go_on_is_cut_off_instead(text: str):
    with pytest.raises(EOFError):
        parse_arguments(text)


LITERALS = {
    "no brackets": ("{}", "{}"),
    "nested": ("{'k': (1, 2), \"l\": [{}]}", '{"k": [1, 2], "l": [{}]}'),
    "a set": ("{1, 'x'}", '[1, "x"]'),
    "parentheses": ("((1), (1,), ())", "[1, [1], []]"),
    "numbers": ("[1_000.50E05, 0x1F, +12e+5, -.5, 007.]", "[1000.50e05, 31, 12e+5, -0.5, 7.0]"),
    "escapes": (r"'a\n\x41\N{BULLET}\d'", r'"a\nA•\\d"'),
    "a pair of halves": (r"'\ud83d\ude00'", '"😀"'),
    "raw strings": (r"[r'\n', R'\n', u'\n', U'\n']", r'["\\n", "\\n", "\n", "\n"]'),
    "three quotes": ("'''a\n'b' ''c'''", '''"a\\n'b' ''c"'''),
    "deep": ("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1),) * 2,
    "a call": ("f()", ""),
    "two": ("[1] [2]", ""),
    "a part": ("[1", ""),
}


@pytest.mark.parametrize(("text", "written"), LITERALS.values(), ids=LITERALS)
def test_a_literal_is_written_as_json(text: str, written: str):
    assert parse_literal(text) == written


def test_strings_of_built_in_tools_are_read_as_they_are():
    parsed = parse_arguments(r"""(query="C:\new \"x\"", other='\'')""", as_they_are=True)
    assert {name: json.loads(value) for name, value in parsed.keywords.items()} == {
        "query": r'C:\new "x"',
        "other": "'",
    }


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_whatever_python_writes_is_read(value: object):
    assert json.loads(parse_literal(repr(value))) == value


def in_python(text: str) -> object:
    """Evaluate a literal; tuples and sets become lists, as in JSON."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of escapes that it does not have
        value = ast.literal_eval(text)
    return json.loads(json.dumps(value, default=list))


CODE = st.lists(
    st.sampled_from([*"'\"[]{}(),:=1ax \\\n-.", "''", "'a': ", '"b": ', "1e5", "0x", "None", "True", "\\x41"]),
    max_size=10,
).map("".join)


@given(CODE)
def test_whatever_is_read_python_reads_alike(inside: str):
    text = f"[{inside}]"
    written = parse_literal(text)
    assert not written or json.loads(written) == in_python(text)


@given(CODE)
@example(r"""'a': "it\'s", "b": '\d' """)
def test_an_object_is_mended_to_what_python_or_json_reads(inside: str):
    text = f"{{{inside}}}"
    mended = mend_object(text)
    for parse in (json.loads, in_python) if mended else ():
        try:
            value = parse(text)
        except (ValueError, SyntaxError):
            continue
        assert json.loads(mended or "") == value


MENDED = {
    "constants": ('{"a": [True, False, None]}', '{"a": [true, false, null]}'),
    "quotes": ("""{'a': "it's", "b": 'say "x"'}""", r"""{"a": "it's", "b": "say \"x\""}"""),
    "JSON in a string": ("""{'a': '{"b": [""]}'}""", r'{"a": "{\"b\": [\"\"]}"}'),
    "a comma at the end": ('{"a": [1,], "b": {},}', '{"a": [1], "b": {}}'),
    "no comma": ("""{"a": 1 'b': {} "c": "x"\n"d": 2}""", '{"a": 1, "b": {}, "c": "x", "d": 2}'),
    "raw control characters": ('{"a": "x\n\ty\x00"}', r'{"a": "x\n\ty\u0000"}'),
    "escapes that both have": (r"""{'a': '\"\'\\\n\u00e9\ud83d\ude00'}""", r"""{"a": "\"'\\\né😀"}"""),
    "a slash in JSON": (r'{"a": "x\/\\/",}', r'{"a": "x/\\/"}'),
    "escapes that none has": (r'{"a": "ls {} \; \$x \`y\`"}', r'{"a": "ls {} \\; \\$x \\`y\\`"}'),
    "numbers": ("{'a': -1.10, 'b': (0x1F, 1_0)}", '{"a": -1.10, "b": [31, 10]}'),
}
IN_DOUBT = {
    "an array": "[True]",
    "a set": "{'a'}",
    "an apostrophe": "{'a': 'it's'}",
    "quotes in a string": '{"a": "say "x" to"}',
    "two strings": "{'a': 'x' 'y'}",
    "two strings that touch, and a colon": "{'a': 'x''b': 1}",
    "a comma in the string before": '{"a": "x, " "b": 1}',
    "a missing comma in an array": "[{'a': [1 2]}]",
    "two commas": "{'a': 1,, 'b': 2}",
    "a member in a string": """{"a": "x', 'b': 'y", 'c': 1}""",
    "two strings in one": """{"a": ["x', 'y"], 'b': 1}""",
    "three quotes": "{'a': '''x'''}",
    "no quotes": "{a: 1}",
    "a variable": '{"a": x}',
    "an expression": '{"a": 1/6}',
    "a comment": '{"a": 1 # one\n}',
    "NaN": '{"a": NaN}',
    "an overflow": "{'a': 1e999}",
    "a key twice": "{'a': {'b': 1, 'b': 2}}",
    "an escape of Python's": r'{"a": "\x41",}',
    "digits too few": r'{"a": "\u00g9"}',
    "a path": r'{"a": "C:\docs\new"}',
    "a member in a key": """{'a: 1, "b': True}""",
    "a slash in Python": r"{'a': 'x\/y'}",
    "half a surrogate pair": r"{'a': '\ud83d'}",
    "a part": "{'a': 1",
    "more": "{'a': 1} x",
}


@pytest.mark.parametrize(("text", "written"), MENDED.values(), ids=MENDED)
def test_what_has_one_reading_is_mended(text: str, written: str):
    assert mend_object(text) == written
    span = BracketSpan(tolerant=True)
    assert (span.read(f"{text} more", 0, ended=False), span.is_complete) == (len(text), True)


@pytest.mark.parametrize("text", IN_DOUBT.values(), ids=IN_DOUBT)
def test_what_is_in_doubt_is_not_mended(text: str):
    assert mend_object(text) is None
