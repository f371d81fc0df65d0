"""Who may use the gateway: a request needs the key, and does not come from a web page that is not allowed."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http import HTTPStatus

from starlette.datastructures import Headers

from llama3_gateway.errors import GatewayError
from llama3_gateway.exchange import KEY_HEADERS, Header
from llama3_gateway.settings import GatewaySettings

_OTHER_SITES = frozenset({"cross-site", "same-site"})
"""What browsers say of requests that a page of another origin has caused."""


@dataclass(frozen=True)
class Access:
    """Lets requests in, or says what is in their way."""

    settings: GatewaySettings
    name: str
    """Under which the gateway sends requests itself."""

    def admit(self, given: list[Header], key_header: bytes, *, is_open: bool = False) -> list[Header]:
        """Return the headers of a request that may be answered, without the gateway's own key.

        Raises:
            GatewayError: it may not be answered.
        """
        headers = Headers(raw=given)
        self._refuse_loop(headers)
        self._refuse_host(headers)
        self._refuse_page(headers, is_open=is_open)
        if self.settings.api_key is not None and not is_open:
            self._refuse_key(headers, self.settings.api_key)
            return [header for header in given if header[0] not in KEY_HEADERS]
        return given if key_header == b"authorization" else _with_authorization(given, key_header)

    def _refuse_loop(self, headers: Headers) -> None:
        if any(self.name in value for value in headers.getlist("via")):
            message = "this gateway asks itself: start it with the address of the model"
            raise GatewayError(HTTPStatus.LOOP_DETECTED, message, code="loop")

    def _refuse_host(self, headers: Headers) -> None:
        host = headers.get("host")
        if host is not None and not self.settings.is_own_host(host):
            message = f"{host} is not a name of this machine: --host 0.0.0.0 allows all, --cors those of its origins"
            raise GatewayError(HTTPStatus.FORBIDDEN, message, code="host")

    def _refuse_page(self, headers: Headers, *, is_open: bool) -> None:
        origin, allowed = headers.get("origin"), {"*", headers.get("origin")} & {*self.settings.cors}
        if allowed:
            return
        if origin is not None:
            allowing = "'*'" if origin == "null" else origin  # of files, and of frames that are shut in
            message = f"web pages of {origin} may not use this gateway: --cors {allowing} allows them"
            raise GatewayError(HTTPStatus.FORBIDDEN, message, code="origin")
        if headers.get("sec-fetch-site") in _OTHER_SITES and not is_open:
            message = "web pages may not use this gateway without saying whose they are: only --cors '*' allows it"
            raise GatewayError(HTTPStatus.FORBIDDEN, message, code="origin")

    @staticmethod
    def _refuse_key(headers: Headers, key: str) -> None:
        scheme, _, rest = headers.get("authorization", "").strip().partition(" ")
        given = (rest if scheme.lower() == "bearer" else f"{scheme} {rest}", headers.get("x-api-key", ""))
        if not any(hmac.compare_digest(one.strip().encode("latin-1"), key.encode()) for one in given):
            message = "this gateway asks for its own key: send it as Authorization: Bearer KEY, or as x-api-key"
            raise GatewayError(HTTPStatus.UNAUTHORIZED, message, code="api_key")


def _with_authorization(headers: list[Header], key_header: bytes) -> list[Header]:
    keys = dict(header for header in headers if header[0] in KEY_HEADERS)
    others = [header for header in headers if header[0] not in KEY_HEADERS]
    if key_header in keys:
        keys.setdefault(b"authorization", b"Bearer " + keys.pop(key_header))
    return [*others, *keys.items()]
