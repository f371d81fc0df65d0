"""The strict response format, read with a parser's options: after thoughts, of some tools, within bounds."""

from __future__ import annotations

from typing import Any

import pytest

from llama3_tools import Limits, ResponseFormatError, ResponseFormatProblem, ToolCall
from llama3_tools.options import ReadOptions
from llama3_tools.strict import parse_after_reasoning, require_strict_reading

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}}]
CALL = '{"name": "f", "arguments": {"days": "3"}}'
ONE = f'{{"message": "Hi", "tool_call": {CALL}}}'
SPLIT = ReadOptions(split_reasoning=True)


@pytest.mark.parametrize(
    ("output", "read"),
    [
        pytest.param(ONE, ReadOptions(), id="no reasoning asked for"),
        pytest.param(ONE, SPLIT, id="no thought"),
        pytest.param(f"<think>Well.</think>{ONE}", SPLIT, id="a thought"),
        pytest.param(f"<think>{ONE}</think>\n\n{ONE}", SPLIT, id="the same object in a thought"),
        pytest.param(
            f"Well.</think>{ONE}",
            ReadOptions(split_reasoning=True, starts_reasoning=True),
            id="a thought without its tag",
        ),
    ],
)
def test_the_object_is_read_where_it_stands(output: str, read: ReadOptions):
    (call,) = parse_after_reasoning(output, tools=TOOLS, multiple=False, read=read).tool_calls
    assert (call.name, call.arguments, call.format) == ("f", {"days": "3"}, "envelope")
    assert output[slice(*call.span)] == CALL
    assert call.span[0] == output.rindex(CALL)


@pytest.mark.parametrize(
    ("output", "problem", "offset", "detail"),
    [
        ("<think>Well.</think>", "empty", 0, "the output is empty"),
        (f"<think>Well.</think> So: {ONE}", "text_before", 21, "'So: ' stands before"),
        (f"So: <think>Well.</think> {ONE}", "text_before", 0, "'So: <think>Well.</th'… stands before"),
        (f"<think>Well.</think>{ONE[:-1]}", "truncated", len(ONE) + 19, "',' or the closing bracket"),
    ],
    ids=["nothing but a thought", "text after a thought", "text before a thought", "cut off"],
)
def test_an_error_is_of_the_whole_output(output: str, problem: str, offset: int, detail: str):
    with pytest.raises(ResponseFormatError) as caught:
        parse_after_reasoning(output, tools=TOOLS, multiple=False, read=SPLIT)
    error = caught.value
    assert (error.problem, error.offset, error.output) == (ResponseFormatProblem(problem), offset, output)
    assert detail in error.detail
    assert error.expected.startswith("one JSON object and nothing else")
    assert error.__suppress_context__


def calls_in(output: str, read: ReadOptions, *, multiple: bool = False) -> tuple[ToolCall, ...]:
    return parse_after_reasoning(output, tools=TOOLS, multiple=multiple, read=read).tool_calls


def test_the_options_hold():
    many = f'{{"message": "", "tool_calls": [{CALL}, {CALL}]}}'
    assert len(calls_in(many, ReadOptions(), multiple=True)) == 2
    assert calls_in(ONE, ReadOptions(coerce_arguments=True))[0].arguments == {"days": 3}
    assert calls_in(ONE, ReadOptions(id_factory=lambda: "mine"))[0].id == "mine"
    with pytest.raises(ResponseFormatError, match="holds 2 calls, and at most 1 may be"):
        calls_in(many, ReadOptions(limits=Limits(max_calls=1)), multiple=True)


def test_an_unknown_tool_may_be_called_if_that_is_asked_for():
    output = ONE.replace('"f"', '"g"')
    assert calls_in(output, ReadOptions(on_unknown_tool="call"))[0].name == "g"
    with pytest.raises(ResponseFormatError, match="unknown_tool"):
        calls_in(output, ReadOptions())


@pytest.mark.parametrize(
    ("options", "strict", "multiple", "message"),
    [
        pytest.param({}, False, True, "multiple=True says how calls stand in the strict format: it takes strict=True"),
        *(
            pytest.param(
                option, True, True, "strict=True reads one form, as it is: it takes neither formats nor repair"
            )
            for option in ({"formats": ("json",)}, {"repair": True})
        ),
    ],
    ids=["multiple alone", "formats", "repair"],
)
def test_options_that_contradict_each_other_are_refused(
    options: dict[str, Any], message: str, *, strict: bool, multiple: bool
):
    with pytest.raises(ValueError, match=f"^{message}$"):
        require_strict_reading(ReadOptions(**options), strict=strict, multiple=multiple)


@pytest.mark.parametrize(("strict", "multiple"), [(False, False), (True, False), (True, True)])
def test_options_that_go_together_are_taken(*, strict: bool, multiple: bool):
    require_strict_reading(ReadOptions(repair=not strict), strict=strict, multiple=multiple)
