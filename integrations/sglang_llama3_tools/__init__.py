"""SGLang's tool call parser `llama3_tools`: what a Llama 3 writes becomes text and tool calls inside the server.

SGLang finds it by itself if this package is installed beside it:
`python -m sglang.launch_server --model-path MODEL --tool-call-parser llama3_tools`.
"""

from __future__ import annotations

__all__ = ["register"]


def register() -> None:
    """Make the detector known to SGLang, which calls this before it reads its arguments.

    >>> from sglang.srt.function_call.function_call_parser import FunctionCallParser
    >>> register()
    >>> FunctionCallParser.ToolCallParserEnum["llama3_tools"].__name__
    'Llama3Detector'
    """
    from sglang.srt.function_call.function_call_parser import FunctionCallParser  # noqa: PLC0415 (SGLang calls this)

    from sglang_llama3_tools.detector import Llama3Detector  # noqa: PLC0415 (the same)

    FunctionCallParser.ToolCallParserEnum["llama3_tools"] = Llama3Detector
