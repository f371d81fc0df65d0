"""Each fault of a server is named by its own name, and a healthy server raises no alarm."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from faulty_servers import FAULTS, faulty
from llama3_acceptance.doctor import Finding, checks, examine, find_faults


@cache
def found(name: str) -> tuple[Finding, ...]:
    with faulty(name) as server:
        return find_faults(examine(server.base_url, "llama", seconds=30))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_rightly_and_no_other_is(name: str) -> None:
    findings = found(name)
    assert {finding.code for finding in findings if finding.is_fault} == FAULTS[name].codes
    assert {finding.code for finding in findings if not finding.is_fault} == FAULTS[name].notes
    assert {finding.still_works for finding in findings if not finding.is_fault} <= {"native"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("two calls fail", "(HTTP 500): Failed to parse tool call"),
        ("arguments fail", "(HTTP 500): Failed to parse tool call"),
        ("tools in the prompt fail", "(HTTP 500): internal error"),
        ("a long prompt fails", "(HTTP 413): Payload Too Large"),
        ("loading with tools", "(HTTP 503): Loading model"),
        ("busy with tools", "(HTTP 429): Rate limit, try again in 2 s"),
        ("server error, under a name that is not listed", "HTTP 500: model requires more system memory"),
    ],
)
def test_a_finding_has_the_servers_own_words(name: str, words: str) -> None:
    (finding,) = found(name)
    assert words in finding.what


def test_refused_tools_have_options_to_copy() -> None:
    (finding,) = (one for one in found("tools fail") if one.code == "tools_refused")
    assert "--enable-auto-tool-choice --tool-call-parser llama3_json, or with llama3_tools" in finding.to_do


CODES = {"unreachable", "too_slow", "gateway"}.union(*(about.codes | about.notes for about in FAULTS.values()))


def test_the_page_has_each_finding() -> None:
    page = (Path(__file__).parents[4] / "docs" / "doctor.md").read_text("utf-8")
    assert {code for code in CODES if f"`{code}`" not in page} == set()
    code = "".join(path.read_text("utf-8") for path in (Path(checks.__file__).parent).glob("*.py"))
    assert set(re.findall(r'Finding\(\s*"(\w+)"', code)) == CODES
