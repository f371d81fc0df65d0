"""Why outputs are not right, by class: what is in them, or what the leaderboard's checker says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from bfcl_judging import ALL, COERCED, Judged, wrong_of
from bfcl_package import Call, Leaderboard
from llama3_tools import Extraction, Rejection

READ = "read as written"
"""How the classes begin in which all that was written is read."""
_REJECTED = {
    re.compile(r"found the name '|found a call of '|found '[*/+x-]'"): "a name, a call or arithmetic for a value",
    re.compile(r"in a form that is not a call$"): "a tool's name in another form, such as `['NAME', {…}]`",
    re.compile(r"^the argument '.*' occurs twice"): "an argument occurs twice",
    re.compile(r"double quotes, as in JSON"): "a dict of Python",
}
"""What a rejection says, and what it means."""
_WORDS = {
    "wrong_func_name": "another tool is called",
    "unexpected_param": "an argument that is not declared",
    "missing": "an argument is missing",
    "type_error": "an argument has another type",
    "value_error": "an argument has another value",
    "cannot_find_match": "one of several calls is none that is due",
}
"""What is in the checker's words, and what it means."""


def loss_of(judged: Judged, board: Leaderboard) -> str:
    """Return the class of an output that is not right with `coerce_arguments`."""
    found = judged.readings[COERCED].extraction
    return _class_of_due(judged, board) if judged.question.is_due or not found else _class_of_undue(found)


def _class_of_due(judged: Judged, board: Leaderboard) -> str:
    question, reading = judged.question, judged.readings[COERCED]
    calls = list(reading.calls or ())
    if not wrong_of(question, _once(calls), board):
        return "the same call again: right if it counts once"
    if judged.readings[ALL].is_right:
        return "right with `repair`"
    if reading.extraction and reading.extraction.rejections:
        return _class_of_rejections(reading.extraction.rejections)
    if not calls:
        return "no call, and nothing that was rejected"
    more = len(calls) - len(question.answer)
    if more:
        return f"{READ}: too {'many' if more > 0 else 'few'} calls"
    word = next((words for word, words in _WORDS.items() if word in reading.wrong), reading.wrong)
    return f"{READ}: {word}"


def _class_of_rejections(rejections: Sequence[Rejection]) -> str:
    for pattern, meaning in _REJECTED.items():
        if any(pattern.search(found.detail) for found in rejections):
            return f"rejected: {meaning}"
    [(reason, _)] = Counter(found.reason.value for found in rejections).most_common(1)
    return f"rejected: `{reason}`"


def _class_of_undue(found: Extraction) -> str:
    """Return the class of an output that calls though nothing is to be called."""
    if any(call.problems for call in found.tool_calls):
        return "arguments that do not fit the tool's schema, which `problems` says"
    if found.rejections:
        return "calls beside something that was rejected"
    return "calls, and nothing else" if found.content is None else "calls beside text"


def _once(calls: Sequence[Call]) -> list[Call]:
    """Return calls without those that are the same as one before."""
    return [call for number, call in enumerate(calls) if call not in calls[:number]]
