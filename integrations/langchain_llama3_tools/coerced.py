"""What became of calls that did not fit, told in a message's `response_metadata`, where rejected calls are, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from llama3_tools import ToolCall
from llama3_tools.arguments import call_report
from llama3_tools.arguments.call_report import COERCED_ARGUMENTS, CoercedArguments
from llama3_tools.reading.json_object import parse_whole
from llama3_tools.text.json_writing import write_json

__all__ = ["COERCED_ARGUMENTS", "CoercedArguments", "coerced_arguments"]


def coerced_arguments(calls: Iterable[ToolCall]) -> list[CoercedArguments]:
    """Report each call in which something was changed, deviates or does not fit.

    What a server's call was written as is told as a whole message has it, which holds the values alone.
    """
    return call_report.coerced_arguments(_as_in_whole_message(call) for call in calls)


def _as_in_whole_message(call: ToolCall) -> ToolCall:
    if call.format != "native" or not (call.changes or call.problems):
        return call
    read = parse_whole(call.arguments_json)
    return call if read is None else replace(call, arguments_json=write_json(read.members))
