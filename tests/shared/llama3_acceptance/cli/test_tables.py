"""A run, and a comparison, as they stand on a terminal."""

# ruff: noqa: E501 - a table is as wide as a terminal and its markup

from __future__ import annotations

from dataclasses import replace

from llama3_acceptance.cli.tables import print_comparison, print_results
from llama3_acceptance.reports.comparison import Change, Comparison
from llama3_acceptance.reports.scores import Score
from llama3_acceptance.reports.thresholds import Threshold, check_thresholds
from llama3_acceptance.values import Reading
from runs import DIM, KITCHEN, judged
from screens import on_screen

JOKE = '{"name": "tell_é\u200dé", "parameters": {}}'

RUN = """\
[bold]Home[/]  llama-3.1-8b-instruct\\x1b from somewhere at http://127.0.0.1:8080/v1

[bold red]4 failed[/]
dim         [red]wrong_type                 [/]set_light: level is the string "20", expected 20
joke        [red]unknown_tool               [/]called tell_é\\u200dé({}), which is not declared;
            [red]                           [/]expected tell_joke
kitchen[1]  [red]direct_answer_not_allowed  [/]answered in words, expected set_light:
            [red]                           [/]Noxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            [red]                           [/]xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            [red]                           [/]xx… (302 characters)
dim[1]      [red]direct_answer_not_allowed  [/]answered in words, expected set_light:
            [red]                           [/]xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            [red]                           [/]x

[bold]passed, by tool [/] [bold]  n [/] [bold]parsed            [/] [bold]clean [/] [bold]  n [/] [bold]after coercion    [/] [bold]clean[/]
─────────────────────────────────────────────────────────────────────────────
set_light        1/4  25 % (5 to 70)         1  2/4  50 % (15 to 85)        1
tell_joke        0/1  0 % (0 to 79)          0  0/1  0 % (0 to 79)          0
(no call)        1/1  100 % (21 to 100)      1  1/1  100 % (21 to 100)      1

[bold]all             [/] [bold]2/6 [/] [bold]33 % (10 to 70)   [/] [bold]    2 [/] [bold]3/6 [/] [bold]50 % (19 to 81)   [/] [bold]    2[/]

[bold]passed, by tag [/] [bold]  n [/] [bold]parsed        [/] [bold]clean [/] [bold]  n [/] [bold]after coercion [/] [bold]clean[/]
─────────────────────────────────────────────────────────────────────
numbers         0/2  0 % (0 to 66)      0  1/2  50 % (9 to 91)      0

[bold]by reason                 [/] [bold]  n [/] [bold]parsed          [/] [bold]  n [/] [bold]after coercion [/]
─────────────────────────────────────────────────────────────────────
[green]passed                   [/]  2/6  33 % (10 to 70)  3/6  50 % (19 to 81)
unknown_tool               1/6  17 % (3 to 56)   1/6  17 % (3 to 56)
direct_answer_not_allowed  2/6  33 % (10 to 70)  2/6  33 % (10 to 70)
wrong_type                 1/6  17 % (3 to 56)   0/6  0 % (0 to 39)

[bold]allowances, of those that passed [/] [bold]  n [/] [bold]parsed        [/] [bold]  n [/] [bold]after coercion[/]
─────────────────────────────────────────────────────────────────────────
coerced                           0/2  0 % (0 to 66)  1/3  33 % (6 to 79)

[dim]share of the responses, and its 95 % interval (Wilson)[/]

[yellow]2 responses are missing: the run is not complete.[/]

[red]90% of all: not met, 2 of 6 passed, 33 % (10 to 70)[/]

[green]10% of the tool set_light: met, 1 of 4 passed, 25 % (5 to 70); 4 are too few to tell, about 20 would do[/]
"""

SHORT_RUN = """\
[bold]Home[/]  llama3.1

[bold]passed, by tool            [/] [bold]  n [/] [bold]parsed            [/] [bold]clean [/] [bold]  n [/] [bold]after coercion    [/] [bold]clean[/]
────────────────────────────────────────────────────────────────────────────────────────
[green]all of set_light,         [/]  3/3  100 % (44 to 100)      3  3/3  100 % (44 to 100)      3
[green]tell_joke, (no call)      [/]

[bold]all                        [/] [bold]3/3 [/] [bold]100 % (44 to 100) [/] [bold]    3 [/] [bold]3/3 [/] [bold]100 % (44 to 100) [/] [bold]    3[/]

[bold]by reason [/] [bold]  n [/] [bold]parsed            [/] [bold]  n [/] [bold]after coercion   [/]
─────────────────────────────────────────────────────────
[green]passed   [/]  3/3  100 % (44 to 100)  3/3  100 % (44 to 100)

[dim]share of the responses, and its 95 % interval (Wilson)[/]

[yellow]1 response is missing: the run is not complete.[/]
"""

LAST_FAILURE = """\
kitchen[1  [red]direct_answer_not_allowed  [/]answered in
9]         [red]                           [/]words,
           [red]                           [/]expected
           [red]                           [/]set_light:
           [red]                           [/]Noxxxxxxxxx
[dim]and 1 more: --html or --json has them all[/]
"""

