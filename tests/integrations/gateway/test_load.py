"""Many streams at once, long ones, and clients that leave at random: nothing is lost, left open, or grows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx

import gateway as benchmark
from integrations.gateway.harness import CALL, QUESTION, WEATHER, Answer, Asked, chunk, events, gathered, serving
from llama3_gateway.framing import EventReader

BODY = {"model": "m", "messages": QUESTION, "tools": [WEATHER], "stream": True}
END = (chunk({}, "stop"), b"data: [DONE]\n\n")


async def whole_stream(client: httpx.AsyncClient, url: str) -> list[bytes]:
    response = await client.post(url, json=BODY)
    return [event.data for event in EventReader().feed(response.content)]


def test_200_streams_at_once():
    def respond(_asked: Asked) -> Answer:
        words = [chunk({"content": f"word{number} "}) for number in range(20)]
        return events(*words, 0.2, chunk({"content": CALL[:20]}), chunk({"content": CALL[20:]}), *END)

    async def ask(url: str) -> list[list[bytes]]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(trust_env=False, timeout=60, limits=limits) as client:
            return list(await asyncio.gather(*(whole_stream(client, url) for _ in range(200))))

    with serving(respond) as served:
        streams = asyncio.run(ask(f"{served.base_url}/chat/completions"))
        assert served.metric("tool_calls_total") == 200
        assert served.metric("faults_total") == 0
    text = " ".join(f"word{number}" for number in range(20))
    for stream in streams:
        assert stream.pop() == b"[DONE]"
        (choice,) = gathered(map(json.loads, stream)).values()
        assert (choice.content.strip(), len(choice.calls), choice.finish_reason) == (text, 1, "tool_calls")


def test_50_000_chunks_in_one_stream():
    """Each is written by itself. The memory is that of the gateway's process, which has no other work."""
    count = 50_000
    body = {"text": "#: word ", "count": count, "pause": 0.0, "tools": benchmark.declared_tools()}
    content: list[str] = []

    async def ask(address: str, process: int) -> int:
        early = 0
        async with benchmark.stream_of(address, body) as stream:
            async for event in stream:
                if event == b"[DONE]":
                    break
                content.append(json.loads(event)["choices"][0]["delta"].get("content") or "")
                if len(content) == count // 10:
                    early = benchmark.memory_of(process)
        return benchmark.memory_of(process) - early

    with benchmark.upstream_process() as upstream, benchmark.gateway_process(upstream) as (gateway, process):
        grown = asyncio.run(ask(gateway, process))
    assert "".join(content).strip() == " ".join(f"{number}: word" for number in range(count))
    assert len(content) >= count
    assert grown < 4 * 2**20  # bytes: the text twice, until the answer ends, and an allocator's reserve


def test_a_soak_finds_nothing(tmp_path: Path):
    log = tmp_path / "log"
    with benchmark.upstream_process() as upstream, benchmark.gateway_process(upstream, log) as (gateway, process):
        found = asyncio.run(benchmark.soak(gateway, process, log, 3, clients=10))
    assert (found.lost, found.open, found.others) == (0, 0, 0)
    assert found.lines == found.streams > found.left > 0
