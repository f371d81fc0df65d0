"""What is malformed, cut off or not strict JSON: rules 6, 7 and 8."""

from __future__ import annotations

import itertools
import json

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, extract

CALL = '{"name": "ok", "parameters": {"q": "x"}}'

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
    "a line break in a string": '{"name": "f", "parameters": {"text": "one\ntwo"}}',
    "a tab in a string": '{"name": "f", "parameters": {"text": "one\ttwo"}}',
    "NaN": '{"name": "f", "parameters": {"a": NaN}}',
    "Infinity": '{"name": "f", "parameters": {"a": Infinity}}',
    "minus Infinity": '{"name": "f", "parameters": {"a": -Infinity}}',
    "a number that overflows": '{"name": "f", "parameters": {"a": 1e999}}',
    "a long number that overflows": '{"name": "f", "parameters": {"a": %s.0}}' % ("9" * 400),
    "a leading zero": '{"name": "f", "parameters": {"a": 01}}',
    "a leading plus": '{"name": "f", "parameters": {"a": +1}}',
    "a bare point": '{"name": "f", "parameters": {"a": .5}}',
    "an open point": '{"name": "f", "parameters": {"a": 1.}}',
    "an open exponent": '{"name": "f", "parameters": {"a": 1e}}',
    "a full-width digit": '{"name": "f", "parameters": {"a": \uff11}}',
    "a lone surrogate": r'{"name": "f", "parameters": {"a": "\ud83d"}}',
    "half of what looks like a pair": r'{"name": "f", "parameters": {"a": "C:\\ud83d\ude00"}}',
    "halves with a backslash between": r'{"name": "f", "parameters": {"a": "\ud83d\\\ude00"}}',
    "surrogates in the wrong order": r'{"name": "f", "parameters": {"a": "\ude00\ud83d"}}',
    "a half escape": r'{"name": "f", "parameters": {"a": "\u12"}}',
    "a raw lone surrogate": '{"name": "f", "parameters": {"a": "\ud83d"}}',
    "a wrong bracket": '{"name": "f", "parameters": {"a": [1}}}',
    "a literal cut short": '{"name": "f", "parameters": {"a": nul}}',
    "a non-breaking space": '{"name": "f",\u00a0"parameters": {}}',
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_rules_6_and_8_malformed_is_text_and_hides_no_call_around_it(text: str):
    extraction = extract_in_every_chunking(f"{CALL} then {text} and {CALL} end")
    assert [call.name for call in extraction.tool_calls] == ["ok", "ok"]
    assert extraction.content == f"then {text} and end"
    assert str(extraction.rejections[0].reason) == "malformed"
    assert extraction.rejections[0].span[0] == len(CALL) + len(" then ")


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_rule_6_malformed_is_never_repaired(text: str):
    assert extract_in_every_chunking(text).content == text
    assert not extract_in_every_chunking(f"[{text}]").tools_called
    assert not extract_in_every_chunking(f"<tool_call>{text}</tool_call>").tools_called


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "f", "parameters": {"a": True}}', "f"),
        ("{\"name\":\"f\",\"parameters':{'city':'New York'}}", "f"),
        ('{"type": "function", "function": "f", "parameters": {"a": oops}}', "f"),
        ('{"name": "f", "parameters": {"a": "cut o', "f"),
        ('{"name": "f" "parameters": {}}', None),
        ('{"name": "Alice", "age": unknown}', None),
        ('{"a": True}', None),
        (r'{"name": "get\u005fweather", "parameters": {"a": oops}}', "get_weather"),
        (r'{"name": "a\"\/\ud83d\ude00", "parameters": {"a": oops}}', 'a"/\U0001f600'),
        ('{"name": "%s", "parameters": {"a": oops}}' % (r"\u0066" * 128), "f" * 128),
        (f'{{"name": "{"f" * 129}", "parameters": {{"a": oops}}}}', None),
        ('{"name": "%s", "parameters": {"a": oops}}' % (r"\u0066" * 129), None),
        (r'{"name": "get\_weather", "parameters": {"name": "Alice", "a": oops}}', None),
        (r'{"name": "f\u00", "parameters": {"a": oops}}', None),
        (r'{"name": "f\ud83d", "parameters": {"a": oops}}', None),
    ],
)
def test_a_broken_candidate_that_got_to_its_arguments_says_which_tool_it_means(text: str, name: str | None):
    assert extract_in_every_chunking(text).rejections[0].name == name


