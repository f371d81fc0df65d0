"""The options of reading as LlamaIndex takes them: which forms are read, and what is told of it."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any, get_args

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.tools import FunctionTool

from integrations.llamaindex.endpoint import TOOLS, WEATHER, endpoint
from integrations.llamaindex.scripted import ScriptedLLM, chunkings
from integrations.llamaindex.test_servers import native, native_stream, piece
from integrations.llamaindex.trips import asked, kwargs, told
from integrations.llamaindex.trips import ways as each_way
from integrations.llamaindex.ways import FUNCTION_AGENTS
from llama3_tools import FormatName, Limits
from llama_index_llama3_tools import (
    Llama3JsonToolOutputParser,
    Llama3ReActOutputParser,
    Llama3ToolLLM,
)

OTHER_KEYS = '{"name": "get_weather", "args": {"city": "Paris"}}'
BROKEN = "{'name': 'get_weather', 'parameters': {'city': 'Paris'}}"
TOLD: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "other keys": ({}, OTHER_KEYS, {"deviations": ["the arguments stand under 'args'"]}),
    "repair": ({"repair": True}, BROKEN, {"repaired_from": BROKEN}),
}
PARIS = {"city": "Paris"}
MADE: dict[str, Callable[..., Any]] = {
    "parser": lambda **options: Llama3JsonToolOutputParser(TOOLS, **options),
    "LLM": lambda **options: Llama3ToolLLM(MockLLM(), **options),
    "ReAct parser": lambda **options: Llama3ReActOutputParser(TOOLS, **options),
}
made = pytest.mark.parametrize("make", MADE.values(), ids=MADE)


def entry(message: Any) -> dict[str, Any]:  # noqa: ANN401 (a message)
    [only] = told(message)
    return {key: value for key, value in only.items() if key not in ("id", "name", "written", "changes", "problems")}


@pytest.mark.parametrize(("options", "text", "expected"), TOLD.values(), ids=TOLD)
class TestWhatIsReadOtherwise:
    def test_a_parser_reads_it_and_tells(self, options: dict[str, Any], text: str, expected: dict[str, Any]) -> None:
        parser = Llama3JsonToolOutputParser(TOOLS, **options)
        for chunks in chunkings(f"Sure. {text}"):
            llm = ScriptedLLM(chunks=chunks)
            *_, last = parser.stream(llm.stream_chat([]))
            for message in (last.message, parser.promote(llm.chat([])).message):
                assert (message.content, kwargs(message), entry(message)) == ("Sure.", [PARIS], expected)
        assert entry(parser.parse(text).to_chat_message()) == expected

    @each_way
    async def test_an_llm_reads_it_and_tells(
        self, options: dict[str, Any], text: str, expected: dict[str, Any], way: str
    ) -> None:
        tool = FunctionTool.from_defaults(lambda city: city, name="get_weather", description="Tell the weather.")
        with endpoint(text) as served:
            [*_, last] = await asked(Llama3ToolLLM(served.llm(), **options), way, tool)
        assert (kwargs(last.message), entry(last.message)) == ([PARIS], expected)


@pytest.mark.parametrize(("options", "text"), [one[:2] for one in TOLD.values()], ids=TOLD)
@pytest.mark.parametrize("way", FUNCTION_AGENTS)
async def test_an_agent_runs_what_is_read_otherwise(options: dict[str, Any], text: str, way: str) -> None:
    with endpoint(text, "Sunny.") as served:
        assert await FUNCTION_AGENTS[way](Llama3ToolLLM(served.llm(), **options)) == "Sunny."
    assert [content for _, content in served.messages(1)[1:]] == [WEATHER, "Result of get_weather: Sun in Paris"]


def test_without_repair_what_is_malformed_is_text_and_nothing_is_told() -> None:
    message = Llama3JsonToolOutputParser(TOOLS).parse(f"{BROKEN} {WEATHER}").to_chat_message()
    assert (message.content, told(message)) == (BROKEN, None)


def test_what_was_changed_and_what_was_repaired_is_told_at_once() -> None:
    days = {"type": "object", "properties": {"days": {"type": "integer"}}}
    parser = Llama3JsonToolOutputParser([{"name": "wait", "parameters": days}], coerce_arguments=True, repair=True)
    text = "{'name': 'wait', 'args': {'days': '3'}}"
    [shown] = told(parser.parse(text).to_chat_message())
    assert (json.loads(shown["written"]), shown["changes"][0]["after"]) == ({"days": "3"}, 3)
    assert (shown["repaired_from"], shown["deviations"]) == (text, ["the arguments stand under 'args'"])


class TestFormats:
    FUNCTION = '<function=get_weather>{"city": "Paris"}</function>'

    @pytest.mark.parametrize(
        ("formats", "found"),
        [(None, [1, 1]), ("all", [1, 1]), (["json"], [1, 0]), (["function"], [0, 1]), ("none", [0, 0])],
    )
    def test_a_parser_reads_those_alone(self, formats: Any, found: list[int]) -> None:  # noqa: ANN401 (as they come)
        parser = Llama3JsonToolOutputParser(TOOLS, formats=formats)
        assert [len(parser.parse(output).tool_calls) for output in (WEATHER, self.FUNCTION)] == found

    @pytest.mark.parametrize(
        ("options", "found"),
        [
            ({}, [1, 1]),
            ({"formats": ["code"]}, [1, 0]),
            ({"formats": "code", "prompt_format": "function"}, [0, 1]),
            ({"formats": "all", "prompt_format": "function"}, [1, 1]),
            ({"formats": ["none", "code"]}, [1, 0]),
            *(({"formats": "none", "prompt_format": prompt_format}, [0, 0]) for prompt_format in ("json", "pythonic")),
        ],
    )
    def test_an_llm_reads_them_beside_the_one_that_it_asks_for(self, options: Any, found: list[int]) -> None:  # noqa: ANN401 (as they come)
        for output, number in zip((WEATHER, self.FUNCTION), found, strict=True):
            llm = Llama3ToolLLM(ScriptedLLM(chunks=[output]), **options)
            assert len(kwargs(llm.chat_with_tools(TOOLS, "Weather?").message)) == number

    @pytest.mark.parametrize("is_declared", [True, False])
    def test_a_pythonic_prompt_asks_for_no_code_where_nobody_runs_it(self, is_declared: bool) -> None:
        def run(code: str) -> str:
            """Run code."""
            return code

        interpreter = FunctionTool.from_defaults(run, name="code_interpreter")
        llm = Llama3ToolLLM(ScriptedLLM(chunks=["<|python_tag|>5 + 5<|eom_id|>"]), prompt_format="pythonic")
        message = llm.chat_with_tools([*TOOLS, interpreter] if is_declared else TOOLS, "Add!").message
        assert kwargs(message) == ([{"code": "5 + 5"}] if is_declared else [])
        assert Llama3ReActOutputParser().parse("<|python_tag|>5 + 5").get_content().endswith("5 + 5")


class TestLimits:
    OUTPUT = f"{WEATHER} {WEATHER}"
    ONE = Limits(max_calls=1)

    def test_what_goes_beyond_is_text(self) -> None:
        parser = Llama3JsonToolOutputParser(limits=self.ONE)
        for one in (parser, copy.deepcopy(parser), pickle.loads(pickle.dumps(parser))):  # noqa: S301 (made here)
            assert len(one.parse(self.OUTPUT).tool_calls) == 1
            *_, last = one.stream(ScriptedLLM(chunks=list(self.OUTPUT)).stream_chat([]))
            assert (last.message.content, kwargs(last.message)) == (WEATHER, [PARIS])

    def test_for_an_llm_too(self) -> None:
        for limits, number in ((Limits(), 2), (self.ONE, 1)):
            llm = Llama3ToolLLM(ScriptedLLM(chunks=[self.OUTPUT]), limits=limits)
            answer = llm.chat_with_tools(TOOLS, "Weather?", allow_parallel_tool_calls=True)
            assert len(kwargs(answer.message)) == number

    @pytest.mark.parametrize("way", ["whole", "whole, async", "streamed", "streamed, async"])
    @pytest.mark.parametrize("coerce_arguments", [False, True])
    async def test_for_calls_that_the_server_found_too(self, way: str, coerce_arguments: bool) -> None:
        city = {
            "deep": '{"city": [["Paris"]]}',
            "long": json.dumps({"city": "Paris" * 60}),
            "good": '{"city": "Paris"}',
        }
        calls = [(str(place), "get_weather", city[kind]) for place, kind in enumerate(["deep", "long", *["good"] * 3])]
        streamed_calls = native_stream(
            *(piece(place, arguments, call_id, name) for place, (call_id, name, arguments) in enumerate(calls))
        )
        with endpoint(streamed_calls if "streamed" in way else native(*calls)) as served:
            limits = Limits(max_depth=2, max_call_length=256, max_calls=2)
            llm = Llama3ToolLLM(served.llm(), tools_in="request", limits=limits, coerce_arguments=coerce_arguments)
            responses = await asked(llm, way, TOOLS[0])
        message = responses[-1].message
        assert (kwargs(message), message.content) == (
            [PARIS, PARIS],
            " ".join(f'{{"name": "get_weather", "parameters": {city[kind]}}}' for kind in ("deep", "long", "good")),
        )
        assert all(arguments == PARIS for response in responses for arguments in kwargs(response.message))

    @pytest.mark.parametrize("depth", [1, 2])
    def test_making_arguments_fit_nests_them_no_deeper(self, depth: int) -> None:
        def tag(labels: list[str]) -> str:
            """Tag."""
            return f"{labels}"

        tool, limits = FunctionTool.from_defaults(tag), Limits(max_depth=depth)
        expected = {"labels": ["sun"] if depth > 1 else "['sun']"}
        written = """{"labels": "['sun']"}"""
        with endpoint(native(("1", "tag", written))) as served:
            llm = Llama3ToolLLM(served.llm(), tools_in="request", limits=limits, max_retries=0)
            assert kwargs(llm.chat_with_tools([tool], "Tag!").message) == [expected]


class TestChecks:
    @made
    def test_limits_that_are_none_or_too_low_are_an_error(self, make: Callable[..., Any]) -> None:
        for limits in (5, None, (1, "300"), (127, 300, 1, 1, 1), Limits(max_calls="3"), Limits(max_depth=[])):  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="limits are Limits of whole numbers"):
                make(limits=limits)
        with pytest.raises(ValueError, match="calls is at least 1, not 0"):
            make(limits=Limits(max_calls=0))

    @made
    @pytest.mark.parametrize("formats", [["xml"], []])
    def test_formats_that_nobody_knows_are_an_error(self, make: Callable[..., Any], formats: list[str]) -> None:
        with pytest.raises(ValueError, match=f"formats can be {', '.join(get_args(FormatName))}, not"):
            make(formats=formats)

    @made
    @pytest.mark.parametrize("given", [1, 0, "yes", None])
    def test_what_is_true_or_false_is_nothing_else(self, make: Callable[..., Any], given: object) -> None:
        options = ["coerce_arguments", "repair", "split_reasoning", "starts_reasoning"]
        for option in [*options, *(["strict", "multiple"] if make is MADE["parser"] else [])]:
            with pytest.raises(TypeError, match=f"^{option} must be True or False, not {given!r}$"):
                make(**{option: given})

    @pytest.mark.parametrize("make", [Llama3JsonToolOutputParser, Llama3ReActOutputParser])
    def test_a_repair_without_tools_is_an_error(self, make: Callable[..., Any]) -> None:
        with pytest.raises(ValueError, match="repair needs the names of the tools: pass tools, too"):
            make(repair=True)

    def test_an_llm_with_options_can_be_stored_and_loaded(self) -> None:
        options: dict[str, Any] = {
            "formats": ["function"],
            "repair": True,
            "split_reasoning": True,
            "starts_reasoning": True,
            "limits": Limits(max_calls=2),
        }
        llm = Llama3ToolLLM(MockLLM(), prompt_format="function", max_retries=2, **options)
        assert Llama3ToolLLM.from_json(llm.to_json()).options == llm.options
        assert llm.options.read.limits == Limits(max_calls=2)
