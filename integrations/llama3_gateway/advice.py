"""What a client is told about an upstream's error, if more is known than the error says.

That a prompt is too long is told in Anthropic's words, with both numbers: Claude Code sums up what was said, or asks
for a shorter answer, and goes on. OpenAI's clients look at the code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from llama3_gateway.errors import GatewayError, UpstreamRefusal, bad_request, shortened
from llama3_gateway.settings import ModelSettings
from llama3_gateway.shapes import Dialect
from llama3_tools.chat import EndpointFault, endpoint_fault

_CODE = "context_length_exceeded"
_OF_REQUEST = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.INTERNAL_SERVER_ERROR})
_FULL_WITH_NUMBERS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        # llama.cpp, and Ollama if it runs that
        r"request \((?P<tokens>\d+) tokens\) exceeds the available context size \((?P<most>\d+) tokens\)",
        r"n_prompt_tokens: (?P<tokens>\d+) n_ctx: (?P<most>\d+)",
        # vLLM: 0.32, and before
        r"length is (?P<most>\d+) tokens\. .{0,30}(?:contains|has) (?:at least )?(?P<tokens>\d+) input tokens",
        r"passed (?P<tokens>\d+) input .{0,30}requested (?P<asked>\d+) output .{0,60}only (?P<most>\d+) tokens",
        r"too large: (?P<asked>\d+)\. .{0,50}length is (?P<most>\d+) tokens .{0,30}has (?P<tokens>\d+) input tokens",
        r"length is (?P<most>\d+) tokens\. .{0,60}\((?P<tokens>\d+) in the messages, (?P<asked>\d+) in the completion",
        # SGLang
        r"input \((?P<tokens>\d+) tokens\) is longer than the model's context length \((?P<most>\d+) tokens\)",
        r"length of (?P<most>\d+) tokens\. .{0,50}: (?P<tokens>\d+) tokens from .{0,30} and (?P<asked>\d+) tokens for",
        # LM Studio
        r"keep the first (?P<tokens>\d+) tokens when .{0,99}context length of only (?P<most>\d+) tokens",
        r"n_keep: (?P<tokens>\d+) ?>= ?n_ctx: (?P<most>\d+)",
        # OpenAI, and those that say the same
        r"context length is (?P<most>\d+) tokens.{0,99}resulted in (?P<tokens>\d+) tokens",
    )
)
_FULL = re.compile(
    r"prompt (?:is )?too long|exceeds the (?:available |maximum )?context (?:size|length|window)|"
    rf"context size has been exceeded|maximum context length is|{_CODE}|exceed_context_size",
    re.IGNORECASE,
)
"""Ollama says how much is too much, or nothing."""
_SEARCHED = 10_000
"""How many characters of a message are looked at: an upstream may quote a whole prompt."""
_FIELDS = ("code", "type", "n_prompt_tokens", "n_ctx")
"""What an error says beside its message."""
_QUOTED = re.compile(
    r"""(?P<own>(?P<around>['"])(?:error|message|detail)(?P=around): ?)?"""
    r"""(?<!\w)(?P<mark>['"`])(?:\\.|(?!(?P=mark)(?!\w)).)*(?:(?P=mark)|\Z)"""
    r"""|\bparse input at pos \d+: .*""",
    re.DOTALL,
)
"""What an upstream quotes may be a user's text, unless it is `own`: the message of another error."""
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


def full_context(status: int, body: object, message: str) -> GatewayError | None:
    """Return the error that a prompt is too long, if that is what an upstream's error says.

    >>> said = "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"
    >>> full_context(400, None, said).message.partition(" (")[0]
    'prompt is too long: 5000 tokens > 4096 maximum'
    >>> full_context(400, None, "there is no role 'prompt is too long'")

    Args:
        status: the upstream's.
        body: its error, as JSON.
        message: what it says.
    """
    if status not in _OF_REQUEST:
        return None
    error = body.get("error", body) if isinstance(body, Mapping) else None
    fields = error if isinstance(error, Mapping) else {}
    own = _QUOTED.sub(lambda found: found[0] if found["own"] else "", message[:_SEARCHED])
    said = " ".join([own, *(f"{name}: {fields[name]}" for name in _FIELDS if name in fields)])
    for pattern in _FULL_WITH_NUMBERS:
        if found := pattern.search(said):
            tokens, most, asked = (found.groupdict().get(name) for name in ("tokens", "most", "asked"))
            if asked and int(tokens or 0) < int(most or 0):
                told = f"input length and `max_tokens` exceed context limit: {tokens} + {asked} > {most}"
            else:
                told = f"prompt is too long: {tokens} tokens > {most} maximum"
            return bad_request(f"{told} ({message})", "messages", _CODE)
    return bad_request(f"prompt is too long: {message}", "messages", _CODE) if _FULL.search(said) else None


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
