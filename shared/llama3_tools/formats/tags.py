"""Tags around calls in JSON, and Llama 4's tokens around pythonic ones (rule 9)."""

from __future__ import annotations

from dataclasses import replace

from llama3_tools.formats.base import tag

__all__ = ["TAGS"]

# <TOOLCALL> is that of Nvidia's Llama-Nemotron: `nemotron_deci` in ai-dynamo/dynamo, lib/parsers.
TOOL_CALL = tag("tool_call", {"<tool_call>": "</tool_call>", "<TOOLCALL>": "</TOOLCALL>"})

# <TOOL> stands in the outputs of Hermes 2 Theta that are named below, <tool-use> in groq/groq-typescript, issue 103.
TOOL = replace(
    tag("tool", {"<tool>": "</tool>", "<TOOL>": "</TOOL>", "<tool-use>": "</tool-use>"}), reads_tool_name=True
)

# Tags of finetunes. Where the prompt has the tools in <tools>, as Hermes' does, models write it around calls, too.
# <functioncall>, without a closing tag, is that of Glaive's training data. Those of pairs, and <function>, stand in
# HuanzhiMao/BFCL-Result, NousResearch_Hermes-2-Theta-Llama-3-70B; <functioncall {…}> in maxi1134/Home-Assistant-Config,
# issue 66.
TOOLS = tag("tools", {"<tools>": "</tools>"}, is_for_calls=False)
FUNCTION = tag("function", {"<function>": "</function>"})
FUNCTIONCALL = replace(
    tag(
        "functioncall",
        {
            "<functioncall>": "</functioncall>",
            "<function_call>": "</function_call>",
            "<functioncall ": ">",
            "<functioncall\n": ">",
        },
    ),
    surplus={">": "</functioncall>"},
)

# meta-llama/llama-models: prompt_format.md of llama4.
PYTHON_START = replace(tag("python_start", {"<|python_start|>": "<|python_end|>"}), asked_for_as=None, holds_json=False)

TAGS = (TOOL_CALL, TOOL, TOOLS, FUNCTIONCALL, FUNCTION, PYTHON_START)
