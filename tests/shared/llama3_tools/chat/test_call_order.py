"""Which calls of an answer run: repeated calls, more than one, and the server's."""

from __future__ import annotations

from typing import Any

import pytest

from chats import CITY, asked, made, native, read_in_every_way

ON = '{"name": "light", "parameters": {"on": true}}'
OFF = '{"name": "light", "parameters": {"on": false}}'
ONE = '{"name": "now", "parameters": {"a": 1}}'
TRUE = '{"name": "now", "parameters": {"a": true}}'


@pytest.mark.parametrize(
    ("text", "count", "repeated"),
    [
        pytest.param(f"{ON} Done. {ON}", 1, 1, id="with text in between"),
        pytest.param(f"{ON} Hm. {ON} Hm. {ON}", 1, 2, id="again and again"),
        pytest.param(f"{ON}<|eot_id|>{ON}", 1, 1, id="with the end of a turn in between"),
        pytest.param(f"{ON}<|eom_id|><|start_header_id|>assistant<|end_header_id|>\n\n{ON}", 1, 1, id="a new turn"),
        pytest.param(f"{ON}<|im_end|>\n<|im_start|>assistant\n{ON}", 1, 1, id="a new turn in ChatML"),
        pytest.param(f"{ON} Done. {OFF} Hm. {ON}", 3, 0, id="on, off, on"),
        pytest.param(f"[{ON}, {ON}]", 2, 0, id="in a list"),
        pytest.param(f"{ON}; {ON}\n{ON}", 3, 0, id="in a run"),
        pytest.param(f"<tool_call>{ON}</tool_call>\n<tool_call>{ON}</tool_call>", 2, 0, id="in tags"),
        pytest.param(f"{ON}{OFF} Again: {ON}{OFF}", 2, 2, id="a run"),
        pytest.param(f"{ON}{OFF} Then: {OFF}{ON}{CITY}", 3, 2, id="a run in another order"),
        pytest.param(f"{ONE} Hm. {TRUE}", 2, 0, id="1 is not true"),
        pytest.param(f"{ON} <think>Hm.</think> {ON}", 1, 1, id="with thoughts in between"),
        pytest.param(f"{ON}<think>Hm.</think>{ON}", 1, 1, id="with thoughts alone in between"),
    ],
)
@pytest.mark.parametrize("split_reasoning", [True, False])
def test_a_call_that_repeats_the_run_before_it_does_not_run_again(
    text: str, count: int, repeated: int, split_reasoning: bool
):
    read = {"split_reasoning": split_reasoning}
    reply = read_in_every_way(asked(read=read), {"content": text})
    assert (len(reply.tool_calls), len(reply.report.repeated)) == (count, repeated)
    assert "light" not in (reply.content or "")
    kept = read_in_every_way(asked(read=read, repeated_calls="keep"), {"content": text})
    assert (len(kept.tool_calls), kept.report.repeated) == (count + repeated, ())
    assert kept.content == reply.content


def test_a_call_that_the_server_found_too_is_no_repeat():
    reply = read_in_every_way(asked(), {"content": f"{ON} Done. {ON}", "tool_calls": [native("light", '{"on": true}')]})
    assert (len(reply.tool_calls), len(reply.report.repeated)) == (1, 1)


def test_what_a_list_holds_twice_the_server_may_have_found_twice():
    calls = [native("light", '{"on": true}', str(place)) for place in range(3)]
    for count in (1, 2, 3):
        reply = asked().read({"content": f"[{ON}, {ON}]", "tool_calls": calls[:count]})
        assert len(reply.tool_calls) == max(count, 2)


def test_the_order_of_arguments_does_not_matter():
    one, other = '{"name": "now", "parameters": {"a": 1, "b": 2}}', '{"name": "now", "parameters": {"b": 2, "a": 1}}'
    assert len(asked().read({"content": f"{one} Hm. {other}"}).tool_calls) == 1


def test_integers_of_any_size_can_repeat():
    big, other = (f'{{"name": "now", "parameters": {{"n": {digit * 5000}}}}}' for digit in "89")
    assert len(asked().read({"content": f"{big} Hm. {big}"}).tool_calls) == 1
    assert len(asked().read({"content": f"{big} Hm. {other}"}).tool_calls) == 2


@pytest.mark.parametrize(
    "message",
    [
        {"content": f"Sure. {ON} And. {CITY} Done."},
        {"content": f"Sure. [{ON}, {CITY}] And. Done."},
        {"content": f"Sure. {ON} And. Done.", "tool_calls": [native("now", "{}")]},
        {"content": "Sure. And. Done.", "tool_calls": [native("light", '{"on": true}'), native("now", "{}", "b")]},
    ],
)
def test_without_parallel_calls_the_first_counts(message: dict[str, Any]):
    request = asked(request={"parallel_tool_calls": False})
    reply = read_in_every_way(request, message)
    assert (reply.content, made(reply.tool_calls)) == ("Sure. And. Done.", [("light", {"on": True})])
    assert [call.name in {"get_weather", "now"} for call in reply.report.surplus] == [True]
