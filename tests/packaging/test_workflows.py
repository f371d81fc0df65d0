"""The workflows, the forms and the matrix name what is there. `make lint` holds them to their schemas."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = {path.name: path.read_text("utf-8") for path in sorted((GITHUB / "workflows").glob("*.yml"))}
PARSED: dict[str, dict[str, Any]] = {name: yaml.safe_load(text) for name, text in WORKFLOWS.items()}
JOBS = [(name, job, what) for name, workflow in PARSED.items() for job, what in workflow["jobs"].items()]
RUNS = [
    pytest.param(step["run"], step.get("env", {}), id=f"{name} {job} {number}")
    for name, job, what in JOBS
    for number, step in enumerate(what["steps"])
    if "run" in step
]
USES = re.compile(r"uses: (?P<action>\S+?)@(?P<commit>\S+)(?P<tag>.*)")


@pytest.mark.parametrize(("line", "environment"), RUNS)
def test_a_step_runs_what_is_there(line: str, environment: dict[str, str]) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^make (\S+)", line, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    for program in re.findall(r"(?:tools/\S+\.py|\.ci/\S+)", line):
        assert (ROOT / program).is_file()
    for variable in re.findall(r"\$\{?([A-Z_]+)", line):
        assert variable in environment or variable.startswith("GITHUB_")
    assert "${{" not in line, "an expression in a script is replaced before a shell reads it"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_each_action_is_pinned_to_a_commit_and_says_its_version(name: str) -> None:
    used = list(USES.finditer(WORKFLOWS[name]))
    assert used
    for action in used:
        assert re.fullmatch(r"[0-9a-f]{40}", action["commit"]), action["action"]
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", action["tag"]), action["action"]


def test_one_version_of_an_action_is_used_everywhere() -> None:
    used = {
        (found["action"], found["commit"], found["tag"]) for text in WORKFLOWS.values() for found in USES.finditer(text)
    }
    assert len({action for action, _, _ in used}) == len(used)


@pytest.mark.parametrize(("name", "job", "what"), JOBS, ids=[f"{name} {job}" for name, job, _ in JOBS])
def test_a_job_may_do_no_more_than_it_says(name: str, job: str, what: dict[str, Any]) -> None:
    assert PARSED[name]["permissions"] == {}
    written = {scope for scope, access in what["permissions"].items() if access == "write"}
    allowed = {
        "attest": {"id-token", "attestations"},
        "publish": {"id-token"},
        "announce": {"contents"},
        "docs": {"contents"},
    }
    assert written == (allowed.get(job, set()) if name == "release.yml" else set())
    assert what["timeout-minutes"] > 0


def test_a_release_is_built_checked_attested_and_published_in_this_order() -> None:
    needs = {job: what.get("needs", []) for job, what in PARSED["release.yml"]["jobs"].items()}
    assert needs == {
        "build": [],
        "compiled": "build",
        "attest": "compiled",
        "publish": ["build", "attest"],
        "announce": ["build", "publish"],
        "docs": "publish",
    }
    assert "secrets." not in WORKFLOWS["release.yml"], "trusted publishing needs no password"


def test_the_matrix_of_the_workflow_is_that_of_nox() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "nox", "--list", "--json"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    sessions = {(session["name"], session["python"]) for session in json.loads(listed)}
    matrix = PARSED["ci.yml"]["jobs"]["matrix"]["strategy"]["matrix"]
    of_pythons = {(session, python) for session in matrix["session"] for python in matrix["python"]}
    alone = {job for job in PARSED["ci.yml"]["jobs"] if job not in {"check", "matrix", "coverage", "try-it"}}
    assert sessions == of_pythons | {(session, None) for session in alone}
    for job in alone:
        assert PARSED["ci.yml"]["jobs"][job]["steps"][-1]["run"] == f"nox --session {job}"


def test_all_of_shared_has_to_be_covered_for_each_change() -> None:
    steps = PARSED["ci.yml"]["jobs"]["coverage"]["steps"]
    assert [step["run"].partition(" #")[0] for step in steps if "run" in step] == ["make coverage"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipe = makefile.partition("\ncoverage:")[2].partition("\n\n")[0]
    assert '--include="shared/*" --fail-under=100' in recipe


def test_the_page_try_it_is_used_in_a_browser_for_each_change_and_each_release() -> None:
    browser = "which npm chromium chromedriver"
    on_a_change, on_a_release = (
        [step["run"].partition(" #")[0] for step in PARSED[name]["jobs"][job]["steps"] if "run" in step]
        for name, job in (("ci.yml", "try-it"), ("release.yml", "build"))
    )
    assert on_a_change == [browser, "make test-browser"]
    assert on_a_release.index(browser) < on_a_release.index("make release-check")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipe = makefile.partition("\nrelease-check:")[2].partition("\n\n")[0]
    assert "-m site tests/docs" in recipe


def test_the_template_of_a_pull_request_names_what_a_change_brings() -> None:
    template = (GITHUB / "PULL_REQUEST_TEMPLATE.md").read_text("utf-8")
    for named in re.findall(r"`([\w/]+\.md)`", template):
        assert (ROOT / named).is_file()
    assert '"What a change brings"' in template
    assert "## What a change brings" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
