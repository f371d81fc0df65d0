"""Outputs in the shapes and lengths of real ones: nothing lost, nothing invented, and what each chunking gives.

The outputs below are written here, so that every contributor has some. Published ones of real models lie beside the
repository where they are at hand. None of them is copied into the project.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import invariants
from beginnings import breaking_off_calls_nothing, calls_come_when_they_are_complete
from chunkings import cut, extract_in_every_chunking
from llama3_tools import Extractor

pytestmark = pytest.mark.no_cover  # much of the same: other tests cover what these try

BESIDE = Path(__file__).parents[3] / "shared"
CORPUS = BESIDE / "corpus" / "real_outputs.jsonl"
BFCL = BESIDE / "bfcl" / "rows.jsonl.gz"

_STEPS = "\n".join(f"{number}. Look at shelf {number}, and note what is missing." for number in range(1, 9))
_ROUTE = {"from": "Lyon", "to": "Turin", "stops": ["Chambéry", "Modane"], "avoid_tolls": True, "seats": 3}
_ORDER = {"customer": {"id": 40217, "name": "Ana Ruiz"}, "items": [{"sku": "LMP-20", "count": 2}], "note": 'for "Ana"'}


def written(name: str, arguments: dict[str, Any], key: str = "parameters") -> str:
    """Return a call as models write it."""
    return json.dumps({"name": name, key: arguments}, ensure_ascii=False)


OUTPUTS = {
    "a bare call": (written("plan_route", _ROUTE), ["plan_route"]),
    "text, then a call": (f"To answer that I need the route first.\n\n{written('plan_route', _ROUTE)}", ["plan_route"]),
    "long text around": (f"Here is how:\n{_STEPS}\n\n{written('order', _ORDER)}\n\n{_STEPS}", ["order"]),
    "Hermes' tag": (
        "\n".join(
            f"<tool_call>\n{call}\n</tool_call>"
            for call in (written("order", _ORDER, "arguments"), written("plan_route", _ROUTE, "arguments"))
        ),
        ["order", "plan_route"],
    ),
    "ChatML, broken by Python": (
        '<|im_start|>\n{"arguments": {"to": "Turin", "avoid_tolls": True}, "name": "plan_route"}\n<|im_start|>',
        [],
    ),
    "a fence in text": (f"I'd call this:\n\n```json\n{written('order', _ORDER)}\n```\n\nIt places it.", ["order"]),
    "a pythonic list": ("[plan_route(to='Turin', seats=3), order(note='Ana')]", ["plan_route", "order"]),
    "a built-in tool": ('<|python_tag|>brave_search.call(query="toll roads in Piedmont")', ["brave_search"]),
    "a dict of Python": ("{'name': 'plan_route', 'parameters': {'to': 'Turin'}}", []),
    "a comma missing": ('{"name": "plan_route", "parameters": {"to": "Turin" "seats": 3}}', []),
    "cut off": (written("order", _ORDER)[:-20], []),
    "missing arguments": ('{"name": "plan_route", "to": "Turin"}', []),
    "a schema echoed": (
        '{"name": "plan_route", "description": "Plans", "parameters": {"type": "object", "properties": {"to": {}}}}',
        [],
    ),
    "an answer": (f"You can drive from Lyon to Turin in about four hours.\n\n{_STEPS}\n\nDrive {{safely}}!", []),
    "a program": ("```python\ndef plan_route(to):\n    return [to]\n\nprint(plan_route('Turin'))\n```\nThat's it.", []),
    "a table": ("| city | hours |\n|---|---|\n| Lyon | 4 |\n\nPrices: [12, 15]; see (1) and f(x) = {x: 2}.", []),
}

TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {key: {} for key in keys}, "required": [keys[0]]}}
    for name, keys in (
        ("plan_route", ("to", *_ROUTE)),
        ("order", ("note", *_ORDER)),
        ("brave_search", ("query",)),
        ("code_interpreter", ("code",)),
    )
]
READINGS = {
    "default": Extractor(),
    "tools": Extractor(TOOLS),
    "all": Extractor(TOOLS, formats="all", split_reasoning=True),
}


@pytest.mark.parametrize(("output", "names"), OUTPUTS.values(), ids=OUTPUTS)
def test_the_calls_of_declared_tools_are_found_and_what_is_none_is_text(output: str, names: list[str]):
    extraction = extract_in_every_chunking(output, tools=TOOLS, is_sampled=True)
    assert [call.name for call in extraction.tool_calls] == names
    assert names or extraction.content


ATTEMPTS = ("ChatML, broken by Python", "a dict of Python", "a comma missing", "cut off", "missing arguments")


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_that_failed_is_told(name: str):
    attempts = Extractor(TOOLS).extract(OUTPUTS[name][0]).attempts
    assert {attempt.name for attempt in attempts} & {"plan_route", "order"}


@pytest.mark.parametrize("name", ["an answer", "a program", "a table", "a schema echoed"])
def test_an_answer_is_no_attempt(name: str):
    assert Extractor(TOOLS).extract(OUTPUTS[name][0]).attempts == ()


def hold(output: str, extractor: Extractor, seeded: random.Random) -> None:
    """Hold an output to all that holds for every output, in a few chunkings."""
    size = seeded.randint(1, 9)
    small = [output[start : start + size] for start in range(0, len(output), size)]
    places = sorted(seeded.sample(range(len(output) + 1), min(len(output), 4)))
    invariants.every_chunking_is_one_shot(small, extractor)
    invariants.every_chunking_is_one_shot(cut(output, places), extractor)
    invariants.nothing_is_lost(output, extractor)
    invariants.calls_stand_where_they_say(output, extractor)
    invariants.rejections_stand_in_order(output, extractor)
    calls_come_when_they_are_complete(output, extractor, places)
    breaking_off_calls_nothing(output, extractor, places[:2])


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("output", [output for output, _ in OUTPUTS.values()], ids=OUTPUTS)
def test_nothing_is_lost_and_nothing_invented(output: str, reading: str):
    hold(output, READINGS[reading], random.Random(len(output)))  # noqa: S311 - the same cuts for the same text


def published(path: Path, load: Callable[[Path], list[str]]) -> list[str]:
    """Return published outputs, or skip the test where they are not at hand."""
    if not path.is_file():
        pytest.skip(f"{path.parent.name} is not beside the repository")
    return load(path)


def corpus(path: Path) -> list[str]:
    """Return the outputs of a file of lines."""
    return [json.loads(line)["raw_output"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("part", range(4))
def test_published_outputs_of_all_kinds(part: int):
    outputs = published(CORPUS, corpus)
    seeded = random.Random(part)  # noqa: S311 - the same cuts every time
    for output in outputs[part::4]:
        for reading in ("default", "all"):
            hold(output, READINGS[reading], seeded)


_SAMPLE = 500


@pytest.mark.parametrize("part", range(4))
def test_a_sample_of_the_function_calling_leaderboard(part: int):
    def sampled(path: Path) -> list[tuple[str, list[dict[str, Any]]]]:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [line for number, line in enumerate(lines) if number % (6971 // _SAMPLE) == 0]
        return [(row["raw"], as_list(row["functions"])) for row in map(json.loads, rows[part::4])]

    rows: list[Any] = published(BFCL, sampled)  # type: ignore[arg-type]
    seeded = random.Random(part)  # noqa: S311 - the same cuts every time
    called = 0
    for output, functions in rows:
        names = {one["name"] for one in functions} | {one["name"].replace(".", "_") for one in functions}
        extractor = Extractor([{"name": name} for name in names])
        hold(output, extractor, seeded)
        called += extractor.extract(output).tools_called
    assert called > len(rows) // 2


def as_list(value: Any) -> list[Any]:
    """Return the functions of a row, of which some have one that is no list."""
    return value if isinstance(value, list) else [value]
