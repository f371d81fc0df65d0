"""The command that compares packages: this one finds all calls, and what others do not find is shown so."""

from __future__ import annotations

from pathlib import Path

import pytest

import peers
from peers import OUTPUTS, FoundRow, Peer, PeerReading, main


def test_this_package_reads_right_what_its_peers_are_measured_on():
    ours = next(iter(peers.peers(60)))
    assert ours.name == "llama3-tools"
    assert {name: read.is_right for name, read in ours.reads.items()} == dict.fromkeys(OUTPUTS, True)
    assert FoundRow(ours.name, ours).cells() == ("llama3-tools", *["yes"] * len(OUTPUTS), "all")
    assert not any("(" in cell for cell in ours.cells())


def test_a_package_that_does_not_find_the_calls_is_shown_so():
    missed = PeerReading(2e-6, is_right=False, text="none")
    row = Peer("theirs", 1, {output: missed for output in OUTPUTS if output != "10 KB by 4 characters"})
    assert row.cells()[1:] == (*["(2.0 µs)"] * (len(OUTPUTS) - 1), "")
    assert FoundRow("theirs", row).cells()[1:] == (*["no"] * (len(OUTPUTS) - 1), "", "none")
    assert FoundRow("theirs", row).figures == {"not found": len(OUTPUTS) - 1}


def test_what_is_found_fills_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = tmp_path / "page.md"
    page.write_text("<!-- found -->\n<!-- end -->\n", encoding="utf-8")
    found = Peer("ours", 1, dict.fromkeys(OUTPUTS, PeerReading(2e-6, is_right=True, text="all")))
    monkeypatch.setattr(peers, "peers", lambda limit: [found] if limit else [])
    main(["--page", str(page)])
    assert "| ours  " in page.read_text(encoding="utf-8")
