"""What the page *Try it* asks of the library, and how its files come into the site; `test_try_it_page.py` uses it."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
from dataclasses import fields
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from llama3_tools import Extraction, Extractor, FormatName, Limits, ReadOptions
from llama3_tools.cli.group import llama3_tools
from llama3_tools.text.escaping import escape_invisible

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "docs" / "assets" / "try-it"
PAGE = (ROOT / "docs" / "try-it.md").read_text("utf-8")
EXAMPLES: list[dict[str, Any]] = json.loads((ASSETS / "examples.json").read_text("utf-8"))
CALL = '{"name": "f", "parameters": {"a": 1}}'


def module_at(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


READING = module_at(ASSETS / "reading.py")
RUNTIME = module_at(ROOT / "tools" / "browser_runtime.py")


def ask(kind: str, text: str, **asked: object) -> Any:
    return json.loads(READING.answer(json.dumps({"kind": kind, "text": text, **asked})))


def extractor_for(state: dict[str, Any]) -> Extractor:
    options = dict(state.get("options", {}))
    if "limits" in options:
        options["limits"] = Limits(**options["limits"])
    return Extractor(json.loads(state["tools"]) if "tools" in state else None, **options)


def extracted(state: dict[str, Any]) -> Extraction:
    return extractor_for(state).extract(state["text"], complete=state.get("complete", True))


EVERYTHING = {
    "text": f"<think>Hm\r\n\u202e\u00e9</think> \ud83d\n{CALL} \x1b {CALL[:-1]}",
    "tools": json.dumps([{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]),
    "options": {
        "coerce_arguments": True,
        "formats": ["json", "pythonic"],
        "limits": {"max_calls": 1},
        "on_unknown_tool": "call",
        "progress": True,
        "repair": True,
        "split_reasoning": True,
    },
    "complete": False,
}
STATES = {**{one["title"]: one["state"] for one in EXAMPLES}, "all options": EVERYTHING, "nothing": {"text": ""}}


@pytest.mark.parametrize("example", EXAMPLES, ids=[one["title"] for one in EXAMPLES])
def test_an_example_shows_what_its_title_says(example: dict[str, Any]):
    answered = ask("read", **example["state"])
    rejected = [one["subject"] for one in answered["explanations"] if one["kind"] == "rejected"]
    assert ([call["name"] for call in answered["calls"]], rejected) == (example["calls"], example["rejections"])


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_what_is_shown_is_what_is_extracted(state: dict[str, Any]):
    answered, extraction = ask("read", **state), extracted(state)
    assert answered["content"] == (None if extraction.content is None else escape_invisible(extraction.content))
    assert [call["arguments"] for call in answered["calls"]] == [call.usable_json for call in extraction.tool_calls]
    assert [tuple(call["span"]) for call in answered["calls"]] == [call.span for call in extraction.tool_calls]
    shown = "".join(segment["text"] for segment in answered["segments"])
    assert escape_invisible(shown, exact=True) == escape_invisible(state["text"], exact=True)


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_stream_that_is_played_gives_what_one_reading_gives(state: dict[str, Any], size: int):
    played, extraction = ask("play", chunk=size, **state), extracted(state)
    assert played["is_same"]
    assert "".join(step["chunk"] for step in played["steps"]) == escape_invisible(state["text"])
    events = [event for step in played["steps"] for event in step["events"]]
    streamed = "".join(event.get("content", "") for event in events)
    is_cut = extraction.tool_calls or extraction.reasoning
    assert (streamed.lstrip() if is_cut else streamed) == escape_invisible(extraction.content or "")
    thoughts = "".join(event.get("reasoning", "") for event in events)
    assert thoughts == escape_invisible(extraction.reasoning or "")
    assert [event["call"]["name"] for event in events if "call" in event] == [one.name for one in extraction.tool_calls]


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_the_lines_of_python_do_the_same(state: dict[str, Any]):
    lines = ask("read", **state)["python"] + ask("play", chunk=3, **state)["python"]
    variables: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(lines, variables)  # noqa: S102 - what the page shows
    extraction = extracted(state)
    assert variables["text"] == state["text"]
    assert variables["extraction"] == extraction
    assert variables["stream"].extraction == extraction
    printed_lines = printed.getvalue().splitlines()
    assert printed_lines[: len(str(extraction.content).splitlines())] == str(extraction.content).splitlines()
    assert sum("ToolCallReady(" in line for line in printed_lines) == len(extraction.tool_calls)


def test_the_command_reads_as_the_page_does_whatever_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    state = {**EVERYTHING, "text": EVERYTHING["text"].replace("\ud83d", "")}
    answered, extraction = ask("read", **state), extracted(state)
    Path("reply.txt").write_bytes(f"{state['text']}\n".encode())
    Path("tools.json").write_text(state["tools"], "utf-8")
    words = [word for word in shlex.split(answered["command"])[1:] if word != "--show"]
    line = json.loads(CliRunner().invoke(llama3_tools, words).output)
    assert (line["content"], line["reasoning"]) == (extraction.content, extraction.reasoning)
    assert [call["arguments"] for call in line["tool_calls"]] == [call.arguments for call in extraction.tool_calls]
    assert [one["span"] for one in line["rejections"]] == [list(one.span) for one in extraction.rejections]


def test_no_character_hides_in_what_is_shown():
    answered = json.dumps([ask("read", **EVERYTHING), ask("play", chunk=2, **EVERYTHING)])
    assert not re.search(r"\\u202e|\\u001b|\\ud83d", re.sub(r"\\\\", "", answered))


def test_a_very_long_output_is_not_read_again_with_other_options():
    long, short = f'{"x" * 300_000} {{"tool": "f", "args": {{}}}}', '{"tool": "f", "args": {}}'
    assert [ask("read", text)["is_read_again"] for text in (long, short)] == [False, True]
    assert [ask("read", text)["explanations"][0]["notes"] != [] for text in (long, short)] == [False, True]
    assert ask("read", "x" * 300_000)["remark"] is None


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        ({"tools": "{"}, "tools", "not JSON: Expecting property name enclosed in double quotes"),
        ({"tools": "5"}, "tools", "expected a JSON list of OpenAI tools"),
        ({"tools": "[5]"}, "tools", "tools[0] is an int"),
        ({"tools": "[" * 100_000}, "tools", "nested too deep to be read"),
        ({"tools": '[{"name": "\\u202e", "parameters": 5}]'}, "tools", "the parameters of \\u202e are an int"),
        ({"options": {"repair": True}}, "options", "repair needs the names of the tools"),
        ({"options": {"limits": {"max_depth": 0}}}, "options", "max_depth is at least 1, not 0"),
        ({"options": {"formats": ["tags"]}}, "options", "formats can be json"),
        ({"options": {"odd": True}}, "options", "odd"),
        ({"kind": "play", "chunk": 0}, "chunk", "A chunk has 1 character or more."),
        ({"kind": "play", "chunk": 1, "text": "x" * 20_001}, "chunk", "more than 20,000 chunks: let them have 2"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_place(asked: dict[str, Any], field: str, message: str):
    error = ask(**{"kind": "read", "text": CALL, **asked})["error"]
    assert error["field"] == field
    assert message in error["message"]


def test_the_page_has_every_option():
    names = set(re.findall(r' name="(\w+)"', PAGE))
    assert {one.name for one in fields(ReadOptions)} - {"id_factory", "limits"} <= names
    assert set(Limits._fields) <= names
    assert {"all", "none", *re.findall(r'name="format" value="(\w+)"', PAGE)} == set(get_args(FormatName))
    state = (ASSETS / "state.js").read_text("utf-8")
    (known,) = re.findall(r"FORMATS = (\[.*\]);", state)
    assert json.loads(known) == re.findall(r'name="format" value="(\w+)"', PAGE)
    bounds = {name: int(value) for name, value in re.findall(r'name="(max_\w+)"[^>]* placeholder="(\d+)"', PAGE)}
    assert bounds == Limits()._asdict()


def test_what_a_model_wrote_never_becomes_markup():
    scripts = "".join(script.read_text("utf-8") for script in ASSETS.glob("*.js"))
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", scripts) == []


def test_nothing_is_loaded_from_another_site():
    files = [PAGE, *(file.read_text("utf-8") for file in ASSETS.iterdir() if file.suffix in {".js", ".css"})]
    loaded = r"""(?:src=|<link[^>]*href=|from |import\(|fetch\(|url\()["']?https?:"""
    assert [re.findall(loaded, file) for file in files] == [[]] * len(files)


class TestRuntime:
    """What `make docs` puts into the site."""

    @pytest.fixture(autouse=True)
    def _apart(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Keep no package here, and build no wheel."""
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / "index.html").touch()
        monkeypatch.setattr(RUNTIME, "KEPT", tmp_path / "kept")
        monkeypatch.setattr(RUNTIME, "build_wheel", lambda _: "our.whl")

    @pytest.fixture
    def built(self, tmp_path: Path) -> Any:
        def manifest() -> Any:
            RUNTIME.main(tmp_path / "site")
            return json.loads((tmp_path / "site/assets/try-it/runtime/manifest.json").read_text("utf-8"))

        return manifest

    def test_without_npm_the_site_says_so(self, built: Any, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(shutil, "which", lambda _: None)
        assert built()["missing"].startswith(
            "This site was built without Python: there was no npm. To build it whole, "
        )

    def test_another_package_is_not_taken(self, built: Any, tmp_path: Path):
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / f"pyodide-{RUNTIME.VERSION}.tgz").write_bytes(b"something else")
        assert "is not the package that was tested" in built()["missing"]
        assert not list((tmp_path / "site/assets/try-it/runtime").glob("pyodide*"))
