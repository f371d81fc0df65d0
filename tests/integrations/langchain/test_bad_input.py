"""Tools and options that are wrong: each says what to do."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import pytest
from langchain.chat_models import init_chat_model
from langchain_core.language_models import FakeListChatModel
from langchain_core.tools import StructuredTool

from integrations.langchain.agents import (
    QUESTION,
    agent_on,
    conversations,
    get_weather,
    serving,
)
from langchain_llama3_tools import Llama3JsonToolOutputParser, Llama3ToolMiddleware, Llama3ToolModel
from llama3_tools import ToolDefinitionError

MISSPELT = {"type": "objct", "properties": {}}


class TestTools:
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ({"name": "get_weather", "parameters": {"type": "object"}}, "'get_weather' is declared twice"),
            (StructuredTool.from_function(lambda: "", name="f", description="F.", args_schema=MISSPELT), "of f are"),
        ],
        ids=["a name twice", "a misspelt type"],
    )
    def test_a_bad_one_is_an_error_when_it_is_bound(self, bad: Any, message: str) -> None:
        with pytest.raises(ToolDefinitionError, match=rf"^tools\[1\]: .*{message}"):
            Llama3ToolModel(FakeListChatModel(responses=[])).bind_tools([get_weather, bad])

    def test_one_that_is_there_twice_is_shown_once(self) -> None:
        with serving("Hi.") as server:
            agent_on(server, get_weather, get_weather).invoke(QUESTION)
        assert conversations(server)[0][0][1].count('"name": "get_weather"') == 1


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
        [5, FakeListChatModel, FakeListChatModel(responses=[]).bind(stop=["x"]), init_chat_model()],
        ids=["a number", "a class", "a binding", "one that is chosen later"],
    )
    def test_anything_but_a_chat_model_is_an_error_that_says_so(self, llm: Any) -> None:
        with pytest.raises(TypeError, match=r"llm must be a chat model, such as .* init_chat_model\(…\) with the name"):
            Llama3ToolModel(llm)
