"""What goes wrong outside: endpoints, tools and options; whichever way is asked, the error says why and what to do."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx
import openai
import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.bridge.pydantic import BaseModel, ConfigDict
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.llms.openai_like import OpenAILike

from endpoints.script import Turn
from endpoints.server import Answer, LoopbackServer, Request
from endpoints.wire import answer_error, answer_events, answer_json
from integrations.llamaindex.endpoint import (
    TOOLS,
    WEATHER,
    Endpoint,
    endpoint,
    explained,
    fail,
    get_time,
    get_weather,
    said,
    say,
)
from integrations.llamaindex.ways import FUNCTION_AGENTS, REACT_AGENTS, STREAMED, WAYS, WHOLE, WITH_TOOLS
from llama3_tools import ToolDefinitionError
from llama3_tools.errors import a_type
from llama_index_llama3_tools import (
    Llama3JsonToolOutputParser,
    Llama3ReActOutputParser,
    Llama3ToolLLM,
)

# LlamaIndex's own ReActAgent asks its context, from within a step, whether it runs.
pytestmark = pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")

HTML = "<!doctype html><html><title>Welcome</title></html>"
PAGE = Answer((HTML.encode(),), "text/html")
SOME = ["chat", "astream_complete", "achat_with_tools", "FunctionAgent, streaming"]
"""Ways of each kind: that errors are explained in all of them, a wrapper in a wrapper shows."""
NO_COMPLETION = r"is not a completion: does the address end in /v1"
ERRORS = {
    "a web page": (PAGE, {}, NO_COMPLETION),
    "a web page instead of text": (PAGE, {"is_chat_model": False}, NO_COMPLETION),
    "a web page, not found": (Answer((HTML.encode() * 99,), "text/html", status=404), {}, NO_COMPLETION),
    "a web page of a proxy": (
        Answer((HTML.encode(),), "text/html", status=502),
        {},
        "a proxy answered instead of the server",
    ),
    "a web page that says it is JSON": (Answer((HTML.encode(),)), {}, NO_COMPLETION),
    "other JSON": (answer_json({"error": "Unexpected endpoint or method."}), {}, NO_COMPLETION),
    "a path that is not there": (answer_error(404, "There is no such path."), {}, NO_COMPLETION),
    "a wrong model": (
        say("Hello."),
        {"model": "llama4"},
        r"has no model 'llama4': http://127.+/v1/models lists those that it has",
    ),
    "a wrong model for text": (say("Hello."), {"model": "llama4", "is_chat_model": False}, "has no model 'llama4': "),
    "a wrong model, as Ollama says it": (
        answer_error(404, 'model "llama3.1" not found, try pulling it first'),
        {},
        r"try pulling it first(?s:.+)has no model 'llama3.1': http://127.+/v1/models",
    ),
}


def ask_in_silence(way: str, is_asked: threading.Event) -> tuple[str, int]:
    """Ask a server that says nothing. Return the error, and how often the server was asked."""
    is_over = threading.Event()

    def respond(_: Request) -> Answer:
        is_asked.set()
        is_over.wait(30)
        return PAGE

    with LoopbackServer(respond) as server:
        try:
            # Long enough to connect in on a busy machine, which has the same limit and another message.
            llm = Llama3ToolLLM(Endpoint(server).llm(timeout=1.5))
            with explained("set a larger timeout") as error:
                asyncio.run(WAYS[way](llm))
        finally:
            is_over.set()
    return said(error.value), len(server.requests)


@pytest.fixture(scope="module")
def silences() -> dict[str, Future[tuple[str, int]]]:
    """What asking a server that says nothing comes to, in each way: all wait at the same time.

    One after the other they begin to, so that none has to connect while others do.
    """
    outcomes = {}
    with ThreadPoolExecutor(len(WAYS)) as threads:
        for way in WAYS:
            is_asked = threading.Event()
            outcomes[way] = threads.submit(ask_in_silence, way, is_asked)
            is_asked.wait(10)
    return outcomes


class TestEndpoints:
    @pytest.mark.parametrize("way", SOME)
    @pytest.mark.parametrize("trouble", ERRORS)
    async def test_another_answer_is_explained_after_one_request(self, trouble: str, way: str) -> None:
        answer, options, message = ERRORS[trouble]
        with endpoint(answer, say("Hello.")) as served, explained(message):
            await WAYS[way](Llama3ToolLLM(served.llm(**options)))
        assert len(served.bodies) == 1

    @pytest.mark.parametrize("way", SOME)
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({}, r"no connection to http://127.+/v1: is the server running there\? "),
            ({"is_chat_model": False}, r"no connection to http://127.+/v1: is the server running there\? "),
            ({"api_base": "localhost/v1"}, r"localhost/v1 must begin with http:// or https://"),
        ],
        ids=["chats", "completes text", "no scheme"],
    )
    async def test_nobody_there(self, options: dict[str, Any], message: str, way: str) -> None:
        with endpoint() as served:
            llm = served.llm(**options)
        with explained(message):
            await WAYS[way](Llama3ToolLLM(llm))

    @pytest.mark.parametrize("way", WAYS)
    def test_a_server_that_says_nothing(self, way: str, silences: dict[str, Future[tuple[str, int]]]) -> None:
        message, times_asked = silences[way].result()
        assert re.search("no answer in time: set a larger timeout", message)
        assert times_asked == 1

    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (
                TimeoutError(),
                "no answer in time: set a larger timeout",
            ),
            (
                ConnectionError("Failed to connect to Ollama."),
                r"no connection to the model's address: .+ Failed to connect",
            ),
        ],
    )
    def test_errors_of_other_clients(self, error: Exception, message: str) -> None:
        class FailingLLM(MockLLM):
            def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:  # noqa: ARG002, FBT002 (the framework's signature)
                raise error

        with explained(message):
            Llama3ToolLLM(FailingLLM()).complete("Hi")

    @pytest.mark.parametrize("way", WAYS)
    async def test_a_wrapper_in_a_wrapper_explains_once(self, way: str) -> None:
        with endpoint(PAGE) as served, explained(NO_COMPLETION) as error:
            await WAYS[way](Llama3ToolLLM(Llama3ToolLLM(served.llm())))
        assert said(error.value).count("/v1") == 1

    @pytest.mark.parametrize("way", SOME)
    async def test_other_errors_stay_as_they_are(self, way: str) -> None:
        kinds = {400: "BadRequestError", 401: "AuthenticationError", 429: "RateLimitError", 503: "InternalServerError"}
        for status, kind in kinds.items():
            answer = answer_error(status, "The prompt is too long.")
            with endpoint(answer) as served, pytest.raises(Exception, match=r"too long[^()]*$") as error:
                await WAYS[way](Llama3ToolLLM(served.llm()))
            assert type(error.value).__name__ == kind


class TestBreaks:
    @pytest.mark.parametrize("is_chat_model", [True, False], ids=["chats", "completes text"])
    @pytest.mark.parametrize("way", STREAMED)
    @pytest.mark.parametrize("text", ['Let me see. {"name": "get_w', "Let me see.   ", "Let me <|pyth"])
    async def test_what_had_arrived_is_shown_before_the_error(self, text: str, way: str, is_chat_model: bool) -> None:
        seen: list[str] = []
        with endpoint(Turn(pieces=say(text).pieces, breaks=True), "Hello.") as served:
            llm = Llama3ToolLLM(served.llm(is_chat_model=is_chat_model))
            with explained(r"peer closed connection(?s:.+)the answer stopped in the middle") as error:
                await WAYS[way](llm, seen.append)
        assert isinstance(error.value, httpx.RemoteProtocolError)
        assert "".join(seen) == text
        assert len(served.bodies) == 1

    @pytest.mark.parametrize("way", [way for way in STREAMED if way in {**WITH_TOOLS, **FUNCTION_AGENTS}])
    async def test_so_is_a_first_answer_if_the_model_was_asked_again(self, way: str) -> None:
        seen: list[str] = []
        first = 'I will look. {"name": "get_weather", "parameters": {"city": oops}}'
        with endpoint(first, Turn(pieces=("Second try",), breaks=True)) as served, explained("closed connection"):
            await WAYS[way](Llama3ToolLLM(served.llm()), seen.append)
        assert "".join(seen) == f"{first}\n\nSecond try"
        assert len(served.bodies) == 2

    @pytest.mark.parametrize("way", WHOLE)
    async def test_an_answer_that_breaks_off_whole(self, way: str) -> None:
        with endpoint(Turn(pieces=("Let me see.",), breaks=True), "Hello.") as served:
            llm = Llama3ToolLLM(served.llm())
            with explained("the answer stopped in the middle: look in the server's log"):
                await WAYS[way](llm)
        assert len(served.bodies) == 1

    async def test_a_call_before_the_break_does_not_run(self) -> None:
        ran: list[str] = []
        tool = FunctionTool.from_defaults(ran.append, name="get_weather", description="The weather")
        with endpoint(Turn(pieces=say(f"{WEATHER} And").pieces, breaks=True)) as served:
            agent = FunctionAgent(tools=[tool], llm=Llama3ToolLLM(served.llm()))
            with explained("stopped in the middle"):
                await agent.run("Weather?")
        assert ran == []

    @pytest.mark.parametrize("way", [way for way in STREAMED if way in {**WITH_TOOLS, **FUNCTION_AGENTS}])
    async def test_a_call_that_the_server_found_half_is_text(self, way: str) -> None:
        call = {"index": 0, "id": "1", "function": {"name": "get_weather", "arguments": '{"city": "Par'}}
        deltas: list[dict[str, object]] = [{"content": "Hm."}, {"tool_calls": [call]}]
        events = [json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
        seen: list[str] = []
        with endpoint(answer_events(events, complete=False)) as served:
            llm = Llama3ToolLLM(served.llm(is_function_calling_model=True))
            with explained("stopped in the middle"):
                await WAYS[way](llm, seen.append)
        assert "".join(seen) == 'Hm. {"name": "get_weather", "parameters": {"city": "Par}'


class TestEventLoops:
    async def test_a_client_of_an_earlier_event_loop_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def fail_as_httpx_does(*_: object, **__: object) -> None:
            request = httpx.Request("POST", "http://127.0.0.1/v1")
            raise openai.APIConnectionError(request=request) from RuntimeError("Event loop is closed")

        monkeypatch.setattr(OpenAILike, "achat", fail_as_httpx_does)
        with endpoint() as served, explained(r"an earlier asyncio.run: .+ reuse_client=False\)$") as error:
            await Llama3ToolLLM(served.llm()).achat_with_tools(TOOLS, "Weather?")
        assert isinstance(error.value, openai.APIConnectionError)


class Thing:
    """Nothing that JSON knows."""


class Things(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    thing: Thing


class RawMetadata(ToolMetadata):
    """Metadata whose schema is what a test chooses."""

    def __init__(self, schema: object) -> None:
        super().__init__(description="Weather", name="get_weather")
        self._schema = schema

    def get_parameters_dict(self) -> Any:
        return self._schema


def tool_with(metadata: ToolMetadata) -> FunctionTool:
    return FunctionTool(fn=get_weather, metadata=metadata)


def another_weather(town: str) -> str:
    """Return the weather of a town."""
    return f"Rain in {town}"


WRONG_TOOLS = {
    "two of one name": (
        [*TOOLS, FunctionTool.from_defaults(another_weather, name="get_weather")],
        "'get_weather' is declared twice",
    ),
    "two of one declaration": (
        [FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(get_weather)],
        "'get_weather' is declared twice",
    ),
    "arguments that are no object": (
        [tool_with(RawMetadata({"type": "string"}))],
        "the parameters of get_weather are no JSON Schema: type is",
    ),
    "properties that are a list": (
        [tool_with(RawMetadata({"type": "object", "properties": ["city"]}))],
        "the parameters of get_weather are no JSON Schema: properties is",
    ),
    "no schema": ([tool_with(RawMetadata(None))], "the parameters of get_weather are"),
    "a type that JSON does not know": (
        [tool_with(ToolMetadata("Weather", name="get_weather", fn_schema=Things))],
        r"tools\[0\]: no JSON Schema can be made of the parameters of get_weather: Pydantic.+Thing.+Annotate",
    ),
    "a schema that is no class": (
        [tool_with(ToolMetadata("Weather", name="get_weather", fn_schema={}))],  # type: ignore[arg-type]
        r"no JSON Schema can be made of the parameters of get_weather: AttributeError: 'dict' object",
    ),
}


class TestTools:
    @pytest.mark.parametrize("way", ["achat_with_tools", "stream_chat_with_tools", "FunctionAgent"])
    @pytest.mark.parametrize("wrong", WRONG_TOOLS)
    async def test_a_wrong_tool_is_named_before_the_model_is_asked(self, wrong: str, way: str) -> None:
        tools, message = WRONG_TOOLS[wrong]
        with endpoint() as served, pytest.raises(ToolDefinitionError, match=message):
            await WAYS[way](Llama3ToolLLM(served.llm()), tools=tools)
        assert served.bodies == []

    @pytest.mark.parametrize("wrong", WRONG_TOOLS)
    def test_a_wrong_tool_is_named_when_a_parser_is_given_it(self, wrong: str) -> None:
        tools, message = WRONG_TOOLS[wrong]
        with pytest.raises(ToolDefinitionError, match=message):
            Llama3ReActOutputParser(tools)

    def test_a_function_that_can_be_no_tool_is_named(self) -> None:
        def find(thing: Thing) -> str:
            return str(thing)

        with pytest.raises(
            ToolDefinitionError, match=r"no JSON Schema can be made of the parameters of find: Pydantic.+Thing"
        ):
            Llama3ReActOutputParser([find])

    @pytest.mark.parametrize("tool", [{"type": "web_search_preview"}, {"type": "bash_20250124", "name": "bash"}])
    def test_a_tool_that_only_its_server_knows_is_named(self, tool: dict[str, str]) -> None:
        with pytest.raises(
            ToolDefinitionError, match=re.escape(f"tools[1] is a tool that only its server knows, {tool}")
        ):
            Llama3ReActOutputParser([get_time, tool])

    @pytest.mark.parametrize("key", ["input_schema", "inputSchema"])
    @pytest.mark.parametrize("of_anthropic", [{}, {"type": "custom"}], ids=["no type", "custom"])
    def test_a_tool_dict_of_anthropic_s_or_mcp_s_keeps_its_schema(self, key: str, of_anthropic: dict[str, str]) -> None:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        tool = {**of_anthropic, "name": "get_weather", key: schema}
        assert Llama3JsonToolOutputParser([tool]).chat.tools["get_weather"].parameters == schema
        with pytest.raises(ToolDefinitionError, match=rf"tools\[0\] has both parameters and {key}: give the schema"):
            Llama3JsonToolOutputParser([{**tool, "parameters": schema}])

    @pytest.mark.parametrize("way", [*WITH_TOOLS, *FUNCTION_AGENTS])
    async def test_one_tool_given_twice_is_one_tool(self, way: str) -> None:
        with endpoint("Sunny.") as served:
            assert await WAYS[way](Llama3ToolLLM(served.llm()), tools=[*TOOLS, TOOLS[0]]) == "Sunny."
        assert str(served.bodies[0]).count('"name": "get_weather"') == 1

    @pytest.mark.parametrize("way", [*FUNCTION_AGENTS, *REACT_AGENTS])
    @pytest.mark.parametrize(
        ("call", "told"),
        [
            ('{"name": "fail", "parameters": {"reason": "paper"}}', "out of paper"),
            ('{"name": "get_weather", "parameters": {"town": "Paris"}}', "unexpected keyword argument 'town'"),
        ],
        ids=["a tool that raises", "an unknown argument"],
    )
    async def test_the_model_is_told_what_went_wrong_and_recovers(self, call: str, told: str, way: str) -> None:
        tools = [*TOOLS, FunctionTool.from_defaults(fail)]
        with endpoint(
            f"Thought: So.\n{call}", f"Thought: So.\n{WEATHER}", "Thought: I know.\nAnswer: Sunny."
        ) as served:
            answer = await WAYS[way](Llama3ToolLLM(served.llm(), max_retries=0), tools=tools)
        assert answer.endswith("Sunny.")
        assert told in served.messages(1)[-1][1]
        assert "Sun in Paris" in served.messages(2)[-1][1]

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_the_error_of_a_tool_is_shown(self, streaming: bool) -> None:
        with endpoint('{"name": "fail", "parameters": {"reason": "paper"}}', "Sorry.") as served:
            agent = FunctionAgent(tools=[fail], llm=Llama3ToolLLM(served.llm()), streaming=streaming)
            handler = AgentWorkflow(agents=[agent]).run("Print.")
            [result] = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
            assert str(await handler) == "Sorry."
        assert (result.tool_name, result.tool_output.is_error) == ("fail", True)
        assert result.tool_output.content == "out of paper"


class TestMessages:
    @pytest.mark.parametrize(
        ("given", "found"),
        [
            ("Hi", "a str"),
            ({"role": "user"}, "a dict"),
            (ChatMessage("Hi"), "a ChatMessage"),
            (3, "an int"),
            ([ChatMessage("Hi"), ("user", "Hi")], "a tuple"),
            ([{"role": "user"}], "a dict"),
        ],
    )
    def test_a_history_that_is_none(self, given: Any, found: str) -> None:
        llm = Llama3ToolLLM(MockLLM())
        for name, ask in {
            "chat_history": lambda: llm.chat_with_tools(TOOLS, "Hi", chat_history=given),
            "messages": lambda: llm.chat(given),
        }.items():
            with pytest.raises(TypeError, match=rf"^{name} must be a list of ChatMessage\(.*\): found {found}$"):
                ask()

    @pytest.mark.parametrize("given", [["Hi"], {"role": "user"}, 3])
    async def test_a_question_that_is_none(self, given: Any) -> None:
        llm = Llama3ToolLLM(MockLLM())
        found = f"user_msg must be a str or a ChatMessage, not {a_type(given)}$"
        with pytest.raises(TypeError, match=found):
            llm.stream_chat_with_tools(TOOLS, given)
        with pytest.raises(TypeError, match=found):
            await llm.achat_with_tools(TOOLS, given)


class TestOptions:
    @pytest.mark.parametrize(
        ("option", "value", "valid"),
        [
            ("tool_role", "system", 'tool_role must be "user", "tool"'),
            ("tool_role", "ipython", 'LlamaIndex has no role "ipython": use tool_role="user"'),
            ("max_retries", -1, "max_retries must be 0 or more"),
        ],
    )
    def test_a_value_that_the_llm_does_not_know(self, option: str, value: object, valid: str) -> None:
        with pytest.raises(ValueError, match=f"^{valid}"):
            Llama3ToolLLM(MockLLM(), **{option: value})

    def test_an_option_that_the_llm_does_not_know(self) -> None:
        with pytest.raises(TypeError, match="'max_tokens'"):
            Llama3ToolLLM(MockLLM(), max_tokens=5)  # type: ignore[call-arg]

    def test_an_llm_that_is_none(self) -> None:
        with pytest.raises(TypeError, match=r"^llm must be an LLM of LlamaIndex, such as .+, not a str$"):
            Llama3ToolLLM("llama3.1")  # type: ignore[arg-type]
