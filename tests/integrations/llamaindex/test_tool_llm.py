"""The wrapper itself: what it asks the LLM inside, and what it makes of the answers, whole and in every chunking."""

from __future__ import annotations

import copy
import pickle
import re
from typing import TYPE_CHECKING, Any, get_args

import pytest
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import ValidationError
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import ChatMessage, ChatResponse, MockFunctionCallingLLM, MockLLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.core.types import PydanticProgramMode

from chunkings import chunkings
from integrations.llamaindex.endpoint import TIME, TOOLS, WEATHER, endpoint, get_weather
from integrations.llamaindex.scripted import STYLES, ScriptedLLM, Style
from integrations.llamaindex.ways import PLAIN, nobody, streamed, whole
from llama3_tools import Limits, PromptFormat, ToolDefinitionError, render_tool_call, render_tool_prompt
from llama3_tools.chat import ToolChat, ToolsPlace
from llama_index_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolLLM
from llama_index_llama3_tools.tools import rename_tools, tool_dicts

if TYPE_CHECKING:
    from collections.abc import Sequence

DECLARED = tool_dicts(TOOLS)
OUTPUTS = {
    "a call": WEATHER,
    "text, then a call": f"Let me check. {WEATHER}",
    "a call between text": f"Let me check. {WEATHER} One moment.",
    "two calls": f"{WEATHER}; {TIME}",
    "an array": f"[{WEATHER}, {TIME}]",
    "tagged": f"<|python_tag|>{WEATHER}<|eom_id|>",
    "a tag of its own": '<function=get_weather>{"city": "Paris"}</function>',
    "fenced": f"Sure:\n```json\n{WEATHER}\n```",
    "an unknown tool": 'Hm. {"name": "forecast", "parameters": {}}',
    "malformed, then a call": f'{{"name": "get_time", "parameters": {{"zone: ; {WEATHER}',
    "cut off": f"{WEATHER}; {TIME[:-3]}",
    "text": "Just {words} and [numbers].",
    "data": '{"city": "Paris"}',
    "nothing": "",
}


def blocks(message: ChatMessage) -> list[tuple[str, Any]]:
    return [(block.tool_name, block.tool_kwargs) for block in message.blocks if isinstance(block, ToolCallBlock)]


def wrapped(chunks: Sequence[str], **options: Any) -> Llama3ToolLLM:
    return Llama3ToolLLM(ScriptedLLM(chunks=list(chunks)), **options)


class TestAnswers:
    @pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
    async def test_whole_and_in_every_chunking_it_gives_what_the_parser_gives(self, output: str) -> None:
        parser = Llama3JsonToolOutputParser(TOOLS, on_unknown_tool="call")
        expected = parser.parse(output)
        calls = [(call.tool_name, call.tool_kwargs) for call in expected.tool_calls]
        llm = wrapped([output], on_unknown_tool="call")
        for response in (
            llm.chat_with_tools(TOOLS, "?", allow_parallel_tool_calls=True),
            await llm.achat_with_tools(TOOLS, "?", allow_parallel_tool_calls=True),
        ):
            assert ((response.message.content or ""), blocks(response.message)) == (expected.text, calls)
            assert response.raw == {"chunks": 1}
        for number, chunks in enumerate(chunkings(output)):
            if not output or not all(chunks):
                continue
            llm = wrapped(chunks, on_unknown_tool="call")
            if number % 9:
                responses = list(llm.stream_chat_with_tools(TOOLS, "?", allow_parallel_tool_calls=True))
            else:
                stream = await llm.astream_chat_with_tools(TOOLS, "?", allow_parallel_tool_calls=True)
                responses = [response async for response in stream]
            last = responses[-1].message
            assert ((last.content or ""), blocks(last)) == (expected.text, calls), chunks
            streamed = "".join(response.delta or "" for response in responses)
            assert streamed == expected.text or streamed.lstrip() == expected.text
            counts = [len(llm.get_tool_calls_from_response(r, error_on_no_tool_call=False)) for r in responses]
            assert counts == sorted(counts), "a call that was shown is not taken back"

    @pytest.mark.parametrize("style", STYLES)
    def test_whichever_way_the_llm_streams(self, style: Style) -> None:
        llm = Llama3ToolLLM(ScriptedLLM(chunks=["Hm. ", *WEATHER, " So."], style=style))
        *_, last = llm.stream_chat_with_tools(TOOLS, "?")
        assert (last.message.content, blocks(last.message)) == ("Hm. So.", [("get_weather", {"city": "Paris"})])

    def test_a_call_appears_with_its_last_character(self) -> None:
        llm = wrapped([*WEATHER, " Then text."])
        counts = [
            (response.delta, len(llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)))
            for response in llm.stream_chat_with_tools(TOOLS, "?")
        ]
        assert counts[len(WEATHER) - 2 : len(WEATHER) + 1] == [("", 0), ("", 1), ("Then text.", 1)]

    @pytest.mark.parametrize("kwargs", [{"tools": []}, {"tools": TOOLS, "tool_choice": "none"}], ids=["no", "none"])
    def test_without_tools_nothing_is_a_call(self, kwargs: dict[str, Any]) -> None:
        inside = ScriptedLLM(chunks=[WEATHER])
        response = Llama3ToolLLM(inside).chat_with_tools(user_msg="Hi", **kwargs)
        assert (response.message.content, blocks(response.message)) == (WEATHER, [])
        assert inside.prompts == ["user: Hi\nassistant: "]

    def test_a_response_without_a_call_is_an_error_where_one_is_wanted(self) -> None:
        llm = wrapped(["Hello\u3164."])
        response = llm.chat_with_tools(TOOLS, "Hi")
        assert llm.get_tool_calls_from_response(response, error_on_no_tool_call=False) == []
        with pytest.raises(ValueError, match=r"the model wrote none: 'Hello\\u3164\.'"):
            llm.get_tool_calls_from_response(response)

    @pytest.mark.parametrize("kwargs", ['{"city": "Par', "[1]", '"Paris"', "null", "NaN"])
    def test_arguments_that_are_no_object_of_strict_json_are_never_run(self, kwargs: Any) -> None:
        block = ToolCallBlock(tool_call_id="1", tool_name="get_weather", tool_kwargs=kwargs)
        response = ChatResponse(message=ChatMessage(role="assistant", blocks=[block]))
        assert wrapped([]).get_tool_calls_from_response(response, error_on_no_tool_call=False) == []


