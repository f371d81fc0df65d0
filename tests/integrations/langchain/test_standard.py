"""LangChain's own tests of a chat model, on the wrapper."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from langchain_tests.unit_tests import ChatModelUnitTests

from langchain_llama3_tools import Llama3ToolModel


class WrappedChatOpenAI(Llama3ToolModel):
    """The wrapper, with the parameters of the wrapped model: they are that model's business."""

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return that it is not: it takes other arguments than the wrapper, whose own JSON is tested elsewhere."""
        return False

    def __init__(self, **parameters: Any) -> None:
        super().__init__(ChatOpenAI(model="llama3.1", base_url="http://127.0.0.1:9/v1", **parameters))


class TestLlama3ToolModel(ChatModelUnitTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return WrappedChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"api_key": "test"}

    @property
    def supports_model_override(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str:
        return "llama3.2"
