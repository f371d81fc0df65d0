"""Asks a model a suite's commands over HTTP, several at a time, and hands out each response as it comes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from llama3_acceptance.running.asking import ask
from llama3_acceptance.running.records import Record
from llama3_acceptance.values import Case, Suite
from llama3_tools.errors import Llama3ToolsError, of_extra
from llama3_tools.values import shortened

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

_Answered = TypeVar("_Answered")


class EndpointError(Llama3ToolsError, RuntimeError):
    """The endpoint cannot be asked. Its text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint and the model there."""

    base_url: str
    """Its address, which ends in `/v1` with nearly every server."""
    model: str
    """The model's name, as the endpoint knows it."""
    api_key: str = field(default="none", repr=False)
    """Its key; local servers take any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a suite is asked."""

    repeats: int = 1
    """How often each case is asked."""
    concurrency: int = 4
    """How many requests are under way at once."""
    timeout: float = 120
    """The most seconds for one attempt. A request with its retries ends after `timeout * (retries + 1)` seconds."""
    retries: int = 2
    """How often a request is sent again after a failure that may pass: no connection, a timeout, HTTP 429 or 5xx."""
    temperature: float = 0
    """The sampling temperature."""
    seed: int | None = None
    """The seed of the first repeat; each further repeat takes the next number. `None`: none is sent."""
    max_tokens: int = 1024
    """How many tokens a response may have."""
    extra_body: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What else to send with each request, such as `{"repeat_penalty": 1.0}`."""

    def sent(self, repeat: int = 0) -> dict[str, Any]:
        """Return what is sent beside model and messages."""
        seed = {} if self.seed is None else {"seed": self.seed + repeat}
        return {"temperature": self.temperature, **seed, "max_tokens": self.max_tokens, **self.extra_body}

    async def in_time(self, asked: Awaitable[_Answered]) -> _Answered:
        """Wait for a response, whole, for as long as all attempts may take: httpx itself bounds each read alone.

        Raises:
            TimeoutError: it does not end in time.
        """
        return await asyncio.wait_for(asked, self.timeout * (self.retries + 1))


def run_suite(
    suite: Suite,
    endpoint: Endpoint,
    settings: Settings,
    on_record: Callable[[Record], None],
    *,
    done: Collection[tuple[str, int]] = (),
) -> None:
    """Ask all cases, and hand out each response as it comes; one that fails is a record of its error.

    Args:
        suite: what to ask.
        endpoint: whom to ask.
        settings: how to ask.
        on_record: takes each response. If it raises an exception, the run ends.
        done: cases and repeats that need not be asked.

    Raises:
        EndpointError: nothing answers there, or it refuses the key or the model. Nothing more is asked then.
        KeyboardInterrupt: the user has had enough; requests under way are given up.
        MissingExtraError: the `openai` client is not installed.
    """
    todo = [(case, n) for n in range(settings.repeats) for case in suite.cases if (case.id, n) not in done]
    if todo:
        asyncio.run(_run(suite, endpoint, settings, todo, on_record))


async def _run(
    suite: Suite,
    endpoint: Endpoint,
    settings: Settings,
    todo: Sequence[tuple[Case, int]],
    on_record: Callable[[Record], None],
) -> None:
    async with _client(endpoint, settings) as client:
        served = await _served(client, endpoint, settings)
        asker = _Asker(suite, endpoint, settings, client, served)
        queue = iter(todo)

        async def work() -> None:
            for case, repeat in queue:
                on_record(await asker.record(case, repeat))

        workers = [asyncio.ensure_future(work()) for _ in range(min(settings.concurrency, len(todo)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


def _client(endpoint: Endpoint, settings: Settings) -> AsyncOpenAI:
    with of_extra("asking an endpoint needs the openai client: pip install 'llama3-tools[acceptance]'", "openai"):
        from openai import AsyncOpenAI  # noqa: PLC0415 - an extra

    check_endpoint(endpoint)
    key = endpoint.api_key or "none"
    return AsyncOpenAI(base_url=endpoint.base_url, api_key=key, timeout=settings.timeout, max_retries=settings.retries)


def check_endpoint(endpoint: Endpoint) -> None:
    """Refuse an address or a key with which nothing can be asked.

    Raises:
        EndpointError: the address is not a URL or is that of a request, or the key cannot be sent. Its text says what
            it has to be.
        MissingExtraError: httpx2 is not installed.
    """
    with of_extra("asking an endpoint needs httpx2: pip install 'llama3-tools[acceptance]'", "httpx2"):
        import httpx2 as httpx  # noqa: PLC0415 - an extra

    try:
        url = httpx.URL(endpoint.base_url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise EndpointError(f"{endpoint.base_url!r} is not an address: {error}") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise EndpointError(
            f"{endpoint.base_url!r} is not an address: it has to start with http:// or https:// and a host"
        )
    bare = f"{url.scheme}://{url.netloc.decode()}{url.path}".rstrip("/")
    for path in ("/chat/completions", "/completions", "/models"):
        if bare.endswith(path):
            raise EndpointError(f"{bare} is the address of one request: use --base-url {bare.removesuffix(path)}")
    key = endpoint.api_key or "none"
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise EndpointError(
            "the key cannot be sent: it has a line break, a space at an end, or another letter than ASCII's"
        )


async def _served(client: AsyncOpenAI, endpoint: Endpoint, settings: Settings) -> list[str]:
    """Return the models that the endpoint lists, as far as it does: not every server can."""
    import openai  # noqa: PLC0415 - an extra

    try:
        listed = json.loads((await settings.in_time(client.models.with_raw_response.list())).text)
        return [str(model["id"]) for model in listed["data"]]
    except (openai.APIConnectionError, asyncio.TimeoutError) as error:
        raise EndpointError(
            f"nothing answers at {endpoint.base_url} ({_cause(error)}): is the server running there?"
        ) from error
    except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
        raise _refused(endpoint, error) from error
    except (openai.OpenAIError, ValueError, LookupError, TypeError):
        return []


@dataclass(frozen=True, slots=True)
class _Asker:
    suite: Suite
    endpoint: Endpoint
    settings: Settings
    client: AsyncOpenAI
    served: list[str]

    async def record(self, case: Case, repeat: int) -> Record:
        """Ask one case once. What fails for this case alone becomes a record; the rest is raised."""
        import openai  # noqa: PLC0415 - an extra

        request = ask(case, self.suite)
        messages = request.pop("messages")
        started = time.monotonic()
        try:
            body = {**request, **self.settings.sent(repeat)}
            completions = self.client.chat.completions.with_raw_response
            asked = completions.create(model=self.endpoint.model, messages=messages, extra_body=body)
            response, usage = _read((await self.settings.in_time(asked)).text)
        except (openai.APITimeoutError, asyncio.TimeoutError):
            return _failed(case, repeat, started, f"no response within {self.settings.timeout:g} s")
        except openai.APIConnectionError as error:
            await _served(self.client, self.endpoint, self.settings)  # which raises if nothing answers any more
            return _failed(case, repeat, started, f"the connection broke: {_cause(error)}")
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise _refused(self.endpoint, error) from error
        except openai.NotFoundError as error:
            raise self._unknown(error) from error
        except openai.APIStatusError as error:
            return _failed(case, repeat, started, f"HTTP {error.status_code}: {_said(error)}")
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            return _failed(case, repeat, started, str(error))
        return Record(case.id, repeat, response, round(time.monotonic() - started, 3), usage)

    def _unknown(self, error: APIStatusError) -> EndpointError:
        model, url = self.endpoint.model, self.endpoint.base_url
        if self.served and model not in self.served:
            return EndpointError(f"{url} does not serve {model!r}, but {', '.join(self.served)}")
        root = url.rstrip("/")
        hint = "" if root.endswith("/v1") else f"; is it {root}/v1?"
        return EndpointError(f"{url} answers with HTTP 404: {_said(error)}{hint}")


def _read(text: str) -> tuple[dict[str, Any], dict[str, int] | None]:
    """Read a chat completion: its first choice as it is, and its usage."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"the endpoint answers, but not with JSON: {shortened(text)!r}") from None
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise ValueError(  # noqa: TRY004 - a wrong value, of JSON
            f"the endpoint answers, but not with a chat completion: {shortened(text)!r}"
        )
    usage = body.get("usage")
    counts = {name: count for name, count in usage.items() if type(count) is int} if isinstance(usage, dict) else None
    return choice, counts


def _failed(case: Case, repeat: int, started: float, error: str) -> Record:
    return Record(case.id, repeat, latency=round(time.monotonic() - started, 3), error=shortened(error, 500))


def _refused(endpoint: Endpoint, error: APIStatusError) -> EndpointError:
    return EndpointError(f"{endpoint.base_url} refuses the key (HTTP {error.status_code}): {_said(error)}")


def _said(error: APIStatusError) -> str:
    """Return what the server itself says of an error, if it says anything."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else body
    return shortened(str(message or error.message), 300)


def _cause(error: BaseException) -> str:
    """Return what is at the bottom of an error of the connection."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
