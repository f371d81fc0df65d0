"""Judges a response: which calls it contains, by the policies, and whether they are those that the case expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from llama3_acceptance.judging.json_in_text import json_in
from llama3_acceptance.judging.matching import Difference, calls_differences, gravest_first
from llama3_acceptance.judging.responses import Answer, read_response
from llama3_acceptance.judging.strict_answers import read_strict_answer
from llama3_acceptance.judging.unread_calls import find_unread_calls
from llama3_acceptance.judging.words import why_not_in_words
from llama3_acceptance.rendering import few, mended_remarks, shown_call
from llama3_acceptance.values import (
    Allowance,
    Case,
    ExpectedCall,
    FoundCall,
    Judgement,
    Judgements,
    Source,
    Suite,
    Verdict,
    has_default,
)
from llama3_tools.arguments import coerce_arguments
from llama3_tools.chat.finish_reason import is_complete
from llama3_tools.tools import Tool
from llama3_tools.values import Extraction, RejectionReason, shortened


def judge(case: Case, response: object, suite: Suite) -> Judgements:
    """Judge one response to one case: as the model wrote it, and with its arguments coerced to their declared types.

    >>> from llama3_tools import Tool
    >>> from llama3_acceptance import ArgumentRule, Case, ExpectedCall, Suite, judge
    >>> schema = {"type": "object", "properties": {"minutes": {"type": "integer"}}}
    >>> case = Case("tea", "Set a timer", ((ExpectedCall("timer", {"minutes": ArgumentRule((5,))}),),))
    >>> suite = Suite("Timers", (Tool("timer", "Sets a timer", schema),), (case,))
    >>> judgements = judge(case, 'Sure. {"name": "timer", "parameters": {"minutes": "5"}}', suite)
    >>> judgements.parsed.detail, judgements.coerced.passed
    ('timer: minutes is the string "5", expected 5', True)

    Args:
        case: what was asked and what is expected.
        response: what came, of any kind that `read_response` takes.
        suite: the tools, the policies, and how text is read.

    Raises:
        TypeError: `response` is of no kind that can be read.
    """
    answer = read_response(response)
    suite = suite.behind_reasoning(answer.reasoning)
    extraction = _read(answer, suite)
    if isinstance(extraction, Difference):
        judgement = Judgement(*extraction)
        return Judgements(judgement, judgement)
    judging = _Judging(case, suite, answer, extraction)
    calls, source = judging.calls()
    declared = {tool.name: tool for tool in suite.tools}
    parsed = judging.judge(calls, source)
    if not calls:
        return Judgements(parsed, parsed)
    coerced = judging.judge(tuple(_coerced(call, declared.get(call.name)) for call in calls), source)
    if coerced.is_clean and not parsed.is_clean:
        coerced = replace(coerced, allowances=(Allowance.COERCED,))
    return Judgements(parsed, coerced)


def _read(answer: Answer, suite: Suite) -> Extraction | Difference:
    """Find the calls in the text, or say why it is not in the form that was asked for."""
    if suite.prompt.format == "strict":
        return read_strict_answer(answer, suite)
    return suite.extractor.extract(answer.text, complete=is_complete(answer.finish_reason))


@dataclass(frozen=True, slots=True)
class _Judging:
    """All that is known about one response."""

    case: Case
    suite: Suite
    answer: Answer
    extraction: Extraction

    def calls(self) -> tuple[tuple[FoundCall, ...], Source]:
        """Return the calls to judge: the server's own; if there are none, those in the text."""
        if self.answer.calls:
            return self.answer.calls, "native"
        found = tuple(
            FoundCall(call.name, call.arguments, call.arguments_json, call.deviations, call.repaired_from)
            for call in self.extraction.tool_calls
        )
        return found, "text" if found else "none"

    def judge(self, calls: tuple[FoundCall, ...], source: Source) -> Judgement:
        """Judge the calls, or the words if there are none."""
        faults = gravest_first(
            self._json_in_text(source)
            or self._unreadable(calls)
            or (self._mismatch(calls) if calls else self._answer())
        )
        if not faults:
            return self._passed(calls, source)
        details = [few(list(dict.fromkeys(fault.detail for fault in faults))), few(mended_remarks(calls))]
        return Judgement(faults[0].verdict, "; ".join(filter(None, details)), calls, source)

    def _json_in_text(self, source: Source) -> list[Difference]:
        """Fault calls in the text where they do not count, and any JSON there if native calls alone are let pass."""
        policies = self.suite.policies
        if policies.native_calls_only:
            found = next(self._calls_and_json(), None)
            return [] if found is None else [Difference(Verdict.CALL_IN_TEXT, f"JSON in the text: {shortened(found)}")]
        if source == "text" and not policies.text_calls:
            found = shortened(next(self._calls_and_json()))
            return [Difference(Verdict.CALL_IN_TEXT, f"the call is in the text, and tool_calls is empty: {found}")]
        return []

    def _calls_and_json(self) -> Iterator[str]:
        yield from (self.answer.text[slice(*call.span)] for call in self.extraction.tool_calls)
        yield from json_in(self.suite.without_thoughts(self.answer.text))
        attempts = (one for one in self.extraction.attempts if one.reason is not RejectionReason.QUOTED)
        yield from (self.answer.text[slice(*attempt.span)] for attempt in attempts)

    def _unreadable(self, calls: Iterable[FoundCall]) -> list[Difference]:
        faults = []
        for call in calls:
            if call.arguments is None:
                is_whole = is_complete(self.answer.finish_reason)
                what = "are no JSON object" if is_whole else f"are cut off{self._why_ended()}"
                detail = f"the arguments of {shortened(call.name)} {what}: {shortened(call.arguments_json)}"
                faults.append(Difference(Verdict.MALFORMED if is_whole else Verdict.TRUNCATED, detail))
            elif self.suite.tools and all(tool.name != call.name for tool in self.suite.tools):
                detail = f"called {shown_call(call)}, which is not declared; expected {_named(self.case)}"
                faults.append(Difference(Verdict.UNKNOWN_TOOL, detail))
        return faults

    def _mismatch(self, calls: tuple[FoundCall, ...]) -> list[Difference]:
        """Fault calls that differ from each alternative, by the one that is the least different."""
        least = self._nearest(calls, stringified_lists=self.suite.policies.stringified_lists)
        if least and least[0].verdict is Verdict.MISSING_CALL:
            return [*self._unread(), *least]
        return least

    def _nearest(self, calls: tuple[FoundCall, ...], *, stringified_lists: bool) -> list[Difference]:
        """Return what differs from the alternative that is the least different."""
        everything = [
            calls_differences(
                [self._with_defaults(expected) for expected in alternative],
                calls,
                ordered=self.case.ordered,
                stringified_lists=stringified_lists,
            )
            for alternative in self.case.alternatives
        ]
        return min(everything, key=lambda found: [(-one.verdict.gravity, len(found)) for one in found[:1]])

    def _answer(self) -> list[Difference]:
        """Fault an answer without calls, unless words are what is expected or allowed."""
        unread = self._unread()
        if unread:
            return unread
        words, is_allowed = (self.extraction.content or "").strip(), self._may_answer_directly()
        if not words:
            verdict = Verdict.NO_RESPONSE if is_allowed else Verdict.MISSING_CALL
            expected = "" if is_allowed else f"; expected {_named(self.case)}"
            return [Difference(verdict, f"neither text nor a call{self._why_empty()}{expected}")]
        not_in_words = why_not_in_words(words, self.suite.tools)
        if not_in_words is not None:
            verdict = Verdict.TRUNCATED if not_in_words.is_cut_off else Verdict.MALFORMED
            return [Difference(verdict, f"no answer in words: {not_in_words.detail}")]
        if not is_allowed:
            detail = f"answered in words, expected {_named(self.case)}: {shortened(words)}"
            return [Difference(Verdict.DIRECT_ANSWER_NOT_ALLOWED, detail)]
        if not is_complete(self.answer.finish_reason):
            detail = f"the answer in words is cut off{self._why_ended()}: {shortened(words)}"
            return [Difference(Verdict.TRUNCATED, detail)]
        return []

    def _may_answer_directly(self) -> bool:
        policies, case = self.suite.policies, self.case
        if () in case.alternatives:
            return True
        if not policies.allow_direct_answers:
            return False
        if case.direct_answer is not None:
            return case.direct_answer
        return any(all(call.tool in policies.direct_answers for call in calls) for calls in case.alternatives)

    def _unread(self) -> list[Difference]:
        """Return the calls that were meant but cannot be read, as faults."""
        complete = is_complete(self.answer.finish_reason)
        return [
            Difference(
                Verdict.TRUNCATED if attempt.reason is RejectionReason.TRUNCATED else Verdict.MALFORMED,
                f"a call that cannot be read ({attempt.detail}): {shortened(self.answer.text[slice(*attempt.span)])}",
            )
            for attempt in find_unread_calls(self.answer.text, self.extraction, self.suite, complete=complete)
        ]

    def _with_defaults(self, expected: ExpectedCall) -> ExpectedCall:
        """Add what the tool's schema says it takes for the arguments that are left out."""
        parameters = next((tool.parameters for tool in self.suite.tools if tool.name == expected.tool), {})
        schemas = parameters.get("properties", {}).items()
        defaults = {name: schema["default"] for name, schema in schemas if has_default(schema)}
        return replace(expected, defaults={**defaults, **expected.defaults})

    def _passed(self, calls: tuple[FoundCall, ...], source: Source) -> Judgement:
        """Say what let a response through, and what else there is to remark."""
        if not calls and () in self.case.alternatives:
            return Judgement(Verdict.PASSED)
        if not calls:
            told = f"answered in words, in place of {_named(self.case)}"
            return Judgement(Verdict.PASSED, told, allowances=(Allowance.WORDS,))
        lists = self._nearest(calls, stringified_lists=False)
        remarks = [*mended_remarks(calls), *(f"{one.detail}; it is compared as the list in it" for one in lists)]
        remarks += [f"beside it, {one.detail}" for one in self._unread()]
        allowances = [Allowance.LIST_IN_STRING] * bool(lists)
        allowances += [Allowance.MENDED] * any(call.is_mended for call in calls)
        return Judgement(Verdict.PASSED, few(list(dict.fromkeys(remarks))), calls, source, tuple(allowances))

    def _why_empty(self) -> str:
        thought = ", only reasoning" if self.answer.reasoning or self.extraction.reasoning else ""
        return thought + self._why_ended()

    def _why_ended(self) -> str:
        return f" (finish_reason {self.answer.finish_reason})" if self.answer.finish_reason else ""


def _coerced(call: FoundCall, tool: Tool | None) -> FoundCall:
    if tool is None or call.arguments is None:
        return call
    return replace(call, arguments=dict(coerce_arguments(call.arguments, tool.parameters).arguments))


def _named(case: Case) -> str:
    """Name what a case expects, as a sentence does."""
    named = (" and ".join(call.tool for call in calls) or "no call" for calls in case.alternatives)
    return few([*dict.fromkeys(named)], " or ")
