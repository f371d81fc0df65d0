"""The configuration: TOML, the environment, the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

import llama3_gateway.server
from llama3_gateway import GatewaySettings, Upstream
from llama3_gateway.command import serve
from llama3_gateway.sources import given_settings

URL = "http://localhost:11434/v1"
FILE = """
upstream = "http://localhost:11434/v1"
port = 9000
cors = ["http://localhost:3000"]
repair = true
retries = 2

[[models]]
match = "qwen*"
upstream = "http://localhost:8080/v1"
upstream_api_key = "sesame"
prompt_format = "function"
repair = false

[[models]]
match = "*"
native = true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "gateway.toml"
    path.write_text(FILE, "utf-8")
    return path


def test_a_file_has_settings_and_those_of_single_models(file: Path):
    settings = given_settings({}, file)
    qwen, other = settings.of_model("qwen3:8b"), settings.of_model("llama3.1")
    assert (settings.port, settings.cors) == (9000, ["http://localhost:3000"])
    assert (qwen.upstream, qwen.chat.prompt_format) == (Upstream("http://localhost:8080/v1", "sesame"), "function")
    assert (qwen.chat.read.repair, other.chat.read.repair) == (False, True)
    assert (qwen.chat.max_retries, other.chat.max_retries) == (2, 2)
    assert (other.chat.tools_in, other.upstream.url) == ("request", URL)
    assert settings.of_model(None) is settings.default
    assert [upstream.url for upstream in settings.upstreams] == [URL, "http://localhost:8080/v1"]


@pytest.mark.parametrize("key", ["sesame ", "sesame\n", " sesame", "\tsesame\r\n"])
def test_white_space_around_a_key_is_none_of_it(key: str):
    settings = GatewaySettings(upstream=URL, upstream_api_key=key, api_key=key)
    assert (settings.default.upstream.api_key, settings.api_key) == ("sesame", "sesame")


def test_a_key_of_a_models_own_goes_to_the_same_upstream():
    settings = GatewaySettings(upstream=URL, models=[{"match": "a", "upstream_api_key": "b"}])
    assert settings.of_model("a").upstream == Upstream(URL, "b")
    assert "b" not in repr(settings.of_model("a").upstream).replace("localhost", "").partition("api_key")[2]


