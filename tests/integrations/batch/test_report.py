"""`--report`: what a model does wrong, on a terminal, as a page and as JSON."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from batches import CALL, OUTPUTS, TOOL, extract_files, write_jsonl
from llama3_batch.cli.report_screen import print_report
from llama3_batch.columns import Columns
from llama3_batch.report import sections
from llama3_batch.rows import RowReader
from llama3_batch.summary import MOST_NAMES, OTHERS, Example, Finding, Summary, loaded_summary
from llama3_tools import ReadOptions


@pytest.fixture
def report(tmp_path: Path) -> tuple[str, str, dict[str, Any]]:
    """What is printed for outputs of all kinds, the page, and the JSON."""
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([TOOL]), "utf-8")
    wrong = CALL.replace('"Paris"', "[]")
    lines: list[Any] = [{"text": text} for text in (*OUTPUTS, wrong)]
    path = write_jsonl(tmp_path / "a.jsonl", [*lines, {"text": None}, {"text": "<script>" + CALL[:-1]}])
    done = extract_files("--jsonl", path, "--tools", tools, "--report")
    assert done.exit_code == 0, done.output
    folder = tmp_path / "extracted"
    assert done.stdout.endswith(f"written: {folder}/report.html\nwritten: {folder}/report.json\n")
    page = (folder / "report.html").read_text("utf-8")
    return done.stdout, page, json.loads((folder / "report.json").read_text("utf-8"))


def test_the_terminal_has_it_in_a_minute(report: tuple[str, str, dict[str, Any]]) -> None:
    printed, _, _ = report
    lines = [line.strip() for line in printed.splitlines()]
    assert "9 outputs" in lines
    assert "3  33.3%  with calls" in lines
    assert "3  33.3%  tried to call, but call nothing" in lines
    assert "1  11.1%  could not be read" in lines
    assert "2  50.0%  truncated  2 attempts" in lines
    assert "row 3 of a.jsonl: the output ends inside it" in printed
    assert "1  100.0%  rm" in lines
    assert "4  80.0%  get_weather $.days: integer" in lines
    assert "1  20.0%  get_weather $.city: string  1 misfit" in lines
    assert "row 7 of a.jsonl: no_text: there is no 'text'" in lines
    assert not any(line != line.rstrip() for line in printed.splitlines())


def test_an_attempt_that_broke_is_shown_beyond_where_it_did() -> None:
    text, summary = '{"name": "f", "parameters": {oops}} Done.', Summary()
    summary.add_row(("a", 0), RowReader(Columns("text"), None, ReadOptions()).read({"text": text}))
    assert summary.tables["failing"]["malformed"].examples[0].text == text


def test_the_json_has_all_counts_and_examples(report: tuple[str, str, dict[str, Any]]) -> None:
    _, _, written = report
    assert next(iter(written["files"])).endswith("a.jsonl")
    numbers = {"rows": 9, "calling": 3, "undeclared": 0, "calls": 4, "repaired": 0, "deviating": 0}
    assert written["counts"] == numbers
    tables = written["tables"]
    counts = {table: {name: one["count"] for name, one in found.items()} for table, found in tables.items()}
    assert counts == {
        "failing": {"truncated": 2, "unknown_tool": 1},
        "rejections": {"truncated": 2, "quoted": 1, "unknown_tool": 1},
        "unknown_tools": {"rm": 1},
        "arguments": {"get_weather $.days: integer": 4, "get_weather $.city: string": 1},
        "tools": {"get_weather": 4},
        "forms": {"json": 2, "tool_call": 2},
        "errors": {"no_text": 1},
    }
    assert tables["failing"]["truncated"]["examples"][0]["text"] == CALL[:-5]
    assert tables["rejections"]["quoted"]["examples"] == [
        {"file": "a.jsonl", "row": 4, "detail": "in a code span", "text": CALL}
    ]


class Tags(HTMLParser):
    """The tags of a page, and whether they are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 (as the base class has it)
        self.seen.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_runs_and_loads_nothing(report: tuple[str, str, dict[str, Any]]) -> None:
    _, page, _ = report
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe"} & {*tags.seen}
    assert "default-src 'none'" in page
    assert "&lt;script&gt;" not in page
    assert re.search(r"get_weather \$\.days: integer.*4</td><td>80.0%", page, re.DOTALL)


