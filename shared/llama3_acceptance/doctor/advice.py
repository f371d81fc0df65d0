"""The lines of code, and the gateway's command line, that work with an endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.finding import Finding


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
    still_works = {finding.still_works for finding in findings}
    can_call_natively = still_works <= {"native"}
    if "nothing" in still_works:
        return Advice("Fix this first, then run the doctor again.")
    if can_call_natively and examination.unanswered:
        return Advice("Some questions have no answer, so it is not known yet what works: allow more with --timeout.")
    key = "…" if examination.has_key else "none"
    where = f'base_url={_quoted(examination.base_url)}, api_key="{key}", model={_quoted(examination.model)}'
    lines: tuple[str, ...]
    if examination.calls_natively and can_call_natively:
        lines = ("from langchain_openai import ChatOpenAI", f"llm = ChatOpenAI({where}).bind_tools(tools)")
        return Advice("You can use the server's own tool calls.", lines)
    lines = (
        "from langchain_llama3_tools import Llama3ToolModel",
        "from langchain_openai import ChatOpenAI",
        f"llm = Llama3ToolModel(ChatOpenAI({where})).bind_tools(tools)",
    )
    command = f"llama3-tools serve --upstream {examination.base_url}"
    if examination.calls_in_the_prompt:
        sentence = "This works: the tools in the prompt, and the calls read from the text."
    elif not examination["in the prompt"].is_answered:
        sentence = (
            "These lines put the tools into the prompt and read the calls from the text. It is not known whether "
            "this model calls then: that question has no answer."
        )
    else:
        sentence = (
            "The model made no call with the tools in the prompt either. No way is better for it than these lines."
        )
    return Advice(sentence, lines, command)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
