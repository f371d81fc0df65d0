"""The command as a process of its own: what its streams, its packages and an interrupt do to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from commands import command, done

BLOCKED = """
import sys
sys.path[:] = {path!r}
sys.modules[{package!r}] = None
from llama3_tools.cli import main
sys.argv[1:] = {arguments!r}
main()
"""


@pytest.mark.parametrize(
    ("package", "arguments", "asked", "extras"),
    [
        ("click", [], "llama3-tools", "cli"),
        ("click", ["serve", "--upstream", "http://localhost:1/v1"], "llama3-tools serve", "gateway"),
        ("click", ["doctor", "--model", "llama3.1"], "llama3-tools doctor", "cli,acceptance"),
        ("click", ["extract", "serve"], "llama3-tools", "cli"),
    ],
)
def test_without_its_packages_the_command_says_what_to_install(
    package: str, arguments: list[str], asked: str, extras: str
) -> None:
    program = BLOCKED.format(path=sys.path, package=package, arguments=arguments)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"{asked} needs packages that are an extra: pip install 'llama3-tools[{extras}]'\n"


def test_what_else_is_missing_is_not_called_an_extra() -> None:
    program = BLOCKED.format(path=sys.path, package="llama3_tools.cli.group", arguments=[])
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "ModuleNotFoundError" in ended.stderr


def test_the_module_runs_as_the_command() -> None:
    command = [sys.executable, "-m", "llama3_tools.cli", "extract"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(
        command, input="Grüß Gott".encode(), env=environment, capture_output=True, timeout=60, check=True
    )
    assert ended.stdout.decode() == '{"file": "-", "content": "Grüß Gott", "tool_calls": [], "rejections": []}\n'


def test_it_runs_where_there_is_no_standard_error() -> None:
    ended = done("extract", __file__, before="sys.stderr = None")
    assert (ended.returncode, ended.stdout[:9]) == (0, '{"file": ')


def test_an_interrupt_is_said_without_a_traceback() -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # also in the background
    with subprocess.Popen(
        command("extract", __file__, "-", before=heard),
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # from here on, it waits for standard input
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (2, "Error: interrupted\n")
