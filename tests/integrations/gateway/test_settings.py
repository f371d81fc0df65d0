"""The configuration: TOML, the environment, the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner

import llama3_gateway.command
from llama3_gateway import GatewaySettings, Upstream, load_settings, read_settings
from llama3_gateway.command import serve
from llama3_gateway.errors import SettingsError
from llama3_gateway.settings import OF_MODEL, OF_SERVER

Run: TypeAlias = Callable[..., Any]
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
    settings = read_settings(load_settings(file))
    qwen, other = settings.of_model("qwen3:8b"), settings.of_model("llama3.1")
    assert (settings.port, settings.cors) == (9000, ("http://localhost:3000",))
    assert (qwen.upstream, qwen.chat.prompt_format) == (Upstream("http://localhost:8080/v1", "sesame"), "function")
    assert (qwen.chat.read.repair, other.chat.read.repair) == (False, True)
    assert (qwen.chat.max_retries, other.chat.max_retries) == (2, 2)
    assert (other.chat.tools_in, other.upstream.url) == ("request", URL)
    assert settings.of_model(None) is settings.default
    assert [upstream.url for upstream in settings.upstreams] == [URL, "http://localhost:8080/v1"]


@pytest.mark.parametrize(
    ("common", "entry", "place"),
    [
        ({"native": True}, {"native": False}, "user"),
        ({"native": True, "tools_in": "system"}, {"native": False}, "system"),
        ({"native": True}, {"native": False, "tools_in": "system"}, "system"),
        ({"tools_in": "request"}, {"native": False}, "user"),
        ({"native": False, "tools_in": "system"}, {"native": False}, "system"),
        ({"native": True}, {}, "request"),
    ],
)
def test_a_model_may_take_native_back(common: dict[str, Any], entry: dict[str, Any], place: str):
    settings = read_settings({"upstream": URL, **common, "models": [{"match": "a", **entry}]})
    assert settings.of_model("a").chat.tools_in == place


@pytest.mark.parametrize("key", ["sesame ", "sesame\n", " sesame", "\tsesame\r\n"])
def test_white_space_around_a_key_is_none_of_it(key: str):
    settings = read_settings({"upstream": URL, "upstream_api_key": key, "api_key": key})
    assert (settings.default.upstream.api_key, settings.api_key) == ("sesame", "sesame")


def test_a_key_of_a_models_own_goes_to_the_same_upstream():
    settings = read_settings({"upstream": URL, "models": [{"match": "a", "upstream_api_key": "b"}]})
    assert settings.of_model("a").upstream == Upstream(URL, "b")
    assert "b" not in repr(settings.of_model("a").upstream).replace("localhost", "").partition("api_key")[2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "upstream is missing: say where the model is"),
        ({"upstream": 5}, "upstream of the configuration is a text, not 5"),
        ({"upstream": "localhost:11434"}, "upstream is a URL such as http://localhost:11434/v1, not 'localhost:11434'"),
        ({"upstream": f"{URL}?a=1"}, "upstream is a URL"),
        ({"upstream": "http://[::1/v1"}, "upstream is a URL"),
        ({"upstream": "http://localhost:99999/v1"}, "upstream is a URL"),
        (
            {"upstream": f"{URL}/chat/completions"},
            f"upstream {URL}/chat/completions is the address of one request: write {URL}",
        ),
        ({"upstream": "http://localhost:11434/api/chat/"}, "of one request: write http://localhost:11434/v1"),
        ({"upstream": "http://me:secret@a/v1/responses"}, "upstream http://a/v1/responses is the address of one"),
        ({"upstream": URL, "models": [{"match": "a", "upstream": f"{URL}/embeddings"}]}, f"write {URL}"),
        ({"upstream": URL, "upstream_api_key": "sk\nx"}, "upstream_api_key has a line break"),
        ({"upstream": URL, "upstream_api_key": " \n"}, "upstream_api_key is white space alone: write a key, or"),
        ({"upstream": URL, "api_key": "sk\nx"}, "api_key has a line break"),
        ({"upstream": URL, "api_key": " "}, "api_key is white space alone: write a key, or leave it out"),
        ({"upstream": URL, "api_key": ""}, "api_key is a text, not ''"),
        ({"upstream": URL, "api_key": 5}, "api_key is a text, not 5"),
        ({"upstream": URL, "reapir": True}, "did you mean 'repair'?"),
        ({"upstream": URL, "repair": 1}, "the configuration: repair must be True or False"),
        ({"upstream": URL, "retries": -1}, "the configuration: retries must be 0 or more"),
        ({"upstream": URL, "unknown_tool": "run"}, "the configuration: unknown_tool must be "),
        ({"upstream": URL, "native": "yes"}, "native of the configuration is true or false"),
        (
            {"upstream": URL, "native": False, "tools_in": "request"},
            'native of the configuration is false, and tools_in = "request" is the same as true: leave one out',
        ),
        (
            {"upstream": URL, "constrain": "regex"},
            'the configuration: constrain must be "auto", "json_schema" or "grammar"',
        ),
        (
            {"upstream": URL, "constrain": ["grammar"]},
            'the configuration: constrain must be "auto", "json_schema" or "grammar"',
        ),
        ({"upstream": URL, "cors": True}, "cors is a list of origins"),
        ({"upstream": URL, "models": 5}, "models is a list of tables"),
        ({"upstream": URL, "cors": "*"}, "cors is a list of origins"),
        ({"upstream": URL, "cors": ["foo"]}, "an origin in cors is * or scheme://host[:port], not 'foo'"),
        ({"upstream": URL, "cors": ["localhost:3000"]}, "an origin in cors is * or scheme://host[:port]"),
        ({"upstream": URL, "cors": ["https://*.example.org"]}, "an origin in cors is * or scheme://host[:port]"),
        *(
            ({"upstream": URL, "cors": [given]}, "an origin in cors is * or scheme://host[:port], not")
            for given in (
                "http://x,http://y",
                "http://x:",
                "http://x:080",
                "http://a b",
                "http://bücher.de",
                "http://",
            )
        ),
        ({"upstream": URL, "cors": ["http://a:b"]}, "an origin in cors is * or scheme://host[:port]"),
        ({"upstream": URL, "cors": ["null"]}, "an origin in cors is * or scheme://host[:port]"),
        ({"upstream": URL, "cors": ["http://a/b"]}, "an origin in cors has no path: write http://a, not 'http://a/b'"),
        ({"upstream": URL, "port": 70000}, "port is a number from 0 to 65535"),
        ({"upstream": URL, "host": 5}, "host is a text"),
        ({"upstream": URL, "timeout": 0}, "timeout is a number above 0"),
        ({"upstream": URL, "log_content": 1}, "log_content is true or false"),
        ({"upstream": URL, "models": "qwen"}, "models is a list of tables: write [[models]] before each"),
        ({"upstream": URL, "models": ["qwen"]}, "models[0] is a table"),
        ({"upstream": URL, "models": [{"repair": True}]}, "models[0] has no match"),
        ({"upstream": URL, "models": [{"match": "a", "port": 1}]}, "models[0] has no option 'port'"),
        ({"upstream": URL, "models": [{"match": "a", "repair": 5}]}, "models[0]: repair must be True or False"),
    ],
)
def test_what_cannot_be_read_is_named(values: dict[str, Any], message: str):
    with pytest.raises(SettingsError) as caught:
        read_settings(values)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "odd.toml: Invalid value"),
        (None, "odd.toml: No such file"),
        ("[gateway]", "odd.toml has no option 'gateway'"),
        ("retrys = 2", "odd.toml has no option 'retrys', .*; did you mean 'retries'"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str | None, message: str):
    path = tmp_path / "odd.toml"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=message):
        load_settings(path)


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
    @pytest.fixture
    def run(self, monkeypatch: pytest.MonkeyPatch) -> Run:
        """Run the command up to the point where it would serve, and return the settings, or what went wrong."""

        def run(*arguments: str, **environment: str) -> Any:  # noqa: ANN401 - settings, or what the command printed
            served: list[GatewaySettings] = []
            monkeypatch.setattr(llama3_gateway.command, "_run", served.append)
            result = CliRunner(env=environment).invoke(serve, arguments)
            return served[0] if served else result

        return run

    @pytest.fixture
    def run_with(self, run: Run, tmp_path: Path) -> Run:
        """Run the command with a file of these settings besides the upstream."""

        def run_with(settings: str, *arguments: str, **environment: str) -> Any:  # noqa: ANN401 - as `run` returns it
            path = tmp_path / "gateway.toml"
            path.write_text(f'upstream = "{URL}"\n{settings}\n', "utf-8")
            return run("--config", str(path), *arguments, **environment)

        return run_with

    def test_options_set_what_the_file_sets(self, run: Run):
        flags = ["--repair", "--no-coerce", "--split-reasoning", "--starts-reasoning", "--log-content"]
        words = ["--prompt-format", "pythonic", "--tools-in", "system", "--tool-role", "tool", "--unknown-tool", "text"]
        words += ["--repeated-calls", "keep", "--retries", "0", "--constrain", "grammar", "--format", "json"]
        serving = ["--host", "0.0.0.0", "--port", "0", "--api-key", "a", "--upstream-api-key", "b", "--cors", "*"]  # noqa: S104 - only read
        serving += ["--max-body", "1", "--max-answer", "2", "--timeout", "3", "--keepalive", "4"]
        settings = run("--upstream", URL, *flags, *words, *serving)
        chat, read = settings.default.chat, settings.default.chat.read
        assert (read.repair, read.coerce_arguments, read.formats) == (True, False, ("json",))
        assert (read.split_reasoning, read.starts_reasoning, read.on_unknown_tool) == (True, True, "text")
        assert (chat.prompt_format, chat.tools_in, chat.tool_role) == ("pythonic", "system", "tool")
        assert (chat.repeated_calls, chat.max_retries, chat.constrain) == ("keep", 0, "grammar")
        assert (settings.host, settings.port, settings.api_key, settings.cors) == ("0.0.0.0", 0, "a", ("*",))  # noqa: S104 - the same
        assert (settings.max_body, settings.max_answer, settings.timeout, settings.keepalive) == (1, 2, 3, 4)
        assert (settings.default.upstream, settings.log_content) == (Upstream(URL, "b"), True)
        assert run("--upstream", URL, "--native").default.chat.tools_in == "request"

    def test_the_command_line_goes_before_the_environment_and_that_before_the_file(self, run: Run, file: Path):
        environment = {"LLAMA3_TOOLS_CONFIG": str(file), "LLAMA3_TOOLS_RETRIES": "3", "LLAMA3_TOOLS_PORT": "9001"}
        settings = run("--port", "9002", **environment)
        assert (settings.port, settings.default.chat.max_retries, settings.default.chat.read.repair) == (9002, 3, True)
        assert run(**environment).port == 9001
        assert run("--no-repair", **environment).default.chat.read.repair is False
        assert run(LLAMA3_TOOLS_UPSTREAM=URL, LLAMA3_TOOLS_REPAIR="1").default.chat.read.repair is True

    @pytest.mark.parametrize(
        ("file", "environment", "arguments", "place"),
        [
            ("native = true", None, ["--tools-in", "user"], "user"),
            ("native = true", "user", [], "user"),
            ("native = true", "system", ["--native"], "request"),
            ('tools_in = "request"', None, ["--no-native"], "user"),
            ('native = true\ntools_in = "request"', None, ["--no-native"], "user"),
            ('native = true\ntools_in = "system"', None, ["--no-native"], "system"),
            ('tools_in = "system"', None, ["--native"], "request"),
            ("native = false", None, ["--tools-in", "request"], "request"),
            ("native = false", "request", [], "request"),
            ("", "request", ["--no-native"], "user"),
            ('tools_in = "system"', "request", ["--no-native"], "user"),
            ("", None, ["--native", "--tools-in", "system"], "request"),
        ],
    )
    def test_native_and_tools_in_are_one_setting(
        self, run_with: Run, file: str, environment: str | None, arguments: list[str], place: str
    ):
        given = {"LLAMA3_TOOLS_TOOLS_IN": environment} if environment else {}
        assert run_with(file, *arguments, **given).default.chat.tools_in == place

    @pytest.mark.parametrize("native", ["1", "0"])
    def test_the_command_line_wins_over_native_in_the_environment(self, run: Run, native: str):
        place = "user" if native == "1" else "request"
        settings = run("--upstream", URL, "--tools-in", place, LLAMA3_TOOLS_NATIVE=native)
        assert settings.default.chat.tools_in == place

    def test_an_upstream_may_be_for_some_models(self, run: Run, file: Path):
        settings = run(
            "--upstream", URL, "--upstream", "qwen*=http://localhost:1/v1", "--upstream", "o/*=http://localhost:2"
        )
        assert settings.of_model("qwen3").upstream.url == "http://localhost:1/v1"
        assert settings.of_model("o/a").upstream.url == "http://localhost:2/v1"
        assert settings.of_model("llama3.1").upstream.url == URL
        assert (
            run("--config", str(file), "--upstream", "qwen*=http://localhost:1/v1").of_model("qwen3").upstream.url
            == "http://localhost:1/v1"
        )

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "upstream is missing"),
            (["--upstream", "ftp://a"], "upstream is a URL"),
            (["--upstream", f"{URL}/chat/completions"], f"is the address of one request: write {URL}"),
            (["--upstream", f"{URL}", "--upstream", f"qwen*={URL}/completions"], f"write {URL}"),
            (["--upstream", URL, "--cors", "foo"], "an origin in cors is * or scheme://host[:port], not 'foo'"),
            (["--upstream", URL, "--upstream", "http://localhost:1/v1"], "--upstream is given twice"),
            (["--upstream", f"qwen*={URL}"], "--upstream is given with patterns alone"),
            (["--config", "none.toml"], "none.toml: No such file"),
        ],
    )
    def test_what_is_wrong_is_said(self, run: Run, arguments: list[str], message: str):
        result = run(*arguments)
        assert (result.exit_code, message in result.stderr) == (2, True)

    def test_origins_may_stand_in_one_text_and_end_with_a_slash(self, run: Run):
        expected = ("http://localhost:3000", "https://a.example")
        given = "http://localhost:3000/,https://a.example"
        assert run("--upstream", URL, "--cors", given).cors == expected
        assert run("--upstream", URL, LLAMA3_TOOLS_CORS=given).cors == expected
        assert run("--upstream", URL, *(part for one in expected for part in ("--cors", one))).cors == expected

    @pytest.mark.parametrize(
        ("given", "origin"),
        [
            ("https://A.example:443/", "https://a.example"),
            ("http://localhost:80", "http://localhost"),
            ("http://localhost:443", "http://localhost:443"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("chrome-extension://abc", "chrome-extension://abc"),
        ],
    )
    def test_origins_are_kept_as_browsers_write_them(self, run: Run, given: str, origin: str):
        assert run("--upstream", URL, "--cors", given).cors == (origin,)

    def test_every_setting_is_an_option(self):
        options = {parameter.name for parameter in serve.params}
        assert {*OF_MODEL, *OF_SERVER} - {"upstream"} == options - {"upstreams", "config"}
