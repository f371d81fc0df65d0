"""A JSON Schema taken apart, as far as types go: draft 2020-12, and what pydantic and OpenAI make of it.

A schema becomes a `Node`: the alternatives that there are for a value, each of them a `Shape`. References, `allOf`,
`anyOf` and `oneOf` are resolved on the way, piece by piece as values ask for them: a schema may refer to itself.
Whatever is odd, remote or not about types restricts nothing: what is valid always fits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from llama3_tools.arguments.equality import AllowedValues
from llama3_tools.arguments.patterns import readable
from llama3_tools.arguments.references import resolve_reference
from llama3_tools.arguments.wording import ANYTHING, MAX_NAMED, either, json_type, written
from llama3_tools.values import shortened

_TYPES = {
    "string": frozenset({"string"}),
    "integer": frozenset({"integer"}),
    "number": frozenset({"integer", "number"}),
    "boolean": frozenset({"boolean"}),
    "array": frozenset({"array"}),
    "object": frozenset({"object"}),
    "null": frozenset({"null"}),
}
"""What each type takes, in the order in which they are named."""
_EVERY_NAME = re.compile("")
_CONDITIONALS = ("if", "dependentSchemas", "$dynamicRef", "$recursiveRef")

# Beyond these, the rest of a schema restricts nothing.
_MAX_ALTERNATIVES = 128
_MAX_NESTING = 64
_MAX_STEPS = 1000
_MAX_NAMED_LEVELS = 3  # of arrays in arrays


class Property(NamedTuple):
    """What an object's shape says about one name."""

    node: Node
    """The schema of its value."""
    is_known: bool
    """Whether the name is declared, or any name is welcome."""
    is_forbidden: bool
    """Whether the name is not allowed, rather than just not declared."""


class Shape:
    """One alternative of a schema: all that a value must be at once."""

    __slots__ = ("_item", "_parts", "_properties", "_reader", "allowed", "required", "types")

    def __init__(self, parts: Sequence[_Part], reader: SchemaReader) -> None:
        self._parts = parts
        self._reader = reader
        self._properties: dict[str, Property] = {}
        self._item: Node | None = None
        self.types: frozenset[str] | None = None
        """The JSON types that are allowed; `None` for all of them."""
        for part in parts:
            if part.types is not None:
                self.types = part.types if self.types is None else self.types & part.types
        self.allowed = [part.allowed for part in parts if part.allowed is not None]
        """Lists of values; the value must be in each of them."""
        self.required = list(dict.fromkeys(chain.from_iterable(part.required for part in parts)))
        """The names that an object must have."""

    @property
    def names(self) -> list[str]:
        """The declared properties."""
        return list(dict.fromkeys(chain.from_iterable(part.properties for part in self._parts)))

    @property
    def has_prefix(self) -> bool:
        """Whether items have schemas by their position."""
        return any(part.prefix for part in self._parts)

    @property
    def has_items(self) -> bool:
        """Whether items have schemas at all."""
        return any(part.prefix or part.items is not True for part in self._parts)

    def admits(self, value: object) -> bool:
        """Return whether the value itself fits, whatever is inside it."""
        if self.types is not None and json_type(value) not in self.types:
            return False
        return not self.allowed or all(value in allowed for allowed in self.allowed)

    def words(self, levels: int) -> list[str]:
        """Return what there is for a value, each in words, with the items of arrays to so many levels."""
        if self.allowed:
            return [written(value) for value in self.allowed[0].values if self.admits(value)]
        if self.types is None:
            return [ANYTHING]
        words = [kind for kind in _TYPES if kind in self.types and not (kind == "integer" and "number" in self.types)]
        if "array" in words and levels and not self.has_prefix:
            items = self.item(0).words(levels - 1)
            if items and items != [ANYTHING]:
                of = f"({either(items)})" if len(items) > 1 else items[0]
                words[words.index("array")] = f"array of {of}"
        return words

    def property(self, name: str) -> Property:
        """Return what is said about a property of this name."""
        found = self._properties.get(name)
        if found is None:
            found = self._read_property(name)
            if any(name in part.properties for part in self._parts):  # names that a model made up are not kept
                self._properties[name] = found
        return found

    def item(self, index: int) -> Node:
        """Return the schema of the item at an index."""
        if self._item is not None:
            return self._item
        node = self._reader.node(*(part.of_item(index) for part in self._parts))
        if not self.has_prefix:
            self._item = node
        return node

    def _read_property(self, name: str) -> Property:
        schemas: list[Any] = []
        is_known = is_forbidden = is_closed = False
        for part in self._parts:
            declared = part.of_property(name)
            if declared:
                schemas += declared
            elif part.additional is False:
                is_forbidden = True
            elif part.additional is not None:
                schemas.append(part.additional)
            else:
                is_closed = is_closed or part.has_properties
                continue
            is_known = True
        node = self._reader.node(*schemas)
        return Property(node, not is_forbidden and (is_known or not is_closed), is_forbidden)


