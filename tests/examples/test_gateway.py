"""The examples of the gateway: its client in Python, and the files to run it with. The client in JavaScript is tested
with the others of its kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from integrations.gateway.harness import serving
from integrations.gateway.test_clients import LAST, model_without_tools, without_such_a_tool
from llama3_gateway import GatewaySettings
from llama3_gateway.sources import given_settings

FOLDER = Path(__file__).parents[2] / "examples" / "gateway"
VARIABLES = {f"LLAMA3_TOOLS_{name.upper()}" for name in ("config", *GatewaySettings.model_fields)}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(FOLDER)
    import client  # noqa: PLC0415 - a program, which lies beside files that are none

    return client


@pytest.mark.parametrize("arguments", [[], ["And in Paris?"]])
def test_the_client_runs_its_tool(
    client: object, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(model_without_tools) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.base_url)
        client.main(arguments)  # type: ignore[attr-defined]
    assert capsys.readouterr().out.splitlines() == ["[get_weather Paris]", LAST]


def test_the_client_runs_no_tool_for_a_name_that_the_model_invented(
    client: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(without_such_a_tool, unknown_tool="call") as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.base_url)
        client.main([])  # type: ignore[attr-defined]
    assert capsys.readouterr().out.splitlines() == ["I cannot."]
    assert "there is no tool 'send_alarm'. The tools are: get_weather" in str(served.asked[-1].body["messages"][-1])


def test_the_settings_can_be_read():
    settings = given_settings({}, FOLDER / "gateway.toml")
    assert settings.of_model("qwen3").chat.prompt_format == "function"
    assert settings.of_model("llama3.1-native").chat.tools_in == "request"


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "llama3-tools-gateway.service"])
def test_the_variables_that_a_file_sets_are_those_of_the_command(name: str):
    named = set(re.findall(r"LLAMA3_TOOLS_\w+", (FOLDER / name).read_text("utf-8")))
    assert named
    assert named <= VARIABLES
