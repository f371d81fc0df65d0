"""Files of recorded responses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llama3_acceptance.running.records import Record, RecordsError, Run, read_records, to_json, written
from steps import steps_of

RUN = Run("Home", "0123", "llama3.1", "http://127.0.0.1:1/v1", {"temperature": 0}, "2026-01-02T03:04:05Z")
RECORDS = [
    Record(
        "a", 0, {"message": {"content": "Grüß Gott \ud800 \u2028"}, "finish_reason": "stop"}, 0.25, {"total_tokens": 3}
    ),
    Record("b", 1, error="no response within 1 s", latency=1.0),
]


def save(folder: Path, *lines: str) -> Path:
    path = folder / "results.jsonl"
    path.write_text("".join(lines), "utf-8", newline="")
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = save(tmp_path, *(f"{written(value)}\n" for value in (RUN, *RECORDS)))
    recording = read_records(path)
    assert (recording.path, recording.run, list(recording.records)) == (path, RUN, RECORDS)
    assert recording.end == path.stat().st_size


@pytest.mark.parametrize(
    "half", ['{"case": "b", "resp', '{"case": "b", "output": "Grü'.encode()[:-1].decode("latin-1")]
)
def test_half_a_line_at_the_end_is_left_out(tmp_path: Path, half: str) -> None:
    path = save(tmp_path, f"{written(RUN)}\n{written(RECORDS[0])}\n", half)
    recording = read_records(path)
    assert list(recording.records) == RECORDS[:1]
    assert path.read_bytes()[: recording.end].endswith(b"}\n")


def test_a_run_need_not_say_all_of_itself_and_a_response_outweighs_an_error(tmp_path: Path) -> None:
    path = save(tmp_path, '{"fingerprint": "0"}\n{"case": "a", "output": "one", "error": "late"}\n')
    recording = read_records(path)
    assert (recording.run, recording.records) == (Run("", "0"), (Record("a", 0, "one"),))


def test_the_last_response_to_a_case_counts(tmp_path: Path) -> None:
    again = Record("b", 1, {"message": {"content": "Hello"}})
    path = save(tmp_path, *(f"{written(value)}\n" for value in (*RECORDS, again)))
    assert list(read_records(path).records) == [RECORDS[0], again]


def test_outputs_that_were_recorded_elsewhere_are_text_or_responses(tmp_path: Path) -> None:
    lines = [{"case": "a", "output": "one"}, {"case": "a", "output": "two"}, {"case": "b", "response": {"content": ""}}]
    path = save(tmp_path, "\n\n".join(json.dumps(line) for line in lines))
    recording = read_records(path)
    assert recording.run is None
    assert recording.records == (
        Record("a", 0, "one"),
        Record("a", 1, "two"),
        Record("b", 0, {"content": ""}),
    )


def test_many_repeats_are_counted_in_linear_time(tmp_path: Path) -> None:
    def work(times: int) -> int:
        path = save(tmp_path, '{"case": "a", "output": ""}\n' * times)
        return steps_of(lambda: read_records(path))

    work(3)
    assert work(800) < 5 * work(200)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("oops\n", ":1: not JSON: Expecting value"),
        ('{"case": "a", "output": ""}\n{"case"\n', ":2: not JSON"),
        ("7\n", ':1: expected an object with the id of a case under "case"'),
        ('{"case": "a"}\n', ':1: expected "output" (text) or "response" (an object)'),
        ('{"case": "a", "output": "", "repeat": "0"}\n', ':1: "repeat" is a whole number'),
        ('{"case": "a", "output": "", "latency": "0"}\n', ':1: "latency" is a number of seconds'),
        ('{"case": "a", "output": "", "latency": 1e999}\n', ':1: "latency" is a number of seconds'),
        ('{"case": "a", "output": "", "latency": -1}\n', ':1: "latency" is a number of seconds'),
        ('{"case": "a", "output": "", "repeat": 1000000}\n', ':1: "repeat" is a whole number from 0 on'),
        ('{"case": "a", "output": "", "usage": 7}\n', '"usage" an object'),
        ('{"suite": 7, "fingerprint": "0"}\n', ":1: no description of a run"),
        ('{"suite": "a", "fingerprint": "0", "settings": []}\n', ":1: no description of a run"),
    ],
)
def test_a_line_that_is_no_response_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = save(tmp_path, text)
    with pytest.raises(RecordsError) as caught:
        read_records(path)
    assert str(caught.value).startswith(f"{path}:")
    assert message in str(caught.value)


def test_json_has_no_number_that_json_does_not_have() -> None:
    odd = {"ü": [float("nan"), float("inf")], "b": (-float("inf"), 1.5)}
    assert to_json(odd) == '{"ü": ["NaN", "Infinity"], "b": ["-Infinity", 1.5]}'
