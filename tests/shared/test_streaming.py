"""Streaming: text comes at once unless it may still be part of a call, calls come whole, and chunks do not matter."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chunkings import read
from fragments import FRAGMENTS, READINGS, SITUATIONS
from llama3_tools import (
    CallProgress,
    Extractor,
    Limits,
    ReasoningDelta,
    StreamStateError,
    TextDelta,
    ToolCallReady,
    extract,
)
from llama3_tools.stream import machine
from llama3_tools.stream.states import TRANSITIONS, State
from llama3_tools.stream.turn import Turn

CALL = '{"name": "f", "parameters": {"city": "Paris"}}'


def released(*chunks: str) -> list[str]:
    """Return the text that is out after the chunks, without a flush."""
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
        (["]"], ["]"]),
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
        (['{"a": "\\ud83d', "z"], []),
        (["["], []),
        (["[n"], ["[n"]),
        (["[no"], ["[no"]),
        (["[1"], ["[1"]),
        (["[1,", " 2]"], ["[1,", " 2]"]),
        (["[1]"], ["[1]"]),
        (["[1] and"], ["[1] and"]),
        (['["open string'], ['["open string']),
        ([f'[{{"a": {"7" * 5000}}}', ", "], [f'[{{"a": {"7" * 5000}}}', ","]),
        (['[{"a": 1}', ', {"b": [2'], ['[{"a": 1}', ","]),
        (['[{"name": "Ann"}, {"name": "Bo"}', ", "], ['[{"name": "Ann"}, {"name": "Bo"}', ","]),
        ([f"[{CALL}", ", {"], []),
        (["<"], []),
        (["<b"], ["<b"]),
        (["<tool"], []),
        (["<tools>"], []),
        (["<toolbox"], ["<toolbox"]),
        (["<tool>", "x y"], ["<tool>x y"]),
        (["<tool_call>", " \n"], []),
        (["<function=f", ">"], []),
        (["<function=f>", "x y"], ["<function=f>x y"]),
        (["<|eot_", "id|>"], []),
        (["a<|eot_id|>", "b"], ["a", "<|eot_id|>b"]),
        (["<|x"], ["<|x"]),
        (["`"], []),
        (["`x"], ["`x"]),
        (["``", "x"], ["``x"]),
        (["```"], []),
        (["```json"], []),
        (["```json\n", "x y"], ["```json\nx y"]),
        (["```js", "\n"], ["```js"]),
        ([CALL, ";"], []),
        ([CALL, "; "], []),
        ([CALL, "; ", "x"], ["x"]),
        ([CALL, ", ", "x"], [", x"]),
        ([CALL, " x"], ["x"]),
        (["a ", CALL, " x"], ["a", " x"]),
        (["a", CALL, ";", " ", ";", "x"], ["a", " ;x"]),
    ],
    ids=lambda texts: " ".join(map(repr, texts))[:60],
)
def test_text_is_released_as_soon_as_it_can_be_no_part_of_a_call(chunks: list[str], out: list[str]):
    assert released(*chunks) == out


def test_what_stands_before_a_name_with_a_point_is_released():
    stream = Extractor(tools=[{"name": "f"}]).stream()
    assert [stream.feed(chunk) for chunk in ("self", ".", "f")] == [[TextDelta("self")], [TextDelta(".")], []]


@pytest.mark.parametrize("before", ["", "Well, ", "<|python_tag|>", "<think>x</think>"])
def test_a_call_is_out_whole_with_its_last_character(before: str):
    stream = Extractor().stream()
    events = [event for char in before + CALL[:-1] for event in stream.feed(char)]
    assert not any(isinstance(event, ToolCallReady) for event in events)
    (ready,) = stream.feed(CALL[-1])
    assert isinstance(ready, ToolCallReady)
    assert ready.tool_call.arguments_json == '{"city": "Paris"}'


def test_text_that_arrives_after_a_call_in_the_same_chunk_comes_after_it():
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


@pytest.mark.parametrize(
    ("delimiters", "text"), [(", ", []), (";", []), (";;", [TextDelta(";")]), (" ,\n;", [TextDelta(";")])]
)
def test_delimiters_after_the_last_call_wait_for_the_end(delimiters: str, text: list[TextDelta]):
    stream = Extractor().stream()
    stream.feed(f"{CALL}{delimiters}")
    assert stream.flush() == text


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
    with pytest.raises(TypeError, match=f"^keep_content must be True or False, not {value!r}$"):
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
    after = r"the turn is over; call Extractor\.stream\(\) for the next one$"
    with pytest.raises(StreamStateError, match=rf"^feed\(\) after flush\(\): {after}"):
        stream.feed("x")
    with pytest.raises(StreamStateError, match=rf"^flush\(\) after flush\(\): {after}"):
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
    with pytest.raises(TypeError, match=rf"^feed\(\) takes a str, {message}"):
        Extractor().stream().feed(chunk)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match=rf"^extract\(\) takes the model's output as a str, {message}"):
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


TOOLS = [{"name": "f"}, {"name": "g"}, {"name": "code_interpreter"}]


def progress(chunks: list[str], **options: Any) -> list[CallProgress]:  # noqa: ANN401 - as Extractor takes them
    """Return the progress that a stream tells of."""
    stream = Extractor(progress=True, **options).stream()
    events = [event for chunk in chunks for event in stream.feed(chunk)] + stream.flush()
    return [event for event in events if isinstance(event, CallProgress)]


def test_progress_says_how_far_a_call_has_come():
    told = progress(["Hi ", CALL[:20], CALL[20:30], CALL[30:]])
    assert told == [
        CallProgress("f", 20, "writing"),
        CallProgress("f", 30, "writing"),
        CallProgress("f", 30, "ready"),
    ]


@pytest.mark.parametrize("form", ["{}", "<tool_call>{}</tool_call>", "[{}]", "```json\n{}\n```"])
def test_progress_of_a_call_ends_as_it_is_ready(form: str):
    told = progress(list(form.replace("{}", CALL)))
    assert [event.name for event in told] == ["f"] * len(told)
    assert [event.status for event in told][-1:] == ["ready"]
    assert all(event.status == "writing" for event in told[:-1])
    assert sorted(event.characters for event in told) == [event.characters for event in told]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"name": "f", "parameters": {"city": oops}}', id="malformed"),
        pytest.param('{"name": "f", "parameters": {"city": "Pa', id="cut off"),
        pytest.param('{"name": "f", "parameters": 5}', id="no call"),
        pytest.param(
            f'{{"role": "assistant", "name": "bot", "tool_calls": [{CALL}, {CALL}]}}', id="the name of the assistant"
        ),
        pytest.param('<tool_call>{"name": "f", "parameters": {"city": oops}}</tool_call>', id="in a tag"),
    ],
)
def test_progress_of_what_becomes_no_call_is_withdrawn(text: str):
    told = progress(list(text))
    assert [event.status for event in told][-1:] == ["withdrawn"]
    assert all(event.status == "writing" for event in told[:-1])


def test_progress_is_told_of_pythonic_calls_too():
    told = progress(list("[f(a='Paris'), g()]"), tools=TOOLS)
    assert {(event.name, event.status) for event in told} >= {("f", "writing"), ("f", "ready")}


def test_progress_of_each_call_of_a_list_ends_as_it_is_ready():
    told = progress(list("[f(a=1), g(), f(a=2)]"), tools=TOOLS)
    assert [(event.name, event.status) for event in told if event.status != "writing"] == [
        ("f", "ready"),
        ("g", "ready"),
        ("f", "ready"),
    ]


def test_progress_of_a_call_right_after_what_broke_ends_as_it_is_ready():
    told = progress(list(f'{{"name": "g", {CALL}'))
    assert [(event.name, event.status) for event in told if event.status != "writing"] == [
        ("g", "withdrawn"),
        ("f", "ready"),
    ]


CLOCK = {"name": "clock"}
LONG = '{"name": "g", "parameters": {"city": "Paris"}}'


@pytest.mark.parametrize(
    "form",
    ["[%s, %s]", "<tool_call>%s\n%s</tool_call>", "<tool>%s%s</tool>", "```json\n%s\n%s\n```", "[%s, %s, oops]"],
)
def test_progress_is_told_of_a_call_while_another_one_waits(form: str):
    told = progress(list(form % (CALL, LONG)))
    statuses = [(event.name, event.status) for event in told]
    assert [one for one, _ in itertools.groupby(statuses)] == [
        ("f", "writing"),
        ("g", "writing"),
        ("f", "ready"),
        ("g", "ready"),
    ]


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(["[f", "(q=", "1)]\n;\n[f(q=", "1)]print(1)"], id="of one length"),
        pytest.param(list("[f()][f()]> "), id="in characters"),
        pytest.param([CALL[:20], f"{CALL[20:]}\n{CALL[:20]}", CALL[20:]], id="in one chunk"),
    ],
)
def test_progress_of_a_call_begins_anew_after_another_one_as_long(chunks: list[str]):
    told = progress(chunks, tools=TOOLS)
    statuses = [status for status, _ in itertools.groupby(event.status for event in told)]
    assert statuses == ["writing", "ready"] * len(Extractor(TOOLS).extract("".join(chunks)).tool_calls)


@pytest.mark.parametrize("text", ["clock.call()", '[clock.call(zone="UTC")]', '<|python_tag|>clock.call(zone="UTC")'])
def test_progress_is_told_under_the_name_of_the_call(text: str):
    told = progress(list(text), tools=[CLOCK])
    assert {event.name for event in told} == {"clock"}
    assert [event.status for event in told][-1:] == ["ready"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param('{"parameters": {"name": "Ann"}, "name": "f"}', ["f"], id="a name in the arguments"),
        pytest.param('{"parameters": {"a": "}} \'name\': \'Ann\'"}, "name": "f"}', ["f"], id="a name in a string"),
        pytest.param("{'type': '\"name\": \"Ann\"', 'name': 'f'}", ["f"], id="a name in a string in single quotes"),
        pytest.param('{"parameters": {"a": {}, "name": "Ann"}, "name": "f"}', ["f"], id="after an object in them"),
        pytest.param('{"calls": [{"name": "Ann", "parameters": {}}]}', [], id="a name in another list"),
        pytest.param('{"function": {"parameters": [1, "x"], "name": "f"}}', ["f"], id="in the function"),
        pytest.param('{"name": 5, "function": "f"}', ["f"], id="no name before it"),
        pytest.param('{"parameters": {"name": "Ann"}}', [], id="no name"),
        pytest.param('{"name": "\\q"}', [], id="no name in JSON"),
        pytest.param('{"name": "\\u0066"}', ["f"], id="an escape"),
        pytest.param(f'{{"parameters": {{"a": "{"x" * 5000}"}}, "name": "f"}}', [], id="far in"),
        pytest.param('{"tool": "f", "args": {}}', [], id="under another key"),
    ],
)
def test_progress_goes_by_the_name_of_the_call_and_by_none_in_its_arguments(text: str, names: list[str]):
    for chunks in (list(text), [text[:-1], text[-1]]):
        assert list(dict.fromkeys(event.name for event in progress(chunks))) == names


def test_progress_is_told_of_a_call_under_other_keys():
    told = progress(list('{"action": "f", "args": {"a": 1}}'), tools=TOOLS)
    assert [event.status for event in told] == ["writing"] * (len(told) - 1) + ["ready"]


@pytest.mark.parametrize(
    "text", ["{'name': 'f', 'parameters': {'a': True}} Done.", '{"name": "f", "parameters": {"a": True}} Done.']
)
def test_progress_of_what_may_be_repaired_ends_as_it_is(text: str):
    told = progress(list(text), tools=TOOLS, repair=True)
    assert {event.name for event in told} == {"f"}
    assert [status for status, _ in itertools.groupby(event.status for event in told)] == ["writing", "ready"]


def test_progress_of_code_and_of_what_is_quoted():
    assert [event.status for event in progress(list("<|python_tag|>\nx = 1<|eom_id|>"), tools=TOOLS)][-1:] == ["ready"]
    assert [event.status for event in progress(list(f"`{CALL}` is it."), tools=TOOLS)][-1:] == ["withdrawn"]


def test_progress_of_a_tag_that_holds_a_call_of_another_tool_is_withdrawn():
    told = progress(list('<function=f>{"name": "g", "parameters": {"a": 1}} oops'), tools=TOOLS)
    assert {(event.name, event.status) for event in told} == {("f", "writing"), ("f", "withdrawn")}


def test_progress_of_what_breaks_around_a_call_of_the_same_tool_is_withdrawn():
    told = progress(
        list('{"name": "f", "parameters": {"q": "Say <function=f>{}</function>\n"}}'), tools=[{"name": "f"}]
    )
    assert [event.status for event in told if event.status != "writing"] == ["withdrawn"]  # the other one comes whole


def test_progress_of_a_call_is_withdrawn_once_it_is_too_long():
    stream = Extractor(progress=True, limits=Limits(max_call_length=256)).stream()
    told = [stream.feed(chunk)[-1] for chunk in ('{"name": "f", "parameters": {"q": "', "x" * 200, "x" * 200)]
    assert told == [
        CallProgress("f", 35, "writing"),
        CallProgress("f", 235, "writing"),
        CallProgress("f", 235, "withdrawn"),
    ]
    assert stream.feed("x") == [TextDelta("x")]


def test_progress_of_a_call_that_is_too_long_is_withdrawn_also_if_another_one_comes_with_its_end():
    told = progress(
        ['{"name": "f", "parameters": {"q": "', f'{"x" * 300}"}}}}\n{CALL}'], limits=Limits(max_call_length=256)
    )
    assert [event.status for event in told] == ["writing", "withdrawn"]


def test_progress_of_a_call_that_comes_whole_is_the_call():
    assert progress([CALL]) == []


def test_progress_is_told_of_each_call_in_turn():
    told = progress(list(f"{CALL}\n{CALL.replace('f', 'g', 1)}"))
    assert [(event.name, event.status) for event in told if event.status != "writing"] == [
        ("f", "ready"),
        ("g", "ready"),
    ]


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        pytest.param(f'{{"tool_calls": [{CALL}, {CALL}]}}', 2 * len(CALL) + 19, id="an envelope"),
        pytest.param('<function=f>{"city": "Paris"}</function>', 16, id="a tag that names the tool"),
        pytest.param('f\n{"city": "Paris"}', 16, id="a line that names the tool"),
        pytest.param('{"parameters": {"city": "Paris"}, "name": "f", "id": 1}', 54, id="the arguments first"),
    ],
)
def test_progress_is_told_of_every_form_once_the_name_is_known(text: str, characters: int):
    told = progress(list(text), tools=TOOLS)
    assert {event.name for event in told} == {"f"}
    assert [event.status for event in told] == ["writing"] * (len(told) - 1) + ["ready"]
    assert len(told) > 1
    assert told[-1].characters == characters


@pytest.mark.parametrize(
    "text", ["Hello {you} and [1].", '{"a": 1}', "f(x) is a function", "<tool_call>Hi</tool_call>"]
)
def test_of_prose_and_data_there_is_no_progress(text: str):
    assert progress(list(text)) == []


@pytest.mark.parametrize("reading", READINGS)
def test_progress_changes_nothing_else(reading: str):
    tools, options = READINGS[reading].__getstate__()
    extractor = Extractor(tools and tools.values(), options=options, progress=True)
    for text in SITUATIONS[::7]:
        assert read(list(text), extractor) == read(list(text), READINGS[reading])


def test_without_the_option_there_is_no_progress():
    stream = Extractor().stream()
    assert not any(isinstance(event, CallProgress) for char in CALL for event in stream.feed(char))


class Watched:
    """The steps of the machine, noting which state follows which."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: set[tuple[State, State]] = set()
        for state, step in dict(machine._STEPS).items():  # noqa: SLF001 - the table that is watched
            monkeypatch.setitem(machine._STEPS, state, self._watching(state, step))  # noqa: SLF001

    def _watching(self, state: State, step: Callable[[Turn], bool]) -> Callable[[Turn], bool]:
        def watched(turn: Turn) -> bool:
            goes_on = step(turn)
            if turn.state is not state:
                self.seen.add((state, turn.state))
            return goes_on

        return watched


def test_every_change_of_state_is_in_the_table(monkeypatch: pytest.MonkeyPatch):
    watched = Watched(monkeypatch)
    seeded = random.Random(1)  # noqa: S311 - the same outputs every time
    for reading, extractor in READINGS.items():
        texts = [*SITUATIONS, *("".join(seeded.choices(FRAGMENTS, k=8)) for _ in range(60))]
        for text in texts[:: 1 if reading in {"default", "all"} else 4]:
            read(list(text), extractor)
            extractor.extract(text, complete=False)
    unknown = {(before, after) for before, after in watched.seen if after not in TRANSITIONS[before]}
    assert unknown == set()
    assert len(watched.seen) > len(State)


def test_the_table_of_states_is_complete():
    assert TRANSITIONS.keys() == set(State)
    assert TRANSITIONS[State.OVER] == frozenset()
    assert all(state not in after for state, after in TRANSITIONS.items())
    assert all(any(state in after for after in TRANSITIONS.values()) for state in State)
