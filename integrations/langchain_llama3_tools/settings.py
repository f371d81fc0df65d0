"""What the wrapped model is asked with beside the messages: tools, and the form to which its server must keep."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from langchain_core.language_models import BaseChatModel

from llama3_tools.chat import Request


def tool_settings(request: Request, llm: BaseChatModel) -> dict[str, Any]:
    """Return what binds the tools to the wrapped model, with `tools_in="request"`; else nothing."""
    if not request.tools:
        return {}
    choice: Any = request.tool_choice
    settings: dict[str, Any] = {"tool_choice": None if choice == "auto" else choice}
    if not request.choice.parallel and "parallel_tool_calls" in signature(llm.bind_tools).parameters:
        settings["parallel_tool_calls"] = False  # only if the model's class has it: some servers refuse it
    try:
        bound: Any = llm.bind_tools(request.tools, **settings)
    except NotImplementedError as error:
        raise NotImplementedError(
            f'tools_in="request" needs a model with bind_tools, and {type(llm).__name__} has none: use tools_in="user"'
        ) from error
    return dict(bound.kwargs)


def constraint_settings(request: Request, llm: BaseChatModel, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form to which the server must keep, in the argument by which the wrapped model sends it."""
    if llm._llm_type == "chat-ollama":  # noqa: SLF001 (LangChain's name for the type of a model)
        schema = request.answer_schema
        return {} if schema is None else {"format": schema}
    constraint = request.constraint
    if not (constraint and hasattr(llm, "extra_body")):
        return constraint
    is_responses_api = getattr(llm, "use_responses_api", None) or llm.output_version == "responses/v1"
    if is_responses_api and (named := constraint["response_format"].get("json_schema")):
        constraint = {"text": {"format": {"type": "json_schema", **named}}}
    # In `extra_body`, because OpenAI's client parses the answer by a `response_format` that it knows of.
    own = given.get("extra_body") or getattr(llm, "extra_body", None) or {}
    return {"extra_body": {**constraint, **own}}
