"""`llama3-tools accept` as a process of its own: what its streams and an interrupt do to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from commands import cases, command, done
from endpoints.script import Turn, scripted
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import api
from runs import KITCHEN


def test_a_reader_who_goes_away_costs_no_report(suite: str, outputs: Path, tmp_path: Path) -> None:
    report = tmp_path / "a.json"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        ended = done("accept", suite, "--replay", outputs, "--json", report, stdout=closed)
    assert (ended.returncode, ended.stderr) == (2, "")
    assert len(json.loads(report.read_text("utf-8"))["results"]) == 4


def test_what_a_terminal_cannot_show_is_written_out(suite: str, outputs: Path) -> None:
    outputs.write_text(
        '{"case": "hello", "output": "{\\"name\\": \\"gr\u00fc\u00df\\", \\"parameters\\": {}}"}', "utf-8"
    )
    ended = done("accept", suite, "--replay", outputs, encoding="ascii")
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "gr\\xfc\\xdf" in ended.stdout


def test_an_interrupt_keeps_what_is_in(suite: str, tmp_path: Path) -> None:
    results, report = tmp_path / "results.jsonl", tmp_path / "a.json"
    first = scripted([Turn(pieces=(KITCHEN,))])

    def model(request: Request) -> Answer:
        if results.exists():
            os.kill(process.pid, signal.SIGINT)
            time.sleep(0.2)
        return first(request)

    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # also in the background
    with LoopbackServer(api(["llama"], model)) as server:
        line = command(
            "accept", suite, "--base-url", server.base_url, "--model", "llama", "--concurrency", 1, before=heard
        )
        line += ["--results", str(results), "--json", str(report)]
        environment = {**os.environ, "COLUMNS": "150"}
        process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Error: interrupted; 1 of 4 responses are in. The same command with --resume goes on" in stderr
    assert "Traceback" not in stderr
    assert "all" in stdout
    assert cases(results) == ["kitchen"]
    assert json.loads(report.read_text("utf-8"))["missing"] == 3
