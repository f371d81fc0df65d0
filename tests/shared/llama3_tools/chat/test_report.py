"""What a report says for a log, and in values of JSON of calls that did not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chats import CITY, asked
from llama3_tools import Extractor
from llama3_tools.chat import Report

DAYS = {"type": "object", "properties": {"days": {"type": "integer"}}}
WAIT = Extractor([{"name": "wait", "parameters": DAYS}], coerce_arguments=True, repair=True)
SECRET = '{"name": "get_weather", "parameters": {"city": "Atlantis", oops}}'


def test_each_call_that_does_not_run_has_a_line_without_its_arguments() -> None:
    now = '{"name": "now", "parameters": {}}'
    reply = asked(request={"parallel_tool_calls": False}).read({"content": f"{CITY}; {now} {SECRET} Again: {CITY}"})
    assert reply.report.lines() == [
        "no call of 'get_weather': malformed",
        "no call of 'get_weather': repeats the one before it",
        "no call of 'now': only one call may be made",
    ]


def test_a_long_name_of_several_lines_is_short_and_in_one_line() -> None:
    name = "a\nb" * 500
    reply = asked().read({"tool_calls": [{"function": {"name": name, "arguments": "{"}}]})
    (line,) = reply.report.lines()
    assert len(line) < 200
    assert "\n" not in line


def told(*texts: str) -> list[dict[str, Any]]:
    """What a report says of the calls in texts, of which the first fits."""
    calls = tuple(call for text in texts for call in WAIT.extract(text).tool_calls)
    report = Report(calls).to_dict()
    assert json.loads(json.dumps(report)) == report
    assert [one["id"] for one in report["coerced_arguments"]] == [call.id for call in calls[1:]]
    return [{key: value for key, value in one.items() if value and key != "id"} for one in report["coerced_arguments"]]


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
            {"written": '{"days": 3}', "deviations": ["the name is under 'tool'"]},
        ),
        (
            "{'name': 'wait', 'parameters': {'days': 3}}",
            {"written": '{"days": 3}', "repaired_from": "{'name': 'wait', 'parameters': {'days': 3}}"},
        ),
    ],
    ids=["changed", "does not fit", "other keys", "repaired"],
)
def test_each_call_that_was_changed_is_told_of_and_one_that_fits_is_not(text: str, expected: dict[str, object]):
    assert told('{"name": "wait", "parameters": {"days": 3}}', text) == [{"name": "wait", **expected}]
