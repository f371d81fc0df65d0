"""What the page on the gateway says is so: its options, its errors, its paths."""

from __future__ import annotations

import re
from pathlib import Path

import click

from llama3_gateway.command import serve
from llama3_gateway.sources import given_settings

PAGE = (Path(__file__).parents[3] / "docs" / "gateway-reference.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in section(title).splitlines() if line.startswith("| ")][1:]


def test_it_lists_every_option():
    listed = {row[0].strip("`") for row in rows("Options")}
    options = (param.opts[0] for param in serve.get_params(click.Context(serve)))
    assert listed == {option for option in options if option.startswith("--")} - {"--help"}


def test_its_files_can_be_read(tmp_path: Path):
    path, read = tmp_path / "gateway.toml", []
    for toml in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL):
        path.write_text(toml, "utf-8")
        read.append(given_settings({}, path))
    options, keys = read
    assert options.of_model("qwen3").chat.prompt_format == "function"
    assert [upstream.api_key for upstream in keys.upstreams] == ["the key of example.com", "the key of llama-server"]
