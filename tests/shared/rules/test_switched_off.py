"""What each rule is good for: without it, an output is read in another way (`switched_off`)."""

from __future__ import annotations

import pytest

from chunkings import extract_in_every_chunking
from llama3_tools.formats import RULES, switched_off

CALL = '{"name": "f", "parameters": {}}'
TOOLS = [{"name": "f"}, {"name": "code_interpreter"}]
USER = "<|start_header_id|>user<|end_header_id|>\n\n"

# The content, how many calls there are, and how many attempts at one: with the rule, and without it.
ROWS: dict[str, tuple[str, tuple[str | None, int, int], tuple[str | None, int, int]]] = {
    "blockquote": (f"> {CALL}", (f"> {CALL}", 0, 0), (">", 1, 0)),
    "bold": (f"**{CALL}**", (None, 1, 0), ("** **", 1, 0)),
    "broken_data": (f'{{"a": oops, "b": {CALL}}}', (f'{{"a": oops, "b": {CALL}}}', 0, 0), ('{"a": oops, "b":', 1, 0)),
    "code": ("<|python_tag|>x = 1", (None, 1, 0), ("x = 1", 0, 0)),
    "fence": (f"```json\n{CALL}\n```", (None, 1, 0), ("```json ```", 1, 0)),
    "function": (f"<function>{CALL}</function>", (None, 1, 0), ("<function> </function>", 1, 0)),
    "function_end": (
        "<function=f>oops</function>",
        ("<function=f>oops</function>", 0, 1),
        ("<function=f>oops</function>", 0, 0),
    ),
    "function_tag": ('<function=f>{"a": 1}</function>', (None, 1, 0), ('<function=f>{"a": 1}</function>', 0, 0)),
    "functionary": ('f\n{"a": 1}', (None, 1, 0), ('f\n{"a": 1}', 0, 0)),
    "functioncall": (f"<functioncall>{CALL}</functioncall>", (None, 1, 0), ("<functioncall> </functioncall>", 1, 0)),
    "json": (CALL, (None, 1, 0), (CALL, 0, 0)),
    "list": (f"[{CALL}]", (None, 1, 0), ("[ ]", 1, 0)),
    "listing": (f"```\nrun({CALL})\n```", (f"```\nrun({CALL})\n```", 0, 0), ("```\nrun( )\n```", 1, 0)),
    "named_list": ('["f", {"a": 1}]', ('["f", {"a": 1}]', 0, 1), ('["f", {"a": 1}]', 0, 0)),
    "python_dict": (
        "{'name': 'f', 'parameters': {}}",
        ("{'name': 'f', 'parameters': {}}", 0, 1),
        ("{'name': 'f', 'parameters': {}}", 0, 0),
    ),
    "python_start": ('<|python_start|>{"a": 1}<|python_end|>', ('{"a": 1}', 0, 1), ('{"a": 1}', 0, 0)),
    "pythonic": ("f(a=1)", (None, 1, 0), ("f(a=1)", 0, 0)),
    "pythonic_list": ("[f(a=1)]", (None, 1, 0), ("[f(a=1)]", 0, 0)),
    "result": (f"Result of f: {CALL}", (f"Result of f: {CALL}", 0, 0), ("Result of f:", 1, 0)),
    "span": (f"Write `{CALL}` so.", (f"Write `{CALL}` so.", 0, 0), ("Write ` ` so.", 1, 0)),
    "string": (f"Say '{CALL}', then.", (f"Say '{CALL}', then.", 0, 0), ("Say ' ', then.", 1, 0)),
    "thought": (f"<think>{CALL}</think>", (f"<think>{CALL}</think>", 0, 1), ("<think> </think>", 1, 0)),
    "tildes": (f"~~~\n{CALL}\n~~~", (f"~~~\n{CALL}\n~~~", 0, 0), ("~~~ ~~~", 1, 0)),
    "token": (f"{CALL}<|eom_id|>", (None, 1, 0), ("<|eom_id|>", 1, 0)),
    "tool": (f"<tool>{CALL}</tool>", (None, 1, 0), ("<tool> </tool>", 1, 0)),
    "tool_call": (f"<tool_call>{CALL}</tool_call>", (None, 1, 0), ("<tool_call> </tool_call>", 1, 0)),
    "tool_response": (f"<tool_response>{CALL}", (f"<tool_response>{CALL}", 0, 0), ("<tool_response>", 1, 0)),
    "tools": (f"<tools>{CALL}</tools>", (None, 1, 0), ("<tools> </tools>", 1, 0)),
    "turn": (f"{USER}{CALL}", (f"\n\n{CALL}", 0, 0), ("<|start_header_id|>user", 1, 0)),
}


def read(text: str) -> tuple[str | None, int, int]:
    extraction = extract_in_every_chunking(text, tools=TOOLS)
    return extraction.content, len(extraction.tool_calls), len(extraction.attempts)


@pytest.mark.parametrize("rule", ROWS)
def test_without_a_rule_an_output_is_read_in_another_way(rule: str):
    text, with_it, without_it = ROWS[rule]
    assert read(text) == with_it
    with switched_off(rule):
        assert read(text) == without_it
    assert read(text) == with_it


def test_every_rule_that_can_be_switched_off_is_here():
    assert ROWS.keys() == RULES
