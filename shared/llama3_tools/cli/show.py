"""An output on a terminal: its calls, wrappers and rejections in colour, and the reasons below it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from llama3_tools.output.explanation import Explanation, escaped_segment, explain_output
from llama3_tools.output.other_readings import Option, OtherCall
from llama3_tools.output.segments import SegmentedOutput, SegmentKind
from llama3_tools.text.escaping import escape_invisible

STYLES = {
    SegmentKind.TEXT: "",
    SegmentKind.CALL: "bold green",
    SegmentKind.REJECTED: "bold red",
    SegmentKind.QUOTED: "yellow",
    SegmentKind.REMOVED: "dim cyan",
}
"""The colour of each kind of segment. Calls, rejections and what was removed are also named below the output."""

_FLAGS = {
    Option.FORMATS: "--format all",
    Option.TOOLS: "--tools",
    Option.REPAIR: "--repair",
}
_MARGIN = "  "


def show_output(screen: Console, name: str, whole: SegmentedOutput, others: Sequence[OtherCall]) -> None:
    """Print an output in colour, then what counts as a call, what does not, and why.

    Args:
        screen: where to.
        name: the output's name, such as its file.
        whole: the output, in segments.
        others: the calls that it would have with other options.
    """
    explained = explain_output(whole, others, _FLAGS)
    screen.print(Text.assemble((escape_invisible(name), "bold"), f": {explained.summary}"))
    output = Text()
    for segment in whole.segments:
        output.append(escaped_segment(segment), STYLES[segment.kind])
    screen.print()
    _print_indented(screen, Text(_MARGIN), output)
    screen.print()
    heads = [(one.kind.value, str(one.place)) for one in explained.explanations]
    most = [max(map(len, column)) for column in zip(*heads, strict=True)]
    for one, head in zip(explained.explanations, heads, strict=True):
        word, place = (text.ljust(width) for text, width in zip(head, most, strict=True))
        beginning = Text.assemble(_MARGIN, (word, STYLES[one.kind]), f"{_MARGIN}{place}{_MARGIN}")
        _print_indented(screen, beginning, _in_colour(one))
    if heads:
        screen.print()
    if explained.remark is not None:
        _print_indented(screen, Text(_MARGIN), Text(explained.remark))
        screen.print()


def _print_indented(screen: Console, head: Text, text: Text) -> None:
    """Print a text with something before its first line, and as much space before the others."""
    for line in text.wrap(screen, max(screen.width - len(head) - len(_MARGIN), 1), overflow="fold"):
        screen.print(head + line, soft_wrap=True)
        head = Text(" " * len(head))


def _in_colour(one: Explanation) -> Text:
    """Return what is said of a place, what is less important dim."""
    if one.kind is SegmentKind.TEXT:
        return Text("\n".join(one.notes))
    if one.kind is SegmentKind.REJECTED:
        said = Text.assemble((one.subject, "bold"), f": {one.detail}")
    elif one.kind is SegmentKind.CALL:
        said = Text.assemble(one.subject, (f"{_MARGIN}{one.detail}", "dim"))
    else:
        said = Text(one.subject, "dim")
    for note in one.notes:
        said.append(f"\n{note}", "dim")
    return said
