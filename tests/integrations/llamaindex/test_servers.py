"""Servers that differ: those that find calls themselves, refuse or ignore tools, know fewer roles."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from endpoints.wire import answer_error, answer_json
from integrations.llamaindex.endpoint import TOOLS, Endpoint, endpoint, explained, get_weather
from integrations.llamaindex.scripted import ScriptedLLM
from integrations.llamaindex.ways import WITH_TOOLS
from llama_index_llama3_tools import Llama3ToolLLM
from native_calls import found, piece

PARIS = {"city": "Paris"}


def native_llm(served: Endpoint, **options: Any) -> Llama3ToolLLM:
    return Llama3ToolLLM(served.llm(is_function_calling_model=True), **{"tools_in": "request", **options})


def calls(message: ChatMessage) -> list[tuple[str | None, str, Any]]:
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    return [(block.tool_call_id, block.tool_name, block.tool_kwargs) for block in blocks]


class TestNativeCalls:
    @pytest.mark.parametrize(("tools_in", "sends_tools"), [("user", False), ("system", False), ("request", True)])
    def test_tools_go_through_the_server_if_that_is_wanted(self, tools_in: Any, sends_tools: bool) -> None:
        with endpoint("Hello.") as served:
            llm = native_llm(served, tools_in=tools_in, max_retries=0)
            llm.chat_with_tools(TOOLS, "Weather?", tool_choice="get_weather", allow_parallel_tool_calls=True)
        [body] = served.bodies
        assert ("tools" in body) is sends_tools
        assert (body.get("parallel_tool_calls") is True) is sends_tools
        assert (body["messages"] == [{"role": "user", "content": "Weather?"}]) is sends_tools

    def test_that_a_call_is_required_goes_through_the_server(self) -> None:
        with endpoint("Hello.", "Hello.", "Hello.") as served:
            for options in ({"tool_required": True}, {}, {"tool_choice": True}):
                native_llm(served, max_retries=0).chat_with_tools(TOOLS, "Weather?", **options)
        assert [body["tool_choice"] for body in served.bodies] == ["required", "auto", "required"]

    def test_names_that_an_api_does_not_allow_are_mapped(self) -> None:
        tool = FunctionTool.from_defaults(get_weather, name="weather.get")
        with endpoint(found(piece(0, json.dumps(PARIS), "0", "weather_get"), stream=False)) as served:
            llm = native_llm(served)
            response = llm.chat_with_tools([tool], "Weather?", tool_choice="weather.get")
            [call] = llm.get_tool_calls_from_response(response)
        [body] = served.bodies
        assert (body["tools"][0]["function"]["name"], call.tool_name) == ("weather_get", "weather.get")
        assert body["tool_choice"]["function"]["name"] == "weather_get"

    @pytest.mark.parametrize("is_parallel", [True, False])
    async def test_a_stream_of_them(self, is_parallel: bool) -> None:
        answer = found(
            piece(0, "", "call_0", "get_weather"),
            piece(0, '{"city": '),
            piece(0, '"Paris"}'),
            piece(1, "", "call_1", "get_time"),
            piece(1, '{"zone": "CET"}'),
            stream=True,
            text="Hm.",
        )
        with endpoint(answer, answer) as served:
            llm = native_llm(served)
            options = {"allow_parallel_tool_calls": is_parallel}
            streams = [
                list(llm.stream_chat_with_tools(TOOLS, "Weather?", **options)),
                [r async for r in await llm.astream_chat_with_tools(TOOLS, "Weather?", **options)],
            ]
        expected = [("call_0", "get_weather", PARIS), ("call_1", "get_time", {"zone": "CET"})]
        for responses in streams:
            assert "".join(response.delta or "" for response in responses) == "Hm."
            assert calls(responses[-1].message) == expected[: 2 if is_parallel else 1]
            for response in responses:
                assert all(call in expected for call in calls(response.message)), "no call is shown by halves"


class TestRefusals:
    @pytest.mark.parametrize("way", WITH_TOOLS)
    async def test_what_the_model_wrote_in_the_error_of_a_server_is_its_answer(self, way: str) -> None:
        error = {"message": "tool_use_failed", "failed_generation": f"Sunny in {PARIS['city']}."}
        with endpoint(answer_json({"error": error}, status=400)) as served:
            assert await WITH_TOOLS[way](Llama3ToolLLM(served.llm())) == "Sunny in Paris."

    @pytest.mark.parametrize("way", WITH_TOOLS)
    async def test_the_error_says_what_to_do(self, way: str) -> None:
        with endpoint(answer_error(400, "Unexpected role: tool")) as served, explained('tool_role="user"') as error:
            await WITH_TOOLS[way](native_llm(served, tool_role="tool"))
        assert isinstance(error.value, openai.BadRequestError)

    def test_an_llm_that_completes_text_because_nobody_has_said_that_it_chats(self) -> None:
        given: dict[str, Any] = {"api_base": "http://127.0.0.1:9/v1", "api_key": "none", "model": "llama3.1"}
        with pytest.warns(UserWarning, match="OpenAILike completes text, and does not chat: set is_chat_model=True"):
            Llama3ToolLLM(OpenAILike(**given))
        for is_chat_model in (True, False):  # which are silent
            Llama3ToolLLM(OpenAILike(**given, is_chat_model=is_chat_model))

    def test_native_calls_of_an_llm_that_has_none(self) -> None:
        with pytest.raises(NotImplementedError, match="ScriptedLLM does not: use "):
            Llama3ToolLLM(ScriptedLLM(chunks=[]), tools_in="request").chat_with_tools(TOOLS, "Weather?")
