"""What a model is told of calls that were not run."""

from __future__ import annotations

from typing import Any

import pytest

from llama3_tools import RejectionReason, Tool
from llama3_tools.prompts.complaints import Complaints, render_complaints, with_misfits

FORM = 'in the form {"name": "f", "parameters": {"city": "<string>"}}'
TOOL = Tool("f", "", {"properties": {"city": {"type": "string"}}})


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (RejectionReason.MALFORMED, f"The call is malformed, and was not run: why. Write all of it again, {FORM}"),
        (RejectionReason.TRUNCATED, f"The call is cut off, and was not run: why. Write all of it again, {FORM}"),
        (RejectionReason.QUOTED, f"The call is quoted, and was not run: why. Write it alone, {FORM}"),
        (RejectionReason.TOO_DEEP, f"The call is beyond a limit, and was not run: why. Write a smaller one, {FORM}"),
        (
            RejectionReason.TOO_MANY,
            "The call was not run: it is why. Make fewer calls in one reply, and the others in the next one.",
        ),
        (RejectionReason.UNKNOWN_TOOL, "The call was not run: why."),
    ],
)
def test_each_reason_has_words(reason: RejectionReason, told: str):
    assert Complaints({"f": TOOL}).of_unread("f", reason, "why") == told


def test_a_call_without_the_name_of_a_tool_is_to_be_written_in_the_format_that_was_given():
    told = Complaints({"f": TOOL}, "pythonic").of_unread(None, RejectionReason.MALFORMED, "why")
    assert told.endswith("Write all of it again, in the format that you were given")


@pytest.mark.parametrize(
    ("schema", "arguments", "form"),
    [
        (
            {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["b"]},
            {"a": 1},
            '{"a": "<string>", "b": "<value>"}',
        ),
        (
            {"properties": {"a": {"type": ["string", "null"]}, "c": True}},
            {"a": 1, "c": 2},
            '{"a": "<value>", "c": "<value>"}',
        ),
        ({"properties": {"a": {"type": "string"}}}, {}, '{"a": "<string>"}'),
    ],
)
def test_the_form_of_a_misfit_has_what_is_required_and_what_was_written(
    schema: dict[str, Any], arguments: dict[str, Any], form: str
):
    told = Complaints({"f": Tool("f", "", schema)}).of_misfit("f", ["one", "two"], arguments)
    assert told == (
        "The arguments do not fit, and the call was not run: one; two. "
        f'Write all of it again, in the form {{"name": "f", "parameters": {form}}}'
    )


def test_complaints_are_rendered_as_results_are():
    told = "Error of f: one\n\nError of a tool: two"
    assert render_complaints([("f", "one"), (None, "two")], is_due=True) == told
    assert render_complaints([("f", "one"), (None, "two")]) == f"{told}\n\nIf no call is needed, answer in words."
    assert render_complaints([]) == ""


def test_a_call_that_is_due_and_did_not_come_is_asked_for():
    told = "Your last reply has no function call. Call one, in the "
    assert Complaints({"f": TOOL}).of_nothing("f") == f"{told}{FORM.removeprefix('in the ')}"
    assert Complaints({"f": TOOL}).of_nothing(None) == f"{told}format that you were given"


def test_a_result_without_misfits_stays():
    assert with_misfits("x", []) == "x"
    assert with_misfits("x", ["one", "two"]) == "x\n(The arguments did not fit. one; two)"
