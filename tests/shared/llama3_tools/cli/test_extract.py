"""`llama3-tools extract`, as it is called."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from llama3_tools.cli.group import llama3_tools

CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
TOOLS = '[{"type": "function", "function": {"name": "clock"}}]'


def extract(*arguments: str, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(llama3_tools, ["extract", *arguments], input=stdin)


def lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_standard_input_gives_one_line_of_json() -> None:
    (line,) = lines(extract(stdin=f"Let me see.\n{CALL} as `{CALL}`"))
    (call,) = line["tool_calls"]
    assert call.pop("id").startswith("call_")
    assert call == {"name": "get_weather", "arguments": {"city": "Paris"}, "format": "json", "span": [12, 68]}
    assert line == {
        "file": "-",
        "content": f"Let me see. as `{CALL}`",
        "tool_calls": [call],
        "rejections": [
            {
                "reason": "quoted",
                "detail": "in a code span",
                "name": "get_weather",
                "span": [73, 129],
                "text": CALL,
            }
        ],
    }


def test_each_file_gives_one_line_and_a_dash_is_standard_input(tmp_path: Path) -> None:
    names = [write(tmp_path, "a.txt", "Hello."), "-", write(tmp_path, "b.txt", b"\xef\xbb\xbf" + CALL.encode())]
    result = lines(extract(*names, stdin="Again."))
    assert [(line["file"], line["content"]) for line in result] == [
        (names[0], "Hello."),
        ("-", "Again."),
        (names[2], None),
    ]


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_one_line_break_at_the_end_is_the_files(tmp_path: Path, line_break: str) -> None:
    text = f"Again.{line_break}"
    result = lines(extract(write(tmp_path, "a.txt", text), write(tmp_path, "b.txt", text * 2), "-", stdin=text))
    assert [line["content"] for line in result] == ["Again.", f"{text}Again.", "Again."]
    shown = extract("--show", stdin=f"{CALL[:-4]}{line_break}").stdout
    assert "truncated: the output ends inside it, where the rest of a string was due" in " ".join(shown.split())


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode elsewhere")
def test_a_file_may_have_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    name = write(tmp_path, os.fsdecode(b"caf\xe9.txt"), "Hello.")
    (line,) = lines(extract(name))
    assert line["file"] == name
    assert "caf\\udce9.txt~: No such file" in extract(f"{name}~").stderr


def test_arguments_keep_their_digits_and_stay_on_one_line() -> None:
    digits = "9" * 5000
    result = extract(stdin=f'{{"name": "f", "parameters": {{\n  "n": {digits},\n "x": 1.10}}}}')
    assert result.exit_code == 0
    assert f'"arguments": {{   "n": {digits},  "x": 1.10}}' in result.stdout
    assert result.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "called"),
    [([], ["get_weather"]), (["--on-unknown-tool", "text"], []), (["--on-unknown-tool", "call"], ["get_weather"])],
)
def test_declared_tools_say_what_is_a_call(tmp_path: Path, arguments: Sequence[str], called: list[str]) -> None:
    tools = ["--tools", write(tmp_path, "tools.json", TOOLS)] if arguments else []
    (line,) = lines(extract(*tools, *arguments, stdin=CALL))
    assert [call["name"] for call in line["tool_calls"]] == called


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (None, "tools.json: No such file or directory"),
        ("[", "tools.json: not JSON: Expecting value: line 1 column 2 (char 1)"),
        (b"\xff", "tools.json: not UTF-8: the byte at offset 0 cannot be read"),
        ('[{"name": "f"}, {"name": "f"}]', "tools.json: tools[1]: the name 'f' is declared twice"),
    ],
)
def test_tools_that_cannot_be_read_are_an_error(tmp_path: Path, tools: str | bytes | None, message: str) -> None:
    name = str(tmp_path / "tools.json") if tools is None else write(tmp_path, "tools.json", tools)
    result = extract("--tools", name, stdin=CALL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    missing, binary = str(tmp_path / "none.txt"), write(tmp_path, "b.bin", b"ab\xff")
    result = extract(missing, binary, write(tmp_path, "a.txt", "Hello."))
    assert result.exit_code == 2
    assert [json.loads(line)["content"] for line in result.stdout.splitlines()] == ["Hello."]
    assert result.stderr.splitlines() == [
        f"llama3-tools extract: {missing}: No such file or directory",
        f"llama3-tools extract: {binary}: not UTF-8: the byte at offset 2 cannot be read",
    ]


def test_show_prints_in_colour_where_it_is_wanted() -> None:
    assert f"\x1b[1;32m{CALL}" in extract("--show", "--color", "always", stdin=CALL).stdout
    assert "\x1b" not in extract("--show", "--color", "never", stdin=CALL).stdout


@pytest.mark.parametrize("color", ["never", "always"])
def test_show_wraps_no_line_where_it_prints_to_no_terminal(color: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = f"{'Well, ' * 40}\n{CALL[:-9]} {'x' * 300}"
    shown = extract("--show", "--color", color, stdin=text).stdout
    assert f"  {'Well, ' * 40}\n" in shown
    assert "x" * 300 in shown
    assert max(map(len, shown.splitlines())) < 400
    monkeypatch.setenv("COLUMNS", "50")
    assert max(map(len, extract("--show", "--color", "never", stdin=text).stdout.splitlines())) <= 50


HIDDEN, JOINED = "\x7f\x9b\u180e\u202e\u2066\u3164\U000e0100", "👩\u200d🚀"
CALL_THAT_HIDES = f'{{"name": "f{HIDDEN}", "parameters": {{"a{HIDDEN}": "{HIDDEN}{JOINED}"}}}}'
REJECTED_THAT_HIDES = f"<tool_call>{{'name': 'f{HIDDEN}'}}</tool_call>"


@pytest.mark.parametrize("options", [[], ["--show", "--color", "never"]])
def test_nothing_hides_in_what_is_printed_but_what_joins_prose(options: list[str]) -> None:
    printed = extract(*options, stdin=f"{HIDDEN}{JOINED} {CALL_THAT_HIDES}{REJECTED_THAT_HIDES}").stdout
    assert not {*HIDDEN} & {*printed}
    assert printed.count(JOINED) == 1


def test_what_would_hide_is_escaped_in_json() -> None:
    (line,) = lines(extract(stdin=f"{HIDDEN}{JOINED} {CALL_THAT_HIDES}{REJECTED_THAT_HIDES}"))
    (call,) = line["tool_calls"]
    assert (call["name"], call["arguments"]) == (f"f{HIDDEN}", {f"a{HIDDEN}": f"{HIDDEN}{JOINED}"})
    assert line["content"] == f"{HIDDEN}{JOINED} {REJECTED_THAT_HIDES}"


def test_reasoning_is_given_apart() -> None:
    (line,) = lines(extract("--split-reasoning", stdin=f"<think>Hm.</think> {CALL} Done."))
    assert (line["reasoning"], line["content"], len(line["tool_calls"])) == ("Hm.", "Done.", 1)
    (line,) = lines(extract("--split-reasoning", "--starts-reasoning", stdin=f"Hm, {CALL}</think>Done."))
    assert (line["reasoning"], line["content"], line["tool_calls"]) == (f"Hm, {CALL}", "Done.", [])


def test_only_the_formats_asked_for_are_read() -> None:
    (line,) = lines(extract("--format", "code", "--format", "function", stdin=f"{CALL} <function=f>{{}}</function>"))
    assert [call["format"] for call in line["tool_calls"]] == ["function"]
    assert "'yaml' is not one of" in " ".join(extract("--format", "yaml").output.split())


@pytest.mark.parametrize("option", ["--coerce", "--repair"])
def test_what_goes_by_tools_needs_tools(option: str) -> None:
    result = extract(option, stdin=CALL)
    assert result.exit_code == 2
    assert f"{option} needs declared tools: add --tools" in result.output


WAIT = (
    '{"name": "wait", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}, "by": {"type": '
    '"string"}}}}'
)
MISFIT = '{"name": "wait", "parameters": {"days": "3", "by": [1]}}'


def test_arguments_are_made_to_fit_if_asked_for(tmp_path: Path) -> None:
    tools = write(tmp_path, "tools.json", WAIT)
    (line,) = lines(extract("--tools", tools, stdin=MISFIT))
    (call,) = line["tool_calls"]
    assert (call["arguments"], "changes" in call, "problems" in call) == ({"days": "3", "by": [1]}, False, False)
    (line,) = lines(extract("--tools", tools, "--coerce", stdin=MISFIT))
    (call,) = line["tool_calls"]
    assert call["arguments"] == {"days": 3, "by": [1]}
    assert call["changes"] == [{"path": "$.days", "declared": "integer"}]
    (problem,) = call["problems"]
    assert (problem["path"], problem["reason"]) == ("$.by", "wrong_type")
    assert "by" in problem["message"]


def test_limits_are_kept() -> None:
    (line,) = lines(extract("--limit", "max_calls=1", "--limit", "max_call_length=300", stdin=CALL * 2))
    assert [len(line["tool_calls"]), line["rejections"][0]["reason"]] == [1, "too_many"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("depth=3", "'depth=3': write NAME=NUMBER, such as max_calls=5. The names are max_depth, "),
        ("max_depth=128", "limits: max_depth is at most 127, not 128"),
        (f"max_calls={'9' * 5000}", "write NAME=NUMBER"),
    ],
)
def test_a_limit_that_cannot_be_is_an_error_that_says_why(given: str, why: str) -> None:
    result = extract("--limit", given)
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())


def test_what_was_misspelt_or_repaired_is_in_the_line(tmp_path: Path) -> None:
    text = "{'name': 'clock', 'parameters': {}}\n<function(clock)>{}</function>"
    (line,) = lines(extract("--tools", write(tmp_path, "tools.json", TOOLS), "--repair", stdin=text))
    repaired, misspelt = line["tool_calls"]
    assert (repaired["repaired_from"], "deviations" in repaired) == (text.partition("\n")[0], False)
    assert (misspelt["deviations"], "repaired_from" in misspelt) == (["the tag is written <function(NAME)>{…}"], False)


@pytest.mark.parametrize(("options", "called"), [([], ["code"]), (["--incomplete"], [])])
def test_an_output_that_a_limit_ended_is_read_as_such(tmp_path: Path, options: list[str], called: list[str]) -> None:
    tools = write(tmp_path, "tools.json", '[{"name": "code_interpreter"}]')
    text = "<|python_tag|>print(1)"
    (line,) = lines(extract("--tools", tools, *options, stdin=text))
    assert [call["format"] for call in line["tool_calls"]] == called
