"""A run as one JSON object: for programs, and to compare two runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from llama3_acceptance.reports.scores import Row, Score, score
from llama3_acceptance.running.asking import prompt_options
from llama3_acceptance.running.results import CaseResult, Results
from llama3_acceptance.values import FoundCall, Judgement, Policies

REPORT_VERSION = 2
"""What a report has under `llama3_tools_report`. It changes if something in it is renamed or goes away."""


def report_json(results: Results) -> dict[str, Any]:
    """Return a run as JSON has it: what was asked, the scores, and each response with its two judgements."""
    scores = score(results)
    tables = {name: getattr(scores, name) for name in ("let_through", "by_tool", "by_tag", "by_reason")}
    return {
        "llama3_tools_report": REPORT_VERSION,
        "run": asdict(results.run),
        "prompt": prompt_options(results.suite),
        "reading": asdict(results.suite.reading),
        "policies": _policies(results.suite.policies),
        "missing": len(results.missing),
        "scores": {"overall": _row(scores.overall), **{name: [*map(_row, rows)] for name, rows in tables.items()}},
        "results": [*map(_result, results.results)],
    }


def _policies(policies: Policies) -> dict[str, Any]:
    return {**asdict(policies), "direct_answers": sorted(policies.direct_answers)}


def _row(row: Row) -> dict[str, Any]:
    return {"name": row.name, "parsed": _score(row.parsed), "coerced": _score(row.coerced)}


def _score(score: Score) -> dict[str, Any]:
    shown = {"count": score.count, "total": score.total, "share": score.share, "interval": score.interval}
    return shown if score.clean is None else {**shown, "clean": score.clean}


def _result(result: CaseResult) -> dict[str, Any]:
    case, record = result.case, result.record
    return {
        "case": case.id,
        "repeat": record.repeat,
        "command": case.command,
        "tool": case.tool,
        "tags": case.tags,
        "output": result.answer.text,
        "reasoning": result.answer.reasoning,
        "parsed": _judgement(result.judgements.parsed),
        "coerced": _judgement(result.judgements.coerced),
        "latency": record.latency,
        "usage": record.usage,
        "error": result.error,
    }


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return {
        "verdict": judgement.verdict.value,
        "detail": judgement.detail,
        "source": judgement.source,
        "allowances": [one.value for one in judgement.allowances],
        "calls": [_call(call) for call in judgement.calls],
    }


def _call(call: FoundCall) -> dict[str, Any]:
    arguments: Any = call.arguments
    try:
        json.dumps(arguments)
    except (ValueError, TypeError, RecursionError):  # an integer of thousands of digits, or what a framework made of it
        arguments = None
    found = {"name": call.name, "arguments": arguments, "written": call.arguments_json}
    mended = {"deviations": call.deviations, "repaired_from": call.repaired_from}
    return found | {name: told for name, told in mended.items() if told}
