"""Recorded responses: a file of JSON lines that grows with each response, and is read to resume or to judge anew."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llama3_tools.errors import Llama3ToolsError

_MOST_REPEATS = 1_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")


class RecordsError(Llama3ToolsError, ValueError):
    """A file of recorded responses, or a report, that cannot be read, or is of another run. Its text has the file."""


@dataclass(frozen=True, slots=True)
class Run:
    """What was asked of whom: the first line of a file of responses."""

    suite: str
    """The suite's name."""
    fingerprint: str
    """The fingerprint of the suite's commands and tools."""
    model: str = ""
    """The model's name, as the endpoint knows it; empty if that is not known."""
    base_url: str = ""
    """The endpoint."""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What was sent beside the messages, such as the temperature."""
    started: str = ""
    """When the run began, in UTC."""
    prompt: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """In which form the model was asked to call; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class Record:
    """One response to one case, as it came."""

    case: str
    """The id of the case."""
    repeat: int = 0
    """Which of the case's repeats it is, from 0 on."""
    response: Any = field(default=None, hash=False)
    """The response: of any kind that `read_response` takes."""
    latency: float = 0
    """Seconds from the request to the whole response."""
    usage: Mapping[str, int] | None = field(default=None, hash=False)
    """Tokens, as the server counted them."""
    error: str | None = None
    """Why there was no response."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of responses, read."""

    path: Path
    """The file."""
    run: Run | None
    """What it begins with; `None` for outputs that were recorded elsewhere."""
    records: tuple[Record, ...]
    """The responses, the last one of each case and repeat."""
    end: int = field(compare=False)
    """How many bytes of the file are whole lines: a run that was killed may have left half a line after them."""


def read_records(path: Path) -> Recording:
    """Read a file of responses: one that a run has written, or lines of `{"case": …, "output": …}`.

    Args:
        path: a file of JSON lines. Half a line at its end is left out.

    Raises:
        OSError: the file cannot be opened.
        RecordsError: a line that is not a response.
    """
    data = path.read_bytes()
    run: Run | None = None
    records: dict[tuple[str, int], Record] = {}
    repeats: Counter[str] = Counter()  # how many of each case are among them
    end = 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        is_last = end + len(line) == len(data)
        try:
            value: object = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError) as error:
            if is_last and not line.endswith(b"\n"):
                break
            kind = "; expected a line of JSON for each response" if number == 1 else ""
            raise RecordsError(f"{path}:{number}: not JSON: {error}{kind}") from None
        end += len(line)
        if isinstance(value, Mapping) and number == 1 and "fingerprint" in value:
            run = _run(value, f"{path}:{number}")
        elif value is not None:
            record = _record(value, f"{path}:{number}", repeats)
            repeats[record.case] += (record.case, record.repeat) not in records
            records[record.case, record.repeat] = record
    return Recording(path, run, tuple(records.values()), end)


def _run(value: Mapping[str, Any], where: str) -> Run:
    known = {name: value[name] for name in Run.__dataclass_fields__ if name in value}
    for name, part in known.items():
        if not isinstance(part, Mapping if name in {"settings", "prompt"} else str):
            raise RecordsError(f"{where}: no description of a run: {name} has another type than it should")
    return Run(**{"suite": "", **known})


def _record(value: object, where: str, repeats: Counter[str]) -> Record:
    if not isinstance(value, Mapping) or not isinstance(value.get("case"), str):
        raise RecordsError(f'{where}: expected an object with the id of a case under "case"')
    case, repeat, error = value["case"], value.get("repeat"), value.get("error")
    if repeat is None:  # outputs recorded elsewhere: several of one case are its repeats
        repeat = repeats[case]
    response = value.get("response", value.get("output"))
    if response is None and not isinstance(error, str):
        raise RecordsError(f'{where}: expected "output" (text) or "response" (an object), or the "error" in its place')
    latency, usage = value.get("latency", 0), value.get("usage")
    if type(repeat) is not int or not 0 <= repeat < _MOST_REPEATS:
        raise RecordsError(f'{where}: "repeat" is a whole number from 0 on, below {_MOST_REPEATS}')
    if type(latency) not in (int, float) or not 0 <= latency < math.inf or not isinstance(usage, (Mapping, type(None))):
        raise RecordsError(f'{where}: "latency" is a number of seconds and "usage" an object')
    return Record(case, repeat, response, latency, usage, None if response is not None else error)


def written(value: Run | Record) -> str:
    """Return the line of a run or of a record; what is not there is left out.

    >>> written(Record("tea", response={"message": {"content": "Hello"}}, latency=0.5))
    '{"case": "tea", "repeat": 0, "response": {"message": {"content": "Hello"}}, "latency": 0.5}'
    """
    parts = {name: getattr(value, name) for name in value.__dataclass_fields__}
    return to_json({name: part for name, part in parts.items() if part is not None})


def to_json(value: object, *, indent: int | None = None) -> str:
    r"""Return JSON that any file can contain and any program reads: a model and a server may write what is neither.

    >>> to_json({"half a pair": "ü\ud800", "logprob": float("-inf")})
    '{"half a pair": "\\u00fc\\ud800", "logprob": "-Infinity"}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        value = _finite(value)
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return text if text.isascii() or not _SURROGATE.search(text) else json.dumps(value, indent=indent)


def _finite(value: object) -> object:
    """Return a value with the numbers that JSON does not have as strings."""
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value
