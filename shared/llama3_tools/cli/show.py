"""An output on a terminal: its calls, wrappers and rejections in colour, and the reasons below it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from llama3_tools.pieces import Piece, PieceKind, Pieces
from llama3_tools.values import Extraction, RejectionReason, ToolCall, shortened
from llama3_tools.visible import visible

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
    RejectionReason.MALFORMED: "if it is closed, and of a tool of --tools, --repair may mend it",
    RejectionReason.TRUNCATED: "let the model write more (max_tokens), or give it more context",
    RejectionReason.MISSING_ARGUMENTS: "a tool that needs no argument has to be declared, with --tools",
    RejectionReason.UNKNOWN_TOOL: "declare it with --tools, or let it through with --on-unknown-tool call",
    RejectionReason.SCHEMA_ECHO: "the model repeats its prompt: give it an example of a call",
    RejectionReason.QUOTED: "the model shows a call to the reader: tell it not to quote its calls",
}
_QUOTED = "holds what would be a call, but thoughts and listings of code are not searched (rule 9)"
_NOTHING = (
    "Nothing in it looks like a call: no JSON object with a name and arguments, bare, in a tag or in a fence. "
    "Pythonic calls and code are read for the tools of --tools only, or with --format; other spellings with --lenient."
)


def show_pieces(screen: Console, name: str, whole: Pieces) -> None:
    """Print an output in colour, then what was called, what was not, and why.

    Args:
        screen: where to.
        name: what the output is called, such as its file.
        whole: the output, in pieces.
    """
    screen.print(Text.assemble((visible(name), "bold"), f": {_summary(whole)}"))
    output = Text()
    for piece in whole.pieces:
        output.append(_seen(piece), STYLES[piece.kind])
    screen.print(Padding(output, (1, 2), expand=False))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for kind, where, explanation in _rows(whole):
        table.add_row(Text(kind.value, STYLES[kind]), where, explanation)
    screen.print(Padding(table if table.row_count else Text(_NOTHING), (0, 2, 1, 2), expand=False))


def _summary(whole: Pieces) -> str:
    extraction = whole.extraction
    quoted = sum(piece.kind is PieceKind.QUOTED for piece in whole.pieces)
    counts = [(len(extraction.tool_calls), "call"), (len(extraction.rejections), "rejection"), (quoted, "quotation")]
    return ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts if count or noun == "call")


def _rows(whole: Pieces) -> Iterator[tuple[PieceKind, str, Text]]:
    line, column = 1, 1
    for piece in whole.pieces:
        where = f"{line}:{column}"
        if piece.kind is PieceKind.CALL and piece.index is not None:
            call = whole.extraction.tool_calls[piece.index]
            called = visible(f"{call.name} {call.arguments_json}", exact=True)
            yield piece.kind, where, Text.assemble(called, (f"  read as {call.format}{_oddities(call)}", "dim"))
        elif piece.kind is PieceKind.REJECTED and piece.index is not None:
            yield piece.kind, where, _why(whole.extraction, piece.index)
        elif piece.kind is PieceKind.QUOTED:
            yield piece.kind, where, Text(f"{shortened(_seen(piece), 60)!r} {_QUOTED}")
        elif piece.kind is PieceKind.REMOVED and piece.text.strip():
            yield piece.kind, where, Text(repr(shortened(_seen(piece))), "dim")
        lines = piece.text.count("\n")
        line += lines
        column = len(piece.text) - piece.text.rfind("\n") if lines else column + len(piece.text)


def _seen(piece: Piece) -> str:
    """Give the text of a piece with what hides in it written out: in a call, or what looks like one, whatever hides."""
    return visible(piece.text, exact=piece.kind is not PieceKind.TEXT)


def _oddities(call: ToolCall) -> str:
    """Say what was lenient about a call, and whether it was repaired."""
    repaired = () if call.repaired_from is None else ("repaired",)
    return visible("".join(f", {oddity}" for oddity in (*call.deviations, *repaired)), exact=True)


def _why(extraction: Extraction, index: int) -> Text:
    rejection = extraction.rejections[index]
    why = Text.assemble((rejection.reason.value, "bold"), f": {visible(rejection.detail, exact=True)}")
    advice = _ADVICE.get(rejection.reason)
    return why.append(f"\n{advice}", "dim") if advice else why
