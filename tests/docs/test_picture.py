"""The picture on the first page shows what the library does with the text in it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from llama3_tools import extract

PICTURE = Path(__file__).parents[2] / "docs" / "assets" / "what-it-does.svg"


def lines(of: str) -> list[str]:
    texts = ET.parse(PICTURE).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314 (our own file)
    return [(text.text or "").replace("\xa0", " ") for text in texts if text.get("class") == of]


def test_what_you_get_is_what_is_extracted_of_what_the_model_wrote() -> None:
    extraction = extract("\n".join(lines("written")))
    (call,) = extraction.tool_calls
    assert lines("got") == [extraction.content, call.name, str(call.arguments)]
