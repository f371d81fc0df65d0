"""One row of a table or a file, read: what was extracted from its output, or why it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from llama3_batch.columns import CHAT, Columns, Record, found_at, is_last_word
from llama3_batch.results import Result, error_result, result_of
from llama3_tools import Extraction, Extractor, ReadOptions, ToolCall, ToolLike
from llama3_tools.chat import is_complete
from llama3_tools.errors import a_type
from llama3_tools.output.other_readings import calls_if_declared
from llama3_tools.tools import read_tool_list

_KEPT = 256
"""For how many lists of tools the extractors are kept."""


RowProblem: TypeAlias = Literal[
    "no_text",
    "server_calls",
    "not_text",
    "lone_surrogate",
    "not_utf_8",
    "not_json",
    "too_long",
    "bad_tools",
    "bad_finish_reason",
]
"""Why a row cannot be read: its text is missing, perhaps as the server found the calls, is something else, has half of
a surrogate pair, which no encoding can write, or is not UTF-8; its line is not a JSON object, or too long; its
tools or finish reason cannot be read."""


class RowError(ValueError):
    """A row that cannot be read.

    >>> str(RowError("no_text", "there is no 'text'"))
    "no_text: there is no 'text'"
    """

    def __init__(self, problem: RowProblem, detail: str) -> None:
        super().__init__(f"{problem}: {detail}")
        self.problem: RowProblem = problem
        """Why, in one word."""


class ReadRow(NamedTuple):
    """A row that was read."""

    id: str | None
    """Its key in the input; `None`: it has none."""
    text: str
    """The output; empty if there is none."""
    found: Extraction | RowError
    """What was extracted from it, or why nothing was."""
    result: Result
    """The same in values of JSON."""
    extractor: Extractor | None
    """What read it."""

    @property
    def if_declared(self) -> Sequence[ToolCall] | None:
        """The calls that it would have if its tools were declared; `None`: they are, or it cannot be read."""
        if isinstance(self.found, RowError) or self.extractor is None or self.extractor.tools is not None:
            return None
        return () if self.found.tool_calls else calls_if_declared(self.extractor, self.text)


def _no_id() -> str:
    """Return a placeholder for an id until it is made from the row's key."""
    return ""


class RowReader:
    """Reads rows. It never changes, and can be pickled.

    >>> reader = RowReader(Columns("text", id="key"), None, ReadOptions())
    >>> row = reader.read({"key": "a", "text": '{"name": "f", "parameters": {}}'})
    >>> row.result["tool_calls"][0]["id"]
    'call_f14606439fd30160ce62a344'
    >>> reader.read({"key": "b", "text": 5}).result["error"]
    "not_text: 'text' is an int"

    Raises:
        TypeError: `tools` is not a list of tools.
        ToolDefinitionError: a declaration that cannot be read.
        ValueError: coercion or repair has no tools to go by.
    """

    def __init__(
        self,
        columns: Columns,
        tools: Iterable[ToolLike] | None,
        options: ReadOptions,
        *,
        coerced: bool | None = None,
        complete: bool = True,
    ) -> None:
        """Make a reader.

        Args:
            columns: what to read in a row, the column of the outputs among them.
            tools: the tools that all rows may call, unless each has its own; `None`: any name may be called.
            options: how outputs are read. Ids are made from keys, whatever it says of them.
            coerced: whether results have the arguments after coercion; `None`: as `options` has it.
            complete: whether the model ended its turns, rather than a limit, unless a finish reason says otherwise.
        """
        self._columns = columns
        self._options = replace(options, id_factory=_no_id)
        self._coerced = options.coerce_arguments if coerced is None else coerced
        self._complete = complete
        self._shared = Extractor(tools, options=self._options) if columns.tools is None else None

    def read(self, record: Record | RowError, key: str | None = None) -> ReadRow:
        """Read a row, or return why it cannot be read.

        Args:
            record: the row, or what is wrong with it.
            key: what the ids of its calls are made from if it has no id; `None`: its text.
        """
        id_, text, columns = None, "", self._columns
        try:
            if isinstance(record, RowError):
                raise record
            id_ = written_id(found_at(record, columns.id))
            text = _output(record, str(columns.text))
            is_whole = self._complete
            if (reason := found_at(record, columns.finish_reason)) is not None:
                is_whole = is_complete(_word(reason, columns.finish_reason, "bad_finish_reason")) and is_whole
            extractor = self._shared or self._own_extractor(found_at(record, columns.tools))
        except RowError as error:
            return ReadRow(id_, text, error, error_result(error), None)
        extraction = extractor.extract(text, complete=is_whole)
        key = id_ if id_ is not None else text if key is None else key
        return ReadRow(id_, text, extraction, result_of(extraction, text, key, coerced=self._coerced), extractor)

    def _own_extractor(self, tools: object) -> Extractor:
        if isinstance(tools, (str, bytes)):
            tools = _word(tools, self._columns.tools, "bad_tools")
        elif tools is not None:
            tools = json.dumps(tools, default=str)
        return _extractor(tools, self._options)


@lru_cache(_KEPT)
def _extractor(tools: str | None, options: ReadOptions) -> Extractor:
    """Return the extractor for tools in JSON.

    Raises:
        RowError: they cannot be read.
    """
    try:
        declared = None if tools is None else read_tool_list(tools)
        if declared is None:
            return Extractor(options=replace(options, coerce_arguments=False, repair=False))
        return Extractor(declared, options=options if declared else replace(options, on_unknown_tool="text"))
    except (TypeError, ValueError) as error:
        raise RowError("bad_tools", str(error)) from None


def _output(row: Record, place: str) -> str:
    if place == CHAT and not is_last_word(row):
        role = found_at(row, "messages[-1].role")
        raise RowError("no_text", f"the last message is of the role {role!r}")
    text = found_at(row, place)
    if not text and found_at(row, calls := f"{place.removesuffix('content')}tool_calls"):
        raise RowError("server_calls", f"no text, as the server found the calls: they are under {calls!r}")
    return _text(text, place)


def _word(value: object, column: str | None, problem: RowProblem) -> str:
    """Return a value as text; one that is no text is another problem than an output that is none."""
    try:
        return _text(value, str(column))
    except RowError as error:
        raise RowError(problem, str(error)) from None


def _text(value: object, column: str) -> str:
    """Return a value if it is text that can be written.

    Raises:
        RowError: it is not.
    """
    if value is None:
        raise RowError("no_text", f"there is no {column!r}")
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise RowError("not_utf_8", f"{column!r} is not UTF-8 at byte {error.start}") from None
    if not isinstance(value, str):
        raise RowError("not_text", f"{column!r} is {a_type(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            where = f"{column!r} has half a surrogate pair at offset {error.start}"
            raise RowError("lone_surrogate", where) from None
    return value


def written_id(value: object) -> str | None:
    r"""Return a row's key as text: other values as JSON, and bytes that are not UTF-8 in hexadecimal digits.

    >>> written_id("a"), written_id(7), written_id(True), written_id(b"a"), written_id(b"\xff\x00"), written_id(None)
    ('a', '7', 'true', 'a', 'ff00', None)
    """
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()
    if isinstance(value, (bool, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return None if value is None else str(value)
