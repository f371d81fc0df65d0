"""What the page on the gateway says is so: its options, its errors, its paths."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from openai.types.responses.response_create_params import ResponseCreateParamsBase

import llama3_gateway
from integrations.gateway.harness import Answer, serving
from llama3_gateway import GatewaySettings
from llama3_gateway.command import serve
from llama3_gateway.responses_input import from_responses
from llama3_gateway.sources import given_settings

PAGE = (Path(__file__).parents[3] / "docs" / "gateway-reference.md").read_text("utf-8")
SOURCES = "".join(file.read_text("utf-8") for file in Path(llama3_gateway.__file__).parent.glob("*.py"))
WRITTEN_ANEW = {
    *("input", "instructions", "tools", "tool_choice", "text", "reasoning", "stream_options", "max_output_tokens"),
}
REFUSED = {"previous_response_id", "conversation", "prompt", "background"}
QUOTED = re.compile(r"\*([^*|]+?)\*")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in section(title).splitlines() if line.startswith("| ")][1:]


def test_it_names_each_field_of_a_response_that_is_sent():
    """`input` and what else a chat completion has in another form is written anew."""
    item = section("What it does not do").partition("**It does not send every field")[2].partition("\n- ")[0]
    named = set(re.findall(r"`(\w+)`", item))
    fields = set(ResponseCreateParamsBase.__annotations__) - {*WRITTEN_ANEW, *REFUSED}
    sent = set(from_responses({"input": "Hi", **dict.fromkeys(fields | named, 1)})) - {"messages"}
    assert sent == named


def test_it_lists_every_option():
    listed = {row[0].strip("`") for row in rows("Options")}
    options = (param.opts[0] for param in serve.get_params(click.Context(serve)))
    assert listed == {option for option in options if option.startswith("--")} - {"--help"}


def test_defaults_are_those_of_the_settings():
    settings = GatewaySettings(upstream="http://localhost:11434/v1")
    shown = {row[0].strip("`-").replace("-", "_"): row[1].strip().strip("`") for row in rows("Options")}
    chat = settings.default.chat
    for name in ("host", "port", "max_body", "max_answer"):
        assert shown[name] == str(getattr(settings, name))
    assert (float(shown["timeout"]), float(shown["keepalive"])) == (settings.timeout, settings.keepalive)
    for name in ("prompt_format", "tools_in", "tool_role", "repeated_calls"):
        assert shown[name] == getattr(chat, name)
    assert (int(shown["retries"]), shown["unknown_tool"]) == (chat.max_retries, chat.read.on_unknown_tool)


def test_its_files_can_be_read(tmp_path: Path):
    path, read = tmp_path / "gateway.toml", []
    for toml in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL):
        path.write_text(toml, "utf-8")
        read.append(given_settings({}, path))
    options, keys = read
    assert options.of_model("qwen3").chat.prompt_format == "function"
    assert [upstream.api_key for upstream in keys.upstreams] == ["the key of example.com", "the key of llama-server"]


ERRORS = sorted({text.strip() for row in rows("When something is off") for text in QUOTED.findall(row[0])} - {"…"})


@pytest.mark.parametrize("text", ERRORS)
def test_the_errors_that_it_quotes_are_said(text: str):
    library = Path(llama3_gateway.__file__).parents[2] / "shared" / "llama3_tools"
    everything = SOURCES + "".join(file.read_text("utf-8") for file in library.rglob("*.py"))
    pattern = re.sub(r"\d+", r"(?:\\d+|\\{[^}]*\\})", re.escape(text).replace('"', r'\\?"'))
    assert re.search(pattern, everything), pattern


def test_its_paths_are_there():
    with serving(lambda _: Answer([b"{}"])) as served:
        for path in ("/healthz", "/metrics", "/v1/models", "/api/tags"):
            assert served.http.get(served.address + path).status_code == 200
