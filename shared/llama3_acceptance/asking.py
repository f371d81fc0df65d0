"""What a model is asked: a case as messages, with the suite's tools where the suite's prompt has them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from llama3_acceptance.values import Case, Suite
from llama3_tools.prompts import PromptFormat, render_tool_prompt
from llama3_tools.prompts.placement import ToolsIn, find_place, put_prompt

__all__ = ["ask", "fingerprint"]


def ask(case: Case, suite: Suite) -> dict[str, Any]:
    r"""Return the messages of a case, and `tools` where they go to the server, as a chat completion takes them.

    >>> from llama3_tools import Tool
    >>> case = Case("tea", "Set a timer")
    >>> request = ask(case, Suite("Timers", (Tool("timer"),), (case,)))
    >>> request["messages"][0]["content"].splitlines()[-1]
    'Set a timer'

    Args:
        case: the case; the examples of the prompt and its own history come before its command.
        suite: its suite.
    """
    prompt, tools = suite.prompt, list(suite.tools)
    command = {"role": "user", "content": case.command}
    messages = [dict(message) for message in (*prompt.examples, *case.history, command)]
    if prompt.system is not None:
        messages.insert(0, {"role": "system", "content": prompt.system})
    if not tools:
        return {"messages": messages}
    if prompt.format == "native":
        return {"messages": messages, "tools": [tool.to_openai() for tool in tools]}
    shown = render_tool_prompt(tools, prompt_format=cast("PromptFormat", prompt.format))
    place = find_place([str(message.get("role")) for message in messages], prompt.tools_in)
    if place.is_new:
        messages.insert(place.index, {"role": prompt.tools_in, "content": shown})
    else:
        message = messages[place.index]
        message["content"] = _with_prompt(shown, message.get("content"), prompt.tools_in)
    return {"messages": messages}


def _with_prompt(shown: str, content: object, tools_in: ToolsIn) -> object:
    """Put the tools into the content of a message: a text, or a list of blocks."""
    if not isinstance(content, list):
        return put_prompt(shown, [content if isinstance(content, str) else ""], tools_in)[1]
    parts = [block.get("text") if isinstance(block, Mapping) else None for block in content]
    place, text = put_prompt(shown, parts, tools_in)
    return [*content[: place.index], {"type": "text", "text": text}, *content[place.index + (not place.is_new) :]]


def fingerprint(suite: Suite) -> str:
    """Return a few digits that change with anything that the suite's cases ask, and with nothing else.

    What is expected may change: recorded responses are judged anew.
    """
    asked: Mapping[str, object] = {case.id: ask(case, suite) for case in suite.cases}
    written = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]
