"""What holds a server to the form of an answer, a JSON Schema or a grammar of llama.cpp's, and who refuses it."""

from __future__ import annotations

import json
import logging
import re
import weakref
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Literal, TypeAlias

from llama3_tools.chat.endpoint_errors import EndpointFault, endpoint_fault, status_of, told_by
from llama3_tools.strict import response_json_schema
from llama3_tools.tools import Tool
from llama3_tools.tools.choice import ToolChoice

Constrain: TypeAlias = Literal["auto", "json_schema", "grammar", "off"]
"""How a server is held to a call that is due: by a schema in OpenAI's `response_format`, or by llama.cpp's `grammar`.
`"auto"` is `"json_schema"`, and is given up for a server that refuses it. `"off"`: it is not."""

_LOG = logging.getLogger("llama3_tools")
_REFUSALS = {
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.INTERNAL_SERVER_ERROR,  # llama.cpp's, of a schema that it makes no grammar of
    HTTPStatus.NOT_IMPLEMENTED,
}
_SAYS_SO = re.compile("response_format|grammar|schema", re.IGNORECASE)
_NAMES_IT = re.compile(r"response_format|\bgrammar\b|\bextra_body\b|'format'")
"""How a client refuses that does not know the argument. Any other error without a status is not the server's word."""
_OTHER_FAULTS = {EndpointFault.NO_SCHEME, EndpointFault.PROXY, EndpointFault.NO_SUCH_MODEL}
"""What says nothing about the form of an answer."""
_REFUSING: dict[int, weakref.ref[object]] = {}
"""The models whose servers have refused a constraint."""
_GUIDED = {f"guided_{form}" for form in ("json", "regex", "choice", "grammar")}
_CONSTRAINTS = {"response_format", "format", "grammar", "json_schema", "structured_outputs", *_GUIDED}
"""The names of what holds a server: OpenAI's, Ollama's, llama.cpp's, vLLM's."""
_IN_BODY = {"extra_body", "model_kwargs", "additional_kwargs"}
"""Where clients take what is sent beside what they know."""
_JSON = r"""
object ::= "{" ws ( string ws ":" ws value ( ws "," ws string ws ":" ws value )* )? ws "}"
array ::= "[" ws ( value ( ws "," ws value )* )? ws "]"
value ::= object | array | string | number | "true" | "false" | "null"
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F]{4} )
integer ::= "-"? ( "0" | [1-9] [0-9]{0,15} )
number ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,15} )? ( [eE] [-+]? [0-9]{1,2} )?
ws ::= " "?
"""
_MESSAGE, _CALL = '"message": ', ', "tool_call": '
_SHORT_STRING = r'"\"" char{0,200} "\""'
"""A message has an end: a small model finds none by itself."""
_RULES = {
    "array": "array",
    "boolean": '( "true" | "false" )',
    "integer": "integer",
    "number": "number",
    "object": "object",
    "string": "string",
}
"""The rules for the types of JSON Schema."""


def answer_schema(tools: Iterable[Tool], *, tool_choice: ToolChoice, is_strict: bool) -> dict[str, Any]:
    """Return the JSON Schema of an answer: of the strict response format, or of one call and nothing else.

    >>> answer_schema([Tool("now")], tool_choice="required", is_strict=False)["properties"]["name"]
    {'type': 'string', 'enum': ['now']}

    Args:
        tools: those that may be called.
        tool_choice: `"auto"`, `"required"`, or the name of the one tool to call.
        is_strict: whether the answer is in the strict response format, in which it may be words.

    Raises:
        ToolDefinitionError: a schema refers to what is not in it.
    """
    schema = response_json_schema(tools, tool_choice=tool_choice)
    if is_strict:
        return schema
    calls = schema["properties"]["tool_call"]
    branches = [_with_parameters(call) for call in calls.get("anyOf", [calls])]
    whole = dict(branches[0]) if len(branches) == 1 else {"anyOf": branches}
    return whole | ({"$defs": schema["$defs"]} if "$defs" in schema else {})


def in_json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema as OpenAI's `response_format` has it."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


