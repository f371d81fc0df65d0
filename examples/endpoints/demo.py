r"""The embedded endpoint: it stands in for a local Llama 3 whose server finds no tool calls.

It has no model. It writes calls as text, by rules that a reader can follow, in this order:

1. A question of the quickstart gets the answer that a real model gave (`recorded.json`).
2. A question of a program in the cookbook may have an answer of its own (`SCRIPT`).
3. After results of tools, it tells them.
4. If the question shares a word with a declared tool, it calls this tool. Names and numbers of the question become the
   arguments.
5. Otherwise, it answers in words.

>>> weather = {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}
>>> print(write({"messages": [{"role": "user", "content": "How is the weather in Rome?"}], "tools": [weather]}))
Let me check. {"name": "get_weather", "parameters": {"city": "Rome"}} One moment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from endpoints.script import Turn, cut_at, sent
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_json, api

MODEL = "llama3.1"
"""The model's name. The endpoint knows no other."""

RECORDED: Mapping[str, list[str]] = json.loads(Path(__file__).with_name("recorded.json").read_text("utf-8"))["answers"]
"""What a real model answered, token by token, by question."""

SCRIPT = {
    "ask_researcher": (
        "mayor of Oslo",
        """{"name": "ask_researcher", "parameters": {"question": "Who is the mayor of Oslo?"}}
{"name": "ask_calculator", "parameters": {"question": "What is 17 times 23?"}}""",
    ),
    "handoff": ("parcel", '{"name": "handoff", "parameters": {"to_agent": "shipping", "reason": "a late parcel"}}'),
    "get_weather": (
        "umbrella in Bergen",
        """<think>
For Oslo, I would call {"name": "get_weather", "parameters": {"city": "Oslo"}}. But they ask for Bergen.
</think>
{"name": "get_weather", "parameters": {"city": "Bergen"}}""",
    ),
    "Ticket": (
        "invoice",
        '{"name": "Ticket", "parameters": {"title": "Invoice 4711 is wrong", "priority": "high", "days": "3"}}',
    ),
}
"""Answers to the cookbook's programs: by a declared tool, what the question has to contain, and the answer."""

_HELP = "I am the demo endpoint, not a model. I call a tool if its description shares a word with the question."
_COMMON = frozenset(
    {"does", "from", "have", "please", "should", "that", "this", "what", "when", "where", "which", "with"}
)
_RESULT = re.compile(r"^(?:Result|Error) of (\w+)(?: \{.*?\})?: (.*(?:\n(?!\n|Result of|Error of).+)*)", re.MULTILINE)
_CONTEXT = re.compile(r"Context information is below\.\s*-+\s*(.*?)\s*-{5,}", re.DOTALL)
_FORCED = re.compile(r"Call (?:a function|the function '(\w+)') in your reply")


def demo_server(port: int = 0, *, pause: float = 0.0) -> LoopbackServer:
    """Return the endpoint as a server, for a `with` block. It speaks OpenAI's API and Ollama's.

    Args:
        port: where it listens; 0 for a free port.
        pause: seconds between two tokens of a stream.
    """

    def model(request: Request) -> Answer:
        return sent(Turn(pieces=_pieces(request.body), pause=pause), request)

    openai = api([MODEL], model)
    return LoopbackServer(
        lambda request: _ollama(request) if request.path.startswith("/api/") else openai(request), port
    )


def _ollama(request: Request) -> Answer:
    """Answer a request of Ollama's own API, of which `ChatOllama` and LlamaIndex's `Ollama` need this much."""
    name = request.body.get("model")
    if name != MODEL:
        return answer_json({"error": f"model '{name}' not found"}, status=404)
    if not request.path.endswith("/chat"):
        return answer_json({"model_info": {}})
    pieces = _pieces(request.body)
    said = [
        {"model": MODEL, "message": {"role": "assistant", "content": piece}, "done": False}
        for piece in (pieces if request.body.get("stream", True) else ["".join(pieces)])
    ]
    said[-1] |= {"done": True, "done_reason": "stop", "prompt_eval_count": 0, "eval_count": len(pieces)}
    return Answer(tuple(f"{json.dumps(line)}\n".encode() for line in said), "application/x-ndjson")


def _pieces(body: Mapping[str, Any]) -> tuple[str, ...]:
    recorded = RECORDED.get(_texts(body)[-1][1].rpartition("\n\n")[2])
    if recorded and "search_web" in str(body):
        return tuple(recorded)
    text = write(body)
    return cut_at(text, *range(4, len(text), 4))


