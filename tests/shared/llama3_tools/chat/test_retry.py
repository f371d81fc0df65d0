"""When a model is asked again, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest

from chats import CITY, TOOLS, asked, calls_in, made, native, read_in_every_way, refusals
from llama3_tools.chat import ToolChat

BAD = '{"name": "now", "parameters": {oops}}'
MISFIT = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "soon"}}'
UNKNOWN = '{"name": "get_weather", "parameters": {"city": "Paris", "town": "Paris"}}'
EXAMPLE = '{"name": "now", "parameters": {}}'


def told(message: dict[str, Any], **options: Any) -> list[tuple[str, Any]] | None:
    """What the model is shown beside the conversation, if it is asked again."""
    request = asked(**options)
    again = request.retry(read_in_every_way(request, message))
    if again is None:
        return None
    assert again.messages[:-2] == request.messages
    assert again.retried == 1
    return [(shown["role"], shown["content"]) for shown in again.messages[-2:]]


def test_a_malformed_call_is_sent_back():
    assert told({"content": f"Sure. {BAD}"}) == [
        ("assistant", f"Sure. {BAD}"),
        (
            "user",
            (
                "Error of now: The call is malformed, and was not run: expected a key or '}' at offset 37, found 'o'. "
                f"Write all of it again, in the form {EXAMPLE}"
            ),
        ),
    ]


def test_so_is_one_of_the_servers():
    shown = told({"content": None, "tool_calls": [native("now", "{oops")]})
    assert shown == [
        ("assistant", '{"name": "now", "parameters": {oops}'),
        (
            "user",
            (
                "Error of now: The call is malformed, and was not run: its arguments are no JSON object. "
                f"Write all of it again, in the form {EXAMPLE}"
            ),
        ),
    ]


@pytest.mark.parametrize(
    ("call", "problem", "form"),
    [
        (MISFIT, '$.days: expected integer, got the string "soon"', '{"city": "<string>", "days": "<integer>"}'),
        (UNKNOWN, "$.town: unknown, expected only city, days", '{"city": "<string>"}'),
    ],
)
def test_a_call_whose_arguments_do_not_fit_is_sent_back_with_its_form(call: str, problem: str, form: str):
    complaint = (
        f"Error of get_weather: The arguments do not fit, and the call was not run: {problem}. "
        f'Write all of it again, in the form {{"name": "get_weather", "parameters": {form}}}'
    )
    assert told({"content": f"Sure. {call}"}) == [("assistant", f"Sure. {call}"), ("user", complaint)]
    sent = {"content": "Sure.", "tool_calls": [native("get_weather", call.partition('"parameters": ')[2][:-1])]}
    assert told(sent) == [("assistant", f"Sure. {call}"), ("user", complaint)]


def test_beside_parts_other_than_text_too():
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    for call, count in ((MISFIT, 2), (BAD, 2)):
        shown = told({"content": [image, {"type": "text", "text": call}]})
        assert shown is not None
        assert shown[0] == ("assistant", [image, {"type": "text", "text": call}])
        assert len(shown[0][1]) == count


@pytest.mark.parametrize("good", [{"content": f"{CITY} {BAD}"}, {"content": f"{CITY} {MISFIT}"}])
def test_beside_a_good_call_nothing_is_sent_back(good: dict[str, Any]):
    assert told(good) is None


@pytest.mark.parametrize("text", [f"{MISFIT} {CITY}", f"{CITY} {MISFIT}", f"[{MISFIT}, {CITY}]"])
def test_beside_a_good_call_a_misfit_runs(text: str):
    assert len(read_in_every_way(asked(), {"content": text}).tool_calls) == 2


def test_a_misfit_that_is_sent_back_does_not_run():
    reply = asked().read({"content": MISFIT}, "stop")
    assert (reply.tool_calls, reply.finish_reason, refusals(reply)) == ((), "stop", [("get_weather", "misfit")])


@pytest.mark.parametrize(
    "options", [{"max_retries": 0}, {"request": {"retried": 1}}, {"read": {"coerce_arguments": False}}]
)
def test_a_misfit_that_is_not_sent_back_runs(options: dict[str, Any]):
    request = asked(**options)
    reply = read_in_every_way(request, {"content": MISFIT})
    assert made(reply.tool_calls) == [("get_weather", {"city": "Paris", "days": "soon"})]
    assert request.retry(reply) is None


def test_a_model_is_asked_again_once_and_never_in_a_loop():
    request = asked()
    again = request.retry(request.read({"content": BAD}))
    assert again is not None
    assert again.retry(again.read({"content": BAD})) is None
    assert len(again.read({"content": CITY}).tool_calls) == 1


def test_or_as_often_as_is_asked_for():
    again = asked(max_retries=2)
    for _ in range(2):
        again = again.retry(again.read({"content": BAD})) or pytest.fail("it is not asked")
    assert again.retried == 2
    assert again.retry(again.read({"content": BAD})) is None


def test_an_answer_without_calls_is_an_answer_unless_one_has_to_be_called():
    hello = {"content": "Hello."}
    assert told(hello) is None
    assert told(hello, request={"tool_choice": "none"}) is None
    for choice in ("required", "now"):
        assert told(hello, request={"tool_choice": choice}) == [
            ("assistant", "Hello."),
            ("user", "Your last reply holds no function call. Call a function, in the format that you were given."),
        ]


@pytest.mark.parametrize("silent", [{"content": ""}, {"content": None}, {"content": " \n"}, {}, {"tool_calls": []}])
def test_an_answer_stands_if_the_next_one_says_nothing(silent: dict[str, Any]):
    again = asked(max_retries=3).retry(asked().read({"content": f"Sure. {BAD}"}))
    assert again is not None
    reply = again.read(silent, "stop")
    assert (reply.content, reply.tool_calls, reply.finish_reason) == (f"Sure. {BAD}", (), "stop")
    assert refusals(reply) == []
    assert [call.name for call in reply.report.retried] == ["now"]
    assert again.retry(reply) is None
    stream = again.stream()
    assert "Sure" not in str([*stream.feed(silent), *stream.end("stop")]), "it was handed out before"
    assert stream.reply == reply


def test_so_does_one_of_parts_and_one_that_had_to_call():
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    request = asked(max_retries=2, request={"tool_choice": "required"})
    again = request.retry(request.read({"content": [image]}))
    assert again is not None
    reply = again.read({"content": "", "reasoning_content": "Hm."})
    assert (reply.content, reply.reasoning) == ([image], "Hm.")
    third = again.retry(reply)
    assert third is not None
    assert third.read({"content": ""}).content == [image]
    assert third.read({"content": CITY}).content is None


def test_nothing_stands_for_an_answer_that_broke_off_or_called():
    again = asked(max_retries=3).retry(asked().read({"content": f"Sure. {BAD}"}))
    assert again is not None
    stream = again.stream()
    assert (stream.abort(), stream.reply.content) == ([], None)
    assert again.read({"tool_calls": [native("now", "{oops")]}).content == '{"name": "now", "parameters": {oops}'
    assert again.read({"content": CITY}).content is None


def test_what_a_framework_accepts_is_no_misfit():
    chat = ToolChat(TOOLS, coerce_arguments=True)
    request = chat.request([], accepts=lambda _, arguments: [] if "days" in arguments else None)
    assert len(request.read({"content": MISFIT}).tool_calls) == 1
    assert len(request.read({"content": UNKNOWN}).tool_calls) == 0
    assert len(chat.request([]).read({"content": MISFIT}).tool_calls) == 0


def test_the_form_is_that_of_the_prompt():
    shown = told({"content": BAD}, prompt_format="function")
    assert shown is not None
    assert shown[1][1].endswith("in the form <function=now>{}</function>")


def test_without_parallel_calls_the_first_is_the_one_that_is_sent_back():
    request = asked(request={"parallel_tool_calls": False})
    reply = read_in_every_way(request, {"content": f"{MISFIT} {CITY}"})
    assert (reply.tool_calls, len(reply.report.surplus)) == ((), 1)
    assert request.retry(reply) is not None


@pytest.mark.parametrize(("first", "before"), [(f"Hm. {BAD}", "\n\n"), ("", "")])
def test_in_a_stream_a_blank_line_stands_between_an_answer_and_the_one_that_follows_it(first: str, before: str):
    request = ToolChat(TOOLS).request([], tool_choice="required")
    again = request.retry(request.read({"content": first}))
    assert again is not None
    stream = again.stream()
    assert stream.feed({"content": "Once more: "}) == [{"content": f"{before}Once more:"}]
    assert stream.feed({"content": "all. "}) == [{"content": " all."}]
    stream.end("stop")
    assert stream.reply == again.read({"content": "Once more: all. "})
    stream = again.stream()
    stream.feed({"tool_calls": [{"index": 0, "function": {"name": "now", "arguments": "{"}}]})
    assert stream.abort() == [{"content": f'{before}{{"name": "now", "parameters": {{}}'}]


@pytest.mark.parametrize("first", [BAD, f"{BAD} Well.", f" {MISFIT} Well.", EXAMPLE.replace("now", "then")])
def test_of_an_answer_that_is_asked_for_again_no_text_is_out_before_its_end(first: str):
    request = asked(read={"on_unknown_tool": "retry"})
    for pieces in ([first], list(first)):
        stream = request.stream()
        assert [delta for piece in pieces for delta in stream.feed({"content": piece})] == []
        deltas = stream.end("stop")
        assert "".join(delta["content"] for delta in deltas).strip() == (stream.reply.content or "").strip()
        assert request.retry(stream.reply) is not None


def test_if_it_is_not_asked_for_again_its_text_comes_before_the_call_after_it():
    for max_retries in (0, 1):
        stream = asked(max_retries=max_retries).stream()
        out = [delta for piece in f"{BAD} Well. {EXAMPLE}" for delta in stream.feed({"content": piece})]
        texts, call = [delta["content"] for delta in out[:-1]], out[-1]
        assert "".join(texts) == f"{BAD} Well."
        assert call["tool_calls"][0]["function"]["name"] == "now"
        assert (len(texts) > 1) is (max_retries == 0)
        assert stream.end("stop") == []


def test_after_a_retry_the_report_says_so_and_thoughts_stand_apart_in_a_stream():
    request = ToolChat(TOOLS, split_reasoning=True).request([])
    first = request.read({"content": f"<think>One.</think>{BAD}"})
    assert "refused_tool_calls" in first.report.to_dict()
    again = request.retry(first)
    assert again is not None
    stream = again.stream()
    deltas = [*stream.feed({"content": f"<think>Two.</think>Yes. {CITY}"}), *stream.end("stop")]
    assert deltas[:2] == [{"reasoning_content": "\n\nTwo."}, {"content": "\n\nYes."}]
    assert (stream.reply.reasoning, stream.reply.content) == ("Two.", "Yes.")
    # What the first answer has stands in the text that a stream hands out: of that, nobody is told again.
    assert stream.reply.report.to_dict() == {
        "refused_tool_calls": [],
        "retried_tool_calls": first.report.to_dict()["refused_tool_calls"],
    }
    message = {"role": "assistant", "content": f"{BAD}\n\nYes.", **stream.reply.report.to_dict()}
    called = {**message, "tool_calls": [call.to_openai() for call in stream.reply.tool_calls]}
    result = {"role": "tool", "tool_call_id": stream.reply.tool_calls[0].id, "content": "sunny"}
    assert "Error" not in request.chat.request([called, result]).messages[-1]["content"]


def test_calls_because_of_which_it_was_asked_again_stay_in_the_report():
    request = asked(max_retries=2)
    first = request.read({"content": BAD})
    again = request.retry(first) or pytest.fail("it is not asked")
    second = again.read({"content": MISFIT})
    assert second.report.retried == first.report.refused
    last = again.retry(second) or pytest.fail("it is not asked")
    report = last.read({"content": "Hello."}).report
    assert report.retried == (*first.report.refused, *second.report.refused)
    assert report.lines() == [
        "no call of 'now': malformed; the model was asked again",
        "no call of 'get_weather': misfit; the model was asked again",
    ]
    kept = {"role": "assistant", "content": "Hello.", **report.to_dict()}
    assert asked().chat.request([kept]).messages[-1] == {"role": "assistant", "content": "Hello."}


@pytest.mark.parametrize(
    ("text", "choice", "why"),
    [(BAD, "auto", "no call of 'now': malformed"), ("Hello.", "required", "a call has to be made")],
)
def test_a_log_says_that_it_is_asked_again_and_why(
    text: str, choice: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "llama3_tools")
    request = asked(request={"tool_choice": choice}, max_retries=2)
    for _ in range(2):
        request = request.retry(request.read({"content": text})) or pytest.fail("it is not asked")
    assert request.retry(request.read({"content": CITY})) is None
    assert caplog.messages == [f"the model is asked again: {why}"] * 2


def test_a_model_is_told_of_a_tool_by_the_name_that_it_knows():
    chat = ToolChat([{"name": "math.add"}], tools_in="request")
    request = chat.request([])
    reply = request.read({"content": '{"name": "math_add", "parameters": {oops}}'})
    again = request.retry(reply)
    assert again is not None
    assert again.messages[-1]["content"].startswith("Error of math_add: ")
    turn = [
        {"role": "assistant", "content": "", "tool_calls": [native("math.add", "{}")], **reply.report.to_dict()},
        {"role": "tool", "tool_call_id": "a", "content": "2"},
    ]
    told = chat.request(turn).messages[-1]["content"]
    assert told.startswith("Result of math_add: 2\n\nError of math_add: ")


def test_a_misfit_that_is_not_sent_back_comes_at_once():
    assert len(calls_in(asked(max_retries=0).stream().feed({"content": MISFIT}))) == 1
    assert calls_in(asked().stream().feed({"content": MISFIT})) == []


def test_the_answer_to_a_complaint_is_read_alone():
    request = asked()
    again = request.retry(request.read({"content": f"Sure. {BAD}", "reasoning": "Hm."}))
    assert again is not None
    reply = again.read({"content": f"Now. {CITY}", "reasoning": "Well."})
    assert (reply.content, reply.reasoning) == ("Now.", "Well.")


@pytest.mark.parametrize(
    "message",
    [
        {"content": 'Hm. {"name": "get_wether", "parameters": {"city": "Oslo"}}'},
        {"content": None, "tool_calls": [native("get_wether", '{"city": "Oslo"}')]},
    ],
)
def test_with_retry_an_undeclared_tool_is_told_with_the_names_that_there_are(message: dict[str, Any]):
    request = asked(read={"on_unknown_tool": "retry"})
    reply = read_in_every_way(request, message)
    assert reply.tool_calls == ()
    again = request.retry(reply)
    assert again is not None
    told = again.messages[-1]["content"]
    assert told.startswith("Error of get_wether: The call was not run: ")
    assert "get_weather, now, light" in told
    assert again.retry(read_in_every_way(again, message)) is None
