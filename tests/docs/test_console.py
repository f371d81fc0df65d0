"""What the documentation says that the command prints, it prints. `…` there is for anything."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from llama3_tools.cli.group import llama3_tools

ROOT = Path(__file__).parents[2]
BLOCKS = re.compile(r"```console\n\$ llama3-tools (.*)\n((?s:.*?))```")
REPLIES = re.compile(r"`(\w+\.\w+)` has\n\n```\w+\n((?s:.*?))\n```")

CONSOLES = [
    (str(page.relative_to(ROOT / "docs")), command, printed)
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for command, printed in BLOCKS.findall(page.read_text("utf-8"))
]


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines() if line.strip()]


@pytest.mark.parametrize(("page", "command", "printed"), CONSOLES)
def test_the_command_prints_what_the_page_says(
    page: str, command: str, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, reply in REPLIES.findall((ROOT / "docs" / page).read_text("utf-8")):
        (tmp_path / name).write_text(f"{reply}\n", "utf-8")  # as an editor leaves it
    shutil.copytree(ROOT / "examples" / "suites", tmp_path / "examples" / "suites")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(llama3_tools, shlex.split(command), env={"COLUMNS": "100"})
    assert result.stderr == ""
    pattern = ".*?".join(map(re.escape, "\n".join(lines(printed)).split("…")))
    assert re.fullmatch(pattern, "\n".join(lines(result.stdout)), re.DOTALL), result.stdout
