"""One response in the HTML page: its verdicts, its output in colour, its calls and its rejected candidates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape

from llama3_acceptance.rendering import few, shown_expected, shown_json
from llama3_acceptance.reports.scores import NO_TOOL
from llama3_acceptance.values import Case, CaseResult, FoundCall, Judgement, Suite
from llama3_tools.chat.finish_reason import is_complete
from llama3_tools.output.segments import Segment, SegmentedOutput, SegmentKind, read_segments
from llama3_tools.text.escaping import escape_invisible

_TITLES = {
    SegmentKind.CALL: "tool call",
    SegmentKind.REJECTED: "rejected candidate",
    SegmentKind.QUOTED: "quotation, in which nothing is called",
    SegmentKind.REMOVED: "wrapper, delimiter or protocol token",
}


def html_legend() -> str:
    """Say what the colours of an output mean."""
    return " ".join(f'<span class="{kind.value}">{title}</span>' for kind, title in _TITLES.items())


def html_result(result: CaseResult, case: Case, suite: Suite, *, anchor: str) -> str:
    """Return one response as a part of the page that can be opened.

    Args:
        result: the response.
        case: its case.
        suite: its suite, whose extractor cuts the output into segments.
        anchor: what links on the page name it by.
    """
    parsed, coerced = result.parsed, result.coerced
    chips = _chip(parsed, "as written")
    if (coerced.verdict, coerced.is_clean) != (parsed.verdict, parsed.is_clean):
        chips += _chip(coerced, "after coercion")
    allowed = " ".join(one.value for one in dict.fromkeys((*parsed.allowances, *coerced.allowances)))
    about = {
        "parsed": parsed.verdict.value,
        "coerced": coerced.verdict.value,
        "tool": case.tool or NO_TOOL,
        "tags": json.dumps(case.tags),
        "allowed": allowed,
    }
    data = " ".join(f'data-{name}="{_text(value)}"' for name, value in about.items())
    tags = "".join(f'<span class="tag">{_text(tag)}</span>' for tag in case.tags)
    return (
        f'<details class="result" id="{anchor}" {data}>\n<summary>'
        f'<span class="verdicts">{chips}</span>'
        f'<span class="case">{_text(result.name)}</span> <span class="command">{_text(case.command)}</span>{tags}'
        f'</summary>\n<div class="inside">\n{"".join(_parts(result, case, suite))}</div>\n</details>'
    )


def _chip(judgement: Judgement, title: str) -> str:
    grade = "bad" if not judgement.passed else "good" if judgement.is_clean else "let"
    allowed = (
        f": {', '.join(one.value.replace('_', ' ') for one in judgement.allowances)}" if judgement.allowances else ""
    )
    return f'<span class="verdict {grade}" title="{title}">{judgement.verdict}{allowed}</span>'


def _parts(result: CaseResult, case: Case, suite: Suite) -> Iterator[str]:
    yield f"<dl>{_fact('expected', _expected(case))}"
    is_same = (result.coerced.verdict, result.coerced.detail) == (result.parsed.verdict, result.parsed.detail)
    yield _fact("judged" if is_same else "as written", _detail(result.parsed))
    if not is_same:
        yield _fact("after coercion", _detail(result.coerced))
    yield "</dl>\n"
    if result.error is not None:
        return
    extractor = suite.behind_reasoning(result.reasoning).extractor
    whole = read_segments(extractor, result.output, complete=is_complete(result.finish_reason))
    if result.reasoning:
        yield '<h3>Reasoning, as the server sent it</h3>\n<pre class="output thought" tabindex="0">'
        yield f"{_text(result.reasoning)}</pre>\n"
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
