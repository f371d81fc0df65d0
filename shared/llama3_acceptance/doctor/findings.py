"""What is wrong with an endpoint, told from its answers, and what to do about it.

Each check looks at one thing, and yields a finding or none. `_CHECKS` lists them in the order in which they are told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal, TypeAlias

from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.exchanges import Exchange
from llama3_acceptance.doctor.questions import (
    LONG_WORDS,
    MAX_TOKENS,
    NATIVE,
    SHORT_TOKENS,
    TEXT_AND_CALL,
    TEXT_TOKENS,
    TOOLS,
    TWO_AGAIN,
    WITH_EMPTY_CONTENT,
)
from llama3_acceptance.doctor.said import stream_difference
from llama3_tools.arguments import coerce_arguments
from llama3_tools.errors import did_you_mean
from llama3_tools.values import shortened

__all__ = ["Finding", "FindingCode", "find_faults"]

_LEAST_FOR_TOOLS = 60
"""Two tools as JSON take more tokens than that, in any tokenizer."""
_LEAST_FOR_CALL = 8
"""A call takes more tokens than that."""
_CITIES = 2
_TOKEN = re.compile(r"<\|[a-z_]{2,40}\|>")
_CONTEXT = re.compile(r"context|too long|maximum|exceed", re.IGNORECASE)
_CALLED = ("tool_calls", "function_call")
_NO_SUCH_MODEL = re.compile(r"\bmodel\b.{0,99}(?:not found|not exist|unknown)|no such model", re.IGNORECASE)
_FORMS = {
    "json": "bare JSON",
    "tool_call": "JSON in <tool_call>",
    "tool": "JSON in <tool>",
    "tools": "JSON in <tools>",
    "functioncall": "JSON in <functioncall>",
    "function": "the tag <function=NAME>",
    "pythonic": "pythonic calls",
    "python_start": "pythonic calls after <|python_start|>",
    "envelope": "an object with tool_call",
    "code": "code",
}
_ABOUT = {
    "two": "a question that needs two calls",
    "arguments": "a question that needs a number and a list",
    "in the prompt": "a question with the tools in the prompt",
    "long": f"a prompt of {LONG_WORDS} words",
}
_WRAP = "put llama3-tools in between, as shown below: it finds the calls in the text"


FindingCode: TypeAlias = Literal[
    "unreachable",
    "not_openai",
    "key_refused",
    "model_missing",
    "server_error",
    "too_slow",
    "empty_answer",
    "server_busy",
    "tools_refused",
    "tools_failed",
    "tools_ignored",
    "no_calls",
    "malformed_calls",
    "calls_lost",
    "calls_as_text",
    "second_call_lost",
    "text_lost",
    "stream_differs",
    "stream_broken",
    "prompt_cut_off",
    "prompt_failed",
    "thinks_long",
    "context_limit",
    "no_usage",
    "tool_role_refused",
    "null_content_refused",
    "arguments_mistyped",
    "arguments_unreadable",
    "unknown_tool",
    "ids_missing",
    "tool_choice_ignored",
    "tool_choice_refused",
    "finish_reason_wrong",
    "tokens_left",
    "not_asked",
]
"""What a finding is called."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or worth knowing."""

    code: FindingCode
    """Its name, for programs: `calls_as_text`."""
    what: str
    """What was found."""
    to_do: str
    """What to do about it."""
    is_fault: bool = True
    """Whether it is wrong; if not, it is a note."""


_Check: TypeAlias = Callable[[Examination], Iterator[Finding]]


def find_faults(examination: Examination) -> tuple[Finding, ...]:
    """Return what is wrong with an endpoint, the most important first, and what is worth a note.

    Args:
        examination: what it answered.
    """
    for check in _REFUSALS:
        found = tuple(check(examination))
        if found:
            return found
    return tuple(finding for check in _CHECKS for finding in check(examination))


def _unreachable(of: Examination) -> Iterator[Finding]:
    listed = of["models"]
    if not listed.status:
        why = "it does not answer in time" if listed.is_timeout else listed.error
        yield Finding(
            "unreachable",
            f"nothing answers at {of.base_url}: {why}",
            "start the server, and compare the host and the port with what it prints when it starts",
        )


def _refused_key(of: Examination) -> Iterator[Finding]:
    for name in ("plain", "models"):
        if of[name].status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            yield Finding(
                "key_refused",
                f"the server refuses the key (HTTP {of[name].status}): {of[name].error}",
                "pass the server's key with --api-key or OPENAI_API_KEY",
            )
            return