class Node:
    """A schema, as the alternatives that there are for a value."""

    __slots__ = ("_declared", "_folded", "shapes", "types")

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._declared: str | None = None
        self._folded: dict[str, set[str]] | None = None
        self.shapes = shapes
        self.types = frozenset(chain.from_iterable(_TYPES if shape.types is None else shape.types for shape in shapes))
        """The JSON types that at least one alternative allows."""

    def admits(self, value: object) -> bool:
        """Return whether the value itself fits one of the alternatives, whatever is inside it."""
        for shape in self.shapes:  # noqa: SIM110 (most have one, and a generator takes as long as all the rest)
            if shape.admits(value):
                return True
        return False

    @property
    def declared(self) -> str:
        """The schema in a few words: `array of (integer or null)`."""
        if self._declared is None:
            self._declared = shortened(either(self.words(_MAX_NAMED_LEVELS)))
        return self._declared

    def words(self, levels: int) -> list[str]:
        """Return the alternatives, each in words."""
        return list(dict.fromkeys(chain.from_iterable(shape.words(levels) for shape in self.shapes[:MAX_NAMED])))

    @property
    def is_constant(self) -> bool:
        """Whether at most one value fits."""
        return all(any(len(allowed.values) == 1 for allowed in shape.allowed) for shape in self.shapes)

    def strings_like(self, text: str) -> set[str]:
        """Return the strings of all enums and constants that differ from a text only in case, or in space around it."""
        if self._folded is None:
            folded: dict[str, set[str]] = {}
            for allowed in chain.from_iterable(shape.allowed for shape in self.shapes):
                for value in allowed.values:
                    if isinstance(value, str):
                        folded.setdefault(value.casefold(), set()).add(value)
            self._folded = folded  # once it is whole: other threads may ask, too
        return self._folded.get(text.strip().casefold(), set())


