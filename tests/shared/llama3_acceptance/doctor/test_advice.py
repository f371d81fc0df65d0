"""What the doctor recommends: the server's own calls, calls in the text, or to mend something first."""

from __future__ import annotations

import pytest

from llama3_acceptance.doctor import Examination, Finding
from llama3_acceptance.doctor.advice import advise
from llama3_acceptance.doctor.exchanges import Exchange, SentCall

NATIVE = "You can use the server's own tool calls."
TEXT = "These lines put the tools into the prompt and read the calls from the text"
NOTHING = "Fix this first, then run the doctor again."
UNKNOWN = "Some questions have no answer, so it is not known yet what works"

CALLING = Exchange("one", 200, calls=(SentCall("now", {}, "{}", "call_1"),), is_completion=True)
EXAMINED = Examination("http://127.0.0.1:9/v1", "llama", {"one": CALLING})
UNANSWERED = Examination("http://127.0.0.1:9/v1", "llama", {"one": CALLING}, not_asked=("two",))


def with_tools_in_the_prompt(answer: str, one: Exchange = CALLING) -> Examination:
    asked = Exchange("in the prompt", 200, content=answer, is_completion=True)
    return Examination("http://127.0.0.1:9/v1", "llama", {"one": one, "in the prompt": asked})


CALLS = with_tools_in_the_prompt('{"name": "get_weather", "parameters": {"city": "Paris"}}')
TRIES = with_tools_in_the_prompt("{'name': 'get_weather', 'parameters': {}}")
NATIVE_ONLY = with_tools_in_the_prompt("Sunny.")
NO_CALL = with_tools_in_the_prompt("Sunny.", Exchange("one", 200, content="Sunny.", is_completion=True))

CALL = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
IN_TEXT = with_tools_in_the_prompt("Sunny.", Exchange("one", 200, content=CALL, is_completion=True))

FAULT = Finding("calls_unreadable", "what", "to do")
NOTE = Finding("calls_unreadable", "what", "to do", is_fault=False, still_works="native")
HARMLESS = Finding("template_wrong", "what", "to do", still_works="native")
GRAVE = Finding("server_busy", "what", "to do", still_works="nothing")


@pytest.mark.parametrize(
    ("examination", "findings", "sentence"),
    [
        (CALLS, [FAULT], "This works: the tools in the prompt"),
        (TRIES, [FAULT], "The model tries to call."),
        (IN_TEXT, [FAULT], "The model calls only if the server shows it the tools."),
        (NATIVE_ONLY, [FAULT], "llama3-tools will not help this model yet"),
        (NO_CALL, [FAULT], "llama3-tools will not help this model yet"),
        (EXAMINED, [], NATIVE),
        (EXAMINED, [NOTE], NATIVE),
        (EXAMINED, [HARMLESS, NOTE], NATIVE),
        (EXAMINED, [FAULT], TEXT),
        (EXAMINED, [HARMLESS, FAULT], TEXT),
        (EXAMINED, [FAULT, GRAVE], NOTHING),
        (UNANSWERED, [NOTE], UNKNOWN),
        (UNANSWERED, [FAULT], TEXT),
        (UNANSWERED, [GRAVE], NOTHING),
    ],
)
def test_what_is_recommended_follows_from_what_still_works(
    examination: Examination, findings: list[Finding], sentence: str
) -> None:
    assert advise(examination, findings).sentence.startswith(sentence)


def test_lines_of_this_library_are_shown_only_if_they_may_help() -> None:
    shown = {of: " ".join(advise(of, [FAULT]).code) for of in (CALLS, TRIES, NATIVE_ONLY, NO_CALL)}
    assert [shown[of].count("Llama3ToolModel(") for of in shown] == [1, 1, 0, 0]
    assert [shown[of].count("ChatOpenAI(") for of in shown] == [1, 1, 1, 0]
