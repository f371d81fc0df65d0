"""What holds for the plugin of each server: its answers are the chat layer's, whole and in pieces."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, ClassVar

import pytest

from chunkings import chunkings
from llama3_tools import ReadOptions
from llama3_tools.chat import ChatOptions
from server_outputs import CASES, DECLARED, SIZES, Answer, agrees, expected, pieces

PARIS = '{"name": "get_weather", "parameters": {"city": "Paris"}}'
ROME = '{"name": "get_weather", "parameters": {"city": "Rome"}}'
IN_PARIS, IN_ROME = ("get_weather", '{"city": "Paris"}'), ("get_weather", '{"city": "Rome"}')
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}


def is_told(plugin: Any, answer: Answer) -> bool:
    """Whether the server can look up what was sent of each call."""
    sent = [arguments for _, arguments in answer.calls]
    return [call["arguments"] for call in plugin.prev_tool_call_arr] == plugin.streamed_args_for_tool == sent


class PluginTests:
    """The tests; a class of each server's says how it asks its plugin."""

    kind: ClassVar[Any]
    """The plugin's class."""
    log: ClassVar[str]
    """The name of its logger."""

    def whole(self, text: str, tools: Iterable[dict[str, Any]] = (WEATHER,), kind: Any = None) -> Answer:
        """Return what comes out for a whole answer."""
        raise NotImplementedError

    def streamed(self, chunks: list[str], tools: Iterable[dict[str, Any]] = (WEATHER,)) -> Answer:
        """Return what comes out for an answer in pieces."""
        raise NotImplementedError

    def expected(self, text: str) -> Answer:
        """Return what has to come out for a whole answer."""
        return expected(text)

    @pytest.mark.parametrize(
        ("text", "content", "calls"),
        [
            pytest.param(f"One: {PARIS} two: {ROME} Done.", "One: two: Done.", [IN_PARIS, IN_ROME], id="text around"),
            pytest.param('{"name": "now", "parameters": {}}', "", [("now", "{}")], id="no arguments, an unknown tool"),
            pytest.param(PARIS[:-2], PARIS[:-2], [], id="a call that is cut off"),
            pytest.param("", "", [], id="nothing"),
        ],
    )
    def test_text_and_calls_are_apart_whole_and_in_every_chunking(
        self, text: str, content: str, calls: list[tuple[str, str]]
    ) -> None:
        assert self.whole(text) == Answer(content, calls)
        for chunks in chunkings(text):
            assert self.streamed(chunks) == Answer(content, calls), chunks

    @pytest.mark.parametrize("case", CASES)
    def test_outputs_of_each_kind_are_read_as_the_chat_layer_reads_them(self, case: str) -> None:
        for text in CASES[case][::8]:
            assert self.whole(text, DECLARED) == self.expected(text), text
            for size in SIZES:
                assert agrees(self.streamed(pieces(text, size), DECLARED), expected(text)), text

    def test_without_tools_nothing_is_read_and_nothing_is_lost(self) -> None:
        text = f" <|python_tag|>{PARIS}<|eom_id|> "
        assert self.whole(text, []) == self.streamed(pieces(text, 3), []) == Answer(text, [])

    @pytest.mark.parametrize(("days", "given"), [('"3"', "3"), ('"soon"', '"soon"')])
    def test_arguments_are_made_to_fit_and_go_to_the_client_if_they_do_not(self, days: str, given: str) -> None:
        call = f'{{"name": "get_weather", "parameters": {{"city": "Paris", "days": {days}}}}}'
        asking = type("Asking", (self.kind,), {"options": ChatOptions(read=self.kind.options.read, max_retries=3)})
        for kind in (self.kind, asking):
            assert self.whole(call, kind=kind).calls == [("get_weather", f'{{"city": "Paris", "days": {given}}}')]

    def test_a_subclass_reads_by_options_of_its_own(self) -> None:
        repairing = type("Repairing", (self.kind,), {"options": ChatOptions(read=ReadOptions(repair=True))})
        assert self.whole(PARIS.replace('"', "'"), kind=repairing).calls == [IN_PARIS]

    def test_reasoning_is_the_server_s_to_split_off(self) -> None:
        splitting = type("Splitting", (self.kind,), {"options": ChatOptions(read=ReadOptions(split_reasoning=True))})
        with pytest.raises(ValueError, match="--reasoning-parser"):
            self.whole(PARIS, kind=splitting)

    def test_the_log_says_which_calls_were_not_made_and_nothing_of_their_arguments(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = logging.getLogger(self.log)
        monkeypatch.setattr(log, "propagate", False)  # which vLLM sets for all of its own
        monkeypatch.setattr(log, "handlers", [caplog.handler])
        text = f'{PARIS} and again {PARIS} {{"name": "get_weather", "parameters": {{"city": secret}}}}'
        for answer in (self.whole(text), self.streamed([text])):
            assert answer.calls == [IN_PARIS]
        lines = ["no call of 'get_weather': malformed", "no call of 'get_weather': repeats the one before it"]
        assert caplog.messages == lines * 2
