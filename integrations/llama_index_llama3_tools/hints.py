"""What to do about the errors of an LLM that a user of tools meets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from llama_index.core.llms import LLM

from llama3_tools import Llama3ToolsError
from llama3_tools.chat import NOT_A_COMPLETION, EndpointFault, endpoint_fault, what_to_do, with_advice
from llama_index_llama3_tools.errors import LLMRequestError

__all__ = ["NO_RESPONSE", "explain_errors"]

NO_RESPONSE = f"The LLM's stream ended without a response: {NOT_A_COMPLETION}"
"""For a stream that holds nothing, such as a web page read as one."""

_IN_THE_PROMPT = 'Llama3ToolLLM(llm, tools_in="user")'
_ONLY_COMPLETES = "unexpected keyword argument 'tools'"
_NOT_COMPLETIONS = (
    "has no attribute 'choices'",
    "'NoneType' object is not subscriptable",
    "validation error for LLMCompletionEndEvent",
    "validation error for CompletionResponse",
)
"""How an answer that is no completion looks where OpenAI's client and LlamaIndex stumble over it."""


class Answer(Protocol):
    """What is being read."""

    @property
    def output(self) -> str:
        """What the model has written so far."""


@contextmanager
def explain_errors(llm: LLM, answer: Answer | None = None) -> Iterator[None]:
    """Raise an error that says what to do, where that is known; all other errors stay as they are.

    Args:
        llm: what is asked.
        answer: the answer, where it is a stream.

    Raises:
        LLMRequestError: from the LLM's own error, with its text, and with what had been written.
    """
    try:
        yield
    except Llama3ToolsError:
        raise
    except Exception as error:
        output = answer.output if answer else ""
        hint = _hint(error, llm) or (what_to_do(EndpointFault.BROKE_OFF, error, llm) if output else None)
        if hint is None:
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        raise LLMRequestError(with_advice(text, hint), output) from error


def _hint(error: Exception, llm: LLM) -> str | None:
    if _ONLY_COMPLETES in str(error):
        chats = "this LLM only completes text: use OpenAILike(…, is_chat_model=True)"
        return f"{chats}, or put the tools into the prompt: {_IN_THE_PROMPT}"
    fault = endpoint_fault(error, _NOT_COMPLETIONS)
    if fault is EndpointFault.TIMED_OUT:
        return _of_timeout(llm)
    if fault is EndpointFault.NO_TOOL_ROLE:
        return 'the server does not know the role "tool": use Llama3ToolLLM(llm, tool_role="user")'
    is_refused = fault is EndpointFault.NOT_CONNECTED or type(error).__name__ == "AuthenticationError"
    if is_refused and _asks_openai(llm):
        return "it asks OpenAI: pass the address of your server as api_base=…, not base_url=…"
    is_no_completion = type(error).__name__ == "NotFoundError" or "CompletionResponse" in str(error)
    may_only_chat = is_no_completion and not llm.metadata.is_chat_model
    if fault is EndpointFault.NOT_A_COMPLETION and may_only_chat:
        return f"{NOT_A_COMPLETION} If the server only chats, use OpenAILike(…, is_chat_model=True)"
    return what_to_do(fault, error, llm, _IN_THE_PROMPT) if fault else None


def _asks_openai(llm: LLM) -> bool:
    """Return whether an LLM for other servers has no address of its own: it ignores names that it does not know."""
    address = str(getattr(llm, "api_base", None) or "")
    return type(llm).__name__ == "OpenAILike" and address.startswith("https://api.openai.com")


def _of_timeout(llm: LLM) -> str:
    seconds = getattr(llm, "timeout", None) or getattr(llm, "request_timeout", None)
    waited = f"for {seconds:g} seconds" if isinstance(seconds, (int, float)) else "in time"
    retries = getattr(llm, "max_retries", 0)
    tries = f"; the client asks again, as max_retries={retries}, and max_retries=0 asks once" if retries else ""
    return f"no answer {waited}: set a larger timeout{tries}"
