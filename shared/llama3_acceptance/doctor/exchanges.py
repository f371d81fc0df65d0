"""One request and what came back, as far as the doctor looks at it: whole, or put together from a stream."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from llama3_acceptance.doctor.secrets import Secrets
from llama3_tools.chat.finish_reason import finish_reason_in
from llama3_tools.chat.messages import joined_text, split_message
from llama3_tools.chat.server_calls import ServerCalls
from llama3_tools.values import shortened

if TYPE_CHECKING:
    import httpx2 as httpx

_LONGEST = 2_000_000
"""How many bytes of an answer are read."""
_LONGEST_TEXT = 50_000
"""How many characters of its text are looked at: far more than the tokens that are asked for have."""
_GRACE = 1
"""How many seconds longer a step of a request may take than anybody waits for it."""
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call that the server sent as such."""

    name: str
    """The tool's name."""
    arguments: Mapping[str, Any] | None = field(hash=False)
    """The arguments; `None` if they are not a JSON object."""
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
    is_connected: bool = True
    """Whether anything takes the connection."""
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

    @property
    def is_busy(self) -> bool:
        """Whether the server has too much to do, or is loading its model."""
        return self.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)

    @property
    def body(self) -> object:
        """The answer as JSON; `None` if it is none."""
        return _json(self.raw)

    @property
    def shown_status(self) -> str:
        """The status, as a sentence has it."""
        return f"HTTP {self.status}" if self.status else "no answer"


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
        import httpx2 as httpx  # noqa: PLC0415 - an extra: `check_endpoint` says if it is missing

        self._httpx = httpx
        self._base_url = base_url.rstrip("/")
        self.secrets = Secrets(base_url, api_key)
        """What a server may repeat, and nobody else may see."""
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

    def ask(self, path: str, body: Mapping[str, Any] | None = None, name: str = "") -> Exchange:
        """Ask in a thread, and wait until the time is up: httpx bounds each step of a request, and not all of it.

        Args:
            path: such as `/models`, or an address.
            body: the request for a chat completion, which is put together if it is a stream. `None`: get what is there.
            name: the question's name; without one, the path.
        """
        name, url = name or path, f"{self._base_url}{path}" if path.startswith("/") else path
        answered, started = Future[Exchange](), time.monotonic()

        def ask() -> None:
            try:
                answered.set_result(self._answer(name, url, body))
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                answered.set_exception(error)

        Thread(target=ask, name=f"doctor: {name}", daemon=True).start()
        try:
            exchange = answered.result(self.seconds_left)
        except FutureTimeoutError:
            exchange = Exchange(name, error="no answer in time", is_timeout=True)
        return self._shown(replace(exchange, seconds=round(time.monotonic() - started, 3)))

    def _shown(self, exchange: Exchange) -> Exchange:
        """Hide what is secret, then shorten what came: half a secret cannot be found any more."""
        error = shortened(self.secrets.hide_in(exchange.error), 300)
        is_list = exchange.status == HTTPStatus.OK and not exchange.is_completion and not exchange.error
        raw = exchange.raw if is_list else shortened(self.secrets.hide_in(exchange.raw), 2000)
        return replace(exchange, error=error, raw=raw)

    def _answer(self, name: str, url: str, body: Mapping[str, Any] | None) -> Exchange:
        httpx, method = self._httpx, "GET" if body is None else "POST"
        try:
            with self._client.stream(method, url, json=body, timeout=self.seconds_left + _GRACE) as response:
                text, status = _text(response), response.status_code
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError) as error:
            is_connected = isinstance(error, httpx.HTTPError) and not isinstance(error, httpx.ConnectError)
            return Exchange(name, error=str(error) or type(error).__name__, is_connected=is_connected)
        exchange = Exchange(name, status, raw=text)
        if status != HTTPStatus.OK:
            return replace(exchange, error=_said(text))
        if body is None:
            return exchange
        return _read(exchange, text, is_stream=bool(body.get("stream")))


def _text(response: httpx.Response) -> str:
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > _LONGEST:
            break
    return data.decode("utf-8", "replace")


def _said(text: str) -> str:
    """Return what a server says of an error, in one line, with a code such as `model_not_found` that it has."""
    value = _json(text)
    error = value.get("error", value) if isinstance(value, Mapping) else text
    code = error.get("code") if isinstance(error, Mapping) else None
    for key in ("message", "detail"):
        if isinstance(error, Mapping) and isinstance(error.get(key), str):
            error = error[key]
    said = " ".join((error if isinstance(error, str) else json.dumps(error)).split())
    return f"{said} ({code})" if isinstance(code, str) and code not in said else said


def _json(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _read(exchange: Exchange, text: str, *, is_stream: bool) -> Exchange:
    """Read a completion: one message, or the pieces of a stream put together."""
    answers = list(_events(text)) if is_stream else [text]
    messages, finish_reason, usage = list[Mapping[str, Any]](), None, None
    for body in map(_json, answers):
        choice = _first_choice(body)
        finish_reason = finish_reason_in(choice) or finish_reason
        usage = (body.get("usage") if isinstance(body, Mapping) else None) or usage
        message = choice.get("delta" if is_stream else "message")
        if isinstance(message, Mapping):
            messages.append(message)
    if not messages:
        return replace(exchange, error=f"the answer is no {'stream of a ' * is_stream}chat completion")
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
    is_decoded = any(map(_has_decoded_arguments, messages))
    is_whole = bool(not is_stream or finish_reason or "[DONE]" in answers)
    counts = usage if isinstance(usage, Mapping) else {}
    return replace(
        exchange,
        error="" if is_whole else "the stream broke off: it has neither a finish_reason nor [DONE]",
        content="".join(texts)[:_LONGEST_TEXT],
        reasoning=reasoning,
        calls=tuple(SentCall(one.name, one.arguments, one.text, one.id, is_decoded) for one in calls.gathered),
        finish_reason=finish_reason,
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        is_completion=is_whole,
    )


def _events(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith("data:"):
            yield line.removeprefix("data:").strip()


def _first_choice(body: object) -> Mapping[str, Any]:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else {}


def _has_decoded_arguments(message: Mapping[str, Any]) -> bool:
    functions = [call.get("function") or call for call in message.get("tool_calls") or ()]
    return any(isinstance(function.get("arguments"), Mapping) for function in functions)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