def write(body: Mapping[str, Any]) -> str:
    """Return what the stand-in writes in answer to a request's body."""
    messages = _texts(body)
    everything = "\n".join(text for _, text in messages)
    tools = dict(_declared(f"{json.dumps(body.get('tools') or [])}\n{everything}"))
    question = messages[-1][1].rpartition("\n\n")[2]
    results = _results(messages)
    if results and results[0][0] == "handoff":  # another agent goes on with what the user asked
        question, results = next(text for role, text in messages if role == "user").rpartition("\n\n")[2], []
        tools.pop("handoff", None)
    scripted = next((text for tool, (said, text) in SCRIPT.items() if tool in tools and said in question), None)
    if scripted and not results:
        return scripted
    forced = _FORCED.search(everything)
    wanted = forced and (forced[1] or next((name for name in tools if name[0].isupper()), None))
    # An object of a class, out of all that was said.
    if forced and wanted in tools and (results or forced[1] or len(tools) == 1):
        said = "\n".join(text for role, text in messages if role != "assistant").rpartition(forced[0])[2]
        parameters = _fill(tools[wanted]["parameters"], said, wanted, re.findall(r"\d+", said))
        return json.dumps({"name": wanted, "parameters": parameters})
    if results:
        answer, call = " ".join(_told(text) for _, text in results), None
    elif context := _CONTEXT.search(messages[-1][1]):
        return context[1].rpartition("\n\n")[2].partition("\n")[0]
    else:
        known = _remembered(question, messages)
        call = None if known else _call(tools, question, forced)
        if call and forced:
            return call
        answer = known or ("Let me check." if call else _HELP)
    if '"tool_call": null or' in everything:  # the strict response format
        one = json.loads(call.replace('"parameters"', '"arguments"').partition("; ")[0]) if call else None
        return json.dumps({"message": answer, "tool_call": one})
    return f"{answer} {call} One moment." if call else answer


def _texts(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the role and the text of each message. Clients write a text as a string, or as a list of parts."""
    messages = body.get("messages") or [{"role": "user", "content": body.get("prompt")}]
    found = []
    for message in messages:
        content = message.get("content") or ""
        parts = content if isinstance(content, list) else [{"text": content}]
        found.append((str(message.get("role")), "".join(str(part.get("text", "")) for part in parts)))
    return found


def _declared(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and the declaration of each tool in a prompt."""
    at = text.find("{")
    while at >= 0:
        try:
            found, end = json.JSONDecoder().raw_decode(text, at)
        except ValueError:
            found, end = {}, at + 1
        function = found.get("function", found)
        if isinstance(function, dict) and {"properties", "type"} & set(function.get("parameters") or ()):
            function["parameters"].setdefault("properties", {"city": {"type": "string"}})  # as a model makes one up
            yield function["name"], function
        at = text.find("{", end)


def _results(messages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the tool and the text of each result after the last answer."""
    found: list[tuple[str, str]] = []
    for role, text in reversed(messages):
        if role == "assistant":
            break
        found[:0] = [("", text)] if role == "tool" else _RESULT.findall(text)
    return found


def _told(result: str) -> str:
    result = result.rpartition("\nOutput:\n")[2]  # Codex puts how the command ended above it
    if place := re.fullmatch(r"(?:Sun|no sensor) in (\w+)", result):
        return f"The sun shines in {place[1]}."
    return result if result.endswith((".", "!")) else f"{result}."


def _remembered(question: str, messages: list[tuple[str, str]]) -> str | None:
    asked = re.match(r"Which (\w+) was that", question)
    known = asked and re.search(rf"\b{asked[1]} (\w+)", "\n".join(text for _, text in messages[:-1]))
    return f"It was {known[0]}." if known else None


def _call(tools: Mapping[str, Any], question: str, forced: re.Match[str] | None) -> str | None:
    """Return a call of the tool that shares most words with the question, once for each name in the question."""
    asked = _words(question)
    name = max(tools, key=lambda each: len(asked & _words(f"{each} {tools[each].get('description')}")), default=None)
    if forced and tools:
        name = forced[1] or name
    elif name is None or not asked & _words(f"{name} {tools[name].get('description')}"):
        return None
    parameters = tools[str(name)]["parameters"]
    strings = [each for each, schema in parameters["properties"].items() if schema.get("type") == "string"]
    calls = [{"name": name, "parameters": _fill(parameters, question, str(name), re.findall(r"\d+", question))}]
    if len(strings) == 1:
        calls = [{"name": name, "parameters": {**calls[0]["parameters"], strings[0]: one}} for one in _names(question)]
    return "; ".join(map(json.dumps, calls))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower().replace("_", " "))) - _COMMON


def _names(question: str) -> list[str]:
    """Return what is quoted in a question, or its names; else all of it."""
    quoted = re.findall(r'"([^"]+)"', question)
    names = quoted or re.findall(r"(?<=[a-z,] )[A-Z]\w+", question) or re.findall(r"\b[A-Z]\w+(?= is\b)", question)
    return [name for name in names if name not in {"What", "Who", "Where", "How"}] or [question]


def _fill(schema: Mapping[str, Any], question: str, name: str, numbers: list[str]) -> Any:  # noqa: ANN401 (any JSON)
    """Return a value that fits a schema, out of what the question says. Numbers are used up in their order."""
    kind = schema.get("type") or ("object" if "properties" in schema else "string")
    if kind == "object":
        properties = schema.get("properties", {})
        wanted = schema.get("required", properties)
        return {each: _fill(properties[each], question, each, numbers) for each in wanted}
    if kind == "array":
        return [_fill(schema.get("items", {}), question, name, numbers)]
    if kind in {"integer", "number"}:
        near = re.search(rf"\b{name} (\d+)", question)
        number = near[1] if near else next(iter(numbers), "33")
        numbers[:] = [each for each in numbers if each != number]
        return int(number)
    choices = schema.get("enum") or ([True] if kind == "boolean" else _names(question))
    return next((choice for choice in choices if str(choice) in question), choices[0])
