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
from llama3_acceptance.suites.models import SCHEMA_FILE, suite_schema
from llama3_tools import MissingExtraError, Tool

ROOT = Path(__file__).parents[4]
SCHEMA: dict[str, Any] = json.loads(SCHEMA_FILE.read_text("utf-8"))

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


def test_a_value_may_be_one_that_coercion_makes_another_of_its_type(tmp_path: Path):
    written = cases("- {command: Hi, expect: {tool: set_light, arguments: {state: LOW}}}")
    suite = load(written.replace("{type: string}", "{enum: [low, high]}"), tmp_path)
    ((call,),) = suite.cases[0].alternatives
    assert call.arguments["state"].any_of == ("LOW",)


def test_without_its_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("file", "read"):
        monkeypatch.delitem(sys.modules, f"llama3_acceptance.suites.{name}")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'llama3-tools\[acceptance\]'"):
        load(SMALLEST, tmp_path)


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
    (tmp_path / "tools.json").write_text("[", "utf-8")
    assert "tools: tools.json:1: not JSON" in problem("tools: tools.json\ncases: []\n", tmp_path)


@pytest.mark.parametrize("text", ["API_KEY=hunter2\nPIN=7", "1234567", "- [hunter2]"])
def test_of_a_file_that_holds_no_tools_nothing_is_shown(text: str, tmp_path: Path):
    (tmp_path / ".env").write_text(text, "utf-8")
    shown = problem("tools: .env\ncases: [{command: Hi, expect: none}]", tmp_path)
    assert shown.startswith(".env:1: ")
    assert not re.search("KEY|PIN|hunter|123", shown)


@pytest.mark.parametrize("name", [".", os.devnull])
def test_tools_are_read_from_a_regular_file(name: str, tmp_path: Path):
    """A device may have no end."""
    shown = problem(f"tools: '{name}'\ncases: [{{command: Hi, expect: none}}]", tmp_path)
    assert shown.endswith("is no regular file")


def test_a_bare_word_is_what_it_is_in_yaml_1_2(tmp_path: Path):
    words = "[on, no, 12:30, 2026-01-01, 010, 1e3, 0x1F, ~, True, .5]"
    data = read_suite_file(_written(words, tmp_path)).data
    assert data == ["on", "no", "12:30", "2026-01-01", 10, 1000.0, "0x1F", None, True, 0.5]


def in_case(more: str) -> str:
    """Return a suite whose case expects no call, and has more keys."""
    return cases(f"- {{command: Hi, expect: none, {more}}}")


def in_call(more: str, tool: str = "set_light") -> str:
    """Return a suite whose case expects a call, with more keys."""
    return cases(f"- {{command: Hi, expect: {{tool: {tool}, {more}}}}}")


EXPECT = "11: cases[0].expect"
LEVEL = f"{EXPECT}.arguments.level"
QUOTES = "'What is 5?'"

FORMS = {
    "nothing": ("", "1", "an object with the keys $schema, name, tools"),
    "no tools": ("cases: [{command: Hi, expect: {tool: clock}}]", "1", "tools is missing"),
    "a key": (f"{SMALLEST}polices: {{}}\n", "12: polices", "did you mean 'policies'"),
    "an empty list of tools": ("tools: []\ncases: [{command: Hi, expect: none}]", "1: tools", "a list of tools"),
    "no list": (f"{TOOLS}cases: 7", "10: cases", "a valid list, got 7"),
    "no expectation": (cases("- {command: Hi}"), "11: cases[0]", "expect is missing"),
    "no text": (cases("- {command: 7, expect: none}"), "11: cases[0].command", "text, got 7"),
    "an expectation of nothing": (cases("- command: Hi\n  expect:\n"), "12: cases[0].expect", "or none, got nothing"),
    "no alternative": (cases("- {command: Hi, expect: {any_of: []}}"), f"{EXPECT}.any_of", "an empty list"),
    "a call without a tool": (cases("- {command: Hi, expect: {arguments: {}}}"), EXPECT, "tool is missing"),
    "a rule with both": (in_call("arguments: {level: {value: 1, any_of: [1]}}"), LEVEL, "one of value and any_of"),
    "a rule's key": (in_call("arguments: {level: {value: 1, equals: a}}"), f"{LEVEL}.equals", "did you mean 'equal'"),
    "a tolerance": (in_call("arguments: {level: {value: 1, tolerance: -1}}"), f"{LEVEL}.tolerance", "0, got -1"),
    "a word": (in_call("mode: parial"), f"{EXPECT}.mode", "did you mean 'partial'"),
    "no flag": (in_case("ordered: 'yes'"), "11: cases[0].ordered", "true or false, got 'yes'"),
    "a blank tag": (in_case("tags: [' ']"), "11: cases[0].tags[0]", "text, got ' '"),
    "a content": (in_case("history: [{role: user, content: 7}]"), "11: cases[0].history[0].content", "a list of parts"),
    "a role": (in_case("history: [{role: me}]"), "11: cases[0].history[0].role", "'assistant'"),
    "no message": (f"{SMALLEST}prompt: {{examples: [7]}}", "12: prompt.examples[0]", "role, content"),
    "a form to read": (f"{SMALLEST}reading: {{formats: [json, pythnic]}}", "12: reading.formats[1]", "'pythonic'?"),
    "no object": (f"{SMALLEST}reading: json", "12: reading", "the keys formats, repair, starts_reasoning"),
    "an answer in words": (f"{SMALLEST}policies: {{direct_answers: 7}}", "12: policies.direct_answers", "got 7"),
}
"""What is wrong by itself: the JSON Schema finds it, too."""

