"""A run as JUnit XML, in which continuous integration shows tests: each response is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from llama3_acceptance.rendering import few, shown_judging
from llama3_acceptance.reports.scores import NO_TOOL
from llama3_acceptance.reports.thresholds import ThresholdResult
from llama3_acceptance.running.results import CaseResult, Results
from llama3_acceptance.values import Case, Judgement, Verdict
from llama3_tools.text.escaping import escape_invisible


def report_junit(results: Results, *, coerced: bool = False, thresholds: Sequence[ThresholdResult] = ()) -> bytes:
    """Return a run as JUnit XML.

    A response that did not pass is a failure, with the verdict as its type; one that never came is an error. With
    thresholds, these are the tests that pass or fail, and a response that did not pass is skipped: it counts with the
    others.

    Args:
        results: the run.
        coerced: whether the judgement after coercion decides, rather than what the model wrote.
        thresholds: the shares that have to pass, held against the run.
    """
    cases = {case.id: case for case in results.suite.cases}
    several = any(result.record.repeat for result in results.results) or any(repeat for _, repeat in results.missing)

    def named(case: Case, repeat: int, seconds: float = 0) -> ET.Element:
        name = f"{case.id}[{repeat}]" if several else case.id
        return _testcase(name, f"{results.suite.name}.{case.tool or NO_TOOL}", seconds)

    tests = []
    for result in results.results:
        test = named(result.case, result.record.repeat, result.record.latency)
        tests.append(_judged(test, result, coerced=coerced, counts_alone=not thresholds))
    tests += [_missing(named(cases[id_], repeat), cases[id_]) for id_, repeat in results.missing]
    tests += [_threshold(_testcase(str(one.threshold), f"{results.suite.name}.min-pass"), one) for one in thresholds]
    counts = {
        "tests": str(len(tests)),
        "failures": str(_having(tests, "failure")),
        "errors": str(_having(tests, "error")),
        "skipped": str(_having(tests, "skipped")),
        "time": _seconds(sum(result.record.latency for result in results.results)),
    }
    name = escape_invisible(results.suite.name)
    suite = ET.Element("testsuite", {"name": name, **counts})
    if results.run.started:
        suite.set("timestamp", escape_invisible(results.run.started).removesuffix("Z"))
    properties = ET.SubElement(suite, "properties")
    run = results.run
    facts = {"model": run.model, "base_url": run.base_url, **shown_judging(results.suite)}
    for key, value in {**facts, "missing": len(results.missing)}.items():
        ET.SubElement(properties, "property", {"name": key, "value": escape_invisible(str(value))})
    suite.extend(tests)
    root = ET.Element("testsuites", {"name": name, **{key: counts[key] for key in counts if key != "skipped"}})
    root.append(suite)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _testcase(name: str, classname: str, seconds: float = 0) -> ET.Element:
    names = {"name": escape_invisible(name), "classname": escape_invisible(classname)}
    return ET.Element("testcase", {**names, "time": _seconds(seconds)})


def _having(tests: Iterable[ET.Element], kind: str) -> int:
    return sum(test.find(kind) is not None for test in tests)


def _judged(test: ET.Element, result: CaseResult, *, coerced: bool, counts_alone: bool) -> ET.Element:
    judgement = result.judgements.of(coerced=coerced)
    if judgement.passed and judgement.detail:
        properties = ET.SubElement(test, "properties")
        for allowance in judgement.allowances:
            ET.SubElement(properties, "property", {"name": "let through by", "value": allowance.value})
        ET.SubElement(properties, "property", {"name": "remark", "value": escape_invisible(judgement.detail)})
    if not judgement.passed:
        message = escape_invisible(judgement.detail)
        if result.error is not None:
            kind, about = "error", {"type": judgement.verdict.value, "message": message}
        elif counts_alone:
            kind, about = "failure", {"type": judgement.verdict.value, "message": message}
        else:
            kind, about = "skipped", {"message": f"{judgement.verdict}: {message}"}
        ET.SubElement(test, kind, about).text = escape_invisible(_explained(result, judgement))
    ET.SubElement(test, "system-out").text = escape_invisible(result.answer.text)
    return test


def _missing(test: ET.Element, case: Case) -> ET.Element:
    told = {"type": "missing", "message": "there is no response: the run is not complete"}
    ET.SubElement(test, "error", told).text = escape_invisible(f"command: {case.command}")
    return test


def _threshold(test: ET.Element, result: ThresholdResult) -> ET.Element:
    message = escape_invisible(str(result))
    if not result.is_met:
        ET.SubElement(test, "failure", {"type": "min-pass", "message": message})
    ET.SubElement(test, "system-out").text = message
    return test


def _explained(result: CaseResult, judgement: Judgement) -> str:
    lines = [f"command: {result.case.command}"]
    parsed, coerced = (one.verdict for one in result.judgements)
    if parsed is not coerced:
        lines.append(f"as written: {parsed}; after coercion: {coerced}")
    if judgement.verdict is not Verdict.NO_RESPONSE:
        calls = few([f"{call.name} {call.arguments_json}" for call in judgement.calls]) or "none"
        lines.append(f"calls ({judgement.source}): {calls}")
    if result.case.line and result.error is None:
        lines.append(f"line {result.case.line} of the suite")
    return "\n".join(lines)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
