"""The text that a model is shown: its tools, its calls and their results. In the words Llama 3.1 was trained on.

What is rendered here is what the extractor reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from llama3_tools.errors import require_str, require_words
from llama3_tools.formats import Formats, require_formats
from llama3_tools.literals.json_object import parse_whole
from llama3_tools.reader.markup import NAME, WORD_NAME
from llama3_tools.text.json_writing import written_arguments
from llama3_tools.tools import Tool, ToolLike, declare_tools
from llama3_tools.tools.choice import ToolChoice, require_tool_choice

PromptFormat: TypeAlias = Literal["json", "function", "pythonic", "strict"]
"""The form in which a model is asked to call: `{"name": …, "parameters": …}`, `<function=NAME>{…}</function>`,
`[NAME(city='Paris')]`, or the strict response format, `{"message": …, "tool_call": {"name": …, "arguments": …}}`."""

# The instructions of Llama 3.1 (meta-llama/llama-models, llama3_1/prompt_format.md, "JSON based tool calling" and
# "User-defined custom tool calling") and 3.2 (llama3_2/text_prompt_format.md, "Zero-shot function calling"): a model
# calls most reliably when it meets the words it was trained on.
_JSON_INSTRUCTION = (
    "Given the following functions, please respond with a JSON for a function call with its proper arguments "
    "that best answers the given prompt.\n\n"
    'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}. '
    "Do not use variables."
)
_FUNCTION_INSTRUCTION = (
    "If you choose to call a function ONLY reply in the following format with no prefix or suffix:\n\n"
    '<function=example_function_name>{"example_name": "example_value"}</function>'
)
_RESPONSE_INSTRUCTION = (
    "Reply with one JSON object and nothing else: no text before or after it, no code fence. "
    'Respond in the format {{"message": what you say to the user, which may be empty, {calls}}}. '
    "Do not use variables."
)
_CALL_FORMAT = '{"name": function name, "arguments": dictionary of argument name and its value}'
_PYTHONIC_INSTRUCTION = (
    "If you decide to invoke any of the function(s), you MUST put it in the format of "
    "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]"
)
# The names that a form can carry.
_TAGGED_NAME = re.compile(NAME)
_PYTHON_NAME = re.compile(WORD_NAME)

_AUTO = "If no function is needed, reply in words, without a call."
_REQUIRED = "Call a function in your reply."
_NAMED = "Call the function {name!r} in your reply."


def render_tool_prompt(
    tools: Iterable[ToolLike], *, prompt_format: PromptFormat = "json", tool_choice: ToolChoice = "auto"
) -> str:
    r"""Render tools into Llama 3.1's prompt for tool calls: the instruction, and a JSON object for each tool.

    Meta puts it in front of the first user message. With `"auto"`, it ends with a sentence that Meta's does not have: a
    model that may answer in words is told so. Without tools there is nothing to say: it is empty.

    >>> print(render_tool_prompt([{"name": "now", "description": "The time"}]))  # doctest: +ELLIPSIS
    Given the following functions, please respond with a JSON for a function call ...
    {
        "type": "function",
        "function": {
            "name": "now",
            "description": "The time",
            "parameters": {
                "type": "object",
                "properties": {}
            }
        }
    }
    <BLANKLINE>
    If no function is needed, reply in words, without a call.

    Args:
        tools: the tools, as tool dicts or `Tool`s.
        prompt_format: the form in which to call.
        tool_choice: `"auto"`, `"required"`, or the name of the one tool to call.

    Raises:
        TypeError: `tools` is not a list of tools, or `tool_choice` is not a `str`.
        ToolDefinitionError: a declaration that cannot be read, or a `tool_choice` that the tools do not allow.
        ValueError: `prompt_format` is none of the formats.
    """
    _require_format(prompt_format)
    declared = declare_tools(tools)
    require_tool_choice(tool_choice, declared)
    rendered = _rendered(declared)
    if not rendered:
        return ""
    if prompt_format == "strict":
        return render_response_prompt(declared.values(), tool_choice=tool_choice)
    if prompt_format == "json":
        parts = [_JSON_INSTRUCTION, *rendered]
    elif prompt_format == "function":
        parts = ["You have access to the following functions:", *rendered, _FUNCTION_INSTRUCTION]
    else:
        parts = [_PYTHONIC_INSTRUCTION, "Here is a list of functions that you can invoke.", *rendered]
    return "\n\n".join([*parts, *(_choice(tool_choice) or [_AUTO])])


def render_response_prompt(
    tools: Iterable[ToolLike] | None, *, multiple: bool = False, tool_choice: ToolChoice = "auto"
) -> str:
    """Render the prompt for the strict response format: the tools, and how to reply. It goes where a tool prompt goes.

    >>> prompt = render_response_prompt([{"name": "now", "description": "The time"}])
    >>> print(prompt.splitlines()[-1])
    Reply with one JSON object and nothing else: ... "tool_call": null or {"name": function name, "arguments": ...

    Args:
        tools: the tools, as tool dicts or `Tool`s. `None` for tools that the model is told of elsewhere.
        multiple: the model may call several tools at once.
        tool_choice: `"auto"`, `"required"`, or the name of the one tool to call.

    Raises:
        TypeError: `tools` is not a list of tools, or `tool_choice` is not a `str`.
        ToolDefinitionError: a declaration that cannot be read, or a `tool_choice` that the tools do not allow.
    """
    declared = declare_tools([] if tools is None else tools)
    require_tool_choice(tool_choice, None if tools is None else declared)
    parts = ["You may call the following functions:", *_rendered(declared)] if declared else []
    if tools is not None and not declared:
        calls = "[]" if multiple else "null"
    elif multiple:
        calls = f"[{_CALL_FORMAT} for each call]" if tool_choice != "auto" else f"[] or [{_CALL_FORMAT} for each call]"
    else:
        calls = _CALL_FORMAT if tool_choice != "auto" else f"null or {_CALL_FORMAT}"
    key = "tool_calls" if multiple else "tool_call"
    parts.append(_RESPONSE_INSTRUCTION.format(calls=f'"{key}": {calls}'))
    return "\n\n".join([*parts, *_choice(tool_choice)])


def render_tool_call(name: str, arguments: Mapping[str, Any] | str, *, prompt_format: PromptFormat = "json") -> str:
    """Render a call as the model would have written it, to show it an earlier one.

    What a form has no place for is written as JSON: a name with a space in it, say, and in Python an argument whose
    name is not an identifier.

    >>> render_tool_call("get_weather", {"city": "Paris"})
    '{"name": "get_weather", "parameters": {"city": "Paris"}}'
    >>> render_tool_call("get_weather", '{"city": "Paris"}', prompt_format="function")
    '<function=get_weather>{"city": "Paris"}</function>'
    >>> render_tool_call("get_weather", {"city": "Paris"}, prompt_format="pythonic")
    "[get_weather(city='Paris')]"

    Args:
        name: the tool's name.
        arguments: the arguments; as text, they are taken as they are, be they JSON or not. What JSON has no form
            for is written as Python shows it: a conversation has to go on with what was called in it.
        prompt_format: the form in which to write.

    Raises:
        TypeError: `name` is not a `str`, or `arguments` is neither a mapping nor one.
        ValueError: `name` is empty, or `prompt_format` none of the formats.
    """
    _require_format(prompt_format)
    require_str(name, "render_tool_call takes the tool's name as a str")
    if not name:
        raise ValueError("render_tool_call takes the tool's name, and it is empty")
    if not isinstance(arguments, (Mapping, str)):
        raise TypeError(f"render_tool_call takes arguments as a mapping or as text, got {type(arguments).__name__}")
    written = written_arguments(arguments)
    if prompt_format == "function" and _TAGGED_NAME.fullmatch(name):
        return f"<function={name}>{written}</function>"
    in_python = _in_python(written) if prompt_format == "pythonic" and _PYTHON_NAME.fullmatch(name) else None
    if in_python is not None:
        return f"[{name}({in_python})]"
    if prompt_format == "strict":
        return _response("", [(name, written)])
    return f'{{"name": {_quoted(name)}, "parameters": {written}}}'


def render_tool_calls(
    calls: Iterable[tuple[str, Mapping[str, Any] | str]], *, prompt_format: PromptFormat = "json"
) -> str:
    """Render the calls of one message as the model would have written them.

    Pythonic ones are one list, if each of them can be written so. Others get a line each.

    >>> render_tool_calls([("now", {}), ("get_weather", {"city": "Paris"})], prompt_format="pythonic")
    "[now(), get_weather(city='Paris')]"
    >>> print(render_tool_calls([("now", {}), ("now", {"zone": "UTC"})]))
    {"name": "now", "parameters": {}}
    {"name": "now", "parameters": {"zone": "UTC"}}

    Args:
        calls: the name and the arguments of each, as `render_tool_call` takes them.
        prompt_format: the form in which to write.

    Raises:
        TypeError: a name is not a `str`, or arguments are neither a mapping nor one.
        ValueError: a name is empty, or `prompt_format` none of the formats.
    """
    _require_format(prompt_format)
    written, are_items = [], prompt_format == "pythonic"
    for name, arguments in calls:
        one = render_tool_call(name, arguments, prompt_format=prompt_format)
        are_items = are_items and one.startswith("[") and parse_whole(written_arguments(arguments)) is not None
        written.append(one)
    return f"[{', '.join(one[1:-1] for one in written)}]" if written and are_items else "\n".join(written)


def render_answer(
    message: str, calls: Iterable[tuple[str, Mapping[str, Any] | str]], *, prompt_format: PromptFormat = "json"
) -> str:
    r"""Render an answer of the model: what it said, and on the next lines what it called.

    >>> render_answer("Sure.", [("now", {})])
    'Sure.\n{"name": "now", "parameters": {}}'
    >>> render_answer("Sure.", [("now", {})], prompt_format="strict")
    '{"message": "Sure.", "tool_call": {"name": "now", "arguments": {}}}'

    Args:
        message: the text, perhaps empty.
        calls: as `render_tool_calls` takes them.
        prompt_format: the form in which to write.
    """
    if prompt_format == "strict":
        return _response(message, [(name, written_arguments(arguments)) for name, arguments in calls])
    return "\n".join(filter(None, [message, render_tool_calls(calls, prompt_format=prompt_format)]))


_RESULT, _ERROR = "Result of ", "Error of "


def is_after_heading(text: str, at: int) -> bool:
    """Return whether the line before a place has the heading of a result, which models repeat.

    >>> is_after_heading("Result of now {}: 12:30", 10), is_after_heading("The result: now {}", 12)
    (True, False)
    """
    line = text.rfind("\n", 0, at) + 1
    return text.rfind(_RESULT, line, at) >= 0 or text.rfind(_ERROR, line, at) >= 0


def render_tool_result(
    name: str | None, result: str, *, arguments: Mapping[str, Any] | str | None = None, is_error: bool = False
) -> str:
    """Render what a tool gave, to show it to the model: with the tool's name, and not in the form of a call.

    >>> render_tool_result("get_weather", "Sun")
    'Result of get_weather: Sun'
    >>> render_tool_result("get_weather", "Rain", arguments={"city": "Oslo"})
    'Result of get_weather {"city": "Oslo"}: Rain'
    >>> render_tool_result("get_weather", "no such city", is_error=True)
    'Error of get_weather: no such city'

    Args:
        name: the tool's name; `None` if it is not known.
        result: what it gave; empty if that follows in another form, such as an image.
        arguments: what it was called with, to tell two results of one tool apart; as text, they are taken as they are.
        is_error: whether it failed.
    """
    kind = _ERROR if is_error else _RESULT
    call = name or "a tool"
    if arguments is not None:
        call = f"{call} {written_arguments(arguments)}"
    return f"{kind}{call}: {result}" if result else f"{kind}{call}:"


def _response(message: str, calls: Sequence[tuple[str, str]]) -> str:
    """Write the one object of the strict response format: with several calls, they are a list."""
    written = [f'{{"name": {_quoted(name)}, "arguments": {arguments}}}' for name, arguments in calls]
    is_list = len(written) > 1
    call = f'"tool_calls": [{", ".join(written)}]' if is_list else f'"tool_call": {"".join(written) or "null"}'
    return f'{{"message": {_quoted(message)}, {call}}}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _rendered(declared: Mapping[str, Tool]) -> list[str]:
    return [json.dumps(tool.to_openai(), indent=4, ensure_ascii=False) for tool in declared.values()]


def _choice(tool_choice: ToolChoice) -> list[str]:
    """Say which tool has to be called, if one has to."""
    if tool_choice == "auto":
        return []
    return [_REQUIRED if tool_choice == "required" else _NAMED.format(name=tool_choice)]


def formats_asked_for(
    prompt_format: PromptFormat, formats: Formats = None, *, tools: Collection[str] | None = None
) -> Formats:
    """Return what to read where a model was asked for a form: that form for any name, and what else is to be read.

    >>> formats_asked_for("json", ["function"]), formats_asked_for("json", "none")
    (('function', 'json'), ('none',))

    Args:
        prompt_format: the form that was asked for.
        formats: what else is to be read, by name, or `"all"`; `"none"`: nothing. `None`: what is always read.
        tools: the names of the tools, if calls of others go through, too: then code is asked for only if
            `code_interpreter` is one of them.

    Raises:
        TypeError: `formats` is not a list of names.
        ValueError: `formats` names none that there is.
    """
    if formats is None:
        if prompt_format != "pythonic":
            return None
        asks_for_code = tools is None or "code_interpreter" in tools
        return tuple(name for name in require_formats("all") or () if name != "code" or asks_for_code)
    named = require_formats(formats) or ()
    return named if named == ("none",) else (*named, "json" if prompt_format == "strict" else prompt_format)


def _in_python(written: str) -> str | None:
    """Write JSON arguments as those of a Python call; what is not a JSON object stays as it is.

    `None` if that is not possible: a dict alone could be the value of a tool's first parameter, and an integer may
    have more digits than Python writes.
    """
    parsed = parse_whole(written)
    if parsed is None:
        return written
    if not all(name.isidentifier() and name not in ("True", "False", "None") for name in parsed.members):
        return None
    try:
        return ", ".join(f"{name}={value!r}" for name, value in parsed.members.items())
    except ValueError:
        return None


def _require_format(prompt_format: str) -> None:
    require_words({"prompt_format": prompt_format}, prompt_format=PromptFormat)
