"""What a suite's file says, and what is said about a file that is wrong."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from llama3_acceptance import (
    ArgumentRule,
    Case,
    ExpectedCall,
    Policies,
    Prompt,
    Reading,
    Suite,
    SuiteError,
    load_suite,
)
from llama3_acceptance.suites.file import read_suite_file
from llama3_acceptance.suites.keys import EQUALITIES, FORMATS, KEYS, MODES, PROMPT_FORMATS, ROLES, TOOLS_IN
from llama3_tools import MissingExtraError, Tool

ROOT = Path(__file__).parents[4]
SCHEMA: dict[str, Any] = json.loads((ROOT / "shared/llama3_acceptance/suite.schema.json").read_text("utf-8"))

TOOLS = """\
tools:
- name: set_light
  parameters:
    type: object
    properties:
      area: {}
      state: {type: string}
      level: {type: integer}
- {type: function, function: {name: clock}}
"""

EVERYTHING = f"""\
name: Home
{TOOLS}
prompt: {{system: You are a house., format: function, tools_in: system, examples: [{{role: user, content: Hi}}]}}
reading: {{formats: [json, pythonic], repair: true, starts_reasoning: true}}
policies: {{text_calls: false, direct_answers: [clock], stringified_lists: false, native_calls_only: true}}
match: {{equal: folded, tolerance: 2, unordered: true, mode: partial, ignore: [area]}}
cases:
- id: on
  command: Turn it on
  tags: [light]
  ordered: true
  direct_answer: true
  history:
  - {{role: user, content: "Hello!"}}
  expect:
    any_of:
    - tool: set_light
      arguments:
        state: on
        level: {{any_of: [10, 20], tolerance: 0.5, equal: exact, unordered: false, optional: true}}
        area: {{value: {{floor: 12:30}}}}
      ignore: []
      defaults: {{level: 100}}
      mode: exact
    - [{{tool: clock}}, {{tool: set_light, ignore: [level]}}]
    - none
- command: Hello!
  expect: none
