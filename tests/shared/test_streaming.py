"""When a stream hands out what: text at once unless it may still be part of a call, calls when they are complete."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from chunkings import read
from llama3_tools import Extractor, ReasoningDelta, StreamStateError, TextDelta, ToolCallReady, extract

CALL = '{"name": "f", "parameters": {"city": "Paris"}}'


def released(*chunks: str) -> list[str]:
    """Give the text that is out after the chunks, without a flush."""
    stream = Extractor().stream()
    return [event.text for chunk in chunks for event in stream.feed(chunk) if isinstance(event, TextDelta)]


@pytest.mark.parametrize(
    ("chunks", "out"),
    [
        (["Hel", "lo"], ["Hel", "lo"]),
        (["Hello "], ["Hello"]),
        (["Hello ", "you"], ["Hello", " you"]),
        ([" Hello"], [" Hello"]),
        (["\n", "\n", "Hi"], ["\n\nHi"]),
        (["{"], []),
        (["{x"], ["{x"]),
        (["{", "x"], ["{x"]),
        (["{}"], ["{}"]),
        (["{", "}"], ["{}"]),
        (["{ ", " "], []),
        (['{"a"'], []),
        (['{"a" b'], ['{"a" b']),
        (['{"a" ', "b"], ['{"a" b']),
        (['{"a": 1}'], ['{"a": 1}']),
        (['{"a": 1'], []),
        (['{"a": tru', "x"], ['{"a": trux']),
        (['{"a": 1.', "x"], ['{"a": 1.x']),
        (['{"a": "\\', "x"], ['{"a": "\\x']),
        (['{"a": "\\u00', "z"], ['{"a": "\\u00z']),
        (['{"a": "\\ud83d', "z"], ['{"a": "\\ud83dz']),
        (["["], []),
        (["[n"], ["["]),
        (["[no"], ["[no"]),
        (["[1"], ["["]),
        (["[1,", " 2]"], ["[1", ", 2]"]),
        (["[1]"], ["[1]"]),
        (["[1] and"], ["[1] and"]),
        (['["open string'], ["["]),
        ([f'[{{"a": {"7" * 5000}}}', ", "], [f'[{{"a": {"7" * 5000}', "}"]),
        (['[{"a": 1}', ', {"b": [2'], ['[{"a": 1', '}, {"b": [']),
        (['[{"name": "Ann"}, {"name": "Bo"}', ", "], ['[{"name": "Ann"}, {"name": "Bo"', "}"]),
        ([f"[{CALL}", ", {"], []),
        (["<"], []),
        (["<b"], ["<b"]),
        (["<tool"], []),
        (["<tools>"], []),
        (["<toolbox>"], ["<toolbox>"]),
        (["<tool>", "x"], ["<tool>x"]),
        (["<tool_call>", " \n"], []),
        (["<function=f", ">"], []),
        (["<function=f>", "x"], ["<function=f>x"]),
        (["<|eot_", "id|>"], []),
        (["a<|eot_id|>", "b"], ["a", "<|eot_id|>b"]),
        (["<|x"], ["<|x"]),
        (["`"], []),
        (["`x"], ["`x"]),
        (["``", "x"], ["``x"]),
        (["```"], []),
        (["```json"], []),
        (["```json\n", "x"], ["```json\nx"]),
        (["```js", "\n"], ["```js"]),
        ([CALL, ";"], []),
        ([CALL, "; "], []),
        ([CALL, "; ", "x"], ["x"]),
        ([CALL, ", ", "x"], [", x"]),
        ([CALL, " x"], ["x"]),
        (["a ", CALL, " x"], ["a", " x"]),
        (["a", CALL, ";", " ", ";", "x"], ["a", " ;x"]),
    ],
)
def test_text_is_released_as_soon_as_it_can_be_no_part_of_a_call(chunks: list[str], out: list[str]):
    assert released(*chunks) == out


@pytest.mark.parametrize("before", ["", "Well, ", "<|python_tag|>", "<think>x</think>"])
def test_a_call_is_out_whole_with_its_last_character(before: str):
    stream = Extractor().stream()
    events = [event for char in before + CALL[:-1] for event in stream.feed(char)]
    assert not any(isinstance(event, ToolCallReady) for event in events)
    (ready,) = stream.feed(CALL[-1])
    assert isinstance(ready, ToolCallReady)
    assert ready.tool_call.arguments_json == '{"city": "Paris"}'


def test_text_that_arrives_behind_a_call_in_the_same_chunk_comes_behind_it():
    stream = Extractor().stream()
    first, ready, last = stream.feed(f"One {CALL} two")
    assert (first, last) == (TextDelta("One"), TextDelta(" two"))
    assert isinstance(ready, ToolCallReady)


def test_white_space_before_the_first_text_has_been_sent_when_a_call_strips_it():
    stream = Extractor().stream()
    assert stream.feed(" One ") == [TextDelta(" One")]
    stream.feed(CALL)
    stream.flush()
    assert stream.extraction.content == "One"


def test_delimiters_behind_the_last_call_are_out_in_the_end_as_they_are():
    stream = Extractor().stream()
    stream.feed(f"{CALL}, ")
    assert stream.flush() == [TextDelta(",")]


def test_a_stream_may_leave_text_and_reasoning_to_its_events():
    stream = Extractor(split_reasoning=True).stream(keep_content=False)
    reasoning, ready, text = stream.feed(f"<think>Hm.</think>{CALL} two")
    assert (reasoning, text) == (ReasoningDelta("Hm."), TextDelta("two"))
    assert isinstance(ready, ToolCallReady)
    stream.flush()
    extraction = stream.extraction
    assert (extraction.content, extraction.reasoning, extraction.tool_calls) == (None, None, (ready.tool_call,))


@pytest.mark.parametrize("value", ["no", 1, None])
def test_whether_text_is_left_to_the_events_is_true_or_false(value: object):
    with pytest.raises(TypeError, match=f"^keep_content is True or False, not {value!r}$"):
        Extractor().stream(keep_content=value)  # type: ignore[arg-type]


def test_empty_chunks_change_nothing():
    extractor = Extractor()
    assert read(["", "One ", "", CALL, "", " two", ""], extractor) == read([f"One {CALL} two"], extractor)


def test_an_empty_output_has_empty_content():
    stream = Extractor().stream()
    assert stream.flush() == []
    assert stream.extraction == extract("")


def test_a_stream_is_over_after_its_flush():
    stream = Extractor().stream()
    with pytest.raises(StreamStateError, match=r"extraction before flush\(\): call flush\(\)"):
        _ = stream.extraction
    stream.flush()
    behind = r"the turn is over; call Extractor\.stream\(\) for the next one$"
    with pytest.raises(StreamStateError, match=rf"^feed\(\) after flush\(\): {behind}"):
        stream.feed("x")
    with pytest.raises(StreamStateError, match=rf"^flush\(\) twice: {behind}"):
        stream.flush()


@pytest.mark.parametrize("text", [f"One {CALL} two", "One\nf()"])
def test_a_stream_that_an_exception_broke_off_says_so_rather_than_losing_text(text: str):
    def fail() -> str:
        raise LookupError("no more ids")

    stream = Extractor(tools=[{"name": "f"}], id_factory=fail).stream()
    with pytest.raises(LookupError, match="no more ids"):  # noqa: PT012 - one of them is complete in the end
        stream.feed(text)
        stream.flush()
    for use in (lambda: stream.feed("x"), stream.flush):
        with pytest.raises(StreamStateError, match=r"^the stream broke off with an exception, from id_factory: "):
            use()


@pytest.mark.parametrize(
    ("chunk", "message"),
    [(b"x", "got bytes: decode it first"), (None, "got NoneType"), (["x"], "got list")],
)
def test_what_is_fed_and_extracted_is_text(chunk: object, message: str):
    with pytest.raises(TypeError, match=rf"feed\(\) takes a str, {message}"):
        Extractor().stream().feed(chunk)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match=rf"extract\(\) takes the model's output as a str, {message}"):
        extract(chunk)  # type: ignore[arg-type]  # on purpose


def test_one_extractor_serves_many_streams_at_once():
    extractor = Extractor(tools=[{"name": "f"}])
    texts = [f"{number} {CALL} {{'x'}} {number}; " * 20 for number in range(64)]

    def stream(text: str) -> object:
        return read(list(text), extractor)

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(stream, texts)) == [stream(text) for text in texts]


def test_an_extractor_can_be_pickled():
    extractor = Extractor(tools=[{"name": "f", "parameters": {"type": "object"}}], on_unknown_tool="call")
    copied = pickle.loads(pickle.dumps(extractor))  # noqa: S301 - our own bytes
    assert copied.tools == extractor.tools
    assert copied.extract(f"One {CALL}") == extractor.extract(f"One {CALL}")
    assert repr(copied) == "Extractor(tools=['f'], on_unknown_tool='call')"
