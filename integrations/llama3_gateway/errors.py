"""What the gateway answers in place of a reply.

.. code-block:: text

    Llama3ToolsError
    └── GatewayError                  an answer of the gateway's own: a status, and a message that says what to do
        └── BrokenOffError            the upstream's answer ended in the middle, or cannot be read any further
    UpstreamRefusal                   an error of the upstream's: it goes to the client, maybe with advice
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus

from llama3_tools import Llama3ToolsError, MissingExtraError
from llama3_tools.chat import NOT_A_COMPLETION

__all__ = [
    "BrokenOffError",
    "GatewayError",
    "UpstreamRefusal",
    "bad_request",
    "missing_extra",
    "no_completion",
    "shortened",
]

_MOST_SHOWN = 500
_PACKAGES = frozenset(
    {
        "anyio",
        "httpcore2",
        "httptools",
        "httpx2",
        "prometheus_client",
        "pydantic",
        "pydantic_settings",
        "starlette",
        "uvicorn",
    }
)
"""What the extra brings."""
_KINDS: dict[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Anthropic's words for statuses."""


class GatewayError(Llama3ToolsError):
    """An error that the gateway answers itself.

    >>> error = GatewayError(400, "tools is empty", param="tools")
    >>> error.to_openai()["error"]["type"]
    'invalid_request_error'

    Args:
        status: the HTTP status.
        message: what was wrong, where, and what to do.
        param: the field of the request that it is about.
        code: one word for the cause.
        reason: what the log says of the cause, without a word of what was asked and answered; by default, the code or
            the field.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code
        self.reason = reason or code or (f"{param} cannot be read" if param else HTTPStatus(status).phrase)

    def to_anthropic(self) -> dict[str, object]:
        """Return the body in Anthropic's form."""
        is_of_client = self.status < HTTPStatus.INTERNAL_SERVER_ERROR
        kind = _KINDS.get(self.status, "invalid_request_error" if is_of_client else "api_error")
        details = {"details": {"error_code": self.code}} if self.code else {}
        return {"type": "error", "error": {"type": kind, "message": self.message, **details}}

    def to_ollama(self) -> dict[str, str]:
        """Return the body in Ollama's form."""
        return {"error": self.message}

    def to_openai(self) -> dict[str, dict[str, str | None]]:
        """Return the body in OpenAI's form."""
        is_of_client = self.status < HTTPStatus.INTERNAL_SERVER_ERROR
        kind = "invalid_request_error" if is_of_client else "upstream_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


class BrokenOffError(GatewayError):
    """The upstream's answer ended in the middle, or cannot be read any further.

    Args:
        message: what was found.
        body: the upstream's own error, if it has sent one.
        code: one word for the cause.
        reason: what the log says of the cause, as in `GatewayError`.
        status: the HTTP status.
    """

    def __init__(
        self,
        message: str,
        *,
        body: object = None,
        code: str = "upstream_broke_off",
        reason: str | None = None,
        status: int = HTTPStatus.BAD_GATEWAY,
    ) -> None:
        super().__init__(status, message, code=code, reason=reason)
        self.body = body
        """The upstream's own error, as JSON; `None` if it has sent none."""


@dataclass(eq=False)
class UpstreamRefusal(Exception):  # noqa: N818 - it is the upstream's error, and no fault
    """An answer of the upstream's that is an error."""

    status: int
    """Its HTTP status."""
    headers: list[tuple[bytes, bytes]]
    """Its headers, without those that are about the connection."""
    body: bytes
    """Its body."""
    reason: str = "the upstream answers with this error"
    """What the log says of the cause."""

    @property
    def status_code(self) -> int:
        """The status, under the name that the errors of clients have for it."""
        return self.status

    @property
    def message(self) -> str:
        """What it says, without the JSON around it.

        >>> UpstreamRefusal(404, [], b'{"error": {"message": "no such model"}}').message
        'no such model'
        """
        try:
            body = json.loads(self.body)
        except (ValueError, RecursionError):
            body = None
        for key in ("error", "message"):
            body = body.get(key, body) if isinstance(body, dict) else body
        return body if isinstance(body, str) else shortened(" ".join(str(self).split()))

    def __str__(self) -> str:
        """Return the body as text."""
        return self.body.decode("utf-8", "replace")


def bad_request(message: str, param: str, code: str | None = None) -> GatewayError:
    """Return the error that a field of the request cannot be what it is.

    >>> bad_request("tools is empty", "tools").status
    <HTTPStatus.BAD_REQUEST: 400>

    Args:
        message: what was wrong, where, and what to do.
        param: the field.
        code: one word for the cause.
    """
    return GatewayError(HTTPStatus.BAD_REQUEST, message, param=param, code=code)


def no_completion(data: bytes) -> BrokenOffError:
    """Return the error that what an upstream has sent is no answer."""
    message = f"{NOT_A_COMPLETION} It has sent: {shortened(data.decode('utf-8', 'replace'))}"
    return BrokenOffError(message, code="no_completion", reason=NOT_A_COMPLETION)


def shortened(text: str) -> str:
    """Return the beginning of a text that may be a whole page.

    >>> len(shortened("a" * 1000))
    501
    """
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def missing_extra(error: ModuleNotFoundError) -> ImportError:
    """Return the error that names the extra, if a package of it is missing; any other error as it is."""
    if (error.name or "").partition(".")[0] not in _PACKAGES:
        return error
    return MissingExtraError(
        f"the gateway needs {error.name}, which is not installed: pip install 'llama3-tools[gateway]'"
    )
