"""What the page *Try it* asks of the library: JSON in, JSON out. It runs in the browser, in Pyodide.

It decides nothing: `llama3-tools extract --show` and this page call the same functions, and say the same in the same
words. In what it returns to be shown, invisible characters are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pprint import pformat
from typing import Any

from llama3_tools import (
    Event,
    Extractor,
    Limits,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallReady,
    declare_tools,
)
from llama3_tools.output.explanation import escaped_segment, explain_output
from llama3_tools.output.other_readings import Option, other_calls
from llama3_tools.output.segments import read_segments
from llama3_tools.text.escaping import escape_invisible
from llama3_tools.tools import read_tool_list

__all__ = ["answer"]

_SPELLED = {
    Option.FORMATS: 'formats="all"',
    Option.TOOLS: "tools",
    Option.REPAIR: "repair=True",
}
_FLAGS = {
    "coerce_arguments": "--coerce",
    "repair": "--repair",
    "split_reasoning": "--split-reasoning",
    "starts_reasoning": "--starts-reasoning",
}
"""The options that are true or false, as the command has them. `progress` is of streams, which it does not read."""
_READ_AGAIN = 200_000
"""Up to how many characters an output is read again with other options: in a browser that takes its time."""
_MAX_CHUNKS = 20_000
_MAX_DEPTH = 500
"""How deep tools may be nested: the stack of a browser ends before Python's own bound, and Python with it."""
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_LONGEST_LITERAL = 20_000
_WIDTH = 100
_ESCAPE_LENGTHS = {"x": len(r"\x1b"), "u": len(r"\u202e"), "U": len(r"\U000e0001")}
_JsonObject = dict[str, Any]


class _RefusedError(Exception):
    """Something that the page was given cannot be used. `field` is its place on the page."""

    def __init__(self, field: str, message: object) -> None:
        super().__init__(str(message))
        self.field = field


def answer(question: str) -> str:
    r"""Answer a question of the page.

    >>> asked = {"kind": "read", "text": 'Hm. {"name": "f", "parameters": {}}'}
    >>> answered = json.loads(answer(json.dumps(asked)))
    >>> answered["summary"], answered["content"], answered["calls"][0]["name"]
    ('1 call', 'Hm.', 'f')

    Args:
        question: a JSON object. `kind`: `"read"` or `"play"`. `text`: what the model wrote. `tools`: their JSON, may
            be empty. `options`: those of `ReadOptions` that are not as by default, `limits` as an object. `complete`:
            whether the model ended its turn. `chunk`: of `play`, how many characters a chunk has.

    Returns:
        A JSON object; what could not be used is its `error`, with its `field` and a `message`.
    """
    asked = json.loads(question)
    try:
        answered = _ANSWERS[asked["kind"]](asked)
    except _RefusedError as error:
        answered = {"error": {"field": error.field, "message": escape_invisible(str(error))}}
    return json.dumps(answered)


def _read(asked: Mapping[str, Any]) -> _JsonObject:
    """Return what is a call in an output, what is not, and why."""
    text, complete = asked["text"], asked.get("complete", True)
    tools = _tools(asked)
    extractor = _extractor(tools, asked)
    whole = read_segments(extractor, text, complete=complete)
    is_read_again = len(text) <= _READ_AGAIN
    others = other_calls(extractor, text, complete=complete) if is_read_again else []
    explained = explain_output(whole, others, _SPELLED)
    extraction = whole.extraction
    return {
        "summary": explained.summary,
        "remark": explained.remark if is_read_again else None,
        "is_read_again": is_read_again,
        "segments": [{"kind": one.kind.value, "text": escaped_segment(one)} for one in whole.segments],
        "explanations": [
            {**asdict(one), "kind": one.kind.value, "place": str(one.place)} for one in explained.explanations
        ],
        "content": _escaped(extraction.content),
        "reasoning": _escaped(extraction.reasoning),
        "calls": [_call(call) for call in extraction.tool_calls],
        "python": _python(asked, tools),
        "command": _command(asked, tools),
    }


