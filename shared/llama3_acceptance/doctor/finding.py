"""A finding of the doctor, and its names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

IN_BETWEEN = "run llama3-tools between agent and server: it finds the calls in the text"
"""What to do about most of what a server loses."""

StillWorks: TypeAlias = Literal["native", "text", "nothing"]
"""What works in spite of a finding: the server's own calls, only calls in the text, or nothing that is known."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or worth knowing."""

    code: str
    """Its name, for programs: `calls_as_text`."""
    what: str
    """What was found."""
    to_do: str
    """What to do about it."""
    is_fault: bool = True
    """Whether it is wrong; if not, it is a note."""
    still_works: StillWorks = "text"
    """What can be advised nevertheless. A note has `native`: it is no reason against the server's own calls."""
