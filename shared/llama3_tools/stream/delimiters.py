"""Delimiters: what may stand between two calls, and what goes after one (rule 3)."""

from __future__ import annotations

import re

__all__ = ["DELIMITER", "DELIMITERS"]

DELIMITERS = re.compile(r"[\s;,]*")
"""White space and delimiters: between two calls they vanish."""

DELIMITER = re.compile(r"\s*(?:;|,(?=[^\S\r\n]*(?:[\r\n]|\Z)))?\s*")
"""White space, and one `;`, or one `,` at the end of its line: after a call they vanish."""
