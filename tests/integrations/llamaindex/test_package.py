"""What the package leaves alone in the framework, and what it takes of it."""

from __future__ import annotations

import re
from pathlib import Path

from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.base.llms.types import ThinkingBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.program.function_program import get_function_tool
from llama_index.core.types import BaseOutputParser

import llama_index_llama3_tools

PACKAGE = Path(llama_index_llama3_tools.__file__).parent


def test_what_is_private_in_the_framework_and_overridden_is_there() -> None:
    # All that the package takes of LlamaIndex beyond its public names. It is abstract: each such LLM has to have it.
    assert "_prepare_chat_with_tools" in FunctionCallingLLM.__abstractmethods__
    files = [file.read_text("utf-8") for file in PACKAGE.glob("*.py")]
    own = set(re.findall(r"(?:def |\.)(_[a-z]\w*)", "".join(files)))
    tool = get_function_tool(ThinkingBlock)
    theirs = {name for base in (FunctionCallingLLM, BaseOutputParser, ReActOutputParser, tool) for name in dir(base)}
    streams = {"_structured_stream_call", "_structured_astream_call", "_extend_messages"}
    assert {name for name in own & theirs if name[:2] != "__"} == {"_prepare_chat_with_tools", *streams, "_metadata"}
    # By this, the tools are known that make an object of a class.
    assert tool.fn.__module__ == get_function_tool.__module__
