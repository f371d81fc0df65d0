"""Text that is no call, though something in it may look like one: rules 1, 5, 9, 11 and 12.

There are many, so each is tried in some of its chunkings only.

The tables are in `non_calls/`, one kind of text a file, as a model would write it: a line `=== id`, then the text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from chunkings import extract_in_every_chunking

pytestmark = pytest.mark.no_cover  # much of the same: other tests cover what these try

_HEADING = re.compile(r"^=== (\S+)\n", re.MULTILINE)


def table(path: Path) -> dict[str, str]:
    """Read a table: the texts by their ids."""
    before, *parts = _HEADING.split(path.read_text(encoding="utf-8"))
    ids, texts = parts[::2], [text.removesuffix("\n") for text in parts[1::2]]
    assert not before, f"{path.name} begins with a heading"
    assert len(set(ids)) == len(ids), f"{path.name}: an id stands twice"
    return dict(zip(ids, texts, strict=True))


TABLES = {path.stem: table(path) for path in sorted((Path(__file__).parent / "non_calls").glob("*.txt"))}
MENTIONS = TABLES.pop("mentions")
"""Texts in which the tools that are declared for them are named."""

TEXTS = [pytest.param(text, id=f"{name}-{case}") for name, texts in TABLES.items() for case, text in texts.items()]


def tool(name: str, *parameters: str) -> dict[str, Any]:
    """Declare a tool that requires all of its parameters."""
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": list(parameters)}}


OTHER_TOOLS = [tool("book_flight", "to"), tool("stop_alarm")]
NAMED_TOOLS = [tool("get_weather", "city"), tool("search", "query"), tool("print", "value"), tool("clock")]


def assert_untouched(text: str, **options: Any) -> None:  # noqa: ANN401 - as Extractor takes them
    """Fail if anything in the text was called, or the text is not the content (rule 5)."""
    extraction = extract_in_every_chunking(text, is_sampled=True, **options)
    assert extraction.tool_calls == ()
    assert extraction.content == text


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "options",
    [{}, {"tools": OTHER_TOOLS}, {"formats": "all"}, {"tools": OTHER_TOOLS, "repair": True}],
    ids=["any", "declared", "asked", "repaired"],
)
def test_it_is_no_call(text: str, options: dict[str, Any]):
    assert_untouched(text, **options)


@pytest.mark.parametrize("text", MENTIONS.values(), ids=MENTIONS)
def test_to_mention_a_declared_tool_is_not_to_call_it(text: str):
    assert_untouched(text, tools=NAMED_TOOLS)
    assert_untouched(text, tools=NAMED_TOOLS, repair=True)


def test_there_are_many_and_each_is_another():
    """So that the tables cannot shrink."""
    texts = [text for texts in (*TABLES.values(), MENTIONS) for text in texts.values()]
    assert len(set(texts)) == len(texts)
    assert len(TEXTS) >= 425
    assert sum(500 <= len(text) <= 2000 for text in texts) >= 24
    assert len(MENTIONS) >= 90
    assert not any(declared["name"] in text for text in texts for declared in OTHER_TOOLS)