"""

SMALLEST = f"{TOOLS}cases:\n- {{command: Hello!, expect: none}}\n"


def load(text: str, folder: Path, name: str = "commands.yaml") -> Suite:
    (folder / name).write_text(text, "utf-8")
    return load_suite(folder / name)


def problem(text: str, folder: Path, name: str = "commands.yaml") -> str:
    """What is said about a suite that is wrong, without the folder."""
    with pytest.raises(SuiteError) as caught:
        load(text, folder, name)
    return str(caught.value).replace(f"{folder}/", "")


def cases(text: str) -> str:
    return f"{TOOLS}cases:\n{text}"


def of_one_tool(schema: str, expect: str = "", more: str = "") -> str:
    """Return a suite of the tool `f`, which a case expects."""
    return f"tools: [{{name: f, parameters: {schema}}}]\n{more}cases:\n- {{command: Hi, expect: {{tool: f{expect}}}}}"


ON_OR_OFF = "{type: object, properties: {a: {enum: [on, off]}}}"
TEN_OR_TWENTY = "{type: object, properties: {a: {enum: [10, 20]}}}"
REQUIRED = "{type: object, properties: {a: {}, b: {default: 1}}, required: [a, b]}"
NEVER = "no call that fits the schema could pass"


def test_everything_that_a_suite_can_say_is_read(tmp_path: Path):
    folded = {"equal": "folded", "tolerance": 2, "unordered": True}
    lights = ExpectedCall(
        "set_light",
        {
            "state": ArgumentRule(("on",), **folded),
            "level": ArgumentRule((10, 20), optional=True, tolerance=0.5),
            "area": ArgumentRule(({"floor": "12:30"},), **folded),
        },
        defaults={"level": 100},
    )
    clock = ExpectedCall("clock", ignore=frozenset({"area"}), mode="partial")
    any_light = ExpectedCall("set_light", ignore=frozenset({"area", "level"}), mode="partial")
    suite = load(EVERYTHING, tmp_path)
    assert suite == Suite(
        "Home",
        suite.tools,
        (
            Case(
                "on",
                "Turn it on",
                ((lights,), (clock, any_light), ()),
                ordered=True,
                direct_answer=True,
                history=({"role": "user", "content": "Hello!"},),
                tags=("light",),
                line=17,
            ),
            Case("Hello!", "Hello!", line=36),
        ),
        Policies(
            text_calls=False, direct_answers=frozenset({"clock"}), stringified_lists=False, native_calls_only=True
        ),
        Prompt("You are a house.", "function", "system", ({"role": "user", "content": "Hi"},)),
        tmp_path / "commands.yaml",
        reading=Reading(("json", "pythonic"), repair=True, starts_reasoning=True),
    )
    assert [tool.name for tool in suite.tools] == ["set_light", "clock"]
    assert [case.tool for case in suite.cases] == ["set_light", None]


def test_messages_may_lack_their_content_and_a_result_is_any_value(tmp_path: Path):
    history = "[{role: assistant, tool_calls: [{name: f}]}, {role: tool, content: 7}]"
    (case,) = load(cases(f"- {{command: Hi, expect: none, history: {history}}}"), tmp_path).cases
    assert case.history == ({"role": "assistant", "tool_calls": [{"name": "f"}]}, {"role": "tool", "content": 7})


def test_a_suite_that_says_little_is_lenient(tmp_path: Path):
    suite = load(SMALLEST, tmp_path)
    assert (suite.name, suite.policies, suite.reading, suite.prompt) == ("commands", Policies(), Reading(), Prompt())
    assert suite.extractor.extract('{"name": "rm", "parameters": {}}').tools_called


def test_what_a_suite_leaves_out_is_as_lenient_beside_what_it_says(tmp_path: Path):
    text = cases('- {command: "a\tb", tags: [], expect: {any_of: [{tool: clock}]}}\n')
    suite = load(f"{text}match: {{equal: folded}}\npolicies: {{text_calls: false}}\n", tmp_path)
    assert suite.cases == (Case("a\tb", "a\tb", ((ExpectedCall("clock"),),), line=11),)
    assert suite.policies == Policies(text_calls=False)


def test_a_key_of_a_tool_that_is_somebody_elses_is_let_be(tmp_path: Path):
    assert load("tools: [{name: f, nickname: g}]\ncases: [{command: Hi, expect: none}]", tmp_path)


def test_a_mark_of_the_byte_order_is_no_text(tmp_path: Path):
    (tmp_path / "tools.json").write_text('\ufeff[{"name": "clock"}]', "utf-8")
    assert load("tools: tools.json\ncases: [{command: Hi, expect: none}]", tmp_path).tools == (Tool("clock"),)


def test_a_value_may_be_one_that_coercion_makes_another_of_its_type(tmp_path: Path):
    written = cases("- {command: Hi, expect: {tool: set_light, arguments: {state: LOW}}}")
    suite = load(written.replace("{type: string}", "{enum: [low, high]}"), tmp_path)
    ((call,),) = suite.cases[0].alternatives
    assert call.arguments["state"].any_of == ("LOW",)


def test_without_its_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "llama3_acceptance.suites.yaml_lines")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'llama3-tools\[acceptance\]'"):
        load(SMALLEST, tmp_path)


def test_a_prompt_may_say_only_how_the_tools_are_put(tmp_path: Path):
    assert load(f"{SMALLEST}prompt: {{format: native}}\n", tmp_path).prompt == Prompt(format="native")
    assert load(f"{SMALLEST}prompt: {{tools_in: system}}\n", tmp_path).prompt == Prompt(tools_in="system")


@pytest.mark.parametrize("option", ["repair", "starts_reasoning"])
def test_a_reading_may_say_one_thing(tmp_path: Path, option: str):
    suite = load(f"{SMALLEST}reading: {{{option}: true}}\n", tmp_path)
    assert suite.reading == Reading(**{option: True})


@pytest.mark.parametrize(
    ("written", "formats"), [("json", ("json",)), ("[json]", ("json",)), ("[json, code]", ("json", "code"))]
)
def test_one_form_of_calls_or_several_are_read(tmp_path: Path, written: str, formats: tuple[str, ...]):
    suite = load(f"{SMALLEST}reading: {{formats: {written}}}\n", tmp_path)
    assert suite.reading == Reading(formats)
    assert not suite.extractor.extract("<function=clock>{}</function>").tools_called


@pytest.mark.parametrize("written", ["true", "false"])
def test_direct_answers_can_be_turned_off(tmp_path: Path, written: str):
    policies = load(f"{SMALLEST}policies: {{direct_answers: {written}}}\n", tmp_path).policies
    assert policies == Policies(allow_direct_answers=written == "true")


def test_json_is_read_as_json(tmp_path: Path):
    data = read_suite_file(_written(EVERYTHING, tmp_path)).data
    indented = json.dumps(data, indent="\t").replace("Hello!", r"\ud83d\ude00 \/")
    suite = load(indented, tmp_path, "commands.json")
    assert [case.id for case in suite.cases] == ["on", "😀 /"]
    assert [indented.splitlines()[case.line].strip() for case in suite.cases] == ['"id": "on",', COMMAND_IN_JSON]


COMMAND_IN_JSON = r'"command": "\ud83d\ude00 \/",'


def _written(text: str, folder: Path) -> Path:
    (folder / "written.yaml").write_text(text, "utf-8")
    return folder / "written.yaml"


def test_tools_may_stand_in_a_file_of_their_own(tmp_path: Path):
    (tmp_path / "tools.json").write_text('[{"name": "clock"}]', "utf-8")
    suite = load("tools: tools.json\ncases:\n- {command: Hello!, expect: {tool: clock}}\n", tmp_path)
    assert suite.tools == (Tool("clock"),)
    (tmp_path / "tools.json").write_text('[\n{"name": "clock"},\n{"name": ""}]', "utf-8")
    assert problem("tools: tools.json\ncases: []\n", tmp_path).startswith("tools.json:3: [1]: no name")


@pytest.mark.parametrize("text", ["API_KEY=hunter2\nPIN=7", "hunter2", "1234567", "- hunter2", "- [hunter2]"])
def test_of_a_file_that_holds_no_tools_nothing_is_shown(text: str, tmp_path: Path):
    (tmp_path / ".env").write_text(text, "utf-8")
    shown = problem("tools: .env\ncases: [{command: Hi, expect: none}]", tmp_path)
    assert shown.startswith(".env:1: ")
    assert not re.search("KEY|PIN|hunter|123", shown)
    if not text.startswith("-"):
        assert shown == ".env:1: expected a list of tools, and the file holds none"


@pytest.mark.parametrize("name", [".", os.devnull])
def test_tools_are_read_from_a_regular_file(name: str, tmp_path: Path):
    """A device may have no end."""
    shown = problem(f"tools: '{name}'\ncases: [{{command: Hi, expect: none}}]", tmp_path)
    assert shown.endswith("is no regular file")


def test_of_long_text_in_the_wrong_place_the_beginning_is_shown(tmp_path: Path):
    shown = problem(cases(f"- {{command: Hi, expect: none, tags: {'new ' * 50}}}"), tmp_path)
    assert shown.endswith("expected a list of names, got 'new new new new new new new new new new… (201 characters)")


def test_a_bare_word_is_what_it_is_in_yaml_1_2(tmp_path: Path):
    words = "[on, no, 12:30, 2026-01-01, 010, 1e3, 0x1F, ~, True, .5]"
    data = read_suite_file(_written(words, tmp_path)).data
    assert data == ["on", "no", "12:30", "2026-01-01", 10, 1000.0, "0x1F", None, True, 0.5]


PROBLEMS = [
    (
        "",
        (
            "1: expected an object with the keys "
            "$schema, name, tools, prompt, reading, policies, match, cases, got nothing"
        ),
    ),
    ("cases: [{command: Hi, expect: {tool: clock}}]", "1: tools is missing"),
    (
        "tools: [",
        (
            "1: not YAML: while parsing a flow node, expected the node content, but found '<stream end>': "
            "close the bracket"
        ),
    ),
    (f"{SMALLEST}name: x\nname: y", "13: name: written twice, first in line 12"),
    (
        "a: !!python/name:os.system",
        "1: not YAML: could not determine a constructor for the tag 'tag:yaml.org,2002:python/name:os.system'",
    ),
    ("a: &a [*a]", "1: a[0]: the alias stands in what it refers to"),
    ("[" * 5000, "1: nested too deep"),
    ("1: a", "1: a key is not a word: put it in quotes"),
    (
        "a: [1\nb: 2",
        (
            "2: not YAML: while parsing a flow sequence, expected ',' or ']', but got ':': "
            "close the bracket before it, or put text that holds ':' in quotes, as in 'Note: buy milk'"
        ),
    ),
    (
        "a: {command: 'Hi' there}",
        (
            "1: not YAML: while parsing a flow mapping, expected ',' or '}', but got '<scalar>': "
            "a comma is missing, or text goes on after its closing quote"
        ),
    ),
    (
        "a: {command: ?}",
        (
            "1: not YAML: while parsing a flow node, expected the node content, but found '?': "
            "put text that holds '?' in quotes, as in 'What is 5?'"
        ),
    ),
    (
        "a: [1, 2",
        "1: not YAML: while parsing a flow sequence, expected ',' or ']', but got '<stream end>': close the bracket",
    ),
    (
        "a: {command: What is 5?, expect: none}",
        (
            "1: not YAML: while parsing a flow mapping, expected ',' or '}', but got '?': "
            "put text that holds '?' in quotes, as in 'What is 5?'"
        ),
    ),
    (
        "command: Note: buy milk",
        "1: not YAML: mapping values are not allowed here: text that holds ': ' has to stand in quotes",
    ),
    ("\n\na: \x00\n", "3: not YAML: the character '\\x00' is not allowed"),
    ("a: \x00", "1: not YAML: the character '\\x00' is not allowed"),
    ("name: x\ncases: [{command: Hi, expect: none}]", "1: tools is missing"),
    (TOOLS, "1: cases is missing"),
    (
        f"{SMALLEST}polices: {{}}\n",
        (
            "12: polices: there is no such key, only "
            "$schema, name, tools, prompt, reading, policies, match, cases; did you mean 'policies'?"
        ),
    ),
    (f"{SMALLEST}name: ' '\n", "12: name: expected text, got ' '"),
    (
        "tools: []\ncases: [{command: Hi, expect: none}]",
        "1: tools: expected a list of tools, or the name of a file that holds one, got an empty list",
    ),
    (
        "tools: no.yaml\ncases: [{command: Hi, expect: {tool: clock}}]",
        "1: tools: no.yaml cannot be opened: No such file or directory",
    ),
    (
        "tools: [f]\ncases: [{command: Hi, expect: none}]",
        (
            "1: tools[0]: is a str: expected an OpenAI tool dict such as "
            '{"type": "function", "function": {"name": "get_weather", "description": "…", '
            '"parameters": {"type": "object", "properties": {…}}}}'
        ),
    ),
    (
        "tools:\n- {name: f}\n- {name: f}\ncases: [{command: Hi, expect: none}]",
        "3: tools[1]: the name 'f' is declared twice",
    ),
    (f"{TOOLS}cases: []", "10: cases: expected a list of cases, got an empty list"),
    (f"{TOOLS}cases: 7", "10: cases: expected a list of cases, got 7"),
    (cases("- {command: Hi}"), "11: cases[0]: expect is missing"),
    (cases("- expect: none"), "11: cases[0]: command is missing"),
    (cases("- {command: 7, expect: none}"), "11: cases[0].command: expected text, got 7"),
    (
        cases("- command: Hi\n  expect:\n"),
        "12: cases[0].expect: expected a call, a list of calls, any_of with several of these, or none, got None",
    ),
    (
        cases("- command: Hi\n  expect: {tool: clok}"),
        "12: cases[0].expect.tool: 'clok' is not declared; did you mean 'clock'?",
    ),
    (
        cases("- {command: Hi, expect: {any_of: []}}"),
        "11: cases[0].expect.any_of: expected a list of alternatives, got an empty list",
    ),
    (
        cases("- command: Hi\n  expect:\n    <<: {tool: clok}"),
        "12: cases[0].expect.tool: 'clok' is not declared; did you mean 'clock'?",
    ),
    (
        cases("- {command: Hi, direct_answer: false, expect: 7}"),
        "11: cases[0].expect: expected a call, a list of calls, any_of with several of these, or none, got 7",
    ),
    (cases("- {command: Hi, expect: {arguments: {}}}"), "11: cases[0].expect: tool is missing"),
    (
        cases("- command: Hi\n  expect:\n    tool: set_light\n    arguments:\n      stat: on"),
        "15: cases[0].expect.arguments.stat: set_light has no parameter 'stat'; did you mean 'state'?",
    ),
    (
        cases("- {command: Hi, expect: [{tool: set_light, ignore: [x]}]}"),
        "11: cases[0].expect[0].ignore[0]: set_light has no parameter 'x'",
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, defaults: {x: 1}}}"),
        "11: cases[0].expect.defaults.x: set_light has no parameter 'x'",
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, arguments: {level: {}}}}"),
        (
            "11: cases[0].expect.arguments.level: expected one of value and any_of; "
            "an object that is itself the value is written under value"
        ),
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, arguments: {level: {any_of: []}}}}"),
        "11: cases[0].expect.arguments.level.any_of: expected a list of values, got an empty list",
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, arguments: {level: {value: 1, equals: exact}}}}"),
        (
            "11: cases[0].expect.arguments.level.equals: there is no such key, only "
            "value, any_of, optional, equal, tolerance, unordered; did you mean 'equal'?"
        ),
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, arguments: {level: {value: 1, tolerance: -1}}}}"),
        "11: cases[0].expect.arguments.level.tolerance: expected a number that is not below zero, got -1",
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, mode: parial}}"),
        "11: cases[0].expect.mode: expected exact or partial, got 'parial'; did you mean 'partial'?",
    ),
    (cases("- {command: Hi, expect: none, ordered: 'yes'}"), "11: cases[0].ordered: expected true or false, got 'yes'"),
    (
        cases("- {command: Hi, expect: none, direct_answer: false}"),
        "11: cases[0].direct_answer: the case expects an answer in words",
    ),
    (cases("- {command: Hi, expect: none, history: [{}]}"), "11: cases[0].history[0]: role is missing"),
    (
        cases("- {command: Hi, expect: none, history: [{role: user, content: 7}]}"),
        "11: cases[0].history[0].content: expected text or a list of parts, got 7",
    ),
    (
        cases("- {command: Hi, expect: none, history: [{role: me}]}"),
        "11: cases[0].history[0].role: expected system or user or assistant or tool, got 'me'",
    ),
    (cases("- {command: Hi, expect: none, tags: [1]}"), "11: cases[0].tags[0]: expected text, got 1"),
    (
        cases("- {command: Hi, expect: none}\n- {command: Hi, expect: none}"),
        "12: cases[1].command: the case in line 11 is called 'Hi', too",
    ),
    (
        cases("- {command: Hi, expect: none}\n- {id: Hi, command: Ho, expect: none}"),
        "12: cases[1].id: the case in line 11 is called 'Hi', too",
    ),
    (
        "tools:\n- name: f\n  paramters: {}\ncases: [{command: Hi, expect: none}]",
        "3: tools[0].paramters: there is no such key; did you mean 'parameters'?",
    ),
    (
        "tools:\n- {type: function, function: {name: f, descripton: F}}\ncases: [{command: Hi, expect: none}]",
        "2: tools[0].function.descripton: there is no such key; did you mean 'description'?",
    ),
    (
        of_one_tool("{propertis: {n: {}}}", ", arguments: {n: 1}"),
        "1: tools[0].parameters.propertis: there is no such key; did you mean 'properties'?",
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, arguments: {level: 1}, ignore: [level]}}"),
        "11: cases[0].expect.ignore: 'level' is expected as well: its value would never be looked at",
    ),
    (
        of_one_tool(REQUIRED),
        f"3: cases[0].expect: f requires 'a': {NEVER}; expect it, ignore it, or say mode: partial",
    ),
    (
        of_one_tool(ON_OR_OFF, ", arguments: {a: high}"),
        f'3: cases[0].expect.arguments.a: a: expected "on" or "off", got the string "high": {NEVER}',
    ),
    (
        f"prompt: {{format: strict}}\n{cases('- {command: Hi, expect: [{tool: clock}, {tool: clock}]}')}",
        "1: prompt: in the strict format, an answer has one call at most, and 'Hi' expects several: add multiple: true",
    ),
    (
        f"{SMALLEST}match: {{ignore: [stat]}}",
        "12: match.ignore[0]: no tool has a parameter 'stat'; did you mean 'state'?",
    ),
    (
        cases("- {command: Hi, expect: {tool: clock, arguments: {a: 1}}}"),
        "11: cases[0].expect.arguments.a: clock has no parameter 'a'",
    ),
    (
        cases('- {command: Hi, expect: {tool: set_light, arguments: {level: "33"}}}'),
        (
            "11: cases[0].expect.arguments.level: expected integer, got the string '33': "
            "no call that fits the schema could pass"
        ),
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, arguments: {level: {any_of: [33.5, low]}}}}"),
        (
            "11: cases[0].expect.arguments.level: level: expected integer, got the number 33.5: "
            "no call that fits the schema could pass"
        ),
    ),
    (
        cases("- {command: Hi, expect: {tool: set_light, arguments: {state: {value: on, tolerance: 1}}}}"),
        "11: cases[0].expect.arguments.state.tolerance: a tolerance is for numbers, and there is none among the values",
    ),
    (
        cases("- {command: Hi, expect: []}"),
        "11: cases[0].expect: expected a list of calls (where none is expected, none), got an empty list",
    ),
    ("name: !!bool abc", "1: not YAML: 'abc' is no bool that can be read"),
    ("name: a\ncases: !!float abc", "2: not YAML: 'abc' is no float that can be read"),
    (f"name: {'9' * 5000}", f"1: not YAML: '{'9' * 100}… (5000 characters)' is no int that can be read"),
    (
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)),
        "5: a4: with its aliases, it has more values than can be read",
    ),
    (f"{SMALLEST}policies: {{direct_answers: [joke]}}", "12: policies.direct_answers[0]: 'joke' is not declared"),
    (f"{SMALLEST}policies: {{native_calls_only: 1}}", "12: policies.native_calls_only: expected true or false, got 1"),
    (
        f"{SMALLEST}prompt: {{format: xml}}",
        "12: prompt.format: expected json or function or pythonic or native or strict, got 'xml'",
    ),
    (
        f"{SMALLEST}reading: {{formts: json}}",
        "12: reading.formts: there is no such key, only formats, repair, starts_reasoning; did you mean 'formats'?",
    ),
    (
        f"{SMALLEST}reading: {{formats: [json, pythnic]}}",
        f"12: reading.formats[1]: expected {' or '.join(FORMATS)}, got 'pythnic'; did you mean 'pythonic'?",
    ),
    (f"{SMALLEST}reading: {{formats: xml}}", f"12: reading.formats: expected {' or '.join(FORMATS)}, got 'xml'"),
    (
        f"{SMALLEST}reading: {{formats: []}}",
        "12: reading.formats: expected a form of calls, or a list of them, got an empty list",
    ),
    (f"{SMALLEST}reading: {{repair: 1}}", "12: reading.repair: expected true or false, got 1"),
    (
        f"{SMALLEST}reading: json",
        "12: reading: expected an object with the keys formats, repair, starts_reasoning, got 'json'",
    ),
    (f"{SMALLEST}match: {{equal: same}}", "12: match.equal: expected exact or folded, got 'same'"),
    (
        f"{SMALLEST}policies: {{direct_answers: 7}}",
        "12: policies.direct_answers: expected true, false or a list of tools, got 7",
    ),
    (f"{SMALLEST}match: {{ignore: area}}", "12: match.ignore: expected a list of names, got 'area'"),
    (f"{SMALLEST}match: {{mode: 7}}", "12: match.mode: expected exact or partial, got 7"),
    (
        f"{SMALLEST}match: {{tolerance: true}}",
        "12: match.tolerance: expected a number that is not below zero, got True",
    ),
    (f"{SMALLEST}match: {{equal: [exact]}}", "12: match.equal: expected exact or folded, got a list"),
    (
        f"{SMALLEST}prompt: {{examples: [7]}}",
        "12: prompt.examples[0]: expected a message, with a role and a content, got 7",
    ),
    (f"{SMALLEST}prompt: {{examples: {{}}}}", "12: prompt.examples: expected a list of messages, got an object"),
    (cases("- {command: Hi, expect: none, tags: new}"), "11: cases[0].tags: expected a list of names, got 'new'"),
    (
        cases("- {command: Hi, expect: {tool: clock, arguments: 7}}"),
        "11: cases[0].expect.arguments: expected arguments by name, got 7",
    ),
    (
        cases("- {command: Hi, expect: {tool: clock, defaults: 7}}"),
        "11: cases[0].expect.defaults: expected values by name, got 7",
    ),
    (
        cases("- {command: Hi, expect: {tool: clock, ignore: ~}}"),
        "11: cases[0].expect.ignore: expected a list of names, got nothing",
    ),
]


@pytest.mark.parametrize(("text", "expected"), PROBLEMS)
def test_a_problem_has_its_file_its_line_and_its_key(tmp_path: Path, text: str, expected: str):
    assert problem(text, tmp_path) == f"commands.yaml:{expected}"


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path):
    text = """\
