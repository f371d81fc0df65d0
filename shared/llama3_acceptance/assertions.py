"""Assertions for tests of any kind: that a response contains the calls expected, and if not, what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama3_acceptance.judging.judge import judge
from llama3_acceptance.judging.responses import read_response
from llama3_acceptance.rendering import few, shown_expected, shown_found
from llama3_acceptance.running.asking import ask
from llama3_acceptance.values import (
    ArgumentRule,
    Case,
    ExpectedCall,
    FoundCall,
    Judgements,
    Policies,
    Prompt,
    Reading,
    Suite,
)
from llama3_tools.text.escaping import escape_invisible
from llama3_tools.tools import ToolLike, declare_tools
from llama3_tools.values import shortened

_SHOWN = 1000


@dataclass(frozen=True, slots=True)
class SuiteCase:
    """A case and its suite, as a test gets them."""

    case: Case
    """The case."""
    suite: Suite
    """The suite that it is in."""

    @property
    def request(self) -> dict[str, Any]:
        """Return `messages`, and `tools` if the suite's prompt is native, as `chat.completions.create` takes them."""
        return ask(self.case, self.suite)

    def check(self, response: object, *, coerced: bool = False) -> Judgements:
        """Assert that a response passes.

        Args:
            response: what the model answered, of any kind that `read_response` takes.
            coerced: whether the arguments may be coerced to the types that their tool declares.

        Raises:
            AssertionError: it does not pass. The message has the reason, what was expected, and what was found.
            TypeError: `response` is of no kind that can be read.
        """
        __tracebackhide__ = True
        judgements = judge(self.case, response, self.suite)
        if not judgements.of(coerced=coerced).passed:
            raise AssertionError(_difference(self.case, response, judgements, coerced=coerced))
        return judgements

    def __repr__(self) -> str:
        """Name the case and the suite, as tracebacks show them."""
        return f"<SuiteCase {self.case.id!r} of {self.suite.name!r}>"


def assert_tool_call(  # noqa: PLR0913 - separate choices, and all but two go by name
    response: object,
    expected: str | ExpectedCall | Sequence[ExpectedCall] | None,
    arguments: Mapping[str, Any] | None = None,
    *,
    tools: Iterable[ToolLike] = (),
    ordered: bool = False,
    coerced: bool = False,
    reading: Reading = Reading(),  # noqa: B008 - a frozen value
    policies: Policies = Policies(),  # noqa: B008 - the same
    prompt: Prompt = Prompt(),  # noqa: B008 - the same
) -> tuple[FoundCall, ...]:
    """Assert that a response calls what is expected, and nothing else.

    >>> response = 'Let me look. {"name": "get_weather", "parameters": {"city": "Rome"}}'
    >>> assert_tool_call(response, "get_weather", {"city": ArgumentRule(("Rome", "Roma"))})[0].arguments
    {'city': 'Rome'}
    >>> assert_tool_call(response, "get_weather", {"city": "Paris"})
    Traceback (most recent call last):
    ...
    AssertionError: wrong_value: get_weather: city is "Rome", expected "Paris"
      expected        get_weather(city="Paris")
      found in text   get_weather({"city": "Rome"})
      output          Let me look. {"name": "get_weather", "parameters": {"city": "Rome"}}

    Args:
        response: what the model answered, of any kind that `read_response` takes.
        expected: the name of the tool, an `ExpectedCall`, several of them, or `None` for no call at all.
        arguments: with the name of a tool, its arguments: values, or an `ArgumentRule` if there is more to say.
            Others are not allowed. Without `arguments`, the tool may have any.
        tools: the declared tools. A call of any other is then unknown; without them, every name may be called.
        ordered: whether several calls have to come in the order in which they are expected.
        coerced: whether the arguments may be coerced to the types that their tool declares.
        reading: how calls are looked for in text. To repair them, there have to be `tools`.
        policies: what is let pass. Only with a policy of your own can words replace a call here.
        prompt: how the model was asked. `Prompt(format="strict")`: the response has to be in the strict format.

    Returns:
        The calls, with the coerced arguments if `coerced` is set.

    Raises:
        AssertionError: with the reason, what was expected, and what was found.
        TypeError: `response` is of no kind that can be read, or there are `arguments` without the name of a tool.
        ValueError: `reading` repairs, and there are no `tools`; or it contradicts the strict format.
    """
    __tracebackhide__ = True
    if arguments is not None and not isinstance(expected, str):
        raise TypeError("arguments go with the name of a tool; an ExpectedCall has its own")
    if isinstance(expected, str):
        rules = {name: _as_rule(value) for name, value in (arguments or {}).items()}
        expected = ExpectedCall(expected, rules, mode="partial" if arguments is None else "exact")
    calls = (expected,) if isinstance(expected, ExpectedCall) else () if expected is None else expected
    case = Case("assert_tool_call", "", (tuple(calls),), ordered=ordered)
    suite = Suite("assert_tool_call", tuple(declare_tools(tools).values()), (case,), policies, prompt, reading=reading)
    judgements = SuiteCase(case, suite).check(response, coerced=coerced)
    return judgements.of(coerced=coerced).calls


def _as_rule(value: object) -> ArgumentRule:
    return value if isinstance(value, ArgumentRule) else ArgumentRule((value,))


def _difference(case: Case, response: object, judgements: Judgements, *, coerced: bool) -> str:
    judgement = judgements.of(coerced=coerced)
    answer = read_response(response)
    rows = [("command", case.command)] if case.command else []
    rows += [
        ("expected" if not index else "or", "; ".join(map(shown_expected, calls)) or "an answer in words")
        for index, calls in enumerate(case.alternatives)
    ]
    where = {"native": "found", "text": "found in text", "none": "found"}[judgement.source]
    rows.append((where, few([*map(shown_found, judgement.calls)]) or "no call"))
    if answer.text:
        rows.append(("output", shortened(answer.text, _SHOWN)))
    if not coerced and judgements.coerced.passed:
        rows.append(("after coercion", "passed"))
    lines = [f"{judgement.verdict}: {_within(judgement.detail, exact=True)}"]
    lines += [f"  {title:<16}{_within(text, exact=title != 'output')}" for title, text in rows]
    return "\n".join(lines)


def _within(text: str, *, exact: bool) -> str:
    """Return text with its further lines indented, and without characters that hide or command a terminal."""
    return escape_invisible(text, exact=exact).replace("\n", "\n" + " " * 18)
