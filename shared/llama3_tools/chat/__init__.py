"""What an agent needs beside the reading of one text: conversations with tools, in OpenAI's form, without a framework.

`docs/chat.md` says what happens to calls. `ToolChat` is the way in:

>>> chat = ToolChat([{"name": "now"}])
>>> request = chat.request([{"role": "user", "content": "What time is it?"}])
>>> request.read({"role": "assistant", "content": '{"name": "now", "parameters": {}}'}).tool_calls
(<ToolCall now({}) json 0:33>,)
"""

from llama3_tools.chat.kept_chats import kept_chat
from llama3_tools.chat.options import ChatOptions, RepeatedCalls, ToolRole, ToolsPlace
from llama3_tools.chat.report import RefusedCall, Reply, Report
from llama3_tools.chat.stream import ChatStream
from llama3_tools.chat.tool_chat import Request, ToolChat

__all__ = [
    "ChatOptions",
    "ChatStream",
    "RefusedCall",
    "RepeatedCalls",
    "Reply",
    "Report",
    "Request",
    "ToolChat",
    "ToolRole",
    "ToolsPlace",
    "kept_chat",
]
