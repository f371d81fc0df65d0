"""Conversations, and where the tool prompt stands in them: one table for the decision and for each integration.

A message is a role and its parts: texts, and `None` for an image.
"""

from __future__ import annotations

from typing import TypeAlias

from llama3_tools.prompts.placement import ToolsIn

Conversation: TypeAlias = list[tuple[str, list[str | None]]]

PROMPT = "Tools: …"

USER: list[tuple[str, Conversation, Conversation]] = [
    ("the only message", [("user", ["Hi"])], [("user", [f"{PROMPT}\n\nHi"])]),
    (
        "after a system message",
        [("system", ["S"]), ("user", ["Hi"])],
        [("system", ["S"]), ("user", [f"{PROMPT}\n\nHi"])],
    ),
    (
        "the first of several",
        [("user", ["Hi"]), ("assistant", ["A"]), ("user", ["Again"])],
        [("user", [f"{PROMPT}\n\nHi"]), ("assistant", ["A"]), ("user", ["Again"])],
    ),
    ("an image alone", [("user", [None])], [("user", [PROMPT, None])]),
    ("after an image", [("user", [None, "What?", "Quick!"])], [("user", [None, f"{PROMPT}\n\nWhat?", "Quick!"])]),
    ("an empty message", [("user", [""])], [("user", [PROMPT])]),
    ("no message", [], [("user", [PROMPT])]),
    ("a system message alone", [("system", ["S"])], [("system", ["S"]), ("user", [PROMPT])]),
    ("an answer first", [("assistant", ["A"])], [("user", [PROMPT]), ("assistant", ["A"])]),
    (
        "no user message",
        [("system", ["S"]), ("system", ["T"]), ("assistant", ["A"]), ("system", ["U"])],
        [("system", ["S"]), ("system", ["T"]), ("user", [PROMPT]), ("assistant", ["A"]), ("system", ["U"])],
    ),
]
SYSTEM: list[tuple[str, Conversation, Conversation]] = [
    (
        "a system message",
        [("system", ["S"]), ("user", ["Hi"])],
        [("system", [f"S\n\n{PROMPT}"]), ("user", ["Hi"])],
    ),
    ("none", [("user", ["Hi"])], [("system", [PROMPT]), ("user", ["Hi"])]),
    ("an empty one", [("system", [""]), ("user", ["Hi"])], [("system", [PROMPT]), ("user", ["Hi"])]),
    (
        "not the first message",
        [("user", ["Hi"]), ("system", ["S"]), ("system", ["T"])],
        [("user", ["Hi"]), ("system", [f"S\n\n{PROMPT}"]), ("system", ["T"])],
    ),
    ("with an image", [("system", ["S", "T", None])], [("system", ["S", f"T\n\n{PROMPT}", None])]),
    ("an image alone", [("system", [None])], [("system", [None, PROMPT])]),
    ("no message", [], [("system", [PROMPT])]),
]

_TABLES: list[tuple[ToolsIn, list[tuple[str, Conversation, Conversation]]]] = [("user", USER), ("system", SYSTEM)]
PLACEMENTS: dict[str, tuple[ToolsIn, Conversation, Conversation]] = {
    f"{tools_in}: {name}": (tools_in, given, expected) for tools_in, table in _TABLES for name, given, expected in table
}
"""Where the tools go, the conversation given, and what it becomes."""