INNER = '{"name": "inner", "parameters": {}}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"name": "f", "parameters": {{"a": {INNER} oops}}}}',
        f'{{"a": {INNER}, oops',
        f'{{"a": {INNER}',
        f"[{INNER}, oops]",
        f"[{INNER}",
        f"[{INNER},",
        f'{{"query": {INNER}}}',
        f'{{"name": "f", "parameters": {{"a": "x"}}, "b": [{INNER}] "c"}}',
    ],
)
def test_rule_6_an_object_that_was_completed_inside_is_never_promoted(text: str):
    extraction = extract_in_every_chunking(text)
    assert not extraction.tools_called
    assert extraction.content == text


@pytest.mark.parametrize(
    ("text", "names", "content"),
    [
        # A call left open, then valid ones: the 8B's commonest broken shape.
        (
            f'{{"name": "f", "parameters": {{"query": "F-0001; {CALL}; {CALL}',
            "ok ok",
            '{"name": "f", "parameters": {"query": "F-0001;',
        ),
        (f'{{"name": "f", "parameters": {{"a": "x"; {CALL}', "ok", '{"name": "f", "parameters": {"a": "x";'),
        (f'{{"name": "f", "parameters": {{"a": "x"}}; {CALL}', "ok", '{"name": "f", "parameters": {"a": "x"};'),
        (f'{{"name": "f", {CALL}', "ok", '{"name": "f",'),
        (f'{{"name": {CALL[1:]}', "", f'{{"name": {CALL[1:]}'),
        (f"{{{CALL}", "ok", "{"),
        (f"{{ {CALL} }}", "ok", "{ }"),
        (f'["x {CALL}', "ok", '["x'),
        (f'[1, " {CALL}"]', "ok", '[1, " "]'),
        (f'[1, "{CALL}"]', "", f'[1, "{CALL}"]'),  # directly between quotation marks (rule 9)
        (f"{{x}} {CALL}", "ok", "{x}"),
        (f"[[{{ {CALL}", "ok", "[[{"),
    ],
)
def test_rule_6_the_search_goes_on_at_the_last_token(text: str, names: str, content: str):
    extraction = extract_in_every_chunking(text)
    assert " ".join(call.name for call in extraction.tool_calls) == names
    assert extraction.content == content


def test_rule_6_a_rejection_says_where_and_what():
    (rejection,) = extract('Well, {"name": "f" "parameters"}').rejections
    assert rejection.span == (6, 18)
    assert rejection.detail == "expected ',' or the closing bracket at offset 19, found '\"'"


OPEN = '{"name": "f", "parameters": {"a": '  # 34 characters
ESCAPE = "an escape that JSON does not have in a string, at offset 35"