def _busy_server(of: Examination) -> Iterator[Finding]:
    for answer in of.exchanges.values():
        if answer.is_busy:
            does = "busy" if answer.status == HTTPStatus.TOO_MANY_REQUESTS else "loading its model, or busy"
            yield Finding(
                "server_busy",
                f"the server is {does} (HTTP {answer.status}): {answer.error}",
                "wait a moment, then run the doctor again",
            )
            return


def _missing_model(of: Examination) -> Iterator[Finding]:
    plain, models = of["plain"], of.models
    is_told = bool(_NO_SUCH_MODEL.search(plain.error))
    is_request_refused = plain.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
    is_unknown = is_told if models is None else of.model not in models and (is_told or is_request_refused)
    if plain.is_answered or not is_unknown:
        return
    there = f"; it has {', '.join(models)}{_nearest_model(of.model, models)}" if models else ""
    yield Finding(
        "model_missing",
        f"the server has no model {of.model!r}{f' ({plain.error})' if plain.error else ''}{there}",
        "pass a name that the server has with --model, or load the model into the server",
    )


def _nearest_model(model: str, models: list[str]) -> str:
    """Return the end of a message: the model of that name under another tag (`llama3.1:8b`), or one like it."""
    name = model.partition(":")[0].lower()
    of_name = [one for one in models if name and one.lower().rpartition("/")[2].partition(":")[0] == name]
    return did_you_mean(model, of_name or models) or (f"; did you mean {of_name[0]!r}?" if of_name else "")


def _no_openai_server(of: Examination) -> Iterator[Finding]:
    plain = of["plain"]
    if plain.is_answered or not plain.status:
        return
    if plain.is_busy:
        yield from _busy_server(of)
        return
    if of.is_elsewhere:
        yield Finding(
            "not_openai",
            f"the server's OpenAI-compatible API is not at {of.base_url} (HTTP {plain.status})",
            f"use --base-url {of.base_url.rstrip('/')}/v1",
        )
    elif plain.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.OK):
        yield Finding(
            "not_openai",
            f"what answers at {of.base_url} is not an OpenAI-compatible server (HTTP {plain.status}): {plain.error}",
            "use the address that ends in /v1: http://localhost:11434/v1 for Ollama, http://localhost:8080/v1 for "
            "llama.cpp, http://localhost:8000/v1 for vLLM, http://localhost:1234/v1 for LM Studio",
        )
    else:
        yield Finding(
            "server_error",
            f"the server answers a plain question with HTTP {plain.status}: {plain.error}",
            "look into the server's log: the model may not be loaded, or there may be too little memory",
        )


def _too_slow(of: Examination) -> Iterator[Finding]:
    plain = of["plain"]
    if plain.name in of.exchanges and not plain.status:
        why = "did not end in time" if plain.is_timeout else f"broke: {plain.error}"
        yield Finding(
            "too_slow" if plain.is_timeout else "unreachable",
            f"a plain question {why}, after {plain.seconds:.0f} s",
            "allow more with --timeout, or use a smaller model or context",
        )


def _empty_answers(of: Examination) -> Iterator[Finding]:
    plain = of["plain"]
    if plain.is_answered and not plain.content and not plain.reasoning:
        yield Finding(
            "empty_answer",
            "the answer to a plain question is empty",
            "check the chat template: the server may not use the model's own",
        )


def _refused_tools(of: Examination) -> Iterator[Finding]:
    one = of["one"]
    if of.failed("one"):
        yield Finding(
            "tools_refused",
            f"the server refuses tools ({one.shown_status}): {one.error}",
            f"leave `tools` out of the request, and {_WRAP}. llama.cpp takes tools with --jinja, vLLM with "
            "--enable-auto-tool-choice --tool-call-parser llama3_json",
        )


def _failed_tools(of: Examination) -> Iterator[Finding]:
    for name in ("two", "arguments"):
        if of.failed(name):
            yield Finding(
                "tools_failed",
                f"the server accepts tools, but fails on {_ABOUT[name]} ({of[name].shown_status}): {of[name].error}",
                _WRAP,
            )


def _failed_prompts(of: Examination) -> Iterator[Finding]:
    for name in ("in the prompt", "long"):
        if of.failed(name) and not (name == "long" and _CONTEXT.search(of[name].error)):
            yield Finding(
                "prompt_failed",
                f"the server fails on {_ABOUT[name]} ({of[name].shown_status}): {of[name].error}",
                "look into the server's log: there may be too little memory, or the request may be too long",
            )


