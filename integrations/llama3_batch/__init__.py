"""Content and tool calls of millions of model outputs: in Arrow tables, in files, and on engines that use either.

`extract_batch` adds a column of extractions to an Arrow table. `llama3-tools extract --jsonl` and `--parquet` read
files in the same way, row by row.

>>> import pyarrow as pa
>>> from llama3_batch import extract_batch
>>> table = pa.table({"text": ['Let me check. {"name": "get_weather", "parameters": {"city": "Paris"}}']})
>>> extraction = extract_batch(table)["extraction"][0].as_py()
>>> extraction["content"], extraction["tool_calls"][0]["name"], extraction["tool_calls"][0]["arguments_json"]
('Let me check.', 'get_weather', '{"city": "Paris"}')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from llama3_tools.errors import of_extra

if TYPE_CHECKING:
    from llama3_batch.extraction import extract_batch
    from llama3_batch.results import EXTRACTION

__all__ = ["EXTRACTION", "extract_batch"]

_MODULES = {"EXTRACTION": "results", "extract_batch": "extraction"}
"""The module of each. They need pyarrow, and the command looks into this package before it is known to be there."""


def __getattr__(name: str) -> object:
    """Import what was asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with of_extra("llama3_batch needs pyarrow: pip install 'llama3-tools[batch]'", "pyarrow"):
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
