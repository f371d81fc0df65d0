"""One answer in every kind of response that the kit reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage
from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.llm import ToolSelection
from openai.types.chat import ChatCompletion

from llama3_tools.chat import Report
from llama_index_llama3_tools import Llama3ToolOutput

Made: TypeAlias = tuple[str, dict[str, Any]]
"""A call: its tool's name and its arguments."""

Kind: TypeAlias = Callable[[str, Sequence[Made]], object]
"""Makes a response out of a text and calls."""


def openai_dict(text: str, calls: Sequence[Made]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for n, (name, arguments) in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "llama3.1", "choices": [choice]}


def openai_object(text: str, calls: Sequence[Made]) -> ChatCompletion:
    return ChatCompletion.model_validate(openai_dict(text, calls))


def openai_message(text: str, calls: Sequence[Made]) -> object:
    return openai_object(text, calls).choices[0].message


def responses_api(text: str, calls: Sequence[Made]) -> dict[str, Any]:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    made = [{"type": "function_call", "name": name, "arguments": json.dumps(arguments)} for name, arguments in calls]
    return {"object": "response", "output": [message, *made]}


def ollama(text: str, calls: Sequence[Made]) -> dict[str, Any]:
    made = [{"function": {"name": name, "arguments": arguments}} for name, arguments in calls]
    return {"message": {"role": "assistant", "content": text, "tool_calls": made}, "done_reason": "stop"}


def langchain(text: str, calls: Sequence[Made]) -> AIMessage:
    made = [{"name": name, "args": arguments, "id": f"call_{n}"} for n, (name, arguments) in enumerate(calls)]
    return AIMessage(text, tool_calls=made)


def langchain_blocks(text: str, calls: Sequence[Made]) -> AIMessage:
    half = len(text) // 2
    blocks = [{"type": "text", "text": text[:half]}, {"type": "reasoning"}, {"type": "text", "text": text[half:]}]
    return AIMessage([block for block in blocks if block.get("text")], tool_calls=langchain("", calls).tool_calls)


def llama_index(text: str, calls: Sequence[Made]) -> ChatResponse:
    blocks = [ToolCallBlock(tool_name=name, tool_kwargs=arguments) for name, arguments in calls]
    return ChatResponse(
        message=ChatMessage(role="assistant", blocks=[*([TextBlock(text=text)] if text else []), *blocks])
    )


def llama_index_extra(text: str, calls: Sequence[Made]) -> ChatResponse:
    """As LLMs did it before there were blocks of calls."""
    made = openai_object(text, calls).choices[0].message.tool_calls
    kwargs = {"tool_calls": made} if made else {}
    return ChatResponse(message=ChatMessage(role="assistant", content=text, additional_kwargs=kwargs))


def llama_index_agent(text: str, calls: Sequence[Made]) -> AgentOutput:
    made = [
        ToolSelection(tool_id=f"call_{n}", tool_name=name, tool_kwargs=args) for n, (name, args) in enumerate(calls)
    ]
    return AgentOutput(response=llama_index(text, []).message, tool_calls=made, current_agent_name="agent")


def llama_index_parser(text: str, calls: Sequence[Made]) -> Llama3ToolOutput:
    """As our own parser gives it."""
    return Llama3ToolOutput(text=text, tool_calls=list(llama_index_agent("", calls).tool_calls), report=Report())


def llama_index_completion(text: str, _: Sequence[Made]) -> CompletionResponse:
    return CompletionResponse(text=text)


def openai_completion(text: str, _: Sequence[Made]) -> dict[str, Any]:
    return {"object": "text_completion", "choices": [{"text": text, "finish_reason": "stop"}]}


def plain(text: str, _: Sequence[Made]) -> str:
    return text


KINDS: list[Kind] = [
    openai_dict,
    openai_object,
    openai_message,
    responses_api,
    ollama,
    langchain,
    langchain_blocks,
    llama_index,
    llama_index_extra,
    llama_index_agent,
    llama_index_parser,
]
"""All that can hold text and calls."""

TEXT_KINDS: list[Kind] = [*KINDS, llama_index_completion, openai_completion, plain]
"""All that can hold text."""