def _malformed_calls(of: Examination) -> Iterator[Finding]:
    for name in NATIVE:
        read = of.read(name)
        if of[name].calls or read.tools_called or not read.attempts:
            continue
        attempt = read.attempts[0]
        written = shortened(of[name].content[slice(*attempt.span)], 80)
        yield Finding(
            "malformed_calls",
            f"the model tries to call a tool, but what it writes is not a call: {written!r} ({attempt.detail})",
            "put llama3-tools in between: it tells the model what was wrong and asks again, and repair=True repairs "
            "clear cases; a larger or less quantised model makes fewer of these errors",
        )
        return


def _dropped_calls(of: Examination) -> Iterator[Finding]:
    for name in ("one", "two", "arguments"):
        answer = of[name]
        if not answer.is_answered or answer.calls or of.is_still_thinking(name) or of.read(name).rejections:
            continue
        is_announced = answer.finish_reason in _CALLED and not of.read(name).tools_called
        is_empty = not (answer.content.strip() or answer.reasoning)
        if is_announced:
            why = f"the finish_reason is {answer.finish_reason!r}, but there is no call"
        elif is_empty and (answer.completion_tokens or 0) >= _LEAST_FOR_CALL:
            why = f"the model writes {answer.completion_tokens} tokens, but the server sends neither text nor a call"
        else:
            continue
        yield Finding(
            "calls_lost",
            f"the server loses calls: {why}",
            "use the server's parser for this model (vLLM: --tool-call-parser), or put llama3-tools in between, as "
            "shown below: then the server parses no calls",
        )
        return


def _ignored_tools(of: Examination) -> Iterator[Finding]:
    one, plain = of["one"], of["plain"]
    if not one.is_answered or of.is_still_thinking("one") or of.calls_natively or of.calls_in_text:
        return
    means_to_call = any(True for check in (_malformed_calls, _dropped_calls) for _ in check(of))
    if one.prompt_tokens and plain.prompt_tokens:
        are_lost = one.prompt_tokens - plain.prompt_tokens < _LEAST_FOR_TOOLS
        why = f"the prompt has {one.prompt_tokens} tokens with two tools, and {plain.prompt_tokens} without"
    else:
        are_lost = of.calls_in_the_prompt and not means_to_call
        why = "the model calls only if the tools are in the prompt"
    if are_lost:
        yield Finding(
            "tools_ignored",
            f"the server accepts `tools`, but does not show them to the model: {why}",
            f"start the server with a chat template that shows tools, or {_WRAP}",
        )
        return
    if means_to_call:
        return
    how = "calls them only if they are in the prompt" if of.calls_in_the_prompt else "calls none"
    limit = f" (a limit of {of.max_tokens} tokens ended it)" if one.finish_reason == "length" else ""
    yield Finding(
        "no_calls",
        f"the model sees the tools, but {how}: it answers {shortened(one.content, 80)!r}{limit}",
        "use a model that is trained for tools, such as Llama 3.1 8B Instruct or larger, or show it some calls as "
        "examples; `llama3-tools accept` measures how often it calls correctly",
    )


def _long_thoughts(of: Examination) -> Iterator[Finding]:
    if of.max_tokens == MAX_TOKENS or not of["one"].is_answered:
        return
    is_too_long = of.is_still_thinking("one")
    after = f"and after {of.max_tokens}: it is not known whether it calls" if is_too_long else "so it was given more"
    yield Finding(
        "thinks_long",
        f"the model is still thinking after {MAX_TOKENS} tokens, {after}",
        "turn its thinking off or down, if the server can" if is_too_long else "set a large max_tokens",
        is_fault=is_too_long,
    )


def _calls_as_text(of: Examination) -> Iterator[Finding]:
    forms = [call.format for name in NATIVE if not of[name].calls for call in of.read(name).tool_calls]
    if not forms:
        return
    form = _FORMS.get(forms[0], forms[0])
    also = "some of the calls come" if of.calls_natively else "calls come"
    yield Finding(
        "calls_as_text",
        f"{also} as text ({form}), and `tool_calls` is empty: an agent takes the text for its answer and stops",
        _WRAP,
    )


def _lost_text(of: Examination) -> Iterator[Finding]:
    answer = of[TEXT_AND_CALL]
    is_silent = answer.calls and not (answer.content.strip() or answer.reasoning)
    if is_silent and (answer.completion_tokens or 0) >= TEXT_TOKENS * len(answer.calls):
        called = ", ".join(f"{call.name}({call.text})" for call in answer.calls)
        yield Finding(
            "text_lost",
            f"the server drops the text beside calls: it counts {answer.completion_tokens} tokens, but sends only "
            f"{shortened(called, 80)}",
            f"if the text matters, {_WRAP}",
        )


