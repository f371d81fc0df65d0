"""Counts the code of the extractor: modules, lines, patterns, the longest function, and where options are spelled.

Run it on one tree, or on two to compare them:

    python tools/count_code.py
    python tools/count_code.py ../older-clone .
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_CORE = ("", "calls", "formats", "reading", "stream")
"""The packages of `llama3_tools` that take a text apart; the first is the package itself."""

_OPTION = "starts_reasoning"
"""An option that every reader of text takes: where it stands, options are spelled."""


class Counts(NamedTuple):
    """What was counted in one tree."""

    modules: int
    lines: int
    patterns: int
    longest: int
    longest_name: str
    generators: int
    option_modules: int


def count(root: Path) -> Counts:
    """Return the counts of the tree that begins at a folder."""
    trees = [(path, ast.parse(path.read_text("utf-8"))) for path in sorted(_modules(root))]
    functions = [
        (_length(node), f"{path.stem}.{node.name}", _is_generator(node))
        for path, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]
    longest, longest_name, _ = max(functions)
    sources = [path for folder in ("shared", "integrations") for path in (root / folder).rglob("*.py")]
    return Counts(
        modules=len(trees),
        lines=sum(len(path.read_text("utf-8").splitlines()) for path, _ in trees),
        patterns=sum(_is_pattern(node) for _, tree in trees for node in ast.walk(tree)),
        longest=longest,
        longest_name=longest_name,
        generators=sum(is_generator for _, _, is_generator in functions),
        option_modules=sum(_OPTION in path.read_text("utf-8") for path in sources),
    )


def _modules(root: Path) -> Iterator[Path]:
    package = root / "shared" / "llama3_tools"
    for folder in _CORE:
        yield from (path for path in (package / folder).glob("*.py") if path.name != "_version.py")


def _is_pattern(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"


def _is_generator(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function))


def _length(function: ast.FunctionDef) -> int:
    """Return how many lines a function has without its docstring."""
    body = function.body
    has_docstring = ast.get_docstring(function, clean=False) is not None
    docstring = (body[0].end_lineno or 0) - body[0].lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def main(roots: list[str]) -> None:
    """Print the counts of each tree as a table in Markdown."""
    counted = [count(Path(root)) for root in roots]
    rows = {
        "modules": [f"{one.modules}" for one in counted],
        "lines": [f"{one.lines:,}" for one in counted],
        "compiled patterns": [f"{one.patterns}" for one in counted],
        "lines of the longest function": [f"{one.longest} (`{one.longest_name}`)" for one in counted],
        "generators": [f"{one.generators}" for one in counted],
        f"modules that name `{_OPTION}`": [f"{one.option_modules}" for one in counted],
    }
    print("| |" + "".join(f" {root} |" for root in roots))  # noqa: T201 (its purpose)
    print("|---|" + "--:|" * len(roots))  # noqa: T201
    for name, cells in rows.items():
        print(f"| {name} |" + "".join(f" {cell} |" for cell in cells))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:] or ["."])
