"""Everything that LangChain accepts as a tool, as OpenAI tool dicts; and what a tool accepts beyond its JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from llama3_tools import PromptFormat, Tool, ToolDefinitionError, declare_tools
from llama3_tools.chat import ChatOptions, ClassCheck, ToolChat, class_problems, kept_chat
from llama3_tools.errors import a_type
from llama3_tools.tools import SCHEMA_KEYS, describe_tool, require_tool_list

LangChainToolLike: TypeAlias = BaseTool | Callable[..., Any] | type | Mapping[str, Any] | Tool
"""A LangChain tool, a function, a pydantic class, a `TypedDict`, a tool dict of OpenAI, Anthropic, MCP or Bedrock,
a JSON Schema with a title, or a `llama3_tools.Tool`."""

LangChainToolChoice: TypeAlias = str | bool | Mapping[str, Any] | None
"""`"auto"` or `None`: the model decides. `"any"`, `"required"` or `True`: it has to call. `"none"`: it cannot.
A tool's name, or a dict that names one as OpenAI or Anthropic do: it has to call that one."""

_EXPECTED = "a LangChain tool, a function, a pydantic class, a TypedDict or an OpenAI tool dict"


def to_openai_tools(tools: Iterable[LangChainToolLike]) -> list[dict[str, Any]]:
    """Convert tools into OpenAI tool dicts, as LangChain's own `bind_tools` does.

    Raises:
        TypeError: `tools` is not a list of tools.
        ToolDefinitionError: a tool cannot be converted, has no name or that of another one, or its parameters are not
            a JSON Schema.
    """
    return [tool.to_openai() for tool in declare_tools(_tool_dicts(tools)).values()]


def bound_chat(tools: Iterable[LangChainToolLike], options: ChatOptions) -> ToolChat:
    """Return the chat with these tools, of which agents bring the same with each request: it is made once.

    A tool may be there twice, as a class and as its schema (so in LangChain's own tests of models); it is taken once.
    It raises as `to_openai_tools` does.
    """
    given = _tool_dicts(tools)
    untitled = [*map(_without_titles, given)]
    return kept_chat([tool for index, tool in enumerate(given) if untitled[index] not in untitled[:index]], options)


def _tool_dicts(tools: Iterable[LangChainToolLike]) -> list[dict[str, Any]]:
    require_tool_list(tools, BaseTool)
    return [_to_dict(tool, f"tools[{index}]") for index, tool in enumerate(tools)]


def class_check(tools: Iterable[object]) -> ClassCheck | None:
    """Return what the classes among the tools say of arguments; `None` without classes."""
    classes: dict[str, Any] = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
    models = [one for one in tools if isinstance(one, type) and issubclass(one, BaseModel)]
    classes |= {one.model_config.get("title") or one.__name__: one for one in models}
    return partial(_problems, classes) if classes else None


def output_tools(tools: Iterable[object]) -> tuple[str, ...]:
    """Return the tools that run nothing: agents have one for each class of a `response_format`."""
    structured = (tool for tool in tools if isinstance(tool, StructuredTool))
    return tuple(tool.name for tool in structured if not (tool.func or tool.coroutine))


def render_llama3_tools(
    tools: Iterable[LangChainToolLike],
    *,
    prompt_format: PromptFormat = "json",
    tool_choice: LangChainToolChoice = None,
) -> str:
    """Render tools into Llama 3.1's prompt for tool calls.

    It belongs in front of the first user message. `Llama3ToolModel` puts it there; this is for a graph of your own.

    >>> def now() -> str:
    ...     "The time."
    ...     return "12:00"
    >>> render_llama3_tools([now], tool_choice="any").splitlines()[-1]
    'Call a function in your reply.'

    Args:
        tools: the tools.
        prompt_format: the form in which the model is to call.
        tool_choice: which tool it has to call, if any. With `"none"`, there is nothing to show: the text is empty.

    Raises:
        ToolDefinitionError: a tool cannot be read, two have one name, or `tool_choice` is none of them.
        TypeError, ValueError: `tools` is not a list of tools, or `prompt_format` none of the formats.
    """
    return ToolChat(to_openai_tools(tools), prompt_format=prompt_format).prompt(tool_choice)


def _to_dict(tool: LangChainToolLike, where: str) -> dict[str, Any]:
    """Return a tool as a dict that `declare_tools` reads."""
    if isinstance(tool, Tool):
        return tool.to_openai()
    if not (callable(tool) or isinstance(tool, (Mapping, BaseTool))):
        raise TypeError(f"{where} must be {_EXPECTED}, not {a_type(tool)}")
    if isinstance(tool, Mapping):
        tool, is_function = dict(tool), tool.get("type") in (None, "function", "object")
        if "function" in tool or ("name" in tool and (is_function or tool.keys() & set(SCHEMA_KEYS))):
            return tool
        if not is_function:
            raise _of_server(tool, where)
    try:
        converted = convert_to_openai_tool(tool)
    except Exception as error:  # a schema can fail to be made in as many ways as there are annotations
        reason = " ".join(str(error).split()).removesuffix(".")
        raise ToolDefinitionError(
            f"{where} ({describe_tool(tool)}) cannot be read as a tool: {reason}. Pass {_EXPECTED}"
        ) from error
    if "function" not in converted:
        raise _of_server(tool, where)
    return converted


def _of_server(tool: object, where: str) -> ToolDefinitionError:
    found = f"a tool that only its server knows, {describe_tool(tool)}"
    return ToolDefinitionError(f"{where} is {found}: only functions can be shown in the prompt")


def _without_titles(schema: object) -> object:
    """Remove titles, which pydantic adds if there are none: a class and its schema differ in them."""
    if isinstance(schema, Mapping):
        return {key: _without_titles(value) for key, value in schema.items() if key != "title"}
    return [_without_titles(item) for item in schema] if isinstance(schema, list) else schema


def _problems(tools: Mapping[str, Any], name: str, arguments: dict[str, Any]) -> list[str] | None:
    tool = tools.get(name)
    schema = tool.args_schema if isinstance(tool, BaseTool) else tool
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return None
    if not isinstance(tool, BaseTool):
        return class_problems(schema, arguments)
    shown: Any = tool.tool_call_schema  # of all fields but those that the agent fills in
    problems = class_problems(schema, arguments, schema.model_fields.keys() - shown.model_fields.keys())
    return None if problems else problems  # the model reads what the schema says
