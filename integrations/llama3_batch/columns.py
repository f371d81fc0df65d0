"""The columns of a table or of JSON lines: their names or paths, and what is in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import repeat
from typing import Any

import pyarrow as pa

from llama3_batch.rows import Row, RowError, RowProblem, checked_reason, checked_text, checked_tools, written_id
from llama3_tools.errors import did_you_mean

LM_STUDIO = "data.output"
"""Where `lms log stream --json` has the outputs. Its other lines have the input, or what the server says."""
_CHAT = "messages[-1].content"

KNOWN = (
    *("text", "output", "response", "content", "completion"),
    *("choices[0].message.content", "choices[0].text", "response.body.choices[0].message.content"),  # OpenAI's
    *("message.content", LM_STUDIO, _CHAT),  # Ollama's, LM Studio's, and whole conversations
)
"""Where outputs are looked for, in this order."""

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

    def located(self, names: Collection[str], there: Collection[str], with_text: Collection[str]) -> Columns:
        """Return the same columns, that of the outputs among them.

        >>> Columns().located(["id", "output"], ["output"], ["output"]).text
        'output'
        >>> Columns("text").located(["id", "texts"], [], [])
        Traceback (most recent call last):
        llama3_batch.columns.MissingColumnError: there is no column 'text', only id, texts; did you mean 'texts'?

        Args:
            names: the columns that there are.
            there: the names and paths, of those asked for and of `KNOWN`, under which there is something.
            with_text: those of them under which there is text.

        Raises:
            MissingColumnError: one is not there.
        """
        only = f"only {', '.join(map(str, names))}" if names else "and no other"
        for place in self.places:
            if place not in there:
                raise MissingColumnError(f"there is no column {place!r}, {only}{did_you_mean(place, names)}")
        if self.text is not None:
            return self
        found = next((place for place in KNOWN if place in with_text), None)
        if found is None:
            raise MissingColumnError(
                f"no column is known to have the outputs, there is {only}: name it with --text-column, or write a path "
                "such as choices[0].message.content"
            )
        return replace(self, text=found)

    def located_in(self, schema: pa.Schema) -> Columns:
        """Return the same columns, that of the outputs among them.

        Raises:
            MissingColumnError: one is missing, is there twice, or that of the outputs has no text.
        """
        types = {place: kind for place in (*self.places, *KNOWN) if (kind := _type_at(schema, place)) is not None}
        with_text = [place for place, kind in types.items() if _is_text(kind) and not pa.types.is_null(kind)]
        found = self.located(schema.names, types, with_text)
        for name in map(first_name, found.places):
            if schema.names.count(name) > 1:
                raise MissingColumnError(f"there are several columns {name!r}: rename all but one")
        if not _is_text(types[str(found.text)]):
            kind = types[str(found.text)]
            raise MissingColumnError(
                f"the column {found.text!r} holds {kind}, not text: name the column of the outputs"
            )
        return found


def first_name(place: str) -> str:
    """Return the name of the column that a path begins with.

    >>> first_name("choices[0].message.content")
    'choices'
    """
    return str(_steps(place)[0])


def value_at(row: dict[str, Any], place: str) -> Any:  # noqa: ANN401 (any value of JSON)
    """Return what is in a row under a name or at a path.

    >>> value_at({"choices": [{"text": "Hello."}]}, "choices[0].text")
    'Hello.'

    Raises:
        LookupError: there is nothing.
    """
    if place in row:
        return row[place]
    value: Any = row
    try:
        for step in _steps(place):
            value = value[step]
    except TypeError:  # what should have an item there is text, a number or null
        raise LookupError(place) from None
    return value


def found_at(row: dict[str, Any], place: str | None) -> Any:  # noqa: ANN401 (any value of JSON)
    """Return what is in a row under a name or at a path, or `None`."""
    try:
        return None if place is None else value_at(row, place)
    except LookupError:
        return None


def text_at(row: dict[str, Any], place: str) -> str | RowError:
    """Return the output in a row, or why there is none.

    >>> text_at({"messages": [{"role": "user", "content": "Hello."}]}, "messages[-1].content")
    RowError("no_text: the last message is of the role 'user'")
    """
    if place == _CHAT and (role := found_at(row, "messages[-1].role")) not in {None, "assistant"}:
        return RowError(RowProblem.NO_TEXT, f"the last message is of the role {role!r}")
    return checked_text(found_at(row, place), place)


def rows_of(batch: pa.RecordBatch, columns: Columns, keys: Iterable[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a batch.

    Args:
        batch: the batch.
        columns: what to read in it, the outputs among it.
        keys: the keys of rows that have no id. `None`: what identifies such a row is its text.
    """
    place = str(columns.text)
    name = first_name(place) if place not in batch.schema.names else place
    texts = [text_at({name: value}, place) for value in _values(batch, name)]
    tools: Iterable[Any] = repeat(None)
    if columns.tools is not None:
        tools = (checked_tools(value, columns.tools) for value in _values_at(batch, columns.tools))
    reasons: Iterable[Any] = repeat(None)
    if columns.finish_reason is not None:
        reasons = (checked_reason(value, columns.finish_reason) for value in _values_at(batch, columns.finish_reason))
    ids: Iterable[Any] = repeat(None) if columns.id is None else map(written_id, _values_at(batch, columns.id))
    others: Iterable[str] = map(str, texts) if keys is None else keys
    for text, tool, reason, id_, other in zip(texts, tools, reasons, ids, others, strict=False):
        yield Row(other if id_ is None else id_, text, tool, reason, id_)


@lru_cache
def _steps(place: str) -> tuple[str | int, ...]:
    found = [int(match[1]) if match[1] else match[2] for match in _STEP.finditer(place)]
    return tuple(found) if "".join(match[0] for match in _STEP.finditer(place)) == place and found else (place,)


def _type_at(schema: pa.Schema, place: str) -> pa.DataType | None:
    """Return the type of what is under a name or at a path; `None`: nothing can be there."""
    if place in schema.names:
        return _value_type(schema.types[schema.names.index(place)])
    name, *steps = _steps(place)
    if name not in schema.names:
        return None
    kind = schema.types[schema.names.index(name)]
    for step in steps:
        if isinstance(step, int) and (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
            kind = kind.value_type
        elif isinstance(step, str) and pa.types.is_struct(kind) and kind.get_field_index(step) >= 0:
            kind = kind.field(step).type
        else:
            return None
    return _value_type(kind)


def _is_text(kind: pa.DataType) -> bool:
    tests = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in tests if hasattr(pa.types, f"is_{test}"))


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _values_at(batch: pa.RecordBatch, place: str) -> Iterator[Any]:
    if place in batch.schema.names:
        yield from _values(batch, place)
        return
    name = first_name(place)
    yield from (found_at({name: value}, place) for value in _values(batch, name))


def _values(batch: pa.RecordBatch, name: str) -> list[Any]:
    """Return a column's values; text that is not UTF-8 as its bytes, and what is around such text as `None`."""
    column = batch.column(name)
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_nested(column.type):
            return list(map(_decoded, column))
        return [value.as_buffer().to_pybytes() if value.is_valid else None for value in column]


def _decoded(value: pa.Scalar) -> Any:  # noqa: ANN401 (any value of JSON)
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return None
