"""The JSON Schema of the strict response format, narrowed to the declared tools, for a server that decodes by it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, final

from llama3_tools.arguments.references import resolve_reference
from llama3_tools.errors import ToolDefinitionError
from llama3_tools.tools import Tool, ToolLike, declare_tools
from llama3_tools.tools.choice import ToolChoice, require_tool_choice
from llama3_tools.tools.schema_check import WITH_NAMED, WITH_ONE, WITH_SEVERAL

_REFERENCES = ("$dynamicRef", "$recursiveRef", "$ref")
_BY_NAME = ("dependencies", *WITH_NAMED)
_LEFT_OUT = (
    *("$defs", "definitions"),  # lifted where it is used
    *("$anchor", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary"),  # of a separate document
    *("discriminator", "nullable"),  # OpenAPI's: the one points to what is lifted, the other is written out
)
_ALLOWING = frozenset({"dependencies", "dependentSchemas", "patternProperties", *WITH_ONE, *WITH_SEVERAL, *_REFERENCES})
"""What may allow names that `properties` does not have."""
_FORMATS = ("date", "date-time", "time", "uuid")
"""What a server writes out itself, with an end."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def response_json_schema(
    tools: Iterable[ToolLike] | None,
    *,
    multiple: bool = False,
    tool_choice: ToolChoice = "auto",
    max_string: int | None = None,
) -> dict[str, Any]:
    """Return the JSON Schema of the strict response format: each tool's name with the arguments of that tool.

    It refers to nothing outside of itself: what the tools' schemas refer to is in its `$defs`. The tools' schemas
    are taken as they are otherwise, so a server's wishes, such as `additionalProperties: false`, are theirs to fulfil;
    but a tool without properties takes none, and OpenAPI's `nullable` is written out.

    >>> schema = response_json_schema([{"name": "now"}])
    >>> schema["required"], schema["properties"]["tool_call"]["anyOf"][0]["properties"]["name"]
    (['message', 'tool_call'], {'type': 'string', 'enum': ['now']})

    Args:
        tools: the tools, as tool dicts or `Tool`s. `None`: any name with any arguments.
        multiple: the calls are in an array `tool_calls`, rather than one in `tool_call`.
        tool_choice: `"auto"`, `"required"` for at least one call, or the name of the one tool that may be called.
        max_string: the most characters of a string, for a server whose strings may contain raw line breaks and need not
            end, such as llama-cpp-python's. Each string of the schema gets a `pattern` then, unless it has one: no line
            break, quotation mark or backslash, and an end.

    Raises:
        TypeError: `tools` is not a list of tools, or `tool_choice` is not a `str`.
        ValueError: `max_string` is not a positive number.
        ToolDefinitionError: a declaration that cannot be read, a schema that refers to what is not in it, or a
            `tool_choice` that the tools do not allow.
    """
    if max_string is not None and max_string < 1:
        raise ValueError(f"max_string is the most characters of a string, 1 or more, not {max_string}")
    declared = None if tools is None else declare_tools(tools)
    require_tool_choice(tool_choice, declared)
    is_required = tool_choice != "auto"
    if declared is not None and tool_choice not in {"auto", "required"}:
        declared = {tool_choice: declared[tool_choice]}
    definitions: dict[str, Any] = {}
    if declared is None:
        calls = [_call(_ending({"type": "string", "minLength": 1}, max_string), {"type": "object"})]
    else:
        calls = [
            _call({"type": "string", "enum": [tool.name]}, _Lifting(tool, definitions, max_string).arguments())
            for tool in declared.values()
        ]
    if multiple:
        key, value = "tool_calls", _array(calls, is_required=is_required)
    else:
        key, value = "tool_call", _any_of(calls if is_required else [*calls, {"type": "null"}])
    schema = _object({"message": _ending({"type": "string"}, max_string), key: value})
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


def _ending(schema: dict[str, Any], max_string: int | None) -> dict[str, Any]:
    """Limit a schema's string to one line of a fixed length, unless the schema already says what it may contain."""
    kind = schema.get("type")
    if max_string is None or schema.keys() & {"const", "enum", "pattern"} or schema.get("format") in _FORMATS:
        return schema
    if isinstance(kind, list) and "string" in kind:  # llama-cpp-python looks at nothing else beside several types
        return _any_of([_ending({**schema, "type": one}, max_string) for one in kind])
    if kind != "string":
        return schema
    least, most = (schema.get(key) for key in ("minLength", "maxLength"))
    least = least if isinstance(least, int) else 0
    most = max(least, min(most, max_string) if isinstance(most, int) else max_string)
    return {**schema, "pattern": rf'^[^"\\\x00-\x1F]{{{least},{most}}}$'}


@final
class _Lifting:
    """Moves one tool's schema into another schema: all that it refers to goes into that one's `$defs`.

    Args:
        tool: the tool.
        definitions: the `$defs` of the other schema, which grows.
        max_string: the most characters of a string; `None`: any number.
    """

    def __init__(self, tool: Tool, definitions: dict[str, Any], max_string: int | None) -> None:
        self._tool = tool
        self._definitions = definitions
        self._max_string = max_string
        self._names: dict[str, str] = {}
        """The names in `definitions`, by their references in the tool's own schema."""

    def arguments(self) -> dict[str, Any]:
        """Return the schema of the tool's arguments, which are an object in any case."""
        schema = self._tool.arguments_schema
        takes_none = schema.get("properties") == {} and not self._tool.requires_arguments
        closed = {"additionalProperties": False} if takes_none and not schema.keys() & _ALLOWING else {}
        return {**self._keywords(schema), "type": "object", **closed}

    def _moved(self, schema: Any) -> Any:  # noqa: ANN401 (a schema is an object or a boolean)
        if not isinstance(schema, Mapping):
            return deepcopy(schema)
        moved = _ending(self._keywords(schema), self._max_string)
        return _any_of([moved, {"type": "null"}]) if schema.get("nullable") is True else moved

    def _keywords(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "$ref" if key in _REFERENCES else key: self._keyword(key, value)
            for key, value in schema.items()
            if key not in _LEFT_OUT
        }

    def _keyword(self, key: str, value: Any) -> Any:  # noqa: ANN401 (the value of any keyword)
        if key in _REFERENCES:
            return f"#/$defs/{self._lifted(str(value))}"
        if key in _BY_NAME and isinstance(value, Mapping):
            return {name: self._moved(inner) for name, inner in value.items()}
        if key in (*WITH_ONE, *WITH_SEVERAL):
            return [self._moved(inner) for inner in value] if isinstance(value, list) else self._moved(value)
        return deepcopy(value)

    def _lifted(self, reference: str) -> str:
        """Copy what a reference means to the definitions, once, and return its name."""
        if reference not in self._names:
            target = resolve_reference(self._tool.parameters, reference, default=None)
            if not isinstance(target, (Mapping, bool)):
                raise ToolDefinitionError(
                    f"the parameters of {self._tool.name} refer to {reference!r}, which is not in them: "
                    "put it into their $defs, and refer to it as #/$defs/NAME"
                )
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
