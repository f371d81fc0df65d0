"""A run as one self-contained HTML page, which loads nothing and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

from llama3_acceptance.rendering import few, shown_expected, shown_json, shown_judging
from llama3_acceptance.reports.scores import NO_TOOL, score
from llama3_acceptance.running.results import CaseResult, Results
from llama3_acceptance.values import Allowance, Suite
from llama3_tools.chat.finish_reason import is_complete
from llama3_tools.errors import of_extra
from llama3_tools.output.segments import read_segments
from llama3_tools.text.escaping import escape_invisible

_LET_THROUGH = {
    Allowance.WORDS.value: "in words",
    Allowance.LIST_IN_STRING.value: "with a list in a string",
    Allowance.MENDED.value: "not as documented, or repaired",
    Allowance.COERCED.value: "coerced",
}
_SEGMENTS = {
    "call": "tool call",
    "rejected": "rejected candidate",
    "quotation": "quotation, in which nothing counts as a call",
    "removed": "wrapper, delimiter or protocol token",
}
"""The segments of an output that are not plain text, and what the page calls them."""


def report_html(results: Results) -> str:
    """Return a run as an HTML page.

    Whatever a model wrote is escaped, and a content security policy lets nothing run or load but the page's own style
    and script.

    Args:
        results: the run.

    Raises:
        MissingExtraError: Jinja2 is not installed.
    """
    with of_extra("HTML reports need Jinja2: pip install 'llama3-tools[acceptance]'", "jinja2"):
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - an extra
        from markupsafe import Markup  # noqa: PLC0415 - comes with it

    def finalize(value: object) -> object:
        return value if isinstance(value, Markup) else escape_invisible(str(value))

    environment = Environment(
        loader=PackageLoader("llama3_acceptance", "reports"),
        autoescape=True,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    style, script = (files(__package__).joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    suite, scores = results.suite, score(results)
    ordered = sorted(results.results, key=_failures_first)
    tables = [("By tool", "tool", scores.by_tool), ("By reason", "verdict", scores.by_reason)]
    tables += [("Let through", "allowance", scores.let_through), ("By tag", "tag", scores.by_tag)]
    page = environment.get_template("page.html").render(
        style=Markup(style),  # noqa: S704 - our own
        script=Markup(script),  # noqa: S704 - our own
        hashes=[base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)],
        suite=suite,
        about=_about(results),
        scores=scores,
        tables=[table for table in tables if table[2]],
        anchors=_anchors(ordered),
        shown=[_shown(one, suite) for one in ordered],
        let_through=_LET_THROUGH,
        segments=_SEGMENTS,
        json=shown_json,
    )
    return page.lstrip()


def _failures_first(result: CaseResult) -> int:
    """Sort failures before what passed after coercion, that before what was let through, and what is clean last."""
    parsed, coerced = result.judgements
    if not parsed.passed:
        return 1 if coerced.passed else 0
    return 3 if parsed.is_clean and coerced.is_clean else 2


def _anchors(ordered: Sequence[CaseResult]) -> dict[tuple[str, str], str]:
    """Return where the first response of each row is on the page."""
    anchors: dict[tuple[str, str], str] = {}
    for number, result in enumerate(ordered, 1):
        case = result.case
        names = [("tag", tag) for tag in case.tags] + [("tool", case.tool or NO_TOOL)]
        for judgement in result.judgements:
            names += [("verdict", judgement.verdict.value), *(("allowance", one.value) for one in judgement.allowances)]
        for name in names:
            anchors.setdefault(name, f"r{number}")
    return anchors


def _about(results: Results) -> dict[str, str]:
    run = results.run
    return {
        "model": run.model,
        "endpoint": run.base_url,
        "asked": run.started,
        "sent": ", ".join(f"{name} {value}" for name, value in run.settings.items()),
        **shown_judging(results.suite),
        "missing": f"{len(results.missing)} responses: the run is not complete" if results.missing else "",
    }


def _shown(result: CaseResult, suite: Suite) -> dict[str, Any]:
    """Return what the page shows of a response, beside the response itself."""
    case, answer = result.case, result.answer
    extractor = suite.behind_reasoning(answer.reasoning).extractor
    alternatives = [" and ".join(map(shown_expected, calls)) or "no call" for calls in case.alternatives]
    return {
        "result": result,
        "tool": case.tool or NO_TOOL,
        "allowances": list(dict.fromkeys(allowed for one in result.judgements for allowed in one.allowances)),
        "expected": few(alternatives, ", or "),
        "output": read_segments(extractor, answer.text, complete=is_complete(answer.finish_reason)),
        "aside": ", ".join(_aside(result)),
    }


def _aside(result: CaseResult) -> Iterator[str]:
    if result.record.latency:
        yield f"{result.record.latency:.2f} s"
    for name, count in (result.record.usage or {}).items():
        yield f"{count} {name.replace('_', ' ')}"
