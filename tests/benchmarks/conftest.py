"""A made-up package `bfcl-eval`, in the places of the leaderboard's: as much of it as `make bfcl` uses."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bfcl_package

CLOCK = {"name": "clock.now", "parameters": {"type": "dict", "properties": {"zone": {"type": "String"}}}}
TIMER = {"name": "timer", "parameters": {"type": "dict", "properties": {"minutes": {"type": "integer"}}}}
QUESTIONS = {
    "simple_python_0": [{"clock.now": {"zone": ["CET"]}}],
    "simple_python_1": [{"timer": {"minutes": [3]}}],
    "simple_python_2": [{"timer": {"minutes": [25]}}],
    "parallel_0": [{"timer": {"minutes": [3]}}, {"timer": {"minutes": [5]}}],
    "irrelevance_0": None,
    "live_relevance_0-0-0": None,
    "simple_java_0": [{"clock.now": {"zone": ["CET"]}}],
}
"""The questions, and what is right; all with both functions."""

HANDLER = """
import json
from bfcl_eval.model_handler.local_inference.base_oss_handler import OSSHandler
from bfcl_eval.model_handler.model_style import ModelStyle
from overrides import override

class {name}(OSSHandler):
    @override
    def decode_ast(self, result, language="Python", has_tool_call_tag=False):
        {decode}
"""
LLAMA = """
        calls = [eval(one) for one in result.split(";")]
        return [{call["name"]: call["parameters"]} for call in calls]
"""
HERMES = """
        inner = result.partition("<tool_call>")[2].partition("</tool_call>")[0]
        calls = [json.loads(inner)] if inner else []
        return [{call["name"]: call["arguments"]} for call in calls]
"""
PACKAGE = {
    "bfcl_eval/__init__.py": "",
    "bfcl_eval/constants/__init__.py": "",
    "bfcl_eval/constants/enums.py": """
class Language:
    PYTHON = 'python'

class ReturnFormat:
    PYTHON = 'python'
""",
    "bfcl_eval/eval_checker/__init__.py": "",
    "bfcl_eval/eval_checker/ast_eval/__init__.py": "",
    "bfcl_eval/eval_checker/ast_eval/ast_checker.py": """
from bfcl_eval.constants.model_config import MODEL_CONFIG_MAPPING

def ast_checker(functions, calls, answer, language, category, model):
    assert language == "python" and not MODEL_CONFIG_MAPPING[model].underscore_to_dot
    assert {name for one in answer for name in one} <= {function["name"] for function in functions}
    right = [{name: {k: values[0] for k, values in members.items()} for name, members in one.items()} for one in answer]
    return {"valid": True} if calls == right else {"valid": False, "error_type": "value_error:others"}
""",
    "bfcl_eval/model_handler/utils.py": """
import ast
from bfcl_eval.model_handler.parser.java_parser import parse_java_function_call
from bfcl_eval.utils import *
from tenacity import retry

def default_decode_ast_prompting(result, language):
    result = result.strip()
    parsed = ast.parse(result if result.startswith("[") else f"[{result}]", mode="eval")
    return [
        {ast.unparse(call.func): {one.arg: eval(ast.unparse(one.value)) for one in call.keywords}}
        for call in parsed.body.elts
    ]
""",
    "bfcl_eval/model_handler/local_inference/llama_3_1.py": HANDLER.format(name="LlamaHandler_3_1", decode=LLAMA)
    .replace("from bfcl_eval.model_handler.model_style import ModelStyle\n", ""),
}  # fmt: skip
OLDER = {
    "bfcl_eval/model_handler/local_inference/hermes.py": HANDLER.format(name="HermesHandler", decode=HERMES),
}


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _data() -> dict[str, str]:
    files: dict[str, str] = {}
    for id_, answer in QUESTIONS.items():
        name = f"BFCL_v4_{id_.rpartition('_')[0]}.json"
        asked, truth = f"bfcl_eval/data/{name}", f"bfcl_eval/data/possible_answer/{name}"
        files[asked] = files.get(asked, "") + json.dumps({"id": id_, "function": [CLOCK, TIMER]}) + "\n"
        if answer is not None:
            files[truth] = files.get(truth, "") + json.dumps({"id": id_, "ground_truth": answer}) + "\n"
    return files


@pytest.fixture(scope="module", autouse=True)
def _small_collections() -> None:
    """Keep the garbage collector from what other tests left: each time that is measured begins with a collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def bfcl_eval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the made-up package, and return where its older release is."""
    _forget()
    _write(tmp_path / "packages", {**PACKAGE, **_data()})
    _write(tmp_path / "packages", {"bfcl_eval/data/BFCL_v4_multi_turn_base.json": '{"id": "multi_turn_base_0"}\n'})
    _write(tmp_path / "older", OLDER)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.setattr(bfcl_package, "OLDER", tmp_path / "older")
    yield tmp_path / "older"
    _forget()


def _forget() -> None:
    bfcl_package.leaderboard.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "bfcl_eval"]:
        del sys.modules[name]
