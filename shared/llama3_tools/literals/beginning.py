"""The object with which a text begins."""

from __future__ import annotations

from llama3_tools.literals.bracket_span import BracketSpan
from llama3_tools.literals.json_object import parse_object
from llama3_tools.literals.python_literals import parse_literal


def object_at_start(text: str) -> str:
    """Return the object in JSON or of Python's literals with which a text begins, as JSON; else the text.

    >>> object_at_start("{'days': 3} Then"), object_at_start("{oops}")
    ('{"days": 3}', '{oops}')
    """
    if (found := parse_object(text, 0)) is not None:
        return found.json
    return parse_literal(text[: BracketSpan(tolerant=True).read(text, 0, ended=True)]) or text
