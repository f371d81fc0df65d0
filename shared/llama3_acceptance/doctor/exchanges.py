"""One request and what came back, as far as the doctor looks at it: whole, or put together from a stream."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from llama3_tools.chat.finish_reason import finish_reason_in
from llama3_tools.chat.messages import joined_text, split_message
from llama3_tools.chat.server_calls import ServerCalls
from llama3_tools.values import shortened

if TYPE_CHECKING:
    import httpx

__all__ = ["Connection", "Exchange", "SentCall", "bare_url"]

_LONGEST = 2_000_000
"""How many bytes of an answer are read."""
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call that the server sent as such."""

    name: str
    """The tool's name."""
    arguments: Mapping[str, Any] | None = field(hash=False)
    """The arguments; `None` if they are no JSON object."""
    text: str
    """The arguments as they came."""
    id: str | None
    """Its id."""
    is_decoded: bool = False
    """Whether the arguments came as an object, and not as text, which OpenAI's clients expect."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, and what came back."""

    name: str
    """Which question."""
    status: int = 0
    """The HTTP status; 0 if there was no answer."""
    error: str = ""
    """What went wrong, in the server's words or the connection's; empty if nothing did."""
    is_timeout: bool = False
    """Whether it did not end in time."""
    content: str = ""
    """The text."""
    reasoning: str = ""
    """What the model thought, if the server keeps that apart."""
    calls: tuple[SentCall, ...] = ()
    """The calls that the server sent."""
    finish_reason: str | None = None
    """Why the model ended, in the server's word."""
    prompt_tokens: int | None = None
    """How many tokens the server counted in the prompt."""
    completion_tokens: int | None = None
    """How many it counted in the answer."""
    is_completion: bool = False
    """Whether the answer is a chat completion, or a stream of one that came to its end."""
    seconds: float = 0
    """How long it took."""
    raw: str = ""
    """The answer as it came, shortened."""

    @property
    def is_answered(self) -> bool:
        """Whether there is a completion."""
        return self.status == HTTPStatus.OK and self.is_completion


