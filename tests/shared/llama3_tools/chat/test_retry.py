"""When a model is asked again, what it is told, and what of its first answer stays."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chats import CITY, TOOLS, asked, calls_in, content_in, deltas_of, made, native, read_in_every_way, refusals
from llama3_tools.chat import Reply, Request, ServerConstraint, ToolChat
from llama3_tools.chat.messages import Message

BAD = '{"name": "now", "parameters": {oops}}'
MISFIT = '{"name": "get_weather", "parameters": {"city": "Paris", "days": "soon"}}'
COPIED = '{"name": "get_weather", "parameters": {"city": "<string>"}}'
NOW = '{"name": "now", "parameters": {}}'
IMAGE = {"type": "image_url", "image_url": {"url": "data:"}}
WORDS_ARE_FINE = "If no call is needed, answer in words."

PAGE = (Path(__file__).parents[4] / "docs" / "chat.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(.+)` \| (.*?) ?\| (yes|no) \| (.+) \|$", PAGE, re.MULTILINE)
ANSWERED = [
    {"role": "user", "content": "How is the weather in Paris?"},
    {"role": "assistant", "content": None, "tool_calls": [native("get_weather", '{"city": "Paris"}')]},
    {"role": "tool", "tool_call_id": "a", "content": "sunny"},
]


def again(request: Request, reply: Reply) -> Request:
    return request.retry(reply) or pytest.fail("it is not asked again")


def told(message: dict[str, Any], **options: Any) -> str:
    """What the model is told of an answer."""
    request = asked(**options)
    following = again(request, read_in_every_way(request, message))
    assert (following.messages[:-2], following.retried) == (request.messages, 1)
    return str(following.messages[-1]["content"])


@pytest.mark.parametrize(("text", "condition", "is_asked", "happens"), ROWS)
def test_each_row_of_the_page_is_true(text: str, condition: str, is_asked: str, happens: str):
    messages = ANSWERED if condition == "it was just answered" else []
    choice = "required" if condition == "a call is due" else "auto"
    asking = asked(read={"on_unknown_tool": "retry"}).chat.request(messages, tool_choice=choice)
    asking = replace(asking, retried=int(condition == "the last retry"))
    reply = read_in_every_way(asking, {"content": text}, "length" if condition == "`length`" else "stop")
    assert (asking.retry(reply) is not None) is (is_asked == "yes")
    assert bool(reply.tool_calls) is ("call runs" in happens)
    assert bool(reply.report.repeated) is ("tells of a call" in happens)


def test_the_page_has_rows():
    assert len(ROWS) == 14


_WORDS = st.sampled_from(["search", "now", "clock", "I", "called", "used", "it", "is", "The", "sunny", "here", "tool"])
_HEADINGS = st.sampled_from(["Result of {}: ", 'Result of {} {{"query": "x"}}: ', "Error of {}: "])
_MENTIONS = st.sampled_from(
    [
        *("I used {} for it.", "`{}` said so.", "{} is not needed.", 'No "{}".', "- {}: a tool", "{}?"),
        *('Use {}(query="x").', "I will not run {}(path='/data').", "I called {}(to='Al'), and it is out."),
        *('According to {}("x"), it is sunny.', 'I used {} {{"to": "Al"}}.', "Use {}(to=...) to do it."),
        *('The tool says {{"name": "{}", "status": "ok"}}', "<function={}> was used.", "{}(x=1) is what I called."),
        *('- {}(query="x"): searches', 'I used <tool_call>{{"name": "{}", "parameters": {{oops}}}}</tool_call>.'),
    ]
)
_TOLD_OF = st.just('I used {{"name": "{}", "parameters": {{}}}} and it is out.')


@given(
    st.lists(_WORDS, min_size=1, max_size=3, unique=True),
    st.lists(
        st.lists(st.one_of(_WORDS, _HEADINGS, _MENTIONS, _TOLD_OF, st.just("\n")), min_size=1, max_size=6),
        min_size=1,
        max_size=3,
    ),
)
def test_no_answers_in_words_end_in_more_requests_than_answers(names: list[str], answers: list[list[str]]):
    calls = [native(name, "{}", name) for name in names]
    results = [{"role": "tool", "tool_call_id": name, "content": "done"} for name in names]
    conversation = [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": calls}, *results]
    chat = ToolChat([{"name": name} for name in names], max_retries=9)
    for pieces in answers:
        text = " ".join(piece.format(names[place % len(names)]) for place, piece in enumerate(pieces))
        request = chat.request(conversation)
        reply = request.read({"content": text}, "stop")
        assert request.retry(reply) is None
        assert reply.tool_calls == ()
        conversation = [*conversation, reply.to_openai(), *results]


@pytest.mark.parametrize(
    ("message", "options", "says"),
    [
        pytest.param({"content": f"Sure. {BAD}"}, {}, ["Error of now: ", "offset 37", NOW], id="malformed"),
        pytest.param({"tool_calls": [native("now", "{oops")]}, {}, ["Error of now: ", NOW], id="the server's"),
        pytest.param({"content": BAD}, {"prompt_format": "function"}, ["<function=now>{}</function>"], id="a form"),
        pytest.param({"content": MISFIT}, {}, ["Error of get_weather: ", "$.days", '"<integer>"'], id="a misfit"),
        pytest.param({"content": COPIED}, {}, ["Error of get_weather: ", "$.city", "placeholder"], id="copied"),
        pytest.param(
            {"tool_calls": [native("get_wether", "{}")]},
            {"read": {"on_unknown_tool": "retry"}},
            ["Error of get_wether: ", "get_weather, now, light"],
            id="an undeclared tool",
        ),
    ],
)
def test_it_is_told_the_tool_what_was_wrong_its_parameters_and_a_way_out(
    message: dict[str, Any], options: dict[str, Any], says: list[str]
):
    complaint = told(message, **options)
    assert [part for part in [*says, WORDS_ARE_FINE] if part not in complaint] == []


@pytest.mark.parametrize("content", [BAD, "I would use now for that.", "Hello."])
def test_where_a_call_is_due_words_are_not_fine(content: str):
    for choice in ("required", "now"):
        assert WORDS_ARE_FINE not in told({"content": content}, request={"tool_choice": choice})
    assert NOW in told({"content": "Hello."}, request={"tool_choice": "now"})


def test_where_a_call_is_due_each_rejection_of_a_tool_that_may_be_called_is_told():
    quoted = f"Say `{CITY}` here."
    assert refusals(read_in_every_way(asked(), {"content": quoted})) == []
    for choice, count in (("required", 1), ("get_weather", 1), ("now", 0)):
        reply = read_in_every_way(asked(request={"tool_choice": choice}), {"content": quoted})
        assert len(reply.report.refused) == count


@pytest.mark.parametrize("call", [MISFIT, BAD, COPIED])
def test_it_is_shown_what_it_wrote(call: str):
    for content in (f"Sure. {call}", [IMAGE, {"type": "text", "text": call}]):
        request = asked()
        shown = again(request, read_in_every_way(request, {"content": content})).messages[-2]
        assert shown == {"role": "assistant", "content": content}


@pytest.mark.parametrize(
    "text", [f"{MISFIT} {CITY}", f"{CITY} {MISFIT}", f"[{MISFIT}, {CITY}]", f"{CITY} {BAD}", f"{COPIED} {CITY}"]
)
def test_beside_a_good_call_nothing_is_asked_and_a_misfit_runs(text: str):
    request = asked()
    reply = read_in_every_way(request, {"content": text})
    assert len(reply.tool_calls) == 1 + (MISFIT in text)
    assert request.retry(reply) is None


@pytest.mark.parametrize("options", [{"max_retries": 0}, {"read": {"coerce_arguments": False}}])
def test_after_the_last_retry_a_misfit_runs_at_once_and_placeholders_never(options: dict[str, Any]):
    request = asked(**options)
    reply = read_in_every_way(request, {"content": MISFIT})
    assert made(reply.tool_calls) == [("get_weather", {"city": "Paris", "days": "soon"})]
    assert len(calls_in(request.stream().feed({"content": MISFIT}))) == 1
    for message in ({"content": COPIED}, {"tool_calls": [native("get_weather", '{"city": "<string>"}')]}):
        reply = read_in_every_way(request, message)
        assert (reply.content, reply.tool_calls, refusals(reply)) == (COPIED, (), [("get_weather", "placeholder")])


def test_a_copied_call_stays_at_its_place():
    reply = read_in_every_way(asked(max_retries=0), {"content": f"{COPIED}\nWell. {CITY}"})
    assert (reply.content, len(reply.tool_calls)) == (f"{COPIED} Well.", 1)


@pytest.mark.parametrize("answers_unknown", [True, False])
def test_after_the_last_retry_a_call_of_an_undeclared_tool_is_for_who_answers_it(answers_unknown: bool):
    chat = asked(read={"on_unknown_tool": "retry"}).chat
    unknown = CITY.replace("get_weather", "get_wether")
    for message in ({"content": unknown}, {"tool_calls": [native("get_wether", '{"city": "Paris"}')]}):
        request = chat.request([], answers_unknown=answers_unknown)
        request = again(request, read_in_every_way(request, message))
        reply = read_in_every_way(request, message)
        assert [call.name for call in reply.tool_calls] == (["get_wether"] if answers_unknown else [])
        assert reply.content == (None if answers_unknown else unknown)
        assert request.retry(reply) is None


@pytest.mark.parametrize("finish_reason", ["length", "content_filter"])
def test_an_answer_that_a_limit_cut_off_is_not_asked_again(finish_reason: str):
    for text, choice in ((BAD, "auto"), (CITY[:-9], "auto"), ("Hm", "required"), (MISFIT, "auto")):
        request = asked(request={"tool_choice": choice})
        reply = read_in_every_way(request, {"content": text}, finish_reason)
        assert request.retry(reply) is None
        assert len(reply.tool_calls) == (text == MISFIT)


@pytest.mark.parametrize(
    "text",
    [
        "I used {}, and it is out.",
        "I used {}.",
        "I called <tool_call>{}</tool_call> then.",
        "I made this call:\n\n{}\n\nThe mail was sent.",
        "Function call: {}\nResult: sent",
        "The call was:\n```json\n{}\n```\nand it returned: sent",
    ],
)
def test_a_call_that_was_just_answered_and_is_told_of_does_not_run_again(text: str):
    chat = asked().chat
    reply = read_in_every_way(chat.request(ANSWERED), {"content": text.format(CITY)})
    assert (reply.tool_calls, len(reply.report.repeated)) == ((), 1)
    assert f"I used {CITY}".removeprefix("I used ") in str(reply.content)
    others = [chat.request(ANSWERED[:2]), chat.request([*ANSWERED, ANSWERED[0]]), asked(repeated_calls="keep")]
    for request in others:
        assert len(read_in_every_way(request, {"content": text.format(CITY)}).tool_calls) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [("{}", 1), ("Once more: {}", 1), ("I use {}", 1), ("```\n{}\n```\n", 1), ("{}; {}", 2)],
)
def test_one_that_no_text_follows_runs(text: str, count: int):
    text = text.replace("{}", CITY)
    assert len(read_in_every_way(asked().chat.request(ANSWERED), {"content": text}).tool_calls) == count


@pytest.mark.parametrize(
    "text", ["Tool used: get_weather(city='Paris')", "I made this call:\nget_weather(city='Paris')."]
)
def test_an_odd_form_of_a_call_that_was_just_answered_is_not_asked_about(text: str):
    chat = asked().chat
    for messages, is_asked in ((ANSWERED, False), (ANSWERED[:1], True)):
        request = chat.request(messages)
        assert (request.retry(read_in_every_way(request, {"content": text})) is not None) == is_asked


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    ("said", "attempt"),
    [
        ("", '{name: "get_weather", parameters: {city: "Paris"}}'),
        ("", "<tool_call>get_weather('Paris') please</tool_call>"),
        ("Let me see.", " <tool_call>get_weather('Paris') please</tool_call>"),
    ],
)
def test_an_odd_form_is_not_shown_before_the_model_is_asked_about_it(said: str, attempt: str, size: int):
    request = asked()
    stream = request.stream()
    shown = [out for piece in deltas_of({"content": said + attempt}, size) for out in stream.feed(piece)]
    assert content_in([*shown, *stream.end("stop")]) == said
    assert request.retry(stream.reply) is not None


def test_a_model_is_asked_as_often_as_max_retries_says():
    for count in (0, 1, 3):
        request = asked(max_retries=count)
        for _ in range(count):
            request = again(request, request.read({"content": BAD}))
        assert (request.retried, request.retry(request.read({"content": BAD}))) == (count, None)


@pytest.mark.parametrize("silent", [{"content": ""}, {"content": None}, {"content": " \n"}, {}, {"tool_calls": []}])
def test_an_answer_stays_if_the_next_one_says_nothing(silent: dict[str, Any]):
    request = asked(max_retries=3)
    stream = request.stream()
    said = [*stream.feed({"content": f"Sure. {BAD}"}), *stream.end("stop")]
    request = again(request, stream.reply)
    reply = request.read(silent, "stop")
    assert (reply.content, reply.tool_calls, reply.finish_reason) == (f"Sure. {BAD}", (), "stop")
    assert refusals(reply) == []
    assert [call.name for call in reply.report.retried] == ["now"]
    assert request.retry(reply) is None
    stream = request.stream()
    said += [*stream.feed(silent), *stream.end("stop")]
    assert (content_in(said), stream.reply) == (f"Sure. {BAD}", reply)


def test_so_does_one_of_parts_and_one_that_had_to_call():
    request = asked(max_retries=2, request={"tool_choice": "required"})
    request = again(request, request.read({"content": [IMAGE]}))
    reply = request.read({"content": "", "reasoning_content": "Hm."})
    assert (reply.content, reply.reasoning) == ([IMAGE], "Hm.")
    request = again(request, reply)
    assert request.read({"content": ""}).content == [IMAGE]
    assert request.read({"content": CITY}).content is None


def test_without_parallel_calls_the_first_is_the_one_that_is_sent_back():
    request = asked(request={"parallel_tool_calls": False})
    reply = read_in_every_way(request, {"content": f"{MISFIT} {CITY}"})
    assert (reply.tool_calls, len(reply.report.surplus)) == ((), 1)
    assert request.retry(reply) is not None


@pytest.mark.parametrize(
    "bad",
    [
        *(BAD, MISFIT, COPIED, f"{BAD} {MISFIT}", CITY.replace("get_weather", "rm")),
        *(f"<tool_call>\n{BAD}\n</tool_call>", f"\n```json\n{BAD}\n```", "\n[get_weather(city=Paris)]"),
    ],
)
@pytest.mark.parametrize(("before", "separator"), [("", ""), ("Let me see. ", "\n\n")])
def test_a_stream_shows_what_is_before_a_refused_call_and_then_the_new_answer(bad: str, before: str, separator: str):
    after = "" if "city=" in bad else "\nWell."  # words after a pythonic call make it a mention
    for size in (1, 7, 1000):
        request = asked(read={"on_unknown_tool": "retry"})
        stream = request.stream()
        out = [delta for piece in deltas_of({"content": f"{before}{bad}{after}"}, size) for delta in stream.feed(piece)]
        assert content_in(out) == before.strip()
        assert stream.end("stop") == []
        request = again(request, stream.reply)
        stream = request.stream()
        assert content_in(stream.feed({"content": "Once more: "})) == f"{separator}Once more:"
        assert content_in(stream.feed({"content": "all. "})) == " all."
        stream.end("stop")
        assert stream.reply == request.read({"content": "Once more: all. "})


@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        (f"I used {BAD}", " and it is out."),
        (f"I used {BAD}", "."),
        ("get_weather(city=Paris)", " is what I would use."),
        ("get_weather(city=Paris)", "\nSo it is."),
        ("[get_weather(city=Paris)]", " is the list."),
        ('get_weather(city="Paris", days=', "2) is a call."),
        (f"<tool_call>{BAD}</tool_call>", " was it."),
        ("<tool_call>", " is a tag."),
    ],
)
@pytest.mark.parametrize("size", [1, 3])
def test_text_that_may_be_an_attempt_is_shown_as_soon_as_it_is_none(begins: str, goes_on: str, size: int):
    request = asked()
    stream = request.stream()
    before = [out for piece in deltas_of({"content": f"Hm. So:\n{begins}"}, size) for out in stream.feed(piece)]
    assert len(content_in(before)) < len(f"Hm. So:\n{begins}")
    after = [out for piece in deltas_of({"content": goes_on}, size) for out in stream.feed(piece)]
    assert content_in([*before, *after]) == f"Hm. So:\n{begins}{goes_on}"
    assert stream.end("stop") == []
    assert request.retry(stream.reply) is None


def test_if_it_is_not_asked_again_the_text_of_a_refused_call_comes_before_the_call_after_it():
    stream = asked().stream()
    out = [delta for piece in f"{BAD} Well. {NOW}" for delta in stream.feed({"content": piece})]
    assert (content_in(out[:-1]), calls_in(out[-1:])[0]["function"]["name"]) == (f"{BAD} Well.", "now")
    assert stream.end("stop") == []


def test_after_a_retry_the_report_says_so_and_thoughts_are_apart_in_a_stream():
    request = ToolChat(TOOLS, split_reasoning=True).request([])
    first = request.read({"content": f"<think>One.</think>{BAD}"})
    stream = again(request, first).stream()
    deltas = [*stream.feed({"content": f"<think>Two.</think>Yes. {CITY}"}), *stream.end("stop")]
    assert deltas[:2] == [{"reasoning_content": "\n\nTwo."}, {"content": "Yes."}]
    assert (stream.reply.reasoning, stream.reply.content) == ("Two.", "Yes.")
    assert stream.reply.report.to_dict() == {
        "refused_tool_calls": [],
        "retried_tool_calls": first.report.to_dict()["refused_tool_calls"],
    }


def test_calls_because_of_which_it_was_asked_again_stay_in_the_report_and_out_of_the_prompt():
    request = asked(max_retries=2)
    first = request.read({"content": BAD})
    request = again(request, first)
    second = request.read({"content": MISFIT})
    assert second.report.retried == first.report.refused
    report = again(request, second).read({"content": "Hello."}).report
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
        request = again(request, request.read({"content": text}))
    assert request.retry(request.read({"content": CITY})) is None
    assert caplog.messages == [f"the model is asked again: {why}"] * 2


def test_a_model_is_told_of_a_tool_by_the_name_that_it_knows():
    chat = ToolChat([{"name": "math.add"}], tools_in="request")
    request = chat.request([])
    reply = request.read({"content": '{"name": "math_add", "parameters": {oops}}'})
    assert again(request, reply).messages[-1]["content"].startswith("Error of math_add: ")
    turn = [
        {"role": "assistant", "content": "", "tool_calls": [native("math.add", "{}")], **reply.report.to_dict()},
        {"role": "tool", "tool_call_id": "a", "content": "2"},
    ]
    assert chat.request(turn).messages[-1]["content"].startswith("Result of math_add: 2\n\nError of math_add: ")


@pytest.mark.parametrize(
    ("first", "choice", "error", "answer"),
    [
        (f"Hm. {BAD}", "auto", ConnectionRefusedError(), {"content": ""}),
        (f"Hm. {BAD}", "auto", ValueError("of a callback"), None),
        (f"Hm. {BAD}", "required", ConnectionRefusedError(), None),
        (MISFIT, "auto", ConnectionRefusedError(), None),
    ],
)
def test_if_it_cannot_be_asked_again_its_words_stand(first: str, choice: str, error: Exception, answer: Message | None):
    request = asked().chat.request([], tool_choice=choice)
    following = again(request, request.read({"content": first}))
    constraint = ServerConstraint(None, "off")
    if answer is None:
        with pytest.raises(type(error)) as raised:
            following.after_error(error, constraint)
        assert raised.value is error
    else:
        assert following.after_error(error, constraint) == answer


def test_what_groq_has_in_its_error_is_the_answer_and_a_refused_constraint_is_left_out():
    request, constraint = (
        asked(constrain="auto").chat.request([], tool_choice="required"),
        ServerConstraint(Reply, "auto"),
    )
    error = ValueError("tool_use_failed")
    error.body = {"error": {"failed_generation": NOW}}  # type: ignore[attr-defined]  # as OpenAI's client has it
    assert request.after_error(error, constraint) == {"content": NOW, "failed_generation": NOW}
    assert request.after_error(TypeError("unexpected keyword argument 'response_format'"), constraint) is None
    assert constraint.is_on is False
