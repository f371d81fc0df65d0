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

FAULT = Finding("ids_missing", "what", "to do")
NOTE = Finding("ids_missing", "what", "to do", is_fault=False)
HARMLESS = Finding("tokens_left", "what", "to do", still_works="native")
GRAVE = Finding("server_busy", "what", "to do", still_works="nothing")


@pytest.mark.parametrize(
    ("examination", "findings", "sentence"),
    [
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
    ids=[
        *("nothing found", "a note", "a harmless fault", "a fault", "a fault beside a harmless one", "a grave fault"),
        *("a note, and questions without answers", "a fault, and questions without answers", "grave, without answers"),
    ],
)
def test_what_is_recommended_follows_from_what_still_works(
    examination: Examination, findings: list[Finding], sentence: str
) -> None:
    assert advise(examination, findings).sentence.startswith(sentence)


def test_in_spite_of_a_note_everything_works() -> None:
    assert Finding("not_asked", "what", "to do", is_fault=False, still_works="nothing").still_works == "native"
