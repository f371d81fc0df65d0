"""What a report says for a log, and in values of JSON of calls that did not fit."""

from __future__ import annotations

import json

import pytest

from chats import CITY, asked
from llama3_tools import Extractor
from llama3_tools.chat.report import coerced_arguments

DAYS = {"type": "object", "properties": {"days": {"type": "integer"}}}
WAIT = Extractor([{"name": "wait", "parameters": DAYS}], coerce_arguments=True, repair=True)
SECRET = '{"name": "get_weather", "parameters": {"city": "Atlantis", oops}}'


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("Hi", [], id="no call"),
        pytest.param(CITY, [], id="a call"),
        pytest.param(SECRET, ["no call of 'get_weather': malformed"], id="a malformed call"),
        pytest.param(
            f"{CITY} Again: {CITY}", ["no call of 'get_weather': repeats the one before it"], id="a repeated call"
        ),
    ],
)
def test_each_call_that_does_not_run_has_a_line_without_its_arguments(text: str, lines: list[str]) -> None:
    assert asked().read({"content": text}).report.lines() == lines


def test_calls_after_the_only_one_have_lines() -> None:
    reply = asked(request={"parallel_tool_calls": False}).read(
        {"content": f'{CITY}; {{"name": "now", "parameters": {{}}}}'}
    )
    assert reply.report.lines() == ["no call of 'now': only one call may be made"]


def test_a_long_name_of_several_lines_is_short_and_in_one_line() -> None:
    name = "a\nb" * 500
    reply = asked().read({"tool_calls": [{"function": {"name": name, "arguments": "{"}}]})
    (line,) = reply.report.lines()
    assert len(line) < 200
    assert "\n" not in line


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
            {"written": '{"days": 3}', "deviations": ["the name is under 'tool'"]},
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
