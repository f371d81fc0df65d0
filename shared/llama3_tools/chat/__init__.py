"""What an agent needs beside the reading of one text: conversations with tools, in OpenAI's form, without a framework.

`docs/chat.md` says what happens to calls. `ToolChat` is the way in:

>>> chat = ToolChat([{"name": "now"}])
>>> request = chat.request([{"role": "user", "content": "What time is it?"}])
>>> request.read({"role": "assistant", "content": '{"name": "now", "parameters": {}}'}).tool_calls
(<ToolCall now({}) json 0:33>,)
"""

from llama3_tools.chat.constraint import Constrain, ServerConstraint
from llama3_tools.chat.endpoint_errors import (
    EndpointFault,
    add_advice,
    endpoint_fault,
    failed_generation,
)
from llama3_tools.chat.finish_reason import finish_reason_in, is_complete
from llama3_tools.chat.misfits import ArgumentChecks, ClassCheck, class_problems
from llama3_tools.chat.options import (
    ChatOption,
    ChatOptions,
    OnInvalid,
    RepeatedCalls,
    ToolRole,
    ToolsPlace,
    chat_options,
)
from llama3_tools.chat.partial_arguments import arguments_so_far
from llama3_tools.chat.report import REFUSED_TOOL_CALLS, RefusedCall, Reply, Report
from llama3_tools.chat.request import Request
from llama3_tools.chat.stream import ChatStream
from llama3_tools.chat.tool_chat import ToolChat, kept_chat
from llama3_tools.chat.tool_prompt import put_tools
from llama3_tools.options import read_options

__all__ = [
    "REFUSED_TOOL_CALLS",
    "ArgumentChecks",
    "ChatOption",
    "ChatOptions",
    "ChatStream",
    "ClassCheck",
    "Constrain",
    "EndpointFault",
    "OnInvalid",
    "RefusedCall",
    "RepeatedCalls",
    "Reply",
    "Report",
    "Request",
    "ServerConstraint",
    "ToolChat",
    "ToolRole",
    "ToolsPlace",
    "add_advice",
    "arguments_so_far",
    "chat_options",
    "class_problems",
    "endpoint_fault",
    "failed_generation",
    "finish_reason_in",
    "is_complete",
    "kept_chat",
    "put_tools",
    "read_options",
]
