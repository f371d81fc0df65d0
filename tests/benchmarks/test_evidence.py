"""The command that counts what each rule does to outputs: it knows the rules, reads files, and says what changed."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from chunkings import extract_in_every_chunking
from evidence import Evidence, Sample, evidence, main, read_file, written_non_calls
from llama3_tools.reader import switches
from outputs import INJECTIONS, TOOLS
from rules import OPTIONS, RULES

READER = Path(switches.__file__).parent
CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'


def write(path: Path, *rows: object) -> str:
    """Write a file of outputs, with an empty line in it."""
    text = "\n\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n"
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def test_each_rule_that_can_be_switched_off_is_asked_for():
    asked_for = {name for path in READER.glob("*.py") for name in re.findall(r'is_off\("(.+?)"\)', path.read_text())}
    assert asked_for == switches.RULES.keys()


@pytest.mark.parametrize("names", [["nonsense"], ["lines", "nonsense"], [""]])
def test_a_rule_that_is_not_there_cannot_be_switched_off(names: list[str]):
    message = r"^no rule is named '(?:nonsense)?'; there are other keys, "
    with pytest.raises(ValueError, match=message), switches.switched_off(*names):
        pass
    assert not any(map(switches.is_off, switches.RULES)), "and none is"


def test_no_two_rules_have_one_name():
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("text", INJECTIONS)
def test_what_others_wrote_is_not_called(text: str):
    assert extract_in_every_chunking(text, tools=TOOLS).tool_calls == ()


def test_it_counts_what_is_lost_and_gained():
    samples = [
        Sample(f"<tool_call>{CALL}</tool_call>", "[]"),
        Sample(f"> {CALL}", "[]"),
        Sample('["get_weather", {"city": "Paris"}]', '[{"name": "get_weather"}]'),
    ]
    rows = {row.name: row for row in evidence(samples)["rules"] if isinstance(row, Evidence)}
    assert rows["`json`"].lost == 1
    assert rows["lines"].gained == 1
    assert rows["lines"].unsafe > 0
    assert (rows["leftovers"].lost, rows["leftovers"].attempts_lost) == (0, 1)
    assert rows["regions"].changed == 0


def test_it_counts_what_options_do():
    samples = [Sample("<|python_tag|>print(1)", '[{"name": "code_interpreter"}]')]
    rows = {row.name: row for row in evidence(samples)["rules"] if isinstance(row, Evidence)}
    assert (rows["complete=False"].lost, rows["complete=False"].attempts_gained) == (1, 1)
    assert (rows["starts_reasoning"].changed, rows["starts_reasoning"].lost) == (1, 1)


def test_it_counts_where_quoted_calls_stand():
    samples = [Sample(f"> {CALL}\n> {CALL}", "[]"), Sample(f"So `{CALL}`, it says.", "[]")]
    rows = {row.name: row.cells()[1:] for row in evidence(samples)["shapes"]}
    assert {name: cells for name, cells in rows.items() if name.startswith("`quoted`: ")} == {
        "`quoted`: after the > of a blockquote": ("1", "2"),
        "`quoted`: in a code span": ("1", "1"),
    }


def test_files_are_read_plain_and_compressed(tmp_path: Path):
    function = {"name": "math.add", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}}}
    row = {"raw": '{"name": "math_add", "parameters": {"x": 1}}', "functions": [function], "model": "x"}
    plain, packed = write(tmp_path / "a.jsonl", row), write(tmp_path / "b.jsonl.gz", row, {"raw_output": "Hello."})
    (sample,) = read_file(Path(plain))
    assert json.loads(sample.tools) == [
        {
            "name": "math_add",
            "description": "",
            "parameters": {"type": "object", "properties": {"x": {"type": "number"}}},
        }
    ]
    assert list(read_file(Path(packed))) == [sample, Sample("Hello.", "[]")]


def test_what_an_output_calls_is_declared_where_no_functions_are_known(tmp_path: Path):
    (sample,) = read_file(Path(write(tmp_path / "a.jsonl", {"raw_output": "[clock(zone='CET')]"})))
    assert json.loads(sample.tools) == [{"name": "clock"}]


def test_what_a_misspelt_tag_names_is_declared(tmp_path: Path):
    (sample,) = read_file(
        Path(write(tmp_path / "a.jsonl", {"raw_output": '<function=clock{"zone": "CET"}</function>'}))
    )
    assert json.loads(sample.tools) == [{"name": "clock"}]


@pytest.mark.parametrize("row", ["oops", "[]", {"output": "x"}, {"raw": 5}, {"raw": "x", "functions": [{}]}])
def test_a_line_that_is_no_output_is_named(row: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write(tmp_path / "a.jsonl", {"raw": "x"}, row)
    with pytest.raises(SystemExit) as stopped:
        main([path])
    assert stopped.value.code == 2
    assert f"{path}, line 3: expected an output such as" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main([str(tmp_path / "gone.jsonl")])
    assert "gone.jsonl" in capsys.readouterr().err


def test_without_files_it_says_what_is_missing_and_takes_what_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page = tmp_path / "evidence.md"
    page.write_text("<!-- rules -->\n<!-- end -->\n<!-- outputs -->\n<!-- end -->\n", encoding="utf-8")
    main(["--page", str(page)])
    told = capsys.readouterr()
    assert "No outputs of real models are named" in told.err
    assert 'make evidence OUTPUTS="' in told.err
    names = [rule.name.replace("|", r"\|") for rule in (*RULES, *OPTIONS)]
    assert [name for name in names if f"| {name} " not in page.read_text(encoding="utf-8")] == []
    assert told.out.splitlines()[-1] in page.read_text(encoding="utf-8")


def test_the_written_non_calls_are_those_of_the_tests_and_injections():
    assert len(set(written_non_calls()) - set(INJECTIONS)) > 500
