"""What is fuzzed: for each part, what is done with an input, and how inputs of its kind are changed.

An input is bytes. Of outputs, the first byte chooses how they are read, and a second one how they are cut; the rest is
text, in which any bytes have a meaning.
"""

from __future__ import annotations

import ast
import itertools
import json
import math
import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from keyword import kwlist
from pathlib import Path
from types import MappingProxyType
from typing import Any

import invariants
from beginnings import calls_come_when_they_are_complete
from chunkings import cut
from fragments import READINGS, TOOLS
from fuzz.editing import LITERALS, OUTPUTS, mutate_text, text_of
from llama3_tools import (
    Extractor,
    ResponseFormatError,
    ToolCall,
    ToolDefinitionError,
    coerce_arguments,
    parse_response,
)

_SEEDS = Path(__file__).parent / "seeds"


@dataclass(frozen=True, slots=True)
class Target:
    """A part that is fuzzed."""

    run: Callable[[bytes], None]
    """Runs one input, and raises what is a finding."""
    seeds: str
    """The folder of what it begins with."""
    mutate: Callable[[bytes, random.Random], bytes] | None = None
    """Changes an input to another of its kind; `None`: the fuzzer's own changes reach as much."""
    headers: tuple[bytes, ...] = (b"",)
    """What is before each of the seeds."""

    def first_inputs(self) -> list[bytes]:
        """Return the inputs to begin with."""
        seeds = sorted((_SEEDS / self.seeds).iterdir())
        return [header + seed.read_bytes() for seed in seeds for header in self.headers]


_READINGS = tuple(READINGS.values())
_CUT_OFF_EVERYWHERE = 128  # characters: an output that is longer is cut off where its first chunks end
_MOST_BEGINNINGS = 128
_KEYWORDS = {*kwlist} - {"True", "False", "None"}
_PARAMETERS = ("a", "b", "c")
_DECLARED = Extractor(
    tools=[{"name": "f", "parameters": {"type": "object", "properties": {name: {} for name in _PARAMETERS}}}],
    formats=["pythonic"],
)
_PYTHONIC = (
    (Extractor(formats=["pythonic"]), (), True),
    (_DECLARED, _PARAMETERS, True),
    (_DECLARED, _PARAMETERS, False),
)
"""Who reads a pythonic call, what that knows of its parameters, and whether the call is in a list or on a line."""
_RESPONSES: tuple[dict[str, Any], ...] = (
    {},
    {"multiple": True},
    {"tools": TOOLS},
    {"tools": TOOLS, "multiple": True, "tool_choice": "required"},
    {"tools": TOOLS, "tool_choice": "f", "coerce_arguments": True},
)


def _extract(data: bytes) -> None:
    """Extract an output, and see what holds for its parts."""
    extractor, text = _READINGS[data[0] % len(_READINGS)] if data else _READINGS[0], text_of(data[1:])
    invariants.nothing_is_lost(text, extractor)
    invariants.calls_stand_where_they_say(text, extractor)
    invariants.rejections_stand_in_order(text, extractor)
    invariants.content_holds_no_other_call(text, extractor)
    invariants.plain_calls_are_accounted_for(text, extractor)


def _stream(data: bytes) -> None:
    """Stream an output in the chunks that the input says."""
    extractor, text = _READINGS[data[0] % len(_READINGS)] if data else _READINGS[0], text_of(data[2:])
    seed = data[1] if len(data) > 1 else 0
    seeded = random.Random(seed)
    places = range(1, len(text))
    chunks = cut(text, sorted(seeded.sample(places, min(len(places), seed)))) if seed else list(text)
    invariants.every_chunking_is_one_shot(chunks, extractor)
    ends = itertools.accumulate(map(len, chunks)) if len(text) > _CUT_OFF_EVERYWHERE else None
    calls_come_when_they_are_complete(text, extractor, ends and itertools.islice(ends, _MOST_BEGINNINGS))


def _pythonic(data: bytes) -> None:
    """Read a pythonic call, in a list or on a line: what is read, Python reads as the same literals."""
    text = f"f({text_of(data)})"
    for extractor, parameters, in_list in _PYTHONIC:
        calls = extractor.extract(f"[{text}]" if in_list else text).tool_calls
        if len(calls) == 1 and calls[0].span == (in_list, in_list + len(text)):
            _is_read_as_by_python(text, calls[0], parameters)


def _is_read_as_by_python(text: str, read: ToolCall, parameters: Sequence[str]) -> None:
    if _KEYWORDS & read.arguments.keys():  # a parameter may have such a name, though not in Python
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an escape that Python does not know
        try:
            call = ast.parse(text.replace("\0", " "), mode="eval").body
        except (MemoryError, RecursionError):  # Python's parser reads less deep than we do
            return
    assert isinstance(call, ast.Call)
    if any(isinstance(node, ast.Set) for node in ast.walk(call)):  # which has no order
        return
    positional = [_as_json(ast.literal_eval(value)) for value in call.args]
    named = {keyword.arg: _as_json(ast.literal_eval(keyword.value)) for keyword in call.keywords}
    arguments: Any = {**dict(zip(parameters, positional, strict=False)), **named}
    if len(positional) == 1 and not named and isinstance(positional[0], dict):
        names = positional[0].keys()
        if not parameters or names <= {*parameters}:  # all arguments in one
            arguments = positional[0]
    assert _blank(arguments) == _blank(read.arguments), (arguments, read)


def _blank(value: object) -> str:
    """Return a value with blanks for the NUL characters, which Python's parser refuses, but not their escapes."""
    return json.dumps(value, sort_keys=True).replace("\\u0000", " ")


def _as_json(value: object) -> object:
    """Return a literal of Python's as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return value


def _coercion(data: bytes) -> None:
    """Coerce arguments by a schema, twice: the second time changes nothing."""
    try:
        schema, arguments = json.loads(data)
    except (ValueError, TypeError, RecursionError):
        return
    if not isinstance(schema, dict) or not isinstance(arguments, dict) or not _is_finite(arguments):
        return
    before = json.dumps(arguments)
    try:
        first = coerce_arguments(arguments, schema)
    except ToolDefinitionError:  # parameters in place of the schema
        return
    assert json.dumps(arguments) == before
    second = coerce_arguments(first.arguments, schema)
    assert second.changes == ()
    assert second.problems == first.problems
    assert first.changes or first.arguments == arguments


def _is_finite(value: object) -> bool:
    """Return whether JSON has the value. Python's reader takes `NaN` and `1e999`, too."""
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _response(data: bytes) -> None:
    """Read a response in the strict format: as it is read without strictness, or the one error that there is."""
    options = _RESPONSES[data[0] % len(_RESPONSES)] if data else {}
    text = text_of(data[1:])
    with suppress(ResponseFormatError):
        response = parse_response(text, **options)
        extractor = Extractor(tools=options.get("tools"), coerce_arguments=options.get("coerce_arguments", False))
        assert response == extractor.extract(text)


_BY_READING = tuple(bytes([number]) for number in range(len(_READINGS)))

TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "extract": Target(_extract, "outputs", mutate_text(OUTPUTS, 1), _BY_READING),
        "stream": Target(_stream, "outputs", mutate_text(OUTPUTS, 2), tuple(one + b"\x05" for one in _BY_READING)),
        "pythonic": Target(_pythonic, "literals", mutate_text(LITERALS)),
        "coercion": Target(_coercion, "arguments"),
        "response": Target(
            _response, "responses", mutate_text(OUTPUTS, 1), tuple(bytes([number]) for number in range(len(_RESPONSES)))
        ),
    }
)
"""What is fuzzed, by name."""
