"""What to do about the errors of an LLM that a user of tools meets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from llama_index.core.llms import LLM

from llama3_tools import Llama3ToolsError
from llama_index_llama3_tools.errors import LLMRequestError

__all__ = ["NO_RESPONSE", "explained"]

_NOT_AN_ANSWER = "the server answers, but not with a completion: does the address end in /v1, as most servers want it?"
NO_RESPONSE = f"The LLM's stream ended without a response: {_NOT_AN_ANSWER}"
"""For a stream that holds nothing, such as a web page read as one."""

_BROKE_OFF = "the answer broke off: the server's log may say why"
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
    (
        "roles must alternate",
        'the server wants user and assistant in turns: Llama3ToolLLM(llm, tool_result_role="user")',
    ),
    # An answer that is no completion, as it looks where OpenAI's client and LlamaIndex stumble over it.
    ("has no attribute 'choices'", _NOT_AN_ANSWER),
    ("'NoneType' object is not subscriptable", _NOT_AN_ANSWER),
    ("validation error for LLMCompletionEndEvent", _NOT_AN_ANSWER),
    ("<html", _NOT_AN_ANSWER),
    ("<!doctype", _NOT_AN_ANSWER),
)
"""A part of an error's text, and what to do."""
_TOOL_ROLE = ("unexpected role", "invalid role", "unknown role", "role 'tool'", 'role "tool"', "roles are supported")
_NO_SUCH_MODEL = re.compile(r"\bmodel\b.{0,99}(?:not found|not exist)|model_not_found", re.IGNORECASE | re.DOTALL)

# Errors by their names, of the clients that LlamaIndex's LLMs use (openai, httpx, ollama, requests, aiohttp).
_NOT_CONNECTED = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "UnsupportedProtocol"}
_TIMED_OUT = {"APITimeoutError", "ReadTimeout", "TimeoutError"}
_BROKEN = {"RemoteProtocolError", "ReadError", "ConnectionResetError", "ChunkedEncodingError", "ClientPayloadError"}
_CONNECTION_ERRORS = {"APIConnectionError", "ConnectionError"}  # where nothing more is known
_LONGEST_TEXT = 500  # characters: some clients put a whole web page into the text of their error


class Answer(Protocol):
    """What is being read."""

    @property
    def output(self) -> str:
        """What the model has written so far."""


@contextmanager
def explained(llm: LLM, answer: Answer | None = None) -> Iterator[None]:
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
        hint = _hint(error, llm) or (_BROKE_OFF if output else None)
        if hint is None:
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        shown = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
        raise LLMRequestError(f"{shown} ({hint})", output) from error


def _hint(error: Exception, llm: LLM) -> str | None:
    causes = list(_causes(error))
    text = str(error)
    return _of_connection(causes, llm) or _of_text(text) or _of_address(causes, text, llm)


def _of_connection(causes: list[BaseException], llm: LLM) -> str | None:
    names = {type(cause).__name__ for cause in causes}
    if not names & _NOT_CONNECTED:
        if names & _TIMED_OUT:
            return _of_timeout(llm)
        if names & _BROKEN:
            return _BROKE_OFF
        if not names & _CONNECTION_ERRORS:
            return None
    reason = str(causes[-1])
    return f"no connection to {_address(llm)}: is the server running there? {reason}".rstrip()


def _of_timeout(llm: LLM) -> str:
    seconds = getattr(llm, "timeout", None) or getattr(llm, "request_timeout", None)
    waited = f"for {seconds:g} seconds" if isinstance(seconds, (int, float)) else "in time"
    retries = getattr(llm, "max_retries", 0)
    tries = f"; it is asked again as max_retries={retries} wants it, and max_retries=0 fails at once" if retries else ""
    return f"nothing came {waited}: a larger timeout gives a slow server more{tries}"


def _of_text(text: str) -> str | None:
    folded = text.lower()
    for part, hint in _HINTS:
        if part.lower() in folded:
            return hint
    if any(part in folded for part in _TOOL_ROLE):
        return 'the server knows no role "tool": Llama3ToolLLM(llm, tool_result_role="user")'
    return None


def _of_address(causes: list[BaseException], text: str, llm: LLM) -> str | None:
    if _NO_SUCH_MODEL.search(text):
        return f"the server has no model {llm.metadata.model_name!r}: {_address(llm)}/models lists those that it has"
    names = {type(cause).__name__ for cause in causes}
    if "JSONDecodeError" in names:
        return _NOT_AN_ANSWER
    if "NotFoundError" not in names:
        return None
    other = "" if llm.metadata.is_chat_model else " Does it only chat? OpenAILike(…, is_chat_model=True)"
    return f"{_NOT_AN_ANSWER}{other}"


def _address(llm: LLM) -> str:
    return getattr(llm, "api_base", None) or getattr(llm, "base_url", None) or "the LLM's address"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error and what it was raised from, the deepest last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
