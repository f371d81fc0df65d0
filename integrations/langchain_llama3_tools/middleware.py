"""The middleware that lets `create_agent` work with a model whose calls come as text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from langchain_llama3_tools.model import Llama3ToolModel
from langchain_llama3_tools.options import CHAT_OPTIONS, known
from llama3_tools.chat import ChatOption, chat_options
from llama3_tools.errors import of_extra

with of_extra(
    "Llama3ToolMiddleware needs langchain 1.3 or newer: pip install 'llama3-tools[langchain-agents]'", "langchain"
):
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Llama3ToolMiddleware(AgentMiddleware[Any, Any]):
    """Lets an agent's model call tools if its calls come as text.

    It puts `Llama3ToolModel` around the model of each request. A `Llama3ToolModel` that the agent is given, or that
    other middleware chose, keeps its own options.

    >>> from langchain.agents import create_agent
    >>> from langchain_core.language_models import FakeListChatModel
    >>> def get_weather(city: str) -> str:
    ...     "The weather of a city."
    ...     return f"sunny in {city}"
    >>> llm = FakeListChatModel(
    ...     responses=['{"name": "get_weather", "parameters": {"city": "Paris"}}', "It is sunny in Paris."]
    ... )
    >>> agent = create_agent(llm, [get_weather], middleware=[Llama3ToolMiddleware()])
    >>> for message in agent.invoke({"messages": [("user", "How is the weather in Paris?")]})["messages"][1:]:
    ...     print(f"{message.type}: {message.text or message.tool_calls[0]['args']}")
    ai: {'city': 'Paris'}
    tool: sunny in Paris
    ai: It is sunny in Paris.

    `create_agent(Llama3ToolModel(llm), tools)` does the same, and is the first choice: this is for those who cannot
    change the model. Put it last in the list: if middleware after it chooses another model, calls stay text.
    """

    def __init__(self, **options: Unpack[ChatOption]) -> None:
        """Set the options of a conversation and of reading by name, as for `Llama3ToolModel`.

        Raises:
            TypeError, ValueError: there is no such option, or it has the wrong type or value.
        """
        super().__init__()
        chat_options(None, known("Llama3ToolMiddleware", options, CHAT_OPTIONS))  # which checks them
        self._options = options

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Ask the model through `Llama3ToolModel`."""
        return handler(self._wrapped(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Ask the model through `Llama3ToolModel`."""
        return await handler(self._wrapped(request))

    def _wrapped(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if isinstance(request.model, Llama3ToolModel):
            return request
        return request.override(model=Llama3ToolModel(request.model, **self._options))
