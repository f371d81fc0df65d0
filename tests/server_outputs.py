"""Outputs for the plugins of servers: every kind of text that other tests read, and what the chat layer makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fragments import FRAGMENTS, SITUATIONS, TOOLS
from llama3_tools.chat import ChatOptions, ToolChat
from outputs import MARKDOWN, OUTPUTS, PROSE, REAL_SHAPES
from outputs import TOOLS as REAL_TOOLS

_HERE = Path(__file__).parent
_HEADING = re.compile(r"^=== (\S+)\n", re.MULTILINE)

DECLARED: list[dict[str, Any]] = [tool.to_openai() for tool in TOOLS] + REAL_TOOLS
"""The tools of all cases, in OpenAI's form."""

SIZES = (1, 7)
"""How many characters a piece of a stream has."""


class Answer(NamedTuple):
    """What came out: the text, and the names and arguments of the calls."""

    content: str
    calls: list[tuple[str, str]]


def _cases() -> Iterator[tuple[str, list[str]]]:
    for file in sorted((_HERE / "fuzz" / "seeds" / "outputs").glob("*.txt")):
        text = file.read_text("utf-8")
        yield f"seeds {file.stem}", [text, *text.split("\n")]
    for file in sorted((_HERE / "shared" / "non_calls").glob("*.txt")):
        yield f"non-calls {file.stem}", _HEADING.split(file.read_text("utf-8"))[2::2]
    yield "fragments", list(dict.fromkeys(FRAGMENTS))
    yield "fragments after text", [f"Let me see. {fragment} Done." for fragment in dict.fromkeys(FRAGMENTS)]
    yield "situations", list(SITUATIONS)
    yield (
        "real shapes",
        [MARKDOWN, PROSE, *(text for text, *_ in REAL_SHAPES.values()), *(text for text, *_ in OUTPUTS)],
    )


CASES = dict(_cases())
"""Lists of outputs, by name."""

_CHAT = ToolChat(DECLARED, ChatOptions(max_retries=0), on_unknown_tool="call")


def expected(text: str) -> Answer:
    """What the chat layer makes of an output."""
    reply = _CHAT.request([]).read({"content": text})
    assert reply.content is None or isinstance(reply.content, str)
    return Answer(
        reply.content or "", [(call.name, call.to_openai()["function"]["arguments"]) for call in reply.tool_calls]
    )


def agrees(streamed: Answer, whole: Answer) -> bool:
    """Whether a stream gave what the whole output gives: before a call, white space may already have been sent."""
    contents = {streamed.content, streamed.content.lstrip() if whole.calls else streamed.content}
    return whole.content in contents and streamed.calls == whole.calls


def pieces(text: str, size: int) -> list[str]:
    """Cut a text into pieces."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def entry_point_of(group: str) -> str:
    """What `pyproject.toml` names in a group of entry points."""
    project = (_HERE.parent / "pyproject.toml").read_text("utf-8")
    (value,) = re.findall(rf'\[project\.entry-points\."{re.escape(group)}"\]\nllama3_tools = "(.*)"\n', project)
    return str(value)
