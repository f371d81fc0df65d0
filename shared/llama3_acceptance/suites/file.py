"""A suite's file as data, and the place of whatever is wrong in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from llama3_tools.errors import Llama3ToolsError

if TYPE_CHECKING:
    from llama3_acceptance.suites.yaml_lines import KeyPath


class SuiteError(Llama3ToolsError, ValueError):
    """A suite that cannot be read. Its text has a line for each problem, with file, line and key."""


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """What a file holds, and in which lines."""

    path: Path
    """The file."""
    data: Any
    """What it holds, as JSON has it."""
    lines: Mapping[KeyPath, int] = field(repr=False)
    """The line of each value, from 1 on."""
    problems: tuple[str, ...] = ()
    """What it says twice."""

    def line(self, path: KeyPath) -> int:
        """Return the line of a value; for one that is not there, that of what it should stand in."""
        return next((self.lines[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self.lines), 1)

    def problem(self, path: KeyPath, message: str) -> str:
        """Say where something is wrong, and what: `suite.yaml:12: cases[2].expect.tool: …`."""
        return _problem(self.path, self.line(path), path, message)


def read_suite_file(path: Path) -> SuiteFile:
    """Read a file: as JSON if its name ends in `.json`, else as YAML 1.2.

    Args:
        path: a file in UTF-8.

    Raises:
        MissingExtraError: PyYAML is not installed.
        OSError: the file cannot be opened.
        SuiteError: it is neither YAML nor JSON.
    """
    from llama3_acceptance.suites.yaml_lines import YamlError, read_yaml  # noqa: PLC0415 - an extra

    try:
        text = path.read_text("utf-8-sig")
        is_json = path.suffix.lower() == ".json"
        data = json.loads(text, parse_constant=_refuse) if is_json else None
        # JSON is YAML but for its tabs, all of which stand between values.
        document = read_yaml(text.replace("\t", " ") if is_json else text)
    except UnicodeDecodeError as error:
        raise SuiteError(_problem(path, 1, (), f"not UTF-8: {error}")) from error
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} (column {error.colno})"
        raise SuiteError(_problem(path, error.lineno, (), message)) from error
    except YamlError as error:
        raise SuiteError(_problem(path, error.line, error.path, str(error))) from error
    except (ValueError, RecursionError) as error:  # a number that Python refuses; JSON that is nested too deep
        raise SuiteError(_problem(path, 1, (), str(error))) from error
    problems = tuple(_problem(path, error.line, error.path, str(error)) for error in document.twice)
    return SuiteFile(path, data if is_json else document.data, document.lines, problems)


def _problem(file: Path, line: int, path: KeyPath, message: str) -> str:
    keys = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
    return f"{file}:{line}: {keys}: {message}" if keys else f"{file}:{line}: {message}"


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"not JSON: {word}")
