"""The form of the answers: streams, ids, arguments, finish reasons, tokens that were left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus

from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.exchanges import Exchange
from llama3_acceptance.doctor.finding import IN_BETWEEN, Finding
from llama3_acceptance.doctor.questions import NATIVE, SHORT_TOKENS, TWO_AGAIN
from llama3_acceptance.doctor.said import stream_difference
from llama3_tools.chat.finish_reason import openai_finish_reason
from llama3_tools.values import shortened

_TOKEN = re.compile(r"<\|[a-z_]{2,40}\|>")


def wrong_template(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a plain question gets no answer, or a text has a token of the model's protocol."""
    cure = "check the chat template: the server has to use the model's own, and to stop at its tokens"
    plain = of["plain"]
    if plain.is_answered and not plain.content and not plain.reasoning:
        yield Finding("template_wrong", "the answer to a plain question is empty", cure)
        return
    for name, answer in of.exchanges.items():
        token = _TOKEN.search(answer.content)
        if token and not of.read(name).tools_called:
            what = f"a token of the model's protocol is left in the text: {token[0]}"
            yield Finding("template_wrong", what, cure, still_works="native")
            return


def different_streams(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a stream breaks, or says something else than the whole answer."""
    streamed, what = of["two streamed"], ""
    said, said_streamed = of.said("two"), of.said("two streamed")
    if of.failed("two streamed"):
        status = f"{streamed.shown_status}: " if streamed.status != HTTPStatus.OK else ""
        what = f"a stream with tools fails: {status}{streamed.error}"
    elif said is not None and said_streamed is not None:
        difference = stream_difference(said, said_streamed, of.said(TWO_AGAIN))
        if difference is not None:
            what = f"the same question gets {difference[0]} as a whole answer, and {difference[1]} as a stream"
    if what:
        yield Finding("stream_differs", what, f"do not stream requests with tools (stream=False), or {IN_BETWEEN}")


def unreadable_calls(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a client cannot read calls: their arguments are not a JSON object, or they lack ids."""
    for name in NATIVE:
        calls, ids = of[name].calls, [call.id for call in of[name].calls]
        what = ""
        if ids and (None in ids or len(set(ids)) < len(ids)):
            has = "no id" if None in ids else f"the same id: {shortened(str(ids[0]), 40)!r}"
            what = f"calls have {has}: a client cannot tell which result belongs to which call"
        for call in calls:
            if call.is_decoded:
                what = f"the arguments of {call.name} come as an object, where OpenAI's clients expect text with JSON"
            elif call.arguments is None:
                what = f"the arguments of {call.name} come as text that is no JSON object: {shortened(call.text, 80)!r}"
        if what:
            yield Finding("calls_unreadable", what, f"{IN_BETWEEN}, and gives each call its own id")
            return


def wrong_finish_reasons(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the finish reason is not that of calls, or of a limit."""
    plain = of["plain"]
    is_cut = plain.completion_tokens is not None and plain.completion_tokens >= SHORT_TOKENS
    if plain.is_answered and is_cut and plain.finish_reason != "length":
        yield _finish_reason(plain, "of an answer that max_tokens ended", "length")
        return
    for name in NATIVE:
        answer = of[name]
        expected = openai_finish_reason(answer.finish_reason, has_calls=True)
        if answer.calls and answer.is_answered and answer.finish_reason != expected:
            yield _finish_reason(answer, "of an answer with calls", expected)
            return


def not_asked(of: Examination) -> Iterator[Finding]:
    """Yield a note if there was no time for all questions."""
    if of.unanswered:
        yield Finding(
            "too_slow",
            f"there was no time for: {', '.join(of.unanswered)}",
            "allow more with --timeout",
            is_fault=False,
            still_works="native",
        )


def _finish_reason(answer: Exchange, which: str, expected: str) -> Finding:
    streamed = " in a stream" if "streamed" in answer.name else ""
    return Finding(
        "finish_reason_wrong",
        f"the finish_reason {which}{streamed} is {answer.finish_reason!r}, but should be {expected!r}",
        "check for calls instead of finish_reason; llama3-tools corrects it",
        still_works="native",
    )
