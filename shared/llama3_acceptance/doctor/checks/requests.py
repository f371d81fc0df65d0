"""Requests that the server refuses, fails at or cuts off: tools, their results, long prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.finding import IN_BETWEEN, Finding
from llama3_acceptance.doctor.questions import LONG_WORDS, WITH_EMPTY_CONTENT
from llama3_tools.values import shortened

_CONTEXT = re.compile(r"context|too long|maximum|exceed", re.IGNORECASE)
_ABOUT = {
    "one": "a question with tools",
    "two": "a question that needs two calls",
    "arguments": "a question that needs a number and a list",
    "in the prompt": "a question with the tools in the prompt",
    "long": f"a prompt of {LONG_WORDS} words",
}
_TAKES_TOOLS = (
    "llama.cpp takes tools with --jinja, vLLM with --enable-auto-tool-choice --tool-call-parser llama3_json, or with "
    "llama3_tools, this library's plugin, which keeps the text"
)
_MORE_CONTEXT = (
    "give the model more context: OLLAMA_CONTEXT_LENGTH=16384 for Ollama's server (num_ctx), -c 16384 for llama.cpp, "
    "--max-model-len for vLLM, the context length in LM Studio"
)


def refused_tools(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a request with tools is an error, or is one as soon as there is more to call."""
    for name in ("one", "two", "arguments"):
        if of.failed(name):
            yield Finding(
                "tools_refused",
                f"the server fails on {_ABOUT[name]} ({of[name].shown_status}): {of[name].error}",
                "leave `tools` out of the request"
                + (f", and {IN_BETWEEN}" if of.calls_in_the_prompt else "")
                + f". {_TAKES_TOOLS}",
            )
            return


def failed_prompts(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a question with the tools in the prompt, or a long prompt, is an error."""
    for name in ("in the prompt", "long"):
        if of.failed(name) and not (name == "long" and _CONTEXT.search(of[name].error)):
            yield Finding(
                "server_error",
                f"the server fails on {_ABOUT[name]} ({of[name].shown_status}): {of[name].error}",
                "look into the server's log: there may be too little memory, or the request may be too long",
                still_works="native",
            )


def short_context(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a long prompt is cut off, or a note if it is refused, or if nobody counts its tokens."""
    long = of["long"]
    if long.is_answered and long.prompt_tokens and long.prompt_tokens < LONG_WORDS:
        what = (
            f"of a prompt of more than {LONG_WORDS} tokens, the model sees {long.prompt_tokens}: the server cuts off "
            "the rest without an error, and your tools may be in it"
        )
        yield Finding("context_limit", what, _MORE_CONTEXT, still_works="native")
    elif of.failed("long") and _CONTEXT.search(long.error):
        what = (
            f"the server refuses a prompt of {LONG_WORDS} words, as it should if its context is smaller: {long.error}"
        )
        to_do = f"if your tools and conversations are long, {_MORE_CONTEXT}"
        yield Finding("context_limit", what, to_do, is_fault=False, still_works="native")
    elif long.is_answered and not long.prompt_tokens:
        what = "the server counts no tokens, so it is not known whether it cuts off prompts or drops text beside calls"
        to_do = "look up the length of the context in the server's log"
        yield Finding("context_limit", what, to_do, is_fault=False, still_works="native")


def refused_results(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a tool's result is an error, or the message with calls before it."""
    result = of["result"]
    if not of.failed("result"):
        return
    if of[WITH_EMPTY_CONTENT].is_answered:
        refused = "an assistant's message with calls and `content: null`, as OpenAI's clients send it"
        cure = 'send content: "" beside calls'
    else:
        refused, cure = "tool results in the role `tool`", "send results in the role `user`"
    yield Finding(
        "results_refused",
        f"the server refuses {refused} ({result.shown_status}): {shortened(result.error, 120)}",
        f"{cure}; llama3-tools sends calls and results as text",
    )
