"""What to do about the errors of an LLM that a user of tools meets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llama_index.core.llms import LLM

from llama3_tools import Llama3ToolsError
from llama_index_llama3_tools.errors import LLMRequestError

__all__ = ["NO_RESPONSE", "explained"]

_NOT_AN_ANSWER = "the server answers, but not with a completion: does the address end in /v1, as most servers want it?"
NO_RESPONSE = f"The LLM's stream ended without a response: {_NOT_AN_ANSWER}"
"""For a stream that holds nothing, such as a web page read as one."""

_IN_THE_PROMPT = 'show the model its tools in the prompt instead: Llama3ToolLLM(llm, tool_mode="prompt")'
_HINTS = (
    ("does not support tools", _IN_THE_PROMPT),
    (
        "--enable-auto-tool-choice",
        f"start vLLM with --enable-auto-tool-choice and --tool-call-parser, or {_IN_THE_PROMPT}",
    ),
    (
        "unexpected keyword argument 'tools'",
        f"the LLM completes text and takes no tools: OpenAILike(…, is_chat_model=True), or {_IN_THE_PROMPT}",
    ),
    ("has no attribute 'choices'", _NOT_AN_ANSWER),
    (
        "roles must alternate",
        'the server wants user and assistant in turns: Llama3ToolLLM(llm, tool_result_role="user")',
    ),
)
"""A part of an error's text, and what to do."""
_CONNECTION_ERRORS = {"APIConnectionError", "ConnectError", "ConnectionRefusedError"}
_TOOL_ROLE = ("unexpected role", "invalid role", "unknown role", "role 'tool'", 'role "tool"', "roles are supported")


@contextmanager
def explained(llm: LLM) -> Iterator[None]:
    """Raise an error that says what to do, where that is known; all other errors stay as they are.

    Args:
        llm: what is asked.

    Raises:
        LLMRequestError: from the LLM's own error, with its text.
    """
    try:
        yield
    except Llama3ToolsError:
        raise
    except Exception as error:
        hint = _hint(error, llm)
        if hint is None:
            raise
        raise LLMRequestError(f"{type(error).__name__}: {error} ({hint})") from error


def _hint(error: Exception, llm: LLM) -> str | None:
    if type(error).__name__ in _CONNECTION_ERRORS:
        address = getattr(llm, "api_base", None) or getattr(llm, "base_url", None) or "the LLM's address"
        return f"no connection to {address}: is the server running there?"
    text = str(error)
    for part, hint in _HINTS:
        if part in text:
            return hint
    if any(part in text.lower() for part in _TOOL_ROLE):
        return 'the server knows no role "tool": Llama3ToolLLM(llm, tool_result_role="user")'
    return None