def _play(asked: Mapping[str, Any]) -> _JsonObject:
    """Return what a stream hands out for each chunk of an output, and in the end."""
    text, size, complete = asked["text"], asked["chunk"], asked.get("complete", True)
    if type(size) is not int or size < 1:
        raise _RefusedError("chunk", "A chunk has 1 character or more.")
    if len(text) > size * _MAX_CHUNKS:
        least = -(-len(text) // _MAX_CHUNKS)
        raise _RefusedError("chunk", f"These would be more than {_MAX_CHUNKS:,} chunks: let them have {least} or more.")
    tools = _tools(asked)
    extractor = _extractor(tools, asked)
    stream = extractor.stream()
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    happened = [*map(stream.feed, chunks), stream.flush(complete=complete)]
    events = list(chain.from_iterable(happened))
    contents = iter(_escaped_parts([event.text for event in events if isinstance(event, TextDelta)]))
    thoughts = iter(_escaped_parts([event.text for event in events if isinstance(event, ReasoningDelta)]))
    steps = [
        {"chunk": chunk, "events": [_event(event, contents, thoughts) for event in of_chunk]}
        for chunk, of_chunk in zip([*_escaped_parts(chunks), ""], happened, strict=True)
    ]
    is_same = stream.extraction == extractor.extract(text, complete=complete)
    return {"steps": steps, "is_same": is_same, "python": _python_of_stream(asked)}


_ANSWERS: dict[str, Callable[[Mapping[str, Any]], _JsonObject]] = {"read": _read, "play": _play}


def _tools(asked: Mapping[str, Any]) -> list[Any] | None:
    """Return the tools that were given as JSON; `None`: none were."""
    written = asked.get("tools", "")
    if not written.strip():
        return None
    if _depth(written) > _MAX_DEPTH:
        raise _RefusedError("tools", "nested too deep to be read")
    try:
        tools = read_tool_list(written)
        if tools is not None:
            declare_tools(tools)
    except (TypeError, ValueError) as error:
        raise _RefusedError("tools", error) from None
    return tools


def _depth(written: str) -> int:
    """Return how deep JSON is nested.

    >>> _depth('[{"a": "[[["}, []]')
    2
    """
    depth = deepest = 0
    for found in _STRING_OR_BRACKET.finditer(written):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        deepest = max(deepest, depth)
    return deepest


def _extractor(tools: list[Any] | None, asked: Mapping[str, Any]) -> Extractor:
    options = dict(asked.get("options", {}))
    try:
        if "limits" in options:
            options["limits"] = Limits(**options["limits"])
        return Extractor(tools, **options)
    except (TypeError, ValueError) as error:
        raise _RefusedError("options", error) from None


def _call(call: ToolCall) -> _JsonObject:
    return {
        "name": escape_invisible(call.name, exact=True),
        "arguments": escape_invisible(call.usable_json, exact=True),
        "id": call.id,
        "format": call.format,
        "span": call.span,
        "repaired_from": None if call.repaired_from is None else escape_invisible(call.repaired_from, exact=True),
    }


def _event(event: Event, contents: Iterator[str], thoughts: Iterator[str]) -> _JsonObject:
    """Return an event as Python shows it, and what it adds to what the stream has handed out.

    Args:
        event: the event.
        contents: the escaped texts of content that are still to come, that of this event first.
        thoughts: the same of reasoning.
    """
    told: _JsonObject = {"python": repr(event)}
    if isinstance(event, TextDelta):
        told["content"] = next(contents)
    elif isinstance(event, ReasoningDelta):
        told["reasoning"] = next(thoughts)
    elif isinstance(event, ToolCallReady):
        told["call"] = _call(event.tool_call)
    return told


def _escaped_parts(texts: Sequence[str]) -> list[str]:
    r"""Return texts with invisible characters escaped, as in the text that they are parts of.

    What joins two parts, such as the second half of an emoji, is seen beside the other half alone.

    >>> _escaped_parts(["a\x1b", "b"]), _escaped_parts(["\u2764", "\ufe0f"]) == ["\u2764", "\ufe0f"]
    (['a\\x1b', 'b'], True)
    """
    escaped = escape_invisible("".join(texts))
    parts = []
    start = end = 0
    for text in texts:
        for char in text:
            is_escaped = escaped[end] != char  # then there is a backslash and a letter that says how long it is
            end += _ESCAPE_LENGTHS[escaped[end + 1]] if is_escaped else 1
        parts.append(escaped[start:end])
        start = end
    return parts


def _escaped(text: str | None) -> str | None:
    return None if text is None else escape_invisible(text)


def _python(asked: Mapping[str, Any], tools: list[Any] | None) -> str:
    """Return the lines of Python that read the output as it was read here."""
    options = asked.get("options", {})
    text = asked["text"]
    is_literal = len(text) <= _LONGEST_LITERAL
    written = {name: repr(value) for name, value in options.items()}
    if "limits" in options:
        limits = ", ".join(f"{name}={value!r}" for name, value in options["limits"].items())
        written["limits"] = f"Limits({limits})"
    given = ", ".join([*(["tools=tools"] if tools is not None else []), *(f"{k}={v}" for k, v in written.items())])
    lines = [
        *([] if is_literal else ["from pathlib import Path", ""]),
        f"from llama3_tools import Extractor{', Limits' if 'limits' in options else ''}",
        "",
        f"text = {_literal(text)}" if is_literal else 'text = Path("reply.txt").read_bytes().decode()',
        *([] if tools is None else [f"tools = {pformat(tools, width=_WIDTH, sort_dicts=False)}"]),
        f"extractor = Extractor({given})",
        f"extraction = extractor.extract({_arguments('text', asked)})",
        "print(extraction.content)",
        *(["print(extraction.reasoning)"] if options.get("split_reasoning") else []),
        "for call in extraction.tool_calls:",
        "    print(call.name, call.arguments)",
        "for rejection in extraction.rejections:",
        "    print(rejection.reason, rejection.detail)",
    ]
    return "\n".join(lines) + "\n"


def _command(asked: Mapping[str, Any], tools: list[Any] | None) -> str:
    """Return the command that explains the output as it is explained here."""
    options = asked.get("options", {})
    formats = options.get("formats", [])
    words = [
        "llama3-tools extract --show",
        *([] if tools is None else ["--tools tools.json"]),
        *([f"--on-unknown-tool {options['on_unknown_tool']}"] if "on_unknown_tool" in options else []),
        *(f"--format {name}" for name in ([formats] if isinstance(formats, str) else formats)),
        *(flag for name, flag in _FLAGS.items() if options.get(name)),
        *(f"--limit {name}={limit}" for name, limit in options.get("limits", {}).items()),
        *([] if asked.get("complete", True) else ["--incomplete"]),
        "reply.txt",
    ]
    return " ".join(words) + "\n"


def _python_of_stream(asked: Mapping[str, Any]) -> str:
    """Return the lines of Python that stream the output; they go on from those that read it."""
    size = asked["chunk"]
    lines = [
        "stream = extractor.stream()",
        f"for start in range(0, len(text), {size}):",
        f"    for event in stream.feed(text[start : start + {size}]):",
        "        print(event)",
        f"for event in stream.flush({_arguments('', asked)}):",
        "    print(event)",
    ]
    return "\n".join(lines) + "\n"


def _arguments(first: str, asked: Mapping[str, Any]) -> str:
    return ", ".join([*([first] if first else []), *([] if asked.get("complete", True) else ["complete=False"])])


def _literal(text: str) -> str:
    """Return text as Python writes it, a line of it on each line."""
    lines = [repr(line) for line in text.splitlines(keepends=True)]
    if len(lines) <= 1:
        return repr(text)
    return "\n    ".join(["(", *lines]) + "\n)"
