"""The lines of code, and the gateway's command line, that work with an endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.findings import Finding, calls_in_the_prompt, calls_natively

__all__ = ["Advice", "advise"]

_HARMLESS = frozenset(
    {
        "context_limit",
        "no_usage",
        "not_asked",
        "finish_reason_wrong",
        "prompt_cut_off",
        "prompt_failed",
        "thinks_long",
        "tokens_left",
    }
)
"""Findings with which the server's own calls can be used all the same."""
_NO_CALLS = frozenset(
    {"unreachable", "key_refused", "model_missing", "not_openai", "server_error", "server_busy", "too_slow"}
)
"""Findings after which nobody knows what would work."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do."""

    sentence: str
    """Which way works, and why."""
    code: tuple[str, ...] = ()
    """Lines of Python."""
    command: str = ""
    """The gateway's command line, for every other client."""


def advise(examination: Examination, findings: Iterable[Finding]) -> Advice:
    """Return what works with an endpoint.

    Args:
        examination: what it answered.
        findings: what is wrong with it.
    """
    codes = {finding.code for finding in findings}
    if codes & _NO_CALLS:
        return Advice("Mend this first, and ask the doctor again.")
    if codes <= _HARMLESS and examination.unanswered:
        return Advice("Not all questions were answered, so nobody knows yet what works: give it more --timeout.")
    key = "…" if examination.has_key else "none"
    where = f'base_url={_quoted(examination.base_url)}, api_key="{key}", model={_quoted(examination.model)}'
    lines: tuple[str, ...]
    if calls_natively(examination) and not codes - _HARMLESS:
        lines = ("from langchain_openai import ChatOpenAI", f"llm = ChatOpenAI({where}).bind_tools(tools)")
        return Advice("The server's own calls can be used as they are.", lines)
    lines = (
        "from langchain_llama3_tools import Llama3ToolModel",
        "from langchain_openai import ChatOpenAI",
        f"llm = Llama3ToolModel(ChatOpenAI({where})).bind_tools(tools)",
    )
    command = f"llama3-tools serve --upstream {examination.base_url}"
    if calls_in_the_prompt(examination):
        sentence = "It works with the tools in the prompt, and the calls read out of the text."
    elif not examination["in the prompt"].is_answered:
        sentence = (
            "These lines put the tools in the prompt, and read the calls out of the text; whether this model calls "
            "then is not known, as that question has no answer."
        )
    else:
        sentence = (
            "The model made no call with the tools in the prompt either; these lines are the best there is for it."
        )
    return Advice(sentence, lines, command)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
