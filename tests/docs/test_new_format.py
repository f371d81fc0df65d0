"""The worked example of the contributor's guide, done in a copy of the sources: it works as it stands there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
_, EXAMPLE = GUIDE.split("### Worked example", 1)


def block(language: str, beginning: str) -> str:
    (found,) = re.findall(rf"```{language}\n({re.escape(beginning)}(?s:.*?))```", EXAMPLE)
    return str(found)


def patched(text: str, diff: str) -> str:
    """Apply a diff without places: each part is what is to be found, lines with `-` and without, made into the rest."""
    for part in diff.split(" …\n"):
        lines = part.splitlines()
        found = "\n".join(line[1:] for line in lines if line[0] != "+")
        made = "\n".join(line[1:] for line in lines if line[0] != "-")
        if not found:  # an import, which can stand anywhere among them
            found = "from llama3_tools.formats.base"
            made = f"{made}\n{found}"
        found, made = found.strip(), made.strip()  # other names may stand in front
        assert text.count(found) == 1, found
        text = text.replace(found, made)
    return text


def test_the_worked_example_is_a_format(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "shared" / "llama3_tools", tmp_path / "llama3_tools")
    formats = tmp_path / "llama3_tools" / "formats"
    (formats / "answer.py").write_text(block("python", '"""'), "utf-8")
    listed = formats / "__init__.py"
    listed.write_text(patched(listed.read_text("utf-8"), block("diff", "+")), "utf-8")
    cases = "from chunkings import extract_in_every_chunking\nimport llama3_tools\n"
    cases += "print(llama3_tools.__file__)\n" + block("python", "read =")
    path = os.pathsep.join([str(tmp_path), str(ROOT / "tests")])
    measured = {name for name in os.environ if name.startswith("COV")}  # what is measured is the project, not its copy
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", cases],
        env={name: os.environ[name] for name in os.environ.keys() - measured} | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.strip() == str(tmp_path / "llama3_tools" / "__init__.py")
