"""Loads a suite from its file."""

from __future__ import annotations

from pathlib import Path

from llama3_acceptance.values import Suite
from llama3_tools.errors import Llama3ToolsError, of_extra


class SuiteError(Llama3ToolsError, ValueError):
    """A suite that cannot be read. Its text has a line for each problem, with file, line and key."""


def load_suite(path: str | Path) -> Suite:
    """Read a suite from its file.

    Args:
        path: a YAML file, or a JSON file if its name ends in `.json`, in UTF-8.

    Raises:
        MissingExtraError: PyYAML or pydantic is not installed.
        OSError: the file cannot be opened.
        SuiteError: something is wrong in it, or in the file of its tools. Its text has a line for each problem, as in
            `commands.yaml:12: cases[2].expect.tool: 'get_wether' is not declared; did you mean 'get_weather'?`.
    """
    with of_extra("suites need PyYAML and pydantic: pip install 'llama3-tools[acceptance]'", "pydantic", "yaml"):
        from llama3_acceptance.suites.read import read_suite  # noqa: PLC0415 - an extra

    return read_suite(Path(path))
