"""The wrapper itself: what it asks the wrapped LLM, and what it makes of the answers, whole and in every chunking."""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import ChatMessage, ChatResponse, MockFunctionCallingLLM, MockLLM
from llama_index.core.tools import FunctionTool

from chunkings import chunkings
from integrations.llamaindex.endpoint import TIME, TOOLS, WEATHER, endpoint, get_weather
from integrations.llamaindex.scripted import ScriptedLLM, calls_in, said
from integrations.llamaindex.ways import PLAIN, QUESTION
from llama3_tools import render_tool_prompt
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolLLM, MalformedToolCallError
from llama_index_llama3_tools.tools import tool_dicts

if TYPE_CHECKING:
    from collections.abc import Sequence

DECLARED = tool_dicts(TOOLS)
OUTPUTS = {
    "calls between text": f"Let me check. {WEATHER}; {TIME} One moment.",
    "cut off": f"{WEATHER}; {TIME[:-3]}",
}


def wrapped(chunks: Sequence[str], **options: Any) -> Llama3ToolLLM:
    return Llama3ToolLLM(ScriptedLLM(chunks=list(chunks)), **options)


class TestAnswers:
    @pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
    async def test_whole_and_in_every_chunking_it_gives_what_the_parser_gives(self, output: str) -> None:
        expected = Llama3JsonToolOutputParser(TOOLS, on_unknown_tool="call").parse(output)
        calls = [(call.tool_name, call.tool_kwargs) for call in expected.tool_calls]
        asked: dict[str, Any] = {"tools": TOOLS, "user_msg": "?", "allow_parallel_tool_calls": True}
        llm = wrapped([output], on_unknown_tool="call")
        stream = await llm.astream_chat_with_tools(**asked)
        for response in (
            llm.chat_with_tools(**asked),
            await llm.achat_with_tools(**asked),
            [response async for response in stream][-1],
        ):
            assert ((response.message.content or ""), calls_in(response.message)) == (expected.text, calls)
            assert response.raw in ({"chunks": 1}, {"number": 0})
        for chunks in chunkings(output, is_sampled=True):
            responses = list(wrapped(chunks, on_unknown_tool="call").stream_chat_with_tools(**asked))
            last = responses[-1].message
            assert ((last.content or ""), calls_in(last)) == (expected.text, calls), chunks
            assert said(responses).lstrip() == expected.text.lstrip()

    def test_a_response_without_a_call_is_an_error_where_one_is_wanted(self) -> None:
        llm = wrapped(["Hello\u3164."])
        response = llm.chat_with_tools(TOOLS, "Hi")
        assert llm.get_tool_calls_from_response(response, error_on_no_tool_call=False) == []
        with pytest.raises(MalformedToolCallError, match=r"wrote no tool call: 'Hello\\u3164\.'"):
            llm.get_tool_calls_from_response(response)

    @pytest.mark.parametrize("kwargs", ['{"city": "Par', "[1]"])
    def test_arguments_that_are_no_object_of_strict_json_are_never_run(self, kwargs: Any) -> None:
        block = ToolCallBlock(tool_call_id="1", tool_name="get_weather", tool_kwargs=kwargs)
        response = ChatResponse(message=ChatMessage(role="assistant", blocks=[block]))
        assert wrapped([]).get_tool_calls_from_response(response, error_on_no_tool_call=False) == []


class TestQuestions:
    @pytest.mark.parametrize("way", PLAIN)
    async def test_plain_requests_are_those_of_the_wrapped_llm(self, way: str) -> None:
        inside, deltas = ScriptedLLM(chunks=[WEATHER]), list[str]()
        assert await PLAIN[way](Llama3ToolLLM(inside), deltas.append) == WEATHER
        assert deltas == [WEATHER] * ("stream" in way)
        assert inside.prompts == [QUESTION if "complete" in way else f"user: {QUESTION}\nassistant: "]

    async def test_a_plain_request_keeps_the_roles_of_the_user_s_own(self) -> None:
        history = [ChatMessage(role="developer", content="Be brief."), ChatMessage(content="Hi")]
        with endpoint("a", "b") as served:
            llm = Llama3ToolLLM(served.llm())
            llm.chat(history)
            [_ async for _ in await llm.astream_chat(history)]
        assert [served.messages(number) for number in (0, 1)] == [[("developer", "Be brief."), ("user", "Hi")]] * 2

    def test_a_plain_request_sends_calls_and_results_as_text(self) -> None:
        inside = ScriptedLLM(chunks=[f"Hm. {WEATHER}"])
        llm = Llama3ToolLLM(inside)
        message = llm.chat_with_tools(TOOLS, "Weather?").message
        llm.chat([ChatMessage(content="Weather?"), message, ChatMessage(role="tool", content="Sun")])
        assert inside.prompts[1] == (
            f"user: Weather?\nassistant: Hm.\n{WEATHER}\nuser: Result of a tool: Sun\nassistant: "
        )


