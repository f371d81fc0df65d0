"""A run as JUnit XML, in which continuous integration shows tests: each response is one."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from llama3_acceptance.rendering import few, shown_reading
from llama3_acceptance.results import Results
from llama3_acceptance.scores import NO_TOOL
from llama3_acceptance.values import Case, CaseResult, Judgement, Verdict
from llama3_tools.text.escaping import escape_invisible

__all__ = ["report_junit"]


def report_junit(results: Results, *, coerced: bool = False) -> bytes:
    """Return a run as JUnit XML.

    A response that did not pass is a failure, with the verdict as its type; one that never came is an error.

    Args:
        results: the run.
        coerced: whether the judgement after coercion decides, rather than what the model wrote.
    """
    cases = {case.id: case for case in results.suite.cases}
    several = any(result.repeat for result in results.results)
    tests = [_test(results, result, cases[result.case_id], coerced, several) for result in results.results]
    counts = {
        "tests": str(len(tests)),
        "failures": str(sum(test.find("failure") is not None for test in tests)),
        "errors": str(sum(test.find("error") is not None for test in tests)),
        "skipped": "0",
        "time": _seconds(sum(result.latency for result in results.results)),
    }
    name = escape_invisible(results.suite.name)
    suite = ET.Element("testsuite", {"name": name, **counts})
    if results.run.started:
        suite.set("timestamp", escape_invisible(results.run.started).removesuffix("Z"))
    properties = ET.SubElement(suite, "properties")
    run = results.run
    facts = {
        "model": run.model,
        "base_url": run.base_url,
        "read": shown_reading(results.suite.reading),
        "missing": results.missing,
    }
    for key, value in facts.items():
        ET.SubElement(properties, "property", {"name": key, "value": escape_invisible(str(value))})
    suite.extend(tests)
    root = ET.Element("testsuites", {"name": name, **{key: counts[key] for key in counts if key != "skipped"}})
    root.append(suite)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _test(results: Results, result: CaseResult, case: Case, coerced: bool, several: bool) -> ET.Element:  # noqa: FBT001 - private
    judgement = result.judgement(coerced=coerced)
    test = ET.Element(
        "testcase",
        {
            "name": escape_invisible(case.id) + (f"[{result.repeat}]" if several else ""),
            "classname": escape_invisible(f"{results.suite.name}.{case.tool or NO_TOOL}"),
            "time": _seconds(result.latency),
        },
    )
    if judgement.passed and judgement.detail:
        remark = {"name": "remark", "value": escape_invisible(judgement.detail)}
        ET.SubElement(ET.SubElement(test, "properties"), "property", remark)
    if not judgement.passed:
        kind = "error" if result.error is not None else "failure"
        message = escape_invisible(judgement.detail)
        failure = ET.SubElement(test, kind, {"type": judgement.verdict.value, "message": message})
        failure.text = escape_invisible(_explained(result, case, judgement))
    ET.SubElement(test, "system-out").text = escape_invisible(result.output)
    return test


def _explained(result: CaseResult, case: Case, judgement: Judgement) -> str:
    lines = [f"command: {case.command}", f"{judgement.verdict}: {judgement.detail}"]
    if result.parsed.verdict is not result.coerced.verdict:
        lines.append(f"as written: {result.parsed.verdict}; after coercion: {result.coerced.verdict}")
    if judgement.verdict is not Verdict.NO_RESPONSE:
        calls = few([f"{call.name} {call.arguments_json}" for call in judgement.calls]) or "none"
        lines.append(f"calls ({judgement.source}): {calls}")
    if case.line and result.error is None:
        lines.append(f"line {case.line} of the suite")
    return "\n".join(lines)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
