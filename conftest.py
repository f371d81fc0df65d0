"""Runs the Python snippets of the README and of the pages in `docs/`.

Each page is one program, from top to bottom: a snippet runs after those before it, also if it is tested
alone or by another process than they are. Each snippet of the README is a program of its own.

All that a snippet prints is in it, after `#>`, in the order of printing; `…` there means anything, such as
the random digits of a call's id.

Where a snippet talks to an endpoint, as in `base_url="http://localhost:11434/v1"`, the demo endpoint takes its place,
the same that `make demo-server` keeps on a port. At `http://localhost:8089`, a gateway in front of it does. Clients of
Ollama find it by `OLLAMA_HOST`.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from sybil import Document, Example, Lexeme, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser

import llama3_tools  # noqa: F401 - whole, before a module of it is collected alone

# The servers whose plugins are tested here are too large to install for that: stand-ins of them come last, so that the
# servers themselves are taken where they are.
sys.path.append(str(Path(__file__).parent / "tests" / "stand_ins"))
collect_ignore = ["tests/stand_ins"]

# Each client of a test loads all certificates of this machine, which takes longer than most tests. None is ever looked
# at, as no test leaves this machine: a folder without any replaces them.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent / "tests")

# Nor is a proxy of this machine asked for servers on loopback.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"

_ENDPOINT = re.compile(r"(?P<gateway>http://localhost:8089)|http://(?:localhost|127\.0\.0\.1):\d+/v1")
_SERVERS = ("documented_endpoint", "documented_gateway")
_EXPECTED_LINE = re.compile(r"^[ \t]*#>[ ]?(.*)$", re.MULTILINE)
_run = PythonEvaluator()


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are processors, as some tests wait."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from all that is collected: it stays, and takes long to go through each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _collect_before_each_module() -> None:
    """Collect what the tests before left, and keep the garbage collector from the rest, for the same reason."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def documented_endpoint() -> Iterator[str]:
    """The base URL of the server that stands in for those that the documentation names."""
    from endpoints.demo import demo_server  # noqa: PLC0415 - only snippets need it

    with demo_server() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("OLLAMA_HOST", server.base_url.removesuffix("/v1"))
        yield server.base_url


@pytest.fixture(scope="session")
def documented_gateway(documented_endpoint: str) -> Iterator[str]:
    """The address of the gateway that stands in for the one that the documentation names."""
    from integrations.gateway.harness import running  # noqa: PLC0415 - only snippets need it
    from llama3_gateway import Gateway, GatewaySettings  # noqa: PLC0415 - the same

    with running(Gateway(GatewaySettings.model_validate({"upstream": documented_endpoint}))) as address:
        yield address


class Page(Document):
    """A page, and what its snippets printed so far."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path)
        self._printed: dict[int, str] = {}
        """By where the snippet starts."""

    def printed_by(self, example: Example) -> str:
        """Run a snippet, after what is before it and did not run yet. Return what it printed."""
        if Path(self.path).name == "README.md":
            for name in self.namespace.keys() - {"__name__", "__builtins__", *_SERVERS}:
                del self.namespace[name]
            return self._run(example)
        for each in self.examples():
            if each.start <= example.start and each.start not in self._printed:
                self._printed[each.start] = self._run(each)
        return self._printed[example.start]

    def _stand_in(self, named: re.Match[str]) -> str:
        return str(self.namespace["documented_gateway" if named["gateway"] else "documented_endpoint"])

    def _run(self, example: Example) -> str:
        source = example.parsed
        replaced = _ENDPOINT.sub(self._stand_in, source)
        example.parsed = Lexeme(replaced, source.offset, source.line_offset)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            _run(example)
        return printed.getvalue()


def _run_and_compare(example: Example) -> str | None:
    """Run one snippet. Return what went wrong, as Sybil has it."""
    assert isinstance(example.document, Page)  # noqa: S101 - as Sybil is told below
    expected = _EXPECTED_LINE.findall(example.parsed)
    actual = example.document.printed_by(example).splitlines()
    pattern = ".*?".join(re.escape(part) for part in "\n".join(expected).split("…"))
    if re.fullmatch(pattern, "\n".join(actual), re.DOTALL):
        return None
    return "\n".join(["The snippet says that it prints", *expected, "", "but it prints", *actual])


pytest_collect_file = Sybil(
    parsers=[CodeBlockParser(language="python", evaluator=_run_and_compare)],
    patterns=["README.md", "docs/*.md"],
    document_types={".md": Page},
    setup=lambda namespace: namespace.update(__name__="__main__"),
    fixtures=[*_SERVERS],
).pytest()
