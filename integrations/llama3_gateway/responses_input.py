"""Requests of OpenAI's Responses API, turned into requests for a chat completion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from llama3_gateway.errors import bad_request
from llama3_gateway.framing import write_json
from llama3_gateway.left_out import client_tools, placeholder

NEEDS_STATE = "needs a server that keeps what it has answered, and this one does not"
"""Why a field or a path of the Responses API is refused."""
_STATEFUL = {
    "previous_response_id": "send the whole conversation as input",
    "conversation": "send the whole conversation as input",
    "prompt": "send the prompt's text as instructions",
    "background": "leave it out, and wait for the answer or stream it",
}
"""Fields that need a server which keeps what it has answered, and what to do instead."""
_SENT = (
    *("model", "stream", "parallel_tool_calls", "n", "temperature", "top_p", "top_k", "min_p", "seed", "stop"),
    *("frequency_penalty", "presence_penalty", "repetition_penalty", "repeat_penalty", "logit_bias"),
)
"""Fields that a chat completion has, too. Clients send others unasked, such as an id of their installation."""
_TOOL = '{"type": "function", "name": …, "parameters": …}'
CUSTOM = "input"
"""The one parameter of the function that a custom tool becomes: its text."""
_CUSTOM_PARAMETERS = {"type": "object", "properties": {CUSTOM: {"type": "string"}}, "required": [CUSTOM]}
_TEXT_PARTS = frozenset({"input_text", "output_text", "text", "summary_text"})


class KeptItems:
    """Items of the last answers, for clients that send back an item's id in place of the item."""

    def __init__(self, most_characters: int = 8_000_000) -> None:
        self._items: dict[str, tuple[dict[str, Any], int]] = {}
        self._most_characters = most_characters
        self._characters = 0

    def add(self, item: dict[str, Any]) -> None:
        """Keep an item."""
        size = len(write_json(item))
        self._items[item["id"]] = (item, size)
        self._characters += size
        while self._characters > self._most_characters:
            self._characters -= self._items.pop(next(iter(self._items)))[1]

    def get(self, item_id: object) -> dict[str, Any] | None:
        """Return an item; `None` if it is not kept."""
        return self._items[item_id][0] if isinstance(item_id, str) and item_id in self._items else None


def from_responses(body: Mapping[str, Any], kept: KeptItems | None = None) -> dict[str, Any]:
    """Return a request of the Responses API as one for a chat completion.

    >>> tools = [{"type": "function", "name": "now", "parameters": {"type": "object"}}]
    >>> body = from_responses({"model": "llama3.1", "instructions": "Be brief.", "input": "The time?", "tools": tools})
    >>> body["messages"]
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'The time?'}]

    Raises:
        GatewayError: it needs a server that keeps answers, has only tools of a server's own, or cannot be read.
    """
    for name, instead in _STATEFUL.items():
        if body.get(name):
            raise bad_request(f"{name} {NEEDS_STATE}: {instead}", name)
    chat = {name: body[name] for name in _SENT if name in body}
    if "max_output_tokens" in body:
        chat["max_tokens"] = body["max_output_tokens"]
    chat["messages"] = _messages(body, kept or KeptItems())
    if tools := body.get("tools"):
        chat["tools"] = client_tools(tools, _tool, _TOOL)
        chat["tool_choice"] = body.get("tool_choice")
    text, reasoning = body.get("text"), body.get("reasoning")
    if isinstance(text, Mapping) and (response_format := _response_format(text.get("format"))):
        chat["response_format"] = response_format
    if isinstance(text, Mapping) and text.get("verbosity"):
        chat["verbosity"] = text["verbosity"]
    if isinstance(reasoning, Mapping) and reasoning.get("effort"):
        chat["reasoning_effort"] = reasoning["effort"]
    if body.get("stream") is True:
        chat["stream_options"] = {"include_usage": True}
    return chat


def _messages(body: Mapping[str, Any], kept: KeptItems) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if instructions := body.get("instructions"):
        messages.append({"role": "system", "content": instructions})
    given = body.get("input")
    if isinstance(given, str):
        return [*messages, {"role": "user", "content": given}]
    if not isinstance(given, list):
        raise bad_request("input is a text or a list of items", "input")
    for place, item in enumerate(given):
        where = f"input[{place}]"
        if not isinstance(item, Mapping):
            raise bad_request(f"{where} is not an object", where)
        if item.get("type") == "item_reference":
            item = kept.get(item.get("id"))  # noqa: PLW2901 - what it represents
            if item is None:
                raise bad_request(f"{where} refers to an item that is not kept any more: send the item itself", where)
        _add(messages, item, where)
    return messages


def _add(messages: list[dict[str, Any]], item: Mapping[str, Any], where: str) -> None:
    """Add an item of the input to the conversation."""
    kind = item.get("type", "message")
    if kind == "message":
        role = item.get("role")
        if not isinstance(role, str):
            raise bad_request(f"{where}.role is a text such as user or assistant", f"{where}.role")
        content = _content(item.get("content"), where)
        if role == "assistant" and messages and messages[-1]["role"] == role and not messages[-1].get("content"):
            messages[-1]["content"] = content  # the text of a turn may be after its calls
        else:
            messages.append({"role": role, "content": content})
    elif kind in {"function_call", "custom_tool_call"}:
        arguments = item.get("arguments") if kind == "function_call" else json.dumps({CUSTOM: item.get("input")})
        function = {"name": item.get("name"), "arguments": arguments}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": None})
        messages[-1].setdefault("tool_calls", []).append(call)
    elif kind in {"function_call_output", "custom_tool_call_output"}:
        output = _content(item.get("output"), where)
        messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": output})
    elif kind != "reasoning":  # what a model thought in earlier turns is not shown to it
        messages.append({"role": "assistant", "content": placeholder(str(kind))["text"]})


def _content(content: object, where: str) -> object:
    if not isinstance(content, list):
        return content
    parts = [_part(part, f"{where}.content[{place}]") for place, part in enumerate(content)]
    if all(part["type"] == "text" for part in parts):
        return "".join(part["text"] for part in parts)
    return parts


def _part(part: object, where: str) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(part, Mapping) or not isinstance(kind, str):
        raise bad_request(f'{where} is a part such as {{"type": "input_text", "text": "Hi"}}', where)
    if kind in _TEXT_PARTS:
        return {"type": "text", "text": str(part.get("text") or "")}
    if kind == "refusal":
        return {"type": "text", "text": str(part.get("refusal") or "")}
    if kind == "input_image" and part.get("image_url"):
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    return placeholder(kind.removeprefix("input_"))


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """Return a tool as a function; `None` if a server would run it."""
    kind = tool.get("type")
    if not isinstance(kind, str):
        raise bad_request(f"{where}.type is a text such as function", f"{where}.type")
    if kind not in {"function", "custom"}:
        return None
    function = {name: value for name, value in tool.items() if name not in {"type", "format"}}
    if kind == "custom":
        given = tool.get("format")
        grammar = given.get("definition") if isinstance(given, Mapping) else None
        about = "\n\n".join(str(text) for text in (tool.get("description"), grammar) if text)
        function |= {"description": about, "parameters": _CUSTOM_PARAMETERS}
    return function


def _response_format(given: object) -> dict[str, Any] | None:
    if not isinstance(given, Mapping) or given.get("type") in (None, "text"):
        return None
    if given["type"] == "json_schema":
        return {"type": "json_schema", "json_schema": {key: given[key] for key in given if key != "type"}}
    return dict(given)
