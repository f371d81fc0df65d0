"""vLLM's tool parser `llama3_tools`: what a Llama 3 writes becomes text and tool calls inside the server.

vLLM finds it by itself if this package is installed beside it:
`vllm serve MODEL --enable-auto-tool-choice --tool-call-parser llama3_tools`.
"""

from __future__ import annotations

__all__ = ["register"]


def register() -> None:
    """Make the parser known to vLLM, which calls this in each of its processes, before it reads its arguments.

    Nothing of vLLM is imported but its list of parsers; the parser itself is once it is chosen.

    >>> from vllm.tool_parsers import ToolParserManager
    >>> register()
    >>> ToolParserManager.get_tool_parser("llama3_tools").__name__
    'Llama3ToolParser'
    """
    from vllm.tool_parsers import ToolParserManager  # noqa: PLC0415 (vLLM is there when vLLM calls this)

    ToolParserManager.register_lazy_module("llama3_tools", "vllm_llama3_tools.tool_parser", "Llama3ToolParser")
