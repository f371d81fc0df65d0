"""`llama3-tools accept`, called in this process or in one of its own, on a scripted endpoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

from click.testing import CliRunner, Result

from endpoints.script import Turn, scripted
from endpoints.server import Answer, LoopbackServer
from endpoints.wire import api
from llama3_tools.cli.group import llama3_tools
from runs import DIM, KITCHEN

ANSWERS = [KITCHEN, DIM, "Knock, knock.", "Hello!"]


URL = ("--base-url", "http://127.0.0.1:9/v1", "--model", "llama", "--retries", 0)


PROCESS = """
import json, sys
sys.path[:] = json.loads(sys.argv.pop(1))
{before}
from llama3_tools.cli import main
main()
"""


def accept(*arguments: object) -> Result:
    return CliRunner().invoke(llama3_tools, ["accept", *map(str, arguments)], env={"COLUMNS": "150"})


def command(*arguments: object, before: str = "") -> list[str]:
    """Return the command line of the command as a process of its own."""
    return [sys.executable, "-c", PROCESS.format(before=before), json.dumps(sys.path), *map(str, arguments)]


def done(
    *arguments: object, stdout: IO[str] | int = subprocess.PIPE, encoding: str = "utf-8", before: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    line, environment = command(*arguments, before=before), {**os.environ, "PYTHONIOENCODING": encoding}
    return subprocess.run(line, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


def answering(*answers: str | Answer) -> LoopbackServer:
    turns = (answer if isinstance(answer, Answer) else Turn(pieces=(answer,)) for answer in answers)
    return LoopbackServer(api(["llama"], scripted(turns)))


def ask(server: LoopbackServer, suite: str, *arguments: object) -> Result:
    one_by_one = ("--concurrency", 1, "--retries", 0)
    return accept(suite, "--base-url", server.base_url, "--model", "llama", *one_by_one, *arguments)


def refused(*arguments: object) -> str:
    result = accept(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    return words(result.stderr)


def cases(results: Path) -> list[str]:
    return [json.loads(line)["case"] for line in results.read_text("utf-8").splitlines()[1:]]


def words(text: str) -> str:
    return " ".join(text.split())