def _lost_calls(of: Examination) -> Iterator[Finding]:
    asked = len(of.read("in the prompt").tool_calls)
    for name in ("two", "two streamed"):
        sent, left = of[name].calls, of.read(name)
        are_left = bool(left.tools_called or left.rejections)
        if sent and len(sent) < _CITIES and (are_left or asked >= _CITIES):
            where = f"is left in the text: {shortened(of[name].content, 80)!r}" if are_left else "is lost"
            place = " in a stream" if name == "two streamed" else ""
            yield Finding(
                "second_call_lost",
                f"of two calls, the server finds one{place}; the other {where}",
                f"ask for one call at a time, or {_WRAP}",
            )
            return


def _different_streams(of: Examination) -> Iterator[Finding]:
    streamed = of["two streamed"]
    if of.failed("two streamed"):
        status = f"{streamed.shown_status}: " if streamed.status != HTTPStatus.OK else ""
        yield Finding(
            "stream_broken",
            f"a stream with tools fails: {status}{streamed.error}",
            f"do not stream requests with tools (stream=False), or {_WRAP}",
        )
        return
    said, said_streamed = of.said("two"), of.said("two streamed")
    if said is None or said_streamed is None:
        return
    difference = stream_difference(said, said_streamed, of.said(TWO_AGAIN))
    if difference is not None:
        yield Finding(
            "stream_differs",
            f"the same question gets {difference[0]} as a whole answer, and {difference[1]} as a stream",
            f"do not stream requests with tools (stream=False), or {_WRAP}",
        )


def _ignored_choices(of: Examination) -> Iterator[Finding]:
    for name, choice in (("no call", "none"), ("a call", "required")):
        answer = of[name]
        if of.failed(name):
            yield Finding(
                "tool_choice_refused",
                f'tool_choice "{choice}" fails ({answer.shown_status}): {answer.error}',
                "leave tool_choice out, or put llama3-tools in between: it puts the choice into the prompt",
            )
            return
        if not answer.is_answered or of.is_still_thinking(name):
            continue
        calls = bool(answer.calls) or of.read(name).tools_called
        is_able = of.calls_natively or of.calls_in_text
        if calls == (choice == "none") and is_able:
            does = "calls a tool all the same" if calls else "calls no tool"
            yield Finding(
                "tool_choice_ignored",
                f'tool_choice "{choice}" is ignored: the model {does}',
                "do not rely on tool_choice; instead of `none`, leave the tools out of the request",
            )
            return


def _cut_prompts(of: Examination) -> Iterator[Finding]:
    long = of["long"]
    if "long" not in of.exchanges:
        return
    if long.is_answered and long.prompt_tokens and long.prompt_tokens < LONG_WORDS:
        yield Finding(
            "prompt_cut_off",
            f"of a prompt of more than {LONG_WORDS} tokens, the model sees {long.prompt_tokens}: the server cuts off "
            "the rest without an error, and your tools may be in it",
            "give the model more context: OLLAMA_CONTEXT_LENGTH=16384 for Ollama's server (num_ctx), -c 16384 for "
            "llama.cpp, --max-model-len for vLLM, the context length in LM Studio",
        )
    elif of.failed("long") and _CONTEXT.search(long.error):
        yield Finding(
            "context_limit",
            f"the server refuses a prompt of {LONG_WORDS} words, as it should if its context is smaller: {long.error}",
            "give the model more context if your tools and conversations are long",
            is_fault=False,
        )
    elif long.is_answered and not long.prompt_tokens:
        yield Finding(
            "no_usage",
            "the server counts no tokens, so it is not known whether it cuts off prompts or drops text beside calls",
            "look up the length of the context in the server's log",
            is_fault=False,
        )


def _refused_results(of: Examination) -> Iterator[Finding]:
    result = of["result"]
    if not of.failed("result"):
        return
    if of[WITH_EMPTY_CONTENT].is_answered:
        yield Finding(
            "null_content_refused",
            "an assistant's message with calls and `content: null`, as OpenAI's clients send it, fails "
            f"({result.shown_status}): {shortened(result.error, 120)}",
            'send content: "" beside calls; llama3-tools sends calls and results as text',
        )
    else:
        yield Finding(
            "tool_role_refused",
            "the server refuses tool results in the role `tool` "
            f"({result.shown_status}): {shortened(result.error, 120)}",
            "send results in the role `user`, as llama3-tools does by default (tool_role)",
        )


