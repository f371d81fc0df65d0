"""Reports of a run: JSON, JUnit XML, and what changed between two of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from llama3_acceptance.rendering import shown_judging
from llama3_acceptance.reports.comparison import Change, Comparison, compare_reports, differences, read_report
from llama3_acceptance.reports.json_report import report_json
from llama3_acceptance.reports.junit import report_junit
from llama3_acceptance.reports.scores import Score
from llama3_acceptance.reports.thresholds import Threshold, check_thresholds
from llama3_acceptance.running.records import RecordsError, to_json
from llama3_acceptance.running.results import Results
from llama3_acceptance.values import Policies, Reading, Suite
from runs import DIM, KITCHEN, MENDED, SUITE, judged

MIXED = {"kitchen": KITCHEN, "dim": DIM, "joke": "Knock, knock."}
HOSTILE = {"kitchen": 'a\x00\x1b[2J\ud800\ufffe]]></system-out>{"name": "set_light", "parameters": {"room": "\x07'}


def reported(outputs: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(to_json(report_json(judged(outputs, **more))))
    return report


def test_a_report_tells_what_was_asked_and_how_it_was_judged() -> None:
    report = reported(MIXED, errors={"hello": "no response within 1 s"})
    assert (report["llama3_tools_report"], report["run"]["model"], report["missing"]) == (2, "llama3.1", 0)
    assert report["prompt"]["format"] == "json"
    assert report["policies"] == {
        "text_calls": True,
        "direct_answers": ["answer_question", "calculate", "tell_joke"],
        "allow_direct_answers": True,
        "stringified_lists": True,
        "native_calls_only": False,
    }
    assert report["scores"]["overall"] == {
        "name": "all",
        "parsed": {"count": 2, "total": 4, "share": 0.5, "interval": pytest.approx([0.15, 0.85], abs=5e-3), "clean": 1},
        "coerced": {
            "count": 3,
            "total": 4,
            "share": 0.75,
            "interval": pytest.approx([0.3, 0.95], abs=5e-3),
            "clean": 1,
        },
    }
    assert {by: [row["name"] for row in rows] for by, rows in report["scores"].items() if by[:3] == "by_"} == {
        "by_tool": ["set_light", "tell_joke", "(no call)"],
        "by_tag": ["numbers"],
        "by_reason": ["passed", "no_response", "wrong_type"],
    }


@pytest.mark.parametrize(
    ("suite", "part", "told"),
    [
        (replace(SUITE, policies=Policies(allow_direct_answers=False)), "policies", "direct_answers no; "),
        (replace(SUITE, policies=Policies(direct_answers=frozenset())), "policies", "direct_answers none; "),
        (replace(SUITE, reading=Reading(["json"])), "reading", "formats json; repair no"),
    ],
)
def test_reports_say_by_what_a_suite_judges(suite: Suite, part: str, told: str) -> None:
    assert told in shown_judging(suite)[part]


def test_a_report_keeps_each_output_and_both_judgements() -> None:
    _, dim, _, hello = reported(MIXED, errors={"hello": "no response within 1 s"})["results"]
    parsed, coerced = dim.pop("parsed"), dim.pop("coerced")
    assert dim == {
        "case": "dim",
        "repeat": 0,
        "command": "Dim the hall to 20",
        "tool": "set_light",
        "tags": ["numbers"],
        "output": DIM,
        "reasoning": None,
        "latency": 0.5,
        "usage": {"completion_tokens": 7},
        "error": None,
    }
    assert (parsed["verdict"], parsed["source"], coerced["verdict"]) == ("wrong_type", "text", "passed")
    calls = [judgement["calls"][0]["arguments"] for judgement in (parsed, coerced)]
    assert calls == [{"room": "hall", "level": "20"}, {"room": "hall", "level": 20}]
    assert (hello["error"], hello["parsed"]["verdict"]) == ("no response within 1 s", "no_response")


def test_a_number_too_long_for_python_stays_as_it_was_written() -> None:
    digits = "9" * 5000
    (result,) = reported({"kitchen": f'{{"name": "set_light", "parameters": {{"room": {digits}}}}}'})["results"]
    (call,) = result["parsed"]["calls"]
    assert call == {"name": "set_light", "arguments": None, "written": f'{{"room": {digits}}}'}


def test_a_report_tells_how_text_was_read_and_what_was_mended() -> None:
    misspelt = '<function(set_light)>{"room": "kitchen"}</function>'
    reading = Reading(["json", "function"], repair=True)
    report = reported({"kitchen": [MENDED, misspelt, KITCHEN]}, repeats=3, reading=reading)
    assert report["reading"] == {"formats": ["json", "function"], "repair": True, "starts_reasoning": False}
    (mended,) = report["scores"]["let_through"]
    assert (mended["name"], mended["parsed"]["count"], mended["parsed"]["total"]) == ("mended", 2, 3)
    assert [one["parsed"]["allowances"] for one in report["results"]] == [["mended"], ["mended"], []]
    assert report["scores"]["overall"]["parsed"]["clean"] == 1
    calls = [one["parsed"]["calls"][0] for one in report["results"]]
    told = [{name: call[name] for name in ("deviations", "repaired_from") if name in call} for call in calls]
    assert told == [{"repaired_from": MENDED}, {"deviations": ["the tag is written <function(NAME)>{…}"]}, {}]


def junit(results: Results, *, coerced: bool = False) -> ET.Element:
    (suite,) = ET.fromstring(report_junit(results, coerced=coerced))  # noqa: S314 - written a line above
    return suite


JUNIT = f"""\
<?xml version='1.0' encoding='utf-8'?>
<testsuites name="Home" tests="4" failures="2" errors="1" time="1.500">
  <testsuite name="Home" tests="4" failures="2" errors="1" skipped="0" time="1.500" timestamp="2026-01-02T03:04:05">
    <properties>
      <property name="model" value="llama3.1" />
      <property name="base_url" value="http://127.0.0.1:8080/v1" />
      <property name="prompt" value="format json; multiple no" />
      <property name="reading" value="formats default; repair no; starts_reasoning no" />
      <property name="policies" value="POLICIES" />
      <property name="missing" value="0" />
    </properties>
    <testcase name="kitchen" classname="Home.set_light" time="0.500">
      <failure type="direct_answer_not_allowed" message="answered in words, expected set_light: Für dich!">\
