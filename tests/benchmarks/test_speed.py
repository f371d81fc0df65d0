"""The command that measures: what it measures is there, and what it finds out is written down. No time is asserted."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

import speed
from adapters import adapters, growth_of_adapters
from chunkings import extract_in_every_chunking
from comparing import figures_of
from extraction import answers, build, published_shapes, targets
from figures import WHOLE, Growth, Row, Target, growth_factor
from growth import faster_than_linear, grown
from imports import imports
from llama3_tools.reader.window import Window
from measuring import chunks_of, streamed
from memory import STREAMS, Memory
from outputs import MARKDOWN, PROSE, REAL_SHAPES, TOOLS
from pages import table
from speed import main
from workloads import GROWING, TYPICAL, Workload

SIZE = 4096
MEMORY = [workload.name for workload, *_ in STREAMS]
TARGETS = [
    "`<tool_call>`",
    "`<tool_call>`, 5 tools, coercion",
    "text and JSON",
    "fences with JSON",
    "ChatML",
    "500 characters of prose",
    "500 characters of prose, 5 tools",
    "500 characters of Markdown",
    "500 characters of Markdown, 5 tools",
    "stream by 4 characters: `<tool_call>`",
    "stream by 4 characters: text and JSON",
    "stream by 4 characters: fences with JSON",
    "stream by 4 characters: ChatML",
    "stream by 4 characters: prose",
    "stream by 4 characters: Markdown",
    "stream by 4 characters: `<tool_call>`, 5 tools, coercion",
    "stream by 4 characters: prose, 5 tools",
    "stream by 4 characters: Markdown, 5 tools",
    "an extractor for 100 tools",
    "an extractor for 1,000 tools",
]
HARDEST = ["prose with braces", "calls", "`[`", "`[[[…A`", "`[<tool>[`", "`[<tool>[`, with tools"]
GROWTH = [
    *(f"{how}: {name}" for name in HARDEST for how in ("growth", "growth by 4 characters")),
    *(f"a late chunk: {name}" for name in HARDEST),
]


def rows(lines: Iterator[str] | list[str]) -> list[list[str]]:
    """The cells of the rows of tables."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def arguments_of(call: str) -> dict[str, Any]:
    """The arguments of a call in JSON, under either key."""
    members = json.loads(call)
    return members.get("arguments") or members["parameters"]


def outputs_in(folder: Path, copies: int) -> Path:
    """A file of so many outputs of each shape."""
    return written_in(folder, [{"raw_output": text} for text, _ in REAL_SHAPES.values()] * copies)


def written_in(folder: Path, lines: Iterable[object]) -> Path:
    outputs = folder / "outputs.jsonl"
    outputs.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return outputs


def published(copies: int, how: str = "") -> list[str]:
    """What the outputs in such a file are called."""
    tagged, *others = (f"{name}, {copies} real outputs" for name in REAL_SHAPES)
    return [tagged, f"{tagged}, own tools{how}", *others]


def test_the_typical_output_is_as_long_as_it_says():
    assert len(TYPICAL) == 200


@pytest.mark.parametrize("workload", GROWING, ids=[workload.name for workload in GROWING])
def test_the_calls_that_are_in_an_output_are_found(workload: Workload):
    extractor, text = workload.extractor(), workload.make(SIZE)
    in_chunks, whole = streamed(extractor, chunks_of(text, 16)), extractor.extract(text)
    assert [len(one.tool_calls) for one in (in_chunks, whole)] == [workload.calls_in(SIZE)] * 2
    assert text.startswith(workload.begin(SIZE * workload.scale))


def test_no_two_outputs_have_one_name():
    assert len({workload.name for workload in GROWING}) == len(GROWING)