MEANINGS = {
    "a tolerance of all": (f"{SMALLEST}match: {{tolerance: 1e999}}", "12: match.tolerance", "a finite number, got inf"),
    "a tool": (in_call("mode: exact", "clok"), f"{EXPECT}.tool", "did you mean 'clock'"),
    "no file of tools": ("tools: no.yaml\ncases: [{command: Hi, expect: none}]", "1: tools", "cannot be opened"),
    "no tool": ("tools: [f]\ncases: [{command: Hi, expect: none}]", "1: tools[0]", "an OpenAI tool dict"),
    "a tool twice": ("tools:\n- {name: f}\n- {name: f}\ncases: [{command: Hi, expect: none}]", "3: tools[1]", "twice"),
    "a tool's key": (
        "tools:\n- name: f\n  paramters: {}\ncases: [{command: Hi, expect: none}]",
        "3: tools[0].paramters",
        "did you mean 'parameters'",
    ),
    "a schema's key": (of_one_tool("{propertis: {}}"), "1: tools[0].parameters.propertis", "did you mean 'properties'"),
    "a parameter": (
        cases("- command: Hi\n  expect:\n    tool: set_light\n    arguments:\n      stat: on"),
        "15: cases[0].expect.arguments.stat",
        "did you mean 'state'",
    ),
    "a parameter to ignore": (
        cases("- {command: Hi, expect: [{tool: set_light, ignore: [x]}]}"),
        f"{EXPECT}[0].ignore[0]",
        "no parameter 'x'",
    ),
    "a parameter of none": (f"{SMALLEST}match: {{ignore: [stat]}}", "12: match.ignore[0]", "did you mean 'state'"),
    "a default": (in_call("defaults: {x: 1}"), f"{EXPECT}.defaults.x", "no parameter 'x'"),
    "ignored and expected": (in_call("arguments: {level: 1}, ignore: [level]"), f"{EXPECT}.ignore", "expected as well"),
    "left out": (of_one_tool(REQUIRED), "3: cases[0].expect", "f requires 'a'"),
    "not in the enum": (of_one_tool(ON_OR_OFF, ", arguments: {a: high}"), "3: cases[0].expect.arguments.a", '"on" or'),
    "a type": (in_call('arguments: {level: "33"}'), LEVEL, "expected integer, got the string '33'"),
    "a type among several": (in_call("arguments: {level: {any_of: [33.5, low]}}"), LEVEL, "expected integer"),
    "words for words": (in_case("direct_answer: false"), "11: cases[0].direct_answer", "an answer in words"),
    "a direct answer": (f"{SMALLEST}policies: {{direct_answers: [x]}}", "12: policies.direct_answers[0]", "'x' is not"),
    "a command twice": (
        cases("- {command: Hi, expect: none}\n- {id: Hi, command: Ho, expect: none}"),
        "12: cases[1].id",
        "the case in line 11 is called 'Hi', too",
    ),
    "several calls in the strict format": (
        f"prompt: {{format: strict}}\n{cases('- {command: Hi, expect: [{tool: clock}, {tool: clock}]}')}",
        "1: prompt",
        "multiple: true",
    ),
}
"""What contradicts something else."""

YAML = {
    "an open bracket": ("a: [1, 2", "1", "close the bracket"),
    "a question mark": ("a: {command: What is 5?, expect: none}", "1", QUOTES),
    "a colon": ("command: Note: buy milk", "1", QUOTES),
    "a key twice": (f"{SMALLEST}name: x\nname: y", "13: name", "written twice, first in line 12"),
    "a command of Python": ("a: !!python/name:os.system", "1", "could not determine a constructor"),
    "an alias in itself": ("a: &a [*a]", "1", "nested too deep"),
    "a flood of aliases": (
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)),
        "5: a4",
        "aliases",
    ),
    "nested": ("[" * 5000, "1", "nested too deep"),
    "a key of a number": ("1: a", "1", "a key is not a word"),
    "a control character": ("\n\na: \x00\n", "3", "'\\x00' is not allowed"),
    "no bool": ("name: !!bool abc", "1", "abc"),
    "too many digits": (f"name: {'9' * 5000}", "1", "digits"),
}


