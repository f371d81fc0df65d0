"""What is told of calls that did not fit: which of them, and in values of JSON."""

from __future__ import annotations

import json

import pytest

from llama3_tools import Extractor
from llama3_tools.arguments.call_report import coerced_arguments

DAYS = {"type": "object", "properties": {"days": {"type": "integer"}}}
WAIT = Extractor([{"name": "wait", "parameters": DAYS}], coerce_arguments=True, repair=True)


def told(text: str) -> list[object]:
    report = coerced_arguments(WAIT.extract(text).tool_calls)
    assert json.loads(json.dumps(report)) == report
    return [{key: value for key, value in one.items() if value and key != "id"} for one in report]


def test_a_call_that_fits_is_not_told_of():
    assert not told('{"name": "wait", "parameters": {"days": 3}}')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"name": "wait", "parameters": {"days": "3"}}',
            {
                "written": '{"days": "3"}',
                "changes": [{"path": "$.days", "declared": "integer", "before": "3", "after": 3}],
            },
        ),
        (
            '{"name": "wait", "parameters": {"days": "soon"}}',
            {
                "written": '{"days": "soon"}',
                "problems": [
                    {
                        "path": "$.days",
                        "declared": "integer",
                        "value": "soon",
                        "reason": "wrong_type",
                        "message": '$.days: expected integer, got the string "soon"',
                    }
                ],
            },
        ),
        (
            '{"tool": "wait", "parameters": {"days": 3}}',
            {"written": '{"days": 3}', "deviations": ["the name stands under 'tool'"]},
        ),
        (
            "{'name': 'wait', 'parameters': {'days': 3}}",
            {"written": '{"days": 3}', "repaired_from": "{'name': 'wait', 'parameters': {'days': 3}}"},
        ),
    ],
    ids=["changed", "does not fit", "other keys", "repaired"],
)
def test_any_other_is(text: str, expected: dict[str, object]):
    assert told(text) == [{"name": "wait", **expected}]


def test_of_several_each_keeps_its_id():
    calls = WAIT.extract(
        '[{"name": "wait", "parameters": {"days": "3"}}, {"name": "wait", "parameters": {"days": "4"}}]'
    )
    assert [one["id"] for one in coerced_arguments(calls.tool_calls)] == [call.id for call in calls.tool_calls]
