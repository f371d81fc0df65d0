"""Result files of the Berkeley Function-Calling Leaderboard, in its own layout or as rows.

The layout is that of the leaderboard's archive, in each of its editions:

    result/MODEL/BFCL_v3_multiple_result.json           {"id": "multiple_0", "result": "[f(x=1)]"} a line
    result/MODEL/non_live/BFCL_v4_multiple_result.json  the same
    score/MODEL/…/BFCL_v3_multiple_score.json           what was wrong, by `id`

Rows are JSON Lines, plain or .gz, and bring their questions along: `id`, `raw`, `category`, `functions`, `answer` (the
ground truth), `model`, `family` and `official` (whether the leaderboard's decoder reads it rightly, as whoever made
the rows found with the leaderboard's code: it is not what the leaderboard published). `family` is `plain`, or
`hermes`, which was shown `_` for each `.` in a name, or `study`, which was asked for Hermes's format by another study,
and judged by that study.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bfcl_package import CATEGORIES, Leaderboard, category_and_number
from samples import Sample, read_lines, sample_of, tool_of

ROW = '"raw" or "raw_output" beside "category", "functions" and "answer", which `irrelevance` alone goes without'
_RESULT = '"id" and "result"'
_SCORE = '"id" or a "prompt" with an "id", after a line of totals'
_SUFFIX = "_result.json"
_OLD_PREFIX = "gorilla_openfunctions_v1_test_"
_DECODERS = {
    re.compile(r"Hermes-2-(?:Pro|Theta)-Llama-3-"): "hermes",
    re.compile(r"^(?:meta-llama_)?Llama-3\.1-.*-FC$"): "llama 3.1",
    re.compile(r"^(?:meta-llama_)?(?:Meta-)?Llama-3"): "python",
}
"""The models of the layout that are judged, and which decoder the leaderboard has for them."""
_FAMILIES = {"plain": "python", "hermes": "hermes", "study": "hermes"}
_FAMILY_OF_ANOTHER_JUDGE = "study"


class Question(NamedTuple):
    """An output, and the leaderboard's question."""

    where: str
    sample: Sample
    model: str
    category: str
    functions: Sequence[Mapping[str, Any]]
    """As the leaderboard declares them, by the names that the model was shown."""
    answer: Sequence[Mapping[str, Any]]
    decoder: str
    """Which of the leaderboard's decoders reads the model's outputs."""
    verdict: bool | None
    """Whether its calls are right, as a score file or the row has it; `None`: nothing says so."""

    @property
    def is_due(self) -> bool:
        """Whether a call is due."""
        return not self.category.endswith("irrelevance")


class Results(NamedTuple):
    """What files hold."""

    questions: list[Question]
    left_out: Counter[str]
    """How many outputs are not judged, by the reason."""


def read_results(paths: Sequence[Path], board: Leaderboard) -> Results:
    """Read files of rows, result files, and folders in which there are such.

    Args:
        paths: the files and folders.
        board: the leaderboard, which has the questions.

    Raises:
        OSError: a file cannot be read.
        ValueError: a line of a file is none of its kind, or a folder has no result file.
    """
    results = Results([], Counter())
    for path in (file for one in paths for file in _files(one)):
        if path.name.endswith(_SUFFIX):
            _read_result_file(path, board, results)
        else:
            _read_rows(path, results)
    return results


def _files(path: Path) -> Sequence[Path]:
    if not path.exists():
        raise FileNotFoundError(f"No such file or folder: {path}")
    if not path.is_dir():
        return [path]
    files = sorted(path.rglob(f"*{_SUFFIX}"))
    if not files:
        raise ValueError(f"{path}: expected files result/MODEL/…{_SUFFIX} in it, as the leaderboard has them")
    return files


def _read_rows(path: Path, results: Results) -> None:
    for category, question in read_lines(path, _question_of_row, ROW):
        if question is None:
            results.left_out[_not_judged(category)] += 1
        else:
            results.questions.append(question)