COMPARISON = """\
[yellow]model: a → b\\x1b x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x[/]
[yellow]native_calls_only: false → true[/]
[bold]          [/] [bold]before\\u  [/] [bold]          [/] [bold]       [/] [bold]        [/] [bold]          [/]
[bold]          [/] [bold]202e.jso  [/] [bold]after.js  [/] [bold]       [/] [bold]        [/] [bold]p (sign   [/]
[bold]passed    [/] [bold]n         [/] [bold]on        [/] [bold]fixed  [/] [bold]broken  [/] [bold]test)     [/]
────────────────────────────────────────────────────────────
parsed     50 % (15   25 % (5    1       2        1
           to 85)     to 70)
after      50 % (15   25 % (5    0       0        1
coercion   to 85)     to 70)

[bold]parsed: 1 fixed and 2 broken can be chance (p = 1); too few have changed to tell[/]
[bold]after coercion: no response passes in one run only[/]

[bold]parsed: fixed[/]
dim  [green]wrong_type → passed  [/]

[bold]parsed: broken[/]
light\\u202e---  [red]passed → wrong_value\\x1b     [/]é\\u200dé light:
--------------  [red]                             [/]room is
---[1]          [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxxxxxxxxxxx
                [red]                             [/]xxxxxx… (224
                [red]                             [/]characters)
joke            [red]missing_call → unknown_tool  [/]called ask

[bold]parsed: fails for another reason[/]
joke  [yellow]missing_call → unknown_tool  [/]called ask

[red]parsed: passed before, and missing now: a, b\\x1b[/]

only in before\\u202e.json: a, b\\x1b

only in after.json: c, d
"""


def test_a_run_stands_in_tables() -> None:
    outputs = {"kitchen": [KITCHEN, "No" + "x" * 300], "dim": [DIM, "x" * 50], "joke": [JOKE], "hello": ["Hello."]}
    results = judged(outputs, repeats=2)
    results = replace(results, run=replace(results.run, model="llama-3.1-8b-instruct\x1b from somewhere"))
    wanted = check_thresholds(results, [Threshold(0.9), Threshold(0.1, "tool", "set_light")])
    assert on_screen(lambda screen: print_results(screen, results, coerced=False, thresholds=wanted), 88) == RUN


def test_a_run_without_failures_tags_or_an_address_has_shorter_tables() -> None:
    results = judged({"kitchen": KITCHEN, "joke": '{"name": "tell_joke", "parameters": {}}', "hello": "Hi."})
    results = replace(results, run=replace(results.run, base_url=""))
    assert on_screen(lambda screen: print_results(screen, results, coerced=True), 88) == SHORT_RUN


NARROW = """\
[bold]                [/] [bold]    [/] [bold]          [/] [bold]      [/] [bold]    [/] [bold]after      [/] [bold]     [/]
[bold]passed, by tool [/] [bold]  n [/] [bold]parsed    [/] [bold]clean [/] [bold]  n [/] [bold]coercion   [/] [bold]clean[/]
──────────────────────────────────────────────────────────────
set_light        1/4  25 %           1  2/4  50 %            1
                      (5 to 70)              (15 to 85)
tell_joke        0/1  0 %            0  0/1  0 %             0
                      (0 to 79)              (0 to 79)
"""


def test_on_a_narrow_screen_a_name_stays_whole_and_an_interval_has_its_own_line() -> None:
    outputs = {"kitchen": [KITCHEN, "No"], "dim": [DIM, "x"], "joke": [JOKE]}
    shown = on_screen(lambda screen: print_results(screen, judged(outputs, repeats=2), coerced=False), 62)
    assert NARROW in shown


def test_what_was_mended_and_passes_only_after_coercion_is_said_too() -> None:
    results = judged({"dim": DIM.replace('"name"', "'name'"), "hello": "Hi."}, reading=Reading(repair=True))
    shown = on_screen(lambda screen: print_results(screen, results, coerced=True), 88)
    assert "mended 0/1 0 % (0 to 79) 1/2 50 % (9 to 91)" in " ".join(shown.split())


def test_only_so_many_failures_are_printed() -> None:
    def failed(count: int) -> str:
        results = judged({"kitchen": ["No" + "x" * 9] * count}, repeats=count)
        return on_screen(lambda screen: print_results(screen, results, coerced=True), 50)

    assert "more: --html" not in failed(20)
    assert LAST_FAILURE in failed(21)
    assert "kitchen[20]" not in "".join(failed(21).split())


LIGHT = Change(
    "light\u202e" + "-" * 20, 1, "Light", "passed", "wrong_value\x1b", "é\u200dé  light:\nroom is " + "x" * 200
)
DIMMED = Change("dim", 0, "Dim the hall", "wrong_type", "passed", "")
ASKED = Change("joke", 0, "Tell a joke", "missing_call", "unknown_tool", "called ask")


def test_a_comparison_stands_in_a_table_and_its_changes_below() -> None:
    parsed = Comparison(
        "parsed",
        before=Score(2, 4),
        after=Score(1, 4),
        fixed=(DIMMED,),
        broken=(LIGHT, ASKED),
        changed=(ASKED,),
        only_before=("a", "b\x1b"),
        lost=("a", "b\x1b"),
        only_after=("c", "d"),
    )
    coerced = replace(parsed, judged="coerced", fixed=(), broken=(), changed=(), lost=())
    differences = ["model: a → b\x1b" + " x" * 30, "native_calls_only: false → true"]
    shown = on_screen(
        lambda screen: print_comparison(screen, "before\u202e.json", "after.json", [parsed, coerced], differences), 60
    )
    assert shown == COMPARISON


def test_the_table_of_a_comparison_is_as_wide_as_what_stands_in_it() -> None:
    same = Comparison("parsed", Score(1, 1), Score(1, 1), *[()] * 6)
    shown = on_screen(lambda screen: print_comparison(screen, "before.json", "after.json", [same]), 120)
    row = "parsed   100 % (21 to 100)   100 % (21 to 100)   0       0        1"
    assert shown.splitlines()[1:] == ["─" * 79, row, "", "[bold]parsed: no response passes in one run only[/]"]
