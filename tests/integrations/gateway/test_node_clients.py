"""Unchanged programs of JavaScript clients run their tools: `make test-clients` installs the clients, with npm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from integrations.gateway.harness import BREAK, Answer, Asked, Responder, chunk, events, says, serving
from integrations.gateway.test_clients import LAST, model_without_tools, without_such_a_tool

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "tests" / "clients"
NODE = shutil.which("node") or ""
FULL = "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"
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


@pytest.mark.parametrize("name", ["client", "vercel"])
def test_an_example_runs_its_tool(name: str, tmp_path: Path):
    assert run(ROOT / "examples" / "gateway" / f"{name}.mjs", tmp_path) == ["[get_weather Paris]", LAST]


def test_the_example_runs_no_tool_for_a_name_that_the_model_invented(tmp_path: Path):
    assert run(ROOT / "examples" / "gateway" / "client.mjs", tmp_path, without_such_a_tool, unknown_tool="call") == [
        "I cannot."
    ]


def agent_done(command: list[str], environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What the command line of a coding agent has done, run in a folder."""
    given = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    env = {**given, "HOME": str(folder), "NO_PROXY": "127.0.0.1", **environment}
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 240}
    return subprocess.run(command, check=False, env=env, cwd=folder, **pipes)


def agent_said(command: list[str], environment: dict[str, str], folder: Path) -> str:
    """What it has printed."""
    done = agent_done(command, environment, folder)
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
        said = agent_said(command, {"CONTINUE_TELEMETRY_ENABLED": "0"}, tmp_path)
        assert served.metric("tool_calls_total") == 1
    assert said == "It says when the tide turns."


def call(name: str, **arguments: object) -> str:
    """A call as a model writes it."""
    return json.dumps({"name": name, "parameters": arguments})


