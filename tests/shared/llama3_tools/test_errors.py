"""The errors, and what their messages say."""

from __future__ import annotations

import copy
import pickle

import pytest

from llama3_tools import (
    Llama3ToolsError,
    MissingExtraError,
    ResponseFormatError,
    ResponseFormatProblem,
    StreamStateError,
    ToolDefinitionError,
)
from llama3_tools.errors import (
    did_you_mean,
    require_bool,
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
    error = ResponseFormatError(ResponseFormatProblem.TEXT_AROUND, "at 5", "one object", "{}", 5)
    again = copied(error)  # type: ignore[operator]  # each is a function
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    assert str(error) == "text_around: at 5. Expected one object"


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


def test_a_word_that_is_like_none_is_not_guessed():
    assert did_you_mean("xyz", ["alpha", "beta"]) == ""
    assert did_you_mean("bet", iter(["alpha", "beta"])) == "; did you mean 'beta'?"
