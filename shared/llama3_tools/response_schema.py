"""The JSON Schema of the strict response format, narrowed to the declared tools, for a server that decodes by it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, final
from urllib.parse import unquote

from llama3_tools.errors import ToolDefinitionError
from llama3_tools.prompts import ToolChoice
from llama3_tools.tools import Tool, ToolLike, declare_tools

__all__ = ["response_json_schema"]

_OF_ONE = (
    *("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_OF_LIST = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_BY_NAME = ("dependentSchemas", "patternProperties", "properties")
_LEFT_OUT = ("$defs", "$id", "$schema", "definitions")
"""What is lifted where it is used, and what only makes sense at the root of a document."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def response_json_schema(
    tools: Iterable[ToolLike] | None, *, multiple: bool = False, tool_choice: ToolChoice = "auto"
) -> dict[str, Any]:
    """Give the JSON Schema of the strict response format: each tool's name with the arguments of that tool.

    It refers to nothing outside of itself: what the tools' schemas refer to stands in its `$defs`. The tools' schemas
    are taken as they are otherwise, so a server's wishes, such as `additionalProperties: false`, are theirs to fulfil.

    >>> schema = response_json_schema([{"name": "now"}])
    >>> schema["required"], schema["properties"]["tool_call"]["anyOf"][0]["properties"]["name"]
    (['message', 'tool_call'], {'type': 'string', 'enum': ['now']})

    Args:
        tools: the tools, as OpenAI tool dicts or `Tool`s. `None`: any name with any arguments.
        multiple: the calls stand in an array `tool_calls`, rather than one in `tool_call`.
        tool_choice: `"auto"`, `"required"` for at least one call, or the name of the one tool that may be called.

    Raises:
        TypeError: `tools` is no list of tools.
        ToolDefinitionError: a declaration that cannot be read, a schema that refers to what is not in it, or a
            `tool_choice` that is not declared.
    """
    declared = None if tools is None else declare_tools(tools)
    is_required = tool_choice != "auto"
    if tool_choice not in {"auto", "required"}:
        if tool_choice not in (declared or ()):
            names = ", ".join(declared or ()) or "none"
            raise ToolDefinitionError(f"tool_choice {tool_choice!r} is not declared; declared: {names}")
        declared = {name: tool for name, tool in (declared or {}).items() if name == tool_choice}
    definitions: dict[str, Any] = {}
    if declared is None:
        calls = [_call({"type": "string", "minLength": 1}, {"type": "object"})]
    else:
        calls = [
            _call({"type": "string", "enum": [tool.name]}, _Lifting(tool, definitions).arguments())
            for tool in declared.values()
        ]
    if multiple:
        key, value = "tool_calls", _array(calls, is_required=is_required)
    else:
        key, value = "tool_call", _any_of(calls if is_required else [*calls, {"type": "null"}])
    schema = _object({"message": {"type": "string"}, key: value})
    if definitions:
        schema["$defs"] = definitions
    return schema


def _call(name: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    return _object({"name": name, "arguments": arguments})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: list[dict[str, Any]], *, is_required: bool) -> dict[str, Any]:
    if not items:
        return {"type": "array", "items": {"type": "null"}, "maxItems": 0}
    return {"type": "array", "items": _any_of(items), **({"minItems": 1} if is_required else {})}


def _any_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


@final
class _Lifting:
    """Moves one tool's schema into another schema: all that it refers to goes into that one's `$defs`.

    Args:
        tool: the tool.
        definitions: the `$defs` of the other schema, which grows.
    """

    def __init__(self, tool: Tool, definitions: dict[str, Any]) -> None:
        self._tool = tool
        self._definitions = definitions
        self._names: dict[str, str] = {}
        """The names in `definitions`, by the references that stand for them in the tool's own schema."""

    def arguments(self) -> dict[str, Any]:
        """Give the schema of the tool's arguments, which are an object in any case."""
        parameters = self._tool.parameters
        if not parameters:
            return {"type": "object", "properties": {}, "additionalProperties": False}
        return {**self._moved(parameters), "type": "object"}

    def _moved(self, schema: Any) -> Any:  # noqa: ANN401 (a schema is an object or a boolean)
        if not isinstance(schema, Mapping):
            return schema
        return {key: self._moved_value(key, value) for key, value in schema.items() if key not in _LEFT_OUT}

    def _moved_value(self, key: str, value: Any) -> Any:  # noqa: ANN401 (the value of any keyword)
        if key == "$ref":
            return f"#/$defs/{self._lifted(str(value))}"
        if key in _BY_NAME and isinstance(value, Mapping):
            return {name: self._moved(inner) for name, inner in value.items()}
        if key in _OF_LIST and isinstance(value, list):
            return [self._moved(inner) for inner in value]
        return self._moved(value) if key in _OF_ONE else deepcopy(value)

    def _lifted(self, reference: str) -> str:
        """Lift what a reference stands for, once, and give its name."""
        if reference not in self._names:
            target = self._target(reference)
            # Never a bare word: llama.cpp names the rules of its grammar after these, beside `string` and the like.
            last = reference.rpartition("/")[2].lstrip("#") or "arguments"
            wanted = _UNSAFE.sub("_", f"{self._tool.name}-{last}")
            name, number = wanted, 2
            while name in self._definitions:
                name, number = f"{wanted}-{number}", number + 1
            self._names[reference] = name
            self._definitions[name] = None  # the name is taken, also for what refers to itself
            self._definitions[name] = self._moved(target)
        return self._names[reference]

    def _target(self, reference: str) -> Any:  # noqa: ANN401 (what a pointer points to)
        pointer = unquote(reference)
        found: Any = self._tool.parameters
        if pointer == "#":
            return found
        if pointer.startswith("#/"):
            try:
                for part in pointer[2:].split("/"):
                    key = part.replace("~1", "/").replace("~0", "~")
                    found = found[int(key)] if isinstance(found, list) else found[key]
            except (KeyError, IndexError, TypeError, ValueError):
                pass
            else:
                return found
        raise ToolDefinitionError(
            f"the parameters of {self._tool.name} refer to {reference!r}, which is not in them: "
            "put it into their $defs, and refer to it as #/$defs/NAME"
        )
