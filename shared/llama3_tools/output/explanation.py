"""What happened to each place of an output and why, in the words that the command and the page *Try it* both use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llama3_tools.output.other_readings import Option, OtherCall
from llama3_tools.output.segments import Segment, SegmentedOutput, SegmentKind
from llama3_tools.output.spans import first_overlap
from llama3_tools.text.escaping import escape_invisible
from llama3_tools.text.json_writing import shown
from llama3_tools.values import Extraction, RejectionReason, Span, ToolCall, shortened

_ADVICE = {
    RejectionReason.TRUNCATED: "let the model write more (max_tokens), unless it left out a brace or a quote",
    RejectionReason.SCHEMA_ECHO: "the model repeats its prompt: give it an example of a call",
    RejectionReason.QUOTED: "the model only mentions this call: it has to call outside quotations, code and thoughts",
}
_NOTHING = (
    "There is no whole call in it: no JSON object with a name and arguments, bare, in a tag or in a code fence. "
    "There is none with {formats} or with other tools either."
)


class Place(NamedTuple):
    """Where something is, as editors count: both begin with 1."""

    line: int
    column: int

    def __str__(self) -> str:
        """Return it as editors write it.

        >>> str(Place(1, 12))
        '1:12'
        """
        return f"{self.line}:{self.column}"

    def after(self, text: str) -> Place:
        """Return the place after a text that begins here."""
        lines = text.count("\n")
        return Place(self.line + lines, len(text) - text.rfind("\n") if lines else self.column + len(text))


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happened to a place of the output. No character hides in its texts."""

    kind: SegmentKind
    """What happened to it. `TEXT`: it would be a call with other options."""
    place: Place
    """Where it begins."""
    segment: int
    """The index of the segment that it is, or begins in."""
    subject: str
    """The call, the reason of the rejection, or what was removed; empty for text."""
    detail: str
    """How the call was read, or what was found instead of one; may be empty."""
    notes: tuple[str, ...] = ()
    """A sentence each: what to do, which options would make it a call, what was made of arguments."""


@dataclass(frozen=True, slots=True)
class ExplainedOutput:
    """What is to be said of an output."""

    summary: str
    """How many calls and rejections it has: `1 call, 2 rejections`."""
    explanations: tuple[Explanation, ...]
    """What happened to its places, in order; what is mere text or quotation needs no explanation."""
    remark: str | None
    """What is said of the whole, if nothing in it looks like a call."""


def explain_output(
    whole: SegmentedOutput, others: Sequence[OtherCall], spelled: Mapping[Option, str]
) -> ExplainedOutput:
    """Say what counts as a call in an output, what does not, and why.

    >>> from llama3_tools import Extractor
    >>> from llama3_tools.output.segments import read_segments
    >>> whole = read_segments(Extractor(), 'Write `{"name": "f", "parameters": {}}`.')
    >>> explained = explain_output(whole, [], {option: option.value for option in Option})
    >>> explained.summary
    '0 calls, 1 rejection'
    >>> (why,) = explained.explanations
    >>> print(why.place, why.subject, why.detail)
    1:8 quoted in a code span

    Args:
        whole: the output, in segments.
        others: the calls that it would have with other options.
        spelled: how each option is written where the explanation is read; `TOOLS` without the tools' names.
    """
    explanations = tuple(_explanations(whole, others, spelled))
    nothing = all(one.kind is SegmentKind.REMOVED for one in explanations)
    remark = _NOTHING.format(formats=spelled[Option.FORMATS]) if nothing else None
    return ExplainedOutput(_summary(whole.extraction), explanations, remark)


def escaped_segment(segment: Segment) -> str:
    """Return the text of a segment with invisible characters written out; in calls and candidates, all of them."""
    return escape_invisible(segment.text, exact=segment.kind is not SegmentKind.TEXT)


def _summary(extraction: Extraction) -> str:
    counts = [(len(extraction.tool_calls), "call"), (len(extraction.rejections), "rejection")]
    return ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts if count or noun == "call")