DETAILS = [
    ('{"name": "f" "b"', 12, "malformed", "expected ',' or the closing bracket at offset 13, found '\"'"),
    ('{"name" "f"', 7, "malformed", "expected ':' after the key at offset 8, found '\"'"),
    ('{"name": "f", }', 13, "malformed", "expected a key at offset 14, found '}'"),
    ('{"name": "f", [', 13, "malformed", "expected a key at offset 14, found '['"),
    (f"{OPEN}X}}}}", 33, "malformed", "expected a value at offset 34, found 'X'"),
    (f"{OPEN}:}}}}", 33, "malformed", "expected a value at offset 34, found ':'"),
    (f"{OPEN}[1}}}}", 36, "malformed", "expected ',' or the closing bracket at offset 36, found '}'"),
    (f"{OPEN}[,", 35, "malformed", "expected a value or ']' at offset 35, found ','"),
    (f"{OPEN}01}}}}", 35, "malformed", "expected ',' or the closing bracket at offset 35, found '1'"),
    (f"{OPEN}-}}}}", 35, "malformed", "expected a digit at offset 35, found '}'"),
    (f"{OPEN}1.}}}}", 36, "malformed", "expected a digit at offset 36, found '}'"),
    (f"{OPEN}1e+}}}}", 37, "malformed", "expected a digit at offset 37, found '}'"),
    (f"{OPEN}-1e999}}}}", 40, "malformed", "a number too large for a float, before offset 40"),
    (f"{OPEN}{'9' * 400}.0}}}}", 436, "malformed", "a number too large for a float, before offset 436"),
    (f"{OPEN}nul}}}}", 34, "malformed", "expected 'null' at offset 34"),
    (f'{OPEN}"\\x"}}}}', 35, "malformed", ESCAPE),
    (f'{OPEN}"\\ud83d"}}}}', 35, "malformed", ESCAPE),
    (f'{OPEN}"\\ud83d\\uX"}}}}', 35, "malformed", ESCAPE),
    (f'{OPEN}"\t"}}}}', 35, "malformed", "the character '\\t' in a string, at offset 35"),
    (f'{OPEN}"\ud83d"}}}}', 35, "malformed", "the character '\\ud83d' in a string, at offset 35"),
    ('{"name"', 7, "truncated", "the output ends inside it, where ':' after the key was due"),
    ('{"name": "f",', 13, "truncated", "the output ends inside it, where a key was due"),
    (OPEN, 33, "truncated", "the output ends inside it, where a value was due"),
    (f"{OPEN}1}}", 36, "truncated", "the output ends inside it, where ',' or the closing bracket was due"),
    (f"{OPEN}tru", 37, "truncated", "an open literal"),
    (f"{OPEN}-", 35, "truncated", "an open number"),
    (f"{OPEN}1.5", 37, "truncated", "an open number"),
    (f'{OPEN}"x', 36, "truncated", "an open string"),
    (f'{OPEN}"\\ud83d\\ude0', 46, "truncated", "an open string"),
    (f"{OPEN}{'[' * 127}{']' * 127}}}}}", 290, "too_deep", "nested deeper than 128 levels"),
    (f"{OPEN}{'[' * 127} oops", 161, "too_deep", "nested deeper than 128 levels"),
    (f"{OPEN}{'[' * 126}X", 160, "malformed", "expected a value or ']' at offset 160, found 'X'"),
    (f"[{CALL}, X]", 42, "malformed", "expected a value at offset 43, found 'X'"),
    (
        f'[{CALL}, {CALL}, {{"a": 1}}]',
        94,
        "not_a_call",
        "element 2 of the array: an object with the keys a, but no name",
    ),
    (f"[{CALL}, {{}}]", 46, "not_a_call", "element 1 of the array: an object with the keys none, but no name"),
    (f"[{CALL}, 7]", 45, "not_a_call", "an array of something else than objects"),
    (f'[{CALL}, {{"a": 1}}]', 52, "not_a_call", "element 1 of the array: an object with the keys a, but no name"),
]


@pytest.mark.parametrize(("text", "end", "reason", "detail"), DETAILS)
def test_a_rejection_says_what_is_wrong(text: str, end: int, reason: str, detail: str):
    (rejection,) = extract_in_every_chunking(text).rejections
    assert (str(rejection.reason), rejection.span, rejection.detail) == (reason, (0, end), detail)
    is_named = text.startswith("{") and '"parameters"' in text
    assert rejection.name == ("f" if is_named else None)


