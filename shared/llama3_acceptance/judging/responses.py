"""What a model answered, out of any response: OpenAI's, LangChain's or LlamaIndex's, as dicts or as objects.

Nothing is imported of them: a response is read by the names that its parts have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from llama3_acceptance.rendering import shown_json
from llama3_acceptance.values import FoundCall
from llama3_tools.arguments.server_arguments import GrowingArguments, is_strict
from llama3_tools.chat import finish_reason_in
from llama3_tools.chat.report import COERCED_ARGUMENTS
from llama3_tools.errors import a_type
from llama3_tools.literals.json_object import parse_object
from llama3_tools.reader.json_calls import OTHER_NAMES
from llama3_tools.values import shortened

_EXPECTED = (
    "OpenAI's chat completion or message (a dict or the client's object), a LangChain AIMessage, "
    "a LlamaIndex ChatResponse, CompletionResponse or AgentOutput, or the text itself"
)


_TEXT_KEYS = (
    *("content", "text", "response", "refusal"),
    *("assistant_message", "output_text", "generated_text", "answer", "output"),  # of agents' own programs
)
"""Where a message has its text."""
_CALL_KEYS = ("toolCalls", "calls", "tool_call", "toolCall", "function_calls", "functionCall", "actions")
"""Where a program's own dict has its calls, besides `tool_calls` and `function_call`."""
_MAY_HOLD_CALLS = re.compile(r"call|action|function", re.IGNORECASE)
_BESIDE_TEXT = {
    *("role", "id", "type", "object", "name", "tool_calls", "function_call", "annotations", "audio"),
    *("invalid_tool_calls", "tool_call_chunks", "additional_kwargs", "response_metadata", "usage_metadata"),
    *("functions", "tool_call_id", "system_fingerprint", "service_tier", "metadata", "timings"),
    *("reasoning", "reasoning_content", "reasoning_details", "thinking"),
    *("created", "created_at", "model", "usage", "index", "logprobs", "provider_specific_fields"),
    *("finish_reason", "done_reason", "stop_reason", "done", "status"),
}
"""What a message may have beside its text, which is not text itself."""
_TEXT_BLOCKS = ("text", "output_text", "refusal")
_THOUGHT_BLOCKS = ("reasoning", "thinking", "redacted_thinking")
_CALL_BLOCKS = ("tool_use", "tool_call")
_NAME_KEYS = ("name", *OTHER_NAMES)
_ARGUMENT_KEYS = (
    *("arguments", "args", "tool_kwargs", "input", "parameters", "params", "kwargs"),
    *("tool_input", "tool_args", "action_input"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The parts of a response that are judged."""

    text: str = ""
    """The text, as it came."""
    calls: tuple[FoundCall, ...] = ()
    """The calls that the server, or an adapter, gave as such."""
    finish_reason: str | None = field(default=None, kw_only=True)
    """Why the server stopped, in its own word."""
    reasoning: str | None = field(default=None, kw_only=True)
    """What the model thought, if the server, or an adapter, keeps that apart."""


def read_response(response: object) -> Answer:
    """Read a response of any of the kinds.

    >>> read_response({"role": "assistant", "content": "Hello!"}).text
    'Hello!'
    >>> function = {"name": "clock", "arguments": "{}"}
    >>> message = {"content": None, "tool_calls": [{"type": "function", "function": function}]}
    >>> (call,) = read_response({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).calls
    >>> call.name, call.arguments
    ('clock', {})

    Args:
        response: a chat completion, a completion or a message of OpenAI's (a dict or the client's object), a response
            of its Responses API, a LangChain `AIMessage`, a LlamaIndex `ChatResponse`, `CompletionResponse`,
            `AgentOutput` or `ChatMessage`, or the text itself. Of several choices the first is read. A dict of a
            program's own is read if its text is under a name that says so, such as `assistant_message`.

    Raises:
        TypeError: it is none of these; the message names its keys. Text that is not found is never an empty answer.
    """
    if isinstance(response, (Answer, str)):
        return Answer(response) if isinstance(response, str) else response
    choices, output = _part(response, "choices"), _part(response, "output")
    if isinstance(output, list):
        return _read_items(output, finish_reason_in(response))
    if isinstance(choices, (list, tuple)) and not choices:
        return Answer()
    choice = choices[0] if isinstance(choices, (list, tuple)) else response
    message = _first(choice, "message", "response")
    if message is None or isinstance(message, str):
        message = choice
    content, calls = _content_of(message), _calls_of(response, message)
    text = _text(content)
    _check_content(content, message, is_empty=not (text or calls))
    if not (text or calls):
        _check_empty(response, message, is_without_text=content is None)
    if not calls:
        _check_no_calls(message)
    metadata = _part(message, "response_metadata")
    kwargs = _part(message, "additional_kwargs")
    told = _told(metadata, kwargs, _part(message, "report"))
    return Answer(
        text,
        tuple(_found(call, told) for call in calls),
        finish_reason=finish_reason_in(response, metadata, _part(response, "raw")),
        reasoning=_str(_first(message, "reasoning_content", "reasoning") or _part(kwargs, "reasoning_content"))
        or _thoughts([*_list(_part(message, "content")), *_list(_part(message, "blocks"))]),
    )


def _content_of(message: object) -> object:
    """Return what has the text: in a dict, the first of its places that is not empty."""
    if isinstance(message, Mapping):
        filled = (message.get(key) for key in _TEXT_KEYS)
        text = next((one for one in filled if one and isinstance(one, (str, list, tuple))), None)
        if text is not None:
            return text
    return _first(message, *_TEXT_KEYS)


def _check_content(content: object, message: object, *, is_empty: bool) -> None:
    """Raise if what should be text is neither text nor blocks, or if a block of a kind that nobody knows may be it."""
    if not isinstance(content, (str, list, tuple, type(None))):
        raise TypeError(f"expected {_EXPECTED}, got a message whose text cannot be read: {_shape(message)}")
    known = (*_TEXT_BLOCKS, *_THOUGHT_BLOCKS, *_CALL_BLOCKS)
    for block in _list(content):
        kind = _part(block, "type")
        if not isinstance(block, str) and kind not in known and (is_empty or _part(block, "text")):
            raise TypeError(f"expected {_EXPECTED}, got a block of text of the unknown type {kind!r}")


def _check_empty(response: object, message: object, *, is_without_text: bool) -> None:
    """Raise if a message without text and calls may have text in a place that nobody knows."""
    error = _part(response, "error")
    if error:
        raise TypeError(f"expected {_EXPECTED}, got an error: {error}")
    if is_without_text and not any(_has(message, name) for name in ("content", "tool_calls")):
        raise TypeError(f"expected {_EXPECTED}, got {_shape(response)}")
    if any(map(_holds_text, _unknown_parts(message).values())):
        raise TypeError(
            f"expected {_EXPECTED}, got a message that has its text in none of the known places: {_shape(message)}"
        )


def _check_no_calls(message: object) -> None:
    """Raise if a message without calls has something else that its key calls so."""
    for key, value in _unknown_parts(message).items():
        if value and isinstance(value, (Mapping, list, tuple)) and _MAY_HOLD_CALLS.search(key):
            raise TypeError(
                f"expected calls under 'tool_calls', got them, as it seems, under {key!r}: {_shape(message)}; rename it"
            )


def _unknown_parts(message: object) -> dict[str, object]:
    """Return what a program's own dict has that no API has."""
    parts = message if isinstance(message, Mapping) else {}
    return {str(key): value for key, value in parts.items() if key not in _BESIDE_TEXT and key not in _TEXT_KEYS}


def _holds_text(value: object) -> bool:
    if isinstance(value, Mapping):
        value = list(value.values())
    return any(map(_holds_text, value)) if isinstance(value, (list, tuple)) else bool(_str(value))


def _shape(value: object) -> str:
    """Name the keys of a dict, or the type of any other value."""
    if not isinstance(value, Mapping):
        return a_type(value)
    return f"a dict with the keys {', '.join(map(str, value))}" if value else "an empty dict"


def _calls_of(response: object, message: object) -> list[object]:
    """Return the calls of the first place that contains any: adapters keep them in several."""
    blocks = [block for block in _list(_part(message, "blocks")) if _part(block, "block_type") == "tool_call"]
    blocks += [block for block in _list(_part(message, "content")) if _part(block, "type") in _CALL_BLOCKS]
    own, outer, extra = (
        _listed_calls(whole, "tool_calls") for whole in (message, response, _part(message, "additional_kwargs"))
    )
    own += _list(_part(message, "invalid_tool_calls"))  # those that LangChain could not parse
    programs = [_listed_calls(message, key) for key in _CALL_KEYS if isinstance(message, Mapping)]
    places = (own, outer, extra, blocks, _listed_calls(message, "function_call"), *programs)
    return next(filter(None, places), [])


def _listed_calls(whole: object, key: str) -> list[object]:
    """Return the calls under a key, even if one is there without a list."""
    value = _part(whole, key)
    if isinstance(whole, Mapping) and value and not isinstance(value, (Mapping, list, tuple)):
        raise TypeError(f"expected calls under {key!r}, got {a_type(value)}: {shortened(repr(value), 40)}")
    if isinstance(value, (list, tuple)):
        return list(value)
    is_one = bool(value) if isinstance(value, Mapping) else value is not None and key == "function_call"
    return [value] if is_one else []


def _read_items(items: Iterable[object], finish_reason: str | None) -> Answer:
    """Read the output of OpenAI's Responses API."""
    items = list(items)
    calls = [item for item in items if _part(item, "type") == "function_call"]
    messages = [item for item in items if _part(item, "type") == "message"]
    text = "".join(_text(_part(item, "content")) for item in messages)
    return Answer(text, tuple(map(_found, calls)), finish_reason=finish_reason, reasoning=_thoughts(items))


def _told(metadata: object, kwargs: object, report: object) -> dict[str | None, object]:
    """Return what an adapter tells of calls that are not as the model wrote them, by their ids."""
    told = _first(metadata, COERCED_ARGUMENTS) or _first(kwargs, COERCED_ARGUMENTS) or _part(report, "calls")
    return {id_: one for one in _list(told) if (id_ := _str(_part(one, "id")))}


def _found(call: object, told: Mapping[str | None, object] = MappingProxyType({})) -> FoundCall:
    if call is None or isinstance(call, (str, bytes, int, float, list, tuple)):
        raise TypeError(f"expected a call with a name and arguments, got {a_type(call)}: {shortened(repr(call), 40)}")
    function = _part(call, "function")
    if function is None or isinstance(function, str):
        function = call
    name = next(filter(None, (_str(_part(whole, key)) for whole in (function, call) for key in _NAME_KEYS)), None)
    written = _written_arguments(function, call)
    if name is None and written is None and _part(call, "type") != "invalid_tool_call":
        raise TypeError(f"expected a call with a name and arguments, got {_shape(call)}")
    if not written and _part(call, "type") == "invalid_tool_call":
        return FoundCall(str(name or ""), None)
    about = told.get(_str(_first(call, "id", "tool_id", "tool_call_id")))
    arguments, text = _arguments(_str(_first(about, "written", "arguments_json")) or written)
    deviations = (*map(str, _list(_part(about, "deviations"))), *_repeated_keys(arguments, text))
    return FoundCall(str(name or ""), arguments, text, deviations, _str(_part(about, "repaired_from")))


def _written_arguments(function: object, call: object) -> object:
    """Return what a call has as its arguments, the first of their places that is not empty."""
    there = [_part(whole, key) for whole in (function, call) for key in _ARGUMENT_KEYS if _part(whole, key) is not None]
    if not there and isinstance(function, Mapping):
        others = [key for key, value in function.items() if isinstance(value, Mapping) and value and key != "function"]
        if others:
            raise TypeError(f"expected a call's arguments under 'arguments', got {_shape(function)}")
    return next(filter(None, there), there[0] if there else None)


def _arguments(written: object) -> tuple[dict[str, Any] | None, str]:
    """Return the arguments and their text; servers send one, frameworks the other. Neither means no arguments.

    What is not strict JSON (principle 1) is not an object, as in text; but of a key that occurs twice, the last
    value is taken.
    """
    if isinstance(written, Mapping):
        return (dict(written) if is_strict(written) else None), shown_json(written)
    if written is None or written == "":
        return {}, ""
    if not isinstance(written, str):
        return None, shown_json(written)
    growing = GrowingArguments()
    growing.feed(written)
    return growing.value, written


def _repeated_keys(arguments: Mapping[str, Any] | None, text: str) -> Iterator[str]:
    """Yield that a key occurs twice in arguments: not strict JSON (principle 1), but every client reads it."""
    parsed = parse_object(text.strip(), 0, checked=True) if arguments else None
    if parsed is not None and parsed.flaw:
        yield f"{parsed.flaw} in the arguments; the last value counts"


def _text(content: object) -> str:
    """Join the text of a message's content: a string, or blocks of which some are text."""
    if isinstance(content, str):
        return str(content)
    return "".join(
        block if isinstance(block, str) else str(_first(block, "text", "refusal") or "")
        for block in _list(content)
        if isinstance(block, str) or _part(block, "type") in _TEXT_BLOCKS
    )


def _thoughts(blocks: Iterable[object]) -> str | None:
    """Join what was thought, out of the blocks of a message or the items of a response."""
    thoughts = [
        _first(block, "reasoning", "thinking", "content")
        for block in blocks
        if _first(block, "type", "block_type") in ("reasoning", "thinking")
    ]
    texts = [_str(one) or "".join(_str(_part(part, "text")) or "" for part in _list(one)) for one in thoughts]
    return "\n\n".join(filter(None, texts)) or None


def _str(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _has(whole: object, name: str) -> bool:
    return name in whole if isinstance(whole, Mapping) else hasattr(whole, name)


def _part(whole: object, name: str) -> object:
    return whole.get(name) if isinstance(whole, Mapping) else getattr(whole, name, None)


def _first(whole: object, *names: str) -> object:
    return next((part for name in names if (part := _part(whole, name)) is not None), None)