def _mistyped_arguments(of: Examination) -> Iterator[Finding]:
    sent = [(call.name, call.arguments) for name in NATIVE for call in of[name].calls]
    read = [(call.name, call.arguments) for name in (*NATIVE, "in the prompt") for call in of.read(name).tool_calls]
    for name, given in (*sent, *read):
        if given is None or name not in TOOLS:
            continue
        coercion = coerce_arguments(dict(given), TOOLS[name].parameters)
        change = next(iter(coercion.changes), None)
        problem = next(iter(coercion.problems), None)
        if change is not None:
            what = f"{change.path} is {shortened(repr(change.before), 40)}, but the schema says {change.declared}"
        elif problem is not None:
            what = problem.message
        else:
            continue
        yield Finding(
            "arguments_mistyped",
            f"arguments do not fit the schema: in {name}, {what}",
            "let llama3-tools make them fit (coerce_arguments)",
        )
        return


def _unreadable_arguments(of: Examination) -> Iterator[Finding]:
    for name in NATIVE:
        for call in of[name].calls:
            if call.is_decoded:
                what = "as an object, where OpenAI's clients expect text with JSON"
            elif call.arguments is None:
                what = f"as text that is no JSON object: {shortened(call.text, 80)!r}"
            else:
                continue
            yield Finding("arguments_unreadable", f"the arguments of {call.name} come {what}", _WRAP)
            return


def _unknown_tools(of: Examination) -> Iterator[Finding]:
    names = {call.name for name in NATIVE for call in of[name].calls if call.name not in TOOLS}
    if names:
        yield Finding(
            "unknown_tool",
            f"the model calls tools that are not declared: {', '.join(map(repr, sorted(names)))}",
            "reject calls of tools that are not declared; a larger model invents fewer",
        )


def _missing_ids(of: Examination) -> Iterator[Finding]:
    for name in NATIVE:
        ids = [call.id for call in of[name].calls]
        if ids and (None in ids or len(set(ids)) < len(ids)):
            what = "no id" if None in ids else f"the same id: {shortened(str(ids[0]), 40)!r}"
            yield Finding(
                "ids_missing",
                f"calls have {what}: a client cannot tell which result belongs to which call",
                "put llama3-tools in between: it gives each call an id of its own",
            )
            return


def _wrong_finish_reasons(of: Examination) -> Iterator[Finding]:
    plain = of["plain"]
    is_cut = plain.completion_tokens is not None and plain.completion_tokens >= SHORT_TOKENS
    if plain.is_answered and is_cut and plain.finish_reason != "length":
        yield _finish_reason(plain, "of an answer that max_tokens ended", "length")
        return
    for name in NATIVE:
        answer = of[name]
        if answer.calls and answer.is_answered and answer.finish_reason not in ("tool_calls", "length"):
            yield _finish_reason(answer, "of an answer with calls", "tool_calls")
            return


def _finish_reason(answer: Exchange, which: str, expected: str) -> Finding:
    streamed = " in a stream" if "streamed" in answer.name else ""
    return Finding(
        "finish_reason_wrong",
        f"the finish_reason {which}{streamed} is {answer.finish_reason!r}, but should be {expected!r}",
        "check for calls instead of finish_reason; llama3-tools corrects it",
    )


def _left_tokens(of: Examination) -> Iterator[Finding]:
    for name, answer in of.exchanges.items():
        token = _TOKEN.search(answer.content)
        if token and not of.read(name).tools_called:
            yield Finding(
                "tokens_left",
                f"a token of the model's protocol is left in the text: {token[0]}",
                "check the chat template: the server should stop at the model's own tokens",
            )
            return


def _not_asked(of: Examination) -> Iterator[Finding]:
    if of.unanswered:
        yield Finding(
            "not_asked",
            f"there was no time for: {', '.join(of.unanswered)}",
            "allow more with --timeout",
            is_fault=False,
        )


_REFUSALS: tuple[_Check, ...] = (_unreachable, _refused_key, _missing_model, _no_openai_server, _too_slow)
"""What keeps everything else from being asked."""

_CHECKS: tuple[_Check, ...] = (
    _busy_server,
    _empty_answers,
    _refused_tools,
    _failed_tools,
    _malformed_calls,
    _dropped_calls,
    _ignored_tools,
    _long_thoughts,
    _calls_as_text,
    _lost_calls,
    _lost_text,
    _different_streams,
    _cut_prompts,
    _failed_prompts,
    _refused_results,
    _mistyped_arguments,
    _unreadable_arguments,
    _unknown_tools,
    _missing_ids,
    _ignored_choices,
    _wrong_finish_reasons,
    _left_tokens,
    _not_asked,
)
