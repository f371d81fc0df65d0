"""What is there without the extra `validation`."""

from __future__ import annotations

import sys

import pytest

from llama3_tools import MissingExtraError, coerce_arguments, validate_arguments


@pytest.mark.parametrize("missing", ["jsonschema", "jsonschema.protocols", "referencing"])
def test_validation_names_the_extra_and_coercion_does_without(missing: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "llama3_tools.arguments.standard", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError) as error:
        validate_arguments({}, {})
    message = "validate_arguments needs jsonschema 4.21 or newer: pip install 'llama3-tools[validation]'"
    assert str(error.value) == message
    assert coerce_arguments({"n": "5"}, {"properties": {"n": {"type": "integer"}}}).arguments == {"n": 5}


def test_what_else_is_missing_is_not_called_an_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "llama3_tools.arguments.standard", raising=False)
    monkeypatch.setitem(sys.modules, "llama3_tools.arguments.patterns", None)
    with pytest.raises(ModuleNotFoundError, match=r"llama3_tools\.arguments\.patterns"):
        validate_arguments({}, {})