def test_a_page_shows_what_a_model_wrote_as_text(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "a.jsonl", [{"text": '{"name": "<script>alert(1)</script>\u202e", "parameters": {}}'}]
    )
    extract_files("--jsonl", path, "--report")
    page = (tmp_path / "extracted" / "report.html").read_text("utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in page
    assert "<script" not in page


def test_without_tools_the_first_line_says_what_was_not_read(tmp_path: Path) -> None:
    unread = ['search(query="x")', '{"tool": "f", "tool_input": {"a": 1}}']
    outputs = [CALL, *unread, "Hello, print(1).", "```python\nx = 1\nprint(a=x)\n```"]
    path = write_jsonl(tmp_path / "a.jsonl", [*({"text": text} for text in outputs), {}])
    first = (
        "No tools were declared for 5 outputs, so forms that need declared tools were not read. "
        "2 outputs look like them: add --tools with your tools."
    )
    assert extract_files("--jsonl", path, "--report").stdout.splitlines()[2] == first
    assert first in (tmp_path / "extracted" / "report.html").read_text("utf-8")
    found = json.loads((tmp_path / "extracted" / "report.json").read_text("utf-8"))["tables"]["unread"]
    assert [one["examples"][0]["text"] for one in found.values()] == unread
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "search"}]), "utf-8")
    declared = extract_files("--jsonl", path, "--report", "--tools", tools, "--out", tmp_path / "out").stdout
    assert "No tools were declared" not in declared


def test_reports_of_several_files_are_one(tmp_path: Path) -> None:
    paths = [write_jsonl(tmp_path / f"{name}.jsonl", [{"text": CALL}] * 2) for name in "ab"]
    printed = extract_files("--jsonl", *paths, "--report", "--out", tmp_path / "out").stdout
    assert "4 outputs" in printed
    assert (tmp_path / "out" / "report.json").exists()
    again = extract_files("--jsonl", *paths, "--report", "--out", tmp_path / "out").stdout
    assert again == printed  # from what was kept


def test_names_beyond_the_first_are_counted_together() -> None:
    names = {f"a{number}": Finding(1) for number in range(MOST_NAMES)}
    summary, more = Summary(), Summary(Counter(calls=3), {"arguments": names})
    for each in (Summary(), more, Summary()):
        summary.merge(each)
    other = Finding(2, marked=1, examples=[Example("a", 1, "b", "c")])
    summary.merge(Summary(Counter(calls=1), {"arguments": {"b": other, "a0": Finding(1)}}))
    found = summary.tables["arguments"]
    assert (summary.counts["calls"], len(found), found[OTHERS], found["a0"].count) == (4, MOST_NAMES + 1, other, 2)
    assert loaded_summary(json.loads(json.dumps(summary.written()))) == summary


def test_a_model_that_makes_up_names_fills_no_screen() -> None:
    screen = Console(file=io.StringIO(), width=200)
    print_report(screen, Summary(Counter(rows=20), {"tools": {f"f{number:02}": Finding(1) for number in range(20)}}))
    printed = screen.file.getvalue()
    assert ("f11" in printed, "f12" in printed, "and 8 more" in printed) == (True, False, True)


def test_a_summary_without_anything_has_no_tables() -> None:
    assert sections(Summary()) == []


def test_what_was_repaired_or_deviates_is_said() -> None:
    counts = Counter(rows=3, calling=3, calls=3, repaired=2, deviating=1)
    (section,) = sections(Summary(counts, {"tools": {"f": Finding(3)}}))
    assert section.explanation == "3 in all, 2 repaired, 1 deviating."
