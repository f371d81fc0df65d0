"""The wire formats, in the order in which they are tried where several begin with the same character.

A new format is a file in this folder and a line in this list.
"""

from llama3_tools.formats.base import Openings
from llama3_tools.formats.fence import FENCE
from llama3_tools.formats.function_tag import FUNCTION_TAG
from llama3_tools.formats.json_calls import JSON_ARRAY, JSON_OBJECT
from llama3_tools.formats.protocol_tokens import PROTOCOL_TOKEN
from llama3_tools.formats.quotation import THINK
from llama3_tools.formats.wrappers import PYTHON_START, TOOL, TOOL_CALL

__all__ = ["DEFAULT_OPENINGS"]

DEFAULT_OPENINGS = Openings(
    [
        JSON_OBJECT,
        JSON_ARRAY,
        TOOL_CALL,
        TOOL,
        FUNCTION_TAG,
        FENCE,
        PYTHON_START,
        PROTOCOL_TOKEN,
        THINK,
    ]
)
