"""Protocol tokens: what a server should have cut off around a message (rule 10).

A model that runs on after its turn makes up the next one, of the user or of a tool: that is quotation (rule 9).
Without it, a call in a result that the model makes up would run.
"""

from __future__ import annotations

import re

from llama3_tools.formats.base import Closing, Kind, WireFormat, beginnings, literals

__all__ = ["END_OF_TURN", "PYTHON_TAG", "TOKEN", "TURN"]

PYTHON_TAG = "<|python_tag|>"

# meta-llama/llama-models: prompt_format.md of llama3_1, llama3_2, llama3_3 and llama4. Hermes finetunes of Llama 3
# write ChatML, and <|end_header_id|> after it: HuanzhiMao/BFCL-Result, NousResearch_Hermes-2-Theta-Llama-3-70B.
_ENDS = ("<|eom_id|>", "<|eot_id|>", "<|end_of_text|>", "<|eom|>", "<|eot|>", "<|im_end|>", "<|endoftext|>")
_PLAIN = (
    "<|begin_of_text|>",
    "<|finetune_right_pad_id|>",
    "<|python_end|>",
    "<|end_header_id|>",
    *_ENDS,
)
_STARTS = ("<|im_start|>", "<|start_header_id|>", "<|header_start|>")
# In either case, written out: `re` is slow where it ignores case.
_OTHERS = (
    r"(?:[uU][sS][eE][rR]|[sS][yY][sS][tT][eE][mM]|[tT][oO]{2}[lL]|[iI][pP][yY][tT][hH][oO][nN]"
    r"|[fF][uU][nN][cC][tT][iI][oO][nN])"
)
_ROLE = r"[A-Za-z]{0,16}[ \t]{0,4}"
_OTHERS_ROLE = rf"{_OTHERS}[ \t]{{0,4}}(?:\r?\n|<\|end_header_id\|>|\Z)"
_HEADER = r"<\|(?:start_header_id|header_start)\|>"
_HEADER_END = r"<\|(?:end_header_id|header_end)\|>"
_NAME = r"[^<>|]{0,32}"

TURN = WireFormat(
    "turn",
    Kind.OTHER_TURN,
    rf"<\|im_start\|>{_OTHERS_ROLE}|{_HEADER}{_OTHERS}\s{{0,8}}{_HEADER_END}",
    rf"<\|im_start\|>{_ROLE}(?:\r|<(?:\|[a-z_]{{0,14}}\|?)?)?"
    rf"|{_HEADER}{_NAME}(?:<(?:\|[a-z_]{{0,16}}\|?)?|{_HEADER_END})?",
    "<",
    r"\|",
    texts=_STARTS,
)


def _tokens(not_a_role: str) -> str:
    """Return the pattern of tokens, if what follows `<|im_start|>` is not this."""
    # A run of tokens is one: Hermes 2 Theta writes dozens of them in a row.
    return (
        rf"{re.escape(PYTHON_TAG)}|<\|python_start\|>|(?:{literals(_PLAIN)}"
        rf"|<\|im_start\|>(?!{not_a_role})(?:assistant(?![a-z])[ \t]{{0,4}}|)(?:\n|\r\n|)"
        rf"|{_HEADER}(?!{_OTHERS}\s{{0,8}}{_HEADER_END}){_NAME}{_HEADER_END}){{1,64}}"
    )


TOKEN = WireFormat(
    "token",
    Kind.TOKEN,
    _tokens(rf"{_ROLE}(?:\r|<(?:\|[a-z_]{{0,14}}\|?)?)?\Z|{_OTHERS_ROLE}"),
    "",
    "<",
    r"\|",
    texts=(PYTHON_TAG, "<|python_start|>", *_PLAIN),
    opening_ended=_tokens(_OTHERS_ROLE),
)

END_OF_TURN = Closing.of(rf"(?=(?:{literals((*_ENDS, *_STARTS))}))", beginnings(*_ENDS, *_STARTS))
"""What ends another's turn: the next header, or the token that ends a turn."""
