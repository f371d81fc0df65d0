"""Asks a server for one answer, with nothing but the standard library."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

_directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_as_configured = urllib.request.build_opener()


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer with a status of success."""

    content_type: str
    """Its media type, without parameters."""
    text: str
    """Its body, undecodable bytes replaced."""


def fetch(url: str, body: Mapping[str, object] | None = None, *, api_key: str = "", timeout: float = 10.0) -> Fetched:
    """Get a URL, or post JSON to it. This machine is asked directly, others through the proxy of the environment.

    Args:
        url: what to ask; http or https.
        body: the JSON object to post.
        api_key: goes out as a bearer token.
        timeout: seconds to wait for the connection, and then for each piece of the answer.

    Raises:
        ValueError: `url` is no address.
        urllib.error.HTTPError: the answer has a status of failure.
        OSError: there was no answer.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{url!r} is no http address")
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)  # noqa: S310 (the scheme was looked at)
    opener = _directly if parts.hostname in {"127.0.0.1", "::1", "localhost"} else _as_configured
    with opener.open(request, timeout=timeout) as response:
        return Fetched(response.headers.get_content_type(), str(response.read(), "utf-8", "replace"))