class TestQuestions:
    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, "system: Be brief.\nuser: PROMPT\n\nWeather?\nassistant: "),
            ({"tools_in": "user"}, "system: Be brief.\nuser: PROMPT\n\nWeather?\nassistant: "),
            ({"tools_in": "system"}, "system: Be brief.\n\nPROMPT\nuser: Weather?\nassistant: "),
        ],
    )
    def test_the_tools_go_where_they_are_wanted(self, options: dict[str, Any], expected: str) -> None:
        history = [ChatMessage(role="system", content="Be brief."), ChatMessage(content="Weather?")]
        inside = ScriptedLLM(chunks=["x"])
        Llama3ToolLLM(inside, **options).chat_with_tools(TOOLS, chat_history=history)
        assert inside.prompts == [expected.replace("PROMPT", render_tool_prompt(DECLARED))]

    def test_without_a_system_message_they_become_one(self) -> None:
        inside = ScriptedLLM(chunks=["x"])
        Llama3ToolLLM(inside, tools_in="system").chat_with_tools(TOOLS, "Weather?")
        assert inside.prompts == [f"system: {render_tool_prompt(DECLARED)}\nuser: Weather?\nassistant: "]

    @pytest.mark.parametrize("prompt_format", get_args(PromptFormat))
    def test_the_prompt_may_ask_for_another_form(self, prompt_format: PromptFormat) -> None:
        written = render_tool_call("get_weather", {"city": "Paris"}, prompt_format=prompt_format)
        inside = ScriptedLLM(chunks=[written])
        llm = Llama3ToolLLM(inside, prompt_format=prompt_format)
        response = llm.chat_with_tools(TOOLS, "Weather?")
        llm.chat([ChatMessage(content="Weather?"), response.message])
        assert render_tool_prompt(DECLARED, prompt_format=prompt_format) in inside.prompts[0]
        assert f"assistant: {written}" in inside.prompts[1]

    @pytest.mark.parametrize(
        ("kwargs", "expected"),
        [
            ({}, None),
            ({"tool_choice": None}, None),
            ({"tool_choice": "auto"}, None),
            ({"tool_required": True}, "Call a function in your reply."),
            ({"tool_required": True, "tool_choice": "auto"}, "Call a function in your reply."),
            ({"tool_choice": "required"}, "Call a function in your reply."),
            ({"tool_choice": True}, "Call a function in your reply."),
            ({"tool_choice": False}, None),
            ({"tool_choice": {"type": "any"}}, "Call a function in your reply."),
            ({"tool_choice": {"type": "tool", "name": "get_time"}}, "Call the function 'get_time' in your reply."),
            ({"tool_choice": "any"}, "Call a function in your reply."),
            ({"tool_choice": "get_time"}, "Call the function 'get_time' in your reply."),
            (
                {"tool_choice": {"type": "function", "function": {"name": "get_time"}}},
                "Call the function 'get_time' in your reply.",
            ),
        ],
    )
    def test_a_tool_choice_becomes_an_instruction(self, kwargs: dict[str, Any], expected: str | None) -> None:
        with endpoint("x") as served:
            Llama3ToolLLM(served.llm(), max_retries=0).chat_with_tools(TOOLS, "Weather?", **kwargs)
        [(_, text)] = served.messages(0)
        assert ("in your reply." in text) is bool(expected)
        assert (expected or "") in text
        assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(served.bodies[0])

    @pytest.mark.parametrize("tools_in", get_args(ToolsPlace))
    @pytest.mark.parametrize(
        "choice",
        [
            "forecast",
            {"type": "tool", "name": "forecast"},
            {"type": "tool"},
            {"type": "function", "function": {"name": "forecast"}},
            {"type": "function", "function": ["get_time"]},
            3,
            ["get_time"],
        ],
        ids=str,
    )
    def test_a_tool_choice_that_is_none_is_an_error(self, choice: object, tools_in: ToolsPlace) -> None:
        message = f"or the name of a tool, not {choice!r}: the tools are get_weather, get_time"
        with pytest.raises(ToolDefinitionError, match=re.escape(message)):
            wrapped([], tools_in=tools_in).chat_with_tools(TOOLS, "Weather?", tool_choice=choice)

    def test_two_tools_of_one_name_are_an_error(self) -> None:
        tools = [FunctionTool.from_defaults(get_weather), FunctionTool.from_defaults(get_weather)]
        with pytest.raises(ToolDefinitionError, match="'get_weather' is declared twice"):
            wrapped([]).stream_chat_with_tools(tools, "Weather?")

    def test_other_keywords_reach_the_llm(self) -> None:
        with endpoint("x") as served:
            Llama3ToolLLM(served.llm()).chat_with_tools(TOOLS, "Weather?", temperature=0.7)
        assert served.bodies[0]["temperature"] == 0.7

    def test_plain_requests_are_those_of_the_llm_inside(self) -> None:
        inside = ScriptedLLM(chunks=[WEATHER])
        llm = Llama3ToolLLM(inside)
        messages = [ChatMessage(content="Weather?")]
        assert llm.chat(messages).message.content == WEATHER
        assert [response.delta for response in llm.stream_chat(messages)] == [WEATHER]
        assert llm.complete("Weather?").text == WEATHER
        assert [response.delta for response in llm.stream_complete("Weather?")] == [WEATHER]
        assert inside.prompts == ["user: Weather?\nassistant: ", "user: Weather?\nassistant: ", "Weather?", "Weather?"]

    async def test_plain_requests_asynchronously_too(self) -> None:
        llm = wrapped([WEATHER])
        messages = [ChatMessage(content="Weather?")]
        assert (await llm.achat(messages)).message.content == WEATHER
        assert [response.delta async for response in await llm.astream_chat(messages)] == [WEATHER]
        assert (await llm.acomplete("Weather?")).text == WEATHER
        assert [response.delta async for response in await llm.astream_complete("Weather?")] == [WEATHER]

    @pytest.mark.parametrize("way", [name for name in PLAIN if "chat" in name])
    async def test_a_plain_request_sends_calls_and_results_as_text(self, way: str) -> None:
        inside = ScriptedLLM(chunks=[f"Hm. {WEATHER}"])
        llm = Llama3ToolLLM(inside)
        message = llm.chat_with_tools(TOOLS, "Weather?").message
        history = [ChatMessage(content="Weather?"), message, ChatMessage(role="tool", content="Sun")]
        ask = getattr(llm, way)
        await (streamed(lambda: ask(history), nobody) if "stream" in way else whole(lambda: ask(history)))
        assert inside.prompts[1] == (
            f"user: Weather?\nassistant: Hm.\n{WEATHER}\nuser: Result of a tool: Sun\nassistant: "
        )


