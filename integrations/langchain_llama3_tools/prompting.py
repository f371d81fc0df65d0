"""The tools in the prompt: rendered as Llama 3.1 was trained on, and put where it looks for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from langchain_llama3_tools.content import Block, Content, block_text
from langchain_llama3_tools.tools import LangChainToolLike, to_openai_tools
from llama3_tools import PromptFormat, ToolChoice, ToolDefinitionError, render_tool_prompt
from llama3_tools.prompts.placement import ToolsIn, find_place, put_prompt

__all__ = ["LangChainToolChoice", "ToolsIn", "put_tools", "read_tool_choice", "render_llama3_tools"]

LangChainToolChoice: TypeAlias = str | bool | Mapping[str, Any] | None
"""`"auto"` or `None`: the model decides. `"any"`, `"required"` or `True`: it has to call. `"none"`: it cannot.
A tool's name, or a dict that names one as OpenAI or Anthropic do: it has to call that one."""

_CHOICES = {None: "auto", False: "auto", "auto": "auto", True: "required", "any": "required", "required": "required"}


def render_llama3_tools(
    tools: Iterable[LangChainToolLike],
    *,
    prompt_format: PromptFormat = "json",
    tool_choice: LangChainToolChoice = None,
) -> str:
    """Render all that LangChain takes for a tool into Llama 3.1's prompt for tool calls.

    It belongs in front of the first user message. `Llama3ToolModel` puts it there; this is for a graph of your own.

    >>> def now() -> str:
    ...     "The time."
    ...     return "12:00"
    >>> prompt = render_llama3_tools([now], tool_choice="any")
    >>> prompt.splitlines()[0][:65]
    'Given the following functions, please respond with a JSON for a f'
    >>> prompt.splitlines()[-1]
    'Call a function in your reply.'

    Args:
        tools: the tools.
        prompt_format: the form in which the model is to call.
        tool_choice: which tool it has to call, if any. With `"none"`, there is nothing to show: the text is empty.

    Raises:
        TypeError: `tools` is no list of tools.
        ToolDefinitionError: a tool cannot be converted, its parameters are no JSON Schema, two have one name, or
            `tool_choice` is none of them.
        ValueError: `prompt_format` is none of the formats.
    """
    converted = to_openai_tools(tools)
    choice = read_tool_choice(tool_choice, [tool["function"]["name"] for tool in converted])
    return "" if choice == "none" else render_tool_prompt(converted, prompt_format=prompt_format, tool_choice=choice)


def read_tool_choice(tool_choice: LangChainToolChoice, names: Collection[str]) -> ToolChoice:
    """Read each of LangChain's ways to say which tool has to be called: `auto`, `none`, `required`, or a tool's name.

    >>> read_tool_choice("any", ["now"]), read_tool_choice({"type": "tool", "name": "now"}, ["now"])
    ('required', 'now')

    Args:
        tool_choice: what the user asked for.
        names: the tools.

    Raises:
        ToolDefinitionError: it names no tool that is there.
    """
    choice: object = tool_choice
    if isinstance(choice, Mapping):
        named = choice.get("function", choice)
        choice = (named.get("name") if isinstance(named, Mapping) else None) or choice.get("type")
        choice = tool_choice if choice is None else choice
    if choice is None or isinstance(choice, (str, bool)):
        if choice in _CHOICES:
            return _CHOICES[choice]
        if choice == "none" or choice in names:
            return str(choice)
    raise ToolDefinitionError(
        f'tool_choice {tool_choice!r} is none of "auto", "any", "required", "none" and the tools: {", ".join(names)}'
    )


def put_tools(messages: Sequence[BaseMessage], prompt: str, tools_in: ToolsIn) -> list[BaseMessage]:
    r"""Put the rendered tools into a conversation, which is left as it is.

    >>> [message.content for message in put_tools([HumanMessage("Hi")], "Tools: …", "user")]
    ['Tools: …\n\nHi']
    """
    put = list(messages)
    place = find_place([_role(message) for message in put], tools_in)
    if place.is_new:
        put.insert(place.index, HumanMessage(prompt) if tools_in == "user" else SystemMessage(prompt))
    else:
        message = put[place.index]
        put[place.index] = message.model_copy(update={"content": _with_prompt(message.content, prompt, tools_in)})
    return put


def _role(message: BaseMessage) -> str:
    if isinstance(message, HumanMessage):
        return "user"
    return "system" if isinstance(message, SystemMessage) else "other"


def _with_prompt(content: Content, prompt: str, tools_in: ToolsIn) -> Content:
    blocks: list[Block] = [content] if isinstance(content, str) else list(content)
    place, text = put_prompt(prompt, [block_text(block) for block in blocks], tools_in)
    if isinstance(content, str):
        return text
    given = {} if place.is_new else blocks[place.index]
    block = text if isinstance(given, str) else {"type": "text", **given, "text": text}
    blocks[place.index : place.index + (not place.is_new)] = [block]
    return blocks
