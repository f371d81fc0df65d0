"""The rows of the gateway's benchmark, and that it measures: what it finds depends on the machine."""

from __future__ import annotations

import asyncio

import pytest

import gateway
from gateway import Added, Soak


def test_what_is_added_is_what_reading_takes_longer():
    row = Added("a chunk", None, 25e-6, 80e-6, 25e-6, 60e-6)
    assert row.cells() == ("a chunk", "", "25.0 µs", "80.0 µs", "55.0 µs", "60.0 µs")


@pytest.mark.parametrize(
    ("lost", "left_open", "grown", "is_good"),
    [(0, 0, 2**20, True), (1, 0, 0, False), (0, 1, 0, False), (0, 0, 20 * 2**20, False)],
)
def test_a_soak_is_good_if_nothing_is_lost_left_open_or_growing(lost: int, left_open: int, grown: int, is_good: bool):
    row = Soak("a soak", 1000, 300, lost, left_open, 1000, 0, 50 * 2**20, grown)
    assert row.is_good is is_good
    assert row.cells()[:3] == ("a soak", "1,000", "300")


def test_it_measures(monkeypatch: pytest.MonkeyPatch):
    for name, count in {"_CHUNKS": 200, "_PACED": 20, "_FIRST": 5}.items():
        monkeypatch.setattr(gateway, name, count)
    with gateway.upstream_process() as upstream, gateway.gateway_process(upstream) as (address, process):
        rows = asyncio.run(gateway.added(upstream, address, process))
    assert [row.name.partition(",")[0] for row in rows] == ["a chunk", "a chunk", "the first token"]
    assert rows[-1].read > 0
