"""The command that counts, and lists, what is extracted from outputs of real models."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from llama3_tools import Event, ExtractionStream, Extractor, TextDelta

pytestmark = pytest.mark.no_cover  # much of the same: other tests cover what these try

ROOT = Path(__file__).parents[2]
BENCHMARK = str(ROOT / "benchmarks" / "real_outputs.py")
PUBLISHED = ROOT.parent / "shared" / "corpus" / "real_outputs.jsonl"
CALL = '{"name": "f", "parameters": {}}'
OUTPUTS = [
    f"Look:\n{CALL}; <tool_call>{CALL}</tool_call>\u2028Done.",
    "[f(a=1)]",
    '{"name": "f", "parameters": {oops}}',
    "Hello.",
]


def write(path: Path, outputs: list[str]) -> str:
    """Write a file of outputs, with an empty line in it."""
    lines = [json.dumps({"raw_output": output, "model": "x"}, ensure_ascii=False) for output in outputs]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_it_counts_outputs_calls_and_rejections(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    runpy.run_path(BENCHMARK)["main"]([write(tmp_path / "outputs.jsonl", OUTPUTS)])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["default", "all"],
        ["outputs", "4", "4"],
        ["with", "neither", "2", "1"],
        ["with", "calls", "1", "2"],
        ["with", "rejections", "only", "1", "1"],
        [],
        ["calls", "2", "3"],
        ["json", "1", "1"],
        ["tool_call", "1", "1"],
        ["pythonic", "0", "1"],
        [],
        ["rejections", "1", "1"],
        ["malformed", "1", "1"],
    ]


def test_it_lists_what_became_of_each_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write(tmp_path / "outputs.jsonl", OUTPUTS[:3])
    runpy.run_path(BENCHMARK)["main"](["--list-all", path])
    listed, _, _ = capsys.readouterr().out.partition(f"{'default':>33}")
    assert listed.splitlines() == [
        "line 1",
        "  text      Look:",
        "  removed   ",
        "          | ",
        f"  call      {CALL}",
        "  removed   ; <tool_call>",
        f"  call      {CALL}",
        r"  removed   </tool_call>\u2028",
        "  text      Done.",
        "  =         <ToolCall f({}) json 6:37>",
        "  =         <ToolCall f({}) tool_call 50:81>",
        "",
        "line 3",
        "  removed   [",
        "  call      f(a=1)",
        "  removed   ]",
        '  =         <ToolCall f({"a": 1}) pythonic 1:7>',
        "",
        "line 5",
        '  rejected  {"name": "f", "parameters": {',
        "  text      oops}}",
        "  =         <Rejection 0:29 of 'f' malformed: expected a key or '}' at offset 29, found 'o'>",
        "",
    ]


class Losing(Extractor):
    """An extractor whose stream keeps the text to itself."""

    def stream(self, *, keep_content: bool = True) -> ExtractionStream:
        stream = super().stream(keep_content=keep_content)
        feed, flush = stream.feed, stream.flush
        losing = SimpleNamespace(
            feed=lambda text: without_text(feed(text)),
            flush=lambda: without_text(flush()),
            read_whole=stream.read_whole,
            keep_trace=stream.keep_trace,
        )
        return cast("ExtractionStream", losing)


def without_text(events: list[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, TextDelta)]


@pytest.mark.parametrize(
    "output", [f"Two {CALL}", f"> ] {CALL}", f"{CALL}. <b>", f"<tool_call>{CALL}</tool_call>. <|anything|>"]
)
def test_text_that_is_lost_is_told_with_its_line(output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write(tmp_path / "outputs.jsonl", [CALL, output])
    runpy.run_path(BENCHMARK)["main"]([path])
    capsys.readouterr()
    main = runpy.run_path(BENCHMARK)["main"]
    main.__globals__["READINGS"]["all"] = Losing()
    with pytest.raises(SystemExit) as stopped:
        main([path])
    assert stopped.value.code == 1
    assert capsys.readouterr().err.startswith(f"{path}, line 3: nothing accounts for ")


def test_what_an_output_raises_is_told_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def broken() -> str:
        raise LookupError("no id")

    path = write(tmp_path / "outputs.jsonl", ["Hello.", CALL])
    main = runpy.run_path(BENCHMARK)["main"]
    main.__globals__["READINGS"]["all"] = Extractor(id_factory=broken)
    with pytest.raises(SystemExit) as stopped:
        main([path])
    assert stopped.value.code == 1
    assert capsys.readouterr().err == f"{path}, line 3: raised LookupError('no id')\n"


GOOD = '{"raw_output": "Hello."}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{GOOD}\n\n{{oops", "outputs.jsonl, line 3: expected an output such as"),
        (f"{GOOD}\n5", "outputs.jsonl, line 2: expected an output such as"),
        ('{"output": "Hello."}', "outputs.jsonl, line 1: expected an output such as"),
        ('{"raw_output": null}', "outputs.jsonl, line 1: expected an output such as"),
        ("\n", "outputs.jsonl: no outputs in it"),
        (None, "outputs.jsonl cannot be read: "),
    ],
)
def test_a_file_that_is_none_is_named_with_its_line(
    text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    outputs = tmp_path / "outputs.jsonl"
    if text is not None:
        outputs.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(BENCHMARK)["main"]([str(outputs)])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.skipif(not PUBLISHED.is_file(), reason="the corpus of real outputs is not beside the repository")
def test_the_page_has_the_figures_of_the_published_outputs(capsys: pytest.CaptureFixture[str]):
    runpy.run_path(BENCHMARK)["main"]([str(PUBLISHED)])
    page = (ROOT / "docs" / "what-llama-3-writes.md").read_text(encoding="utf-8")
    assert f"```text\n{capsys.readouterr().out}```" in page
