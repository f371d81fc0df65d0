"""What a model is asked: a case as messages, with the suite's tools where the suite's prompt has them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from llama3_tools.acceptance.values import Case, Suite
from llama3_tools.prompts import PromptFormat, render_tool_prompt

__all__ = ["ask", "fingerprint"]


def ask(case: Case, suite: Suite) -> dict[str, Any]:
    r"""Give the messages of a case, and `tools` where they go to the server, as a chat completion takes them.

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
    if prompt.tools_in == "user":
        first = next(message for message in messages if message.get("role") == "user")
        first["content"] = f"{shown}\n\n{first['content']}"
    elif messages[0].get("role") == "system":
        messages[0]["content"] = f"{messages[0]['content']}\n\n{shown}"
    else:
        messages.insert(0, {"role": "system", "content": shown})
    return {"messages": messages}


def fingerprint(suite: Suite) -> str:
    """Give a few digits that change with anything that the suite's cases ask, and with nothing else.

    What is expected may change: recorded responses are judged anew.
    """
    asked: Mapping[str, object] = {case.id: ask(case, suite) for case in suite.cases}
    written = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]
