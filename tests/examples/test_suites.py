"""The suite of voice commands, and the outputs that are recorded for it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from llama3_acceptance import Suite, Verdict, judge, load_suite
from llama3_acceptance.suite_file import read_suite_file

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


def outputs() -> dict[str, object]:
    lines = (ROOT / "examples/suites/voice_outputs.jsonl").read_text("utf-8").splitlines()
    recorded = [json.loads(line) for line in lines]
    return {record["case"]: record.get("output", record.get("response")) for record in recorded}


def test_the_suite_has_thirty_commands_that_fit_its_schema(suite: Suite):
    schema = json.loads((ROOT / "shared/llama3_acceptance/suite.schema.json").read_text("utf-8"))
    jsonschema.validate(read_suite_file(SUITE).data, schema)
    assert len(suite.cases) == 30


def test_each_command_has_its_output(suite: Suite):
    assert list(outputs()) == [case.id for case in suite.cases]


def test_the_outputs_get_the_verdicts_that_a_reader_would_give_them(suite: Suite):
    recorded = outputs()
    judged = {case.id: judge(case, recorded[case.id], suite) for case in suite.cases}
    parsed = {case: both.parsed.verdict for case, both in judged.items() if not both.parsed.passed}
    coerced = {case: both.coerced.verdict for case, both in judged.items() if not both.coerced.passed}
    assert parsed == FAILED_AS_PARSED
    assert coerced == {case: verdict for case, verdict in parsed.items() if verdict is not Verdict.WRONG_TYPE}
