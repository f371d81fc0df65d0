"""Counts the code of the extractor: modules, lines, patterns, the longest function, and where options are spelled.

The extractor is `llama3_tools/extractor.py` and what it imports, directly or not, wherever that lives. What reads
no text is left out: the values, the errors, the declarations of tools, and the arguments' schemas.

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

_READS_NO_TEXT = {"arguments", "declared", "errors", "schema_check", "schemas", "tools", "values"}
"""The packages and modules that are left out, under their old and new names."""

_OPTION = "starts_reasoning"
"""An option that every reader of text takes: where it stands, options are spelled."""


class Counts(NamedTuple):
    """What was counted in one tree."""

    modules: int
    lines: int
    statements: int
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
        statements=sum(isinstance(node, ast.stmt) for _, tree in trees for node in ast.walk(tree)),
        patterns=sum(_is_pattern(node) for _, tree in trees for node in ast.walk(tree)),
        longest=longest,
        longest_name=longest_name,
        generators=sum(is_generator for _, _, is_generator in functions),
        option_modules=sum(_OPTION in path.read_text("utf-8") for path in sources),
    )


def _modules(root: Path) -> set[Path]:
    """Return the extractor's modules."""
    shared = root / "shared"
    found: set[Path] = set()
    waiting = [shared / "llama3_tools" / "extractor.py"]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(shared, ast.parse(path.read_text("utf-8")))
    return {path for path in found if _READS_NO_TEXT.isdisjoint((path.stem, path.parent.name))}


def _imported(shared: Path, tree: ast.Module) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "llama3_tools":
            where = shared.joinpath(*(node.module or "").split("."))
            named = [where / f"{alias.name}.py" for alias in node.names]
            modules = [where.with_suffix(".py"), where / "__init__.py", *named]
            yield from (
                module for module in modules if module.exists() and module != shared / "llama3_tools/__init__.py"
            )


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
        "statements": [f"{one.statements:,}" for one in counted],
        "compiled patterns": [f"{one.patterns}" for one in counted],
        "lines of the longest function": [f"{one.longest} (`{one.longest_name}`)" for one in counted],
        "generators": [f"{one.generators}" for one in counted],
        f"modules that name `{_OPTION}`": [f"{one.option_modules}" for one in counted],
    }
    print("| |" + "".join(f" {root} |" for root in roots))
    print("|---|" + "--:|" * len(roots))
    for name, cells in rows.items():
        print(f"| {name} |" + "".join(f" {cell} |" for cell in cells))


if __name__ == "__main__":
    main(sys.argv[1:] or ["."])
