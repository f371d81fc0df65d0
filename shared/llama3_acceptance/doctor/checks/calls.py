"""Whether the model calls, whether it calls rightly, and whether the server finds its calls."""

from __future__ import annotations

from collections.abc import Iterator

from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.finding import IN_BETWEEN, Finding
from llama3_acceptance.doctor.questions import MAX_TOKENS, NATIVE, TEXT_AND_CALL, TEXT_TOKENS, TOOLS
from llama3_tools.arguments import coerce_arguments
from llama3_tools.chat.finish_reason import is_complete
from llama3_tools.values import shortened

_LEAST_FOR_TOOLS = 60
"""Two tools as JSON take more tokens than that, in any tokenizer."""
_LEAST_FOR_CALL = 8
"""A call takes more tokens than that."""
_CITIES = 2
_CALLED = ("tool_calls", "function_call")
_FORMS = {
    "json": "bare JSON",
    "fence": "JSON in a fence",
    "function": "the tag <function=NAME>",
    "pythonic": "pythonic calls",
    "name": "the name of the tool before its arguments",
    "envelope": "an object with tool_call",
    "code": "code",
}


def ignored_tools(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the model does not call, because it is not shown the tools, or although it is."""
    one, plain = of["one"], of["plain"]
    if not one.is_answered or of.is_still_thinking("one") or of.calls_natively or of.calls_in_text:
        return
    means_to_call = any((*malformed_calls(of), *dropped_calls(of)))
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
            "start the server with a chat template that shows tools"
            + (f", or {IN_BETWEEN}" if of.calls_in_the_prompt else ""),
        )
        return
    if means_to_call:
        return
    how = "calls them only if they are in the prompt" if of.calls_in_the_prompt else "calls none"
    is_whole = is_complete(one.finish_reason)
    limit = "" if is_whole else f" (cut off: finish_reason {one.finish_reason!r}, max_tokens {of.max_tokens})"
    yield Finding(
        "no_calls",
        f"the model sees the tools, but {how}: it answers {shortened(one.content, 80)!r}{limit}",
        "use a model that is trained for tools, such as Llama 3.1 8B Instruct or larger, or show it some calls as "
        "examples; `llama3-tools accept` measures how often it calls correctly",
    )


def malformed_calls(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the model means to call, and writes no call."""
    for name in NATIVE:
        read = of.read(name)
        if of[name].calls or read.tools_called or not read.attempts:
            continue
        attempt = read.attempts[0]
        written = shortened(of[name].content[slice(*attempt.span)], 80)
        yield Finding(
            "malformed_calls",
            f"the model tries to call a tool, but what it writes is not a call: {written!r} ({attempt.detail})",
            "run llama3-tools between agent and server: it tells the model what was wrong and asks again, and "
            "repair=True repairs clear cases; a larger or less quantised model makes fewer of these errors",
        )
        return


def dropped_calls(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the server announces a call, or counts its tokens, and sends none."""
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
            "use the server's parser for this model (vLLM: --tool-call-parser), or run llama3-tools between agent and "
            "server: then the server parses no calls",
        )
        return


def calls_as_text(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a call comes in the text, and not as one."""
    forms = [call.format for name in NATIVE if not of[name].calls for call in of.read(name).tool_calls]
    if not forms:
        return
    form = _FORMS.get(forms[0], f"JSON in <{forms[0]}>")
    also = "some of the calls come" if of.calls_natively else "calls come"
    yield Finding(
        "calls_as_text",
        f"{also} as text ({form}), and `tool_calls` is empty: an agent shows this text to the user and stops",
        IN_BETWEEN,
    )


def lost_calls(of: Examination) -> Iterator[Finding]:
    """Yield a finding if of two calls, the server sends one."""
    asked = len(of.read("in the prompt").tool_calls)
    for name in ("two", "two streamed"):
        sent, left = of[name].calls, of.read(name)
        are_left = bool(left.tools_called or left.rejections)
        if sent and len(sent) < _CITIES and (are_left or asked >= _CITIES):
            where = f"is left in the text: {shortened(of[name].content, 80)!r}" if are_left else "is lost"
            place = " in a stream" if name == "two streamed" else ""
            yield Finding(
                "calls_lost",
                f"of two calls, the server finds one{place}; the other {where}",
                f"ask for one call at a time, or {IN_BETWEEN}",
            )
            return


def lost_text(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the server sends calls without the text beside them."""
    answer = of[TEXT_AND_CALL]
    is_silent = answer.calls and not (answer.content.strip() or answer.reasoning)
    if is_silent and (answer.completion_tokens or 0) >= TEXT_TOKENS * len(answer.calls):
        called = ", ".join(f"{call.name}({call.text})" for call in answer.calls)
        yield Finding(
            "calls_lost",
            f"the server drops the text beside calls: it counts {answer.completion_tokens} tokens, but sends only "
            f"{shortened(called, 80)}",
            f"if the text matters, {IN_BETWEEN}",
        )


def long_thoughts(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the model thinks for so long that it has to be given more tokens."""
    if of.max_tokens == MAX_TOKENS or not of["one"].is_answered:
        return
    is_too_long = of.is_still_thinking("one")
    if is_too_long:
        what = (
            f"the answer ends before the model says or calls anything, after {MAX_TOKENS} tokens and after "
            f"{of.max_tokens} (finish_reason {of['one'].finish_reason!r}): it is not known whether it calls"
        )
    else:
        what = f"the model is still thinking after {MAX_TOKENS} tokens, so it was given more"
    yield Finding(
        "thinks_long",
        what,
        "turn its thinking off or down, if the server can" if is_too_long else "set a large max_tokens",
        is_fault=is_too_long,
        still_works="native",
    )


def mistyped_arguments(of: Examination) -> Iterator[Finding]:
    """Yield a finding if an argument does not fit its schema."""
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


def unknown_tools(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the model calls a tool that is not declared."""
    names = {call.name for name in NATIVE for call in of[name].calls if call.name not in TOOLS}
    if names:
        yield Finding(
            "unknown_tool",
            f"the model calls tools that are not declared: {', '.join(map(repr, sorted(names)))}",
            "reject calls of tools that are not declared; a larger model invents fewer",
        )


def ignored_choices(of: Examination) -> Iterator[Finding]:
    """Yield a finding if `tool_choice` is an error, or changes nothing."""
    is_able = of.calls_natively or of.calls_in_text
    for name, choice in (("no call", "none"), ("a call", "required")):
        answer, does = of[name], ""
        calls = bool(answer.calls) or of.read(name).tools_called
        if of.failed(name):
            does = f"fails ({answer.shown_status}): {answer.error}"
        elif answer.is_answered and not of.is_still_thinking(name) and is_able and calls == (choice == "none"):
            does = f"is ignored: the model calls {'a tool anyway' if calls else 'no tool'}"
        if does:
            yield Finding(
                "tool_choice_ignored",
                f'tool_choice "{choice}" {does}',
                "do not rely on tool_choice: instead of `none`, leave the tools out of the request; llama3-tools puts "
                "the choice into the prompt",
            )
            return
