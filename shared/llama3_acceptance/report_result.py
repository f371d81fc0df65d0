"""One response in the HTML page: its verdicts, its output in colour, its calls and its rejected candidates."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from llama3_acceptance.rendering import few, shown_expected, shown_json
from llama3_acceptance.values import Case, CaseResult, FoundCall, Judgement, Suite
from llama3_tools.chat.finish_reason import is_complete
from llama3_tools.output.segments import Segment, SegmentedOutput, SegmentKind, read_segments
from llama3_tools.text.escaping import escape_invisible

__all__ = ["html_legend", "html_result"]

_TITLES = {
    SegmentKind.CALL: "tool call",
    SegmentKind.REJECTED: "rejected candidate",
    SegmentKind.QUOTED: "quotation, in which nothing is called",
    SegmentKind.REMOVED: "wrapper, delimiter or protocol token",
}


def html_legend() -> str:
    """Say what the colours of an output mean."""
    return " ".join(f'<span class="{kind.value}">{title}</span>' for kind, title in _TITLES.items())


def html_result(result: CaseResult, case: Case, suite: Suite) -> str:
    """Return one response as a part of the page that can be opened.

    Args:
        result: the response.
        case: its case.
        suite: its suite, whose extractor cuts the output into segments.
    """
    parsed, coerced = result.parsed, result.coerced
    chips = _chip(parsed, "as written")
    if coerced.verdict is not parsed.verdict:
        chips += _chip(coerced, "after coercion")
    return (
        f'<details class="result" data-parsed="{parsed.verdict}" data-coerced="{coerced.verdict}">\n<summary>'
        f'<span class="verdicts">{chips}</span>'
        f'<span class="case">{_text(result.name)}</span> <span class="command">{_text(case.command)}</span></summary>\n'
        f'<div class="inside">\n{"".join(_parts(result, case, suite))}</div>\n</details>'
    )


def _chip(judgement: Judgement, title: str) -> str:
    grade = "good" if judgement.passed else "bad"
    return f'<span class="verdict {grade}" title="{title}">{judgement.verdict}</span>'


def _parts(result: CaseResult, case: Case, suite: Suite) -> Iterator[str]:
    yield f"<dl>{_fact('expected', _expected(case))}"
    yield _fact("as written", _detail(result.parsed))
    if result.coerced != result.parsed:
        yield _fact("after coercion", _detail(result.coerced))
    yield "</dl>\n"
    if result.error is not None:
        return
    extractor = suite.behind_reasoning(result.reasoning).extractor
    whole = read_segments(extractor, result.output, complete=is_complete(result.finish_reason))
    yield "<h3>Output</h3>\n" + _output(whole)
    if result.native_calls:
        yield f"<h3>Calls that the server sent</h3>\n<ul>{''.join(map(_call, result.native_calls))}</ul>\n"
    elif result.parsed.calls:
        yield f"<h3>Calls</h3>\n<ul>{''.join(map(_call, result.parsed.calls))}</ul>\n"
    if result.coerced.calls != result.parsed.calls:
        yield f"<h3>Calls after coercion</h3>\n<ul>{''.join(map(_coerced_call, result.coerced.calls))}</ul>\n"
    rejections = whole.extraction.rejections
    if rejections:
        items = (f"<li><b>{one.reason}</b>: {_text(one.detail)}</li>" for one in rejections)
        yield f"<h3>Rejected candidates</h3>\n<ol>{''.join(items)}</ol>\n"
    yield f'<p class="aside">{_text(_aside(result))}</p>\n'


def _fact(name: str, html: str) -> str:
    return f"<div><dt>{name}</dt><dd>{html}</dd></div>"


def _detail(judgement: Judgement) -> str:
    detail = f": {_text(judgement.detail)}" if judgement.detail else ""
    return f"<b>{judgement.verdict}</b>{detail}"


def _expected(case: Case) -> str:
    alternatives = [" and ".join(map(shown_expected, calls)) or "no call" for calls in case.alternatives]
    return _text(few(alternatives, ", or "))


def _output(whole: SegmentedOutput) -> str:
    if not whole.segments:
        return '<p class="aside">no text</p>\n'
    return f'<pre class="output" tabindex="0">{"".join(map(_segment, whole.segments))}</pre>\n'


def _segment(segment: Segment) -> str:
    if segment.kind is SegmentKind.TEXT:
        return _text(segment.text)
    number = "" if segment.index is None else f" {segment.index + 1}"
    return f'<span class="{segment.kind.value}" title="{_TITLES[segment.kind]}{number}">{_text(segment.text)}</span>'


def _call(call: FoundCall) -> str:
    return f"<li><code>{_text(call.name)}</code> <code>{_text(call.arguments_json)}</code></li>"


def _coerced_call(call: FoundCall) -> str:
    return f"<li><code>{_text(call.name)}</code> <code>{_text(shown_json(call.arguments))}</code></li>"


def _aside(result: CaseResult) -> str:
    usage = result.usage or {}
    parts = [f"{result.latency:.2f} s" if result.latency else ""]
    parts += [f"{count} {name.replace('_', ' ')}" for name, count in usage.items()]
    return ", ".join(filter(None, parts))


def _text(text: object) -> str:
    return escape(escape_invisible(str(text)))
