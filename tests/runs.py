"""A small suite, and runs of it, for the tests of scores and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from llama3_acceptance.running.asking import fingerprint
from llama3_acceptance.running.records import Record, Run
from llama3_acceptance.running.results import Results, judge_records
from llama3_acceptance.values import ArgumentRule, Case, ExpectedCall, Reading, Suite
from llama3_tools import Tool

_SCHEMA = {
    "type": "object",
    "properties": {"room": {"type": "string"}, "level": {"type": "integer"}},
    "required": ["room"],
}
_TOOLS = (Tool("set_light", "Sets a light", _SCHEMA), Tool("tell_joke", "Tells a joke"))

SUITE = Suite(
    "Home",
    _TOOLS,
    (
        Case("kitchen", "Light in the kitchen", ((ExpectedCall("set_light", {"room": ArgumentRule(("kitchen",))}),),)),
        Case(
            "dim",
            "Dim the hall to 20",
            ((ExpectedCall("set_light", {"room": ArgumentRule(("hall",)), "level": ArgumentRule((20,))}),),),
            tags=("numbers",),
        ),
        Case("joke", "Tell a joke", ((ExpectedCall("tell_joke"),),)),
        Case("hello", "Hello"),
    ),
)

SUITE_YAML = """\
name: Home
tools:
  - type: function
    function:
      name: set_light
      description: Sets a light
      parameters:
        type: object
        properties: {room: {type: string}, level: {type: integer}}
        required: [room]
  - type: function
    function: {name: tell_joke, description: Tells a joke}
cases:
  - {id: kitchen, command: Light in the kitchen, expect: {tool: set_light, arguments: {room: kitchen}}}
  - id: dim
    command: Dim the hall to 20
    expect: {tool: set_light, arguments: {room: hall, level: 20}}
    tags: [numbers]
  - {id: joke, command: Tell a joke, expect: {tool: tell_joke}}
  - {id: hello, command: Hello, expect: none}
"""

KITCHEN = '{"name": "set_light", "parameters": {"room": "kitchen"}}'
DIM = '{"name": "set_light", "parameters": {"room": "hall", "level": "20"}}'
MENDED = KITCHEN.replace('"name"', "'name'")
"""A call that is one where calls are repaired."""


def judged(
    outputs: Mapping[str, str | list[object]],
    *,
    errors: Mapping[str, str] | None = None,
    repeats: int = 1,
    reading: Reading = Reading(),  # noqa: B008 - a frozen value
) -> Results:
    """Judge outputs by case; a list holds the repeats of a case."""
    records = [
        Record(case, repeat, response=output, latency=0.5, usage={"completion_tokens": 7})
        for case, given in outputs.items()
        for repeat, output in enumerate([given] if isinstance(given, str) else given)
    ]
    records += [Record(case, error=error) for case, error in (errors or {}).items()]
    run = Run(
        "Home", fingerprint(SUITE), "llama3.1", "http://127.0.0.1:8080/v1", {"temperature": 0}, "2026-01-02T03:04:05Z"
    )
    return judge_records(replace(SUITE, reading=reading), run, records, repeats=repeats)
