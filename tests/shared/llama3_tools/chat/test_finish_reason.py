"""Whether a limit ended an answer (principle 6), and where its finish reason is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from llama3_tools.chat.finish_reason import finish_reason_in, is_complete, openai_finish_reason


@pytest.mark.parametrize("reason", [7, ["length"]])
def test_any_other_reason_and_none_count_as_complete(reason: object):
    assert is_complete(reason)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"done_reason": "length"}, "length"),
        ({"choices": [{"finish_reason": "length"}]}, "length"),
        (SimpleNamespace(choices=(SimpleNamespace(finish_reason="length"),)), "length"),
        (SimpleNamespace(choices=[SimpleNamespace(finish_reason=None)], done_reason="stop"), "stop"),
        ({"stop_reason": "max_tokens"}, "max_tokens"),
        ({"stopReason": "max_tokens"}, "max_tokens"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens"),
        (SimpleNamespace(incomplete_details=SimpleNamespace(reason="content_filter")), "content_filter"),
        ({"status": "completed", "incomplete_details": None}, None),
        ({"choices": [{"finish_reason": "length", "stop_reason": 128009}]}, "length"),  # vLLM's number beside it
        *((place, None) for place in ({"choices": []}, {"choices": None}, {"finish_reason": ""}, {"finish_reason": 7})),
    ],
)
def test_it_is_found_in_dicts_and_objects(place: object, reason: str | None):
    assert finish_reason_in(place) == reason


@pytest.mark.parametrize(
    ("reason", "without_calls", "with_calls"),
    [
        ("stop", "stop", "tool_calls"),
        (None, "stop", "tool_calls"),
        ("", "stop", "tool_calls"),
        ("tool_calls", "stop", "tool_calls"),
        ("tool_use", "stop", "tool_calls"),
        ("end_turn", "stop", "tool_calls"),
        ("load", "load", "tool_calls"),
        *((limit, "length", "length") for limit in ("length", "MAX_TOKENS", "max_output_tokens", "model_length")),
        ("model_context_window_exceeded", "length", "length"),
        ("content_filter", "content_filter", "content_filter"),
    ],
)
def test_openai_means_that_calls_go_before_the_end_and_never_before_a_limit(
    reason: str | None, without_calls: str, with_calls: str
):
    assert is_complete(reason) is (without_calls not in {"length", "content_filter"})
    assert openai_finish_reason(reason, has_calls=False) == without_calls
    assert openai_finish_reason(reason, has_calls=True) == with_calls
