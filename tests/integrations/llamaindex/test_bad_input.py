"""What goes wrong outside: endpoints, tools and options; whichever way is asked, the error says why and what to do."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import MockLLM
from llama_index.core.tools import FunctionTool

from endpoints.script import Turn
from endpoints.server import Answer
from endpoints.wire import answer_json
from integrations.llamaindex.endpoint import (
    TOOLS,
    WEATHER,
    endpoint,
    explained,
    get_weather,
    said,
    say,
)
from integrations.llamaindex.ways import STREAMED, WAYS
from llama3_tools import ToolDefinitionError
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ReActOutputParser, Llama3ToolLLM

PAGE = Answer((b"<!doctype html><html><title>Welcome</title></html>",), "text/html")
SOME = ["chat", "astream_complete", "achat_with_tools", "FunctionAgent, streaming"]
"""Ways of each kind."""
NO_COMPLETION = r"is not a completion: does the address end in /v1"
ERRORS = {
    "a web page": (PAGE, {}, NO_COMPLETION),
    "other JSON": (answer_json({"error": "Unexpected endpoint or method."}), {}, NO_COMPLETION),
    "a wrong model": (say("Hello."), {"model": "llama4"}, r"has no model 'llama4': http://127.+/v1/models lists those"),
}


class TestEndpoints:
    @pytest.mark.parametrize("way", SOME)
    @pytest.mark.parametrize("trouble", ERRORS)
    async def test_another_answer_is_explained_after_one_request(self, trouble: str, way: str) -> None:
        answer, options, message = ERRORS[trouble]
        with endpoint(answer, say("Hello.")) as served, explained(message):
            await WAYS[way](Llama3ToolLLM(served.llm(**options)))
        assert len(served.bodies) == 1

    @pytest.mark.parametrize("way", SOME)
    async def test_a_wrapper_in_a_wrapper_explains_once(self, way: str) -> None:
        with endpoint(PAGE) as served, explained(NO_COMPLETION) as error:
            await WAYS[way](Llama3ToolLLM(Llama3ToolLLM(served.llm())))
        assert said(error.value).count("/v1") == 1


class TestBreaks:
    @pytest.mark.parametrize("way", STREAMED)
    async def test_what_had_arrived_is_shown_before_the_error(self, way: str) -> None:
        seen, text = list[str](), 'Let me see. {"name": "get_w'
        with endpoint(Turn(pieces=say(text).pieces, breaks=True), "Hello.") as served:
            llm = Llama3ToolLLM(served.llm())
            with explained(r"peer closed connection(?s:.+)the answer stopped in the middle") as error:
                await WAYS[way](llm, seen.append)
        assert isinstance(error.value, httpx.RemoteProtocolError)
        assert "".join(seen) == text
        assert len(served.bodies) == 1

    async def test_a_call_before_the_break_does_not_run(self) -> None:
        ran: list[str] = []
        tool = FunctionTool.from_defaults(ran.append, name="get_weather", description="The weather")
        with endpoint(Turn(pieces=say(f"{WEATHER} And").pieces, breaks=True)) as served:
            agent = FunctionAgent(tools=[tool], llm=Llama3ToolLLM(served.llm()))
            with explained("stopped in the middle"):
                await agent.run("Weather?")
        assert ran == []


class TestTools:
    @pytest.mark.parametrize("way", ["achat_with_tools", "FunctionAgent"])
    async def test_two_of_one_name_are_an_error_before_the_model_is_asked(self, way: str) -> None:
        tools = [*TOOLS, FunctionTool.from_defaults(get_weather)]
        with endpoint() as served, pytest.raises(ToolDefinitionError, match="'get_weather' is declared twice"):
            await WAYS[way](Llama3ToolLLM(served.llm()), tools=tools)
        assert served.bodies == []

    async def test_one_tool_given_twice_is_one_tool(self) -> None:
        with endpoint("Sunny.") as served:
            assert await WAYS["FunctionAgent"](Llama3ToolLLM(served.llm()), tools=[*TOOLS, TOOLS[0]]) == "Sunny."
        assert str(served.bodies[0]).count('"name": "get_weather"') == 1


class TestOptions:
    @pytest.mark.parametrize(
        ("make", "options", "message"),
        [
            (Llama3ToolLLM, {"max_retires": 0}, "'max_retires'; did you mean 'max_retries'"),
            (Llama3ToolLLM, {"max_tokens": 5}, "has no option 'max_tokens': give it to the MockLLM$"),
            (Llama3JsonToolOutputParser, {"reapir": True}, "^Llama3JsonToolOutputParser .*; did you mean 'repair'"),
            (Llama3JsonToolOutputParser, {"on_inavlid": "raise"}, "; did you mean 'on_invalid'"),
            (Llama3ReActOutputParser, {"formts": "all"}, "^Llama3ReActOutputParser .*; did you mean 'formats'"),
        ],
        ids=str,
    )
    def test_a_wrong_name_is_told_with_the_nearest_one(self, make: Any, options: Any, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            make(MockLLM() if make is Llama3ToolLLM else None, **options)

    def test_a_role_that_there_is_not(self) -> None:
        role: Any = "ipython"
        with pytest.raises(ValueError, match=r'^LlamaIndex has no role "ipython": use tool_role="user"'):
            Llama3ToolLLM(MockLLM(), tool_role=role)

    @pytest.mark.parametrize("llm", ["llama3.1", MockLLM().to_dict()], ids=["a name", "a dict"])
    def test_no_llm(self, llm: Any) -> None:
        with pytest.raises(TypeError, match=r"^llm must be an LLM of LlamaIndex, such as .+, not a (str|dict)$"):
            Llama3ToolLLM(llm)
