"""The errors, and what their messages say."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pytest

from llama3_acceptance import Policies, Reading
from llama3_tools import (
    Extractor,
    Limits,
    Llama3ToolsError,
    MissingExtraError,
    ReadOptions,
    ResponseFormatError,
    ResponseFormatProblem,
    StreamStateError,
    ToolDefinitionError,
)
from llama3_tools.chat import ChatOptions, ToolChat
from llama3_tools.errors import (
    a_type,
    did_you_mean,
    refuses_unknown_options,
    require_bool,
    require_options,
    require_str,
)


@pytest.mark.parametrize(
    ("error", "also"),
    [
        (ToolDefinitionError, ValueError),
        (ResponseFormatError, ValueError),
        (StreamStateError, RuntimeError),
        (MissingExtraError, ImportError),
    ],
)
def test_each_has_the_root_and_what_python_has_for_it(error: type[Exception], also: type[Exception]):
    assert issubclass(error, Llama3ToolsError)
    assert issubclass(error, also)


@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301 - own
def test_a_response_error_keeps_its_attributes_in_a_copy(copied: object):
    error = ResponseFormatError(ResponseFormatProblem.TWO_OBJECTS, "at 5", expected="one object", output="{}", offset=5)
    again = copied(error)  # type: ignore[operator]  # each is a function
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    assert str(error) == "two_objects: at 5. Expected one object"


@pytest.mark.parametrize(
    ("value", "named"), [(5, "an int"), ("", "a str"), (None, "None"), ([], "a list"), (KeyError(), "a KeyError")]
)
def test_a_type_has_its_article(value: object, named: str):
    assert a_type(value) == named


def test_a_text_is_a_str():
    require_str("", "f() takes a str")
    with pytest.raises(TypeError, match=r"^f\(\) takes a str, got int$"):
        require_str(5, "f() takes a str")
    for encoded in (b"", bytearray()):
        with pytest.raises(TypeError, match=r"^f\(\) takes a str, got \w+: decode it first$"):
            require_str(encoded, "f() takes a str")


def test_what_is_neither_true_nor_false_is_named():
    require_bool(a=True, b=False)
    with pytest.raises(TypeError, match=r"^b must be True or False, not 1$"):
        require_bool(a=True, b=1, c=2)


def test_an_option_that_there_is_not_is_named_with_those_that_there_are():
    require_options("f", [], [])
    require_options("f", ["a"], iter(["b", "a"]))
    with pytest.raises(TypeError, match=r"^f has no option 'x', only alpha, beta$"):
        require_options("f", ["alpha", "x", "y"], ["alpha", "beta"])
    with pytest.raises(TypeError, match=r"^f has no option 'alhpa', only alpha, beta; did you mean 'alpha'\?$"):
        require_options("f", ["alhpa"], ["alpha", "beta"])


@refuses_unknown_options
@dataclass(frozen=True, slots=True)
class Configured:
    alpha: int = 0
    beta: int = 0


@refuses_unknown_options
class Counted(NamedTuple):
    alpha: int = 0
    beta: int = 0


@pytest.mark.parametrize("owner", [Configured, Counted])
def test_an_option_that_a_class_has_not_is_named_with_those_that_it_has(owner: type[Configured | Counted]):
    made = owner(1, beta=2)
    assert (made.alpha, made.beta) == (1, 2)
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made  # noqa: S301 - own
    said = rf"^{owner.__name__} has no option 'bet', only alpha, beta; did you mean 'beta'\?$"
    with pytest.raises(TypeError, match=said):
        owner(bet=1)  # type: ignore[call-arg]  # on purpose


@pytest.mark.parametrize(
    ("owner", "option"),
    [(Limits, "candidate"), (ReadOptions, "tools"), (ChatOptions, "tools"), (Policies, "strict"), (Reading, "tools")],
)
def test_each_value_of_options_refuses_another_in_the_same_words(owner: type, option: str):
    with pytest.raises(TypeError, match=rf"^{owner.__name__} has no option '{option}', only \w+(, \w+)+"):
        owner(**{option: 5})


def test_an_option_of_earlier_versions_is_refused_with_what_is_done_without_it():
    for owner, name in ((ReadOptions, "ReadOptions"), (Extractor, "Extractor"), (partial(ToolChat, []), "ToolChat")):
        with pytest.raises(
            TypeError, match=f"^{name} has no option 'lenient': other keys .* by default; leave it out$"
        ):
            owner(lenient=True)  # type: ignore[call-arg]  # on purpose


def test_a_word_that_is_like_none_is_not_guessed():
    assert did_you_mean("xyz", ["alpha", "beta"]) == ""
    assert did_you_mean("bet", iter(["alpha", "beta"])) == "; did you mean 'beta'?"
