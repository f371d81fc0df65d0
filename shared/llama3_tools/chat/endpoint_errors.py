"""What is wrong with a model's endpoint, told from the error that its client raised, and what to do about it.

Clients wrap each other's errors, and frameworks wrap theirs. What happened is told by the names of all errors in the
chain and by parts of their texts, so that no client has to be installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from http import HTTPStatus

NO_SUCH_MODEL = re.compile(
    r"\bmodel\b.{0,99}(?:not found|not exist|is unknown|\bunknown(?!\s+\w))|no such model|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
"""How a server says that it does not know the name of the model, in words or by OpenAI's code."""

_CLOSED_LOOP = "Event loop is closed"
_PAGE = ("<!doctype", "<html")
_NOT_COMPLETIONS = (
    "expected a dict or openai.basemodel",  # langchain-openai; older ones say the next
    "'str' object has no attribute 'model_dump'",
    "null value for 'choices'",
    "no generations found in stream",
    "has no attribute 'choices'",  # LlamaIndex
    "'nonetype' object is not subscriptable",
    "validation error for llmcompletionendevent",
    "validation error for completionresponse",
)
"""How frameworks stumble over an answer that is not a completion, in lower case."""
_IN_THE_PROMPT = 'put the tools into the prompt: tools_in="user"'


class EndpointFault(Enum):
    """What is wrong with an endpoint. The value says what to do about it."""

    NOT_CONNECTED = "no connection to {address}: is the server running there? {cause}"
    NO_SCHEME = "{address} must begin with http:// or https://"
    TIMED_OUT = "no answer in time: set a larger timeout"
    BROKE_OFF = "the answer stopped in the middle: look in the server's log"
    PROXY = "a proxy answered instead of the server: is its upstream server running?"
    """A web page says that there is an error. A model server writes none."""
    NO_SUCH_MODEL = "the server has no model {name!r}: {models} lists those that it has"
    NOT_A_COMPLETION = "the server's answer is not a completion: does the address end in /v1?"
    """It answers with a web page or other data: most often, the path of the address is wrong."""
    NO_TOOL_ROLE = 'the server does not know this role: use tool_role="user"'
    NO_TOOLS = _IN_THE_PROMPT
    """It refuses tools for this model."""
    NO_AUTO_TOOLS = f"start vLLM with --enable-auto-tool-choice and --tool-call-parser, or {_IN_THE_PROMPT}"
    CLOSED_LOOP = (
        "the client belongs to an earlier asyncio.run: make a new one, or use OpenAILike(…, reuse_client=False)"
    )


_BY_NAME = (
    (EndpointFault.NO_SCHEME, {"UnsupportedProtocol", "MissingSchema", "InvalidSchema", "NonHttpUrlClientError"}),
    (EndpointFault.NOT_CONNECTED, {"ConnectError", "ConnectTimeout", "ConnectionRefusedError"}),
    (EndpointFault.TIMED_OUT, {"APITimeoutError", "ReadTimeout", "TimeoutError"}),
    (EndpointFault.BROKE_OFF, {"RemoteProtocolError", "ReadError", "ConnectionResetError"}),
    (EndpointFault.BROKE_OFF, {"ChunkedEncodingError", "ClientPayloadError"}),
    (EndpointFault.NOT_CONNECTED, {"APIConnectionError", "ConnectionError"}),  # if nothing more is known
)
"""The errors of openai, httpx, ollama, requests and aiohttp."""
_BY_TEXT = {
    EndpointFault.NO_TOOLS: ("does not support tools",),  # Ollama
    EndpointFault.NO_AUTO_TOOLS: ("--enable-auto-tool-choice",),  # vLLM
    EndpointFault.NO_TOOL_ROLE: (
        *("roles must alternate", "unexpected role", "invalid role", "unknown role"),
        *("role 'tool'", 'role "tool"', "roles are supported"),
    ),
}
"""What servers say of a request that they refuse, in lower case."""