@pytest.mark.parametrize(
    "text", ["{x}", "{}", "[]", "[1]", "[x]", "{{}}", "a {b", "{ ", "[", "[ [", "[[1], [2]]", "f({})"]
)
def test_braces_and_brackets_without_a_key_are_prose_and_no_rejection(text: str):
    assert extract_in_every_chunking(text).rejections == ()


def test_rejections_do_not_overlap_each_other_or_the_calls():
    text = f'{{"a": "b {{"c": "d {{"e" f {{"query": "g {CALL} {{"h": 1}}'
    extraction = extract_in_every_chunking(text)
    spans = sorted([value.span for value in (*extraction.rejections, *extraction.tool_calls)])
    assert len(spans) > 4
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


@pytest.mark.parametrize("end", range(1, len(CALL)))
def test_rule_7_cut_off_is_not_called(end: int):
    extraction = extract_in_every_chunking(f"{INNER} and {CALL[:end]}")
    assert [call.name for call in extraction.tool_calls] == ["inner"]
    assert extraction.content == f"and {CALL[:end].rstrip()}"
    assert [str(rejection.reason) for rejection in extraction.rejections] == (["truncated"] if end > 1 else [])


@pytest.mark.parametrize("end", range(1, len(CALL)))
def test_rule_7_in_a_list_that_is_cut_off_no_call_is_complete(end: int):
    text = f"[{CALL}, {CALL[:end]}"
    assert extract_in_every_chunking(text).content == text


@pytest.mark.parametrize("between", ["[", "[ ", "```json\n", "<|python_tag|>", "<tool_call>"])
def test_a_rejection_ends_before_what_vanishes(between: str):
    text = f'{{"a{between}{CALL}'
    extraction = extract_in_every_chunking(text + ("]" if "[" in between else ""))
    assert extraction.tools_called
    (rejection,) = extraction.rejections
    assert text[slice(*rejection.span)] == '{"a'
    assert extraction.content == '{"a'


def test_a_list_that_is_broken_behind_its_last_call_says_which_tool_it_means():
    (rejection,) = extract_in_every_chunking(f"[{CALL}, ]").rejections
    assert (str(rejection.reason), rejection.name) == ("malformed", "ok")


def test_an_array_counts_as_a_level():
    for levels, is_call in [(125, True), (126, False)]:
        text = f'[{{"name": "f", "parameters": {{"x": {"[" * levels}{"]" * levels}}}}}]'
        assert extract_in_every_chunking(text).tools_called is is_call


def test_rule_7_what_an_open_string_swallowed_is_not_searched_at_the_end():
    text = '{"name": "write", "parameters": {"text": "use <function=f>{}</function>'
    extraction = extract_in_every_chunking(text)
    assert extraction.content == text
    (rejection,) = extraction.rejections
    assert (str(rejection.reason), rejection.name) == ("truncated", "write")


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("digits", [300, 641, 4299, 4301, 20_000])
def test_rule_8_integers_of_any_size_keep_their_value(digits: int, sign: str):
    written = sign + "7" * digits
    (call,) = extract_in_every_chunking(f'{{"name": "f", "parameters": {{"n": [{written}]}}}}').tool_calls
    (value,) = call.arguments["n"]
    assert value == (int(sign + "1") * 7 * (10**digits - 1)) // 9
    assert call.arguments_json == f'{{"n": [{written}]}}'
    assert written[:20] in repr(call)


