"""A run as one self-contained HTML page, which loads nothing and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

from llama3_acceptance.rendering import shown_reading
from llama3_acceptance.report_result import html_legend, html_result
from llama3_acceptance.results import Results
from llama3_acceptance.scores import Row, Score, Scores, score
from llama3_acceptance.values import Policies, Verdict
from llama3_tools.text.escaping import escape_invisible

__all__ = ["report_html"]


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
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{title}: acceptance report</title>\n<style>{style}</style>\n</head>\n<body>",
            f"<header>\n<h1>{title}</h1>\n{_about(results)}\n</header>\n<main>",
            '<section class="scores" aria-label="Scores">',
            _headline("As the model wrote it", scores.overall.parsed, scores.mended.parsed),
            _headline("After coercion", scores.overall.coerced, scores.mended.coerced),
            "</section>",
            *_tables(scores),
            _filters(results),
            f'<p class="legend">{html_legend()}</p>',
            '<section id="results" aria-label="Responses">',
            *(html_result(result, cases[result.case_id], suite) for result in results.results),
            "</section>\n</main>",
            f"<script>{script}</script>\n</body>\n</html>\n",
        )
    )


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
        "read": shown_reading(results.suite.reading),
        "let pass": _lenience(results.suite.policies),
        "missing": f"{results.missing} responses: the run is not complete" if results.missing else "",
    }
    rows = (f"<div><dt>{name}</dt><dd>{_text(fact)}</dd></div>" for name, fact in facts.items() if fact)
    return f'<dl class="about">{"".join(rows)}</dl>'


def _lenience(policies: Policies) -> str:
    if policies.strict:
        return "strict: any JSON in the text is a failure"
    direct = policies.allow_direct_answers and policies.direct_answers
    lenient = [
        "calls in the text" if policies.text_calls else "",
        f"answers in words for {', '.join(sorted(policies.direct_answers))}" if direct else "",
        "lists in strings" if policies.stringified_lists else "",
    ]
    return "; ".join(filter(None, lenient)) or "nothing"


def _headline(name: str, score: Score, mended: Score) -> str:
    low, high = (edge * 100 for edge in score.interval)
    of_them = f", {mended.count} of them read leniently or repaired" if mended.count else ""
    return (
        f'<div class="score"><h2>{name}</h2><p class="share">{score.share * 100:.0f}<small> %</small></p>{_bar(score)}'
        f"<p>{score.count} of {score.total} passed{of_them}; 95 % interval {low:.0f} to {high:.0f} %</p></div>"
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


def _tables(scores: Scores) -> Iterator[str]:
    yield '<section class="tables" aria-label="Scores by tool, reason and tag">'
    yield _table("By tool", scores.by_tool)
    yield _table("By reason", scores.by_reason, are_reasons=True)
    if scores.by_tag:
        yield _table("By tag", scores.by_tag)
    yield "</section>"


def _table(name: str, rows: Iterable[Row], *, are_reasons: bool = False) -> str:
    body = "\n".join(
        f'<tr><th scope="row">{_text(row.name)}</th>{_score(row.parsed, kind)}{_score(row.coerced, kind)}</tr>'
        for row in rows
        for kind in ["bar-bad" if are_reasons and row.name != Verdict.PASSED.value else "bar-share"]
    )
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{name}"><table>\n'
        f'<thead><tr><th scope="col">{name}</th><th scope="col" colspan="2">as written</th>'
        f'<th scope="col" colspan="2">after coercion</th></tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
    )


def _score(score: Score, kind: str) -> str:
    return f"<td>{score.count}/{score.total}</td><td>{_bar(score, kind)}<span>{score}</span></td>"


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