def test_it_prints_the_targets_and_puts_them_into_the_files_that_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(speed, "FULL", replace(speed.FULL, repeats=1, late=2 * SIZE))  # a megabyte takes a minute
    monkeypatch.setattr(speed, "targets", partial(targets, files=[outputs_in(tmp_path, 2)]))
    page, other, written, drawn = (tmp_path / name for name in ("speed.md", "other.md", "speed.json", "speed.svg"))
    before = "<!-- memory -->\nOld.\n<!-- end -->\nSlow:\n<!-- targets -->\n"
    page.write_text(f"{before}Old.\n<!-- end -->\nNo more.\n", encoding="utf-8")
    other.write_text("<!-- targets -->\n<!-- end -->\n", encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        main(["--only", "targets", "--page", str(page), str(other), "--json", str(written), "--plot", str(drawn)])
    assert stopped.value.code == 0
    printed = capsys.readouterr().out.strip()
    names = [row[0] for row in rows(printed.splitlines())]
    assert [name for name in names if "real outputs" not in name] == ["", *TARGETS, *GROWTH]
    assert [name for name in names if "real outputs" in name] == published(2, ", coercion")
    assert re.fullmatch(r"Measured on \d{4}-\d\d-\d\d: processor .+, Python .+", printed.splitlines()[-1])
    assert page.read_text(encoding="utf-8") == f"{before}\n{printed}\n\n<!-- end -->\nNo more.\n"
    assert other.read_text(encoding="utf-8") == f"<!-- targets -->\n\n{printed}\n\n<!-- end -->\n"
    figures = json.loads(written.read_text(encoding="utf-8"))
    assert {"processor", "system", "Python", "llama3-tools"} <= figures["machine"].keys()
    assert [one["name"] for one in figures["targets"]] == names[1:]
    assert len(figures["figures"]) == len(names) - 1
    assert "text and JSON" in drawn.read_text(encoding="utf-8")


def test_it_measures_an_answer_of_each_shape():
    measured = list(answers(1))
    assert [one.name for one in measured] == [*REAL_SHAPES, "prose", "Markdown"]
    assert all(min(one.figures.values()) > 0 for one in measured)
    assert rows(table(measured[-1:]))[1][:2] == ["Markdown", "500"]


def test_it_measures_the_memory_of_streams_and_tells_what_changed_since_another_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"figures": {"memory: prose, beside": 1, "memory: gone, beside": 1}}), encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["--quick", "--only", "memory", "--compare", str(old), "--json", str(new)])
    printed = capsys.readouterr().out.splitlines()
    assert [row[0] for row in rows(printed)] == ["memory of a stream", *MEMORY]
    (told,) = [line for line in printed if ", now " in line]
    assert told.startswith("memory: prose, beside: 1, now ")
    streams = [Memory(**one) for one in json.loads(new.read_text(encoding="utf-8"))["memory"]]
    assert [one.name for one in streams] == MEMORY
    assert [one.name for one in streams if one.beside >= 2 * one.size] == []  # no more than twice its text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--compare", "gone.json"], "gone.json: No such file or directory"),
        (["--compare", "page.md"], "page.md has no figures, as --json writes them"),
        (["--compare", "list.json"], "list.json has no figures, as --json writes them"),
        (["--compare", "empty.json"], "empty.json has no figures, as --json writes them"),
        (["--only", "growth", "--named", "nothing"], "--named 'nothing' is in none of these: "),
        (["--quick", "--named", "nothing"], ", an array of calls, "),
        (["--quick", "--page", "page.md"], "--page takes whole tables: not with --quick, nor with --named"),
        (["--named", "calls", "--page", "page.md"], "--page takes whole tables: not with --quick, nor with --named"),
    ],
)
def test_what_is_not_there_is_told_of_before_anything_is_measured(
    options: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name, text in (("page.md", "# Speed"), ("list.json", "[]"), ("empty.json", '{"figures": 1}')):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([*options, "--json", "new.json"])
    told = capsys.readouterr()
    assert (ended.value.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert words in told.err
    assert not (tmp_path / "new.json").exists()


def test_the_growth_is_drawn_beside_the_targets(tmp_path: Path):
    plot = pytest.importorskip("plot").plot
    drawn = tmp_path / "speed.svg"
    row = Growth("open braces", {WHOLE: [8, 16, 32], 4: [8, 16, 32]}, {WHOLE: [1.0, 2.0, 4.0], 4: [2.0, 4.0, 8.0]}, 1.2)
    plot(drawn, [Target("prose", 2.0, "µs", 3.0)], [row])
    assert all(name in drawn.read_text(encoding="utf-8") for name in ("prose", "linear"))


def test_growth_is_measured_whole_and_in_chunks():
    (workload,) = (one for one in GROWING if one.name == "an array of calls")
    (row,) = grown([workload], {WHOLE: SIZE, 4: SIZE}, 4 * SIZE, 1)
    lengths = [[len(workload.make(SIZE * scale * factor)) for factor in (1, 2, 4)] for scale in (1, 2, 4)]
    assert row.sizes.keys() == {WHOLE, 4}
    assert all(sizes in lengths for sizes in row.sizes.values())  # by chance, it may look faster than linear at first
    assert row.factor(WHOLE) > 0
    assert figures_of({"growth": [row]}).keys() == {
        "growth: an array of calls, whole",
        "growth: an array of calls, by 4",
        "growth: an array of calls, late",
    }


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ([1.0, 2.0, 4.0], []),
        ([1.0, 2.19, 4.3], []),
        ([1.0, 4.0, 16.0], ["'open braces', in chunks of 4: 4.00 times the time for twice the size"]),
        ([1.0, 2.0, 4.5], ["'open braces', in chunks of 4: 2.25 times the time for twice the size"]),
    ],
)
def test_what_grows_faster_than_its_output_is_told(seconds: list[float], told: list[str]):
    row = Growth("open braces", {WHOLE: [8, 16, 32], 4: [8, 16, 32]}, {WHOLE: [1.0, 1.0, 1.0], 4: seconds}, 1.2)
    assert list(faster_than_linear([row])) == told


