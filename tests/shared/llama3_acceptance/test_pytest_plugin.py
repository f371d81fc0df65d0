"""The plugin, in test sessions of its own."""

from __future__ import annotations

import re

import pytest

PLUGIN = "pytest_llama3_tools"

SUITE = """\
tools:
- {name: clock}
- {name: timer, parameters: {type: object, properties: {minutes: {type: integer}}}}
cases:
- {id: time, command: The time, expect: {tool: clock}}
- {id: tea, command: Five minutes!, expect: {tool: timer, arguments: {minutes: 5}}}
"""

TEST = """
import pytest

ANSWERS = {"time": '{"name": "clock", "parameters": {}}', "tea": '{"name": "timer", "parameters": {"minutes": "5"}}'}

def test_command(llama3_case):
    assert llama3_case.request["messages"][-1]["content"].endswith(llama3_case.case.command)
    llama3_case.check(ANSWERS[llama3_case.case.id])
"""


@pytest.fixture
def session(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a suite, and with a test that takes its cases."""
    (pytester.path / "commands.yaml").write_text(SUITE, "utf-8")
    pytester.makepyfile(TEST)
    return pytester


def run(session: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return session.runpytest_inprocess("--disable-plugin-autoload", "-p", PLUGIN, "--strict-markers", *arguments)


def test_each_case_is_a_test(session: pytest.Pytester):
    result = run(session, "--llama3-suite", "commands.yaml", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*::test_command?time? PASSED*", "*::test_command?tea? FAILED*"])


def test_a_failure_is_told_in_words_and_without_the_kits_own_code(session: pytest.Pytester):
    result = run(session, "--llama3-suite", "commands.yaml", "-k", "tea")
    result.stdout.fnmatch_lines(
        [
            'E*AssertionError: wrong_type: timer: minutes is the string "5", expected 5',
            "E*command         Five minutes!",
            "E*expected        timer(minutes=5)",
            "E*after coercion  passed",
        ]
    )
    result.stdout.no_fnmatch_line("*raise AssertionError*")


def test_what_is_shown_commands_no_terminal(session: pytest.Pytester):
    (session.path / "commands.yaml").write_text(SUITE.replace("Five minutes!", '"\\e[2J"'), "utf-8")
    session.makepyfile(TEST.replace('"timer"', '"timer\\\\u001b[2J\\u202e"'))
    (session.path / "broken.yaml").write_text('"\\e[2J": 1', "utf-8")
    for suite, shown in (("commands.yaml", r"*timer\x1b*"), ("broken.yaml", r"*\x1b*")):
        result = run(session, "--llama3-suite", suite, "--color=no")
        result.stdout.fnmatch_lines([shown])
        assert not re.search("[\x1b\u202e]", result.stdout.str())


def test_a_mark_names_suites_beside_the_test(session: pytest.Pytester):
    folder = session.mkdir("deep")
    (folder / "test_deep.py").write_text(
        f'{TEST}\npytestmark = pytest.mark.llama3_suite("../commands.yaml")\n', "utf-8"
    )
    run(session, str(folder)).assert_outcomes(passed=1, failed=1)


def test_the_configuration_can_name_them(session: pytest.Pytester):
    session.makeini("[pytest]\nllama3_suites = commands.yaml")
    run(session).assert_outcomes(passed=1, failed=1)


def test_without_a_suite_the_test_says_how_to_name_one(session: pytest.Pytester):
    result = run(session)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["no suite for llama3_case: mark the test with *--llama3-suite*"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            SUITE.replace("{tool: clock}", "{tool: clok}"),
            "*commands.yaml:5: cases?0?.expect.tool: 'clok' is not declared*",
        ),
        (None, "*the suite *commands.yaml cannot be opened: No such file or directory*"),
    ],
)
def test_a_bad_suite_is_an_error_of_the_collection(session: pytest.Pytester, text: str | None, expected: str):
    file = session.path / "commands.yaml"
    file.unlink() if text is None else file.write_text(text, "utf-8")
    result = run(session, "--llama3-suite", "commands.yaml")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([expected])
    result.stdout.no_fnmatch_line("*During handling*")


def test_tests_without_cases_are_left_alone(session: pytest.Pytester):
    session.makepyfile("def test_other(): pass")
    (session.path / "broken.suite.yaml").write_text("[", "utf-8")
    result = run(
        session, "--llama3-suite", "nowhere.yaml", session.path.joinpath("test_tests_without_cases_are_left_alone.py")
    )
    result.assert_outcomes(passed=1)
