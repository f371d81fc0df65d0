"""The one-shot function, and the configured extractor behind it and behind every stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Literal

from llama3_tools.stream import ExtractionStream
from llama3_tools.tools import Tool, ToolLike, declare_tools
from llama3_tools.values import Extraction

__all__ = ["Extractor", "extract", "new_call_id"]


def new_call_id() -> str:
    """Make an id for a tool call: `call_` and 24 random hex digits (DESIGN rule 13).

    >>> len(new_call_id())
    29
    """
    return f"call_{os.urandom(12).hex()}"