def _not_judged(category: str) -> str:
    return f"outputs of the category {category}, which is not judged here"


def _read_result_file(path: Path, board: Leaderboard, results: Results) -> None:
    place = path.resolve().parts
    at = max((number for number, part in enumerate(place[:-2]) if part.startswith("result")), default=len(place) - 3)
    model = place[at + 1]
    decoder = next((name for pattern, name in _DECODERS.items() if pattern.search(model)), None)
    if decoder is None:
        results.left_out[f"files of {model}, which is no Llama 3 that the leaderboard has a decoder for"] += 1
        return
    failed = _failed(Path(*place[:at], place[at].replace("result", "score", 1), *place[at + 1 :]))
    for id_, text in read_lines(path, lambda row: (str(row["id"]), row["result"]), _RESULT):
        category, number = category_and_number(id_)
        asked = board.questions(category).get(number)
        if asked is None:
            results.left_out[_not_judged(category)] += 1
        elif not asked.answer and _has_an_answer(category):
            results.left_out["outputs to questions without an answer"] += 1
        elif not isinstance(text, str):
            results.left_out["outputs that are no text, but calls that a server read"] += 1
        else:
            verdict = None if failed is None else (category, number) not in failed
            row = {"raw": text, "functions": asked.functions, "answer": asked.answer, "id": id_, "model": model}
            results.questions.append(
                _question(row, category, decoder, verdict=verdict, dots_as_underscores=decoder == "hermes")
            )


def _failed(path: Path) -> set[tuple[str, str]] | None:
    """Return which questions a score file says are wrong; `None`: there is no such file."""
    name = path.name.removesuffix(_SUFFIX)
    found = (path.with_name(f"{one}_score.json") for one in (name, name.removeprefix(_OLD_PREFIX)))
    score = next((one for one in found if one.is_file()), None)
    return None if score is None else {one for one in read_lines(score, _failed_row, _SCORE) if one}


def _failed_row(row: Mapping[str, Any]) -> tuple[str, str] | None:
    if "correct_count" in row:
        return None
    prompt = row.get("prompt")
    return category_and_number(prompt["id"] if isinstance(prompt, dict) else row["id"])


def _has_an_answer(category: str) -> bool:
    """Return whether questions of a category have one: where no call is due, or any is right, they have none."""
    return not category.endswith("relevance")


def _question_of_row(row: Mapping[str, Any]) -> tuple[str, Question | None]:
    """Return the category, and the question; `None`: it is of a category that is not judged."""
    if not isinstance(row["category"], str):
        raise TypeError("a category is a string")
    category, _ = category_and_number(f"{row['category']}_")
    if category not in CATEGORIES:
        return category, None
    if not row["answer"] and _has_an_answer(category):
        raise ValueError("nothing says what is right")
    family = row.get("family", "plain")
    is_of_another = family == _FAMILY_OF_ANOTHER_JUDGE or "official" not in row
    verdict = None if is_of_another else bool(row["official"])
    return category, _question(
        row, category, _FAMILIES[family], verdict=verdict, dots_as_underscores=family == "hermes"
    )


def _question(
    row: Mapping[str, Any], category: str, decoder: str, *, verdict: bool | None, dots_as_underscores: bool
) -> Question:
    declared = [row["functions"]] if isinstance(row["functions"], dict) else row["functions"]
    shown = {one["name"]: one["name"].replace(".", "_") if dots_as_underscores else one["name"] for one in declared}
    functions = [one | {"name": shown[one["name"]]} for one in declared]
    return Question(
        str(row.get("id", "")),
        Sample(sample_of(row).text, json.dumps([tool_of(one, one["name"]) for one in functions])),
        str(row.get("model", "")),
        category,
        functions,
        [{shown.get(name, name): values for name, values in call.items()} for call in row["answer"] or ()],
        decoder,
        verdict,
    )
