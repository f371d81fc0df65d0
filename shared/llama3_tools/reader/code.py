"""Code after `<|python_tag|>`: a call of `code_interpreter`, if that is declared."""

from __future__ import annotations

import re
from json import dumps

from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.reader.json_calls import WrittenCall
from llama3_tools.tools.declared import Tool

CODE_INTERPRETER = "code_interpreter"

_PARAMETER = "code"
_SIGN = re.compile(r"[=(\[{+*/#@]|:\s*\n|\b(?:import|return|print|pass|del|raise)\b|\A\s*\w+\s*\Z").search
"""What code has, and prose usually does not."""
_FENCE_END = re.compile(r"\n[ \t]*`{3,16}\s*\Z")


def code_call(text: str, tool: Tool | None, *, is_fenced: bool) -> tuple[WrittenCall, int] | None:
    r"""Return the call of some code, and where the code begins; `None` if it is not code.

    >>> call, start = code_call("\nprint(4)\n", None, is_fenced=False)
    >>> call.arguments, start
    ({'code': 'print(4)'}, 1)

    The code goes to the tool's parameter `code`, or else to the first that it requires, or that it has.
    """
    closed = _FENCE_END.search(text) if is_fenced else None
    at = len(text) - len(text.lstrip("\r\n"))
    text = text[at : closed.start() if closed else None].rstrip()
    if not text or not _SIGN(text) or not is_unicode(text):
        return None
    schema = tool.parameters if tool else {}
    parameters = list(schema.get("properties") or ())
    required = [name for name in schema.get("required") or () if name in parameters]
    name = _PARAMETER if _PARAMETER in parameters or not parameters else [*required, *parameters][0]
    arguments = {name: text}
    return WrittenCall(CODE_INTERPRETER, arguments, dumps(arguments, ensure_ascii=False)), at