nam: Home
tools:
- {name: f, parameters: 7}
- {name: g, parameters: {properties: {a: {type: integer}, b: {}}}}
prompt: {format: xml, tools_in: me}
reading: {formats: xml, repair: 1, starts_reasoning: 2}
policies: {native_calls_only: 1, text_calls: 2}
match: {equal: same, mode: some}
cases:
- {command: Hi, expect: {tool: g, arguments: {a: x, c: 1}, mode: some}, tag: []}
- {command: 7, tags: [1, 2], expect: [{tool: f}, {tool: g, argument: {}}, {}]}
- {command: Ho, expect: none}
- {command: Ho, expect: none}
"""
    assert [line.split(": ")[1].strip(":") for line in problem(text, tmp_path).splitlines()] == [
        "nam",
        "tools[0]",
        "prompt.format",
        "prompt.tools_in",
        "reading.formats",
        "reading.repair",
        "reading.starts_reasoning",
        "policies.text_calls",
        "policies.native_calls_only",
        "match.equal",
        "match.mode",
        "cases[0].tag",
        "cases[0].expect.arguments.a",
        "cases[0].expect.arguments.c",
        "cases[0].expect.mode",
        "cases[1].command",
        "cases[1].expect[1].argument",
        "cases[1].expect[2]",
        "cases[1].tags[0]",
        "cases[1].tags[1]",
        "cases[3].command",
    ]


def test_a_suite_may_ask_for_the_strict_format(tmp_path: Path):
    suite = load(f"{SMALLEST}prompt: {{format: strict, multiple: true, response_format: json_object}}", tmp_path)
    assert suite.prompt == Prompt(format="strict", multiple=True, response_format="json_object")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("prompt: {multiple: true}", "prompt: multiple and response_format are options of the strict format"),
        ("prompt: {format: strict}\npolicies: {text_calls: false}", "prompt: in the strict format, calls stand in"),
        ("prompt: {format: strict}\nreading: {repair: true}", "prompt: in the strict format, no other form is read"),
    ],
)
def test_what_contradicts_the_strict_format_is_told(tmp_path: Path, more: str, told: str):
    assert problem(f"{SMALLEST}{more}", tmp_path).startswith(f"commands.yaml:12: {told}")


def test_what_stands_twice_hides_nothing_else(tmp_path: Path):
    (tmp_path / "tools.yaml").write_text("- {name: f, name: g}\n- {name: g}\n", "utf-8")
    text = """\
