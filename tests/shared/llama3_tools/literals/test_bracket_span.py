"""Where a bracket closes, or why none does; however the text is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkings import cut
from llama3_tools.literals.bracket_span import BracketSpan


def read(chunks: list[str], *, tolerant: bool = False) -> tuple[int, str, bool]:
    """Read chunks, of which only the rest is kept; return where it stopped, the flaw, and whether it is closed."""
    span = BracketSpan(tolerant=tolerant)
    rest, base = "", 0
    for number, chunk in enumerate(chunks, 1):
        rest += chunk
        end = -1
        while end and not (span.flaw or span.is_complete):
            end = span.read(rest, 0, base, ended=number == len(chunks))
            rest, base = rest[end:], base + end
        if span.flaw or span.is_complete:
            break
        assert len(rest) <= 2
    return base, span.flaw, span.is_complete


CLOSED = {
    "nothing": "()",
    "brackets": "([{}], ({1}))",
    "brackets in strings": """(')', "]", '''}''', \"\"\"(\"\"\")""",
    "quotes in strings": r"""("it's", '"', '\'', "\"", '\\')""",
    "quotes in three quotes": "('''a'b''c\n\n\\'''d''')",
    "empty strings": """('', "", ''''''""  )""",
    "a line break after a backslash": "('a\\\nb')",
    "line breaks": "(\n  1,\r\n  2\n)",
    "lines that go on": "(a=\n1,\nb=[\n2\n], c={'d':\n3}\n, e=4\n  )",
}
TOLERANTLY = {
    "an object": '{"a": [1, {}], "b": "x" }',
    "raw line breaks, and an empty line": "{'a': 'x\n\ny',\n\n'b': 1}",
    "what may come after a string": """{"a":"b", 'c' :"d" "e": ["f" ], 'g': ('h')}""",
    "a long string": '{"a": "' + "x\\n" * 3000 + '"}',
}


@pytest.mark.parametrize("after", ["", ") and ' more\n\n"], ids=["alone", "with more"])
@pytest.mark.parametrize(
    ("text", "tolerant"),
    [*((text, False) for text in CLOSED.values()), *((text, True) for text in TOLERANTLY.values())],
    ids=[*CLOSED, *TOLERANTLY],
)
def test_it_is_complete_at_the_bracket_that_closes(text: str, after: str, tolerant: bool):
    assert read([text + after], tolerant=tolerant) == (len(text), "", True)


@pytest.mark.parametrize(
    ("text", "flaw", "at"),
    [
        ("(1])", "a ']' that closes nothing", 2),
        (")", "a ')' that closes nothing", 0),
        ("('a\nb')", "a line break in a string", 3),
        ("('a\r\nb')", "a line break in a string", 3),
        ("(1,\n \t\r\n2)", "an empty line", 7),
        ("(1\n2)", "a line that ends inside it", 3),
        ("({'a':\n1, 'b'\n: 2})", "a line that ends inside it", 14),
    ],
)
def test_a_flaw_ends_it(text: str, flaw: str, at: int):
    assert read([text]) == (at, flaw, False)


@pytest.mark.parametrize(
    ("text", "at"), [("{'a': 'it's'}", 10), ('{"a": "say "x"}', 12), ('{"a" {}}', 5), ("{'a': 'b' + 'c'}", 10)]
)
def test_in_tolerant_json_a_string_ends_where_its_quote_may_end_it(text: str, at: int):
    assert read([text], tolerant=True) == (at, "a quote that may not end its string", False)


@pytest.mark.parametrize("text", ["", "(", "(1, '", "('''a''", "('a\\", "(''", "([1)"[:3], "(1\n"])
def test_what_is_not_closed_is_read_to_its_end(text: str):
    assert read([text]) == (len(text), "", False)


@given(st.text("()[]{}'\"\\\n\r ,:a", max_size=24), st.booleans(), st.data())
def test_every_way_to_cut_the_text_gives_the_same(rest: str, tolerant: bool, data: st.DataObject):
    text = f"{{{rest}"
    whole = read([text], tolerant=tolerant)
    places = data.draw(st.sets(st.integers(0, len(text))))
    assert read(cut(text, sorted(places)), tolerant=tolerant) == whole
    assert read(list(text), tolerant=tolerant) == whole
