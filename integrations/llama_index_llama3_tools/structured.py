"""Structured output: the objects of a stream while the model writes them."""

from __future__ import annotations

from typing import Any

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms.utils import parse_partial_json
from llama_index.core.program.utils import create_flexible_model


class GrowingObject:
    """An object of a class as far as a model has written it.

    >>> class Person(BaseModel):
    ...     name: str
    ...     age: int
    >>> growing = GrowingObject(Person, "Person")
    >>> growing.add('{"name": "Person", "parameters": {"name": "Al", "ag')
    FlexiblePerson(name='Al', age=None)
    >>> growing.add('{"name": "Person", "parameters": {"name": "Al", "age": 3')
    Person(name='Al', age=3)
    """

    def __init__(self, output_cls: type[BaseModel], name: str, *, starts_reasoning: bool = False) -> None:
        """Begin with nothing.

        Args:
            output_cls: the class.
            name: the tool whose arguments the object is.
            starts_reasoning: whether the model begins with a thought.
        """
        self._output_cls, self._name, self._starts_reasoning = output_cls, name, starts_reasoning
        self._flexible = create_flexible_model(output_cls)
        self._seen: object = None

    def add(self, written: str) -> BaseModel | None:
        """Return the object so far, of its class if it fits by now; `None` if it has not grown.

        Args:
            written: what the model has written so far.
        """
        found: Any
        _, tag, text = written.rpartition("</think>")
        if "<think>" in text or (self._starts_reasoning and not tag):
            return None
        try:
            found = parse_partial_json(text[text.index("{") :])
        except (ValueError, RecursionError):  # no object yet, or one that cannot be read: the call at the end decides
            return None
        if isinstance(found.get("tool_call"), dict):  # of the strict response format
            found = found["tool_call"]
        if found.get("name") == self._name:
            found = found.get("parameters") or found.get("arguments")
        elif found.keys() <= {"name"}:  # which may be that of a call: the next key tells
            return None
        if not isinstance(found, dict) or found == self._seen:
            return None
        self._seen = found
        try:
            return self._output_cls.model_validate(found)
        except Exception:  # noqa: BLE001 (a validator of a half object raises what it likes)
            return self._flexible.model_validate(found)
