"""A run as one self-contained HTML page, which loads nothing and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files

from llama3_acceptance.rendering import shown_judging
from llama3_acceptance.reports.html_result import html_legend, html_result
from llama3_acceptance.reports.scores import NO_TOOL, Row, Score, Scores, score
from llama3_acceptance.running.results import Results
from llama3_acceptance.values import Allowance, Case, CaseResult, Verdict
from llama3_tools.text.escaping import escape_invisible

_LET_THROUGH = {
    Allowance.WORDS: "in words",
    Allowance.LIST_IN_STRING: "with a list in a string",
    Allowance.MENDED: "not as documented, or repaired",
    Allowance.COERCED: "coerced",
}


def report_html(results: Results) -> str:
    """Return a run as an HTML page.

    Whatever a model wrote is escaped, and a content security policy lets nothing run or load but the page's own style
    and script.

    Args:
        results: the run.
    """
    style, script = (files(__package__).joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    suite, scores = results.suite, score(results)
    cases = {case.id: case for case in suite.cases}
    title = _text(suite.name)
    ordered = sorted(results.results, key=_failures_first)
    links = _Links(ordered, cases)
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{title}: acceptance report</title>\n<style>{style}</style>\n</head>\n<body>",
            f"<header>\n<h1>{title}</h1>\n{_about(results)}\n</header>\n<main>",
            '<section class="scores" aria-label="Scores">',
            _headline(
                "As the model wrote it", scores.overall.parsed, [row.parsed for row in scores.let_through], scores
            ),
            _headline("After coercion", scores.overall.coerced, [row.coerced for row in scores.let_through], scores),
            "</section>",
            *_tables(scores, links),
            _filters(results),
            f'<p class="legend">{html_legend()}</p>',
            '<section id="results" aria-label="Responses">',
            *(
                html_result(result, cases[result.case_id], suite, anchor=f"r{number}")
                for number, result in enumerate(ordered, 1)
            ),
            "</section>\n</main>",
            f"<script>{script}</script>\n</body>\n</html>\n",
        )
    )


def _failures_first(result: CaseResult) -> int:
    """Sort failures before what passed after coercion, that before what was let through, and what is clean last."""
    if not result.parsed.passed:
        return 1 if result.coerced.passed else 0
    return 3 if result.parsed.is_clean and result.coerced.is_clean else 2


class _Links:
    """Where a row's first response stands on the page."""

    def __init__(self, ordered: Iterable[CaseResult], cases: Mapping[str, Case]) -> None:
        self._anchors: dict[tuple[str, str], str] = {}
        for number, result in enumerate(ordered, 1):
            case, anchor = cases[result.case_id], f"r{number}"
            for tag in case.tags:
                self._anchors.setdefault(("tag", tag), anchor)
            for verdict in (result.parsed.verdict, result.coerced.verdict):
                self._anchors.setdefault(("verdict", verdict.value), anchor)
            for allowance in (*result.parsed.allowances, *result.coerced.allowances):
                self._anchors.setdefault(("allowance", allowance.value), anchor)
            self._anchors.setdefault(("tool", case.tool or NO_TOOL), anchor)

    def link(self, kind: str, name: str) -> str:
        anchor = self._anchors[kind, name]
        return f'<a href="#{anchor}" data-kind="{kind}" data-name="{_text(name)}">{_text(name)}</a>'


def _policy(style: str, script: str) -> str:
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    style_hash, script_hash = hashes
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _about(results: Results) -> str:
    run = results.run
    settings = ", ".join(f"{name} {value}" for name, value in run.settings.items())
    facts = {
        "model": run.model,
        "endpoint": run.base_url,
        "asked": run.started,
        "sent": settings,
        **shown_judging(results.suite),
        "missing": f"{len(results.missing)} responses: the run is not complete" if results.missing else "",
    }
    rows = (f"<div><dt>{name}</dt><dd>{_text(fact)}</dd></div>" for name, fact in facts.items() if fact)
    return f'<dl class="about">{"".join(rows)}</dl>'


def _headline(name: str, score: Score, allowed: Sequence[Score], scores: Scores) -> str:
    low, high = (edge * 100 for edge in score.interval)
    why = [
        f"{one.count} {_LET_THROUGH[Allowance(row.name)]}"
        for row, one in zip(scores.let_through, allowed, strict=True)
        if one.count
    ]
    clean = f", {score.clean} of them clean; let through: {', '.join(why)}" if why else ""
    return (
        f'<div class="score"><h2>{name}</h2><p class="share">{score.share * 100:.0f}<small> %</small></p>{_bar(score)}'
        f"<p>{score.count} of {score.total} passed{clean}; 95 % interval {low:.0f} to {high:.0f} %</p></div>"
    )


