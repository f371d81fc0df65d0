"""What to do about the errors of a model that a user of tools meets, said in the error's own text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from langchain_core.language_models import BaseChatModel

from langchain_llama3_tools.history import ToolRole

__all__ = ["NO_RESPONSE", "explained"]

_NOT_AN_ANSWER = "the server answers, but not with a completion: does the address end in /v1, as most servers want it?"
NO_RESPONSE = f"No generation chunks were returned ({_NOT_AN_ANSWER})"
"""For a stream that holds nothing, such as a web page read as one. LangChain says the first half of it."""

# Errors by their names, of the clients that LangChain's models use (openai, httpx, ollama, requests, aiohttp).
_NOT_CONNECTED = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "UnsupportedProtocol"}
_TIMED_OUT = {"APITimeoutError", "ReadTimeout", "TimeoutError"}
_BROKEN = {"RemoteProtocolError", "ReadError", "ConnectionResetError", "ChunkedEncodingError", "ClientPayloadError"}
_NO_COMPLETION = (
    "<!doctype",
    "<html",
    "expected a dict or openai.basemodel",  # langchain-openai, of a page; older ones say what follows
    "'str' object has no attribute 'model_dump'",
    "null value for 'choices'",
    "no generations found in stream",
)
"""Parts of what is said of an answer that is no completion."""
_TOOL_ROLE = (
    "roles must alternate",
    "unexpected role",
    "invalid role",
    "unknown role",
    "role 'tool'",
    'role "tool"',
    "roles are supported",
)
_NO_SUCH_MODEL = re.compile(r"\bmodel\b.{0,99}(?:not found|not exist)|model_not_found", re.DOTALL)
_LONGEST_TEXT = 500  # characters: some clients put a whole web page into the text of their error


@contextmanager
def explained(llm: BaseChatModel, tool_role: ToolRole) -> Iterator[None]:
    """Add to an error what to do about it, where that is known.

    The error stays the one that the model raised: what catches, retries or falls back by its type goes on to do so.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> with explained(FakeListChatModel(responses=[]), "tool"):
    ...     raise ValueError("Unexpected role: tool")
    Traceback (most recent call last):
    ValueError: Unexpected role: tool (the server knows no such role for results: tool_role="user")

    Args:
        llm: what is asked.
        tool_role: the role in which results are sent.
    """
    try:
        yield
    except Exception as error:
        hint, text = _hint(error, llm, tool_role), str(error)
        if hint and hint not in text and error.args and error.args[0] == text:  # not so, if it writes its own text
            shown = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
            error.args = (f"{shown} ({hint})", *error.args[1:])
        raise


def _hint(error: Exception, llm: BaseChatModel, tool_role: ToolRole) -> str | None:
    text, causes = str(error).lower(), list(_causes(error))
    hint = _of_connection(causes, llm) or _of_address(error, text, llm)
    if not hint and tool_role != "user" and any(part in text for part in _TOOL_ROLE):
        return 'the server knows no such role for results: tool_role="user"'
    return hint


def _of_connection(causes: list[BaseException], llm: BaseChatModel) -> str | None:
    names = {type(cause).__name__ for cause in causes}
    if names & _NOT_CONNECTED:
        return f"no connection to {_address(llm)}: is the server running there? {causes[-1]}".rstrip()
    if names & _TIMED_OUT:
        return "nothing came in time: a larger timeout gives a slow server more"
    if names & _BROKEN:
        return "the answer broke off: the server's log may say why"
    return None


def _of_address(error: Exception, text: str, llm: BaseChatModel) -> str | None:
    status = getattr(error, "status_code", None) or HTTPStatus.OK
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return None  # a page that a proxy shows, say
    if _NO_SUCH_MODEL.search(text):
        name = getattr(llm, "model_name", None) or getattr(llm, "model", None)
        return f"the server has no model {name!r}: {_address(llm)}/models lists those that it has"
    if (
        status == HTTPStatus.NOT_FOUND
        or type(error).__name__ == "JSONDecodeError"
        or any(part in text for part in _NO_COMPLETION)
    ):
        return _NOT_AN_ANSWER
    return None


def _address(llm: BaseChatModel) -> str:
    return getattr(llm, "openai_api_base", None) or getattr(llm, "base_url", None) or "the model's address"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error and what it was raised from, the deepest last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
