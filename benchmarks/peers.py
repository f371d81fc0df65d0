"""Other packages that read tool calls out of text, on the same outputs.

`speed.py` has the tables. It starts `python benchmarks/peers.py NAME OUTPUT LIMIT` for each measurement, and ends what
hangs.

Each is measured where it is installed, in an interpreter of its own: vLLM's parsers in the environment of `make
test-vllm`, and llama3-tools also as `make compiled` compiled it.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from llama3_tools import Extraction, Extractor, extract
from measuring import best_of, chunks_of, streamed
from outputs import REAL_SHAPES
from pages import time_shown
from workloads import CALL, PROSE_WITH_BRACES, TYPICAL

_Calls = tuple[Sequence[tuple[str, object]], str]
"""The names and arguments of the calls, and the text around them."""
_Reader = Callable[[str], _Calls]

PACKAGES = (
    *("agent-tool-parser", "llm-beacon", "llm-router-utils", "smolagents", "llama-models"),
    *("llama-index-core", "langchain-core", "json-repair"),
)
"""What the peers are installed from, and llama3-tools beside."""

_REPEATS = 3
_STARTING = 30.0
"""Seconds that a peer has for being imported."""

_ROOT = Path(__file__).parents[1]
_COMPILED = _ROOT / "build" / "compiled"
"""Where `make compiled` compiles, for one Python at a time."""
_VLLM = _ROOT / ".venv-vllm"
_OURS, _OURS_COMPILED = "llama3-tools", "llama3-tools, compiled"

_STREAMED = "10 KB by 4 characters"


def _call_of(size: int) -> str:
    return f'{{"name": "f", "parameters": {{"text": "{"x" * size}"}}}}'


OUTPUTS: dict[str, tuple[str, list[str]]] = {
    "typical": (TYPICAL, [CALL]),
    "a call alone": (CALL, [CALL]),
    **{name: (text, list(calls)) for name, (text, calls) in REAL_SHAPES.items()},
    "a string of 100 KB": (_call_of(100_000), [_call_of(100_000)]),
    "1 MB of prose with braces": (f"{PROSE_WITH_BRACES * 26_000}\n{CALL}", [CALL]),
    _STREAMED: (_call_of(10_000), [_call_of(10_000)]),
}
"""The outputs, with the calls that are in them. The last one comes in chunks."""


@dataclass(frozen=True, slots=True)
class PeerReading:
    """How a peer read an output."""

    seconds: float | None
    """`None`: longer than it was given."""
    is_right: bool
    """Whether it found the calls that are there, and no other."""
    text: str
    """Which text around the calls it gives: all, what is in front, or none."""


HEADINGS = ("", *OUTPUTS, "text around")


@dataclass(frozen=True, slots=True)
class Peer:
    """What a package finds in the outputs, and how long it takes."""

    name: str
    limit: float
    """The seconds that it had for each."""
    reads: Mapping[str, PeerReading]
    """By output; where it does not stream, there is none for the stream."""

    def cells(self) -> Sequence[str]:
        """Return the time of each output, in brackets if other calls were found than are there; and which text."""
        times = (self._time(self.reads.get(output)) for output in OUTPUTS)
        return (self.name, *times, self.reads["typical"].text)

    def _time(self, read: PeerReading | None) -> str:
        if read is None:
            return ""
        shown = f"> {self.limit:.0f} s" if read.seconds is None else time_shown(read.seconds)
        return shown if read.is_right else f"({shown})"


def peers(limit: float) -> Iterator[Peer]:
    """Measure the packages that are installed, with so many seconds for each output."""
    for name, (module, *_) in _PEERS.items():
        if _is_there(name, module):
            outputs = (output for output in OUTPUTS if output != _STREAMED or name in _STREAMS)
            yield Peer(name, limit, {output: _start(name, output, limit) for output in outputs})


def _is_there(name: str, module: str) -> bool:
    if name == _OURS_COMPILED:
        return any(_COMPILED.glob(f"*{EXTENSION_SUFFIXES[0]}"))
    return (_VLLM / "model").is_dir() if module == "vllm" else find_spec(module) is not None


def _start(name: str, output: str, limit: float) -> PeerReading:
    python = str(_VLLM / "bin" / "python") if _PEERS[name][0] == "vllm" else sys.executable
    command = [python, __file__, name, output, str(limit)]
    environment = os.environ | ({"PYTHONPATH": str(_COMPILED)} if name == _OURS_COMPILED else {})
    seconds = limit + _STARTING
    try:
        done = subprocess.run(command, check=True, capture_output=True, env=environment, timeout=seconds)  # noqa: S603
    except subprocess.TimeoutExpired:
        return PeerReading(None, is_right=False, text="none")
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"{name} cannot be measured: {' '.join(command)}") from error
    return PeerReading(**json.loads(done.stdout.splitlines()[-1]))


def _measure(name: str, output: str, limit: float) -> PeerReading:
    read = _STREAMS[name]() if output == _STREAMED else _PEERS[name][1]()
    text, calls = OUTPUTS[output]
    started = time.process_time()
    calls_found, content = _attempt(read, text)
    seconds = time.process_time() - started
    expected = [one for call in calls for one in _call(json.loads(call))]
    if seconds < limit / (4 * _REPEATS):
        seconds = best_of(partial(_attempt, read, text), _REPEATS)
    is_right = list(calls_found) == expected
    return PeerReading(seconds if seconds < limit else None, is_right, _which(text, calls, content))


def _which(text: str, calls: Sequence[str], content: str) -> str:
    """Return which of the text around the calls is in a content."""
    before, _, behind = (part.strip() for part in text.partition(calls[0]))
    if before not in content:
        return "none"
    return "all" if behind in content else "in front"


def _attempt(read: _Reader, text: str) -> _Calls:
    """Read a text; a peer that raises has found nothing."""
    try:
        return read(text)
    except Exception:  # noqa: BLE001 - whatever it raises
        return [], ""


def _call(value: Any) -> list[tuple[str, object]]:  # noqa: ANN401 - whatever it found
    if not isinstance(value, dict) or "name" not in value:
        return []
    return [(value["name"], value.get("parameters", value.get("arguments")))]


def _llama3_tools() -> _Reader:
    return lambda text: _calls_of(extract(text))


def _llama3_tools_streaming() -> _Reader:
    extractor = Extractor()
    return lambda text: _calls_of(streamed(extractor, chunks_of(text)))


def _calls_of(extraction: Extraction) -> _Calls:
    return [(call.name, call.arguments) for call in extraction.tool_calls], extraction.content or ""


def _agent_tool_parser() -> _Reader:
    parse = import_module("agent_tool_parser").try_parse_tool_calls
    return lambda text: ([(call.name, call.args) for call in parse(text)], "")


def _beacon() -> _Reader:
    parse = import_module("beacon").parse_tool_calls
    return lambda text: ([(call["name"], call["arguments"]) for call in parse(text)], "")


def _sglang() -> _Reader:
    detector, tools = _sglang_detector()

    def read(text: str) -> _Calls:
        result = detector().detect_and_parse(text, tools)
        return [(call.name, json.loads(call.parameters)) for call in result.calls], result.normal_text

    return read


def _sglang_streaming() -> _Reader:
    detector, tools = _sglang_detector()

    def read(text: str) -> _Calls:
        names, arguments, content, one = [], "", "", detector()
        for chunk in chunks_of(text):
            result = one.parse_streaming_increment(chunk, tools)
            content += result.normal_text
            names += [call.name for call in result.calls if call.name]
            arguments += "".join(call.parameters for call in result.calls)
        return [(name, json.loads(arguments)) for name in names], content

    return read


def _sglang_detector() -> tuple[Any, list[Any]]:
    protocol = import_module("llm_router_utils.sglang.srt.entrypoints.openai.protocol")
    detector = import_module("llm_router_utils.sglang.srt.function_call.llama32_detector").Llama32Detector
    names = {json.loads(call)["name"] for _, calls in OUTPUTS.values() for call in calls}
    functions = [protocol.Function(name=name, parameters={}) for name in sorted(names)]
    return detector, [protocol.Tool(type="function", function=function) for function in functions]


def _vllm(name: str) -> _Reader:
    logging.getLogger("vllm").setLevel(logging.CRITICAL)  # it logs what it could not read
    tokenizer = import_module("transformers").AutoTokenizer.from_pretrained(_VLLM / "model")
    parser = import_module("vllm.tool_parsers").ToolParserManager.get_tool_parser(name)(tokenizer)
    protocol = import_module("vllm.entrypoints.openai.chat_completion.protocol")
    request = protocol.ChatCompletionRequest(messages=[], model="llama3.1")

    def read(text: str) -> _Calls:
        found = parser.extract_tool_calls(text, request)
        calls = [(call.function.name, json.loads(call.function.arguments)) for call in found.tool_calls]
        return calls, found.content or ""

    return read


def _smolagents() -> _Reader:
    parse = import_module("smolagents.utils").parse_json_blob

    def read(text: str) -> _Calls:
        value, before = parse(text)
        return _call(value), before or ""

    return read


def _llama_models() -> _Reader:
    find_call = import_module("llama_models.llama3.tool_utils").ToolUtils.maybe_extract_custom_tool_call

    def read(text: str) -> _Calls:
        found = find_call(text)
        return ([(found[0], json.loads(found[1]) if isinstance(found[1], str) else found[1])] if found else []), ""

    return read


def _llama_index() -> _Reader:
    parse = import_module("llama_index.core.output_parsers.utils").parse_json_markdown
    return lambda text: (_call(parse(text)), "")


def _langchain() -> _Reader:
    parser = import_module("langchain_core.output_parsers").JsonOutputParser()
    return lambda text: (_call(parser.parse(text)), "")


def _json_repair() -> _Reader:
    repair = import_module("json_repair").repair_json

    def read(text: str) -> _Calls:
        value = repair(text, return_objects=True)
        return [call for one in (value if isinstance(value, list) else [value]) for call in _call(one)], ""

    return read


_PEERS: dict[str, tuple[str, Callable[[], _Reader]]] = {
    _OURS: ("llama3_tools", _llama3_tools),
    _OURS_COMPILED: ("llama3_tools", _llama3_tools),
    "agent-tool-parser": ("agent_tool_parser", _agent_tool_parser),
    "llm-beacon": ("beacon", _beacon),
    "SGLang's, of llm-router-utils": ("llm_router_utils", _sglang),
    "vLLM: llama3_json": ("vllm", partial(_vllm, "llama3_json")),
    "vLLM: hermes": ("vllm", partial(_vllm, "hermes")),
    "smolagents: parse_json_blob": ("smolagents", _smolagents),
    "llama-models: ToolUtils": ("llama_models", _llama_models),
    "llama-index-core: parse_json_markdown": ("llama_index", _llama_index),
    "langchain-core: JsonOutputParser": ("langchain_core", _langchain),
    "json-repair: repair_json": ("json_repair", _json_repair),
}
"""The packages, by what is measured of them: the module that has to be there, and what makes a reader of it."""

_STREAMS: dict[str, Callable[[], _Reader]] = {
    _OURS: _llama3_tools_streaming,
    _OURS_COMPILED: _llama3_tools_streaming,
    "SGLang's, of llm-router-utils": _sglang_streaming,
}
"""What makes readers of those that take chunks."""


if __name__ == "__main__":
    _name, _output, _seconds = sys.argv[1:]
    print(json.dumps(asdict(_measure(_name, _output, float(_seconds)))))
