"""What is used of the Berkeley leaderboard's package `bfcl-eval`: its checker, its decoders, its questions.

What the package depends on is not needed: its files are loaded one by one, with nothing in place of what they import to
ask models. Its decoders give to Python's `eval` what a model wrote. Here they have one that knows literals and
arithmetic alone, so that no file of results can run code.
"""

from __future__ import annotations

import ast
import json
import operator
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

OLDER = Path(sys.prefix) / "bfcl-older"
"""Where the last release is that could read what Hermes writes."""
MISSING = f"""\
the leaderboard's checker is not installed: make bfcl installs it, and so do these, without its dependencies:
  pip install --no-deps bfcl-eval==2026.3.23
  pip install --no-deps --target {OLDER} bfcl-eval==2025.8.6.2"""

Call: TypeAlias = tuple[str, Mapping[str, Any]]
Decoder: TypeAlias = Callable[[str], Sequence[Call] | None]
"""Reads calls out of an output; `None`: it cannot read it."""

CATEGORIES = {
    f"{live}{kind}"
    for live in ("", "live_")
    for kind in ("simple", "simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance")
}
"""The categories that are judged: one turn, functions of Python."""
_CONFIGURATION = {"": SimpleNamespace(underscore_to_dot=False)}
_LEFT_OUT: Mapping[str, Mapping[str, object]] = {
    "bfcl_eval.constants.model_config": {"MODEL_CONFIG_MAPPING": _CONFIGURATION},
    "bfcl_eval.model_handler.local_inference.base_oss_handler": {"OSSHandler": object},
    "bfcl_eval.model_handler.parser.java_parser": {"parse_java_function_call": None},
    "bfcl_eval.model_handler.parser.js_parser": {"parse_javascript_function_call": None},
    "bfcl_eval.utils": {},
    "overrides": {"override": lambda method: method},
    "tenacity": dict.fromkeys(
        ("retry", "retry_if_exception_message", "retry_if_exception_type", "wait_random_exponential")
    ),
}
"""What is not loaded, and what replaces it."""
_LEFT_OUT_OLDER: Mapping[str, Mapping[str, object]] = {
    **_LEFT_OUT,
    "bfcl_eval.constants.type_mappings": {"GORILLA_TO_OPENAPI": None},
    "bfcl_eval.model_handler.model_style": {"ModelStyle": None},
    "bfcl_eval.model_handler.utils": {"convert_to_tool": None, "func_doc_language_specific_pre_processing": None},
}
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_LARGEST_BASE = 1e6
"""The largest number that may be raised to a power."""
_LARGEST_POWER = 64
"""The largest power."""


class Asked(NamedTuple):
    """A question of the leaderboard."""

    functions: Sequence[Mapping[str, Any]]
    answer: Sequence[Mapping[str, Any]]
    """The ground truth; empty where none is needed."""


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The leaderboard's own code and data."""

    decoders: Mapping[str, Decoder]
    """By what it reads: `python`, `llama 3.1` and `hermes`."""
    ast_checker: Callable[..., Mapping[str, Any]]
    python: object
    """The language of the functions."""
    data: Path

    def what_is_wrong(
        self,
        functions: Sequence[Mapping[str, Any]],
        calls: Sequence[Call],
        answer: Sequence[Mapping[str, Any]],
        category: str,
    ) -> str:
        """Return the checker's word for what is wrong with calls; empty if they are right."""
        called = [{name: arguments} for name, arguments in calls]
        try:
            found = self.ast_checker(functions, called, answer, self.python, category, "")
        except Exception as error:  # noqa: BLE001  # it stumbles over arguments of an odd type: they are not right
            return type(error).__name__
        return "" if found["valid"] else str(found.get("error_type", "invalid"))

    def questions(self, category: str) -> Mapping[str, Asked]:
        """Return the questions of a category by their numbers; none if it is not of one turn, or not of Python."""
        return _questions(self.data, category) if category in CATEGORIES else {}