def test_a_stream_that_copies_all_that_came_before_for_each_chunk_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """A slow memory is made up: a copy takes a microsecond a character on any machine, whatever else it does."""
    seconds_of_processor, seconds_of_copies = time.process_time, 0.0

    class Copying(Window):
        length = 0

        def add(self, chunk: str) -> None:
            nonlocal seconds_of_copies
            self.length += len(chunk)
            seconds_of_copies += self.length / 1_000_000
            super().add(chunk)

    monkeypatch.setattr(speed, "_QUICK", replace(speed._QUICK, growth={WHOLE: SIZE}, late=8 * SIZE))  # noqa: SLF001
    monkeypatch.setattr(time, "process_time", lambda: seconds_of_processor() + seconds_of_copies)
    monkeypatch.setattr("llama3_tools.reader.turn.Window", Copying)
    with pytest.raises(SystemExit) as stopped:
        main(["--quick", "--named", "prose with braces"])
    assert stopped.value.code == 1
    assert "'prose with braces': late in a stream, a chunk takes " in capsys.readouterr().out


def test_growth_is_of_the_lengths_that_there_were():
    assert growth_factor([10, 30], [1.0, 3.0]) == pytest.approx(2)


def test_what_the_adapters_add_is_measured_for_both_frameworks():
    measured: list[Row] = list(adapters(1))
    assert {row.name.partition(":")[0] for row in measured} == {"LangChain", "LlamaIndex"}
    assert {cell for cells in rows(list(table(measured)))[1:] for cell in cells[-1:]} == {"message", "chunk"}


def test_the_growth_of_the_adapters_is_measured_for_both_frameworks():
    assert [[*cells[:2]] for cells in rows(table(growth_of_adapters(10)))[1:]] == [
        ["LangChain: parser.transform, text", "40"],
        ["LangChain: parser.transform, calls", "40"],
        ["LlamaIndex: parser.stream, text", "40"],
        ["LlamaIndex: parser.stream, calls", "40"],
    ]


def test_an_import_is_measured_against_another():
    """Those of the adapters take seconds. What they are measured against is imported in `tests/packaging`."""
    row = next(imports(1))
    assert (row.name, row.target) == ("import llama3_tools", 1.5)
    assert 0 < row.ratio < 100


def test_the_targets_are_measured_on_outputs_as_long_as_they_say():
    assert (len(PROSE), len(MARKDOWN)) == (500, 500)
    assert {name: len(text) // 100 for name, (text, _) in REAL_SHAPES.items()} == {
        "`<tool_call>`": 3,
        "text and JSON": 5,
        "fences with JSON": 10,
        "ChatML": 15,
    }


@pytest.mark.parametrize("options", [{}, {"tools": TOOLS, "coerce_arguments": True}], ids=["plain", "tools"])
@pytest.mark.parametrize(("text", "calls"), REAL_SHAPES.values(), ids=REAL_SHAPES)
def test_the_calls_in_the_outputs_of_the_targets_are_found(text: str, calls: list[str], options: dict[str, Any]):
    extraction = extract_in_every_chunking(text, **options)
    assert [call.arguments for call in extraction.tool_calls] == [arguments_of(call) for call in calls]


def test_published_outputs_are_measured_where_they_are(tmp_path: Path):
    names = [shape.name for shape in published_shapes([outputs_in(tmp_path, 1), tmp_path / "gone.jsonl"])]
    assert names == published(1)


def test_published_outputs_are_read_with_the_tools_that_are_declared_for_each(tmp_path: Path):
    text, _ = REAL_SHAPES["`<tool_call>`"]
    lines = [{"raw_output": text, "tools": tools} for tools in (TOOLS, [{"name": "another"}])]
    outputs = written_in(tmp_path, lines)
    plain, declaring = published_shapes([outputs])
    assert (plain.texts, plain.tools) == ([text, text], ())
    assert (declaring.texts, [[tool["name"] for tool in json.loads(tools)] for tools in declaring.tools]) == (
        [text],  # the other one calls a tool that it does not have
        [[tool["function"]["name"] for tool in TOOLS]],
    )
    shapes = takewhile(lambda target: "characters" not in target.name, targets(1, SIZE, [outputs]))
    assert {target.name: target.target for target in shapes if "real" in target.name} == {
        "`<tool_call>`, 2 real outputs": 10,
        "`<tool_call>`, 1 real outputs, own tools, coercion": 14,
    }


def test_an_extractor_is_built_for_as_many_tools_as_it_says():
    assert len(set(build(103).tools)) == 103
