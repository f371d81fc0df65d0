"""Holds the stand-ins of servers to the servers: what they declare is there, and is called in the same way."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_STAND_INS = Path(__file__).parent / "stand_ins"


def is_itself(server: str) -> bool:
    """Whether a server's own package is installed, so that the stand-in is not taken."""
    spec = importlib.util.find_spec(server)
    return spec is not None and _STAND_INS not in Path(spec.origin or "/").parents


def declared(server: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """The classes of a stand-in, each with its module."""
    for file in sorted((_STAND_INS / server).rglob("*.py")):
        module = ".".join(file.relative_to(_STAND_INS).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                yield module, node


def missing(module: str, stand_in: ast.ClassDef) -> list[str]:
    """What a class of a stand-in has, and that of the server does not: fields, methods, and how they are called."""
    own = getattr(importlib.import_module(module), stand_in.name, None)
    if own is None:
        return [f"{module}.{stand_in.name}"]
    fields = {**getattr(own, "model_fields", {}), **getattr(own, "__dataclass_fields__", {}), **vars(own)}
    wrong = []
    for node in stand_in.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id not in fields:
            wrong.append(node.target.id)
        elif isinstance(node, ast.FunctionDef):
            method = getattr(own, node.name, None)
            if method is None:
                wrong.append(node.name)
            elif not _takes(inspect.signature(method), node, is_bound=inspect.ismethod(method)):
                wrong.append(f"{node.name}{inspect.signature(method)}")
    return wrong


def _takes(signature: inspect.Signature, node: ast.FunctionDef, *, is_bound: bool) -> bool:
    """Whether what may be called as the stand-in declares it may be called so: nothing more has to be given."""
    positional = [argument.arg for argument in node.args.args][is_bound:]
    given: dict[str, Any] = dict.fromkeys(argument.arg for argument in node.args.kwonlyargs)
    try:
        bound = signature.bind(*positional, **given)
    except TypeError:
        return False
    return [name for name, value in bound.arguments.items() if value == name] == positional
