"""An output on a terminal: its calls, wrappers and rejections in colour, and the reasons below it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from llama3_tools.output.other_readings import Option, OtherCall, first_meeting
from llama3_tools.output.segments import Segment, SegmentedOutput, SegmentKind
from llama3_tools.text.escaping import escape_invisible
from llama3_tools.values import Extraction, Rejection, RejectionReason, ToolCall, shortened

__all__ = ["STYLES", "show_output"]

STYLES = {
    SegmentKind.TEXT: "",
    SegmentKind.CALL: "bold green",
    SegmentKind.REJECTED: "bold red",
    SegmentKind.QUOTED: "yellow",
    SegmentKind.REMOVED: "dim cyan",
}
"""The colour of each kind of segment. Calls, rejections and what was removed are also named below the output."""

_ADVICE = {
    RejectionReason.TRUNCATED: "let the model write more (max_tokens), unless it left out a brace or a quote",
    RejectionReason.SCHEMA_ECHO: "the model repeats its prompt: give it an example of a call",
    RejectionReason.QUOTED: "the model shows a call to the reader: tell it not to quote its calls",
}
_MARGIN = "  "
_NOTHING = (
    "Nothing in it is a whole call: no JSON object with a name and arguments, bare, in a tag or in a fence. "
    "Nor is there one with --lenient, with --format all or with other tools."
)


def show_output(screen: Console, name: str, whole: SegmentedOutput, others: Sequence[OtherCall]) -> None:
    """Print an output in colour, then what was called, what was not, and why.

    Args:
        screen: where to.
        name: what the output is called, such as its file.
        whole: the output, in segments.
        others: the calls that it would have with other options.
    """
    screen.print(Text.assemble((escape_invisible(name), "bold"), f": {_summary(whole)}"))
    output = Text()
    for segment in whole.segments:
        output.append(_seen(segment), STYLES[segment.kind])
    screen.print()
    _print_indented(screen, Text(_MARGIN), output)
    screen.print()
    rows = list(_rows(whole, others))
    most = [
        max(map(len, column), default=0) for column in zip(*((kind.value, at) for kind, at, _ in rows), strict=True)
    ]
    for kind, at, explanation in rows:
        word, place = (text.ljust(width) for text, width in zip((kind.value, at), most, strict=True))
        head = Text.assemble(_MARGIN, (word, STYLES[kind]), f"{_MARGIN}{place}{_MARGIN}")
        _print_indented(screen, head, explanation)
    if rows:
        screen.print()
    if all(kind is SegmentKind.REMOVED for kind, _, _ in rows):
        _print_indented(screen, Text(_MARGIN), Text(_NOTHING))
        screen.print()


def _print_indented(screen: Console, head: Text, text: Text) -> None:
    """Print a text with something before its first line, and as much space before the others."""
    for line in text.wrap(screen, max(screen.width - len(head) - len(_MARGIN), 1), overflow="fold"):
        screen.print(head + line, soft_wrap=True)
        head = Text(" " * len(head))


def _summary(whole: SegmentedOutput) -> str:
    extraction = whole.extraction
    counts = [(len(extraction.tool_calls), "call"), (len(extraction.rejections), "rejection")]
    return ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts if count or noun == "call")


def _rows(whole: SegmentedOutput, others: Sequence[OtherCall]) -> Iterator[tuple[SegmentKind, str, Text]]:
    place, offset = _Place(1, 1), 0
    in_rejections, elsewhere = _placed(whole.extraction, others)
    for segment in whole.segments:
        if segment.kind is SegmentKind.CALL and segment.index is not None:
            call = whole.extraction.tool_calls[segment.index]
            called = escape_invisible(f"{call.name} {call.arguments_json}", exact=True)
            yield segment.kind, str(place), Text.assemble(called, (f"  read as {call.format}{_oddities(call)}", "dim"))
        elif segment.kind is SegmentKind.REJECTED and segment.index is not None:
            why = _why(whole.extraction.rejections[segment.index], in_rejections[segment.index])
            yield segment.kind, str(place), why
        elif segment.kind is SegmentKind.REMOVED and segment.text.strip():
            yield segment.kind, str(place), Text(repr(shortened(_seen(segment))), "dim")
        while elsewhere and elsewhere[-1][0] < offset + len(segment.text):
            start, here = elsewhere.pop()
            yield SegmentKind.TEXT, str(place.after(segment.text[: start - offset])), Text("\n".join(_ways(here)))
        place, offset = place.after(segment.text), offset + len(segment.text)


class _Place(NamedTuple):
    """Where something stands, as editors count."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"

    def after(self, text: str) -> _Place:
        """Return the place after a text that stands here."""
        lines = text.count("\n")
        return _Place(self.line + lines, len(text) - text.rfind("\n") if lines else self.column + len(text))


def _placed(
    extraction: Extraction, others: Sequence[OtherCall]
) -> tuple[dict[int, list[OtherCall]], list[tuple[int, list[OtherCall]]]]:
    """Return the other calls by the rejection in which they stand, and the rest by their offsets, the last first."""
    rejected = [rejection.span for rejection in extraction.rejections]
    in_rejections: dict[int, list[OtherCall]] = defaultdict(list)
    elsewhere: dict[int, list[OtherCall]] = defaultdict(list)
    for other in others:
        index = first_meeting(rejected, other.call.span)
        (elsewhere[other.call.span[0]] if index is None else in_rejections[index]).append(other)
    return in_rejections, sorted(elsewhere.items(), reverse=True)


def _seen(segment: Segment) -> str:
    """Return the text of a segment with invisible characters written out; in calls and candidates, all of them."""
    return escape_invisible(segment.text, exact=segment.kind is not SegmentKind.TEXT)


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