def tool_grammar(tools: Iterable[Tool], *, is_required: bool, is_strict: bool) -> str:
    r"""Return a grammar in llama.cpp's notation: the names of tools and parameters, and JSON of their types.

    >>> print(tool_grammar([Tool("now")], is_required=True, is_strict=False).splitlines()[1])
    call0 ::= "{\"name\": \"now\", \"parameters\": " "{}" "}"

    Args:
        tools: those that may be called.
        is_required: whether one has to be.
        is_strict: whether the answer is in the strict response format.
    """
    key = "arguments" if is_strict else "parameters"
    calls: list[str] = []
    for tool in tools:
        begin = _literal(f'{{"name": {json.dumps(tool.name)}, "{key}": ')
        calls.append(f'call{len(calls)} ::= {begin} {_arguments(tool.arguments_schema)} "}}"')
    names = [f"call{place}" for place in range(len(calls))]
    root = " | ".join(names if is_required else [*names, '"null"'])
    if is_strict:
        root = f"{_literal('{' + _MESSAGE)} {_SHORT_STRING} {_literal(_CALL)} ( {root} ) {_literal('}')}"
    return "\n".join([f"root ::= {root}", *calls]) + _JSON.rstrip()


class ServerConstraint:
    """Whether the server of a model is held to the form of its answers, in one turn: until it refuses that.

    Where the user holds it to another one, that stands.

    >>> hold = ServerConstraint(model := object.__new__(type("Model", (), {})), "auto")
    >>> hold.drop_if_refused(TypeError("unexpected keyword argument 'response_format'")), hold.is_on
    (True, False)
    >>> hold.remember_refusal()
    >>> ServerConstraint(model, "auto").is_on
    False
    """

    def __init__(self, model: object, constrain: Constrain, settings: Mapping[str, Any] | None = None) -> None:
        """Begin a turn.

        Args:
            model: the client's model, by which a refusal is remembered.
            constrain: how the server is held. With anything but `"auto"`, a refusal is an error.
            settings: what the user asks it with.
        """
        self._model = model
        self._is_tried = constrain == "auto"
        refusing = _REFUSING.get(id(model)) if self._is_tried else None
        is_free = not any(map(_is_held, (settings or {}, getattr(model, "__dict__", {}))))
        self.is_on = constrain != "off" and is_free and (refusing is None or refusing() is not model)
        """Whether it is."""
        self._is_let_go = False

    def drop_if_refused(self, error: BaseException) -> bool:
        """Return whether an error may be the refusal, so that the server is asked again without it."""
        status = status_of(error)
        may_be = _NAMES_IT.search(str(error)) is not None if status is None else status in _REFUSALS
        if not (self.is_on and self._is_tried and may_be) or endpoint_fault(error) in _OTHER_FAULTS:
            self._is_let_go = False  # without it, the server fails as well
            return False
        self.is_on = False
        # A server in trouble is none that refuses: llama.cpp's, which does so with the same status, says what.
        self._is_let_go = status != HTTPStatus.INTERNAL_SERVER_ERROR or bool(_SAYS_SO.search(told_by(error)))
        return True

    def remember_refusal(self) -> None:
        """Note that an answer came. If it came without the hold alone, a refusal is remembered, and logged once."""
        if self._is_let_go:
            self._is_let_go = False
            name = type(self._model).__name__
            _LOG.info("%s: the server does not take response_format, and is not asked with it again", name)
            _REFUSING[id(self._model)] = weakref.ref(self._model)


def _is_held(settings: Mapping[str, Any]) -> bool:
    """Return whether settings, or what they have for the request's body, hold a server to a form."""
    if any(settings.get(name) for name in _CONSTRAINTS):
        return True
    return any(isinstance(body := settings.get(name), Mapping) and _is_held(body) for name in _IN_BODY)


def _arguments(schema: Mapping[str, Any]) -> str:
    """Return what holds arguments to a schema: those that are required, in order, and then some of the others."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return "object"
    if not properties:
        return _literal("{}")
    needed = [name for name in schema.get("required") or () if name in properties]
    pairs = {
        name: f"{_literal(json.dumps(name))} ws {_literal(':')} ws {_value(properties[name])}" for name in properties
    }
    others = [pairs[name] for name in properties if name not in needed]
    comma = '"," ws'
    if needed:
        inside = f" {comma} ".join(pairs[name] for name in needed) + "".join(f" ( {comma} {pair} )?" for pair in others)
    else:
        any_of = f"( {' | '.join(others)} )"
        inside = f"( {any_of} ( {comma} {any_of} )* )?"
    return f'"{{" ws {inside} ws "}}"'


def _value(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return "value"
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(allowed, list) and allowed:
        return f"( {' | '.join(_literal(json.dumps(one)) for one in allowed)} )"
    return _RULES.get(str(schema.get("type")), "value")


def _literal(text: str) -> str:
    """Return a text as the grammar's notation writes it, which is like JSON's."""
    return json.dumps(text, ensure_ascii=False)


def _with_parameters(call: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a call in which the arguments are called as the prompt calls them."""
    properties = {"name": call["properties"]["name"], "parameters": call["properties"]["arguments"]}
    return {**call, "properties": properties, "required": list(properties)}
