"""The lines of code, and the gateway's command line, that work with an endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.finding import Finding

_NO_HELP = "llama3-tools will not help this model yet: with the tools in the prompt, it makes no call."
_MAY_HELP = (
    "What may help: a model that is trained for tools, such as Llama 3.1 8B Instruct; some calls as examples before "
    'the question; or the strict format (prompt_format="strict"), which asks for one JSON object under a schema.'
)


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
    native = ("from langchain_openai import ChatOpenAI", f"llm = ChatOpenAI({where}).bind_tools(tools)")
    if examination.calls_natively and can_call_natively:
        return Advice("You can use the server's own tool calls.", native)
    asked = examination["in the prompt"]
    if examination.calls_in_the_prompt:
        sentence = "This works: the tools in the prompt, and the calls read from the text."
    elif not asked.is_answered:
        sentence = (
            "These lines put the tools into the prompt and read the calls from the text. It is not known whether "
            "this model calls then: that question has no answer."
        )
    elif examination.read(asked.name).attempts:
        sentence = "The model tries to call. These lines tell it what was wrong, and ask again."
    elif examination.calls_natively:
        return Advice(
            f"{_NO_HELP} The model calls with the server's own tools only: use these, in spite of the faults.", native
        )
    else:
        return Advice(f"{_NO_HELP} {_MAY_HELP}")
    lines = (
        "from langchain_llama3_tools import Llama3ToolModel",
        "from langchain_openai import ChatOpenAI",
        f"llm = Llama3ToolModel(ChatOpenAI({where})).bind_tools(tools)",
    )
    return Advice(sentence, lines, f"llama3-tools serve --upstream {examination.base_url}")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
