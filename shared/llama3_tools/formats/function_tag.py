"""`<function=NAME>{…}</function>`: the name in the tag, the arguments inside (rule 9)."""

from __future__ import annotations

import re

from llama3_tools.formats.base import NAME, NAME_BEGINS, Kind, WireFormat, beginnings

__all__ = ["CLOSING", "FORMAT", "FUNCTION_END", "FUNCTION_TAG", "MISSPELLED_CLOSINGS", "named_in"]

_SPACE = r"[ \t\n\r]{0,16}"

FORMAT = "function"
"""The format of the calls in such tags, by which they are asked for, too."""

CLOSING = "</function>"

MISSPELLED_CLOSINGS = ("<function>", ">")
"""What closes a tag of a declared tool, too."""

# The documented form, and `<function name="NAME">` of Hermes' finetunes in llama.cpp's tests. Then Llama's own
# misspellings, for declared tools. Where each stands, from Llama 3.1 and 3.3, most as what Groq calls a failed
# generation:
# <function=NAME={…}</function>    tashfeenahmed/freellmapi, pull request 291
# <function=NAME {…} </function>   kagent-dev/kagent, issue 1532
# <function=NAME{…}</function>     Trivedi-Kartik/voice-assistant, server/src/groqErrors.ts
# <function=NAME{…}></function>    RightNow-AI/openfang, crates/openfang-runtime/src/drivers/openai.rs; so with a blank
# <function.NAME{…}></function>    Artag-Chris/atiende, src/modules/llm/raw-function-calls.ts
# <function.NAME>{…}</function>    thechekh/ai-workspace-assistant, src/assistant/llm/client.py
# <function(NAME){…}               the same
# <function(NAME){…}>              JGalego/HyperLab, apps/desktop/demo/README.md
# <function=NAME>{…}<function>     alexberardi/jarvis-command-center, tests/test_llama31_medium_untrained.py
FUNCTION_TAG = WireFormat(
    "function_tag",
    Kind.NAMED_TAG,
    rf"<function(?:=(?P<tag_name>{NAME})>"
    rf'|[ ]name="(?P<attribute_name>{NAME})">'
    rf"|[=.](?P<dotted_name>{NAME})(?:[>=]|(?={_SPACE}\{{))"
    rf"|\((?P<called_name>{NAME})\)>?(?={_SPACE}\{{))",
    rf"{beginnings('<function=')}|<function(?:[=.]{NAME_BEGINS}{_SPACE}|\({NAME_BEGINS}(?:\)>?{_SPACE})?"
    rf'|[ ](?:{beginnings("name=")}|name=(?:"{NAME_BEGINS}"?)?)?)',
    "<",
    "f",
    asked_for_as=FORMAT,
)

# Without it, `<function=NAME>a=1</function>` of a declared tool is passed in silence (rule 15).
FUNCTION_END = WireFormat(
    "function_end",
    Kind.FUNCTION_END,
    re.escape(CLOSING),
    "",
    "<",
    "/",
    asked_for_as=FORMAT,
    is_inside=False,
    texts=(CLOSING,),
)


def named_in(match: re.Match[str]) -> tuple[str, str | None]:
    """Return the tool that the opening of a tag names, and how the tag is misspelt, if it is.

    >>> for text in ("<function=f>{}", "<function(f){}"):
    ...     print(*named_in(re.match(FUNCTION_TAG.opening, text)))
    f None
    f the tag is written <function(NAME){…}
    """
    for group in ("tag_name", "attribute_name"):
        if match[group]:
            return match[group], None
    group = "dotted_name" if match["dotted_name"] else "called_name"
    text = match.string
    written = f"{text[match.start() : match.start(group)]}NAME{text[match.end(group) : match.end()]}"
    return match[group], f"the tag is written {written}{{…}}"