tools: tools.yaml
name: a
name: b
cases:
- {id: x, command: Hi, expect: {tool: h}}
- {id: x, command: 7, command: 8, expect: none}
- {id: x, command: Ho, expect: none, tag: []}
"""
    assert problem(text, tmp_path).splitlines() == [
        "commands.yaml:3: name: written twice, first in line 2",
        "commands.yaml:6: cases[1].command: written twice, first in line 6",
        "tools.yaml:1: [0].name: written twice, first in line 1",
        "tools.yaml:2: [1]: the name 'g' is declared twice",
        "commands.yaml:5: cases[0].expect.tool: 'h' is not declared",
        "commands.yaml:6: cases[1].command: expected text, got 8",
        (
            "commands.yaml:7: cases[2].tag: there is no such key, only "
            "id, command, expect, ordered, direct_answer, history, tags; did you mean 'tags'?"
        ),
        "commands.yaml:6: cases[1].id: the case in line 5 is called 'x', too",
        "commands.yaml:7: cases[2].id: the case in line 5 is called 'x', too",
    ]


@pytest.mark.parametrize(
    "level", ["{any_of: [33, '33']}", "~", "33.0", "{value: 33, tolerance: 0.5}", "{value: 33, tolerance: 0}"]
)
def test_a_value_that_fits_is_enough_and_null_is_always_accepted(tmp_path: Path, level: str):
    assert load(cases(f"- {{command: Hi, expect: {{tool: set_light, arguments: {{level: {level}}}}}}}"), tmp_path)


@pytest.mark.parametrize("value", ["[1, 2]", "{value: {x: [1]}}"])
def test_a_tolerance_is_for_numbers_inside_lists_and_objects_too(tmp_path: Path, value: str):
    rule = f"{{any_of: [{value}], tolerance: 1}}"
    assert load(cases(f"- {{command: Hi, expect: {{tool: set_light, arguments: {{area: {rule}}}}}}}"), tmp_path)


def test_a_tool_that_is_wrong_hides_no_fault_of_a_case_and_makes_none(tmp_path: Path):
    text = """\
