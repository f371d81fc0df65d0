"""Reads files of outputs: each line is an output as a JSON object.

The text is under `raw_output` or `raw`, and the functions that the model was shown, if they are known, under
`functions` or `tools`.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from llama3_tools import Extractor, ToolDefinitionError

_T = TypeVar("_T")

_OUTPUT = '{"raw_output": "It is sunny.", "functions": [{"name": "get_weather", "parameters": {}}]}'
_TYPES = {
    **dict.fromkeys(("dict", "HashMap"), "object"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("tuple", "list", "Array", "ArrayList"), "array"),
    **dict.fromkeys(("String", "char"), "string"),
    **dict.fromkeys(("any", "Any"), ""),
    "long": "integer",
    "bool": "boolean",
}
"""The Berkeley leaderboard's names of types, as JSON Schema has them; `any` is no type there."""
_ANY = Extractor(formats="all")
_TAGGED = re.compile(r"<function\W([\w.-]+)")
"""Finds the name in a tag, however that is spelt: misspelt ones are read for declared tools only."""


class Sample(NamedTuple):
    """An output and the tools that are declared for it."""

    text: str
    tools: str
    """In JSON, so that equal tools are read once."""


def read_file(path: Path) -> Iterator[Sample]:
    """Read a file of outputs.

    Raises:
        OSError: it cannot be read.
        ValueError: a line of it is no output.
    """
    return read_lines(path, sample_of, f"an output such as {_OUTPUT}")


def read_lines(path: Path, read: Callable[[Mapping[str, Any]], _T], expected: str) -> Iterator[_T]:
    """Read each line of a file, which is an object in JSON.

    Args:
        path: the file, plain or .gz.
        read: reads one object.
        expected: what a line has to hold, for the error.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line cannot be read, or the file is no text in UTF-8, or cut off.
    """
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                yield read(json.loads(line))
            except ToolDefinitionError as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise ValueError(f"{path}, line {number}: expected {expected}") from error


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        try:
            yield from lines
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: expected text in UTF-8: {error}") from error
        except (EOFError, zlib.error) as error:
            raise ValueError(f"{path}: cut off or damaged: {error}. Get it again") from error


def sample_of(row: Mapping[str, Any]) -> Sample:
    """Read an output and the functions that the model was shown."""
    text = row["raw_output"] if "raw_output" in row else row["raw"]
    if not isinstance(text, str):
        raise TypeError("the text of an output is a string")
    functions = row.get("functions") or row.get("tools") or []
    declared = [functions] if isinstance(functions, dict) else functions
    return Sample(text, json.dumps([tool_of(one, text) for one in declared] or _named(text)))


def tool_of(declaration: Mapping[str, Any] | str, text: str) -> dict[str, Any]:
    """Read the declaration of a tool, or its name alone, by the name that a text has."""
    if isinstance(declaration, str):
        return {"name": declaration}
    function = declaration.get("function", declaration)
    name = function["name"]
    plain = name.replace(".", "_")  # as the leaderboard shows it to some models
    return {
        "name": plain if name not in text and plain in text else name,
        "description": function.get("description", ""),
        "parameters": _schema(function.get("parameters") or {"type": "object"}),
    }


def _schema(schema: Any) -> Any:  # noqa: ANN401 - a part of a schema is any JSON
    if isinstance(schema, list):
        return [_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    read: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            read |= {key: known} if (known := _TYPES.get(value, value)) else {}
        elif key == "properties" and isinstance(value, dict):
            read[key] = {name: _schema(one) for name, one in value.items()}
        else:
            read[key] = _schema(value) if key in ("items", "additionalProperties") else value
    return read


def _named(text: str) -> list[dict[str, str]]:
    """Declare what an output calls, if it is not known what the model was shown."""
    extraction = _ANY.extract(text)
    names = [call.name for call in extraction.tool_calls] + _TAGGED.findall(text)
    names += [one.name for one in extraction.rejections if one.name]
    return [{"name": name} for name in dict.fromkeys(names)]
