"""What examples share lies beside them: run by itself, it says what to run instead."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHARED = ["agent_program", "llamaindex_program", "missing_packages", "screen"]


@pytest.mark.parametrize("name", SHARED)
def test_it_names_programs_that_use_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    programs = re.findall(r"\w+\.py", printed.err)
    assert programs
    for program in programs:
        assert re.search(
            rf"^(from {name} import|import {name}) ", (EXAMPLES / program).read_text("utf-8"), re.MULTILINE
        )


@pytest.mark.parametrize(
    "path", [path for path in EXAMPLES.glob("*.py") if path.stem not in SHARED], ids=lambda path: path.stem
)
def test_any_other_says_how_to_run_it(path: Path) -> None:
    assert re.search(rf"python (examples/)?{path.name}", path.read_text("utf-8"))
