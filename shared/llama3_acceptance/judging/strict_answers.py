"""Answers in the strict response format: the one object and nothing else, or what is wrong with it."""

from __future__ import annotations

from llama3_acceptance.judging.matching import Difference
from llama3_acceptance.judging.responses import Answer
from llama3_acceptance.rendering import few, shown_call
from llama3_acceptance.values import Suite, Verdict
from llama3_tools import Extractor
from llama3_tools.chat.finish_reason import is_complete
from llama3_tools.errors import ResponseFormatError, ResponseFormatProblem
from llama3_tools.strict.check import parse_response
from llama3_tools.values import Extraction, shortened

_THINKING = Extractor(formats="none", split_reasoning=True)
_WITHOUT_OBJECT = (ResponseFormatProblem.NO_JSON, ResponseFormatProblem.TRUNCATED)
"""What is wrong with an answer in which the object never came to its end."""


def read_strict_answer(answer: Answer, suite: Suite) -> Extraction | Difference:
    """Read an answer that has to be the one object of the strict format.

    A call of a tool that is not declared is a call, which is judged as any other.

    >>> suite = Suite("Clocks", (), ())
    >>> read_strict_answer(Answer('{"message": "Hi", "tool_call": null}'), suite).content
    'Hi'
    >>> read_strict_answer(Answer('Hi {"message": "", "tool_call": null}'), suite).verdict
    <Verdict.WRONG_FORMAT: 'wrong_format'>

    Args:
        answer: the answer.
        suite: its tools, and whether an answer has its calls in an array.

    Returns:
        The calls and the message, or why the answer is not in the format.
    """
    if answer.calls:
        sent = few([*map(shown_call, answer.calls)])
        return Difference(Verdict.WRONG_FORMAT, f"the call is in tool_calls, not in the object: {sent}")
    text = suite.without_thoughts(answer.text) if suite.reading.starts_reasoning else answer.text
    try:
        read = _parsed(text, suite)
    except ResponseFormatError as error:
        return _fault(error, answer)
    thought = _THINKING.extract(read.content or "").reasoning
    if thought is not None:
        detail = f"thoughts are in the message, which the user sees: {shortened(read.content or '')}"
        return Difference(Verdict.WRONG_FORMAT, detail)
    return read


def _parsed(text: str, suite: Suite) -> Extraction:
    """Read an object; one that names a tool that is not declared, too."""
    multiple = suite.prompt.multiple
    try:
        return parse_response(text, tools=suite.tools or None, multiple=multiple)
    except ResponseFormatError as error:
        if error.problem is not ResponseFormatProblem.UNKNOWN_TOOL:
            raise
        return parse_response(text, multiple=multiple)


def _fault(error: ResponseFormatError, answer: Answer) -> Difference:
    """Say what is wrong with an answer, and that a limit ended it if there is no whole object."""
    detail = f"{error.problem}: {error.detail}"
    is_limited = error.problem in _WITHOUT_OBJECT and not is_complete(answer.finish_reason)
    if is_limited:
        detail += f" (finish_reason {answer.finish_reason})"
    is_cut_off = is_limited or error.problem is ResponseFormatProblem.TRUNCATED
    return Difference(Verdict.TRUNCATED if is_cut_off else Verdict.WRONG_FORMAT, detail)