@pytest.mark.parametrize(
    "wrap", ["[%s]", '{"function": %s}', '[{"function": %s}]', '{"tool_call": %s}', '{"tool_calls": [%s]}']
)
def test_rule_8_holds_wherever_a_call_stands(wrap: str):
    text = wrap % f'{{"name": "f", "parameters": {{"n":{"7" * 5000},"m":[1,2]}}}}'
    (call,) = extract_in_every_chunking(text).tool_calls
    assert call.arguments == {"n": 7 * (10**5000 - 1) // 9, "m": [1, 2]}


@pytest.mark.parametrize("held", [r"{\"n\": %s}", r"{\"n\": \"\\ud83d\\ude00\", \"m\": %s}"])
def test_rule_8_holds_in_a_string_of_arguments_too(held: str):
    (call,) = extract_in_every_chunking('{"name": "f", "arguments": "%s"}' % (held % ("7" * 5000))).tool_calls
    assert 7 * (10**5000 - 1) // 9 in call.arguments.values()


def test_every_escape_of_json_is_read():
    (call,) = extract_in_every_chunking(
        r'{"name": "f", "parameters": {"a": "\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00"}}'
    ).tool_calls
    assert call.arguments == {"a": '"\\/\b\f\n\r\té\U0001f600'}


@pytest.mark.parametrize(
    ("levels", "is_call"), [(100, True), (128, True), (129, False), (1000, False), (20_000, False)]
)
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")], ids=["arrays", "objects"])
def test_nesting_is_read_to_128_levels_whatever_pythons_own_limit(
    levels: int, is_call: bool, opening: str, closing: str
):
    below = levels - len(["the call", "its parameters", "the call inside"])
    text = f'{{"name": "f", "parameters": {{"x": {opening * below}{INNER}{closing * below}}}}}'.replace(
        '"parameters": {}}', '"b": 1}'
    )
    extraction = extract_in_every_chunking(text)
    assert [call.name for call in extraction.tool_calls] == (["f"] if is_call else [])
    assert [(str(rejection.reason), rejection.name) for rejection in extraction.rejections] == (
        [] if is_call else [("too_deep", "f")]
    )


@pytest.mark.parametrize("levels", [126, 128, 900])
@pytest.mark.parametrize("string", ["[", r"[\\", r"[\n", r"[\u005c", r"\\\u005b"])
def test_what_a_repeated_key_hides_counts_as_a_level(string: str, levels: int):
    arguments = f'{{"a": {"[" * levels}{"]" * levels}, "b": "{string * 200}", "a": 1}}'
    for written in (arguments, json.dumps(arguments)):
        extraction = extract_in_every_chunking(f'{{"name": "f", "parameters": {written}}}')
        assert extraction.tools_called == (levels == 126)


def test_a_call_is_read_near_the_end_of_pythons_stack():
    nested = "[" * 100 + "]" * 100
    text = f'{{"name": "f", "parameters": {{"a": {nested}}}, "arguments": {{"a": {nested}}}}}'
    alone = extract(text).tool_calls

    def at_depth(frames: int) -> Extraction:
        return at_depth(frames - 1) if frames else extract(text)

    assert at_depth(830).tool_calls == alone


DICT = "{'name': 'f', 'arguments': {'city': 'Paris'}}"


@pytest.mark.parametrize(
    ("text", "tools", "name"),
    [
        (f"<tool_call>{DICT}</tool_call>", None, "f"),
        (f"<tool_call>\n{DICT}\n</tool_call>", [{"name": "g"}], "f"),
        (f"```json\n{DICT}\n```", None, "f"),
        (f"Now: {DICT}", [{"name": "f"}], "f"),
        (DICT, [{"name": "f"}], "f"),
        (DICT, None, None),
        (DICT, [{"name": "g"}], None),
        (f"x = {DICT}", [{"name": "f"}], None),
        (f"`{DICT}`", [{"name": "f"}], None),
        ("Use {'name': 'Alice'} or {'x': 'f'}.", [{"name": "f"}], None),
    ],
)
def test_a_call_written_as_a_python_dict_is_reported(text: str, tools: list[dict[str, str]] | None, name: str | None):
    extraction = extract_in_every_chunking(text, tools=tools)
    assert (extraction.content, extraction.tool_calls) == (text, ())
    found = [(one.name, one.reason, text[slice(*one.span)]) for one in extraction.rejections]
    assert found == ([(name, "malformed", "{'name': 'f'")] if name else [])
