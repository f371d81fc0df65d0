"""The endpoint that a program talks to, and in one line each, what can be wrong with it."""

from __future__ import annotations

import http.client
import json
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import openai

from endpoints.fetch import fetch
from llama3_tools.chat import EndpointFault, endpoint_fault

_NO_CHUNKS = "No generation chunks were returned"
"""What LangChain says where a stream holds no event."""


class EndpointError(Exception):
    """The endpoint cannot be used. The message is one line that says why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible endpoint, as clients take it."""

    base_url: str
    """Such as `http://localhost:11434/v1`."""
    model: str
    """The name of the model, as the endpoint knows it."""
    api_key: str = "none"
    """The key. Local servers take any, and clients insist on one."""
    models: Sequence[str] = ()
    """All that the endpoint serves, as far as it tells."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """What to send with each request beside what OpenAI knows."""
    is_replay: bool = False
    """Whether it knows recorded questions only."""


def connect(base_url: str, model: str | None = None, api_key: str | None = None) -> Endpoint:
    """Ask an endpoint what it serves, before anything else is asked of it.

    Args:
        base_url: its address, ending in `/v1` with nearly every server.
        model: the model's name; without one, the first that it serves.
        api_key: its key, where it wants one.

    Raises:
        EndpointError: nothing answers there, or something else than an OpenAI-compatible server.
    """
    base_url = base_url.rstrip("/")
    api_key = api_key or "none"
    models = _list_models(base_url, api_key)
    if model is None and not models:
        raise EndpointError(f"{base_url} serves no model: load one, or name one with --model.")
    return Endpoint(base_url=base_url, model=model or models[0], api_key=api_key, models=models)


def _list_models(base_url: str, api_key: str) -> list[str]:
    if not base_url.startswith(("http://", "https://")):
        raise EndpointError(f"{base_url!r} is no address: it has to start with http:// or https://.")
    try:
        answer = fetch(f"{base_url}/models", api_key=api_key)
    except urllib.error.HTTPError as error:
        error.close()
        raise EndpointError(_refusal(base_url, error.code)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise EndpointError(f"Nothing answers at {base_url} ({reason}). Is the server running there?") from error
    try:
        return [str(model["id"]) for model in json.loads(answer.text)["data"] or ()]
    except (ValueError, KeyError, TypeError) as error:
        raise EndpointError(
            f"{base_url} answers, but not as an OpenAI-compatible endpoint: "
            f"{base_url}/models gives {answer.content_type}.{_v1_hint(base_url)}"
        ) from error


def _refusal(base_url: str, status: int) -> str:
    if status in {401, 403}:
        return f"{base_url} refuses the key (HTTP {status}): set OPENAI_API_KEY."
    return f"{base_url}/models gives HTTP {status}: this is no OpenAI-compatible endpoint.{_v1_hint(base_url)}"


def _v1_hint(base_url: str) -> str:
    return "" if base_url.endswith("/v1") else f" Is it {base_url}/v1?"


def explain(error: Exception, endpoint: Endpoint) -> str | None:  # noqa: PLR0911 (a case a line)
    """Say in one line what went wrong between an OpenAI client and an endpoint.

    Args:
        error: what the client raised, or a framework around it.
        endpoint: what was asked.

    Returns:
        The line; `None` for an error of another kind.
    """
    at = endpoint.base_url
    match error:
        case _ if endpoint_fault(error) is EndpointFault.BROKE_OFF:
            return f"The connection to {at} broke. What had arrived stands above."
        case openai.NotFoundError() if endpoint.model not in endpoint.models:
            served = f" It serves: {', '.join(endpoint.models)}." if endpoint.models else ""
            return f"{at} does not know the model {endpoint.model!r}: {_message(error).removesuffix('.')}.{served}"
        case openai.APIStatusError():
            return f"{at} answers with HTTP {error.status_code}: {_message(error)}"
        case openai.APIConnectionError():
            return f"Nothing answers at {at} any more ({error.__cause__ or error}). Is the server running?"
        case openai.APIError():
            return f"{at} answers with an error: {_message(error)}"
        case _ if isinstance(error, json.JSONDecodeError) or _NO_CHUNKS in str(error):
            return f"{at} answers, but not with a completion. Is it an OpenAI-compatible endpoint?"
        case _:
            return None


def _message(error: openai.APIError) -> str:
    """Find the server's own words: they are in the body, where there is one."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(message or error.message).split())
