"""What holds for every text, put together from the pieces that calls, wrappers and their breakages are made of.

- Nothing raises, and every chunking gives the same events and the same extraction.
- A call is in the text where its span says, spans are in order and do not overlap, and what is there is the call.
- Text out is text in without calls, wrappers, protocol tokens and delimiters: nothing lost, nothing twice.
- For every beginning of a text, the calls are the first calls of the whole (a wrapper or quotation still open aside).
- The two JSON readers agree: what the fast one accepts, the exact one accepts, with the same end.
"""

from __future__ import annotations

import itertools
import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from chunkings import chunkings, extract_in_every_chunking, read
from llama3_tools import Extractor, ToolCall, extract
from llama3_tools.json_scan import scan_value
from llama3_tools.json_text import MAX_DEPTH, JsonObject, parse_object
from llama3_tools.source import Source, run_to_end

WHOLE = [
    '{"name":"f","parameters":{"q":"x"}}',
    '{"name": "g", "arguments": "{\\"a\\": 1}"}',
    '{"type":"function","function":"h","parameters":{}}',
    '{"type":"function","function":{"name":"i","arguments":{}}}',
    '{"tool_name":"t","parameters":{}}',
    '{"tool":"u","args":{"q":"x"}}',
    '{"a": 1}',
    "{}",
    "[]",
    "[1]",
    "[{}, ",
]
BROKEN = [
    '{"name":"f","parameters":{"q":"',
    '{"name":',
    '{"x":',
    '{"a" b',
    '["x",',
    '[{"name":',
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "\\u00e9",
    "\\ud83d",
    "tru",
    "null",
    "-",
    "12",
    "1e9",
    "1e999",
]
WRAPPERS = [
    "<tool>",
    "</tool>",
    "<tool_call>",
    "</tool_call>",
    "<tools>",
    "</tools>",
    "<functioncall>",
    "</functioncall>",
    "<functioncall ",
    ">",
    "<function=f>",
    "<function=f=",
    "<function(f)",
    "<function>",
    "</function>",
    "```",
    "```json\n",
    "```js\n",
    "\n```\n",
    "\n~~~\n",
    "\n~~~json\n",
]
TOKENS = [
    "<|python_tag|>",
    "<|python_start|>",
    "<|python_end|>",
    "<|eot_id|>",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|im_start|>",
    "<|im_start|>assistant\n",
    "<|im_end|>",
]
PROSE = [
    "Hello",
    "é",
    "\U0001f600",
    "\ud800",
    " ",
    "\n",
    "\t",
    "; ",
    ",",
    "`",
    "<",
    "</",
    "<t",
    "<|",
    "<b>",
    "assist",
    "<think>",
    "</think>",
]

outputs = st.lists(st.sampled_from([*WHOLE * 3, *BROKEN, *WRAPPERS, *TOKENS, *PROSE]), max_size=12).map("".join)

_VANISHES = re.compile(
    r"[\s;,>]|</?(?:tool(?:_call|s)?|function(?:call)?)>|<function=f>|<functioncall(?!>)"
    r"|<\|(?:python_tag|python_start|python_end|eot_id|im_end)\|>|<\|im_start\|>(?:assistant\b)?"
    r"|<\|start_header_id\|>assistant<\|end_header_id\|>|(?:`|~){3,}|json|python"
)
_OPEN_AT_THE_END = re.compile(r"(?:<[/|]?[a-z_|]*|[`~]+)\Z")


@given(outputs)
def test_every_chunking_gives_the_same(output: str):
    extract_in_every_chunking(output)


@given(outputs)
def test_every_chunking_gives_the_same_leniently(output: str):
    extract_in_every_chunking(output, lenient=True)


@given(st.text(alphabet='{}[]"\\:;, \n`~<>|/abcdefntu_1.-é\ud800', max_size=60))
def test_noise_is_the_same_in_every_chunking(output: str):
    extract_in_every_chunking(output)


@given(outputs)
def test_a_call_is_where_its_span_says(output: str):
    end = 0
    for call in extract(output).tool_calls:
        start, stop = call.span
        assert end <= start < stop <= len(output)
        end = stop
        written = output[start:stop]
        assert call.name in written
        assert written[0] + written[-1] in ("{}", "<>", "<}")
        assert call.arguments_json in written or json.dumps(call.arguments_json)[1:-1] in written
        assert json.loads(call.arguments_json) == call.arguments


def _remains(text: str) -> str:
    return _VANISHES.sub("", _VANISHES.sub("", text))


