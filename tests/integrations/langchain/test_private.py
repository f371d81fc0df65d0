"""The members of LangChain with an underscore that the adapter uses: each is there, and no other is used.

LangChain's guide to chat models names those that a model of one's own has to have. The others have no public form:

- `_get_llm_string`: what a cache knows a model by. The address of its server is in it, and in nothing else.
- `_get_ls_params`: what a trace shows of a model.
- `_combine_llm_outputs`: how the wrapped model adds up what its server said of several requests.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import BaseTransformOutputParser

import langchain_llama3_tools

ASKED = ["messages", "stop", "run_manager", "kwargs"]

OF_MODELS = {
    "_generate": ASKED,
    "_agenerate": ASKED,
    "_stream": ASKED,
    "_astream": ASKED,
    "_llm_type": None,
    "_identifying_params": None,
    "_combine_llm_outputs": ["_llm_outputs"],
    "_get_llm_string": ["stop", "kwargs"],
    "_get_ls_params": ["stop", "kwargs"],
}
OF_PARSERS = {"_transform": ["input"], "_atransform": ["input"], "_type": None}
"""The members, with the names of their parameters; `None`: properties."""


@pytest.mark.parametrize(
    ("base", "name", "parameters"),
    [
        *((BaseChatModel, name, parameters) for name, parameters in OF_MODELS.items()),
        *((BaseTransformOutputParser, name, parameters) for name, parameters in OF_PARSERS.items()),
    ],
)
def test_it_is_there_as_it_was(base: type, name: str, parameters: list[str] | None) -> None:
    member = inspect.getattr_static(base, name)
    if parameters is None:
        assert isinstance(member, property)
    else:
        assert list(inspect.signature(member).parameters) == ["self", *parameters]


def test_no_other_is_used() -> None:
    framework = {name for base in (BaseChatModel, BaseTransformOutputParser, AgentMiddleware) for name in dir(base)}
    used = set()
    for file in Path(langchain_llama3_tools.__file__).parent.glob("*.py"):
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
        used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        used |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    private = {name for name in used & framework if name.startswith("_") and not name.startswith("__")}
    assert private == OF_MODELS.keys() | OF_PARSERS.keys()
