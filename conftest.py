"""Runs the Python snippets of the README, of SECURITY.md and of the pages in `docs/`.

Each page is one program, from top to bottom. Each snippet of the README is a program of its own.

All that a snippet prints stands in it after `#>`, in the order of printing; `…` there stands for anything, such as
the random digits of a call's id.

Where a snippet talks to an endpoint, as in `base_url="http://localhost:11434/v1"`, a server on loopback takes its
place. It answers with `ANSWER`, which holds a call, and with `LAST` once it is sent what a tool gave, or its error.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Example, Lexeme, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser

import llama3_tools  # noqa: F401 - whole, before a module of it is collected alone

ANSWER = 'Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}} One moment.'

LAST = "The sun shines in Paris."

_ENDPOINT = re.compile(r"http://(?:localhost|127\.0\.0\.1):\d+/v1")
_TOLD = re.compile(r"\b(?:Result|Error) of ")
_EXPECTED_LINE = re.compile(r"^[ \t]*#>[ ]?(.*)$", re.MULTILINE)
_run = PythonEvaluator()


@pytest.fixture(scope="session")
def documented_endpoint() -> Iterator[str]:
    """The base URL of the server that stands in for those that the documentation names."""
    from endpoints.script import Turn, cut_at, scripted  # noqa: PLC0415 - only snippets need it
    from endpoints.server import Answer, LoopbackServer, Request  # noqa: PLC0415 - the same
    from endpoints.wire import api  # noqa: PLC0415 - the same

    first, last = (
        scripted(itertools.repeat(Turn(pieces=cut_at(text, *range(4, len(text), 4))))) for text in (ANSWER, LAST)
    )

    def model(request: Request) -> Answer:
        messages = request.body.get("messages")
        is_told = isinstance(messages, list) and _TOLD.search(str(messages[-1])) is not None
        return (last if is_told else first)(request)

    server = LoopbackServer(api(["llama3.1"], model))
    with server, pytest.MonkeyPatch.context() as environment:
        for name in ("NO_PROXY", "no_proxy"):
            environment.setenv(name, "127.0.0.1")
        yield server.base_url


def _run_and_compare(example: Example) -> str | None:
    """Run one snippet. What it gives is what went wrong, as Sybil has it."""
    if Path(example.path).name == "README.md":
        for name in example.namespace.keys() - {"__name__", "__builtins__", "documented_endpoint"}:
            del example.namespace[name]
    source = example.parsed
    replaced = _ENDPOINT.sub(example.namespace["documented_endpoint"], source)
    example.parsed = Lexeme(replaced, source.offset, source.line_offset)
    expected = _EXPECTED_LINE.findall(source)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        _run(example)
    actual = printed.getvalue().splitlines()
    pattern = ".*?".join(re.escape(part) for part in "\n".join(expected).split("…"))
    if re.fullmatch(pattern, "\n".join(actual), re.DOTALL):
        return None
    return "\n".join(["The snippet says that it prints", *expected, "", "but it prints", *actual])


pytest_collect_file = Sybil(
    parsers=[CodeBlockParser(language="python", evaluator=_run_and_compare)],
    patterns=["README.md", "SECURITY.md", "docs/*.md"],
    setup=lambda namespace: namespace.update(__name__="__main__"),
    fixtures=["documented_endpoint"],
).pytest()
