"""Unchanged programs of JavaScript clients run their tools: `make test-clients` installs the clients, with npm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from integrations.gateway.harness import Answer, Asked, Responder, says, serving
from integrations.gateway.test_clients import LAST, model_without_tools, without_such_a_tool

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "tests" / "clients"
NODE = shutil.which("node") or ""
VERCEL_APIS = ("compatible", "chat", "responses", "messages")

pytestmark = pytest.mark.skipif(
    not NODE or not (CLIENTS / "node_modules").exists(), reason="make test-clients installs them, where node is"
)


def run(program: Path, folder: Path, respond: Responder = model_without_tools, **settings: object) -> list[str]:
    """The lines that a program prints, beside the packages that it imports."""
    (folder / "node_modules").symlink_to(CLIENTS / "node_modules")
    copied = shutil.copy(program, folder)
    with serving(respond, **settings) as served:
        addresses = {"OPENAI_BASE_URL": served.base_url, "ANTHROPIC_BASE_URL": served.address}
        environment = {**os.environ, **addresses, "NO_PROXY": "127.0.0.1"}
        command = [NODE, str(copied)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=120)
        assert served.metric("faults_total") == 0
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("client", "ways"),
    [
        ("openai", ["runTools false", "runTools true", "responses false", "responses true"]),
        ("anthropic", ["messages false", "messages true", "toolRunner false", "toolRunner true"]),
        ("vercel", [f"{api} {stream}" for api in VERCEL_APIS for stream in ("false", "true")]),
        ("langchain", ["agent false", "agent true"]),
    ],
)
def test_a_client_runs_its_tools(client: str, ways: list[str], tmp_path: Path):
    found = [json.loads(line) for line in run(CLIENTS / f"{client}.mjs", tmp_path)]
    assert [one["name"] for one in found] == ways
    assert [one["asked"] for one in found] == [["Paris"]] * len(ways)
    assert [one["answer"] for one in found] == [LAST] * len(ways)


def test_the_example_runs_its_tool(tmp_path: Path):
    assert run(ROOT / "examples" / "gateway" / "client.mjs", tmp_path) == ["[get_weather Paris]", LAST]


def test_the_example_runs_no_tool_for_a_name_that_the_model_invented(tmp_path: Path):
    assert run(ROOT / "examples" / "gateway" / "client.mjs", tmp_path, without_such_a_tool, unknown_tool="call") == [
        "I cannot."
    ]


def asked_agent(command: list[str], environment: dict[str, str], folder: Path) -> str:
    """What a coding agent's command line prints, run in a folder."""
    done = subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_continue_runs_its_tool(tmp_path: Path):
    """Its command line, which takes the same configuration as its extensions, reads a file."""
    (tmp_path / "notes.txt").write_text("The tide turns at six.", "utf-8")

    def respond(asked: Asked) -> Answer:
        told = str(asked.body["messages"][-1]["content"])
        call = {"name": "Read", "parameters": {"filepath": str(tmp_path / "notes.txt")}}
        is_told = "Result of Read" in told and "The tide turns at six." in told
        return says("It says when the tide turns." if is_told else f"Let me look. {json.dumps(call)}")(asked)

    with serving(respond) as served:
        settings = tmp_path / "config.yaml"
        settings.write_text(
            "name: local\nversion: 0.0.1\nschema: v1\nmodels:\n"
            "  - {name: Llama, provider: openai, model: llama3.1, apiKey: none, capabilities: [tool_use], "
            f"roles: [chat], apiBase: '{served.base_url}'}}\n",
            "utf-8",
        )
        command = [NODE, str(CLIENTS / "node_modules" / "@continuedev" / "cli" / "dist" / "cn.js")]
        command += ["--print", "--auto", "--config", str(settings), "What do my notes say?"]
        environment = {**os.environ, "HOME": str(tmp_path), "CONTINUE_TELEMETRY_ENABLED": "0", "NO_PROXY": "127.0.0.1"}
        said = asked_agent(command, environment, tmp_path)
        assert served.metric("tool_calls_total") == 1
    assert said == "It says when the tide turns."


CLAUDE = CLIENTS / "node_modules" / ".bin" / "claude"


@pytest.mark.skipif(
    not CLAUDE.exists(), reason="npm install --prefix tests/clients --no-save @anthropic-ai/claude-code"
)
def test_claude_code_reads_and_edits_a_file_and_runs_a_command(tmp_path: Path):
    notes = tmp_path / "notes.txt"
    notes.write_text("The tide turns at six.\n", "utf-8")
    steps = {
        "Result of Bash": "It turns at seven.",
        "Result of Edit": call("Bash", command=f"cat {notes}", description="Show the notes"),
        "Result of Read": call("Edit", file_path=str(notes), old_string="six", new_string="seven"),
        "": call("Read", file_path=str(notes)),
    }

    def respond(asked: Asked) -> Answer:
        told = str(asked.body["messages"][-1]["content"])
        return says(next(step for result, step in steps.items() if told.startswith(result)))(asked)

    with serving(respond) as served:
        switches = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER")
        environment = {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            **dict.fromkeys((*switches, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1"),
            "HOME": str(tmp_path),
            "NO_PROXY": "127.0.0.1",
            "ANTHROPIC_BASE_URL": served.address,
            "ANTHROPIC_AUTH_TOKEN": "none",
            "ANTHROPIC_MODEL": "llama3.1",
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": "llama3.1",
        }
        tools = "Read,Edit,Bash"
        command = [str(CLAUDE), "-p", "Change six to seven in notes.txt.", "--tools", tools, "--allowedTools", tools]
        said = asked_agent(command, environment, tmp_path)
        assert served.metric("tool_calls_total") == 3
    assert said == "It turns at seven."
    assert notes.read_text("utf-8") == "The tide turns at seven.\n"


def call(name: str, **arguments: str) -> str:
    """A call as a model writes it."""
    return json.dumps({"name": name, "parameters": arguments})