@cache
def leaderboard() -> Leaderboard:
    """Return what the package has.

    Raises:
        ImportError: it is not installed, or the older release is not.
    """
    package = Path(str(import_module("bfcl_eval").__file__)).parent
    local = Path("model_handler", "local_inference")
    with _without(_LEFT_OUT):
        enums = import_module("bfcl_eval.constants.enums")
        ast_checker = import_module("bfcl_eval.eval_checker.ast_eval.ast_checker").ast_checker
        python = loaded(package / "model_handler" / "utils.py").default_decode_ast_prompting
        llama = loaded(package / local / "llama_3_1.py").LlamaHandler_3_1.decode_ast
    with _without(_LEFT_OUT_OLDER):
        hermes = loaded(OLDER / "bfcl_eval" / local / "hermes.py").HermesHandler.decode_ast
    language = enums.ReturnFormat.PYTHON
    decoders = {
        "python": decoder(lambda text: python(text, language)),
        "llama 3.1": decoder(lambda text: llama(None, text, language, has_tool_call_tag=False)),
        "hermes": decoder(lambda text: hermes(None, text)),
    }
    return Leaderboard(decoders, ast_checker, enums.Language.PYTHON, package / "data")


def evaluated(text: str) -> Any:  # noqa: ANN401 - as `eval` returns it
    """Return the value of a literal or of arithmetic in Python.

    Args:
        text: the code.

    Raises:
        ValueError: it is anything else, which is not run.

    >>> evaluated("{'a': [25 / 1, -2]}")
    {'a': [25.0, -2]}
    """
    return _value(ast.parse(text.lstrip(" \t"), mode="eval").body)


def _value(node: ast.expr) -> Any:  # noqa: ANN401
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=elements):
            return [_value(one) for one in elements]
        case ast.Tuple(elts=elements):
            return tuple(_value(one) for one in elements)
        case ast.Dict(keys=keys, values=values) if all(keys):
            return {_value(key): _value(value) for key, value in zip(keys, values, strict=True) if key}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_real(operand)
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _OPERATORS:
            first, second = _real(left), _real(right)
            if isinstance(kind, ast.Pow) and (abs(first) > _LARGEST_BASE or abs(second) > _LARGEST_POWER):
                raise ValueError(f"too large a power: {ast.unparse(node)}")
            return _OPERATORS[type(kind)](first, second)
    raise ValueError(f"no literal and no arithmetic: {ast.unparse(node)}")


def _real(node: ast.expr) -> int | float:
    value = _value(node)
    if isinstance(value, (int, float)):
        return value
    raise ValueError(f"no number: {ast.unparse(node)}")


@contextmanager
def _without(left_out: Mapping[str, Mapping[str, object]]) -> Iterator[None]:
    """Leave modules out while others are imported."""
    kept = {name: sys.modules.get(name) for name in left_out}
    for name, members in left_out.items():
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__dict__.update(members)
    try:
        yield
    finally:
        for name, module in kept.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def loaded(path: Path) -> ModuleType:
    """Load a file by itself, with an `eval` that runs nothing.

    Raises:
        ImportError: it is not there.
    """
    spec = spec_from_file_location(f"_bfcl_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ImportError(f"there is no {path}")
    module = module_from_spec(spec)
    module.__dict__["eval"] = evaluated
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


def decoder(decode: Callable[[str], Any]) -> Decoder:
    """Return what reads calls as a decoder of the leaderboard does, and `None` if that raises."""

    def read(text: str) -> Sequence[Call] | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a model writes may be odd Python
            try:
                found = decode(text)
            except Exception:  # noqa: BLE001  # whatever it raises: the leaderboard takes that for no call, too
                return None
        if not isinstance(found, list) or not all(map(_is_call, found)):
            return None
        return [(name, arguments) for one in found for name, arguments in one.items()]

    return read


def _is_call(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and all(isinstance(one, dict) for one in value.values())


@cache
def _questions(data: Path, category: str) -> Mapping[str, Asked]:
    name = f"BFCL_v[0-9]_{category}.json"
    answers = {_number(row): row["ground_truth"] for row in _rows(data / "possible_answer", name)}
    return {_number(row): Asked(row["function"], answers.get(_number(row), ())) for row in _rows(data, name)}


def _number(row: Mapping[str, Any]) -> str:
    return category_and_number(row["id"])[1]


def _rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    for path in folder.glob(name):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


_NAMES = {
    "simple": "simple_python",
    "multiple_function": "multiple",
    "parallel_function": "parallel",
    "parallel_multiple_function": "parallel_multiple",
    "relevance": "irrelevance",
}
"""What categories were called in older results."""


def category_and_number(id_: str) -> tuple[str, str]:
    """Return the category and the number that an id of the leaderboard has, in today's names.

    >>> category_and_number("parallel_function_12"), category_and_number("live_simple_3-2-1")
    (('parallel', '12'), ('live_simple', '3-2-1'))
    """
    category, _, number = id_.rpartition("_")
    return _NAMES.get(category, category), number
