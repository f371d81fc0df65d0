"""What to do about the errors of a model that a user of tools meets, said in the error's own text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langchain_core.language_models import BaseChatModel

from llama3_tools.chat import NOT_A_COMPLETION, EndpointFault, ToolRole, endpoint_fault, what_to_do, with_advice

__all__ = ["NO_RESPONSE", "explain_errors"]

NO_RESPONSE = f"No generation chunks were returned ({NOT_A_COMPLETION})"
"""For a stream that holds nothing, such as a web page read as one. LangChain says the first half of it."""

_IN_THE_PROMPT = 'tools_in="user"'  # an option of the model and of the middleware
_NOT_COMPLETIONS = (
    "expected a dict or openai.BaseModel",  # langchain-openai, of a page; older ones say what follows
    "'str' object has no attribute 'model_dump'",
    "null value for 'choices'",
    "no generations found in stream",
)


@contextmanager
def explain_errors(llm: BaseChatModel, tool_role: ToolRole) -> Iterator[None]:
    """Add to an error what to do about it, where that is known.

    The error stays the one that the model raised: what catches, retries or falls back by its type goes on to do so.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> with explain_errors(FakeListChatModel(responses=[]), "tool"):
    ...     raise ValueError("Unexpected role: tool")
    Traceback (most recent call last):
    ValueError: Unexpected role: tool (the server does not know this role: use tool_role="user")

    Args:
        llm: what is asked.
        tool_role: the role in which results are sent.
    """
    try:
        yield
    except Exception as error:
        hint, text = _hint(error, llm, tool_role), str(error)
        if hint and hint not in text and error.args and error.args[0] == text:  # not so, if it writes its own text
            error.args = (with_advice(text, hint), *error.args[1:])
        raise


def _hint(error: Exception, llm: BaseChatModel, tool_role: ToolRole) -> str | None:
    fault = endpoint_fault(error, _NOT_COMPLETIONS)
    if fault is EndpointFault.NO_TOOL_ROLE and tool_role != "user":
        return 'the server does not know this role: use tool_role="user"'
    return what_to_do(fault, error, llm, _IN_THE_PROMPT) if fault else None
