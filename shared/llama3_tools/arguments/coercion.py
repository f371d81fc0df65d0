"""Arguments made to fit the types that their schema declares. `docs/arguments.md` has the rules in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from llama3_tools.arguments.literals import (
    is_bracketed,
    is_null_word,
    looks_like_container,
    read_boolean,
    read_container,
    read_number,
)
from llama3_tools.arguments.schema import Node, SchemaReader, Shape
from llama3_tools.arguments.wording import (
    MAX_LISTED,
    Path,
    json_path,
    json_type,
    listed,
    no_alternative,
    problem_at,
    unknown_name,
)
from llama3_tools.literals.json_depth import MAX_DEPTH
from llama3_tools.tools.declared import copied
from llama3_tools.tools.schema_check import require_parameters
from llama3_tools.values import ArgumentChange, ArgumentProblem, ProblemReason, fields_shown

_TOO_DEEP = "$: nested too deep to be looked at here"


@dataclass(frozen=True, slots=True)
class Coercion:
    """Arguments made to fit their schema, as far as possible without guessing."""

    arguments: dict[str, Any] = field(hash=False)
    """The arguments to call with. What did not change is shared with the arguments that were given."""
    changes: tuple[ArgumentChange, ...] = ()
    """What was changed, in the order of the arguments. After 1,000 changes, one more covers the rest."""
    problems: tuple[ArgumentProblem, ...] = ()
    """What does not fit, and was left as the model wrote it. After 1,000 problems, one more says so."""

    __repr__ = fields_shown


def coerce_arguments(arguments: dict[str, Any], schema: Mapping[str, Any]) -> Coercion:
    """Make a call's arguments fit the schema of its tool, by what the schema declares and by nothing else.

    A value that fits is left alone. Whatever a model may have written, nothing raises: what cannot be read as the
    declared type stays, and is reported.

    >>> schema = {"type": "object", "properties": {"labels": {"type": "array", "items": {"type": "string"}}}}
    >>> coerce_arguments({"labels": "['a', 'b']"}, schema).arguments
    {'labels': ['a', 'b']}

    Args:
        arguments: the arguments, with JSON values. They are not changed.
        schema: the `parameters` of the tool, a JSON Schema. What is odd in it restricts nothing.

    Raises:
        TypeError: `arguments` is not a dict, or `schema` is not a mapping.
        ToolDefinitionError: `schema` is a whole tool, is nested too deep, or has a name that is not a string.
    """
    return Coercer(schema).coerce(arguments)


class Coercer:
    """A schema, taken apart once for many calls of its tool. The schema must not change afterwards."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Make it from a tool's `parameters`.

        Raises:
            TypeError: `schema` is not a mapping.
            ToolDefinitionError: `schema` is a whole tool, is nested too deep, or has a name that is not a string.
        """
        require_parameters(schema)
        self._schema = schema
        self._reader = SchemaReader(schema)
        self._root: Node | None = None

    def coerce(self, arguments: dict[str, Any], *, depth: int = MAX_DEPTH - 1) -> Coercion:
        """Make arguments fit, as `coerce_arguments` does.

        Args:
            arguments: the arguments, with JSON values.
            depth: how many levels of objects and arrays they may have, counting themselves. Text that would
                exceed that stays text.

        Raises:
            TypeError: `arguments` is not a dict.
        """
        if not isinstance(arguments, dict):
            raise TypeError(f"arguments must be a dict, got {type(arguments).__name__}")
        try:
            return self._coerced(arguments, depth)
        except RecursionError:  # the caller's frames count, too, and there may be hardly one left
            problem = ArgumentProblem("$", "object", arguments, ProblemReason.TOO_DEEP, _TOO_DEEP)
            return Coercion(arguments, (), (problem,))

    def misfits(self, arguments: dict[str, Any]) -> Iterator[tuple[Path, ArgumentProblem]]:
        """Yield what does not fit in arguments as they are written, and where, by what the schema says of types."""
        found = _Run(0, may_change=False).fit(self._root or self._whole(), arguments, 0, may_wrap=False)
        return iter(()) if found is None else found.all_problems(())

    def _whole(self) -> Node:
        self._root = self._reader.node(self._schema)
        return self._root

    def _coerced(self, arguments: dict[str, Any], depth: int) -> Coercion:
        run = _Run(depth)
        found = run.fit(self._root or self._whole(), arguments, 0, may_wrap=False)
        if found is None:
            return Coercion(arguments)
        value = copied(found.value) if run.reads_twice and found.changes else found.value
        changes = tuple(islice(found.all_changes(()), MAX_LISTED + 1))
        if len(changes) > MAX_LISTED:
            changes = (*changes[:-1], ArgumentChange("$", found.node.declared, arguments, value))
        return Coercion(value, changes, listed(problem for _, problem in found.all_problems(())))


@dataclass(slots=True)
class _Fit:
    """What happened to a value and to what is inside it. A value that fits as it is has no entry."""

    node: Node
    before: Any
    value: Any
    """The value to go on with."""
    reason: ProblemReason | None = None
    """What is wrong with the value itself."""
    detail: str = ""
    """What to say about it, if not what was expected."""
    inside: list[tuple[str | int, _Fit]] = field(default_factory=list)
    """What is inside `value` and does not fit as it is."""
    closest: _Fit | None = None
    """Of the alternatives that are all wrong, the one with the fewest failures."""
    failures: int = 0
    """How many places do not fit."""
    strangers: int = 0
    """How many parameters are unknown."""
    changes: int = 0
    is_meant: bool = True
    """Whether the alternative can have been meant: not if a constant of it differs."""

    def all_changes(self, path: Path) -> Iterator[ArgumentChange]:
        if self.changes and (not self.inside or type(self.before) is not type(self.value)):
            yield ArgumentChange(json_path(path), self.node.declared, self.before, self.value)
        elif self.changes:
            for step, fit in self.inside:
                yield from fit.all_changes((*path, step))

    def all_problems(self, path: Path) -> Iterator[tuple[Path, ArgumentProblem]]:
        if self.reason is not None:
            declared = "" if self.reason is ProblemReason.UNKNOWN_PARAMETER else self.node.declared
            yield path, problem_at(path, declared, self.before, self.reason, detail=self._described(path))
        for step, fit in self.inside:
            yield from fit.all_problems((*path, step))

    def _described(self, path: Path) -> str:
        if self.closest is None:
            return self.detail
        _, problem = next(self.closest.all_problems(path))
        return no_alternative(problem)


class _Run:
    """One coercion. No schema makes it slow: each container is looked at once for each node, each text read once."""

    __slots__ = ("_levels", "_may_change", "_read", "_seen", "reads_twice")

    def __init__(self, levels: int, *, may_change: bool = True) -> None:
        self._levels = levels
        self._may_change = may_change
        # By ids, which stay the nodes' and values' own as long as these are kept here; and by depth.
        self._seen: dict[tuple[int, int, int], tuple[Node, object, _Fit | None]] = {}
        self._read: dict[int, tuple[str, list[Any] | dict[str, Any] | None]] = {}
        self.reads_twice = False
        """Whether one container may be in two places."""

    def fit(self, node: Node, value: Any, depth: int, *, may_wrap: bool) -> _Fit | None:  # noqa: ANN401 (JSON)
        """Make a value fit; `None` if it already does."""
        as_written = self._as_written(node, value, depth)
        if as_written is None or not as_written.failures or not self._may_change:
            return as_written
        best = as_written
        for reading in self._readings(node, value) if isinstance(value, str) else ():
            fit = self._changed(node, value, reading, depth)
            if not fit.failures:
                return fit
            if fit.reason in (None, ProblemReason.TOO_DEEP):  # a list or an object, with something that does not fit
                best = fit
        if may_wrap and _may_be_item(node, value):
            fit = self._changed(node, value, [value], depth)
            is_broken = isinstance(value, str) and looks_like_container(value) and not fit.inside
            if not fit.failures and not is_broken:
                return fit
        return best

    def _readings(self, node: Node, text: str) -> Iterator[object]:
        """Yield what a string that does not fit can be read as, of what the schema allows."""
        alike = node.strings_like(text)
        if len(alike) == 1:
            yield from alike
        types = node.types
        if "null" in types and is_null_word(text):
            yield None
        if "boolean" in types and (boolean := read_boolean(text)) is not None:
            yield boolean
        if not types.isdisjoint(("integer", "number")):
            number = read_number(text, integer="number" not in types)
            if number is not None:
                yield number
        if not types.isdisjoint(("array", "object")) and is_bracketed(text):
            if id(text) in self._read:
                self.reads_twice = True
            else:
                self._read[id(text)] = text, read_container(text)
            _, container = self._read[id(text)]
            if container is not None:
                yield container

    def _changed(self, node: Node, before: object, after: object, depth: int) -> _Fit:
        if not _is_within(after, self._levels - depth):
            detail = f"as a list or an object, it would be nested deeper than {self._levels} levels"
            return _Fit(node, before, before, ProblemReason.TOO_DEEP, detail, failures=1)
        fit = self._as_written(node, after, depth)
        return replace(fit, before=before, changes=1) if fit else _Fit(node, before, after, changes=1)

    def _as_written(self, node: Node, value: object, depth: int) -> _Fit | None:
        if not isinstance(value, (dict, list)):
            return None if node.admits(value) else _misfit(node, value)
        key = id(node), id(value), depth
        if key not in self._seen:
            self._seen[key] = node, value, self._container(node, value, depth)
        return self._seen[key][2]

    def _container(self, node: Node, value: dict[str, Any] | list[Any], depth: int) -> _Fit | None:
        """Choose among the alternatives: one that fits, else one that can be made to, else the one that is meant."""
        fits: list[_Fit] = []
        for shape in node.shapes:
            if shape.admits(value):
                fit = self._inside(node, shape, value, depth)
                if fit is None:
                    return None
                if fit.changes and not shape.admits(fit.value):
                    detail = f"the schema takes {node.declared} alone, and that does not fit its own parts"
                    fit = _Fit(node, value, value, ProblemReason.NOT_IN_ENUM, detail, failures=1)
                fits.append(fit)
        if not fits:
            return _misfit(node, value)
        fitting = [fit for fit in fits if not fit.failures]
        if fitting:
            chosen = min(fitting, key=lambda fit: (fit.changes > 0, fit.strangers, fit.changes))
            return chosen if chosen.inside else None
        meant = [fit for fit in fits if fit.is_meant]
        if len(meant) == 1 or len(fits) == 1:
            return (meant or fits)[0]
        closest = min(meant or fits, key=lambda fit: fit.failures)
        return _Fit(node, value, value, ProblemReason.NO_ALTERNATIVE, closest=closest, failures=1)

    def _inside(self, node: Node, shape: Shape, value: dict[str, Any] | list[Any], depth: int) -> _Fit | None:
        """Make what is inside fit one alternative."""
        if depth >= MAX_DEPTH:
            detail = f"nested deeper than {MAX_DEPTH} levels, which are not looked at"
            return _Fit(node, value, value, ProblemReason.TOO_DEEP, detail, failures=1)
        whole = _Fit(node, value, value)
        if isinstance(value, dict):
            self._add_members(whole, shape, value, depth + 1)
        elif shape.has_items:
            for index, item in enumerate(value):
                _add(whole, index, self.fit(shape.item(index), item, depth + 1, may_wrap=False))
        return whole if whole.inside else None

    def _add_members(self, whole: _Fit, shape: Shape, value: dict[str, Any], depth: int) -> None:
        for name, member in value.items():
            found = shape.property(name)
            if found.is_known:
                fit = self.fit(found.node, member, depth, may_wrap=True)
                if fit is None:
                    continue
                whole.is_meant = whole.is_meant and not (fit.failures and found.node.is_constant)
            elif not (found.is_forbidden or self._may_change):
                continue  # a name that is not declared is no misfit
            else:
                reason, detail = ProblemReason.UNKNOWN_PARAMETER, unknown_name(shape.names)
                fit = _Fit(found.node, member, member, reason, detail, failures=int(found.is_forbidden), strangers=1)
            _add(whole, name, fit)
        for name in shape.required:
            if name not in value:
                node = shape.property(name).node
                _add(whole, name, _Fit(node, None, None, ProblemReason.MISSING_PARAMETER, failures=1))


def _add(whole: _Fit, step: str | int, fit: _Fit | None) -> None:
    if fit is None:
        return
    if fit.changes:
        if whole.value is whole.before:
            whole.value = whole.before.copy()
        whole.value[step] = fit.value
    whole.inside.append((step, fit))
    whole.failures += fit.failures
    whole.strangers += fit.strangers
    whole.changes += fit.changes


def _misfit(node: Node, value: object) -> _Fit:
    reason = ProblemReason.NOT_IN_ENUM if json_type(value) in node.types else ProblemReason.WRONG_TYPE
    return _Fit(node, value, value, reason, failures=1)


def _may_be_item(node: Node, value: object) -> bool:
    """Return whether a bare value may become an array: not if it means nothing, or is a list, even a broken one."""
    if "array" not in node.types or any(shape.has_prefix for shape in node.shapes):
        return False
    if isinstance(value, str):
        return not is_null_word(value) and (value.lstrip().startswith("{") or not looks_like_container(value))
    kind = json_type(value)  # an object where objects are allowed has something wrong inside
    return kind not in ("array", "null", "") and not (kind == "object" and kind in node.types)


def _is_within(value: object, levels: int) -> bool:
    """Return whether a value has at most so many levels of objects and arrays."""
    layer = [value] if isinstance(value, (dict, list)) else []
    while layer and levels > 0:
        inner = chain.from_iterable(one.values() if isinstance(one, dict) else one for one in layer)
        layer = list({id(one): one for one in inner if isinstance(one, (dict, list))}.values())
        levels -= 1
    return not layer
