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
    model, client = f"ChatOpenAI({where})", "from langchain_openai import ChatOpenAI"
    if examination.calls_natively and can_call_natively:
        return Advice("You can use the server's own tool calls.", (client, f"llm = {model}.bind_tools(tools)"))
    sentence = _of_the_prompt(examination)
    if sentence:
        own = "from langchain_llama3_tools import Llama3ToolModel"
        lines = (own, client, f"llm = Llama3ToolModel({model}).bind_tools(tools)")
        return Advice(sentence, lines, f"llama3-tools serve {examination.base_url}")
    if examination.calls_in_text:
        own = "from langchain_llama3_tools import Llama3JsonToolOutputParser"
        lines = (own, client, f"chain = {model}.bind_tools(tools) | Llama3JsonToolOutputParser(tools=tools)")
        return Advice(
            "The model calls only if the server shows it the tools. This reads its calls from the text.", lines
        )
    return _no_help(examination, (client, f"llm = {model}.bind_tools(tools)"))


def _of_the_prompt(examination: Examination) -> str:
    """Say what comes of the tools in the prompt; nothing if no call does."""
    asked = examination["in the prompt"]
    if examination.calls_in_the_prompt:
        return "This works: the tools in the prompt, and the calls read from the text."
    if not asked.is_answered:
        return (
            "These lines put the tools into the prompt and read the calls from the text. It is not known whether "
            "this model calls then: that question has no answer."
        )
    tries = "The model tries to call. These lines tell it what was wrong, and ask again."
    return tries if examination.read(asked.name).attempts else ""


def _no_help(examination: Examination, native: tuple[str, ...]) -> Advice:
    """Say that this library will not help, and what may."""
    told = "llama3-tools will not help this model yet: with the tools in the prompt, it makes no call."
    if examination.calls_natively:
        return Advice(f"{told} It calls with the server's own tools only: use these, in spite of the faults.", native)
    return Advice(
        f"{told} What may help: a model that is trained for tools, such as Llama 3.1 8B Instruct; some calls as "
        'examples before the question; or the strict format (prompt_format="strict"), one JSON object under a schema.'
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
