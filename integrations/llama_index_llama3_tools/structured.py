"""Structured output: the objects of a stream while the model writes them."""

from __future__ import annotations

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms.utils import parse_partial_json
from llama_index.core.program.utils import create_flexible_model

from llama3_tools import Tool
from llama3_tools.chat import arguments_so_far


class GrowingObject:
    """An object of a class as far as a model has written it.

    >>> class Person(BaseModel):
    ...     name: str
    ...     age: int
    >>> growing = GrowingObject(Person, Tool("Person", parameters=Person.model_json_schema()))
    >>> growing.add('{"name": "Person", "parameters": {"name": "Al", "ag')
    FlexiblePerson(name='Al', age=None)
    >>> growing.add('{"name": "Person", "parameters": {"name": "Al", "age": 3')
    Person(name='Al', age=3)
    """

    def __init__(self, output_cls: type[BaseModel], tool: Tool, *, starts_reasoning: bool = False) -> None:
        """Begin with nothing. `tool` is the one whose arguments the object is."""
        self._output_cls, self._flexible = output_cls, create_flexible_model(output_cls)
        self._tool, self._starts_reasoning = tool, starts_reasoning
        self._seen: object = None

    def add(self, written: str) -> BaseModel | None:
        """Return the object so far, of its class if it fits by now; `None` if it has not grown."""
        found = arguments_so_far(written, self._tool, parse_partial_json, starts_reasoning=self._starts_reasoning)
        if not found or found == self._seen:
            return None
        self._seen = found
        try:
            return self._output_cls.model_validate(found)
        except Exception:  # noqa: BLE001 (a validator of a half object raises what it likes)
            return self._flexible.model_validate(found)
