"""The upstream, asked over HTTP: what is sent, what comes back, and what is said if nothing does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy

import anyio
import httpx2 as httpx

from llama3_gateway.errors import BrokenOffError, GatewayError, UpstreamRefusal
from llama3_gateway.exchange import KEY_HEADERS, Header
from llama3_gateway.framing import write_body
from llama3_gateway.settings import Upstream

UPSTREAM_TIMEOUT = "upstream_timeout"
"""The code of the error that an upstream is silent."""
_OF_CONNECTION = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te"),
        *(b"trailer", b"transfer-encoding", b"upgrade", b"http2-settings"),
    }
)
"""Headers that are about one connection, and go no further (RFC 9110, 7.6.1)."""
_OF_CLIENT = frozenset({b"host", b"content-length", b"expect", b"origin", b"referer"})
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")
_CONNECT_SECONDS = 10.0
_NO_TLS = "WRONG_VERSION_NUMBER"
"""OpenSSL's word for an answer that is not of TLS."""
_SECONDS_KEPT = 2.0
"""How long a connection is kept for the next request. Many servers close them after 5 s, maybe while one is sent."""
_ERROR_BYTES = 1024 * 1024


def forwarded(headers: Iterable[Header], left_out: frozenset[bytes] = frozenset()) -> list[Header]:
    """Return the headers that are not about one connection.

    >>> forwarded([(b"connection", b"keep-alive, x-hop"), (b"x-hop", b"1"), (b"accept", b"*/*")])
    [(b'accept', b'*/*')]
    """
    headers = list(headers)
    named = {name.strip().lower() for key, value in headers if key == b"connection" for name in value.split(b",")}
    hidden = _OF_CONNECTION | named | left_out
    return [(key, value) for key, value in headers if key not in hidden]


