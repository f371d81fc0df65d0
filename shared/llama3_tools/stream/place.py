"""Where a call may stand, by what stands directly before."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ORDINARY", "FreshPlace", "Place"]


class Place(NamedTuple):
    """Where the candidate stands that is being read.

    It is noted when the candidate begins, as what stands before it may have left the window when it ends, and forgotten
    when a call is made.
    """

    is_after_python_tag: bool = False
    """Whether it stands directly after <|python_tag|>, which no prose has."""
    is_data: bool = False
    """Whether it stands at a member's value, or in an array, of data or of what is malformed."""


ORDINARY = Place()


class FreshPlace:
    """The place after the last call, token or opening: a call may stand there, whatever stands before on its line.

    >>> fresh = FreshPlace()
    >>> fresh.after_wrapper(40, "</tool_call>")
    >>> fresh.offset, fresh.surplus
    (40, '</tool_call>')
    """

    __slots__ = ("offset", "surplus", "token")

    def __init__(self) -> None:
        self.offset = 0
        self.token: str | None = None
        """The token that was read last, unless a call or quotation came after it."""
        self.surplus: str | None = None
        """The closing that is dropped if it follows once more. Empty: only one bracket too many is. `None`: nothing."""

    def begin_at(self, offset: int) -> None:
        """Move after a call, after quotation, or after what opens it: a token before that does not count."""
        self.offset = offset
        self.token = None

    def after_bare_call(self) -> None:
        """Note that the call stands in no wrapper: a bracket too many may follow."""
        self.surplus = ""

    def after_wrapper(self, offset: int, closing: str) -> None:
        """Move after a wrapper that closed."""
        self.offset = offset
        self.surplus = closing

    def after_token(self, offset: int, token: str) -> None:
        """Move after a token."""
        self.offset = offset
        self.token = token
