"""What a client is told beside an error of the upstream's own, where the gateway's options are the cure."""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus

from llama3_gateway.errors import GatewayError, UpstreamRefusal
from llama3_gateway.exchange import JSON
from llama3_gateway.framing import written
from llama3_gateway.settings import ModelSettings
from llama3_tools.chat import NOT_A_COMPLETION, EndpointFault, endpoint_fault, with_advice

__all__ = ["advised"]

_TOOLS_REFUSED = frozenset({EndpointFault.NO_TOOLS, EndpointFault.NO_AUTO_TOOLS})
_OLLAMA_PATH = "/api/chat"


def advised(refusal: UpstreamRefusal, settings: ModelSettings, path: str, model: str | None) -> UpstreamRefusal:
    """Return an error of the upstream's with what to do about it, if that is known; or as it is.

    >>> from llama3_gateway.settings import Upstream
    >>> settings = ModelSettings(Upstream("http://localhost:1/v1"))
    >>> refusal = UpstreamRefusal(404, [], b'{"error": "model not found"}')
    >>> advised(refusal, settings, "/api/chat", "m").reason
    "the server has no model 'm': http://localhost:1/v1/models lists those that it has"

    Args:
        refusal: the error.
        settings: those of the model.
        path: where the upstream was asked.
        model: who was to answer.
    """
    to_do = _to_do(refusal, settings, path, model)
    if to_do is None:
        return refusal
    if any(name == b"content-encoding" for name, _ in refusal.headers):
        return replace(refusal, reason=to_do)
    headers = [header for header in refusal.headers if header[0] != b"content-type"]
    body = _with_advice(refusal, to_do, is_ollama=path == _OLLAMA_PATH)
    return UpstreamRefusal(refusal.status, [*headers, (b"content-type", JSON)], body, to_do)


def _to_do(refusal: UpstreamRefusal, settings: ModelSettings, path: str, model: str | None) -> str | None:
    fault = endpoint_fault(refusal)
    if settings.chat.tools_in == "request" and fault in _TOOLS_REFUSED:
        return "without --native, the gateway shows the tools to the model in the prompt"
    url = settings.upstream.shown
    if fault is EndpointFault.NO_TOOL_ROLE and settings.chat.tool_role != "user":
        return "the server does not take results in this role: --tool-role user"
    if fault is EndpointFault.NO_SUCH_MODEL:
        return f"the server has no model {model!r}: {url}/models lists those that it has"
    if fault is not EndpointFault.NOT_A_COMPLETION or refusal.status != HTTPStatus.NOT_FOUND:
        return None
    if path == _OLLAMA_PATH:
        return f"the server has no {path}: is it Ollama, and does --upstream {url} end in /v1?"
    return f"{NOT_A_COMPLETION} --upstream is {url}"


def _with_advice(refusal: UpstreamRefusal, to_do: str, *, is_ollama: bool) -> bytes:
    """Return the body with the advice in the message of its error; in the form of the path, if it has none."""
    text = str(refusal)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict) and isinstance(message := error.get("message"), str):
        return written({**body, "error": {**error, "message": with_advice(message, to_do)}})
    if isinstance(error, str):
        return written({**body, "error": with_advice(error, to_do)})
    message = with_advice(" ".join(text.split()), to_do)
    return written({"error": message} if is_ollama else GatewayError(refusal.status, message).to_openai())