tools:
- {name: light, parameters: {type: object, properties: {room: {type: strng}, level: {type: integer}}, required: [room]}}
- {name: timer, parameter: {type: object, properties: {minutes: {type: integer}}}}
- {name: clock}
- {name: clock, parameters: {type: object, properties: {zone: {}}}}
cases:
- {command: a, expect: {tool: ligth}}
- {command: b, expect: {tool: light, arguments: {rom: hall}}}
- {command: c, expect: {tool: light, arguments: {room: 1, level: high}}}
- {command: d, expect: {tool: timer, arguments: {minutes: 5}}}
- {command: e, expect: {tool: clock, arguments: {zone: UTC}}}
- {command: f, expect: {tool: light}}
"""
    told = [line.removeprefix("commands.yaml:").partition(": ")[0::2] for line in problem(text, tmp_path).splitlines()]
    assert [(line, one.partition(": ")[0]) for line, one in told] == [
        ("2", "tools[0]"),
        ("3", "tools[1].parameter"),
        ("5", "tools[3]"),
        ("7", "cases[0].expect.tool"),
        ("8", "cases[1].expect.arguments.rom"),
        ("9", "cases[2].expect.arguments.level"),
    ]


NONE_OR_TWO = "- {command: Hi, expect: {any_of: [none, [{tool: clock}, {tool: clock}]]}}"


@pytest.mark.parametrize(
    "text",
    [
        of_one_tool(ON_OR_OFF, ", arguments: {a: ON}", "match: {equal: folded}\n"),
        of_one_tool(TEN_OR_TWENTY, ", arguments: {a: {value: 11, tolerance: 1}}"),
        of_one_tool(REQUIRED, ", arguments: {a: {value: 1, optional: true}}"),
        of_one_tool(REQUIRED, ", defaults: {a: 1}"),
        of_one_tool(REQUIRED, more="match: {ignore: [a]}\n"),
        of_one_tool(REQUIRED, more="match: {mode: partial}\n"),
        f"prompt: {{format: strict}}\n{cases(NONE_OR_TWO)}",
    ],
    ids=["another case", "within the tolerance", "optional", "a default", "ignored", "partial", "words will do"],
)
def test_what_a_call_may_pass_with_is_no_contradiction(tmp_path: Path, text: str):
    assert load(text, tmp_path)


def test_an_alias_is_read_where_it_is_no_flood(tmp_path: Path):
    suite = load(cases("- {command: Hi, expect: &a {tool: clock}}\n- {command: Ho, expect: *a}"), tmp_path)
    assert suite.cases[0].alternatives == suite.cases[1].alternatives


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1\n"b": 2}', "2: not JSON: "),
        ('{\n"name": "a",\n"name": "b"}', "3: name: written twice, first in line 2"),
        ('{"a": NaN}', "1: not JSON: NaN"),
        ("[" * 100_000, "1: "),
    ],
)
def test_a_problem_in_json_has_them_too(tmp_path: Path, text: str, expected: str):
    assert problem(text, tmp_path, "commands.json").startswith(f"commands.json:{expected}")


def test_a_file_of_another_encoding_is_told(tmp_path: Path):
    (tmp_path / "commands.yaml").write_bytes("name: Zürich".encode("latin-1"))
    with pytest.raises(SuiteError, match=r"commands\.yaml:1: not UTF-8"):
        load_suite(tmp_path / "commands.yaml")


def test_a_file_that_is_not_there_is_told_by_its_name(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"commands\.yaml"):
        load_suite(tmp_path / "commands.yaml")


def test_more_parameters_than_the_schema_names_are_known_where_it_is_open(tmp_path: Path):
    tool = "{name: f, parameters: {type: object, properties: {a: {}}, additionalProperties: true}}"
    text = f"tools: [{tool}]\ncases: [{{command: Hi, expect: {{tool: f, arguments: {{b: 1}}}}}}]"
    assert load(text, tmp_path).cases[0].alternatives[0][0].arguments == {"b": ArgumentRule((1,))}


def test_the_suite_in_the_documentation_is_right(tmp_path: Path):
    page = (ROOT / "docs/acceptance.md").read_text("utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(load(text, tmp_path).cases) == 4
    jsonschema.validate(read_suite_file(_written(text, tmp_path)).data, SCHEMA)
    told = problem(
        text.replace("tool: set_light", "tool: set_ligth", 1).replace("level: {value", "levle: {value"), tmp_path
    )
    assert told.replace("commands.yaml", "kitchen.yaml") in page


def test_the_schema_has_the_same_keys_and_words():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    kinds = {"suite": SCHEMA, **{name: SCHEMA["$defs"][name] for name in KEYS if name != "suite"}}
    assert {name: tuple(kind["properties"]) for name, kind in kinds.items()} == KEYS
    assert all(kind["additionalProperties"] is False for kind in kinds.values())
    words = SCHEMA["$defs"]
    prompt = words["prompt"]["properties"]
    assert tuple(words["equal"]["enum"]) == EQUALITIES
    assert tuple(words["mode"]["enum"]) == MODES
    assert tuple(words["form"]["enum"]) == FORMATS
    assert tuple(prompt["format"]["enum"]) == PROMPT_FORMATS
    assert tuple(prompt["tools_in"]["enum"]) == TOOLS_IN
    assert tuple(words["messages"]["items"]["properties"]["role"]["enum"]) == ROLES


@pytest.mark.parametrize("text", [EVERYTHING, SMALLEST])
def test_the_schema_takes_a_suite_that_is_right(tmp_path: Path, text: str):
    jsonschema.validate(read_suite_file(_written(text, tmp_path)).data, SCHEMA)


OF_ITS_OWN = (
    "written twice",
    "is not declared",
    "declared twice",
    "no parameter",
    "in line",
    "answer in",
    "cannot be opened",
    "not YAML",
    "the alias",
    "a key is not",
    "nested too deep",
    "there is no such key; did you mean 'parameters'?",
    "there is no such key; did you mean 'description'?",
    "there is no such key; did you mean 'properties'?",
    "is expected as well",
    "expects several",
    "no tool has",
    "fits the",
    "a tolerance is for",
    "with its aliases",
)
"""What no schema can find."""


@pytest.mark.parametrize("text", [text for text, problem in PROBLEMS if not any(own in problem for own in OF_ITS_OWN)])
def test_the_schema_refuses_a_suite_that_is_wrong(tmp_path: Path, text: str):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(read_suite_file(_written(text, tmp_path)).data, SCHEMA)
