"""JSON that many share: whoever changes it is told to copy it, and copies can be changed."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from llama3_tools.tools.read_only import changeable, read_only

VALUE: dict[str, Any] = {"a": [1, {"b": None}], "c": {"d": "e"}, "f": ((1, [2]), "g")}


def test_it_equals_what_it_was_made_of_and_shares_nothing_with_it():
    given = copy.deepcopy(VALUE)
    shared = read_only(given)
    given["a"].append(2)
    assert shared == VALUE
    assert json.dumps(shared) == json.dumps(VALUE)


CHANGES: dict[str, Callable[[Any], object]] = {
    "a key": lambda value: value.__setitem__("a", 1),
    "without a key": lambda value: value.__delitem__("a"),
    "clear": lambda value: value.clear(),
    "pop": lambda value: value.pop("a"),
    "popitem": lambda value: value.popitem(),
    "setdefault": lambda value: value.setdefault("z", 1),
    "update": lambda value: value.update(z=1),
    "|=": lambda value: value.__ior__({"z": 1}),
    "an index": lambda value: value["a"].__setitem__(0, 5),
    "without an index": lambda value: value["a"].__delitem__(0),
    "append": lambda value: value["a"].append(5),
    "extend": lambda value: value["a"].extend([5]),
    "insert": lambda value: value["a"].insert(0, 5),
    "remove": lambda value: value["a"].remove(1),
    "reverse": lambda value: value["a"].reverse(),
    "sort": lambda value: value["a"].sort(key=str),
    "pop an item": lambda value: value["a"].pop(),
    "clear a list": lambda value: value["a"].clear(),
    "+=": lambda value: value["a"].__iadd__([5]),
    "*=": lambda value: value["a"].__imul__(2),
    "within a list": lambda value: value["a"][1].update(b=1),
    "within a tuple": lambda value: value["f"][0][1].append(1),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_refused_and_changes_nothing(change: Callable[[Any], object]):
    shared = read_only(VALUE)
    with pytest.raises(TypeError, match=r"change a copy\.deepcopy\(\) of it"):
        change(shared)
    assert shared == VALUE


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, changeable], ids=["copy", "deepcopy", "changeable"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_copy_can_be_changed(copied: Callable[[Any], Any], change: Callable[[Any], object]):
    shared = read_only(VALUE)
    change(copied(shared))
    assert shared == VALUE


def test_pickled_it_stays_what_it_is():
    loaded = pickle.loads(pickle.dumps(read_only(VALUE)))  # noqa: S301 - made here
    assert loaded == VALUE
    with pytest.raises(TypeError):
        loaded["a"].append(1)
