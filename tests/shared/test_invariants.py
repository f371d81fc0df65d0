"""What holds for every output, however it is read: outputs are put together from fragments, or are noise.

`invariants.py` says what holds, a function each, and the fuzzers hold other outputs to the same. Beside that:

- Nothing raises.
- The two readers of JSON agree: what the scanner in C accepts, the token reader accepts, with the same end.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import invariants
from beginnings import breaking_off_calls_nothing, calls_come_when_they_are_complete
from chunkings import cut, extract_in_every_chunking, pieces
from fragments import FRAGMENTS, LONG, READINGS, SITUATIONS
from llama3_tools import Extractor
from llama3_tools.literals.json_object import parse_object
from llama3_tools.literals.json_tokens import JsonTokens

pytestmark = pytest.mark.no_cover  # much of the same: other tests cover what these try

parts = st.sampled_from(FRAGMENTS)
situations = st.sampled_from(SITUATIONS)
outputs = st.lists(parts, max_size=12).map("".join) | st.lists(situations | parts, max_size=5).map("".join)
long_outputs = st.lists(st.sampled_from(LONG) | situations | parts, min_size=2, max_size=5).map("".join)
readings = st.sampled_from(list(READINGS))
noise = st.text(alphabet="{}[]()\"\\':;,= \n`~<>|/abcdefntu_1.-é\ud800", max_size=60)


CALL = '{"name":"f","parameters":{"q":1}}'

TELLING = {
    reading: Extractor(extractor.tools and extractor.tools.values(), options=extractor.options, progress=True)
    for reading, extractor in READINGS.items()
}
"""The same ways to read, with progress."""

TOLD = (
    CALL,
    '{"type": "function", "function": {"name": "g", "arguments": {}}}',
    '{"type": "function", "function": "g", "parameters": {}}',
)


@given(readings, outputs | noise, st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_every_chunking_is_one_shot(reading: str, output: str, seeded: random.Random):
    invariants.every_chunking_is_one_shot(list(output), READINGS[reading])
    places = range(1, len(output))
    few = sorted(seeded.sample(places, min(len(places), 3)))
    invariants.every_chunking_is_one_shot(cut(output, few), READINGS[reading])


@given(readings, long_outputs, st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_so_is_every_chunking_of_an_output_with_long_parts(reading: str, output: str, seeded: random.Random):
    """What a stream may look back at, and reads of a candidate at once, is shorter."""
    invariants.every_chunking_is_one_shot(pieces(output, seeded.choice((1, 3, 7, 64, 500))), READINGS[reading])
    places = range(1, len(output))
    few = sorted(seeded.sample(places, min(len(places), 3)))
    invariants.every_chunking_is_one_shot(cut(output, few), READINGS[reading])


@given(readings, outputs | noise)
@settings(max_examples=150)
def test_nothing_is_lost_and_nothing_is_there_twice(reading: str, output: str):
    invariants.nothing_is_lost(output, READINGS[reading])


@given(readings, outputs)
@settings(max_examples=150)
def test_a_call_stands_where_its_span_says_and_reads_the_same_there(reading: str, output: str):
    invariants.calls_stand_where_they_say(output, READINGS[reading])


@given(readings, outputs)
@settings(max_examples=60)
def test_the_calls_of_a_beginning_are_the_first_calls_of_the_whole(reading: str, output: str):
    calls_come_when_they_are_complete(output[:300], READINGS[reading])


@given(readings, outputs)
@settings(max_examples=150)
def test_rejections_stand_in_order_and_apart_from_the_calls(reading: str, output: str):
    invariants.rejections_stand_in_order(output, READINGS[reading])


@given(readings, outputs)
@settings(max_examples=150)
def test_the_content_holds_no_call_that_was_not_rejected(reading: str, output: str):
    invariants.content_holds_no_other_call(output, READINGS[reading])


@given(readings, outputs)
@settings(max_examples=150)
def test_a_plain_call_is_called_or_rejected(reading: str, output: str):
    invariants.plain_calls_are_accounted_for(output, READINGS[reading])


@given(
    st.sampled_from(["default", "pythonic", "repaired", "begun reasoning", "few short calls", "all"]),
    outputs | noise,
    st.integers(1, 30),
    st.integers(1, 90),
)
@settings(max_examples=100)
def test_a_stream_holds_back_no_more_than_a_call(reading: str, output: str, times: int, size: int):
    text = output * times
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    limits = READINGS[reading].options.limits._replace(max_call_length=256)
    tools = (READINGS[reading].tools or {}).values()
    short = Extractor(tools or None, options=replace(READINGS[reading].options, limits=limits))
    invariants.a_stream_holds_back_no_more_than_a_call(chunks, short)


@given(readings, outputs, st.integers(1, 30))
@settings(max_examples=150)
def test_progress_is_of_calls(reading: str, output: str, size: int):
    chunks = [output[start : start + size] for start in range(0, len(output), size)]
    invariants.progress_is_of_calls(chunks, TELLING[reading])


@given(
    st.lists(st.sampled_from(TOLD), min_size=1, max_size=4),
    st.sampled_from(["%s", "[%s]", "<tool_call>%s</tool_call>"]),
)
@settings(max_examples=60)
def test_each_call_is_told_of_that_is_named_before_its_arguments(calls: list[str], form: str):
    text = form % ("\n" if "tool_call" in form else ", ").join(calls)
    assert len(TELLING["tools"].extract(text).tool_calls) == len(calls)
    assert invariants.progress_is_of_calls(list(text), TELLING["tools"]) == []


@given(readings, outputs, st.integers(0, 200))
@settings(max_examples=100)
def test_a_stream_that_breaks_off_calls_nothing(reading: str, output: str, place: int):
    breaking_off_calls_nothing(output, READINGS[reading], [min(place, len(output))])


@pytest.mark.parametrize(
    "output",
    [
        '<function=f>{"<function=f{"q"::} 1}q"::} 1}<function=g={"a\t": "x"}<function>\n<function(f)>\n\n{"q": 21}',
        '["f(a={[f(a= "\\"\\"\\udrguments83d\\G"',
        f"<|start_header_id|>assistant<|end_header_id|>```\n\n```:: 1}}}}<|eom_id|><|eot_id|>{CALL} {{<|python_tag|>",
        "<|im_start|>assistant[f(a='x', n=2), g()]\nOne moment",
        "[f(True='x')]",
        '<|python_tag|>```python\nimport math``\nfor n3):\n    print(math.sqrt(x"\n```<|eom_id|>',
        ' {\n> "```json\nname <think></think>\n```{{{\n, 1f',
        """f(<function=f>{"name": '"'g", "a"{"a": "x\\"a\\": 1}"}q": 1}</function><function=g={"a": 1}<function>\n<""",
        f"`\n<tool_call>{CALL}</tool_call>«{CALL}`",
        "<|python_tag|>```python\n math\nfor n in range(3):\n    print(<|python_tag|><|eom_id|>f.({CALL}",
        '<|python_tag|><|header_start|>{"a": 1}',
        '<function=f= ```python\n{"message":"m","tool_call":{"name":"f","arguments":{}}}',
    ],
    ids=ascii,
)
def test_what_the_fuzzers_found_holds_however_it_is_read(output: str):
    for extractor in READINGS.values():
        invariants.every_chunking_is_one_shot(list(output), extractor)
        invariants.nothing_is_lost(output, extractor)
        invariants.calls_stand_where_they_say(output, extractor)
        invariants.rejections_stand_in_order(output, extractor)
        invariants.content_holds_no_other_call(output, extractor)
        invariants.plain_calls_are_accounted_for(output, extractor)
        calls_come_when_they_are_complete(output, extractor, range(1, len(output) + 1, 3))


@pytest.mark.parametrize(("number", "reading"), [*enumerate(READINGS)])
def test_every_situation_is_read_in_one_shot_as_character_by_character(number: int, reading: str):
    for output in SITUATIONS[number % 2 :: 2]:
        invariants.every_chunking_is_one_shot(list(output), READINGS[reading])


@pytest.mark.parametrize("fragment", sorted(set(FRAGMENTS)), ids=ascii)
def test_a_fragment_before_and_after_a_call_is_read_in_every_chunking(fragment: str):
    for output in (f"{fragment}{CALL}", f"{CALL}{fragment}{CALL}"):
        for options in ({}, {"formats": "all", "split_reasoning": True}):
            extract_in_every_chunking(output, is_sampled=True, **options)


@pytest.mark.parametrize(
    ("output", "content"),
    [
        (f'{{"name": "g", {CALL} "parameters": {{}}}}', '{"name": "g", "parameters": {}}'),
        (f"{CALL}\n```js\nx {CALL}\n```", f"```js\nx {CALL}\n```"),
    ],
)
def test_content_is_not_to_be_read_again_where_a_call_was_taken_out(output: str, content: str):
    """What stood around a call is one text then, and its lines begin elsewhere."""
    extraction = extract_in_every_chunking(output)
    assert extraction.tool_calls[0].arguments == {"q": 1}
    assert extraction.content == content


@given(st.text(alphabet='{}[]":, \n\\ud8e19.-+truefalsn\x00é\ud800', max_size=40).map('{{"k":{}'.format))
@settings(max_examples=400)
def test_the_scanner_in_c_accepts_no_other_grammar_than_the_token_reader(text: str):
    parsed = parse_object(text, 0)
    tokens = JsonTokens()
    end, refusal = tokens.read(text, 0, 0, ended=True), tokens.refusal
    if parsed is not None:
        assert (end, refusal) == (parsed.end, None)
    if refusal is None:
        checked = parse_object(text, 0, checked=True)
        assert checked is None or checked.end == end