class UpstreamAnswer:
    """An answer that has begun."""

    def __init__(self, response: httpx.Response, upstream: Upstream) -> None:
        self.status = response.status_code
        self.headers: list[Header] = [(name.lower(), value) for name, value in response.headers.raw]
        self.content_type = str(response.headers.get("content-type") or "").lower()
        self._response = response
        self._upstream = upstream

    def raw(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes, byte for byte.

        Raises:
            BrokenOffError: it does not come to its end.
        """
        return self._pieces(self._response.aiter_raw())

    async def read(self, most: int) -> AsyncIterator[bytes]:
        """Yield the body as it comes, decompressed.

        Raises:
            BrokenOffError: it does not come to its end, or has more.
        """
        size = 0
        async for data in self._plain():
            size += len(data)
            if size > most:
                message = f"the upstream's answer has more than {most} bytes: --max-answer allows more"
                raise BrokenOffError(message, reason=message)
            yield data

    async def whole(self, most: int) -> bytes:
        """Return the body, as `read` does."""
        return b"".join([data async for data in self.read(most)])

    async def refusal(self) -> UpstreamRefusal:
        """Return the answer as an error for the client, with as much of its body as an error has.

        Raises:
            GatewayError: it is a redirect, which is not followed.
        """
        if HTTPStatus.MULTIPLE_CHOICES <= self.status < HTTPStatus.BAD_REQUEST:
            to = self._response.headers.get("location", "another address")
            message = f"the upstream redirects to {to}: start the gateway with the address that answers"
            raise GatewayError(
                HTTPStatus.BAD_GATEWAY, message, code="upstream_redirects", reason="the upstream redirects"
            )
        body = bytearray()
        async for data in self._plain():
            body += data
            if len(body) > _ERROR_BYTES:
                break
        headers = forwarded(self.headers, frozenset({b"content-length", b"content-encoding"}))
        return UpstreamRefusal(self.status, headers, bytes(body[:_ERROR_BYTES]))

    def _plain(self) -> AsyncIterator[bytes]:
        is_plain = "content-encoding" not in self._response.headers
        return self._pieces(self._response.aiter_raw() if is_plain else self._response.aiter_bytes())

    async def _pieces(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        try:
            async for data in body:
                yield data
        except (httpx.HTTPError, httpx.StreamError) as error:
            why = f"broke off ({str(error) or type(error).__name__}): its log may say why"
            if isinstance(error, httpx.TimeoutException):
                why = "fell silent for too long: --timeout allows more"
            message = f"the answer of {self._upstream.shown} {why}"
            raise BrokenOffError(message, reason=message) from None


def answer_with(text: str, upstream: Upstream) -> UpstreamAnswer:
    """Return a completion with what a model wrote, which its server refused: Groq's `tool_use_failed` contains it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = httpx.ByteStream(write_body({"object": "chat.completion", "choices": [choice]}))
    response = httpx.Response(HTTPStatus.OK, headers={"content-type": "application/json"}, stream=body)
    return UpstreamAnswer(response, upstream)


class UpstreamClient:
    """Asks upstreams, over connections that are kept."""

    def __init__(self, timeout: float, name: str, with_clients_key: frozenset[Upstream] = frozenset()) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=_SECONDS_KEPT)
        trusted = httpx.create_ssl_context()
        self._timeout = timeout
        self._with_clients_key = with_clients_key
        self._via = (b"via", f"1.1 {name}".encode())
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS), pool=None),
            limits=limits,
            verify=trusted,
            # Cookies are between one client and the upstream.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            # A proxy of the environment is for other machines.
            mounts={pattern: httpx.AsyncHTTPTransport(limits=limits, verify=trusted) for pattern in _LOOPBACK},
        )
        for header in ("accept", "accept-encoding", "connection", "user-agent"):
            del self._client.headers[header]

    @asynccontextmanager
    async def ask(  # noqa: PLR0913 - a request has these parts
        self, upstream: Upstream, method: str, path: str, *, query: bytes = b"", headers: list[Header], body: bytes
    ) -> AsyncIterator[UpstreamAnswer]:
        """Send a request, and hand out the answer while the block runs. Then its connection is free, or closed.

        Raises:
            GatewayError: there is no answer.
        """
        left_out = _OF_CLIENT if upstream in self._with_clients_key else _OF_CLIENT | KEY_HEADERS
        sent = [*forwarded(headers, left_out), self._via]
        if upstream.api_key:
            sent.append((b"authorization", f"Bearer {upstream.api_key}".encode()))
        url = upstream.address(path) + (f"?{query.decode('latin-1')}" if query else "")
        try:
            request = self._client.build_request(method, url, headers=sent, content=body or None)
            response = await self._client.send(request, stream=True)
        except httpx.ConnectTimeout:
            raise _unreachable(upstream, "it does not answer") from None
        except httpx.TimeoutException:
            message = f"{upstream.shown} sent nothing for {self._timeout:g} s: --timeout allows more"
            raise GatewayError(HTTPStatus.GATEWAY_TIMEOUT, message, code=UPSTREAM_TIMEOUT, reason=message) from None
        except httpx.LocalProtocolError:  # whose text quotes headers, a key among them
            raise _unreachable(upstream, "the request has a header that cannot be sent") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _unreachable(upstream, str(error) or type(error).__name__) from None
        try:
            if not HTTPStatus.OK <= response.status_code < 600:  # noqa: PLR2004 - as RFC 9110 has them
                raise _unreachable(
                    upstream, f"it answers with the status {response.status_code}, which HTTP does not have"
                )
            yield UpstreamAnswer(response, upstream)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _unreachable(upstream: Upstream, why: str) -> GatewayError:
    if _NO_TLS in why and upstream.shown.startswith("https:"):
        cure = "it does not speak TLS there: write http://"
    else:
        cure = "is the server running there?"
    message = f"no answer from the upstream {upstream.shown} ({why}): {cure}"
    return GatewayError(HTTPStatus.BAD_GATEWAY, message, code="upstream_unreachable", reason=message)
