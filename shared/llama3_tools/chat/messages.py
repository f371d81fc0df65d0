"""Messages and deltas in OpenAI's form, taken apart: text, reasoning, calls, results, and all else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from llama3_tools.errors import a_type
from llama3_tools.text.json_writing import write_json, written_arguments

Message: TypeAlias = Mapping[str, Any]
"""A message or a delta in OpenAI's form: a dict with a `role`, a `content` and so on. It is never changed."""

RESULT_ROLES = frozenset({"tool", "function", "ipython"})
"""The roles of messages with what a tool gave, which may be any value."""

_MESSAGE = 'a message must be a dict such as {"role": "user", "content": "Hi"}'
_REASONING = ("reasoning_content", "reasoning", "thinking")
"""Where servers put what the model thought: vLLM, SGLang and llama.cpp; newer vLLM and OpenRouter; Ollama."""

_THOUGHTS = {"thinking", "redacted_thinking", "reasoning"}
_CALLS = {"tool_use", "input_json_delta"}
_ARGUMENTS = ("arguments", "parameters", "args", "input")
"""Where servers and clients put the arguments: OpenAI; Llama's own form; LangChain; Anthropic."""
_READ = {"content", "tool_calls", "function_call", *_REASONING}


class CallPiece(NamedTuple):
    """A call of the server's, or a piece of one in a stream."""

    number: int | str | None
    """The index of the call in its message, if the server gives one."""
    id: str | None
    """Its id, or `None`."""
    name: str
    """The tool's name; empty in what goes on with a call."""
    arguments: str
    """Some of the text of the arguments. What a client has decoded is written again."""


class ToolResult(NamedTuple):
    """What a tool gave."""

    id: str
    """The id of its call; empty if it is not known."""
    name: str | None
    """The tool's name, if the message tells it."""
    content: object
    """A text, or a list of parts."""
    is_error: bool
    """Whether the tool failed."""
    message: Message
    """Its container."""


@dataclass(slots=True)
class MessageParts:
    """A message, taken apart."""

    content: list[Any] = field(default_factory=list)
    """Texts, and parts other than text, in order."""
    has_content: bool = False
    """Whether the message has a content, be it empty."""
    reasoning: str = ""
    """What the server says that the model thought."""
    calls: list[CallPiece] = field(default_factory=list)
    """The calls, or pieces of them."""
    results: list[ToolResult] = field(default_factory=list)
    """Results of tools among the content, as Anthropic has them."""
    rest: dict[str, Any] = field(default_factory=dict)
    """All other keys."""


def split_message(message: Message) -> MessageParts:
    """Return the parts of a message, or of a delta.

    >>> parts = split_message({"content": [{"type": "text", "text": "Sure."}, {"type": "tool_use", "name": "now"}]})
    >>> parts.content, parts.calls
    (['Sure.'], [CallPiece(number=None, id=None, name='now', arguments='')])

    Raises:
        TypeError: the message, or a call in it, is not a dict.
    """
    _require_dict(message, _MESSAGE)
    content = message.get("content")
    parts = MessageParts(rest={key: value for key, value in message.items() if key not in _READ})
    parts.has_content = content is not None
    for part in _items(content):
        text = text_of(part)
        if text is not None or not isinstance(part, Mapping):
            parts.content.append(part if text is None else text)
        elif part.get("type") in _CALLS:
            parts.calls.append(_of_anthropic(part))
        elif part.get("type") == "tool_result":
            result_id, is_error = id_of(part.get("tool_use_id")) or "", part.get("is_error") is True
            parts.results.append(ToolResult(result_id, None, part.get("content"), is_error, {}))
        elif part.get("type") in _THOUGHTS:
            parts.reasoning += _str(part.get("thinking")) or _str(part.get("reasoning")) or ""
        else:
            parts.content.append(part)
    # Some clients say both twice: in parts of the content, and beside it.
    parts.reasoning = next(filter(None, (_str(message.get(key)) for key in _REASONING)), parts.reasoning)
    parts.calls = list(_of_openai(message)) or parts.calls
    return parts


