"""Requests of Anthropic's Messages API, turned into requests for a chat completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama3_gateway.errors import bad_request
from llama3_gateway.left_out import client_tools, placeholder

NEEDS_ANTHROPIC = "needs Anthropic's own servers, and the gateway asks another one"
"""Why a field or a path of the Messages API is refused."""
_REFUSED = {
    "container": "leave it out",
    "mcp_servers": "let your client connect to them, and declare what they offer as tools",
    "thread": "send the whole conversation",
}
"""Fields that need Anthropic's own servers, and what to do instead."""
_CODES = {"thread": "thread_unsupported_request"}
"""What tells the tool runners of Anthropic's SDKs to go on with the whole conversation."""
_SENT = ("model", "max_tokens", "temperature", "top_p", "top_k", "stream")
"""Fields that a chat completion has, too."""
_SERVER_TOOLS = ("advisor", "code_execution", "mcp_toolset", "tool_search", "web_fetch", "web_search")
"""How the types of tools begin that Anthropic's own servers run."""
_READ_BY_CHAT = frozenset({"text", "tool_use", "thinking", "redacted_thinking"})
"""Types of blocks that the chat layer knows."""
_TOOL = '{"name": …, "input_schema": …}'
_BETWEEN_BLOCKS = "\n\n"
"""The separator of two texts; a server may accept only one."""


def from_messages(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request of the Messages API as one for a chat completion.

    Calls and results stay what they are, as the chat layer reads them. Fields that are not known are left out.

    >>> tools = [{"name": "now", "input_schema": {"type": "object"}}]
    >>> messages = [{"role": "user", "content": [{"type": "text", "text": "The time?"}]}]
    >>> body = from_messages({"model": "llama3.1", "system": "Be brief.", "messages": messages, "tools": tools})
    >>> body["messages"]
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'The time?'}]

    Raises:
        GatewayError: it needs Anthropic's own servers, or cannot be read.
    """
    for name, instead in _REFUSED.items():
        if body.get(name):
            raise bad_request(f"{name} {NEEDS_ANTHROPIC}: {instead}", name, _CODES.get(name))
    chat = {name: body[name] for name in _SENT if body.get(name) is not None}
    chat["messages"] = _messages(body)
    if tools := body.get("tools"):
        chat["tools"] = client_tools(tools, _tool, _TOOL)
        chat["tool_choice"] = _tool_choice(body.get("tool_choice"))
    if stops := body.get("stop_sequences"):
        chat["stop"] = stops
    if (schema := _answer_schema(body.get("output_config"))) is not None:
        json_schema = {"name": "answer", "schema": schema, "strict": True}
        chat["response_format"] = {"type": "json_schema", "json_schema": json_schema}
    if body.get("stream") is True:
        chat["stream_options"] = {"include_usage": True}
    return chat


def _messages(body: Mapping[str, Any]) -> object:
    given, system = body.get("messages"), _content(body.get("system"), "system")
    if not isinstance(given, list):
        return given
    messages = [_message(message, f"messages[{place}]") for place, message in enumerate(given)]
    return [{"role": "system", "content": system}, *messages] if system else messages


def _message(message: object, where: str) -> dict[str, Any]:
    role = message.get("role") if isinstance(message, Mapping) else None
    if not isinstance(message, Mapping) or not isinstance(role, str):
        raise bad_request(f'{where} is an object such as {{"role": "user", "content": "Hi"}}', where)
    content = _content(message.get("content"), f"{where}.content", "" if role == "assistant" else _BETWEEN_BLOCKS)
    return {"role": role, "content": content}


def _content(content: object, where: str, separator: str = _BETWEEN_BLOCKS) -> object:
    """Return the parts that blocks become, or the text if there is nothing else."""
    if not isinstance(content, list):
        if not isinstance(content, (str, type(None))):
            raise bad_request(f"{where} is a text or a list of blocks", where)
        return content
    parts: list[dict[str, Any]] = []
    for place, block in enumerate(content):
        for part in _parts(block, f"{where}[{place}]"):
            if parts and part["type"] == parts[-1]["type"] == "text":
                parts[-1]["text"] += separator + part["text"]
            else:
                parts.append(part)
    return "".join(part["text"] for part in parts) if all(part["type"] == "text" for part in parts) else parts


def _parts(block: object, where: str) -> list[dict[str, Any]]:
    """Return the parts that a block becomes. What the model cannot read becomes a text that says so."""
    kind = block.get("type") if isinstance(block, Mapping) else None
    if not isinstance(block, Mapping) or not isinstance(kind, str):
        raise bad_request(f'{where} is a block such as {{"type": "text", "text": "Hi"}}', where)
    if kind in _READ_BY_CHAT:
        return [_text(block) if kind == "text" else dict(block)]
    if kind == "tool_result":
        return [{**block, "content": _content(block.get("content"), f"{where}.content")}]
    given = block.get("source")
    source = given if isinstance(given, Mapping) else {}
    if kind == "image" and (url := _image_url(source)):
        return [{"type": "image_url", "image_url": {"url": url}}]
    if kind == "search_result":
        return [_text({"text": f"{block.get('title')} ({given})"}), *_nested(block.get("content"), where)]
    if kind == "document" and source.get("type") in {"text", "content"}:
        about = [_text({"text": block[key]}) for key in ("title", "context") if block.get(key)]
        return [*about, *_nested(source.get("data") or source.get("content"), f"{where}.source")]
    is_pdf = kind == "document" and source.get("type") in {"base64", "url"}
    return [placeholder("PDF" if is_pdf else kind)]


def _nested(content: object, where: str) -> list[dict[str, Any]]:
    read = _content(content, f"{where}.content")
    return read if isinstance(read, list) else [_text({"text": read})]


def _text(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": str(block.get("text") or "")}


def _image_url(source: Mapping[str, Any]) -> str | None:
    if source.get("type") == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return str(source.get("url")) if source.get("type") == "url" else None


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any] | None:
    """Return a tool as a function; `None` if Anthropic's servers would run it."""
    kind, schema = tool.get("type"), tool.get("input_schema")
    if isinstance(kind, str) and kind.startswith(_SERVER_TOOLS):
        return None
    if not isinstance(schema, Mapping):
        known = f"{kind!r} is known to Anthropic's models only" if kind not in (None, "custom") else "it has none"
        raise bad_request(f"{where} is to be declared with an input_schema: {known}", f"{where}.input_schema")
    function = {"name": tool.get("name"), "description": tool.get("description"), "parameters": schema}
    return {name: value for name, value in function.items() if value is not None}


def _tool_choice(choice: object) -> object:
    if choice is None or (isinstance(choice, Mapping) and choice.get("type") in {"auto", "any", "tool", "none"}):
        return choice
    raise bad_request('tool_choice is {"type": "auto"}, "any", "none", or "tool" and its name', "tool_choice")


def _answer_schema(output_config: object) -> Mapping[str, Any] | None:
    """Return the schema that the answer is to have."""
    given = output_config.get("format") if isinstance(output_config, Mapping) else None
    schema = given.get("schema") if isinstance(given, Mapping) else None
    return schema if isinstance(schema, Mapping) else None
