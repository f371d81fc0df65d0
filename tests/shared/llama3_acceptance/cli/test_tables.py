"""A run, and a comparison, as a terminal shows them."""

from __future__ import annotations

import re
from dataclasses import replace

from llama3_acceptance.cli.tables import print_comparison, print_results
from llama3_acceptance.reports.comparison import Change, Comparison
from llama3_acceptance.reports.scores import Score
from llama3_acceptance.reports.thresholds import Threshold, check_thresholds
from runs import DIM, KITCHEN, judged
from screens import on_screen

JOKE = '{"name": "tell_é\u200dé", "parameters": {}}'


def told(shown: str) -> list[str]:
    """Return the lines that are not blank, without styles and with single spaces."""
    return [" ".join(re.sub(r"\[(?:[a-z ]+|/)\]", " ", line).split()) for line in shown.splitlines() if line.strip()]


def test_a_run_stands_in_tables() -> None:
    results = judged({"kitchen": [KITCHEN, "No"], "dim": [DIM, "x"], "joke": [JOKE], "hello": ["Hello."]}, repeats=2)
    results = replace(results, run=replace(results.run, model="llama\x1b"))
    wanted = check_thresholds(results, [Threshold(0.9), Threshold(0.1, "tool", "set_light")])
    shown = on_screen(lambda screen: print_results(screen, results, coerced=False, thresholds=wanted), 100)
    for line in (
        *("Home llama\\x1b at http://127.0.0.1:8080/v1", "4 failed"),
        "passed, by tool n parsed clean n after coercion clean",
        "all 2/6 33 % (10 to 70) 2 3/6 50 % (19 to 81) 2",
        "numbers 0/2 0 % (0 to 66) 0 1/2 50 % (9 to 91) 0",
        "unknown_tool 1/6 17 % (3 to 56) 1/6 17 % (3 to 56)",
        "coerced 0/2 0 % (0 to 66) 1/3 33 % (6 to 79)",
    ):
        assert line in told(shown)
    assert "[red]90% of all: not met" in shown
    assert "[green]10% of the tool set_light: met" in shown


def test_a_run_without_failures_tags_or_an_address_has_shorter_tables() -> None:
    results = judged({"kitchen": KITCHEN, "joke": '{"name": "tell_joke", "parameters": {}}', "hello": "Hi."})
    results = replace(results, run=replace(results.run, base_url=""))
    lines = told(on_screen(lambda screen: print_results(screen, results, coerced=True), 88))
    assert lines[0] == "Home llama3.1"
    assert not [line for line in lines if "failed" in line or "by tag" in line]
    assert "1 response is missing: the run is not complete." in lines


def test_on_a_narrow_screen_a_name_stays_whole() -> None:
    results = judged({"kitchen": KITCHEN, "dim": DIM, "joke": JOKE})
    shown = on_screen(lambda screen: print_results(screen, results, coerced=False), 62)
    assert "set_light 1/2 50 % 1 2/2 100 % 1" in told(shown)


def test_only_so_many_failures_are_printed() -> None:
    def failed(count: int) -> str:
        results = judged({"kitchen": ["No" + "x" * 9] * count}, repeats=count)
        return on_screen(lambda screen: print_results(screen, results, coerced=True), 50)

    assert "more: --html" not in failed(20)
    assert "and 1 more: --html or --json has them all" in failed(21)
    assert "kitchen[20]" not in "".join(failed(21).split())


def test_what_a_comparison_shows_commands_no_terminal_and_is_short() -> None:
    light = Change("light\u202e" + "-" * 20, "passed", "wrong_value\x1b", "é\u200dé  light:\nroom is " + "x" * 200)
    half, dim = Score(2, 4), Change("dim", "wrong_type", "passed", "")
    parsed = Comparison("parsed", half, half, (dim,), (light,), (), ("a", "b\x1b"), ("b\x1b",), ("c", "d"))
    told_before = ["model: a → b\x1b" + " x" * 30]
    shown = on_screen(
        lambda screen: print_comparison(screen, "before\u202e.json", "after.json", [parsed], told_before), 160
    )
    lines = told(shown)
    assert lines[0] == "model: a → b\\x1b" + " x" * 30
    for line in (
        "parsed 50 % (15 to 85) 50 % (15 to 85) 1 1",
        "dim wrong_type → passed",
        "parsed: passed before, and missing now: b\\x1b",
        "only in before\\u202e.json: a, b\\x1b",
        "only in after.json: c, d",
    ):
        assert line in lines
    for part in ("light\\u202e", "wrong_value\\x1b", "(224 characters)"):
        assert part in shown
