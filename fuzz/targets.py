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
from collections.abc import Callable, Mapping
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
from llama3_tools import Extractor, ResponseFormatError, coerce_arguments, parse_response
from mutations import mutate_json, mutate_text, text_of

__all__ = ["TARGETS", "Target"]

_SEEDS = Path(__file__).parent / "seeds"


@dataclass(frozen=True, slots=True)
class Target:
    """A part that is fuzzed."""

    run: Callable[[bytes], None]
    """Runs one input, and raises what is a finding."""
    mutate: Callable[[bytes, random.Random], bytes]
    """Changes an input to another of its kind."""
    seeds: str
    """The folder of what it begins with."""
    headers: tuple[bytes, ...] = (b"",)
    """What stands before each of the seeds."""

    def first_inputs(self) -> list[bytes]:
        """Give the inputs to begin with."""
        seeds = sorted((_SEEDS / self.seeds).iterdir())
        return [header + seed.read_bytes() for seed in seeds for header in self.headers]


_READINGS = tuple(READINGS.values())
_CUT_OFF_EVERYWHERE = 128  # characters: an output that is longer is cut off where its first chunks end
_MOST_BEGINNINGS = 128
_KEYWORDS = {*kwlist} - {"True", "False", "None"}
_PYTHONIC = Extractor(formats=["pythonic"])
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
    """Read a pythonic call: what is read, Python reads as the same literals."""
    text = f"[f({text_of(data)})]"
    calls = _PYTHONIC.extract(text).tool_calls
    if len(calls) != 1 or calls[0].span != (1, len(text) - 1):
        return
    if _KEYWORDS & calls[0].arguments.keys():  # a parameter may have such a name, though not in Python
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an escape that Python does not know
        try:
            tree = ast.parse(text.replace("\0", " "), mode="eval").body
        except (MemoryError, RecursionError):  # Python's parser reads less deep than we do
            return
    assert isinstance(tree, ast.List)
    (call,) = tree.elts
    assert isinstance(call, ast.Call)
    if not call.args and not any(isinstance(node, ast.Set) for node in ast.walk(call)):  # which has no order
        read = {keyword.arg: _as_json(ast.literal_eval(keyword.value)) for keyword in call.keywords}
        assert _blank(read) == _blank(calls[0].arguments), (read, calls[0])


def _blank(value: object) -> str:
    """Give a value with blanks for the NUL characters, which Python's parser refuses, but not their escapes."""
    return json.dumps(value, sort_keys=True).replace("\\u0000", " ")


def _as_json(value: object) -> object:
    """Give a literal of Python's as JSON has it."""
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
    first = coerce_arguments(arguments, schema)
    assert json.dumps(arguments) == before
    second = coerce_arguments(first.arguments, schema)
    assert second.changes == ()
    assert second.problems == first.problems
    assert first.changes or first.arguments == arguments


def _is_finite(value: object) -> bool:
    """Tell whether JSON has the value. Python's reader takes `NaN` and `1e999`, too."""
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
        "extract": Target(_extract, mutate_text(1), "outputs", _BY_READING),
        "stream": Target(_stream, mutate_text(2), "outputs", tuple(header + b"\x05" for header in _BY_READING)),
        "pythonic": Target(_pythonic, mutate_text(0), "literals"),
        "coercion": Target(_coercion, mutate_json, "arguments"),
        "response": Target(
            _response, mutate_text(1), "responses", tuple(bytes([number]) for number in range(len(_RESPONSES)))
        ),
    }
)
"""What is fuzzed, by name."""
