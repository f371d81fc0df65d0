"""The tables of `make bfcl`: how many outputs are right, and why the others are not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from bfcl_judging import ALL, COERCED, DECODER, PLAIN, READINGS, Judged
from bfcl_losses import loss_of
from bfcl_package import Leaderboard
from pages import table

UNREADABLE = "Hermes-2-Theta-Llama-3-70B"
"""The model whose format the leaderboard's decoder cannot read."""
_SHOWN = (DECODER, PLAIN, COERCED, ALL)
_MODELS = ("answers of", "calls due", *_SHOWN)
_LOSSES = ("class", "outputs", f"{DECODER} is right")
_OPTIONS = (
    *("options", "calls due", "right", "become right", "become wrong"),
    *("none due", "right", "become right", "become wrong"),
)


def tables(judged: Sequence[Judged], board: Leaderboard) -> dict[str, Iterator[str]]:
    """Return the lines of the tables, by what they are called in pages."""
    due, others = ([one for one in judged if one.question.is_due is is_due] for is_due in (True, False))
    return {
        "all": table(_MODELS, _all(due)),
        "models": table(_MODELS, _models(due)),
        "options": table(_OPTIONS, _options(due, others)),
        "losses": table(_LOSSES, _losses(due, board)),
        "undue": table(_LOSSES, _losses(others, board)),
    }


def _all(due: Sequence[Judged]) -> Iterator[Sequence[str]]:
    others = [one for one in due if UNREADABLE not in one.question.model]
    if due:
        yield _model("all models", due)
    if others and len(others) != len(due):
        yield _model(f"all but {UNREADABLE}", others)


def _models(due: Sequence[Judged]) -> Iterator[Sequence[str]]:
    for model, outputs in _by(due, lambda one: one.question.model):
        yield _model(model, outputs)


def _model(name: str, due: Sequence[Judged]) -> Sequence[str]:
    right = [_right(due, reading) for reading in _SHOWN]
    return (name, f"{len(due):,}", *(f"{count:,} ({count / len(due):.1%})" for count in right))


def _options(due: Sequence[Judged], others: Sequence[Judged]) -> Iterator[Sequence[str]]:
    for name in (DECODER, *READINGS):
        counts = []
        for outputs in (due, others):
            changed = Counter((one.readings[PLAIN].is_right, one.readings[name].is_right) for one in outputs)
            counts += [len(outputs), _right(outputs, name), changed[False, True], changed[True, False]]
        yield (name, *(f"{count:,}" for count in counts))


def _losses(judged: Sequence[Judged], board: Leaderboard) -> Iterator[Sequence[str]]:
    wrong = [one for one in judged if not one.readings[COERCED].is_right]
    for name, outputs in sorted(_by(wrong, lambda one: loss_of(one, board)), key=lambda item: -len(item[1])):
        yield (name, f"{len(outputs):,}", f"{_right(outputs, DECODER):,}")


def _by(judged: Sequence[Judged], key: Callable[[Judged], str]) -> list[tuple[str, list[Judged]]]:
    """Return outputs by something about them, sorted by it."""
    groups: defaultdict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        groups[key(one)].append(one)
    return sorted(groups.items(), key=lambda item: item[0])


def _right(outputs: Sequence[Judged], reading: str) -> int:
    return sum(one.readings[reading].is_right for one in outputs)
