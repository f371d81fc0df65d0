"""What a client is told about an upstream's error, if more is known than the error says."""

from __future__ import annotations

from http import HTTPStatus

from llama3_gateway.errors import GatewayError, UpstreamRefusal, shortened
from llama3_gateway.full_context import full_context
from llama3_gateway.settings import ModelSettings
from llama3_gateway.shapes import Dialect
from llama3_tools.chat import EndpointFault, endpoint_fault

_TOOLS_REFUSED = frozenset({EndpointFault.NO_TOOLS, EndpointFault.NO_AUTO_TOOLS})


def advised(
    refusal: UpstreamRefusal, settings: ModelSettings, dialect: Dialect, model: str | None
) -> UpstreamRefusal | GatewayError:
    """Return an error with what to do about one of the upstream's, if that is known; or the upstream's."""
    if (is_full := full_context(refusal.status, refusal.read(), refusal.message)) is not None:
        return is_full
    to_do = _to_do(refusal, settings, dialect, model)
    if to_do is None:
        return refusal
    return GatewayError(refusal.status, f"{shortened(refusal.message)} ({to_do})", reason=to_do)


def _to_do(refusal: UpstreamRefusal, settings: ModelSettings, dialect: Dialect, model: str | None) -> str | None:
    fault = endpoint_fault(refusal)
    if settings.chat.tools_in == "request" and fault in _TOOLS_REFUSED:
        return "without --native, the gateway shows the tools to the model in the prompt"
    if fault is EndpointFault.NO_TOOL_ROLE and settings.chat.tool_role != "user":
        return "the server does not take results in this role: --tool-role user"
    if fault is EndpointFault.NO_SUCH_MODEL:
        return f"the server has no model {model!r}: {settings.upstream.shown}/models lists those that it has"
    if fault is not EndpointFault.NOT_A_COMPLETION or refusal.status != HTTPStatus.NOT_FOUND:
        return None
    return f"{dialect.not_there} The upstream is {settings.upstream.shown}"
