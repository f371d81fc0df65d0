"""Code after `<|python_tag|>`: a call of the declared tool `code_interpreter` (rule 11)."""

from __future__ import annotations

import re
from json import dumps

from llama3_tools.calls.shapes import WrittenCall
from llama3_tools.formats.base import Closing, beginnings
from llama3_tools.formats.cut_off_code import what_is_open
from llama3_tools.formats.protocol_tokens import TOKEN, TURN
from llama3_tools.literals.python_scalars import is_unicode
from llama3_tools.literals.refusal import Refusal
from llama3_tools.tools.declared import Tool
from llama3_tools.values import RejectionReason

__all__ = ["CODE_INTERPRETER", "CUT_TOKEN", "END_OF_CODE", "code_call", "refuse_code"]

CODE_INTERPRETER = "code_interpreter"

_PARAMETER = "code"
_WORD = re.compile(r"\w").search
# Code may stand in a fence, and its first line may be indented.
_CODE = re.compile(
    r"(?P<space>\s*?)(?P<fence>(?:[ \t]*\n)?[ \t]*`{3,16}[ \t]*(?:python3?|py)?[ \t]*\r?\n)?"
    r"(?P<indent>(?:[ \t]*\r?\n)*)(?P<code>.*)",
    re.DOTALL | re.IGNORECASE,
)
_FENCE_END = re.compile(r"\n[ \t]*`{3,16}\s*\Z")

END_OF_CODE = Closing.of(
    rf"(?=(?:{TURN.opening}|{TOKEN.opening}))",
    f"{TURN.beginnings}|{beginnings(*TURN.texts, *TOKEN.texts)}",
)
"""What ends code: the next token."""

CUT_TOKEN = re.compile(rf"(?=<\|)(?:{beginnings(*TOKEN.texts)})\Z")
"""A token in which the output ends."""


def code_call(text: str, tool: Tool | None) -> tuple[WrittenCall, int, int] | None:
    r"""Return the call of the code in what follows a tag, where the code begins, and its length; `None` if it is none.

    >>> call, start, length = code_call("\nprint(4)\n", None)
    >>> call.name, call.arguments, start, length
    ('code_interpreter', {'code': 'print(4)'}, 1, 8)

    Args:
        text: what stands between the tag and the next token.
        tool: the tool, if it is declared. The code goes to its parameter `code`, or else to the first that it requires,
            or that it has.
    """
    match = _CODE.fullmatch(text)
    assert match is not None  # noqa: S101  # all of it may be missing
    code, at = match["code"], match.start("code")
    if match["fence"]:
        lines = f"\n{code}"
        closed = _FENCE_END.search(lines)
        code = lines[1 : closed.start()] if closed else code
    else:
        stripped = code.lstrip() if "\n" not in match["space"] + match["indent"] else code
        at += len(code) - len(stripped)
        code = stripped
    code = code.rstrip()
    if not _WORD(code):
        return None
    schema = tool.parameters if tool else {}
    parameters = list(schema.get("properties") or ())
    required = [name for name in schema.get("required") or () if name in parameters]
    name = _PARAMETER if _PARAMETER in parameters or not parameters else [*required, *parameters][0]
    arguments = {name: code}
    return WrittenCall(CODE_INTERPRETER, arguments, dumps(arguments, ensure_ascii=False)), at, len(code)


def refuse_code(written: WrittenCall, *, is_closed: bool, is_complete: bool) -> Refusal | None:
    """Refuse code that was cut off (rule 7), as far as that can be seen, or that is no Unicode (rule 8).

    Args:
        written: the call of the code.
        is_closed: whether a token ended it, rather than the end of the output.
        is_complete: whether the model ended its turn, rather than a limit.
    """
    (code,) = written.arguments.values()
    if not is_closed and not is_complete:
        return Refusal(RejectionReason.TRUNCATED, "the output was cut off inside the code", CODE_INTERPRETER)
    if not is_closed and (open_ := what_is_open(code)):
        return Refusal(RejectionReason.TRUNCATED, f"the output ends inside the code: {open_}", CODE_INTERPRETER)
    if is_unicode(code):
        return None
    return Refusal(RejectionReason.MALFORMED, "half a surrogate pair in the code", CODE_INTERPRETER)
