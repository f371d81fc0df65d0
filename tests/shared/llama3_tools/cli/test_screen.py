"""The terminal: when it has colours, and what is never marked up by itself."""

from __future__ import annotations

import pytest
from rich.text import Text

from llama3_tools.cli.screen import ColorChoice, console


@pytest.mark.parametrize(
    ("color", "environment", "printed"),
    [
        ("auto", {}, "[b]7[/b] :x: red\n"),
        ("auto", {"FORCE_COLOR": "1"}, "[b]7[/b] :x: \x1b[31mred\x1b[0m\n"),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, "[b]7[/b] :x: red\n"),
        ("always", {}, "[b]7[/b] :x: \x1b[31mred\x1b[0m\n"),
        ("never", {"FORCE_COLOR": "1"}, "[b]7[/b] :x: red\n"),
    ],
)
def test_colours_are_there_where_they_are_wanted_and_nothing_is_marked_up_by_itself(
    color: ColorChoice,
    environment: dict[str, str],
    printed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for is_error in (False, True):
        console(color, stderr=is_error).print("[b]7[/b] :x:", Text("red", "red"))
        assert capsys.readouterr() == (("", printed) if is_error else (printed, ""))
