"""What reads rows: one extractor for all of them, or one for the tools of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from llama3_batch.results import Result, error_result, result_of
from llama3_batch.rows import Row, RowError, RowProblem
from llama3_tools import Extraction, Extractor, ReadOptions, ToolCall, ToolLike
from llama3_tools.chat import is_complete
from llama3_tools.output.other_readings import calls_if_declared
from llama3_tools.tools import read_tool_list

_KEPT = 256
"""For how many lists of tools the extractors are kept."""


def _no_id() -> str:
    """Return a placeholder for an id until it is made from the row's key."""
    return ""


class RowReader:
    """Reads rows. It never changes, and can be pickled.

    >>> reader = RowReader(None, ReadOptions())
    >>> _, result = reader.read(Row("a", '{"name": "f", "parameters": {}}'))
    >>> result["tool_calls"][0]["id"]
    'call_f14606439fd30160ce62a344'

    Raises:
        TypeError: `tools` is not a list of tools.
        ToolDefinitionError: a declaration that cannot be read.
        ValueError: coercion or repair has no tools to go by.
    """

    def __init__(
        self,
        tools: Iterable[ToolLike] | None,
        options: ReadOptions,
        *,
        has_own_tools: bool = False,
        coerced: bool | None = None,
        complete: bool = True,
    ) -> None:
        """Make a reader.

        Args:
            tools: the tools that all rows may call; `None`: any name may be called.
            options: how outputs are read. Ids are made from keys, whatever it says of them.
            has_own_tools: whether each row has its tools.
            coerced: whether results have the arguments after coercion; `None`: as `options` has it.
            complete: whether the model ended its turns, rather than a limit, unless a finish reason says otherwise.
        """
        self._options = replace(options, id_factory=_no_id)
        self._coerced = options.coerce_arguments if coerced is None else coerced
        self._complete = complete
        self._shared = None if has_own_tools else Extractor(tools, options=self._options)

    def read(self, row: Row) -> tuple[Extraction | RowError, Result]:
        """Return what was extracted from a row, and the same as its result; or why it cannot be read."""
        try:
            if isinstance(row.text, RowError):
                raise row.text
            if isinstance(row.finish_reason, RowError):
                raise row.finish_reason
            extractor = self._shared or self._extractor(row.tools)
        except RowError as error:
            return error, error_result(error)
        extraction = extractor.extract(row.text, complete=self._complete and is_complete(row.finish_reason))
        return extraction, result_of(extraction, row.text, row.key, coerced=self._coerced)

    def unread(self, row: Row, found: Extraction | RowError) -> Sequence[ToolCall] | None:
        """Return the calls of a row that has none, if its tools were declared; `None`: they are, or it is not read."""
        if isinstance(found, RowError):
            return None
        extractor = self._shared or self._extractor(row.tools)
        if extractor.tools is not None:
            return None
        return () if found.tool_calls else calls_if_declared(extractor, str(row.text))

    def _extractor(self, tools: str | RowError | None) -> Extractor:
        if isinstance(tools, RowError):
            raise tools
        kept = _extractor(tools, self._options)
        if isinstance(kept, str):
            raise RowError(RowProblem.BAD_TOOLS, kept)
        return kept


@lru_cache(_KEPT)
def _extractor(tools: str | None, options: ReadOptions) -> Extractor | str:
    """Return the extractor for tools in JSON, or what is wrong with them."""
    try:
        declared = None if tools is None else read_tool_list(tools)
        if declared is None:
            return Extractor(options=replace(options, coerce_arguments=False, repair=False))
        return Extractor(declared, options=options if declared else replace(options, on_unknown_tool="text"))
    except (TypeError, ValueError) as error:
        return str(error)