class SchemaReader:
    """Reads one root schema, each piece of it once."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._nodes: dict[tuple[int, ...], Node] = {}
        self._parts: dict[int, _Part] = {}
        self._steps = 0

    def node(self, *schemas: object) -> Node:
        """Return what one schema says, or several schemas of the same value at once."""
        schemas = tuple(schema for schema in schemas if schema is not True)
        if len(schemas) == 1:
            schemas = (self._referred(schemas[0]),)
        key = tuple(map(id, schemas))  # the root keeps each of them alive
        node = self._nodes.get(key)
        if node is None:
            self._steps = 0
            node = self._nodes[key] = Node([Shape(parts, self) for parts in self._all(schemas, frozenset())])
        return node

    def _referred(self, schema: object) -> object:
        """Follow a schema that is nothing but a reference, so that a recursive schema has few nodes."""
        for _ in range(_MAX_NESTING):
            if not isinstance(schema, Mapping) or len(schema) != 1 or "$ref" not in schema:
                break
            schema = resolve_reference(self._root, schema["$ref"])
        return schema

    def _all(self, schemas: Sequence[object], active: frozenset[int]) -> list[tuple[_Part, ...]]:
        found: list[tuple[_Part, ...]] = [()]
        for schema in schemas:
            found = _combined(found, self._alternatives(schema, active))
        return found

    def _alternatives(self, schema: object, active: frozenset[int]) -> list[tuple[_Part, ...]]:
        """Return the alternatives of a schema: of each, the parts that a value must fit at once."""
        self._steps += 1
        if schema is False:
            return [(_Part({"enum": []}),)]
        is_endless = id(schema) in active or len(active) > _MAX_NESTING or self._steps > _MAX_STEPS
        if not isinstance(schema, Mapping) or is_endless or ("$id" in schema and schema is not self._root):
            return [()]
        active |= {id(schema)}
        inner = [*_listed(schema, "allOf")]
        if "$ref" in schema:
            inner.append(resolve_reference(self._root, schema["$ref"]))
        found = _combined([(self._part(schema),)], self._all(inner, active))
        for key in ("anyOf", "oneOf"):
            if branches := _listed(schema, key):
                found = _combined(found, [one for branch in branches for one in self._alternatives(branch, active)])
        if schema.get("nullable") is True:
            found.append((_Part({"type": "null"}),))
        return found

    def _part(self, schema: Mapping[str, Any]) -> _Part:
        part = self._parts.get(id(schema))
        if part is None:
            part = self._parts[id(schema)] = _Part(schema)
        return part


class _Part:
    """What one schema object says by itself, without what it refers to."""

    __slots__ = (
        "additional",
        "allowed",
        "has_properties",
        "items",
        "patterns",
        "prefix",
        "properties",
        "required",
        "types",
    )

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.types = _types(schema.get("type"))
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        self.allowed = AllowedValues(values) if isinstance(values, list) else None
        if self.allowed is not None and self.types is None:
            self.types = frozenset(map(json_type, self.allowed.values))
        properties = schema.get("properties")
        self.has_properties = isinstance(properties, Mapping)
        self.properties: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
        self.patterns = _patterns(schema.get("patternProperties"))
        self.additional = schema.get("additionalProperties")
        if self.additional is None and (
            schema.get("unevaluatedProperties") or any(map(schema.__contains__, _CONDITIONALS))
        ):
            self.additional = True  # other names may be declared elsewhere
        self.required = [name for name in _listed(schema, "required") if isinstance(name, str)]
        self.items = schema.get("items", True)
        self.prefix = _listed(schema, "prefixItems")
        if isinstance(self.items, list):  # as it was before draft 2020-12
            self.prefix, self.items = self.items, schema.get("additionalItems", True)

    def of_property(self, name: str) -> list[Any]:
        """Return the schemas of a property that is declared here."""
        found = [self.properties[name]] if name in self.properties else []
        return found + [schema for pattern, schema in self.patterns if pattern.search(name)]

    def of_item(self, index: int) -> Any:  # noqa: ANN401 (a schema may be anything)
        """Return the schema of the item at an index."""
        return self.prefix[index] if index < len(self.prefix) else self.items


def _combined(some: list[tuple[_Part, ...]], others: list[tuple[_Part, ...]]) -> list[tuple[_Part, ...]]:
    if len(some) * len(others) > _MAX_ALTERNATIVES:
        return some
    return [one + other for one in some for other in others]


def _types(declared: object) -> frozenset[str] | None:
    names = declared if isinstance(declared, list) else [declared]
    found = [_TYPES.get(name) if isinstance(name, str) else None for name in names]
    known = [types for types in found if types is not None]
    return frozenset(chain.from_iterable(known)) if known and len(known) == len(found) else None


def _patterns(declared: object) -> list[tuple[re.Pattern[str], Any]]:
    items = declared.items() if isinstance(declared, Mapping) else ()
    read = ((readable(str(pattern)), schema) for pattern, schema in items)
    return [(_EVERY_NAME, True) if regex is None else (regex, schema) for regex, schema in read]


def _listed(schema: Mapping[str, Any], key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []
