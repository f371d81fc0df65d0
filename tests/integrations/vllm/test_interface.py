"""The stand-in is as vLLM's own interface is. It runs where vLLM is installed: `make test-vllm`."""

from __future__ import annotations

import ast

import pytest

from interfaces import declared, is_itself, missing

pytestmark = pytest.mark.vllm

CLASSES = [pytest.param(module, node, id=f"{module}.{node.name}") for module, node in declared("vllm")]


@pytest.mark.parametrize(("module", "stand_in"), CLASSES)
def test_what_the_stand_in_declares_is_there_and_called_in_the_same_way(module: str, stand_in: ast.ClassDef) -> None:
    assert is_itself("vllm"), "vLLM is not installed here: run make test-vllm"
    assert missing(module, stand_in) == []
