"""The tables of `make bfcl`: how many outputs are right, and why the others are not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bfcl_judging import ALL, COERCED, DECODER, PLAIN, READINGS, Judged
from bfcl_losses import is_read_alike, loss_of
from bfcl_package import Leaderboard
from figures import Row

__all__ = ["TABLES", "UNREADABLE", "below", "tables"]

TABLES = ("all", "models", "options", "losses", "undue", "categories")
"""What the tables are called in pages."""
UNREADABLE = "Hermes-2-Theta-Llama-3-70B"
"""The model whose format the leaderboard's decoder cannot read."""
_NONE_DUE = "none due"
_SHOWN = (DECODER, PLAIN, COERCED, ALL)


@dataclass(frozen=True, slots=True)
class Model(Row):
    """How many outputs of a model are right, of those that are to call."""

    headings: ClassVar[Sequence[str]] = ("answers of", "calls due", *_SHOWN)
    due: int
    right: Mapping[str, int]

    @property
    def figures(self) -> Mapping[str, float]:
        """How many are wrong."""
        return {"wrong": self.due - self.right[COERCED]}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        shares = (f"{self.right[name]:,} ({self.right[name] / self.due:.1%})" for name in _SHOWN)
        return (self.name, f"{self.due:,}", *shares)


@dataclass(frozen=True, slots=True)
class Category(Row):
    """How many outputs of a model to questions of one category are right."""

    headings: ClassVar[Sequence[str]] = ("model", "category", "outputs", *_SHOWN)
    model: str
    category: str
    outputs: int
    right: Mapping[str, int]

    @property
    def figures(self) -> Mapping[str, float]:
        """How many are wrong."""
        return {"wrong": self.outputs - self.right[COERCED]}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        return (self.model, self.category, f"{self.outputs:,}", *(f"{self.right[name]:,}" for name in _SHOWN))


@dataclass(frozen=True, slots=True)
class Options(Row):
    """How many outputs are right with some options."""

    headings: ClassVar[Sequence[str]] = (
        *("options", "calls due", "right", "become right", "become wrong"),
        *("none due", "right", "become right", "become wrong"),
    )
    counts: Sequence[int]

    @property
    def figures(self) -> Mapping[str, float]:
        """How many with calls due are wrong."""
        return {"wrong": self.counts[0] - self.counts[1]}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        return (self.name, *(f"{count:,}" for count in self.counts))


@dataclass(frozen=True, slots=True)
class Loss(Row):
    """How many outputs are not right for one reason."""

    headings: ClassVar[Sequence[str]] = ("class", "outputs", f"{DECODER} is right", f"{DECODER} reads the same calls")
    outputs: int
    right: int
    alike: int

    @property
    def figures(self) -> Mapping[str, float]:
        """How many there are."""
        return {"outputs": self.outputs}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        return (self.name, f"{self.outputs:,}", f"{self.right:,}", f"{self.alike:,}")


def tables(judged: Sequence[Judged], board: Leaderboard) -> dict[str, Iterator[Row]]:
    """Return the tables by their names, which are `TABLES`."""
    due, others = ([one for one in judged if one.question.is_due is is_due] for is_due in (True, False))
    losses = (_losses(due, board), _losses(others, board))
    rows = (_all(judged), _models(judged), _options(judged), *losses, _categories(judged))
    return dict(zip(TABLES, rows, strict=True))


def below(judged: Sequence[Judged]) -> str:
    """Say where fewer outputs are right with `coerce_arguments` than by the leaderboard's decoder."""
    cells = [cell for cell in _categories(judged) if cell.category != _NONE_DUE]
    less = [
        f"{cell.model}, {cell.category} (by {cell.right[DECODER] - cell.right[COERCED]})"
        for cell in cells
        if cell.right[COERCED] < cell.right[DECODER]
    ]
    return f"Rows in which {DECODER} is better than {COERCED}: {len(less)} of {len(cells)}. {'; '.join(less)}".strip()


def _all(judged: Sequence[Judged]) -> Iterator[Model]:
    due = [one for one in judged if one.question.is_due]
    others = [one for one in due if UNREADABLE not in one.question.model]
    if due:
        yield Model("all models", len(due), _right(due))
    if others and len(others) != len(due):
        yield Model(f"all but {UNREADABLE}", len(others), _right(others))


def _models(judged: Sequence[Judged]) -> Iterator[Model]:
    by_model: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.question.is_due:
            by_model[one.question.model].append(one)
    for model, outputs in sorted(by_model.items()):
        yield Model(model, len(outputs), _right(outputs))


def _categories(judged: Sequence[Judged]) -> Iterator[Category]:
    cells: defaultdict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in judged:
        cells[one.question.model, one.question.category].append(one)
    for (model, category), outputs in sorted(cells.items()):
        yield Category(f"{model}, {category}", model, category, len(outputs), _right(outputs))
    without = [one for one in judged if UNREADABLE not in one.question.model]
    for name, outputs in (("all models", list(judged)), (f"all but {UNREADABLE}", without)):
        none_due = [one for one in outputs if not one.question.is_due]
        if none_due and (outputs is not without or len(without) != len(judged)):
            yield Category(name, name, _NONE_DUE, len(none_due), _right(none_due))


def _options(judged: Sequence[Judged]) -> Iterator[Options]:
    for name in (DECODER, *READINGS):
        counts = []
        for is_due in (True, False):
            pairs = [
                (one.readings[PLAIN].is_right, one.readings[name].is_right)
                for one in judged
                if one.question.is_due is is_due
            ]
            right = sum(after for _, after in pairs)
            changed = Counter(pairs)
            counts += [len(pairs), right, changed[False, True], changed[True, False]]
        yield Options(name, counts)


def _losses(judged: Sequence[Judged], board: Leaderboard) -> Iterator[Loss]:
    classes: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if not one.readings[COERCED].is_right:
            classes[loss_of(one, board)].append(one)
    for name, outputs in sorted(classes.items(), key=lambda item: (-len(item[1]), item[0])):
        right = sum(one.readings[DECODER].is_right for one in outputs)
        yield Loss(name, len(outputs), right, sum(map(is_read_alike, outputs)))


def _right(outputs: Sequence[Judged]) -> Mapping[str, int]:
    return {name: sum(one.readings[name].is_right for one in outputs) for name in _SHOWN}
