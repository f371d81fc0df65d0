"""The command that compares packages: this one finds all calls, and what others do not find is shown so."""

from __future__ import annotations

import pytest

import peers
from peers import OUTPUTS, Peer, PeerReading


def test_this_package_reads_right_what_its_peers_are_measured_on(monkeypatch: pytest.MonkeyPatch):
    some = ("typical", "ChatML", "10 KB by 4 characters")  # each takes an interpreter
    monkeypatch.setattr(peers, "OUTPUTS", {name: OUTPUTS[name] for name in some})
    ours = next(iter(peers.peers(60)))
    assert ours.cells()[-1] == "all"
    assert [cell for cell in ours.cells() if not cell or "(" in cell] == []


def test_a_package_that_does_not_find_the_calls_is_shown_so():
    missed = PeerReading(2e-6, is_right=False, text="none")
    row = Peer("theirs", 1, {output: missed for output in OUTPUTS if output != "10 KB by 4 characters"})
    assert row.cells()[1:] == (*["(2.0 µs)"] * (len(OUTPUTS) - 1), "", "none")
