"""An OpenAI-compatible server with a scripted model, healthy or with one fault, for the tests of the doctor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_error, answer_events, answer_json

_PARIS, _ROME = ("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})
_TIMER = ("set_timer", {"minutes": 5, "rooms": ["kitchen", "hall"]})
_LEAD = "I will look up both."
_NUMBERS = "one, two, three, and so on, thirty."


@dataclass(frozen=True)
class Reply:
    """What the server sends."""

    request: Request
    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish_reason: str = "stop"
    prompt_tokens: int | None = 0
    completion_tokens: int = 20
    ids: tuple[str | None, ...] = ("call_a", "call_b")

    @property
    def is_native(self) -> bool:
        """Whether the request has the tools."""
        return "tools" in self.request.body

    @property
    def is_stream(self) -> bool:
        """Whether it is to be streamed."""
        return self.request.stream

    def sent(self) -> list[dict[str, Any]]:
        """Return the calls as they are sent."""
        calls = []
        for index, (name, arguments) in enumerate(self.calls):
            function = {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
            if isinstance(arguments, _Decoded):
                function["arguments"] = dict(arguments)
            call: dict[str, Any] = {"index": index, "id": self.ids[index], "type": "function", "function": function}
            calls.append({key: value for key, value in call.items() if value is not None})
        return calls


class _Decoded(dict[str, Any]):
    """Arguments that are sent as an object."""


Fault = Callable[[Reply], "Reply | Answer"]


def _healthy(request: Request) -> Reply:  # noqa: PLR0911 - an answer each
    messages: Any = request.body["messages"]
    question, choice = str(messages[-1]["content"]), request.body.get("tool_choice", "auto")
    shown = len(json.dumps(messages).split()) + (100 if "tools" in request.body else 0)
    reply = Reply(request, prompt_tokens=shown)
    if "Count from" in question:
        return replace(reply, text="One, two, three, four,", finish_reason="length", completion_tokens=8)
    if question.startswith("tea"):
        return replace(reply, text="Yes", finish_reason="length", completion_tokens=1)
    if messages[-1]["role"] == "tool":
        return replace(reply, text="It is sunny in Paris.")
    if choice == "none":
        return replace(reply, text="I cannot look that up.")
    if "one to thirty" in question:
        return replace(reply, text=_NUMBERS, calls=(_PARIS,), finish_reason="tool_calls", completion_tokens=110)
    is_shown = "tools" in request.body or "following functions" in question
    if not is_shown:
        return replace(reply, text="Hello!")
    calls = (_PARIS, _ROME) if "Rome" in question else (_TIMER,) if "timer for 5" in question else (_PARIS,)
    text = _LEAD if len(calls) > 1 else ""
    if "tools" in request.body:
        return replace(reply, text=text, calls=calls, finish_reason="tool_calls")
    return replace(reply, text=f"{text} {_as_json(calls)}")


def _as_json(calls: tuple[tuple[str, Any], ...]) -> str:
    return "; ".join(json.dumps(_named(*call)) for call in calls)


def _named(name: str, arguments: Any) -> dict[str, Any]:
    return {"name": name, "parameters": arguments}


def _as_text(write: Callable[[tuple[tuple[str, Any], ...]], str]) -> Fault:
    def fault(reply: Reply) -> Reply:
        if not reply.calls:
            return reply
        text = " ".join(filter(None, [reply.text, write(reply.calls)]))
        return replace(reply, text=text, calls=(), finish_reason="stop")

    return fault


def _pythonic(calls: tuple[tuple[str, Any], ...]) -> str:
    written = (f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in calls)
    return f"[{', '.join(written)}]"


def _tagged(calls: tuple[tuple[str, Any], ...]) -> str:
    return "\n".join(f"<tool_call>{_as_json((call,))}</tool_call>" for call in calls)


def _if(condition: Callable[[Reply], bool], then: Fault) -> Fault:
    return lambda reply: then(reply) if condition(reply) else reply


def _error(status: int, message: str) -> Fault:
    return lambda _: answer_error(status, message)


def _with_arguments(change: Callable[[Mapping[str, Any]], Any]) -> Fault:
    return lambda reply: replace(reply, calls=tuple((name, change(given)) for name, given in reply.calls))


def _choice(choice: str) -> Callable[[Reply], bool]:
    return lambda reply: reply.request.body.get("tool_choice") == choice


def _is_native(reply: Reply) -> bool:
    return reply.is_native


def _is_native_stream(reply: Reply) -> bool:
    return reply.is_native and reply.is_stream


def _has_calls(reply: Reply) -> bool:
    return bool(reply.calls)


def _is_long(reply: Reply) -> bool:
    return (reply.prompt_tokens or 0) > 4000


def _is_plain(reply: Reply) -> bool:
    return reply.text.startswith("One")


def _has_result(reply: Reply) -> bool:
    return reply.text.startswith("It is sunny")


def _is_null(reply: Reply) -> bool:
    messages: Any = reply.request.body["messages"]
    return any(message.get("content") is None for message in messages)


def _in_the_prompt(reply: Reply) -> bool:
    return "parameters" in reply.text and not reply.is_native


def _thinking(tokens: int) -> Fault:
    def fault(reply: Reply) -> Reply | Answer:
        if not reply.is_native or int(str(reply.request.body["max_tokens"])) >= tokens:
            return reply
        message = {"role": "assistant", "content": "", "reasoning_content": "Okay, the user wants the weather."}
        body = {"choices": [{"message": message, "finish_reason": "length"}], "usage": {"prompt_tokens": 300}}
        return answer_json(body)

    return fault


def _lost_in_streams(reply: Reply) -> Reply:
    return replace(reply, text=reply.text.replace(" both", ""))


def _cut_off(finish_reason: str) -> Fault:
    return lambda reply: replace(reply, text=_pythonic(reply.calls)[:20], calls=(), finish_reason=finish_reason)


def _varying() -> Fault:
    """Return what is not a fault: a model that words each answer in another way."""
    asked = count()
    return _if(_has_calls, lambda reply: replace(reply, text=f"{reply.text} ({next(asked)})".strip()))


_WORDS = {"text": "The weather is fine.", "calls": (), "finish_reason": "stop"}
_NO_TOOL_ROLE = "Only user and assistant roles are supported!"
_TOO_LONG = "Requested tokens (4510) exceed context window of 4096"


@dataclass(frozen=True)
class Faulty:
    """A fault, and the codes by which the doctor has to name it."""

    fault: Fault
    codes: frozenset[str]
    models: tuple[str, ...] | None = ("llama",)
    notes: frozenset[str] = field(default=frozenset())


def _one(code: str, fault: Fault) -> Faulty:
    return Faulty(fault, frozenset({code}))


FAULTS: dict[str, Faulty] = {
    "healthy": Faulty(lambda reply: reply, frozenset()),
    "a small context that says so": Faulty(
        _if(_is_long, _error(400, _TOO_LONG)), frozenset(), notes=frozenset({"context_limit"})
    ),
    "no tokens counted": Faulty(
        lambda reply: replace(reply, prompt_tokens=None), frozenset(), notes=frozenset({"context_limit"})
    ),
    "model missing": Faulty(
        _error(404, "The model `llama` does not exist."), frozenset({"model_missing"}), ("llama3",)
    ),
    "model missing, and none listed": Faulty(
        _error(404, "model 'llama' not found"), frozenset({"model_missing"}), models=None
    ),
    **{
        f"model missing, and none listed: {message}": Faulty(
            _error(404, message), frozenset({"model_missing"}), models=None
        )
        for message in ("no such model: llama", "model llama is unknown", "The model `llama`\ndoes not exist.")
    },
    "model missing, and none listed, by its code": Faulty(
        lambda _: answer_json({"error": {"message": "try another", "code": "model_not_found"}}, status=404),
        frozenset({"model_missing"}),
        models=None,
    ),
    "key refused": _one("key_refused", _error(401, "Incorrect API key provided: secret-key")),
    "server error": _one("server_error", _error(500, "out of memory: the model does not fit")),
    "server error, under a name that is not listed": Faulty(
        _error(500, "model requires more system memory than is available"),
        frozenset({"server_error"}),
        models=("llama:latest",),
    ),
    "busy": _one("server_busy", _error(429, "Rate limit, try again in 2 s")),
    "loading": _one("server_busy", _error(503, "Loading model")),
    "busy with tools": _one("server_busy", _if(_is_native, _error(429, "Rate limit, try again in 2 s"))),
    "loading with tools": _one("server_busy", _if(_is_native, _error(503, "Loading model"))),
    "two calls fail": _one(
        "tools_refused",
        _if(lambda reply: len(reply.calls) > 1 and not reply.is_stream, _error(500, "Failed to parse tool call")),
    ),
    "arguments fail": _one(
        "tools_refused", _if(lambda reply: _TIMER in reply.calls, _error(500, "Failed to parse tool call"))
    ),
    "tools in the prompt fail": _one("server_error", _if(_in_the_prompt, _error(500, "internal error"))),
    "a long prompt fails": _one("server_error", _if(_is_long, _error(413, "Payload Too Large"))),
    "web page": _one("not_openai", lambda _: Answer((b"<!doctype html><html>",), "text/html")),
    "other JSON": _one("not_openai", lambda _: answer_json({"response": "Hello!"})),
    "empty answers": _one("template_wrong", _if(_is_plain, lambda reply: replace(reply, text=""))),
    "tools refused": _one("tools_refused", _if(_is_native, _error(400, "llama does not support tools"))),
    "tools fail": _one("tools_refused", _if(_is_native, _error(500, "tools param requires --jinja flag"))),
    "tools ignored": _one(
        "tools_ignored",
        _if(_is_native, lambda reply: replace(reply, **_WORDS, prompt_tokens=(reply.prompt_tokens or 100) - 100)),
    ),
    "tools ignored, no tokens counted": Faulty(
        lambda reply: replace(reply, prompt_tokens=None, **(_WORDS if reply.is_native else {})),
        frozenset({"tools_ignored"}),
        notes=frozenset({"context_limit"}),
    ),
    "no calls by tools": _one("no_calls", _if(_has_calls, lambda reply: replace(reply, **_WORDS))),
    "no calls at all": _one(
        "no_calls",
        lambda reply: replace(reply, **_WORDS) if reply.calls or _in_the_prompt(reply) else reply,
    ),
    "thinks longer than the first limit": Faulty(_thinking(1000), frozenset(), notes=frozenset({"thinks_long"})),
    "thinks and thinks": _one("thinks_long", _thinking(9999)),
    "ends before a word, in Anthropic's word": _one(
        "thinks_long", _if(_is_native, lambda reply: replace(reply, text="", calls=(), finish_reason="max_tokens"))
    ),
    "thinks in the text": _one(
        "thinks_long",
        _if(_is_native, lambda reply: replace(reply, text="<think>Okay, so", calls=(), finish_reason="length")),
    ),
    "calls as JSON": _one("calls_as_text", _as_text(_as_json)),
    "calls in Python's syntax": _one("calls_as_text", _as_text(_pythonic)),
    "calls in tags": _one("calls_as_text", _as_text(_tagged)),
    "calls after the python tag": _one("calls_as_text", _as_text(lambda calls: f"<|python_tag|>{_as_json(calls)}")),
    "text lost": _one("calls_lost", _if(_has_calls, lambda reply: replace(reply, text=""))),
    "no text beside calls": Faulty(
        _if(_has_calls, lambda reply: replace(reply, text="", completion_tokens=40)), frozenset()
    ),
    "text lost, no tokens counted": Faulty(
        lambda reply: replace(reply, prompt_tokens=None, **({"text": ""} if reply.calls else {})),
        frozenset(),
        notes=frozenset({"context_limit"}),
    ),
    "calls in Python's quotes": _one(
        "malformed_calls", _as_text(lambda calls: "; ".join(str(_named(*call)) for call in calls))
    ),
    "a model that writes half a call": _one(
        "malformed_calls", _if(_has_calls, lambda reply: replace(reply, text=_as_json(reply.calls)[:40], calls=()))
    ),
    **{
        f"calls that {by} cuts off": _one("malformed_calls", _if(_has_calls, _cut_off(reason)))
        for by, reason in (
            ("a limit", "length"),
            ("a limit, in Anthropic's word,", "max_tokens"),
            ("a filter", "content_filter"),
        )
    },
    "tools ignored, and a call made up": Faulty(
        _if(
            _is_native,
            lambda reply: replace(
                reply,
                **{**_WORDS, "text": "{'name': 'get_weather', 'parameters': {}}"},
                prompt_tokens=(reply.prompt_tokens or 100) - 100,
            ),
        ),
        frozenset({"tools_ignored", "malformed_calls"}),
    ),
    "calls lost": _one("calls_lost", _if(_has_calls, lambda reply: replace(reply, text="", calls=()))),
    "calls lost, no tokens counted": Faulty(
        lambda reply: replace(reply, prompt_tokens=None, **({"text": "", "calls": ()} if reply.calls else {})),
        frozenset({"calls_lost"}),
        notes=frozenset({"context_limit"}),
    ),
    "calls lost without a word": _one(
        "calls_lost", _if(_has_calls, lambda reply: replace(reply, text="", calls=(), finish_reason="stop"))
    ),
    "second call lost": _one("calls_lost", lambda reply: replace(reply, calls=reply.calls[:1])),
    "second call left in the text": _one(
        "calls_lost",
        _if(
            lambda reply: len(reply.calls) > 1,
            lambda reply: replace(reply, text=f"{reply.text} ; {_as_json(reply.calls[1:])}", calls=reply.calls[:1]),
        ),
    ),
    "calls as text in streams": Faulty(
        _if(_is_native_stream, _as_text(_as_json)), frozenset({"calls_as_text", "stream_differs"})
    ),
    "text lost in streams": _one("stream_differs", _if(_is_native_stream, lambda reply: replace(reply, text=""))),
    "a word lost in streams": _one("stream_differs", _if(_is_native_stream, _lost_in_streams)),
    "arguments cut in streams": _one(
        "stream_differs",
        _if(_is_native_stream, _with_arguments(lambda given: {"city": str(given["city"])[:-1]})),
    ),
    "another wording each time": Faulty(_varying(), frozenset()),
    "streams refused": _one("stream_differs", _if(_is_native_stream, _error(500, "stream with tools"))),
    "streams break off": _one(
        "stream_differs",
        _if(_is_native_stream, lambda _: answer_events(['{"choices": [{"delta": {"content": "I"}}]}'])),
    ),
    "tool_choice none ignored": _one(
        "tool_choice_ignored",
        _if(_choice("none"), lambda reply: replace(reply, text="", calls=(_PARIS,), finish_reason="tool_calls")),
    ),
    "tool_choice required ignored": _one(
        "tool_choice_ignored", _if(_choice("required"), lambda reply: replace(reply, **_WORDS))
    ),
    "tool_choice refused": _one("tool_choice_ignored", _if(_choice("required"), _error(400, "unsupported"))),
    "prompt cut off": _one(
        "context_limit", lambda reply: replace(reply, prompt_tokens=min(reply.prompt_tokens or 0, 2048))
    ),
    "content null refused": _one(
        "results_refused", _if(lambda reply: _has_result(reply) and _is_null(reply), _error(500, "no content"))
    ),
    "role tool refused": _one("results_refused", _if(_has_result, _error(500, _NO_TOOL_ROLE))),
    "numbers as strings": _one(
        "arguments_mistyped",
        _with_arguments(lambda given: {key: str(value) for key, value in given.items()}),
    ),
    "arguments missing": _one("arguments_mistyped", _with_arguments(lambda _: {})),
    "arguments as objects": _one("calls_unreadable", _with_arguments(_Decoded)),
    "arguments broken": _one("calls_unreadable", _with_arguments(lambda _: '{"city": Paris}')),
    "unknown tool": _one(
        "unknown_tool", _if(_has_calls, lambda reply: replace(reply, calls=(("weather", {}), *reply.calls)[:2]))
    ),
    "ids missing": _one("calls_unreadable", lambda reply: replace(reply, ids=(None, None))),
    "ids twice": _one("calls_unreadable", lambda reply: replace(reply, ids=("call_0", "call_0"))),
    "finish reason of calls": _one(
        "finish_reason_wrong", _if(_has_calls, lambda reply: replace(reply, finish_reason="stop"))
    ),
    "calls beside a filter's finish reason": Faulty(
        _if(_has_calls, lambda reply: replace(reply, finish_reason="content_filter")), frozenset()
    ),
    "finish reason of a limit": _one(
        "finish_reason_wrong", _if(_is_plain, lambda reply: replace(reply, finish_reason="stop"))
    ),
    "tokens left": _one("template_wrong", _if(_is_plain, lambda reply: replace(reply, text="One<|eot_id|>"))),
}
"""The faults by what happens."""


def faulty(about: str | Faulty, *, root: str = "/v1") -> LoopbackServer:
    """Return a server with a fault.

    Args:
        about: the fault, or its name.
        root: where its API begins.
    """
    about = FAULTS[about] if isinstance(about, str) else about

    def respond(request: Request) -> Answer:
        if request.method == "GET":
            if about.models is None or request.path != f"{root}/models":
                return answer_error(404, "not found")
            return answer_json({"object": "list", "data": [{"id": model} for model in about.models]})
        if request.path != f"{root}/chat/completions":
            return answer_error(404, "not found")
        reply = about.fault(_healthy(request))
        if isinstance(reply, Answer):
            return reply
        return _stream(reply) if request.stream else _whole(reply)

    return LoopbackServer(respond)


def _whole(reply: Reply) -> Answer:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = reply.sent()
    body: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}]}
    if reply.prompt_tokens is not None:
        body["usage"] = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
    return answer_json(body)


def _stream(reply: Reply) -> Answer:
    deltas: list[dict[str, Any]] = [
        {"role": "assistant"},
        *({"content": word} for word in re.findall(r"\s*\S+", reply.text)),
    ]
    deltas += [{"tool_calls": [call]} for call in reply.sent()]
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]})
    return answer_events([*map(json.dumps, events), "[DONE]"])
