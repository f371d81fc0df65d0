"""What is read beside the forms that models are asked for: chosen forms, other keys, and repairs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, get_args

import pytest
from langchain_core.tools import tool

from chunkings import chunkings
from integrations.langchain.agents import (
    PARIS,
    QUESTION,
    agent_on,
    call,
    conversations,
    get_weather,
    in_every_way,
    serving,
    shown,
)
from integrations.langchain.scripted import ScriptedChatModel, as_text_chunks, counted_ids, fields, streamed, summed
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolMiddleware, Llama3ToolModel
from llama3_tools import FormatName, Limits, ReadOptions


@tool
def wait(days: int) -> str:
    """Wait."""
    return f"waited {days!r}"


OTHER_KEYS = '{"name": "get_weather", "args": {"city": "Paris"}}'
BOOLS = ["coerce_arguments", "repair", "split_reasoning", "starts_reasoning"]
BROKEN = """{"name": "get_weather", "parameters": {'city': 'Paris'}}"""
CUT_OFF = """{"name": "get_weather", "parameters": {'city': 'Par"""


def parser(**options: Any) -> Llama3JsonToolOutputParser:  # noqa: ANN401 (any option)
    return Llama3JsonToolOutputParser(**{"tools": [get_weather, wait], "id_factory": counted_ids(), **options})


def bound(output: str, **options: Any) -> Any:  # noqa: ANN401 (LangChain's own type for it says less)
    llm = ScriptedChatModel(chunks=as_text_chunks([output[:9], output[9:]]))
    return Llama3ToolModel(llm, id_factory=counted_ids(), **options).bind_tools([get_weather, wait])


def model(**options: Any) -> Llama3ToolModel:  # noqa: ANN401 (any option)
    return Llama3ToolModel(ScriptedChatModel(chunks=[]), **options)


class TestWhatIsChecked:
    """When the object is made, and not with a model's first answer."""

    @pytest.mark.parametrize("make", [parser, model, Llama3ToolMiddleware])
    @pytest.mark.parametrize(
        ("formats", "words"), [("yaml", "not 'yaml'"), (["json", "yaml"], "not 'yaml'"), ((), "not an empty list")]
    )
    def test_formats(self, make: Callable[..., object], formats: object, words: str) -> None:
        with pytest.raises(ValueError, match=f"formats can be {', '.join(get_args(FormatName))}, {words}"):
            make(formats=formats)

    @pytest.mark.parametrize("make", [parser, model, Llama3ToolMiddleware])
    def test_limits(self, make: Callable[..., object]) -> None:
        for limits in (5, None, (1, "300"), (127, 300, 1, 1, 1), Limits(max_calls="3"), Limits(max_depth=[])):  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="limits are Limits of whole numbers"):
                make(limits=limits)
        with pytest.raises(ValueError, match="calls is at least 1, not 0"):
            make(limits=Limits(max_calls=0))

    @pytest.mark.parametrize("given", [1, 0, "yes", None])
    @pytest.mark.parametrize(
        ("make", "options"),
        [
            (parser, BOOLS),
            (model, BOOLS),
            (Llama3ToolMiddleware, BOOLS),
        ],
    )
    def test_what_is_true_or_false(self, make: Callable[..., object], options: list[str], given: object) -> None:
        for option in options:
            with pytest.raises(TypeError, match=f"^{option} must be True or False, not {given!r}$"):
                make(**{option: given})

    def test_a_repair_goes_by_tools(self) -> None:
        with pytest.raises(ValueError, match="repair needs the names of the tools: pass tools, too"):
            parser(tools=None, repair=True)

    @pytest.mark.parametrize("option", [{"formats": "json"}, {"repair": True}])
    def test_the_strict_format_takes_no_other(self, option: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="strict=True reads one form"):
            parser(strict=True, **option)


class TestFormats:
    PYTHONIC = "[get_weather(city='Paris')]"
    TAGGED = '<function=get_weather>{"city": "Paris"}</function>'

    @pytest.mark.parametrize(
        ("formats", "read"),
        [
            (None, "abc"),
            ("all", "abc"),
            ("json", "a"),
            (["pythonic", "function"], "bc"),
            (iter(["pythonic"]), "b"),
            ("none", ""),
        ],
    )
    def test_the_parser_reads_those_that_it_is_given(self, formats: Any, read: str) -> None:  # noqa: ANN401
        made = parser(formats=formats)
        for name, output in {"a": PARIS, "b": self.PYTHONIC, "c": self.TAGGED}.items():
            for message in (made.invoke(output), summed(streamed(made, list(output)))):
                assert bool(message.tool_calls) == (name in read)
                assert message.content == ("" if name in read else output)

    @pytest.mark.parametrize(
        ("prompt_format", "formats", "read"),
        [
            ("json", None, "abc"),
            ("json", ["pythonic"], "ab"),
            ("function", ["json"], "ac"),
            ("pythonic", ["pythonic"], "b"),
            ("pythonic", "json", "ab"),
            ("function", ["none", "json"], "ac"),
            ("json", "none", ""),
            ("pythonic", ["none"], ""),
        ],
    )
    def test_the_model_reads_them_beside_that_of_the_prompt(self, prompt_format: str, formats: Any, read: str) -> None:  # noqa: ANN401
        for name, output in {"a": PARIS, "b": self.PYTHONIC, "c": self.TAGGED}.items():
            made = bound(output, prompt_format=prompt_format, formats=formats)
            for message in (made.invoke("Hi"), summed(made.stream("Hi"))):
                assert bool(message.tool_calls) == (name in read)

    @in_every_way
    def test_an_agent_that_reads_none_calls_none(self, run: Any) -> None:  # noqa: ANN401 (one of the four)
        with serving(PARIS) as server:
            assert shown(run(agent_on(server, formats="none"))["messages"])[1:] == [("ai", PARIS)]

    def test_a_pythonic_prompt_asks_for_code_only_where_a_tool_runs_it(self) -> None:
        output = "<|python_tag|>print(1)<|eom_id|>"
        assert bound(output, prompt_format="pythonic").invoke("Hi").tool_calls == []
        runs_code = {"name": "code_interpreter", "parameters": {"properties": {"code": {"type": "string"}}}}
        llm = ScriptedChatModel(chunks=as_text_chunks([output]))
        message = Llama3ToolModel(llm, prompt_format="pythonic").bind_tools([runs_code]).invoke("Hi")
        assert [made["args"] for made in message.tool_calls] == [{"code": "print(1)"}]

    def test_a_cache_tells_models_apart_by_them(self) -> None:
        made = [
            model(),
            *(model(**{name: True}) for name in ("repair", "split_reasoning", "starts_reasoning")),
            model(formats="json"),
            model(formats="all"),
            model(limits=Limits(max_calls=2)),
        ]
        assert len({one._get_llm_string() for one in made}) == len(made)  # noqa: SLF001 (what a cache asks)


class TestLimits:
    OUTPUT = f"{PARIS} {PARIS}"

    def test_what_goes_beyond_is_text(self) -> None:
        assert len(parser().invoke(self.OUTPUT).tool_calls) == 2
        for made in (parser(limits=Limits(max_calls=1)), parser(options=ReadOptions(limits=Limits(max_calls=1)))):
            for message in (made.invoke(self.OUTPUT), summed(streamed(made, list(self.OUTPUT)))):
                assert (len(message.tool_calls), message.content) == (1, PARIS)

    def test_for_the_model_too(self) -> None:
        for limits, number in ((Limits(), 2), (Limits(max_calls=1), 1)):
            made = bound(self.OUTPUT, limits=limits)
            for message in (made.invoke("Hi"), summed(made.stream("Hi"))):
                assert len(message.tool_calls) == number

    @in_every_way
    def test_in_agents(self, run: Any) -> None:  # noqa: ANN401 (one of the four)
        with serving(self.OUTPUT, "It is sunny.") as server:
            messages = run(agent_on(server, limits=Limits(max_calls=1)))["messages"]
        told = [(message.status, message.text) for message in messages if message.type == "tool"]
        assert ("success", "sunny in Paris") in told
        assert [status for status, _ in told] == ["success"], "calls that are too many are no attempts (principle 7)"

    def test_a_call_beyond_the_rejections_is_not_told(self) -> None:
        broken = PARIS.replace("}}", ",}}")
        with serving(f"{broken} {broken}", PARIS, "It is sunny.") as server:
            agent_on(server, limits=Limits(max_rejections=1)).invoke(QUESTION)
        told = conversations(server)[1][-1][1]
        assert told.startswith("Error of get_weather: The call is malformed, and was not run: ")
        assert told.count("Error of") == 1

    @pytest.mark.parametrize(
        ("limits", "city", "detail"),
        [
            (Limits(max_depth=1), ["Paris"], "arguments nested deeper than 1 levels"),
            (Limits(max_call_length=256), "Paris" * 60, "longer than 256 characters"),
        ],
    )
    def test_an_agent_s_model_is_asked_for_a_smaller_call(self, limits: Limits, city: object, detail: str) -> None:
        with serving(call("get_weather", city=city), PARIS, "It is sunny.") as server:
            messages = agent_on(server, limits=limits).invoke({"messages": [("user", "Hi")]})["messages"]
        told = (
            f"Error of get_weather: The call is beyond a limit, and was not run: {detail}. Write a smaller one, in the"
        )
        assert conversations(server)[1][-1][1].startswith(told)
        assert messages[-1].text == "It is sunny."

    def test_copies_have_them(self) -> None:
        made = Llama3JsonToolOutputParser(limits=Limits(max_calls=1))
        for one in (copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made.model_copy()):  # noqa: S301 (made here)
            assert one.options.limits == made.options.limits
            assert len(one.invoke(self.OUTPUT).tool_calls) == 1


class TestOtherKeys:
    def test_what_deviates_is_told(self) -> None:
        for pieces in chunkings(f"Sure. {OTHER_KEYS} {PARIS}"):
            message = parser().invoke("".join(pieces))
            assert [made["args"] for made in message.tool_calls] == [{"city": "Paris"}, {"city": "Paris"}]
            [told] = message.response_metadata["coerced_arguments"]
            assert (told["id"], told["name"], told["changes"], told["problems"]) == ("call_0", "get_weather", [], [])
            assert [sentence for sentence in told["deviations"] if "args" in sentence]
            assert "repaired_from" not in told
            chunks = as_text_chunks(pieces)
            summed_up = summed(streamed(parser(), chunks))
            assert fields(summed_up) == fields(parser().invoke(summed(chunks)))

    def test_a_documented_call_has_nothing_to_tell(self) -> None:
        assert parser().invoke(PARIS).response_metadata == {}

    def test_of_tools_that_nobody_declared_they_are_text(self) -> None:
        assert parser(tools=None).invoke(OTHER_KEYS).content == OTHER_KEYS

    def test_beside_what_is_made_to_fit(self) -> None:
        output = '{"name": "wait", "args": {"days": "3"}}'
        message = parser(coerce_arguments=True).invoke(output)
        [told] = message.response_metadata["coerced_arguments"]
        assert (len(told["changes"]), len(told["deviations"]), message.tool_calls[0]["args"]) == (1, 1, {"days": 3})

    async def test_through_the_model_in_every_way_to_ask(self) -> None:
        expected = bound(OTHER_KEYS).invoke("Hi")
        assert expected.tool_calls[0]["args"] == {"city": "Paris"}
        for message in (
            await bound(OTHER_KEYS).ainvoke("Hi"),
            summed(bound(OTHER_KEYS).stream("Hi")),
            summed([chunk async for chunk in bound(OTHER_KEYS).astream("Hi")]),
        ):
            assert message.tool_calls == expected.tool_calls
            assert message.response_metadata == expected.response_metadata

    @in_every_way
    def test_in_agents(self, run: Any) -> None:  # noqa: ANN401 (one of the four)
        with serving(OTHER_KEYS, "It is sunny.") as server:
            messages = run(agent_on(server))["messages"]
        assert shown(messages)[1:] == [("ai", [{"city": "Paris"}]), ("tool", "sunny in Paris"), ("ai", "It is sunny.")]


class TestRepair:
    def test_what_the_model_wrote_is_told(self) -> None:
        output = f"Sure. {BROKEN} {PARIS}"
        for pieces in chunkings(output):
            message = parser(repair=True).invoke("".join(pieces))
            assert message.content == "Sure."
            assert [made["args"] for made in message.tool_calls] == [{"city": "Paris"}, {"city": "Paris"}]
            [told] = message.response_metadata["coerced_arguments"]
            assert (told["id"], told["repaired_from"], "deviations" in told) == ("call_0", BROKEN, False)
            chunks = as_text_chunks(pieces)
            summed_up = summed(streamed(parser(repair=True), chunks))
            assert fields(summed_up) == fields(parser(repair=True).invoke(summed(chunks)))

    def test_by_default_it_is_text_and_what_is_cut_off_always(self) -> None:
        for made, output in ((parser(), BROKEN), (parser(repair=True), CUT_OFF)):
            for message in (made.invoke(output), summed(streamed(made, list(output)))):
                assert (message.content, message.tool_calls) == (output, [])
                assert [invalid["name"] for invalid in message.invalid_tool_calls] == ["get_weather"]

    def test_arguments_are_made_to_fit(self) -> None:
        message = parser(repair=True, coerce_arguments=True).invoke("""{"name": "wait", 'parameters': {'days': '3'}}""")
        [told] = message.response_metadata["coerced_arguments"]
        assert (message.tool_calls[0]["args"], len(told["changes"])) == ({"days": 3}, 1)

    @in_every_way
    def test_in_agents_it_takes_no_turn_of_the_model(self, run: Any) -> None:  # noqa: ANN401 (one of the four)
        with serving(BROKEN, "It is sunny.") as server:
            messages = run(agent_on(server, repair=True))["messages"]
        assert shown(messages)[1:] == [("ai", [{"city": "Paris"}]), ("tool", "sunny in Paris"), ("ai", "It is sunny.")]
        assert messages[1].response_metadata["coerced_arguments"][0]["repaired_from"] == BROKEN

    def test_what_cannot_be_is_still_sent_back(self) -> None:
        with serving(CUT_OFF, call("get_weather", city="Paris"), "It is sunny.") as server:
            messages = agent_on(server, repair=True).invoke({"messages": [("user", "Hi")]})["messages"]
        assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