def endpoint_fault(error: BaseException) -> EndpointFault | None:
    """Return what is wrong with an endpoint, or `None` if that is not known.

    >>> endpoint_fault(ConnectionRefusedError()).name
    'NOT_CONNECTED'

    Args:
        error: what the client raised.
    """
    if any(_CLOSED_LOOP in str(cause) for cause in _causes(error)):
        return EndpointFault.CLOSED_LOOP
    names = {type(cause).__name__ for cause in _causes(error)}
    if fault := next((fault for fault, known in _BY_NAME if names & known), None):
        return fault
    text = error_text(error).lower()
    status = status_of(error) or HTTPStatus.OK
    is_page = any(part in text for part in _PAGE)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return EndpointFault.PROXY if is_page else _fault_of_request(text)
    if NO_SUCH_MODEL.search(text):
        return EndpointFault.NO_SUCH_MODEL
    is_not_found = status == HTTPStatus.NOT_FOUND or "NotFoundError" in names
    if is_page or is_not_found or "JSONDecodeError" in names or any(part in text for part in _NOT_COMPLETIONS):
        return EndpointFault.NOT_A_COMPLETION
    return _fault_of_request(text)


def error_text(error: BaseException) -> str:
    """Return what an error says, and its body, where openai 3 leaves all but the message."""
    return f"{error} {getattr(error, 'body', None) or ''}"


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that an error has: itself, in its response, as httpx's do, or as its code in a stream.

    >>> status_of(ValueError()) is None
    True
    """
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    status = status or getattr(error, "code", None)
    text = str(status)  # openai 3 has the code as text
    return int(text) if text.isdecimal() else None


def add_advice(error: BaseException, client: object, tool_role: str) -> None:
    """Add to a client's error what to do about it, if that is known, unless somebody has.

    It is a note, which the traceback shows from Python 3.11 on. The error stays the one that the client raised, so what
    catches, retries or falls back by its type goes on to do so.

    >>> add_advice(error := ValueError("Unexpected role: tool"), object(), "tool")
    >>> error.__notes__
    ['the server does not know this role: use tool_role="user"']

    Args:
        error: what the client raised.
        client: a framework's model, whose address and name it is.
        tool_role: the role in which results are sent.
    """
    fault = endpoint_fault(error)
    if fault is None or hasattr(error, "__notes__") or (fault is EndpointFault.NO_TOOL_ROLE and tool_role == "user"):
        return
    error.__notes__ = [_what_to_do(fault, error, client)]  # type: ignore[attr-defined]  # `add_note` is new in Python 3.11


def failed_generation(error: object) -> str | None:
    """Return what the model wrote, if its server refused that as no call: Groq's `tool_use_failed` has it in the error.

    >>> failed_generation({"error": {"code": "tool_use_failed", "failed_generation": "<function=now>{}</function>"}})
    '<function=now>{}</function>'

    Args:
        error: what the client raised, which has the error's body as `body`; or the body.
    """
    bodies = [getattr(cause, "body", None) for cause in _causes(error)] if isinstance(error, BaseException) else [error]
    for body in bodies:
        inner = body.get("error", body) if isinstance(body, Mapping) else None
        text = inner.get("failed_generation") if isinstance(inner, Mapping) else None
        if isinstance(text, str) and text:
            return text
    return None


def _what_to_do(fault: EndpointFault, error: BaseException, client: object) -> str:
    """Say in one line what to do about a fault, without a stop at its end."""
    # Ollama's own client: its addresses have no /v1, and no list at /models.
    is_ollama = any(type(cause).__module__.partition(".")[0] == "ollama" for cause in _causes(error))
    if fault is EndpointFault.NOT_A_COMPLETION and is_ollama:
        return "the server has no /api/chat: is it Ollama, at an address without /v1?"
    *_, cause = _causes(error)
    addresses = (getattr(client, name, None) for name in ("openai_api_base", "api_base", "base_url"))
    address = next(filter(None, addresses), "the model's address")
    name = getattr(client, "model_name", None) or getattr(client, "model", None)
    models = "`ollama list`" if is_ollama else f"{address}/models"
    return fault.value.format(address=address, cause=cause, name=name, models=models).rstrip()


def _fault_of_request(text: str) -> EndpointFault | None:
    """Return what of a request a server refuses, by a text in lower case."""
    return next((fault for fault, parts in _BY_TEXT.items() if any(part in text for part in parts)), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, the deepest last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
