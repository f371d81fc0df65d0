"""What changed since another run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from figures import Row

__all__ = ["changes", "figures_in", "figures_of"]

_NOISE = 0.1


def figures_of(measured: Mapping[str, Iterable[Row]]) -> dict[str, float]:
    """Return the figures that another run is compared with, by the table, the row and what they are."""
    return {
        f"{name}: {row.name}, {figure}": value
        for name, rows in measured.items()
        for row in rows
        for figure, value in row.figures.items()
    }


def changes(new: Mapping[str, float], old: Mapping[str, float]) -> Iterator[str]:
    """Yield which figures changed by more than a tenth, which is noise.

    >>> list(changes({"a": 3.0, "b": 1.0}, {"a": 2.0, "b": 1.05}))
    ['a: 2, now 3: +50%']
    """
    for name, figure in new.items():
        if name in old and abs(change := figure / old[name] - 1) > _NOISE:
            yield f"{name}: {old[name]:.3g}, now {figure:.3g}: {change:+.0%}"


def figures_in(path: Path) -> dict[str, float]:
    """Read the figures that another run wrote.

    Raises:
        OSError: the file cannot be read.
        ValueError: it has no figures.
    """
    written = path.read_text(encoding="utf-8")
    try:
        return {name: float(figure) for name, figure in json.loads(written)["figures"].items()}
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path} has no figures, as --json writes them") from error