@given(outputs)
def test_nothing_is_lost_and_nothing_is_there_twice(output: str):
    extraction = extract(output)
    pieces, end = [], 0
    for call in extraction.tool_calls:
        pieces.append(output[end : call.span[0]])
        end = call.span[1]
    rest = " ".join([*pieces, output[end:]])
    closed = _OPEN_AT_THE_END.sub("", rest)  # the closing of a wrapper may be cut off (rule 9)
    assert _remains(extraction.content or "") in (_remains(rest), _remains(closed))


@given(outputs)
def test_without_a_call_only_protocol_tokens_go(output: str):
    extraction = extract(output)
    if not extraction.tools_called:
        tokens = re.compile(
            r"<\|im_start\|>(?:assistant\b)?(?:\n)?|<\|(?:start_header_id\|>assistant<\|end_header_id|[a-z_]+)\|>"
        )
        assert tokens.sub("", extraction.content or "") == tokens.sub("", output)


@given(outputs)
@settings(max_examples=50)
def test_the_calls_of_a_beginning_are_the_first_calls_of_the_whole(output: str):
    def calls(text: str) -> list[ToolCall]:
        return list(extract(text).tool_calls)

    whole = calls(output)
    for end in range(len(output)):
        beginning = output[:end]
        is_open = re.search(r"<tool|<function|<\|python_start|```|~~~|`\s?(?:[{\[<]|\Z)", beginning)
        if not is_open:
            found = calls(beginning)
            assert found == whole[: len(found)], beginning


@given(outputs)
def test_what_is_rejected_lies_in_order_and_apart_from_the_calls(output: str):
    extraction = extract(output)
    spans = sorted(value.span for value in (*extraction.rejections, *extraction.tool_calls))
    bare = [call for call in extraction.tool_calls if call.format == "json"]
    if len(bare) == len(extraction.tool_calls):
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    assert all(0 <= start < end <= len(output) for start, end in spans)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(
    st.dictionaries(st.text(max_size=6), json_values, max_size=4),
    st.text(min_size=1, max_size=12),
    st.booleans(),
    st.sampled_from([None, 1, "\t"]),
)
def test_every_call_that_json_can_write_is_read_back(
    arguments: dict[str, object], name: str, ascii_only: bool, indent: str | int | None
):
    written = json.dumps({"name": name, "parameters": arguments}, ensure_ascii=ascii_only, indent=indent)
    for chunks in list(chunkings(written))[:: max(1, len(written) // 20)]:
        flow, extraction = read(["One ", *chunks, " two"], Extractor())
        (call,) = extraction.tool_calls
        assert (call.name, call.arguments) == (name, arguments)
        assert extraction.content == "One two"
        assert flow == ["One", call, " two"]


def _parsed(text: str) -> JsonObject | None:
    source = Source()
    source.feed(text)
    return parse_object(source.json_text, 0) if source.json_text is not None else None


def _scanned_end(text: str) -> int | None:
    source = Source()
    source.feed(text)
    source.ended = True
    scan = run_to_end(scan_value(source))
    return None if scan.refusal is not None else scan.end


@given(st.text(alphabet='{}[]":, \n\\ud8e19.-+truefalsn\x00é\ud800', max_size=40).map('{{"k":{}'.format))
@settings(max_examples=400)
def test_the_fast_reader_accepts_nothing_that_the_exact_one_does_not(text: str):
    parsed = _parsed(text)
    end = _scanned_end(text)
    if parsed is not None:
        assert end == parsed.end
    if end is not None:
        exact = parse_object(text, 0, checked=True)
        assert exact is not None
        assert exact.end == end


@given(json_values.map(json.dumps).map('{{"k": {}}} and more'.format))
def test_both_readers_read_what_the_standard_library_writes(text: str):
    parsed = parse_object(text, 0, checked=True)
    assert parsed is not None
    assert parsed.end == _scanned_end(text)
    assert _parsed(text) == parsed
    assert parsed.value == json.loads(text.removesuffix(" and more"))


def _depth(value: object) -> int:
    if isinstance(value, (dict, list)):
        return 1 + max((_depth(inner) for inner in (value.values() if isinstance(value, dict) else value)), default=0)
    return 0


_BRACKETS_IN_STRINGS = ['"]"', '"[{"', r'"\\"', r'"\"[\\"', '["[", "é", ""]', r'{"}\\":"","[":"\"]"}']


@given(
    st.integers(1, MAX_DEPTH * 2), st.integers(0, MAX_DEPTH), st.sampled_from(["[]", '{"a":1}', *_BRACKETS_IN_STRINGS])
)
def test_both_readers_have_the_same_limit_of_depth(levels: int, width: int, leaf: str):
    inner = "[" * levels + ",".join([leaf] * (width + 1)) + "]" * levels
    text = f'{{"k": {inner}}}'
    is_within = _depth(json.loads(text)) <= MAX_DEPTH
    assert (_parsed(text) is not None) is is_within
    assert (_scanned_end(text) is not None) is is_within
