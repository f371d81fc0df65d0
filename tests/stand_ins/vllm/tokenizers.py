"""The type of a tokenizer."""

from __future__ import annotations

from typing import Any, TypeAlias

TokenizerLike: TypeAlias = Any
