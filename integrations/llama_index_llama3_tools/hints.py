"""What to do about the errors of an LLM that a user of tools meets, as a note on the error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llama_index.core.llms import LLM

from llama3_tools.chat import NOT_A_COMPLETION, EndpointFault, add_advice, endpoint_fault, what_to_do

NO_RESPONSE = f"The LLM's stream ended without a response: {NOT_A_COMPLETION}"
"""For a stream that holds nothing, such as a web page read as one."""

_IN_THE_PROMPT = 'Llama3ToolLLM(llm, tools_in="user")'
_NOT_COMPLETIONS = (
    "has no attribute 'choices'",
    "'NoneType' object is not subscriptable",
    "validation error for LLMCompletionEndEvent",
    "validation error for CompletionResponse",
)
"""How an answer that is no completion looks where OpenAI's client and LlamaIndex stumble over it."""


@contextmanager
def explain_errors(llm: LLM) -> Iterator[None]:
    """Add a note to an error that says what to do, where that is known. The error stays the one that the LLM raised.

    >>> from llama_index.core.llms import MockLLM
    >>> try:
    ...     with explain_errors(MockLLM()):
    ...         raise ValueError("Unexpected role: tool")
    ... except ValueError as error:
    ...     print(error.__notes__)
    ['the server does not know the role "tool": use Llama3ToolLLM(llm, tool_role="user")']

    Args:
        llm: what is asked.
    """
    try:
        yield
    except Exception as error:
        if not hasattr(error, "__notes__") and (hint := _hint(error, llm)):
            add_advice(error, hint)
        raise


def _hint(error: Exception, llm: LLM) -> str | None:
    if "Event loop is closed" in f"{error} {error.__cause__}":
        return "the client belongs to an earlier asyncio.run: make a new LLM, or use OpenAILike(…, reuse_client=False)"
    fault = endpoint_fault(error, _NOT_COMPLETIONS)
    if fault is EndpointFault.NO_TOOL_ROLE:
        return 'the server does not know the role "tool": use Llama3ToolLLM(llm, tool_role="user")'
    return what_to_do(fault, error, llm, _IN_THE_PROMPT) if fault else None
