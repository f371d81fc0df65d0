"""ReAct steps in LlamaIndex's own form: what its own parser makes of them, made-up inputs aside, at any length."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from llama_index.core.agent.react.output_parser import ReActOutputParser

from llama_index_llama3_tools import Llama3ReActOutputParser
from llama_index_llama3_tools.output import FailedToolCall
from llama_index_llama3_tools.react_form import Action, read_step

PIECES = ["Thought: x", "Thought:", " ", "\nAction: f", "\nAction Input: ", '{"a": "b"}', "}", "Answer: z"]


def read_by(parser: Any, text: str) -> object:  # noqa: ANN401 (a function that reads a step)
    """Return a step's values, or the error."""
    try:
        read = parser(text)
    except (ValueError, AttributeError) as error:
        return str(error)
    if isinstance(read, Action):
        return {"thought": read.thought, "action": read.name, "action_input": read.arguments}
    return read.detail if isinstance(read, FailedToolCall) else read.model_dump()


def expected_of(text: str) -> Any:  # noqa: ANN401 (a step's values, or the error)
    """Return what LlamaIndex makes of a text: of an action, what it makes of it behind a thought.

    Behind other text, it takes the last action rather than the first.
    """
    if text.lstrip().startswith("Thought: ") or "Action:" not in text.partition("Answer:")[0]:
        return read_by(ReActOutputParser().parse, text)
    expected: Any = read_by(ReActOutputParser().parse, f"Thought: t\n{text}")
    if isinstance(expected, str):
        return expected.replace("Thought: t\n", "", 1)
    return {**expected, "thought": expected["thought"].removeprefix("t").strip()}


@pytest.mark.parametrize("first", PIECES)
def test_a_step_is_what_llama_index_makes_of_it_unless_it_takes_the_input_from_elsewhere(first: str) -> None:
    texts = ("".join((first, *pieces)) for pieces in itertools.product(["", "\n", *PIECES], repeat=4))
    for text in dict.fromkeys(texts):  # without a piece in two places, it is the same
        expected = expected_of(text)
        if expected == "'NoneType' object has no attribute 'strip'":  # what an empty thought comes to there
            continue
        read = read_by(read_step, text)
        if str(read).startswith("expected an object after 'Action Input:', found"):
            assert re.search(
                r"Action Input: .*\n+(?:Action|Answer|Thought)|Action: f.*\n+(?:Action: f|Answer)", text, re.DOTALL
            )
        elif read != expected:
            assert str(read).startswith("Could not extract tool use")
            assert text.find("\nAction Input:") < text.find("\nAction: f")


@pytest.mark.parametrize("text", ["Thought: \x1b\u202e", "Answer: \x1b\u202e", "Action: \x1b\u202e"])
def test_an_error_shows_what_hides_or_commands_a_terminal(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Could not [\w ]+: \w+: \\x1b\\u202e$"):
        Llama3ReActOutputParser().parse(text)


def test_a_thought_may_be_empty() -> None:
    step: Any = Llama3ReActOutputParser().parse('Thought: \nAction: f\nAction Input: {"a": 1}')
    assert (step.thought, step.action, step.action_input) == ("", "f", {"a": 1})


@pytest.mark.parametrize("levels", [127, 1000, 100_000])
def test_an_input_that_is_nested_too_deep_is_refused_and_no_other_one_is_made_of_it(levels: int) -> None:
    text = 'Thought: x\nAction: f\nAction Input: {"a": %s{"b": "c"}%s}'
    nested = text % ("[" * (levels - 2), "]" * (levels - 2))
    if levels > 127:
        assert read_by(ReActOutputParser().parse, nested)["action_input"] == {"b": "c"}  # type: ignore[index]
        with pytest.raises(ValueError, match=r"f \(too_deep\): nested deeper than 128 levels"):
            Llama3ReActOutputParser().parse(nested)
    else:
        assert read_by(Llama3ReActOutputParser().parse, nested) != {"b": "c"}


@pytest.mark.parametrize(
    "text",
    [
        'Thought: x\nAction: f\nAction Input: {"a": ' * 4000,
        "Thought: x" + "\nAction: f\nAction Input: " * 4000,
        "x\nAction: f" * 20_000,
        "Answer:" + "Thought:" * 100_000,
        "Answer:" + " " * 1_000_000,
    ],
    ids=["open inputs", "no inputs", "actions", "thoughts", "white space"],
)
def test_long_text_on_which_llama_index_s_patterns_take_minutes_to_years_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Could not|could not be read"):
        Llama3ReActOutputParser().parse(text)