@pytest.mark.parametrize(
    ("values", "where", "message"),
    [
        *(
            ({"upstream": url}, "upstream", "write a URL such as http://localhost:11434/v1")
            for url in (
                *("localhost:11434", "ftp://localhost/v1", f"{URL}?a=1", f"{URL}#a", "http://", "http://[::1/v1"),
                "http://localhost:99999/v1",
            )
        ),
        ({"upstream": f"{URL}/chat/completions"}, "upstream", f"is the address of one request: write {URL}"),
        ({"upstream": "http://localhost:11434/api/chat/"}, "upstream", "write http://localhost:11434/v1"),
        ({"upstream": "http://me:secret@a/v1/responses"}, "upstream", "http://a/v1/responses is the address of one"),
        ({"models": [{"match": "a", "upstream": f"{URL}/embeddings"}]}, "models.0.upstream", f"write {URL}"),
        *(({name: "sk\nx"}, name, "no line break") for name in ("api_key", "upstream_api_key")),
        *(({name: key}, name, "it is empty") for name in ("api_key", "upstream_api_key") for key in ("", " \n")),
        ({"reapir": True}, "reapir", "not permitted"),
        ({"retries": -1}, "retries", "greater than or equal to 0"),
        *(
            ({"cors": [origin]}, "cors.0", "an origin is * or scheme://host[:port]")
            for origin in (
                *("foo", "localhost:3000", "https://*.example.org", "http://", "http://a:b", "null"),
                *("http://user@a", "http://a/b"),
            )
        ),
        ({"host": ""}, "host", "at least 1 character"),
        ({"port": 65536}, "port", "less than 65536"),
        ({"timeout": 0}, "timeout", "greater than 0"),
        ({"models": [{"match": ""}]}, "models.0.match", "at least 1 character"),
        ({"models": [{"match": "a", "port": 1}]}, "models.0.port", "not permitted"),
    ],
)
def test_what_cannot_be_read_is_named(values: dict[str, Any], where: str, message: str):
    with pytest.raises(ValidationError) as caught:
        GatewaySettings.model_validate({"upstream": URL, **values})
    (error,) = caught.value.errors()
    assert (".".join(map(str, error["loc"])), message in error["msg"]) == (where, True), error["msg"]
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "path", "address"),
    [
        ("http://localhost:11434", "/v1/models", "http://localhost:11434/v1/models"),
        ("http://localhost:11434/", "/api/tags", "http://localhost:11434/api/tags"),
        ("https://example.com/openai/v1/", "/v1/models", "https://example.com/openai/v1/models"),
        ("https://example.com/openai/v1", "/api/tags", "https://example.com/openai/api/tags"),
        ("https://example.com/api/v3", "/v1/models", "https://example.com/api/v3/models"),
    ],
)
def test_paths_of_the_gateway_are_paths_of_the_upstream(url: str, path: str, address: str):
    assert Upstream(url).address(path) == address


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def _nothing_is_served(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: list[GatewaySettings] = []
        monkeypatch.setattr(llama3_gateway.server, "run", lambda settings, _say: self.found.append(settings))

    def given(self, *arguments: str, **environment: str) -> GatewaySettings:
        """The settings of a command line, and of an environment."""
        names = {f"LLAMA3_TOOLS_{name}": value for name, value in environment.items()}
        result = CliRunner().invoke(serve, arguments, env=names, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return self.found.pop()

    def refused(self, *arguments: str, **environment: str) -> str:
        """What is said of a command line, and of an environment, of which nothing comes."""
        names = {f"LLAMA3_TOOLS_{name}": value for name, value in environment.items()}
        result = CliRunner().invoke(serve, arguments, env=names, catch_exceptions=False)
        assert (result.exit_code, self.found, result.stdout) == (2, [], "")
        *_, said = result.stderr.partition("\n\n")
        return said

    def test_options_set_what_the_file_sets(self):
        flags = ["--repair", "--no-coerce", "--split-reasoning", "--starts-reasoning", "--log-content"]
        words = ["--prompt-format", "pythonic", "--tools-in", "system", "--tool-role", "tool", "--unknown-tool", "text"]
        words += ["--repeated-calls", "keep", "--retries", "0", "--constrain", "json_object", "--format", "json"]
        serving = ["--host", "0.0.0.0", "--port", "0", "--api-key", "a", "--upstream-api-key", "b", "--cors", "*"]  # noqa: S104 - only read
        serving += ["--max-body", "1", "--max-answer", "2", "--timeout", "3", "--keepalive", "4"]
        settings = self.given("--upstream", URL, *flags, *words, *serving)
        chat, read = settings.default.chat, settings.default.chat.read
        assert (read.repair, read.coerce_arguments, read.formats) == (True, False, ("json",))
        assert (read.split_reasoning, read.starts_reasoning, read.on_unknown_tool) == (True, True, "text")
        assert (chat.prompt_format, chat.tools_in, chat.tool_role) == ("pythonic", "system", "tool")
        assert (chat.repeated_calls, chat.max_retries, chat.constrain) == ("keep", 0, "json_object")
        assert (settings.host, settings.port, settings.api_key, settings.cors) == ("0.0.0.0", 0, "a", ["*"])  # noqa: S104 - the same
        assert (settings.max_body, settings.max_answer, settings.timeout, settings.keepalive) == (1, 2, 3, 4)
        assert (settings.default.upstream, settings.log_content) == (Upstream(URL, "b"), True)
        assert self.given("--upstream", URL, "--native").default.chat.tools_in == "request"

    def test_the_short_form_is_the_url_alone(self):
        assert self.given(URL).model_dump(exclude_unset=True) == {"upstream": URL}

    def test_the_command_line_goes_before_the_environment_and_that_before_the_file(self, file: Path):
        environment = {"CONFIG": str(file), "RETRIES": "3", "PORT": "9001", "HOST": ""}
        settings = self.given("--port", "9002", **environment)
        assert (settings.port, settings.default.chat.max_retries, settings.default.chat.read.repair) == (9002, 3, True)
        assert (self.given(**environment).port, settings.host) == (9001, "127.0.0.1")
        assert self.given("--no-repair", **environment).default.chat.read.repair is False
        assert self.given(**environment, REPAIR="0").default.chat.read.repair is False

    def test_an_upstream_may_be_for_some_models(self, file: Path):
        qwen, other = "qwen*=http://localhost:1/v1", "o/*=http://localhost:2"
        of_file = self.given("--config", str(file), "--upstream", qwen)
        assert of_file.of_model("qwen3").upstream.url == "http://localhost:1/v1"
        for arguments in ([], ["--upstream", URL]):
            settings = self.given(*arguments, "--upstream", qwen, UPSTREAM=f"{URL} {other}")
            urls = [settings.of_model(name).upstream.url for name in ("qwen3", "o/a", "llama3.1")]
            assert urls == ["http://localhost:1/v1", "http://localhost:2/v1", URL]

    @pytest.mark.parametrize("key", ["", " "])
    @pytest.mark.parametrize("option", ["--api-key", "--upstream-api-key"])
    def test_an_empty_key_does_not_open_the_gateway(self, tmp_path: Path, option: str, key: str):
        """It may name an unset variable: it is named as it was written."""
        name, path = option[2:].replace("-", "_"), tmp_path / "gateway.toml"
        path.write_text(f'{name} = "{key}"', "utf-8")
        assert self.refused(URL, option, key).startswith(f"Error: {option}: it is empty")
        assert self.refused(URL, **{name.upper(): key}).startswith(f"Error: LLAMA3_TOOLS_{name.upper()}: it is empty")
        assert self.refused(URL, "--config", str(path)).startswith(f"Error: {name} in {path}: it is empty")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "where is the model?"),
            (["--upstream", f"qwen*={URL}"], "where is the model?"),
            ([URL, "--upstream", f"qwen*={URL}/completions"], f"--upstream: {URL}/completions is the address of one"),
            ([URL, "http://localhost:1/v1"], "write PATTERN=URL"),
            ([URL, "--retries", "-1"], "--retries: Input should be greater than or equal to 0"),
            ([URL, "--retrys", "1"], "--retries"),
            ([URL, "--unknown-tool", "run"], "'--unknown-tool': 'run' is not one of"),
            ([URL, "--config", "none.toml"], "'none.toml' does not exist"),
        ],
    )
    def test_what_is_wrong_is_said_in_one_line(self, arguments: list[str], message: str):
        said = self.refused(*arguments)
        assert (message in said, said.count("\n")) == (True, 1)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a = ", "gateway.toml: Invalid value"),
            ("retrys = 2", "gateway.toml: there is no such option; did you mean 'retries'?"),
            ('[[models]]\nmatch = "a"\nupstream_key = 1', "no such option; did you mean 'upstream_api_key'?"),
            ('[[models]]\nmatch = "a"\nupstream = 5', "models.0.upstream in "),
        ],
    )
    def test_what_is_wrong_in_a_file_is_named_there(self, tmp_path: Path, text: str, message: str):
        path = tmp_path / "gateway.toml"
        path.write_text(text, "utf-8")
        assert message in self.refused(URL, "--upstream", f"b={URL}", "--config", str(path))

    def test_origins_may_stand_in_one_text_and_end_with_a_slash(self):
        expected = ["http://localhost:3000", "https://a.example"]
        given = "http://localhost:3000/,https://a.example"
        assert self.given(URL, "--cors", given).cors == expected
        assert self.given(URL, *(part for one in expected for part in ("--cors", one))).cors == expected
        assert self.given(URL, CORS=given).cors == expected


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://A.example:443/", "https://a.example"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("http://bücher.de", "http://xn--bcher-kva.de"),
        ("chrome-extension://abc", "chrome-extension://abc"),
    ],
)
def test_origins_are_kept_as_browsers_write_them(given: str, origin: str):
    assert GatewaySettings(upstream=URL, cors=[given]).cors == [origin]