@pytest.mark.parametrize("problems", [FORMS, MEANINGS, YAML], ids=["forms", "meanings", "yaml"])
def test_a_problem_has_its_file_its_line_its_key_and_what_helps(tmp_path: Path, problems: dict[str, tuple[str, ...]]):
    for name, (text, place, noun) in problems.items():
        told = problem(text, tmp_path)
        assert told.startswith(f"commands.yaml:{place}: "), name
        assert noun in told, name
        assert "\n" not in told, name


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
    told = places(text, tmp_path)
    assert " ".join(told) == (
        "nam tools[0] prompt.format prompt.tools_in reading.formats reading.repair reading.starts_reasoning "
        "policies.text_calls policies.native_calls_only match.equal match.mode cases[0].expect.mode cases[0].tag "
        "cases[1].command cases[1].expect[1].argument cases[1].expect[2] cases[1].tags[0] cases[1].tags[1] "
        "cases[3].command"
    )
    in_order = re.sub(r"(?m)^(nam|prompt|reading|policies|match|- .name: f).*\n|, mode: some|, tag: ..", "", text)
    assert places(in_order, tmp_path) == [
        "cases[0].expect.arguments.c",
        "cases[0].expect.arguments.a",
        *told[-6:],
    ]


def places(text: str, folder: Path) -> list[str]:
    """Return the keys of all problems of a suite, in the order in which they are told."""
    return [line.split(": ")[1] for line in problem(text, folder).splitlines()]


def test_what_stands_twice_hides_nothing_else(tmp_path: Path):
    (tmp_path / "tools.yaml").write_text("- {name: f, name: g}\n- {name: g}\n", "utf-8")
    text = """\
tools: tools.yaml
cases:
- {id: x, command: Hi, expect: {tool: h}}
- {id: x, command: 7, command: 8, expect: none}
"""
    assert [line.split(": ")[:2] for line in problem(text, tmp_path).splitlines()] == [
        ["tools.yaml:1", "[0].name"],
        ["tools.yaml:2", "[1]"],
        ["commands.yaml:4", "cases[1].command"],
        ["commands.yaml:4", "cases[1].command"],
        ["commands.yaml:4", "cases[1].id"],
    ]


@pytest.mark.parametrize("level", ["{any_of: [33, '33']}", "~", "33.0"])
def test_a_value_that_fits_is_enough_and_null_is_always_accepted(tmp_path: Path, level: str):
    assert load(cases(f"- {{command: Hi, expect: {{tool: set_light, arguments: {{level: {level}}}}}}}"), tmp_path)


def test_a_tool_that_is_wrong_hides_the_form_of_no_case_and_makes_no_fault(tmp_path: Path):
    text = """\
tools:
- {name: light, parameters: {type: object, properties: {room: {type: strng}}}}
- {name: timer, parameter: {type: object}}
- {name: clock}
- {name: clock}
cases:
- {command: a, expect: {tool: light, arguments: {room: 1}}}
- {command: b, expects: {tool: timer, arguments: {minutes: 5}}}
"""
    assert places(text, tmp_path) == ["tools[0]", "tools[1].parameter", "tools[3]", "cases[1]", "cases[1].expects"]


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
    assert f"commands.json:{expected}" in problem(text, tmp_path, "commands.json")


def test_a_file_of_another_encoding_is_told(tmp_path: Path):
    (tmp_path / "commands.yaml").write_bytes("name: Zürich".encode("latin-1"))
    with pytest.raises(SuiteError, match=r"commands\.yaml:1: not UTF-8"):
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


def test_the_schema_is_made_of_the_models():
    assert suite_schema() == SCHEMA, f"write it anew: python -m {suite_schema.__module__}"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("text", [EVERYTHING, SMALLEST])
def test_the_schema_takes_a_suite_that_is_right(tmp_path: Path, text: str):
    jsonschema.validate(read_suite_file(_written(text, tmp_path)).data, SCHEMA)


@pytest.mark.parametrize("text", [text for text, _, _ in FORMS.values()], ids=list(FORMS))
def test_the_schema_refuses_a_suite_that_is_wrong(tmp_path: Path, text: str):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(read_suite_file(_written(text, tmp_path)).data, SCHEMA)