def require_messages(messages: object) -> list[Message]:
    """Return messages as a list. Each has a content that a model can be shown, unless it is what a tool gave.

    Raises:
        TypeError: they are not a list of dicts, or a content is neither text nor a list of parts, nor `None`.
    """
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
        raise TypeError(
            f'messages must be a list of dicts such as [{{"role": "user", "content": "Hi"}}], not {a_type(messages)}'
        )
    given = list(messages)
    for place, message in enumerate(given):
        _require_dict(message, _MESSAGE)
        role, content = message.get("role"), message.get("content")
        is_result = isinstance(role, str) and role in RESULT_ROLES
        if not is_result and not isinstance(content, (str, list, tuple, type(None))):
            cure = ": put the part into a list" if isinstance(content, Mapping) and "type" in content else ""
            raise TypeError(f"messages[{place}].content must be a str or a list of parts, not {a_type(content)}{cure}")
    return given


def id_of(value: object) -> str | None:
    """Return an id as text, as some servers count calls; `None` if it is empty, or not an id.

    >>> id_of("call_1"), id_of(0), id_of(""), id_of(None)
    ('call_1', '0', None, None)
    """
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _str(value)


def text_of(part: object) -> str | None:
    """Return the text of a part of a content; `None` for any other part."""
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None
    return text if isinstance(text, str) else None


def joined_text(content: object) -> tuple[str, list[Any]]:
    """Return the text of a content, and its parts other than text. Anything but text or a list is written as JSON.

    >>> joined_text([{"type": "text", "text": "12"}, ":30"]), joined_text(None), joined_text({"n": 1})
    (('12:30', []), ('', []), ('{"n": 1}', []))
    """
    if isinstance(content, (list, tuple)):
        texts = [text_of(part) for part in content]
        others = [part for part, text in zip(content, texts, strict=True) if text is None]
        return "".join(filter(None, texts)), others
    if content is None or isinstance(content, str):
        return content or "", []
    return write_json(content, default=str), []


def content_of(pieces: Sequence[Any], separator: str = "") -> str | list[Any]:
    """Return texts and other parts as a content: one text, or a list if there are other parts.

    >>> content_of(["12", ":30"]), content_of(["12:30", {"type": "image_url"}])
    ('12:30', [{'type': 'text', 'text': '12:30'}, {'type': 'image_url'}])

    Args:
        pieces: the texts and parts, in order.
        separator: what is between two texts that become one.
    """
    try:
        return separator.join(pieces)
    except TypeError:  # there are others
        return [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in pieces]


def with_text(content: str | list[Any] | None, text: str) -> str | list[Any]:
    """Return a content and a text after it.

    >>> with_text("Sure.", "12:30"), with_text([{"type": "image_url"}], "12:30")
    ('Sure. 12:30', [{'type': 'image_url'}, {'type': 'text', 'text': '12:30'}])
    """
    if isinstance(content, list):
        return [*content, {"type": "text", "text": text}] if text else content
    return " ".join(filter(None, [content, text]))


def _require_dict(value: object, what: str) -> None:
    """Require a dict, as messages, deltas and calls are. The error begins with what it has to be."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{what}, not {a_type(value)}{_cure(value)}")


def _cure(value: object) -> str:
    """Return what to do about a client's object that was given for a dict."""
    return ": pass its model_dump()" if hasattr(value, "model_dump") else ""


def _items(content: object) -> Sequence[Any]:
    if isinstance(content, (list, tuple)):
        return content
    return () if content is None else (content,)


def _of_openai(message: Message) -> Iterator[CallPiece]:
    calls, function = message.get("tool_calls"), message.get("function_call")
    if calls is not None and not isinstance(calls, (list, tuple)):
        raise TypeError(f"tool_calls must be a list of dicts, not {a_type(calls)}{_cure(calls)}")
    for call in calls or ():
        _require_dict(call, "a call in tool_calls must be a dict in OpenAI's form")
        yield _of_function(call, call.get("function", call))
    if not calls and function is not None:
        yield _of_function({"index": 0}, function)


def _of_function(call: Mapping[str, Any], function: Any) -> CallPiece:  # noqa: ANN401 (it is checked)
    given = {} if function is None else function
    _require_dict(given, "the function of a call must be a dict with name and arguments")
    number = call.get("index")
    number = number if isinstance(number, (int, str)) else None
    return CallPiece(number, id_of(call.get("id")), _str(given.get("name")) or "", _arguments(given))


def _arguments(function: Mapping[str, Any]) -> str:
    return written_arguments(next((function[key] for key in _ARGUMENTS if function.get(key) is not None), ""))


def _of_anthropic(part: Mapping[str, Any]) -> CallPiece:
    function = {"name": part.get("name"), "arguments": part.get("input") or part.get("partial_json")}
    return _of_function(part, function)


def _str(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