def bare_url(url: str) -> str:
    """Return an address without the name, the password, the query and the fragment that may be secrets.

    >>> bare_url("http://me:secret@localhost:8080/v1?key=secret")
    'http://localhost:8080/v1'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class Connection:
    """Asks one endpoint, until the time is up."""

    def __init__(self, base_url: str, api_key: str, seconds: float) -> None:
        """Prepare a connection.

        Args:
            base_url: the endpoint's address.
            api_key: its key.
            seconds: how long all requests together may take.
        """
        import httpx  # noqa: PLC0415 - an extra: `check_endpoint` says if it is missing

        self._httpx = httpx
        self._base_url = base_url.rstrip("/")
        self._ends = time.monotonic() + seconds
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {api_key}"},
            trust_env=urlsplit(base_url).hostname not in _LOOPBACK,
            follow_redirects=True,
        )

    @property
    def seconds_left(self) -> float:
        """How much of the time is left."""
        return max(self._ends - time.monotonic(), 0)

    def close(self) -> None:
        """Let the connection go."""
        self._client.close()

    def get(self, path: str, *, base_url: str | None = None) -> Exchange:
        """Get what is at a path.

        Args:
            path: such as `/models`.
            base_url: another address than the endpoint's.
        """
        return self._exchange(path, "GET", f"{base_url or self._base_url}{path}", None)

    def ask(self, name: str, body: Mapping[str, Any]) -> Exchange:
        """Ask for a chat completion.

        Args:
            name: what the question is called.
            body: the request. With `stream`, the answer is put together.
        """
        return self._exchange(name, "POST", f"{self._base_url}/chat/completions", body)

    def _exchange(self, name: str, method: str, url: str, body: Mapping[str, Any] | None) -> Exchange:
        httpx, started = self._httpx, time.monotonic()
        try:
            with self._client.stream(method, url, json=body, timeout=max(self.seconds_left, 0.01)) as response:
                text = self._text(response)
            status = response.status_code
        except (httpx.TimeoutException, _TimeUpError):
            return Exchange(name, error="no answer in time", is_timeout=True, seconds=_since(started))
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError) as error:
            return Exchange(name, error=str(error) or type(error).__name__, seconds=_since(started))
        seconds, raw = _since(started), shortened(text, 2000)
        if status != HTTPStatus.OK:
            return Exchange(name, status, _said(text), seconds=seconds, raw=raw)
        if body is None:
            return Exchange(name, status, seconds=seconds, raw=text)
        read = _read_stream if body.get("stream") else _read_whole
        return read(Exchange(name, status, seconds=seconds, raw=raw), text)

    def _text(self, response: httpx.Response) -> str:
        """Read an answer as long as there is time: a server that sends a byte now and then would never be done."""
        data = bytearray()
        for piece in response.iter_bytes():
            data += piece
            if not self.seconds_left:
                raise _TimeUpError
            if len(data) > _LONGEST:
                break
        return data.decode("utf-8", "replace")


class _TimeUpError(Exception):
    """The time is up."""


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _said(text: str) -> str:
    """Return what a server says of an error, in one line."""
    value = _json(text)
    error = value.get("error", value) if isinstance(value, Mapping) else text
    for key in ("message", "detail"):
        if isinstance(error, Mapping) and isinstance(error.get(key), str):
            error = error[key]
    return shortened(" ".join((error if isinstance(error, str) else json.dumps(error)).split()), 300)


def _json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _read_whole(exchange: Exchange, text: str) -> Exchange:
    body = _json(text)
    choice = _first_choice(body)
    message = choice.get("message") if choice is not None else None
    if not isinstance(body, Mapping) or not isinstance(message, Mapping):
        return replace(exchange, error="the answer is no chat completion")
    return _put_together(exchange, [message], finish_reason_in(choice), body.get("usage"), is_completion=True)


def _read_stream(exchange: Exchange, text: str) -> Exchange:
    deltas: list[Mapping[str, Any]] = []
    finish_reason, usage, is_done = None, None, False
    for data in _events(text):
        if data == "[DONE]":
            is_done = True
            continue
        event = _json(data)
        if not isinstance(event, Mapping):
            continue
        usage = event.get("usage") or usage
        choice = _first_choice(event)
        if choice is None:
            continue
        finish_reason = finish_reason_in(choice) or finish_reason
        delta = choice.get("delta")
        if isinstance(delta, Mapping):
            deltas.append(delta)
    if not deltas:
        return replace(exchange, error="the answer is no stream of a chat completion")
    error = "" if is_done or finish_reason else "the stream broke off: it has neither a finish_reason nor [DONE]"
    whole = _put_together(exchange, deltas, finish_reason, usage, is_completion=not error)
    return replace(whole, error=error or whole.error)


def _events(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith("data:"):
            yield line.removeprefix("data:").strip()


def _first_choice(body: object) -> Mapping[str, Any] | None:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else None


def _put_together(
    exchange: Exchange,
    messages: list[Mapping[str, Any]],
    finish_reason: str | None,
    usage: object,
    *,
    is_completion: bool,
) -> Exchange:
    calls, texts, reasoning = ServerCalls(), list[str](), ""
    for message in messages:
        try:
            parts = split_message(message)
        except TypeError as error:
            return replace(exchange, error=f"a message that cannot be read: {error}")
        texts.append(joined_text(parts.content)[0])
        reasoning += parts.reasoning
        for piece in parts.calls:
            calls.add(piece)
    sent = tuple(
        SentCall(call.name, call.arguments, call.text, call.id, is_decoded=call.decoded is not None)
        for call in calls.gathered
    )
    counts = usage if isinstance(usage, Mapping) else {}
    return replace(
        exchange,
        content="".join(texts),
        reasoning=reasoning,
        calls=sent,
        finish_reason=finish_reason,
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        is_completion=is_completion,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
