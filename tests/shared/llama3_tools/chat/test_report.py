"""What a report says for a log."""

from __future__ import annotations

import pytest

from chats import CITY, asked

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
