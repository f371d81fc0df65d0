"""Tools and options that are wrong, tools that fail, and tools that do not exist: each says what to do, or recovers."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import pytest
from langchain.agents.middleware import AgentMiddleware, wrap_tool_call
from langchain.agents.structured_output import ToolStrategy
from langchain.chat_models import init_chat_model
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool, ToolException, tool
from pydantic import BaseModel

from integrations.langchain.agents import (
    PARIS,
    QUESTION,
    add,
    agent_on,
    call,
    conversations,
    get_weather,
    in_every_way,
    invoked,
    serving,
    streamed,
)
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolMiddleware, Llama3ToolModel
from llama3_tools import ToolDefinitionError


@tool
def fail(why: str) -> str:
    """Fail."""
    raise RuntimeError(why)


def told(error: Exception, request: Any) -> ToolMessage:
    return ToolMessage(
        f"{type(error).__name__}: {error}",
        name=request.tool_call["name"],
        tool_call_id=request.tool_call["id"],
        status="error",
    )


@wrap_tool_call
def tell(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except RuntimeError as error:
        return told(error, request)


@wrap_tool_call
async def tell_async(request: Any, handler: Any) -> Any:
    try:
        return await handler(request)
    except RuntimeError as error:
        return told(error, request)


class TestToolsThatFail:
    FAILS = call("fail", why="no network")

    @in_every_way
    def test_an_error_ends_the_agent_as_it_is(self, run: Any) -> None:
        with serving(self.FAILS) as server, pytest.raises(RuntimeError, match="no network"):
            run(agent_on(server, fail))

    @in_every_way
    def test_unless_the_model_is_told_and_goes_on(self, run: Any) -> None:
        telling = tell if run in {invoked, streamed} else tell_async
        with serving(self.FAILS, "There is none.") as server:
            messages = run(agent_on(server, fail, before=[telling]))["messages"]
        assert conversations(server)[1][-1] == ("user", "Error of fail: RuntimeError: no network")
        assert messages[-1].text == "There is none."

    @in_every_way
    def test_or_the_tool_tells_it_itself(self, run: Any) -> None:
        def unreachable(why: str) -> str:
            """Fail."""
            raise ToolException(why)

        telling = StructuredTool.from_function(unreachable, name="fail", handle_tool_error=True)
        with serving(self.FAILS, "There is none.") as server:
            messages = run(agent_on(server, telling))["messages"]
        assert conversations(server)[1][-1] == ("user", "Error of fail: no network")
        assert messages[-1].text == "There is none."

    @in_every_way
    def test_one_that_is_called_with_wrong_arguments_says_so(self, run: Any) -> None:
        with serving(call("add", a="two"), call("add", a=2, b=2), "4") as server:
            messages = run(agent_on(server, coerce_arguments=False))["messages"]
        assert messages[2].status == "error"
        assert messages[4].text == "4"
        assert conversations(server)[1][-1][1].startswith("Error of add: Error invoking tool 'add'")


class TestToolsThatAreNot:
    @in_every_way
    def test_a_tool_that_middleware_withholds_never_runs_if_undeclared_ones_stay_text(self, run: Any) -> None:
        class Withholding(AgentMiddleware[Any, Any]):
            def wrap_model_call(self, request: Any, handler: Any) -> Any:
                return handler(request.override(tools=[get_weather]))

            async def awrap_model_call(self, request: Any, handler: Any) -> Any:
                return await handler(request.override(tools=[get_weather]))

        with serving(call("add", a=1, b=2)) as server:
            messages = run(agent_on(server, before=[Withholding()], on_unknown_tool="text"))["messages"]
        assert [message.type for message in messages] == ["human", "ai"]


class Forecast(BaseModel):
    """The forecast."""

    city: str


def of_openai(name: str, parameters: object) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


MISSPELT = {"type": "objct", "properties": {}}


class TestTools:
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (of_openai("get_weather", {"type": "object"}), "'get_weather' is declared twice"),
            (of_openai("f", MISSPELT), "the parameters of f are"),
            (StructuredTool.from_function(lambda: "", name="f", description="F.", args_schema=MISSPELT), "of f are"),
        ],
        ids=["a name twice", "a misspelt type", "a tool object"],
    )
    def test_a_bad_one_is_an_error_when_it_is_bound(self, bad: Any, message: str) -> None:
        with pytest.raises(ToolDefinitionError) as error:
            Llama3ToolModel(FakeListChatModel(responses=[])).bind_tools([get_weather, bad])
        assert str(error.value).startswith("tools[1]: ")
        assert message in str(error.value)

    def test_an_answer_s_schema_of_a_tool_s_name_is_another_one(self) -> None:
        @tool("Forecast")
        def forecast(days: int) -> str:
            """The forecast."""
            return f"{days} days of rain"

        with serving() as server, pytest.raises(ToolDefinitionError, match="'Forecast' is declared twice"):
            agent_on(server, forecast, response_format=ToolStrategy(Forecast)).invoke(QUESTION)

    def test_of_two_that_langchain_has_thrown_together_the_model_sees_the_one_that_runs(self) -> None:
        @tool("get_weather")
        def other(city: str) -> str:
            """Another."""
            return f"rain in {city}"

        with serving(PARIS, "Rain.") as server:
            messages = agent_on(server, get_weather, other).invoke(QUESTION)["messages"]
        assert messages[2].text == "rain in Paris"
        assert "Another." in conversations(server)[0][0][1]
        assert "The weather of a city." not in conversations(server)[0][0][1]

    def test_one_that_is_there_twice_is_shown_once(self) -> None:
        bound = Llama3ToolModel(FakeListChatModel(responses=[])).bind_tools([Forecast, Forecast.model_json_schema()])
        assert len(bound.kwargs["tools"]) == 1  # type: ignore[attr-defined]
        with serving("Hi.") as server:
            agent_on(server, get_weather, get_weather).invoke(QUESTION)
        assert conversations(server)[0][0][1].count('"name": "get_weather"') == 1

    def test_one_that_is_no_list_is_an_error_that_says_so(self) -> None:
        with pytest.raises(TypeError, match="put it in a list"):
            Llama3ToolModel(FakeListChatModel(responses=[])).bind_tools(add)  # type: ignore[arg-type]


class TestOptions:
    MAKERS: ClassVar[dict[str, Any]] = {
        "Llama3ToolModel": partial(Llama3ToolModel, FakeListChatModel(responses=[])),
        "Llama3ToolMiddleware": Llama3ToolMiddleware,
        "Llama3JsonToolOutputParser": Llama3JsonToolOutputParser,
    }

    @pytest.mark.parametrize("owner", MAKERS)
    @pytest.mark.parametrize(
        ("option", "hint"),
        [("repare", "did you mean 'repair'?"), ("temperature", "belong to the model itself"), ("progress", "")],
    )
    def test_one_that_there_is_not_names_the_class_and_the_nearest(self, owner: str, option: str, hint: str) -> None:
        with pytest.raises(TypeError, match=f"^{owner} has no option '{option}'; ") as error:
            self.MAKERS[owner](**{option: 0})
        assert str(error.value).endswith(hint)

    def test_one_of_langchain_s_is_a_neighbour_as_well(self) -> None:
        with pytest.raises(TypeError, match="did you mean 'rate_limiter'"):
            self.MAKERS["Llama3ToolModel"](rate_limitr=None)

    def test_a_wrong_value_is_an_error_when_it_is_made(self) -> None:
        for owner in ("Llama3ToolModel", "Llama3ToolMiddleware"):
            with pytest.raises(ValueError, match="max_retries must be 0 or more, not -1"):
                self.MAKERS[owner](max_retries=-1)

    @pytest.mark.parametrize(
        "llm",
        [5, FakeListChatModel, FakeListChatModel(responses=[]).bind(stop=["x"]), init_chat_model(temperature=0)],
        ids=["a number", "a class", "a binding", "one that is chosen later"],
    )
    def test_anything_but_a_chat_model_is_an_error_that_says_so(self, llm: Any) -> None:
        with pytest.raises(TypeError, match=r"llm must be a chat model, such as .* init_chat_model\(…\) with the name"):
            Llama3ToolModel(llm)
