"""The doctor on a live model: it comes to its end in time, and says of this server what is true of it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from endpoints.live import MODEL, LiveServer
from llama3_acceptance.cli.doctor import doctor
from llama3_acceptance.doctor.questions import LONG_WORDS, QUESTIONS, TEXT_AND_CALL, TWO_AGAIN


@pytest.mark.model
def test_the_doctor_says_of_a_live_server_what_is_true_of_it(live: LiveServer) -> None:
    """llama-cpp-python shows this model no tools, takes no null, and refuses a prompt beyond its 4096 tokens."""
    arguments = ["--base-url", live.base_url, "--model", MODEL, "--timeout", "600", "--json"]
    result = CliRunner().invoke(doctor, arguments)
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    assert report["not_asked"] == []
    asked = [name for name in QUESTIONS if name not in {TWO_AGAIN, TEXT_AND_CALL}]
    assert [one["name"] for one in report["answers"]] == ["/models", *asked]
    findings = {one["code"]: one["is_fault"] for one in report["findings"]}
    assert findings == {"tools_ignored": True, "results_refused": True, "context_limit": False}
    answers = {one["name"]: one for one in report["answers"]}
    assert answers["one"]["prompt_tokens"] < answers["in the prompt"]["prompt_tokens"] < LONG_WORDS
    assert answers["plain"]["finish_reason"] == "length"
    assert answers["two streamed"]["content"]
    assert "will not help this model yet" in report["advice"]["sentence"]
    assert report["advice"]["code"] == []
