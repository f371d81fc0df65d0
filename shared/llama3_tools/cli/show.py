"""An output on a terminal: its calls, wrappers and rejections in colour, and the reasons below it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from llama3_tools.cli.other_readings import Option, OtherCall, can_repair, first_meeting
from llama3_tools.stream.segments import Piece, PieceKind, Pieces
from llama3_tools.text.escaping import escape_invisible
from llama3_tools.values import Extraction, Rejection, RejectionReason, ToolCall, shortened

__all__ = ["STYLES", "show_pieces"]

STYLES = {
    PieceKind.TEXT: "",
    PieceKind.CALL: "bold green",
    PieceKind.REJECTED: "bold red",
    PieceKind.QUOTED: "yellow",
    PieceKind.REMOVED: "dim cyan",
}
"""The colour of each kind of piece. Each is also named below the output, for terminals without colours."""

_ADVICE = {
    RejectionReason.TRUNCATED: "let the model write more (max_tokens), unless it left out a brace or a quote",
    RejectionReason.SCHEMA_ECHO: "the model repeats its prompt: give it an example of a call",
    RejectionReason.QUOTED: "the model shows a call to the reader: tell it not to quote its calls",
}
_NOT_TRIED = "--repair may mend it, but needs its extra: pip install 'llama3-tools[repair]'"
_QUOTED = "holds what would be a call, but thoughts and listings of code are not searched (rule 9)"
_NOTHING = (
    "Nothing in it is a whole call: no JSON object with a name and arguments, bare, in a tag or in a fence. "
    "Nor is there one with --lenient, with --format all or with other tools."
)


def show_pieces(screen: Console, name: str, whole: Pieces, others: Sequence[OtherCall]) -> None:
    """Print an output in colour, then what was called, what was not, and why.

    Args:
        screen: where to.
        name: what the output is called, such as its file.
        whole: the output, in pieces.
        others: the calls that it would have with other options.
    """
    screen.print(Text.assemble((escape_invisible(name), "bold"), f": {_summary(whole)}"))
    output = Text()
    for piece in whole.pieces:
        output.append(_seen(piece), STYLES[piece.kind])
    screen.print(Padding(output, (1, 2), expand=False))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    says_why = False
    for kind, where, explanation in _rows(whole, others):
        table.add_row(Text(kind.value, STYLES[kind]), where, explanation)
        says_why |= kind is not PieceKind.REMOVED
    if table.row_count:
        screen.print(Padding(table, (0, 2, 1, 2), expand=False))
    if not says_why:
        screen.print(Padding(Text(_NOTHING), (0, 2, 1, 2), expand=False))


def _summary(whole: Pieces) -> str:
    extraction = whole.extraction
    quoted = sum(piece.kind is PieceKind.QUOTED for piece in whole.pieces)
    counts = [(len(extraction.tool_calls), "call"), (len(extraction.rejections), "rejection"), (quoted, "quotation")]
    return ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts if count or noun == "call")


def _rows(whole: Pieces, others: Sequence[OtherCall]) -> Iterator[tuple[PieceKind, str, Text]]:
    place, offset = _Place(1, 1), 0
    in_rejections, elsewhere = _placed(whole.extraction, others)
    for piece in whole.pieces:
        if piece.kind is PieceKind.CALL and piece.index is not None:
            call = whole.extraction.tool_calls[piece.index]
            called = escape_invisible(f"{call.name} {call.arguments_json}", exact=True)
            yield piece.kind, str(place), Text.assemble(called, (f"  read as {call.format}{_oddities(call)}", "dim"))
        elif piece.kind is PieceKind.REJECTED and piece.index is not None:
            yield piece.kind, str(place), _why(whole.extraction.rejections[piece.index], in_rejections[piece.index])
        elif piece.kind is PieceKind.QUOTED:
            yield piece.kind, str(place), Text(f"{shortened(_seen(piece), 60)!r} {_QUOTED}")
        elif piece.kind is PieceKind.REMOVED and piece.text.strip():
            yield piece.kind, str(place), Text(repr(shortened(_seen(piece))), "dim")
        while elsewhere and elsewhere[-1][0] < offset + len(piece.text):
            start, here = elsewhere.pop()
            yield PieceKind.TEXT, str(place.behind(piece.text[: start - offset])), Text("\n".join(_ways(here)))
        place, offset = place.behind(piece.text), offset + len(piece.text)


class _Place(NamedTuple):
    """Where something stands, as editors count."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"

    def behind(self, text: str) -> _Place:
        """Give the place behind a text that stands here."""
        lines = text.count("\n")
        return _Place(self.line + lines, len(text) - text.rfind("\n") if lines else self.column + len(text))


def _placed(
    extraction: Extraction, others: Sequence[OtherCall]
) -> tuple[dict[int, list[OtherCall]], list[tuple[int, list[OtherCall]]]]:
    """Give the other calls by the rejection in which they stand, and the rest by their offsets, the last one first."""
    rejected = [rejection.span for rejection in extraction.rejections]
    in_rejections: dict[int, list[OtherCall]] = defaultdict(list)
    elsewhere: dict[int, list[OtherCall]] = defaultdict(list)
    for other in others:
        index = first_meeting(rejected, other.call.span)
        (elsewhere[other.call.span[0]] if index is None else in_rejections[index]).append(other)
    return in_rejections, sorted(elsewhere.items(), reverse=True)


def _seen(piece: Piece) -> str:
    """Give the text of a piece with what hides in it written out: in a call, or what looks like one, whatever hides."""
    return escape_invisible(piece.text, exact=piece.kind is not PieceKind.TEXT)


def _oddities(call: ToolCall) -> str:
    """Say what was lenient about a call, and whether it was repaired."""
    repaired = () if call.repaired_from is None else ("repaired",)
    return escape_invisible("".join(f", {oddity}" for oddity in (*call.deviations, *repaired)), exact=True)


def _why(rejection: Rejection, others: Sequence[OtherCall]) -> Text:
    why = Text.assemble((rejection.reason.value, "bold"), f": {escape_invisible(rejection.detail, exact=True)}")
    for advice in _ways(others) or _advice(rejection.reason):
        why.append(f"\n{advice}", "dim")
    return why


def _advice(reason: RejectionReason) -> list[str]:
    if reason is RejectionReason.MALFORMED:
        return [] if can_repair() else [_NOT_TRIED]
    return [_ADVICE[reason]] if reason in _ADVICE else []


def _ways(others: Sequence[OtherCall]) -> list[str]:
    """Say with which options there is a call in a place, and which call it is."""
    ways: dict[str, list[str]] = defaultdict(list)
    for other in others:
        call = shortened(escape_invisible(f"{other.call.name} {other.call.arguments_json}", exact=True), 60)
        ways[call].append(f"with {' and '.join(_written(option, other.call) for option in other.options)}")
    return [f"{', or '.join(dict.fromkeys(options))}, it is a call: {call}" for call, options in ways.items()]


def _written(option: Option, call: ToolCall) -> str:
    return f"--tools that declare {escape_invisible(call.name, exact=True)}" if option is Option.TOOLS else option.value
