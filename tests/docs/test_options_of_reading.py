"""Each option of reading is known wherever they are taken one by one, or it is said here why it is not."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from llama3_acceptance import Reading
from llama3_gateway.settings import CHAT_NAMES, ModelOptions
from llama3_tools import ReadOptions

ROOT = Path(__file__).parents[2]
OPTIONS = [one.name for one in fields(ReadOptions)]
IDS = "a function; what takes them makes its own"


def passed(path: str, name: str) -> set[str]:
    """Return the keywords of the one call of a name in a source that are options."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    (call,) = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and ast.unparse(one.func) == name]
    return {str(keyword.arg) for keyword in call.keywords} & {*OPTIONS}


def of_gateway() -> set[str]:
    return {CHAT_NAMES.get(name, name) for name in ModelOptions.model_fields} & {*OPTIONS}


def of_concepts() -> set[str]:
    section = (ROOT / "docs" / "concepts.md").read_text("utf-8").partition("\n## Options\n")[2].partition("\n## ")[0]
    return {*re.findall(r"^\| `(\w+)=", section, re.MULTILINE)}


PLACES = {
    "docs/concepts.md": (of_concepts(), {}),
    "llama3-tools extract": (
        passed("shared/llama3_tools/cli/extract.py", "Extractor"),
        {"progress": "an output comes whole", "id_factory": IDS},
    ),
    "llama3-tools extract --jsonl": (
        passed("integrations/llama3_batch/cli/files.py", "ReadOptions"),
        {"coerce_arguments": "`FileRun.coerce`", "progress": "an output comes whole", "id_factory": IDS},
    ),
    "the gateway": (
        of_gateway(),
        {"progress": "no API has a word for it", "limits": "those by default hold", "id_factory": IDS},
    ),
    "a suite": (
        {one.name for one in fields(Reading)},
        {
            "on_unknown_tool": "such a call is judged, as every call is",
            "coerce_arguments": "calls are judged with and without",
            "split_reasoning": "thoughts are never judged",
            "progress": "an answer comes whole",
            "limits": "those by default hold",
            "id_factory": IDS,
        },
    ),
}
"""What takes options; which it takes; and why it does not take the others."""


@pytest.mark.parametrize("place", PLACES)
def test_each_option_is_known_or_has_a_reason(place: str):
    known, reasons = PLACES[place]
    assert sorted([*known, *reasons]) == sorted(OPTIONS)
