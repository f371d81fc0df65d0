"""Who may use the gateway: a request needs the key, and does not come from a web page that is not allowed."""

from __future__ import annotations

import hmac
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from llama3_gateway.endpoint import error_response, is_of_messages
from llama3_gateway.errors import GatewayError
from llama3_gateway.exchange import KEY_HEADERS, Header
from llama3_gateway.settings import GatewaySettings

__all__ = ["Access"]

_OPEN_TO_ALL = frozenset({"/", "/healthz"})
"""Paths for which no key is asked."""
_OTHER_SITES = frozenset({"cross-site", "same-site"})
"""What browsers say of requests that a page of another origin has caused."""


class Access:
    """Middleware that answers a request that may not be answered with what is in its way."""

    def __init__(self, app: ASGIApp, settings: GatewaySettings, name: str) -> None:
        """Take who may use the gateway, and the name under which it sends requests itself."""
        self._app = app
        self._settings = settings
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the request through without the gateway's own key."""
        app = self._app
        if scope["type"] == "http":
            try:
                headers = Headers(raw=scope["headers"])
                self._refuse_loop(headers)
                self._refuse_host(headers)
                self._refuse_page(headers, scope["path"])
                if self._settings.api_key is not None and scope["path"] not in _OPEN_TO_ALL:
                    self._refuse_key(headers, self._settings.api_key)
                    scope["headers"] = [header for header in scope["headers"] if header[0] not in KEY_HEADERS]
                elif is_of_messages(scope["path"]):
                    scope["headers"] = _with_authorization(scope["headers"])
            except GatewayError as error:
                app = error_response(error, scope)
        await app(scope, receive, send)

    def _refuse_loop(self, headers: Headers) -> None:
        if any(self._name in value for value in headers.getlist("via")):
            raise _refused(
                HTTPStatus.LOOP_DETECTED, "loop", "this gateway asks itself: --upstream says where the model is"
            )

    def _refuse_host(self, headers: Headers) -> None:
        host = headers.get("host")
        if host is not None and not self._settings.is_own_host(host):
            message = f"{host} is no name of this machine: --host 0.0.0.0 takes all names, --cors those of its origins"
            raise _refused(HTTPStatus.FORBIDDEN, "host", message)

    def _refuse_page(self, headers: Headers, path: str) -> None:
        origin, allowed = headers.get("origin"), {"*", headers.get("origin")} & {*self._settings.cors}
        if allowed:
            return
        if origin is not None:
            allowing = "'*'" if origin == "null" else origin  # of files, and of frames that are shut in
            message = f"web pages of {origin} may not use this gateway: --cors {allowing} allows them"
            raise _refused(HTTPStatus.FORBIDDEN, "origin", message)
        if headers.get("sec-fetch-site") in _OTHER_SITES and path not in _OPEN_TO_ALL:
            message = "web pages may not use this gateway without saying whose they are: only --cors '*' allows it"
            raise _refused(HTTPStatus.FORBIDDEN, "origin", message)

    @staticmethod
    def _refuse_key(headers: Headers, key: str) -> None:
        scheme, _, rest = headers.get("authorization", "").strip().partition(" ")
        given = (rest if scheme.lower() == "bearer" else f"{scheme} {rest}", headers.get("x-api-key", ""))
        if not any(hmac.compare_digest(one.strip().encode("latin-1"), key.encode()) for one in given):
            message = "this gateway asks for its own key: send it as Authorization: Bearer KEY, or as x-api-key"
            raise _refused(HTTPStatus.UNAUTHORIZED, "api_key", message)


def _with_authorization(headers: list[Header]) -> list[Header]:
    """Return headers with the key of Anthropic's clients where other servers look for it."""
    keys = dict(header for header in headers if header[0] in KEY_HEADERS)
    others = [header for header in headers if header[0] not in KEY_HEADERS]
    if b"x-api-key" in keys:
        keys.setdefault(b"authorization", b"Bearer " + keys.pop(b"x-api-key"))
    return [*others, *keys.items()]


def _refused(status: HTTPStatus, code: str, message: str) -> GatewayError:
    return GatewayError(status, message, code=code, reason=message)
