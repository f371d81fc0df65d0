"""The JSON Schema that holds a server to the form of an answer, and which servers refuse it."""

from __future__ import annotations

import logging
import re
import weakref
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Literal, TypeAlias

from llama3_tools.chat.endpoint_errors import EndpointFault, endpoint_fault, error_text, status_of
from llama3_tools.strict import response_json_schema
from llama3_tools.tools import Tool
from llama3_tools.tools.choice import ToolChoice

Constrain: TypeAlias = Literal["auto", "json_schema", "json_object", "off"]
"""How a server is held to a call that is due: by a schema in `response_format`, OpenAI's or that of llama-cpp-python.
`"auto"` is `"json_schema"`, and is given up for a server that refuses it. `"off"`: it is not."""

LONGEST_STRING = 200
"""How many characters a string has with `"json_object"`: a small model finds no end by itself, and the grammars of
llama-cpp-python's server know none."""

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
"""The names of such constraints: OpenAI's, Ollama's, llama.cpp's, vLLM's."""
_IN_BODY = {"extra_body", "model_kwargs", "additional_kwargs"}
"""Where clients take what is sent beside what they know."""


def answer_schema(
    tools: Iterable[Tool], *, tool_choice: ToolChoice, is_strict: bool, max_string: int | None = None
) -> dict[str, Any]:
    """Return the JSON Schema of an answer: of the strict response format, or of one call and nothing else.

    >>> answer_schema([Tool("now")], tool_choice="required", is_strict=False)["properties"]["name"]
    {'type': 'string', 'enum': ['now']}

    Args:
        tools: those that may be called.
        tool_choice: `"auto"`, `"required"`, or the name of the one tool to call.
        is_strict: whether the answer is in the strict response format, in which it may be words.
        max_string: how many characters a string has at most.

    Raises:
        ToolDefinitionError: a schema refers to what is not in it.
    """
    schema = response_json_schema(tools, tool_choice=tool_choice, max_string=max_string)
    if is_strict:
        return schema
    calls = schema["properties"]["tool_call"]
    branches = [_with_parameters(call) for call in calls.get("anyOf", [calls])]
    whole = dict(branches[0]) if len(branches) == 1 else {"anyOf": branches}
    return whole | ({"$defs": schema["$defs"]} if "$defs" in schema else {})


class ServerConstraint:
    """Whether the server of a model is held to the form of its answers, in one turn: until it refuses that.

    If the user's settings already name a form, that one is kept.

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
        self._may_drop = constrain == "auto"
        refusing = _REFUSING.get(id(model)) if self._may_drop else None
        is_free = not any(map(_is_held, (settings or {}, getattr(model, "__dict__", {}))))
        self.is_on = constrain != "off" and is_free and (refusing is None or refusing() is not model)
        """Whether the next request has the constraint."""
        self._was_refused = False

    def drop_if_refused(self, error: BaseException) -> bool:
        """Return whether an error may be the refusal, so that the server is asked again without it."""
        status = status_of(error)
        may_be = _NAMES_IT.search(str(error)) is not None if status is None else status in _REFUSALS
        if not (self.is_on and self._may_drop and may_be) or endpoint_fault(error) in _OTHER_FAULTS:
            self._was_refused = False  # without it, the server fails as well
            return False
        self.is_on = False
        # A server in trouble is none that refuses: llama.cpp's, which does so with the same status, says what.
        self._was_refused = status != HTTPStatus.INTERNAL_SERVER_ERROR or bool(_SAYS_SO.search(error_text(error)))
        return True

    def remember_refusal(self) -> None:
        """Note that an answer came. If it came only without the constraint, remember the refusal, and log it once."""
        if self._was_refused:
            self._was_refused = False
            name = type(self._model).__name__
            _LOG.info("%s: the server does not take response_format, and is not asked with it again", name)
            _REFUSING[id(self._model)] = weakref.ref(self._model)


def _is_held(settings: Mapping[str, Any]) -> bool:
    """Return whether settings, or what they have for the request's body, hold a server to a form."""
    if any(settings.get(name) for name in _CONSTRAINTS):
        return True
    return any(isinstance(body := settings.get(name), Mapping) and _is_held(body) for name in _IN_BODY)


def _with_parameters(call: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a call, with the key for the arguments that the prompt uses."""
    properties = {"name": call["properties"]["name"], "parameters": call["properties"]["arguments"]}
    return {**call, "properties": properties, "required": list(properties)}
