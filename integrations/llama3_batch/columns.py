"""The columns of a table or of JSON lines: their names or paths, and what is under them in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

import pyarrow as pa

from llama3_tools.errors import did_you_mean

Record: TypeAlias = "dict[str, Any]"
"""A row: its values by the names of their columns."""

CHAT = "messages[-1].content"
"""Where a conversation has its output, if its last message is the model's."""
LM_STUDIO = "data.output"
"""Where `lms log stream --json` has the outputs. Its other lines have the input, or what the server says."""

KNOWN = (
    *("text", "output", "response", "content", "completion"),
    *("choices[0].message.content", "choices[0].text", "response.body.choices[0].message.content"),  # OpenAI's
    *("message.content", LM_STUDIO, CHAT),  # Ollama's, LM Studio's, and whole conversations
)
"""Where outputs are looked for, in this order."""

FIRST_ROWS = 100
"""In how many rows the columns are looked for."""

_STEP = re.compile(r"\[(-?[0-9]{1,9})\]|\.?([^.\[\]]+)")


class MissingColumnError(ValueError):
    """A column that is missing, or cannot be an output or its tools."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to read, by their names or paths such as `choices[0].message.content`."""

    text: str | None = None
    """The outputs; `None`: the first of `KNOWN` that has text."""
    tools: str | None = None
    """The tools of each, as JSON."""
    id: str | None = None
    """The keys that ids are made from."""
    finish_reason: str | None = None
    """Why each output ended."""

    @property
    def places(self) -> list[str]:
        """The names and paths, each once."""
        given = (self.text, self.tools, self.id, self.finish_reason)
        return list(dict.fromkeys(place for place in given if place is not None))

    def names(self, there: Sequence[str]) -> list[str]:
        """Return the names of the columns that they begin with, of those that there are.

        >>> Columns("a.b", id="choices[0].id").names(["a", "a.b", "choices", "other"])
        ['a.b', 'choices']
        """
        places = self.places if self.text is not None else [*self.places, *KNOWN]
        named = {_column(place, there) for place in places}
        return [name for name in there if name in named]

    def located(self, names: Sequence[str], rows: Sequence[Record]) -> Columns:
        """Return the same columns, that of the outputs among them.

        >>> Columns().located(["id", "output"], [{"id": 1, "output": "Hello."}]).text
        'output'
        >>> Columns("text").located(["id", "texts"], [{"id": 1, "texts": "Hello."}])
        Traceback (most recent call last):
        llama3_batch.columns.MissingColumnError: there is no column 'text', only id, texts; did you mean 'texts'?

        Args:
            names: the columns that there are.
            rows: the first rows.

        Raises:
            MissingColumnError: one is missing, is there twice, or that of the outputs has no text.
        """
        if not names:
            return replace(self, text=self.text or KNOWN[0])
        columns = replace(self, text=self.text or (_place_of_text(names, rows) if rows else KNOWN[0]))
        for place in (columns if rows else self).places:
            column = _column(place, names)
            if column not in names or (rows and not any(_may_have(row, place) for row in rows)):
                only = f"only {', '.join(names)}"
                raise MissingColumnError(f"there is no column {place!r}, {only}{did_you_mean(place, names)}")
            if names.count(column) > 1:
                raise MissingColumnError(f"there are several columns {column!r}: rename all but one")
        values = [value for row in rows if (value := found_at(row, columns.text)) is not None]
        if values and not any(isinstance(value, (str, bytes)) for value in values):
            raise MissingColumnError(f"the column {self.text!r} has no text: name the column of the outputs")
        return columns


def _place_of_text(names: Sequence[str], rows: Sequence[Record]) -> str:
    """Return the first of `KNOWN` that has text, or else that is there and has nothing yet."""
    with_text = (place for place in KNOWN if any(_is_text(row, place) for row in rows))
    nothing = (place for place in KNOWN if all(found_at(row, place) is None for row in rows))
    empty = (place for place in nothing if any(_followed(row, place)[1] is None for row in rows))
    if (found := next(chain(with_text, empty), None)) is None:
        raise MissingColumnError(
            f"no column is known to have the outputs, there is only {', '.join(names)}: name it with --text-column, or "
            "write a path such as choices[0].message.content"
        )
    return found


def found_at(row: Record, place: str | None) -> Any:  # noqa: ANN401 (any value of JSON)
    """Return what is in a row under a name or at a path, or `None`.

    >>> found_at({"choices": [{"text": "Hello."}]}, "choices[0].text")
    'Hello.'
    """
    if place is None:
        return None
    value, ended = _followed(row, place)
    return value if ended is None else None


def is_last_word(row: Record) -> bool:
    """Return whether the last message of a conversation is the model's."""
    return found_at(row, "messages[-1].role") in {None, "assistant"}


def records_of(batch: pa.RecordBatch, columns: Columns) -> Iterator[Record]:
    """Yield the rows of a batch with what is to be read in them.

    Text that is not UTF-8 is there as its bytes, and what is around such text as `None`.
    """
    wanted = columns.names(batch.schema.names)
    chosen = {name: _values(batch.column(index)) for index, name in enumerate(batch.schema.names) if name in wanted}
    for number in range(batch.num_rows):
        yield {name: values[number] for name, values in chosen.items()}


def _may_have(row: Record, place: str) -> bool:
    """Return whether there is something at a path, or may be in another row, as there is null or a short list."""
    value, ended = _followed(row, place)
    return ended is None or isinstance(ended, IndexError) or value is None


def _followed(row: Record, place: str) -> tuple[Any, Exception | None]:
    """Return what is at a path, or the last that is there on the way to it, and why that has no next step."""
    if place in row:
        return row[place], None
    value: Any = row
    try:
        for step in _steps(place):
            value = value[step]
    except (LookupError, TypeError) as error:  # it lacks such an item, is text, a number or null
        return value, error
    return value, None


def _is_text(row: Record, place: str) -> bool:
    return isinstance(found_at(row, place), (str, bytes)) and (place != CHAT or is_last_word(row))


def _column(place: str, names: Sequence[str]) -> str:
    return place if place in names else str(_steps(place)[0])


@lru_cache
def _steps(place: str) -> tuple[str | int, ...]:
    steps = list(_STEP.finditer(place))
    if not steps or "".join(step[0] for step in steps) != place:
        return (place,)
    return tuple(int(step[1]) if step[1] else step[2] for step in steps)


def _values(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return list(map(_value, column.dictionary_decode() if pa.types.is_dictionary(column.type) else column))


def _value(value: pa.Scalar) -> Any:  # noqa: ANN401 (any value of JSON)
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return None if pa.types.is_nested(value.type) else value.as_buffer().to_pybytes()
