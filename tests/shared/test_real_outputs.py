"""Outputs of real models, where the corpus lies beside the repository. None of it is copied into the project.

Its invariants: nothing raises; streamed is one-shot; the text out is the text in without calls, wrappers,
protocol tokens and delimiters; a call is where its span says; no call comes from cut-off output.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools import Extraction, extract

pytestmark = pytest.mark.no_cover  # much of the same: other tests cover what these try

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "real_outputs.jsonl"

if not CORPUS.is_file():
    pytest.skip("the corpus of real outputs is not beside the repository", allow_module_level=True)

OUTPUTS = [json.loads(line)["raw_output"] for line in CORPUS.read_text(encoding="utf-8").splitlines()]

_VANISHES = re.compile(
    r"[\s;,]|<\|(?:python_tag|python_start|python_end|eom_id|eot_id|im_start\|>assistant<\|end_header_id|im_start)\|>"
    r"|</?(?:tool(?:_call)?|function(?:_?call)?)>|<functioncall\s+>|```(?:json|python|tool_call)?"
)


def without_calls(output: str, extraction: Extraction) -> str:
    """Cut the calls out of an output by their spans."""
    pieces, end = [], 0
    for call in extraction.tool_calls:
        pieces.append(output[end : call.span[0]])
        end = call.span[1]
    return " ".join([*pieces, output[end:]])


@pytest.mark.parametrize("output", OUTPUTS, ids=range(len(OUTPUTS)))
def test_nothing_is_lost_and_nothing_invented_in_any_chunking(output: str):
    extraction = extract_in_every_chunking(output)
    kept = _VANISHES.sub("", extraction.content or "")
    assert kept == _VANISHES.sub("", without_calls(output, extraction))
    for call in extraction.tool_calls:
        written = output[slice(*call.span)]
        assert call.name in written
        assert call.arguments_json in written or json.dumps(call.arguments_json)[1:-1] in written
        assert json.loads(call.arguments_json) == call.arguments


@pytest.mark.parametrize("output", OUTPUTS, ids=range(len(OUTPUTS)))
def test_the_calls_of_a_cut_off_output_are_the_first_calls_of_the_whole(output: str):
    whole = [call.span for call in extract(output).tool_calls]
    for end in range(0, len(output), max(1, len(output) // 200)):
        cut_off = [call.span for call in extract(output[:end]).tool_calls if call.format != "function"]
        # Rule 9: a function tag that is open at the end is a call, and none if something else follows.
        assert cut_off == whole[: len(cut_off)], end


def test_much_of_the_corpus_holds_calls():
    """So that an extractor that finds nothing cannot pass the tests above."""
    assert sum(extract(output).tools_called for output in OUTPUTS) > len(OUTPUTS) // 3