def test_a_tool_under_another_name_is_that_tool() -> None:
    tool = FunctionTool.from_defaults(get_weather, name="weather.get")
    request = ToolChat(tool_dicts([tool]), tools_in="request").request([])
    [named] = rename_tools([tool], request)
    assert (named.metadata.name, tool.metadata.name) == ("weather_get", "weather.get")
    assert named.metadata.to_openai_tool() == {**tool.metadata.to_openai_tool()}
    assert str(named("Paris")) == "Sun in Paris"


class TestComponent:
    def test_its_metadata_are_those_of_the_llm_inside_but_for_the_calls(self) -> None:
        inside = ScriptedLLM(chunks=[], is_chat_model=False)
        metadata = Llama3ToolLLM(inside).metadata
        assert metadata.is_function_calling_model
        assert metadata.model_copy(update={"is_function_calling_model": False}) == inside.metadata

    def test_it_serialises_and_comes_back(self) -> None:
        options: dict[str, Any] = {"formats": ["function"], "repair": True, "limits": Limits(max_calls=2)}
        llm = Llama3ToolLLM(MockLLM(max_tokens=7), tools_in="system", max_retries=2, **options)
        data = llm.to_dict()
        assert (data["class_name"], data["llm"]["class_name"]) == ("Llama3ToolLLM", "MockLLM")
        assert data["options"]["tools_in"] == "system"
        back = Llama3ToolLLM.from_dict(data)
        assert (back.to_dict(), back.options, type(back.llm)) == (data, llm.options, MockLLM)
        assert Llama3ToolLLM.from_json(llm.to_json()).to_dict() == data

    def test_an_llm_that_llama_index_cannot_load_is_given_anew(self) -> None:
        data = wrapped(["x"]).to_dict()
        with pytest.raises(ValidationError, match="Invalid LLM name: ScriptedLLM"):
            Llama3ToolLLM.from_dict(data)
        assert Llama3ToolLLM.from_dict(data, llm=ScriptedLLM(chunks=["x"])).to_dict() == data

    def test_it_can_be_pickled_and_copied(self) -> None:
        llm = Llama3ToolLLM(MockLLM())
        for other in (pickle.loads(pickle.dumps(llm)), copy.deepcopy(llm), llm.model_copy()):  # noqa: S301 (our own)
            assert other.to_dict() == llm.to_dict()

    def test_every_field_is_described(self) -> None:
        own = set(Llama3ToolLLM.model_fields) - set(ScriptedLLM.model_fields)
        assert {name for name in own if not Llama3ToolLLM.model_fields[name].description} == set()
        assert "options" in Llama3ToolLLM.model_json_schema()["properties"]

    def test_something_else_than_an_llm_is_an_error(self) -> None:
        with pytest.raises(TypeError, match=r"must be an LLM of LlamaIndex, such as .+, not a str$"):
            Llama3ToolLLM("llama3.1")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("name", "value", "other"),
        [
            ("callback_manager", CallbackManager(), CallbackManager()),
            ("system_prompt", "Be brief.", "Be long."),
            ("messages_to_prompt", str, repr),
            ("completion_to_prompt", str, repr),
            ("output_parser", Llama3JsonToolOutputParser(), Llama3JsonToolOutputParser(TOOLS)),
            ("pydantic_program_mode", PydanticProgramMode.LLM, PydanticProgramMode.FUNCTION),
            ("query_wrapper_prompt", PromptTemplate("{query_str}"), PromptTemplate("<{query_str}>")),
        ],
    )
    def test_what_predict_looks_up_is_that_of_the_llm_inside_or_given(
        self, name: str, value: object, other: object
    ) -> None:
        inside = ScriptedLLM(chunks=["x"], **{name: value})
        assert getattr(Llama3ToolLLM(inside), name) is value
        assert getattr(Llama3ToolLLM(inside, **{name: other}), name) is other

    def test_it_prepares_a_request_as_the_framework_wants_it(self) -> None:
        prepared = wrapped([])._prepare_chat_with_tools(TOOLS, "Weather?", temperature=0)  # noqa: SLF001 (the framework's name)
        assert [message.content for message in prepared["messages"]] == [f"{render_tool_prompt(DECLARED)}\n\nWeather?"]
        assert prepared["temperature"] == 0


def test_tools_in_the_request_may_be_functions_and_come_from_an_iterator() -> None:
    def now() -> str:
        """Return the time."""
        return "12:30"

    seen: list[Any] = []

    class Asked(MockFunctionCallingLLM):
        def chat_with_tools(self, tools: Any, *args: Any, **kwargs: Any) -> ChatResponse:
            del args, kwargs
            seen.extend(tools)
            return ChatResponse(message=ChatMessage(role="assistant", content="Hi"))

    Llama3ToolLLM(Asked(), tools_in="request").chat_with_tools(iter([now]), "Hi")  # type: ignore[arg-type]
    assert [tool.metadata.name for tool in seen] == ["now"]
