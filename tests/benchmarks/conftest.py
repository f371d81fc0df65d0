"""A made-up leaderboard: as much of it as `make bfcl` uses."""

from __future__ import annotations

import ast
import gc
import json
from pathlib import Path
from typing import Any

import pytest

import bfcl
from bfcl_package import Leaderboard, decoder, evaluated

CLOCK = {"name": "clock.now", "parameters": {"type": "dict", "properties": {"zone": {"type": "String"}}}}
TIMER = {"name": "timer", "parameters": {"type": "dict", "properties": {"minutes": {"type": "integer"}}}}
QUESTIONS = {
    "simple_python_0": [{"clock.now": {"zone": ["CET"]}}],
    "simple_python_1": [{"timer": {"minutes": [3]}}],
    "simple_python_2": [{"timer": {"minutes": [25]}}],
    "parallel_0": [{"timer": {"minutes": [3]}}, {"timer": {"minutes": [5]}}],
    "irrelevance_0": None,
    "live_relevance_0-0-0": None,
    "simple_java_0": [{"clock.now": {"zone": ["CET"]}}],
}
"""The questions, and what is right; all with both functions."""


def _decoded_in_python(text: str) -> list[dict[str, object]]:
    parsed = ast.parse(text if text.startswith("[") else f"[{text}]", mode="eval").body
    assert isinstance(parsed, ast.List)
    calls = [call for call in parsed.elts if isinstance(call, ast.Call)]
    assert len(calls) == len(parsed.elts)
    return [
        {ast.unparse(call.func): {str(one.arg): evaluated(ast.unparse(one.value)) for one in call.keywords}}
        for call in calls
    ]


def _decoded_of_llama(text: str) -> list[dict[str, object]]:
    calls = [evaluated(one) for one in text.split(";")]
    return [{call["name"]: call["parameters"]} for call in calls]


def _decoded_of_hermes(text: str) -> list[dict[str, object]]:
    inner = text.partition("<tool_call>")[2].partition("</tool_call>")[0]
    calls = [json.loads(inner)] if inner else []
    return [{call["name"]: call["arguments"]} for call in calls]


def _check(_: object, calls: list[dict[str, Any]], answer: list[dict[str, Any]], *_others: object) -> dict[str, Any]:
    right = [{name: {key: values[0] for key, values in one[name].items()} for name in one} for one in answer]
    return {"valid": calls == right, "error_type": "value_error:others"}


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _data() -> dict[str, str]:
    files: dict[str, str] = {}
    for id_, answer in QUESTIONS.items():
        name = f"BFCL_v4_{id_.rpartition('_')[0]}.json"
        asked, truth = name, f"possible_answer/{name}"
        files[asked] = files.get(asked, "") + json.dumps({"id": id_, "function": [CLOCK, TIMER]}) + "\n"
        if answer is not None:
            files[truth] = files.get(truth, "") + json.dumps({"id": id_, "ground_truth": answer}) + "\n"
    return files


@pytest.fixture(scope="module", autouse=True)
def _small_collections() -> None:
    """Keep the garbage collector from what other tests left: each time that is measured begins with a collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the leaderboard's questions, decoders and checker be made up."""
    _write(tmp_path / "data", {**_data(), "BFCL_v4_multi_turn_base.json": '{"id": "multi_turn_base_0"}\n'})
    decoders = {"python": _decoded_in_python, "llama 3.1": _decoded_of_llama, "hermes": _decoded_of_hermes}
    made_up = Leaderboard({name: decoder(one) for name, one in decoders.items()}, _check, "python", tmp_path / "data")
    monkeypatch.setattr(bfcl, "leaderboard", lambda: made_up)
