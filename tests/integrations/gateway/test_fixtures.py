"""The Llama fixtures of the package canitoolcall through HTTP, cut at every place; skipped if it is not installed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from integrations.gateway.harness import Answer, Served, chunk, completion, events, gathered, read_events, serving

_SPEC = find_spec("canitoolcall")
_FOLDER = Path(_SPEC.origin).parent / "_data" / "fixtures" / "llama" if _SPEC and _SPEC.origin else None
FIXTURES: list[dict[str, Any]] = [
    json.loads(line)
    for file in sorted(_FOLDER.glob("*.jsonl") if _FOLDER else ())
    for line in file.read_text("utf-8").splitlines()
]
CUT_OFF_LIST = "llama/l4-truncated-missing-close-bracket"
"""Of such a list, the calls that were complete are called here (principle 3)."""
AT_ONCE = 100
"""How many choices one request asks for: each is the same text, cut in another way."""

pytestmark = pytest.mark.skipif(not FIXTURES, reason="canitoolcall is not installed")


def cuttings(text: str) -> list[list[str]]:
    """The text in two pieces, cut at every place, and in pieces of one size, for every size up to 16."""
    halves = [[text[:at], text[at:]] for at in range(1, len(text))]
    return [*halves, *([text[at : at + size] for at in range(0, len(text), size)] for size in range(1, 17))]


def streamed(ways: Sequence[Sequence[str]], reason: str) -> Answer:
    """One stream in which each choice is the text, cut in its own way."""
    rows = zip_longest(*ways)
    parts = [chunk({"content": piece}, index=at) for row in rows for at, piece in enumerate(row) if piece is not None]
    ends = [chunk({}, reason, index=at) for at in range(len(ways))]
    data = b"".join([*parts, *ends, b"data: [DONE]\n\n"])
    return events(*(data[at : at + 50_000] for at in range(0, len(data), 50_000)))


def expected(fixture: dict[str, Any]) -> tuple[str, list[tuple[str, object]]]:
    if "expected_error" in fixture:
        return fixture["raw_output"].strip(), []
    wanted = fixture["expected"]
    calls = [(call["name"], call["arguments"]) for call in wanted["tool_calls"]]
    return (wanted["content"] or "").strip(), calls


def read(content: str | None, functions: list[dict[str, Any]]) -> tuple[str, list[tuple[str, object]]]:
    return (content or "").strip(), [(call["name"], json.loads(call["arguments"])) for call in functions]


def ask(served: Served, fixture: dict[str, Any], **fields: object) -> Any:
    return served.chat(tools=fixture["tools"], **fields)


def test_there_are_34():
    assert len(FIXTURES) == 34


@pytest.mark.parametrize("fixture", [one for one in FIXTURES if one["id"] != CUT_OFF_LIST], ids=lambda one: one["id"])
def test_a_fixture_is_read_as_it_expects(fixture: dict[str, Any]):
    text = fixture["raw_output"]
    reason = "length" if "truncated" in fixture["tags"] else "stop"
    ways = cuttings(text)
    batches = [ways[at : at + AT_ONCE] for at in range(0, len(ways), AT_ONCE)]
    message = {"role": "assistant", "content": text}
    whole = completion([{"index": 0, "message": message, "finish_reason": reason}])
    # The fixtures are about reading: nothing is asked again, and arguments are as they were written.
    with serving([whole, *(streamed(batch, reason) for batch in batches)], coerce=False, retries=0) as served:
        answer = ask(served, fixture).json()["choices"][0]["message"]
        functions = [call["function"] for call in answer.get("tool_calls", ())]
        assert read(answer["content"], functions) == expected(fixture)
        for batch in batches:
            choices = gathered(read_events(ask(served, fixture, stream=True, n=len(batch))))
            assert len(choices) == len(batch)
            for choice in choices.values():
                assert read(choice.content, choice.calls) == expected(fixture)
