"""Each fault of a server is named by its own name, and a healthy server raises no alarm."""

from __future__ import annotations

import pytest

from faulty_servers import FAULTS, faulty
from llama3_acceptance.doctor import Finding, examine, find_faults


def found(name: str) -> tuple[Finding, ...]:
    with faulty(name) as server:
        return find_faults(examine(server.base_url, "llama", seconds=30))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_rightly_and_no_other_is(name: str) -> None:
    findings = found(name)
    assert {finding.code for finding in findings if finding.is_fault} == FAULTS[name].codes
    assert {finding.code for finding in findings if not finding.is_fault} == FAULTS[name].notes