def _explanations(
    whole: SegmentedOutput, others: Sequence[OtherCall], spelled: Mapping[Option, str]
) -> Iterator[Explanation]:
    place, offset = Place(1, 1), 0
    in_rejections, elsewhere = _placed(whole.extraction, others)
    for number, segment in enumerate(whole.segments):
        if segment.kind is SegmentKind.CALL and segment.index is not None:
            call = whole.extraction.tool_calls[segment.index]
            written = escape_invisible(f"{call.name} {call.arguments_json}", exact=True)
            how = f"read as {call.format}{_oddities(call)}"
            yield Explanation(segment.kind, place, number, written, how, tuple(_fitting(call)))
        elif segment.kind is SegmentKind.REJECTED and segment.index is not None:
            rejection = whole.extraction.rejections[segment.index]
            detail = escape_invisible(rejection.detail, exact=True)
            notes = _with_other_options(in_rejections[segment.index], spelled) or _advice(rejection.reason)
            yield Explanation(segment.kind, place, number, rejection.reason.value, detail, tuple(notes))
        elif segment.kind is SegmentKind.REMOVED and segment.text.strip():
            yield Explanation(segment.kind, place, number, repr(shortened(escaped_segment(segment))), "")
        while elsewhere and elsewhere[-1][0] < offset + len(segment.text):
            start, here = elsewhere.pop()
            begins = place.after(segment.text[: start - offset])
            yield Explanation(SegmentKind.TEXT, begins, number, "", "", tuple(_with_other_options(here, spelled)))
        place, offset = place.after(segment.text), offset + len(segment.text)


def _placed(
    extraction: Extraction, others: Sequence[OtherCall]
) -> tuple[dict[int, list[OtherCall]], list[tuple[int, list[OtherCall]]]]:
    """Return the other calls by the rejection in which they are, and the rest by their offsets, the last first."""
    rejected: list[Span] = [rejection.span for rejection in extraction.rejections]
    in_rejections: dict[int, list[OtherCall]] = defaultdict(list)
    elsewhere: dict[int, list[OtherCall]] = defaultdict(list)
    for other in others:
        index = first_overlap(rejected, other.call.span)
        (elsewhere[other.call.span[0]] if index is None else in_rejections[index]).append(other)
    return in_rejections, sorted(elsewhere.items(), reverse=True)


def _oddities(call: ToolCall) -> str:
    """Say how a call differs from the documented forms, and whether it was repaired."""
    repaired = () if call.repaired_from is None else ("repaired",)
    return escape_invisible("".join(f", {oddity}" for oddity in (*call.deviations, *repaired)), exact=True)


def _fitting(call: ToolCall) -> Iterator[str]:
    """Say what was changed in a call's arguments to fit their schema, and what still does not fit."""
    for change in call.changes:
        before, after = (shortened(shown(value), 60) for value in (change.before, change.after))
        yield escape_invisible(f"{change.path} is {change.declared}: {before} became {after}", exact=True)
    for problem in call.problems:
        yield escape_invisible(problem.message, exact=True)


def _advice(reason: RejectionReason) -> list[str]:
    return [_ADVICE[reason]] if reason in _ADVICE else []


def _with_other_options(others: Sequence[OtherCall], spelled: Mapping[Option, str]) -> list[str]:
    """Say with which options there is a call in a place, and which call it is."""
    said = (
        f"with {' and '.join(_written(option, other, spelled) for option in other.options)}, it is a call: "
        + shortened(escape_invisible(f"{other.call.name} {other.call.arguments_json}", exact=True), 60)
        for other in others
    )
    return list(dict.fromkeys(said))


def _written(option: Option, other: OtherCall, spelled: Mapping[Option, str]) -> str:
    if option is not Option.TOOLS:
        return spelled[option]
    return f"{spelled[option]} that declare {escape_invisible(other.call.name, exact=True)}"