command: Light in the kitchen
calls (none): none</failure>
      <system-out>Für dich!</system-out>
    </testcase>
    <testcase name="dim" classname="Home.set_light" time="0.500">
      <failure type="wrong_type" message="set_light: level is the string &quot;20&quot;, expected 20">\
command: Dim the hall to 20
as written: wrong_type; after coercion: passed
calls (text): set_light {{"room": "hall", "level": "20"}}</failure>
      <system-out>{DIM}</system-out>
    </testcase>
    <testcase name="joke" classname="Home.tell_joke" time="0.500">
      <properties>
        <property name="let through by" value="words" />
        <property name="remark" value="answered in words, in place of tell_joke" />
      </properties>
      <system-out>Knock, knock.</system-out>
    </testcase>
    <testcase name="hello" classname="Home.(no call)" time="0.000">
      <error type="no_response" message="HTTP 500">command: Hello</error>
      <system-out />
    </testcase>
  </testsuite>
</testsuites>
"""


def test_junit_names_each_case_and_why_it_failed_and_counts() -> None:
    results = judged({**MIXED, "kitchen": "Für dich!"}, errors={"hello": "HTTP 500"})
    assert report_junit(results).decode() == JUNIT.replace("POLICIES", shown_judging(results.suite)["policies"])
    assert junit(results, coerced=True).get("failures") == "1"


def test_junit_says_where_a_case_stands_and_leaves_out_what_is_not_known() -> None:
    results = judged(MIXED)
    of_file = tuple(replace(one, case=replace(one.case, line=6)) for one in results.results)
    suite = junit(replace(results, run=replace(results.run, started=""), results=of_file))
    assert suite.get("timestamp") is None
    assert "line 6 of the suite" in (suite.findall("testcase")[1].findtext("failure") or "")


def test_junit_tells_repeats_apart() -> None:
    tests = junit(judged({"kitchen": [KITCHEN, KITCHEN]}, repeats=2)).findall("testcase")
    assert [test.get("name") for test in tests[:3]] == ["kitchen[0]", "kitchen[1]", "dim[0]"]


def test_junit_counts_what_is_missing_as_errors() -> None:
    suite = junit(judged({"kitchen": KITCHEN, "hello": "Hello!"}))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "0", "2")
    errors = {test.get("name"): test.find("error") for test in suite.findall("testcase")}
    told = "there is no response: the run is not complete"
    assert [errors["kitchen"], errors["hello"]] == [None, None]
    assert errors["dim"].attrib == errors["joke"].attrib == {"type": "missing", "message": told}
    assert errors["dim"].text == "command: Dim the hall to 20"


def test_junit_of_a_run_with_thresholds_passes_and_fails_by_these() -> None:
    results = judged({**MIXED, "hello": "Hello!"})
    thresholds = check_thresholds(results, [Threshold(0.75), Threshold(0.9, "tag", "numbers")])
    (suite,) = ET.fromstring(report_junit(results, thresholds=thresholds))  # noqa: S314 - written here
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["6", "1", "0", "1"]
    *_, enough, few = tests = suite.findall("testcase")
    (skipped,) = [test.find("skipped") for test in tests if test.find("skipped") is not None]
    assert skipped.get("message") == 'wrong_type: set_light: level is the string "20", expected 20'
    assert (enough.get("name"), enough.find("failure")) == ("75%", None)
    told = "90% of the tag numbers: not met, 0 of 1 passed, 0 % (0 to 79)"
    assert (few.get("name"), few.get("classname")) == ("tag:numbers=90%", "Home.min-pass")
    assert few.find("failure").get("message") == told
    assert junit(results, coerced=True).get("failures") == "0"


def test_junit_is_xml_whatever_a_model_writes() -> None:
    test, *_ = junit(judged(HOSTILE)).findall("testcase")
    assert "a\\x00\\x1b[2J\\ud800\\ufffe]]></system-out>" in (test.findtext("system-out") or "")


def test_a_comparison_names_what_was_fixed_and_what_broke() -> None:
    before = reported({**MIXED, "hello": KITCHEN})
    after = reported({"kitchen": "Done.", "dim": DIM.replace('"20"', "20"), "joke": KITCHEN, "hello": "Hi!"})
    parsed = compare_reports(before, after, "parsed")
    assert (parsed.before, parsed.after) == (Score(2, 4), Score(2, 4))
    assert [(one.name, one.before) for one in parsed.fixed] == [("dim", "wrong_type"), ("hello", "unexpected_call")]
    broken = [("kitchen", "direct_answer_not_allowed"), ("joke", "wrong_tool")]
    assert [(one.name, one.after) for one in parsed.broken] == broken
    assert [one.name for one in compare_reports(before, after, "coerced").fixed] == ["hello"]


def test_a_comparison_says_how_the_runs_were_made_differently(tmp_path: Path) -> None:
    before = reported(MIXED)
    after = deepcopy(before)
    after["run"].update(suite="House", model="llama3.2", settings={"seed": 7}, fingerprint="0")
    after["policies"]["native_calls_only"] = True
    after["prompt"]["format"] = "strict"
    after["reading"].update(formats=["json"], repair=True)
    path = tmp_path / "a.json"
    path.write_text(to_json(before), "utf-8")
    assert read_report(path) == before
    assert differences(before, before) == ()
    assert differences(before, after) == (
        'suite: "Home" → "House"',
        'model: "llama3.1" → "llama3.2"',
        "temperature: 0 → none",
        'format: "json" → "strict"',
        'formats: null → ["json"]',
        "repair: false → true",
        "native_calls_only: false → true",
        "seed: none → 7",
        "the suite asks something else now: its tools or commands have changed",
    )


WRONG = 'set_light: room is "hall", expected "kitchen"'


def test_a_comparison_names_what_fails_for_another_reason_and_what_only_one_run_has() -> None:
    before = reported({"kitchen": "Done.", "dim": DIM, "joke": "Knock, knock."})
    after = reported({"kitchen": [KITCHEN.replace("kitchen", "hall"), KITCHEN]}, repeats=2)
    comparison = compare_reports(before, after, "parsed")
    assert comparison == Comparison(
        "parsed",
        before=Score(0, 1),
        after=Score(0, 1),
        fixed=(),
        broken=(),
        changed=(Change("kitchen", "direct_answer_not_allowed", "wrong_value", WRONG),),
        only_before=("dim", "joke"),
        lost=("joke",),
        only_after=("kitchen[1]",),
    )


def _broken(**part: object) -> str:
    report = reported(MIXED)
    report["results"][0].update(part)
    return to_json(report)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("oops", "not JSON"),
        ("{}", "no report of version 2"),
        ('{"llama3_tools_report": 99}', "no report of version 2"),
        ('{"llama3_tools_report": 2}', "a broken report: KeyError('results')"),
        ('{"llama3_tools_report": 2, "results": []}', "a broken report: KeyError('run')"),
        (_broken(coerced={}), "a broken report: KeyError('verdict')"),
    ],
)
def test_a_file_that_is_no_report_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, "utf-8")
    with pytest.raises(RecordsError) as caught:
        read_report(path)
    assert str(caught.value).startswith(f"{path}: {message}")