class TestComponent:
    def test_its_metadata_are_those_of_the_wrapped_llm_but_for_the_calls(self) -> None:
        inside = ScriptedLLM(chunks=[], is_chat_model=False)
        metadata = Llama3ToolLLM(inside).metadata
        assert metadata.is_function_calling_model
        assert metadata.model_copy(update={"is_function_calling_model": False}) == inside.metadata

    def test_it_has_the_model_s_name(self) -> None:
        with endpoint() as served:
            assert Llama3ToolLLM(served.llm()).model == "llama3.1"

    def test_it_serialises_with_what_differs_from_the_defaults(self) -> None:
        data = json.loads(Llama3ToolLLM(MockLLM(max_tokens=7), tools_in="system", repair=True).to_json())
        assert (data["class_name"], data["llm"]["max_tokens"]) == ("Llama3ToolLLM", 7)
        assert "tools_in='system'" in data["options"]
        assert "repair=True" in data["options"]
        assert "options" in Llama3ToolLLM.model_json_schema()["properties"]

    def test_it_can_be_pickled_and_copied(self) -> None:
        llm = Llama3ToolLLM(MockLLM(), repair=True)
        for other in (pickle.loads(pickle.dumps(llm)), copy.deepcopy(llm), llm.model_copy()):  # noqa: S301 (our own)
            assert other.to_dict() == llm.to_dict()
            assert other.options == llm.options

    @pytest.mark.parametrize(
        ("name", "value", "other"),
        [
            ("callback_manager", CallbackManager(), CallbackManager()),
            ("system_prompt", "Be brief.", "Be long."),
            ("messages_to_prompt", str, repr),
            ("output_parser", Llama3JsonToolOutputParser(), Llama3JsonToolOutputParser(TOOLS)),
        ],
    )
    def test_what_predict_looks_up_is_that_of_the_wrapped_llm_or_given(
        self, name: str, value: object, other: object
    ) -> None:
        inside = ScriptedLLM(chunks=["x"], **{name: value})
        assert getattr(Llama3ToolLLM(inside), name) is value
        assert getattr(Llama3ToolLLM(inside, **{name: other}), name) is other

    def test_it_prepares_a_request_as_the_framework_wants_it(self) -> None:
        prepared = wrapped([])._prepare_chat_with_tools(TOOLS, "Weather?", temperature=0)  # noqa: SLF001 (the framework's name)
        assert [message.content for message in prepared["messages"]] == [f"{render_tool_prompt(DECLARED)}\n\nWeather?"]
        assert prepared["temperature"] == 0


def test_tools_in_the_request_may_be_functions_come_from_an_iterator_and_have_allowed_names() -> None:
    def now() -> str:
        """Return the time."""
        return "12:30"

    seen: list[Any] = []

    class Asked(MockFunctionCallingLLM):
        def chat_with_tools(self, tools: Any, *args: Any, **kwargs: Any) -> ChatResponse:
            del args, kwargs
            seen.extend(tools)
            return ChatResponse(message=ChatMessage(role="assistant", content="Hi"))

    tools: Any = iter([now, FunctionTool.from_defaults(get_weather, name="weather.get")])
    Llama3ToolLLM(Asked(), tools_in="request").chat_with_tools(tools, "Hi")
    assert [tool.metadata.name for tool in seen] == ["now", "weather_get"]
    assert str(seen[1]("Paris")) == "Sun in Paris"