def _bar(score: Score, kind: str = "bar-share") -> str:
    """Return a share as a bar, with its interval as a line through it."""
    low, high = (edge * 100 for edge in score.interval)
    return (
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bar-all" width="100" height="8"/>'
        f'<rect class="{kind}" width="{score.share * 100:.2f}" height="8"/>'
        f'<rect class="bar-interval" x="{low:.2f}" y="3" width="{max(high - low, 0.5):.2f}" height="2"/></svg>'
    )


def _tables(scores: Scores, links: _Links) -> Iterator[str]:
    yield '<section class="tables" aria-label="Scores by tool, reason and tag">'
    yield _table("By tool", "tool", scores.by_tool, links)
    yield _table("By reason", "verdict", scores.by_reason, links)
    if scores.let_through:
        yield _table("Let through", "allowance", scores.let_through, links)
    if scores.by_tag:
        yield _table("By tag", "tag", scores.by_tag, links)
    yield "</section>"


def _table(name: str, kind: str, rows: Iterable[Row], links: _Links) -> str:
    rows = list(rows)
    perfect = [row for row in rows if row.is_perfect]
    folded = perfect if len(perfect) > 1 else []
    head = (
        f'<thead><tr><th scope="col">{name}</th><th scope="col" colspan="2">as written</th>'
        '<th scope="col" colspan="2">after coercion</th></tr></thead>'
    )
    body = "\n".join(_row(row, kind, links) for row in rows if row not in folded)
    shown = f"<table>\n{head}\n<tbody>\n{body}\n</tbody></table>" if body else ""
    if folded:
        inside = "\n".join(_row(row, kind, links) for row in folded)
        count = f"{len(folded)} {'more ' if body else ''}without a fault"
        shown += (
            f'<details class="folded"><summary>{count}</summary>'
            f"<table>\n{'' if body else head}\n<tbody>\n{inside}\n</tbody></table></details>"
        )
    return f'<div class="table" role="region" aria-label="{name}">{shown}</div>'


def _row(row: Row, kind: str, links: _Links) -> str:
    is_bad = kind == "verdict" and row.name != Verdict.PASSED.value
    bar = "bar-bad" if is_bad else "bar-let" if kind == "allowance" else "bar-share"
    cells = _score(row.parsed, bar, "as written") + _score(row.coerced, bar, "after coercion")
    return f'<tr><th scope="row">{links.link(kind, row.name)}</th>{cells}</tr>'


def _score(score: Score, kind: str, label: str) -> str:
    clean = "" if score.clean is None else f"<small>{score.clean} clean</small>"
    return (
        f'<td class="count" data-label="{label}">{score.count}/{score.total}{clean}</td>'
        f"<td>{_bar(score, kind)}<span>{score}</span></td>"
    )


def _filters(results: Results) -> str:
    counts = [
        Counter(one.parsed.verdict for one in results.results),
        Counter(one.coerced.verdict for one in results.results),
    ]
    present = [verdict for verdict in Verdict if any(count[verdict] for count in counts)]
    chips = "\n".join(
        f'<label class="chip {_grade(verdict)}"><input type="checkbox" name="verdict" value="{verdict}" checked>'
        f'{verdict} <span data-parsed="{counts[0][verdict]}" data-coerced="{counts[1][verdict]}">'
        f"{counts[0][verdict]}</span></label>"
        for verdict in present
    )
    return f"""<section id="filters" aria-label="Filter the responses" hidden>
<fieldset><legend>Verdict</legend>
<label class="choice"><input type="radio" name="judged" value="parsed" checked>as written</label>
<label class="choice"><input type="radio" name="judged" value="coerced">after coercion</label>
</fieldset>
<fieldset class="chips"><legend>Show</legend>
{chips}
<button type="button" id="all">all</button>
<button type="button" id="failed">failed only</button>
<label class="choice"><input type="checkbox" id="unclean">let through only</label>
<button type="button" id="group" hidden></button>
</fieldset>
<div class="row">
<label>Search <input type="search" id="search" placeholder="case, command, output  ( / )"></label>
<label class="choice"><input type="checkbox" id="differs">only where coercion changed the verdict</label>
<button type="button" id="open">open all</button>
<button type="button" id="close">close all</button>
<output id="count" aria-live="polite"></output>
</div>
</section>
<noscript><p>Without scripts, all responses are shown and cannot be filtered.</p></noscript>"""


def _grade(verdict: Verdict) -> str:
    return "good" if verdict is Verdict.PASSED else "bad"


def _text(text: object) -> str:
    return escape(escape_invisible(str(text)))
