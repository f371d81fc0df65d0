"""Whether the server can be asked at all: its address, its key, the model."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from llama3_acceptance.doctor.examination import Examination
from llama3_acceptance.doctor.finding import Finding
from llama3_tools.chat.endpoint_errors import NO_SUCH_MODEL
from llama3_tools.errors import did_you_mean

_COMPARE = "compare the host and the port with what it prints when it starts"


def behind_the_gateway(of: Examination) -> Iterator[Finding]:
    """Yield a note if the address is that of this project's gateway."""
    if of.gateway is None:
        return
    if of.gateway == of.base_url:
        what, to_do = "does not say which upstream server it has", "to know that server, give its own address"
    else:
        what, to_do = "all that is said here is about its upstream server", "let your client ask the gateway"
    yield Finding(
        "gateway", f"{of.gateway} is a gateway of llama3-tools: {what}", to_do, is_fault=False, still_works="native"
    )


def refused_key(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the server wants another key."""
    for name in ("plain", "models"):
        if of[name].status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            yield Finding(
                "key_refused",
                f"the server refuses the key (HTTP {of[name].status}): {of[name].error}",
                "pass the server's key with --api-key or OPENAI_API_KEY",
                still_works="nothing",
            )
            return


def busy_server(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the server refuses a question for now."""
    for answer in of.exchanges.values():
        if answer.is_busy:
            does = "busy" if answer.status == HTTPStatus.TOO_MANY_REQUESTS else "loading its model, or busy"
            yield Finding(
                "server_busy",
                f"the server is {does} (HTTP {answer.status}): {answer.error}",
                "wait a moment, then run the doctor again",
                still_works="nothing",
            )
            return


def missing_model(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the server does not have the model."""
    plain, models = of["plain"], of.models
    is_told = bool(NO_SUCH_MODEL.search(plain.error))
    is_request_refused = plain.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
    is_unknown = is_told if models is None else of.model not in models and (is_told or is_request_refused)
    if plain.is_answered or not is_unknown:
        return
    there = f"; it has {', '.join(models)}{_nearest_model(of.model, models)}" if models else ""
    yield Finding(
        "model_missing",
        f"the server has no model {of.model!r}{f' ({plain.error})' if plain.error else ''}{there}",
        "pass a name that the server has with --model, or load the model into the server",
        still_works="nothing",
    )


def no_openai_server(of: Examination) -> Iterator[Finding]:
    """Yield a finding if a plain question gets no completion, and say why."""
    plain = of["plain"]
    if plain.is_answered or not plain.status:
        return
    if plain.is_busy:
        yield from busy_server(of)
        return
    if of.is_elsewhere:
        yield Finding(
            "not_openai",
            f"the server's OpenAI-compatible API is not at {of.base_url} (HTTP {plain.status})",
            f"use --base-url {of.base_url.rstrip('/')}/v1",
            still_works="nothing",
        )
    elif plain.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.OK):
        yield Finding(
            "not_openai",
            f"what answers at {of.base_url} is not an OpenAI-compatible server (HTTP {plain.status}): {plain.error}",
            "use the address that ends in /v1: http://localhost:11434/v1 for Ollama, http://localhost:8080/v1 for "
            "llama.cpp, http://localhost:8000/v1 for vLLM, http://localhost:1234/v1 for LM Studio",
            still_works="nothing",
        )
    else:
        yield Finding(
            "server_error",
            f"the server answers a plain question with HTTP {plain.status}: {plain.error}",
            "look into the server's log: the model may not be loaded, or there may be too little memory",
            still_works="nothing",
        )


def no_answer(of: Examination) -> Iterator[Finding]:
    """Yield a finding if the list of models or a plain question gets no answer, or none in time."""
    for name, path, options in (("models", "/models", ""), ("plain", "/chat/completions", "-X POST ")):
        answer, url = of[name], f"{of.base_url.rstrip('/')}{path}"
        if name not in of.exchanges or answer.status:
            continue
        what = f"nothing answers at {of.base_url}: {answer.error}"
        if answer.is_timeout and name == "plain":
            what = f"a plain question did not end in time, after {answer.seconds:.0f} s"
            to_do = "allow more with --timeout, or use a smaller model or context"
            yield Finding("too_slow", what, to_do, still_works="nothing")
            return
        if answer.is_timeout:
            to_do = f"allow more with --timeout, or {_COMPARE}"
        elif not answer.is_connected:
            to_do = f"start the server, and {_COMPARE}"
        else:
            what = f"the connection breaks before {url} has answered: {answer.error}"
            to_do = (
                "look into the server's log: it may have crashed, or have too little memory. If the log has no such "
                f"request, see what answers or redirects there: curl -i {options}{url}"
            )
        yield Finding("unreachable", what, to_do, still_works="nothing")
        return


def _nearest_model(model: str, models: list[str]) -> str:
    """Return the end of a message: the model of that name under another tag (`llama3.1:8b`), or one like it."""
    name = model.partition(":")[0].lower()
    of_name = [one for one in models if name and one.lower().rpartition("/")[2].partition(":")[0] == name]
    return did_you_mean(model, of_name or models) or (f"; did you mean {of_name[0]!r}?" if of_name else "")