def told(asked: Asked) -> str:
    """The last message of a request."""
    content = asked.body["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n\n".join(part["text"] for part in content)


def steps(read: tuple[str, ...], edit: str, run: str) -> Responder:
    """What has a file read, edited and shown, each by a call that follows the result of the last."""
    names = [json.loads(one)["name"] for one in (*read, edit, run)]
    answers = [*read, edit, run, "It turns at seven."]

    def respond(asked: Asked) -> Answer:
        last = told(asked)
        done = [place for place, name in enumerate(names) if last.startswith(f"Result of {name}")]
        if "title" in str(asked.body["messages"][0]["content"])[:400].lower():  # opencode's, for the conversation
            return says("Notes")(asked)
        if len(set(names)) < len(names) and done:  # one tool for all
            done = [sum("Result of" in str(message["content"]) for message in asked.body["messages"]) - 1]
        return says(answers[done[-1] + 1 if done else 0])(asked)

    return respond


def binary(name: str) -> str:
    """The command of an agent, or a skip that says what would install it."""
    found = CLIENTS / "node_modules" / ".bin" / name
    if not found.exists():
        pytest.skip(f"npm has not installed {name}: see tests/clients/package.json")
    return str(found)


class TestCodingAgents:
    """Unchanged agents, as their READMEs start them, with keys that are none."""

    @pytest.fixture
    def notes(self, tmp_path: Path) -> Path:
        path = tmp_path / "notes.txt"
        path.write_text("The tide turns at six.\n", "utf-8")
        return path

    def claude(self, respond: Responder, notes: Path, prompt: str = "Change six to seven in notes.txt.") -> str:
        switches = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER")
        with serving(respond) as served:
            environment = {
                **dict.fromkeys((*switches, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1"),
                "ANTHROPIC_BASE_URL": served.address,
                "ANTHROPIC_AUTH_TOKEN": "none",
                "ANTHROPIC_MODEL": "llama3.1",
                "ANTHROPIC_DEFAULT_HAIKU_MODEL": "llama3.1",
            }
            tools = "Read,Edit,Bash"
            command = [binary("claude"), "-p", prompt, "--tools", tools, "--allowedTools", tools]
            return agent_said(command, environment, notes.parent)

    def codex(self, respond: Responder, notes: Path) -> subprocess.CompletedProcess[str]:
        with serving(respond) as served:
            provider = f'{{name="gateway", base_url="{served.base_url}", stream_max_retries=0, request_max_retries=0}}'
            command = [binary("codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
            command += ["-m", "llama3.1", "-c", "model_provider=gateway", "-c", f"model_providers.gateway={provider}"]
            return agent_done([*command, "Change six to seven in notes.txt."], {}, notes.parent)

    @staticmethod
    def check(said: str, notes: Path) -> None:
        assert said.endswith("It turns at seven.")
        assert notes.read_text("utf-8") == "The tide turns at seven.\n"

    def test_claude_code_reads_edits_and_runs_although_a_stream_breaks_off(self, notes: Path):
        edit = call("Edit", file_path=str(notes), old_string="six", new_string="seven")
        respond = steps((call("Read", file_path=str(notes)),), edit, call("Bash", command=f"cat {notes}"))
        first = iter([events(chunk({"content": "Let me"}), BREAK)])
        self.check(self.claude(lambda asked: next(first, None) or respond(asked), notes), notes)

    def test_claude_code_goes_on_after_a_pdf(self, notes: Path):
        (notes.parent / "a.pdf").write_bytes(
            b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<<>>\n%%EOF\n"
        )

        def respond(asked: Asked) -> Answer:
            is_told = "[a PDF that this model cannot read]" in told(asked)
            return says("I cannot." if is_told else call("Read", file_path=str(notes.parent / "a.pdf")))(asked)

        assert self.claude(respond, notes) == "I cannot."

    def test_claude_code_sums_up_when_the_context_is_full(self, notes: Path):
        asked_for: list[str] = []

        def respond(asked: Asked) -> Answer:
            asked_for.append(told(asked))
            if len(asked_for) == 6:
                return Answer([json.dumps({"error": {"message": FULL}}).encode()], status=400)
            if "<summary>" in asked_for[-1]:
                return says("<summary>The tide turns at six.</summary>")(asked)
            return says(call("Bash", command=f"echo {len(asked_for)}") if len(asked_for) < 7 else "Six.")(asked)

        assert self.claude(respond, notes) == "Six."
        assert "<summary>" in asked_for[6]

    def test_claude_code_asks_for_a_shorter_answer_if_only_that_is_too_long(self, notes: Path):
        def respond(asked: Asked) -> Answer:
            most = asked.body["max_tokens"]
            said = f"'max_tokens' is too large: {most}. This model's maximum context length is 16384 tokens and your "
            error = {"error": {"message": f"{said}request has 9000 input tokens"}}
            return Answer([json.dumps(error).encode()], status=400) if most > 7384 else says("Fine.")(asked)

        assert self.claude(respond, notes) == "Fine."

    def test_codex_reads_edits_and_runs(self, notes: Path):
        show, edit = (call("exec_command", cmd=one) for one in ("cat notes.txt", "sed -i s/six/seven/ notes.txt"))
        self.check(self.codex(steps((show,), edit, show), notes).stdout.strip(), notes)

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (
                Answer([b'{"error": {"message": "prompt too long"}}'], status=400),
                "ran out of room in the model's context",
            ),
            (events(chunk({"content": "Let me"}), BREAK), "broke off"),
        ],
        ids=["a full context", "a stream that breaks off"],
    )
    def test_codex_says_what_went_wrong(self, answer: Answer, said: str, notes: Path):
        assert said in self.codex(lambda _: answer, notes).stderr

    def test_opencode_reads_edits_and_runs(self, notes: Path):
        edit = call("edit", filePath=str(notes), oldString="six", newString="seven")
        respond = steps(
            (call("read", filePath=str(notes)),), edit, call("bash", command=f"cat {notes}", description="Show")
        )
        with serving(respond) as served:
            options = {"baseURL": served.base_url, "apiKey": "none"}
            provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"llama3.1": {}}}
            config = {"provider": {"gateway": provider}, "model": "gateway/llama3.1"}
            (notes.parent / "opencode.json").write_text(json.dumps(config), "utf-8")
            command = [binary("opencode"), "run", "Change six to seven in notes.txt."]
            self.check(agent_said(command, {"OPENCODE_DISABLE_MODELS_FETCH": "1"}, notes.parent), notes)

    def test_qwen_code_reads_edits_and_runs(self, notes: Path):
        edit = call("edit", file_path=str(notes), old_string="six", new_string="seven")
        run = call("run_shell_command", command=f"cat {notes}", description="Show", is_background=False)
        with serving(steps((call("read_file", file_path=str(notes)),), edit, run)) as served:
            environment = {"OPENAI_BASE_URL": served.base_url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "llama3.1"}
            command = [binary("qwen"), "--auth-type", "openai", "--approval-mode", "yolo", "-p"]
            self.check(agent_said([*command, "Change six to seven in notes.txt."], environment, notes.parent), notes)
