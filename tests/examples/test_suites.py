"""The suites for the three ways of calling, and the outputs that are recorded for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

from llama3_acceptance import Suite, Verdict, judge, load_suite
from llama3_acceptance.suites.file import read_suite_file

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "examples/suites/voice_commands.yaml"

FAILED_AS_PARSED = {
    "vacuum": Verdict.WRONG_TYPE,
    "dim": Verdict.WRONG_TYPE,
    "tea": Verdict.WRONG_TYPE,
    "fahrenheit": Verdict.MISSING_ARGUMENT,
    "first-then": Verdict.WRONG_ORDER,
    "french-light": Verdict.DIRECT_ANSWER_NOT_ALLOWED,
    "two-timers": Verdict.TRUNCATED,
    "weather-tomorrow": Verdict.WRONG_VALUE,
    "packing": Verdict.MALFORMED,
    "german-joke": Verdict.UNKNOWN_TOOL,
    "cannot": Verdict.UNEXPECTED_CALL,
}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(SUITE)


def outputs(name: str = "voice_outputs") -> dict[str, object]:
    lines = (ROOT / f"examples/suites/{name}.jsonl").read_text("utf-8").splitlines()
    recorded = [record for record in map(json.loads, lines) if "case" in record]
    return {record["case"]: record.get("output", record.get("response")) for record in recorded}


def test_coercion_mends_each_wrong_type_and_nothing_else(suite: Suite):
    recorded = outputs()
    judged = {case.id: judge(case, recorded[case.id], suite).coerced for case in suite.cases}
    failed = {case: one.verdict for case, one in judged.items() if not one.passed}
    assert failed == {case: why for case, why in FAILED_AS_PARSED.items() if why is not Verdict.WRONG_TYPE}


def test_a_small_model_gets_two_of_the_thirty_right(suite: Suite):
    came = outputs("voice_live_outputs")
    assert list(came) == [case.id for case in suite.cases]
    passed = [case.id for case in suite.cases if judge(case, came[case.id], suite).parsed.passed]
    assert passed == ["dim", "german-joke"]


NATIVE = {
    "label": Verdict.WRONG_TYPE,
    "weather": Verdict.CALL_IN_TEXT,
    "tomorrow": Verdict.TRUNCATED,
    "capital": Verdict.TRUNCATED,
    "radio": Verdict.UNKNOWN_TOOL,
}
NATIVE_LIVE = {
    **dict.fromkeys(("timer", "label", "weather", "two-cities", "tomorrow", "list"), Verdict.DIRECT_ANSWER_NOT_ALLOWED),
    "capital": Verdict.TRUNCATED,
}
HELD = {"weather": Verdict.UNEXPECTED_ARGUMENT, "tomorrow": Verdict.MISSING_ARGUMENT, "list": Verdict.WRONG_TOOL}
WORDS = dict.fromkeys(("timer", "weather"), Verdict.DIRECT_ANSWER_NOT_ALLOWED)
FREE = {**HELD, "weather": Verdict.WRONG_FORMAT, "sum": Verdict.UNKNOWN_TOOL}


@pytest.mark.parametrize(
    ("name", "recorded", "prompt_format", "failed"),
    [
        ("voice_commands", "voice_outputs", "json", FAILED_AS_PARSED),
        ("native_calls", "native_outputs", "native", NATIVE),
        ("native_calls", "native_live_outputs", "native", NATIVE_LIVE),
        ("strict_format", "strict_outputs", "strict", HELD),
        ("strict_format", "strict_free_outputs", "strict", FREE),
        ("words", "words_live_outputs", "json", WORDS),
    ],
)
def test_each_way_of_calling_has_a_suite_and_outputs(
    name: str, recorded: str, prompt_format: str, failed: Mapping[str, Verdict]
):
    path = ROOT / f"examples/suites/{name}.yaml"
    schema = json.loads((ROOT / "shared/llama3_acceptance/suite.schema.json").read_text("utf-8"))
    jsonschema.validate(read_suite_file(path).data, schema)
    suite, came = load_suite(path), outputs(recorded)
    assert suite.prompt.format == prompt_format
    assert list(came) == [case.id for case in suite.cases]
    parsed = {case.id: judge(case, came[case.id], suite).parsed.verdict for case in suite.cases}
    assert {case: verdict for case, verdict in parsed.items() if verdict is not Verdict.PASSED} == failed
