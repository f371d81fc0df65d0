"""What the gateway answers in place of a reply.

.. code-block:: text

    Llama3ToolsError
    └── GatewayError                  a status, and a message that says what to do
        ├── BrokenOffError            the upstream's answer ended in the middle, or cannot be read any further
        └── UpstreamRefusal           an error of the upstream's, which goes to the client
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from llama3_tools import Llama3ToolsError, MissingExtraError
from llama3_tools.chat import EndpointFault

FAULT = "a fault of the gateway: its log says where"
_MOST_SHOWN = 500
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
_NOTHING = " nothing, and its log may say why. For llama-cpp-python's streams: the prompt may be too long"


class GatewayError(Llama3ToolsError):
    """An error that the gateway answers itself."""

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
        # What the log says of the cause, without a word of what was asked and answered.
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
    """The upstream's answer ended in the middle, or cannot be read any further."""

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


class UpstreamRefusal(GatewayError):  # noqa: N818 - it is the upstream's error, and no fault
    """An answer of the upstream's that is an error.

    >>> UpstreamRefusal(404, [], b'{"error": {"message": "no such model"}}').message
    'no such model'
    """

    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.text = body.decode("utf-8", "replace")
        super().__init__(status, self._said(), reason="the upstream answers with this error")
        self.status_code = status  # the name that the errors of clients have for it
        self.headers = headers
        self.body = body

    def read(self) -> object:
        """Return its body as JSON, or `None`."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    def _said(self) -> str:
        """Return what it says, without the JSON around it."""
        body = self.read()
        for key in ("error", "message", "detail"):
            body = body.get(key, body) if isinstance(body, dict) else body
        return body if isinstance(body, str) else shortened(" ".join(self.text.split()))

    def is_like(self, own: Mapping[str, object]) -> bool:
        """Return whether it has the form of an error of the client's API."""
        body = self.read()
        return isinstance(body, dict) and own.keys() <= body.keys() and type(body["error"]) is type(own["error"])

    def __str__(self) -> str:
        """Return all that it says."""
        return self.text


def bad_request(message: str, param: str, code: str | None = None) -> GatewayError:
    """Return the error that a field of the request cannot be what it is."""
    return GatewayError(HTTPStatus.BAD_REQUEST, message, param=param, code=code)


def no_completion(data: bytes) -> BrokenOffError:
    """Return the error for an upstream's answer that cannot be read."""
    said = f": {shortened(data.decode('utf-8', 'replace'))}" if data else _NOTHING
    message = f"{EndpointFault.NOT_A_COMPLETION.value} It has sent{said}"
    return BrokenOffError(message, code="no_completion", reason=EndpointFault.NOT_A_COMPLETION.value)


def shortened(text: str) -> str:
    """Return the beginning of a text that may be a whole page."""
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def missing_extra(error: ModuleNotFoundError) -> ImportError:
    """Return the error that names the extra, if a package of it is missing; any other error as it is."""
    name = (error.name or "").partition(".")[0]
    if name.startswith("llama3"):
        return error
    return MissingExtraError(f"the gateway needs {name}, which is not installed: pip install 'llama3-tools[gateway]'")
