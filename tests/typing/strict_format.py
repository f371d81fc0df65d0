"""The strict response format as a type checker sees it. `mypy` reads this file; nothing runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typing_extensions import assert_type

from llama3_tools import (
    Extraction,
    ResponseFormatError,
    ResponseFormatProblem,
    Tool,
    parse_response,
    render_response_prompt,
    response_json_schema,
)


def the_format(text: str, tools: Sequence[Tool]) -> None:
    assert_type(response_json_schema(tools, multiple=True, tool_choice="required", max_string=9), dict[str, Any])
    assert_type(render_response_prompt(None, tool_choice="clock"), str)
    try:
        assert_type(parse_response(text, tools=tools, multiple=True, tool_choice="clock"), Extraction)
        assert_type(parse_response(text, tools=tools, coerce_arguments=True), Extraction)
    except ResponseFormatError as error:
        assert_type(error.problem, ResponseFormatProblem)
        assert_type(error.offset, int)
        assert_type(error.output, str)
