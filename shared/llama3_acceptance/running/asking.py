"""What a model is asked: a case as messages, with the suite's tools where the suite's prompt has them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from llama3_acceptance.values import Case, Prompt, Suite
from llama3_tools.chat import ChatOptions, kept_chat
from llama3_tools.chat.constraint import LONGEST_STRING
from llama3_tools.chat.history import flatten_history
from llama3_tools.chat.tool_prompt import put_tools
from llama3_tools.prompts import render_response_prompt
from llama3_tools.strict.schema import response_json_schema


def ask(case: Case, suite: Suite) -> dict[str, Any]:
    r"""Return the messages of a case as a chat completion takes them.

    Beside them are `tools` where they go to the server, and `response_format` in the strict format.

    >>> from llama3_tools import Tool
    >>> case = Case("tea", "Set a timer")
    >>> request = ask(case, Suite("Timers", (Tool("timer"),), (case,)))
    >>> request["messages"][0]["content"].splitlines()[-1]
    'Set a timer'

    Args:
        case: the case; the examples of the prompt and its own history come before its command.
        suite: its suite.
    """
    prompt, tools = suite.prompt, [tool.to_openai() for tool in suite.tools]
    command = {"role": "user", "content": case.command}
    messages = [dict(message) for message in (*prompt.examples, *case.history, command)]
    if prompt.system is not None:
        messages.insert(0, {"role": "system", "content": prompt.system})
    if prompt.format == "strict":
        shown = render_response_prompt(tools, multiple=prompt.multiple)
        return {"messages": flatten_history(put_tools(messages, shown, prompt.tools_in)), **_response_format(suite)}
    if not tools:
        return {"messages": messages}
    if prompt.format == "native":
        return {"messages": messages, "tools": tools}
    chat = kept_chat(tools, ChatOptions(tools_in=prompt.tools_in, prompt_format=prompt.format))
    return {"messages": chat.request(messages).messages}


def _response_format(suite: Suite) -> dict[str, Any]:
    """Return the schema of the strict format as the server takes it."""
    kind, multiple = suite.prompt.response_format, suite.prompt.multiple
    if kind == "none":
        return {}
    if kind == "json_schema":
        schema = response_json_schema(suite.tools, multiple=multiple)
        return {"response_format": {"type": kind, "json_schema": {"name": "response", "schema": schema}}}
    schema = response_json_schema(suite.tools, multiple=multiple, max_string=LONGEST_STRING)
    return {"response_format": {"type": kind, "schema": schema}}


def fingerprint(suite: Suite) -> str:
    """Return a few digits that change with the commands, the tools or the messages before them, and with nothing else.

    What is expected may change: recorded responses are judged anew. So may the form in which the model is asked to
    call: see `prompt_options`.
    """
    plain = replace(suite, prompt=Prompt(suite.prompt.system, examples=suite.prompt.examples))
    written = json.dumps({case.id: ask(case, plain) for case in suite.cases}, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def prompt_options(suite: Suite) -> dict[str, Any]:
    """Return in which form the model is asked to call, and where the tools are.

    >>> prompt_options(Suite("Clocks", (), ()))
    {'format': 'json', 'tools_in': 'user', 'multiple': False, 'response_format': 'json_schema'}
    """
    prompt = suite.prompt
    return {name: getattr(prompt, name) for name in ("format", "tools_in", "multiple", "response_format")}
