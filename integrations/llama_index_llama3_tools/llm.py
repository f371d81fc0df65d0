# ruff: noqa: ANN401, FBT001, FBT002  # the framework's signatures
"""Any LLM as a function calling one: the tools go into the prompt, and the calls come out of the text."""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.bridge.pydantic import Field, PrivateAttr, SerializeAsAny, WithJsonSchema, field_serializer
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # it exports none
from llama_index.core.llms import (
    LLM,
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.tools import BaseTool, FunctionTool
from llama_index.core.types import BaseOutputParser, PydanticProgramMode

from llama3_tools import render_tool_call
from llama3_tools.chat import (
    REFUSED_TOOL_CALLS,
    ChatOption,
    ChatOptions,
    ClassCheck,
    RefusedCall,
    Request,
    add_advice,
    chat_options,
    kept_chat,
)
from llama3_tools.errors import a_type, require_options
from llama_index_llama3_tools.errors import MalformedToolCallError
from llama_index_llama3_tools.messages import NO_PLACE, to_dicts, to_messages, with_own_roles
from llama_index_llama3_tools.structured import GrowingObject
from llama_index_llama3_tools.tools import as_tools, class_check, output_tool, rename_tools, tool_dicts
from llama_index_llama3_tools.turns import Turn

if TYPE_CHECKING:
    from typing_extensions import Unpack


dispatcher = get_dispatcher(__name__)


class _Option(ChatOption, total=False):
    """The options by name, and what `predict` and the like look up on the LLM that they are called on."""

    callback_manager: CallbackManager
    rate_limiter: Any
    system_prompt: str | None
    messages_to_prompt: Any
    completion_to_prompt: Any
    output_parser: BaseOutputParser | None
    pydantic_program_mode: PydanticProgramMode | str
    query_wrapper_prompt: BasePromptTemplate | None


_OF_REQUESTS = {"callback_manager", "rate_limiter"}
"""What the wrapped LLM reports its requests by, and waits for."""
_OPTIONS = (*(ChatOption.__optional_keys__ - {"read"} - NO_PLACE), *LLM.model_fields)


class Llama3ToolLLM(FunctionCallingLLM):
    """An LLM that calls tools, around any LLM of LlamaIndex: for `FunctionAgent`, workflows and structured output.

    The model is shown its tools in the words that Llama 3.1 was trained on. The calls in its answer, whole or streamed,
    become `ToolCallBlock`s, each as soon as it is complete; no piece of their JSON is in a delta. The history is sent
    as text, and your messages are never changed. Without tools (`chat`, `complete`, …) the LLM answers as it
    always does. `docs/chat.md` says which calls run, and when the model is asked again.

    It keeps no state between requests: many agents may share it.

    >>> from llama_index.core.llms import MockLLM
    >>> from llama_index.core.tools import FunctionTool
    >>> def get_weather(city: str) -> str:
    ...     "Tell the weather of a city."
    ...     return f"Sun in {city}"
    >>> llm = Llama3ToolLLM(MockLLM())  # it repeats what it is told
    >>> answer = 'Let me check. {"name": "get_weather", "parameters": {"city": "Rome"}}'
    >>> tools = [FunctionTool.from_defaults(get_weather)]
    >>> response = llm.chat_with_tools(tools, answer)
    >>> llm.get_tool_calls_from_response(response)[0].tool_kwargs
    {'city': 'Rome'}
    >>> thinking = Llama3ToolLLM(MockLLM(), split_reasoning=True)
    >>> thinking.chat_with_tools(tools, f"<think>Hm.</think>{answer}").message.blocks[0].content
    'Hm.'

    Args:
        llm: the LLM that answers; one for chats or one that completes text.
        **options: the fields of `ChatOptions` and `ReadOptions`, by name. With `tools_in="request"`, the tools go
            through the LLM's own tool calling; calls in the text are read as well. LlamaIndex has no messages of the
            role `ipython`. Also the fields that all LLMs have, which are those of `llm` by default. A
            `callback_manager` or `rate_limiter` is given to a copy of `llm`, which then answers.

    Raises:
        TypeError: `llm` is not an LLM of LlamaIndex, or an option does not exist or has the wrong type.
        ValueError: an option has a value that it cannot have.
    """

    llm: SerializeAsAny[LLM] = Field(description="The LLM that answers.")
    options: Annotated[ChatOptions, WithJsonSchema({"type": "string"})] = Field(
        description="How conversations are held."
    )
    _class_check: ClassCheck | None = PrivateAttr(default=None)
    """Says what does not fit in an object, if a program wants one."""

    def __init__(self, llm: LLM, **options: Unpack[_Option]) -> None:
        if not isinstance(llm, LLM):
            raise TypeError(f"llm must be an LLM of LlamaIndex, such as OpenAILike(…), not {a_type(llm)}")
        given: dict[str, Any] = dict(options)
        pickled = given.pop("options", None)
        require_options("Llama3ToolLLM", given, _OPTIONS, f": give it to the {type(llm).__name__}")
        of_llm = {name: value for name, value in given.items() if name in LLM.model_fields}
        changes = {name: value for name, value in given.items() if name not in of_llm}
        inherited = {name: getattr(llm, name) for name in LLM.model_fields if hasattr(llm, name)}
        chosen = chat_options(pickled, changes)
        if chosen.tool_role == "ipython":
            raise ValueError('LlamaIndex has no role "ipython": use tool_role="user" or "tool"')
        super().__init__(llm=llm, options=chosen, **{**inherited, **of_llm})
        for name in _OF_REQUESTS & given.keys():
            setattr(self, name, given[name])
        if not getattr(llm, "is_chat_model", True) and "is_chat_model" not in llm.model_fields_set:
            warnings.warn(
                f"{type(llm).__name__} completes text, and does not chat: set is_chat_model=True, as most servers "
                "chat. is_chat_model=False says that it is meant",
                stacklevel=2,
            )

    def __setattr__(self, name: str, value: object) -> None:
        """Set a field. What requests are reported by and wait for is set on a copy of the wrapped LLM, too."""
        super().__setattr__(name, value)
        if name in _OF_REQUESTS and getattr(self.llm, name) is not value:
            self.llm = self.llm.model_copy(update={name: value})

    @field_serializer("options")
    def _dump(self, options: ChatOptions) -> str:
        return repr(options)

    @classmethod
    def class_name(cls) -> str:
        """Return its name in serialised form."""
        return "Llama3ToolLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The metadata of the wrapped LLM, with function calling."""
        try:
            metadata = self.llm.metadata
        except Exception as error:  # `Ollama` asks its server
            add_advice(error, self.llm, "user")
            raise
        return metadata.model_copy(update={"is_function_calling_model": True})

    @property
    def model(self) -> str:
        """The name of the model, under the name that LlamaIndex's LLMs use."""
        return self.metadata.model_name

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Let the LLM answer a conversation without tools. Calls and results in the history are sent as text."""
        return self._plain(messages, kwargs).whole("chat")

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Let the LLM answer a conversation without tools; see `chat`."""
        return await self._plain(messages, kwargs).awhole("achat")

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        return self._plain(messages, kwargs).stream("stream_chat")

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """Let the LLM stream its answer to a conversation without tools; see `chat`."""
        return self._plain(messages, kwargs).astream("astream_chat")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Let the LLM complete a text."""
        return self._completing(prompt, formatted=formatted, **kwargs).whole("complete")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Let the LLM complete a text."""
        return await self._completing(prompt, formatted=formatted, **kwargs).awhole("acomplete")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Let the LLM stream the completion of a text."""
        return self._completing(prompt, formatted=formatted, **kwargs).stream("stream_complete")

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """Let the LLM stream the completion of a text."""
        return self._completing(prompt, formatted=formatted, **kwargs).astream("astream_complete")

    @dispatcher.span
    def chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponse:
        """Ask a model that may call tools.

        Args:
            tools: the tools.
            *args: `user_msg`, what the user says; `chat_history`, what was said before; and what comes after these in
                LlamaIndex. No message is changed.
            **kwargs: these by name; `allow_parallel_tool_calls`, whether an answer may have more than one call (if not,
                the first one counts); `tool_required`, whether the model is told to call a tool; `tool_choice`
                (`"auto"`, `"required"` or `True`, `"none"`, a tool's name, or a dict of OpenAI's or Anthropic's); and
                all that is for the LLM.

        Raises:
            NotImplementedError: `tools_in="request"`, and the LLM calls no tools itself.
            ToolDefinitionError: two tools have one name, one has none or is its server's own, or `tool_choice` names
                none.
            TypeError: `tools` is not a list of tools.
        """
        return self._with_tools(tools, *args, **kwargs).whole("chat")

    @dispatcher.span
    async def achat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponse:
        """Ask a model that may call tools; see `chat_with_tools`."""
        return await self._with_tools(tools, *args, **kwargs).awhole("achat")

    @dispatcher.span
    def stream_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> ChatResponseGen:
        """Ask a model that may call tools, and stream the answer; see `chat_with_tools`.

        `delta` is text alone, and `message` has each call as soon as it is certain that it runs. If the model is
        asked again, its new answer follows the first one.
        """
        return self._with_tools(tools, *args, **kwargs).stream("stream_chat")

    @dispatcher.span
    async def astream_chat_with_tools(
        self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Ask a model that may call tools, and stream the answer; see `stream_chat_with_tools`."""
        return self._with_tools(tools, *args, **kwargs).astream("astream_chat")

    def get_tool_calls_from_response(
        self,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,
        **kwargs: Any,  # noqa: ARG002 (the framework's signature)
    ) -> list[ToolSelection]:
        """Return the calls of a response as what LlamaIndex runs.

        Args:
            response: what one of the methods with tools returned.
            error_on_no_tool_call: whether a response without a call is an error.
            **kwargs: not used.

        Raises:
            MalformedToolCallError: there is no call, and `error_on_no_tool_call`, or a program's object does not fit.
        """
        made = [
            ToolSelection(tool_id=block.tool_call_id or "", tool_name=block.tool_name, tool_kwargs=block.tool_kwargs)
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock) and isinstance(block.tool_kwargs, dict)
        ]
        misfits = [misfit for call in made for misfit in self._misfits(call)]
        if misfits or (error_on_no_tool_call and not made):
            refused = [RefusedCall(**call) for call in response.message.additional_kwargs.get(REFUSED_TOOL_CALLS, ())]
            raise MalformedToolCallError(response.message.content or "", [*refused, *misfits])
        return made

    def predict_and_call(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> AgentChatResponse:
        """Ask a model that may call tools, and run the call. A call of another tool is text here: nobody answers it."""
        tools = as_tools(tools)
        return FunctionCallingLLM.predict_and_call(self._knowing_only(tools), tools, *args, **kwargs)

    async def apredict_and_call(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> AgentChatResponse:
        """Ask a model that may call tools, and run the call; see `predict_and_call`."""
        tools = as_tools(tools)
        return await FunctionCallingLLM.apredict_and_call(self._knowing_only(tools), tools, *args, **kwargs)

    def _structured_stream_call(self, *args: Any, **kwargs: Any) -> Generator[Any, None, None]:
        """Return what yields the object as it grows. In the framework's own method, no call is due."""
        return (self._objects if self._calls_for_objects else super()._structured_stream_call)(*args, **kwargs)

    async def _structured_astream_call(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """Return what yields the object as it grows; see `_structured_stream_call`."""
        if self._calls_for_objects:
            return self._aobjects(*args, **kwargs)
        return await super()._structured_astream_call(*args, **kwargs)

    @property
    def _calls_for_objects(self) -> bool:
        # Words of the user's compare to modes, but have another hash.
        return self.pydantic_program_mode in (PydanticProgramMode.DEFAULT, PydanticProgramMode.FUNCTION)

    def _objects(self, *args: Any, **kwargs: Any) -> Generator[Any, None, None]:
        tool, turn, growing = self._due(*args, **kwargs)
        for response in turn.stream("stream_chat"):
            if (grown := growing.add(turn.written)) is not None:
                yield grown
            last = response
        yield self._finished(tool, last)

    async def _aobjects(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        tool, turn, growing = self._due(*args, **kwargs)
        async with aclosing(turn.astream("astream_chat")) as responses:
            async for response in responses:
                if (grown := growing.add(turn.written)) is not None:
                    yield grown
                last = response
        yield self._finished(tool, last)

    def _due(
        self,
        output_cls: type[Any],
        prompt: BasePromptTemplate,
        llm_kwargs: Mapping[str, Any] | None = None,
        **prompt_args: Any,
    ) -> tuple[FunctionTool, Turn[ChatResponse], GrowingObject]:
        tool = output_tool(output_cls)
        messages = self._extend_messages(prompt.format_messages(llm=self, **prompt_args))
        settings = {**(llm_kwargs or {}), "tool_choice": "required", "allow_parallel_tool_calls": False}
        settings, request = self._knowing_only([tool])._asked([tool], chat_history=messages, **settings)  # noqa: SLF001
        turn = Turn[ChatResponse](self.llm, settings, request, is_read=True)
        [shown] = request.chat.tools.values()
        starts = self.options.read.starts_reasoning
        return tool, turn, GrowingObject(output_cls, shown, starts_reasoning=starts)

    def _finished(self, tool: FunctionTool, response: ChatResponse) -> Any:
        [call] = self._knowing_only([tool]).get_tool_calls_from_response(response)
        return tool.fn(**call.tool_kwargs)

    def _prepare_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return what the wrapped LLM is asked with, as the framework wants it from each such LLM."""
        settings, request = self._asked(tools, *args, **kwargs)
        return {"messages": to_messages(request.messages), **settings}

    def _with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> Turn[ChatResponse]:
        settings, request = self._asked(tools, *args, **kwargs)
        return Turn(self.llm, settings, request, is_read=True)

    def _asked(  # noqa: PLR0913, PLR0917 (the framework's signature)
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        tool_choice: object = None,
        **kwargs: Any,
    ) -> tuple[dict[str, Any], Request]:
        """Return what the LLM is asked with beside its messages, and the request."""
        tools = list(tools) if isinstance(tools, Iterator) else tools
        chat = kept_chat(tool_dicts(tools), self.options)
        if tool_required and tool_choice in (None, False, "auto"):
            tool_choice = "required"
        said = [ChatMessage(user_msg) if isinstance(user_msg, str) else user_msg] if user_msg is not None else []
        request = chat.request(
            to_dicts([*(chat_history or ()), *said]),
            tool_choice=tool_choice,
            parallel_tool_calls=allow_parallel_tool_calls,
            class_check=class_check(tools),
        )
        if request.tools:
            kwargs |= {
                "tools": rename_tools(tools, request),
                "verbose": verbose,
                "allow_parallel_tool_calls": request.choice.parallel,
                "tool_required": tool_required,
            }
            if request.tool_choice != "auto":
                kwargs["tool_choice"] = request.tool_choice
        return kwargs, request

    def _completing(self, prompt: str, **settings: Any) -> Turn[CompletionResponse]:
        return Turn(self.llm, {"prompt": prompt, **settings})

    def _plain(self, messages: Sequence[ChatMessage], settings: Mapping[str, Any]) -> Turn[ChatResponse]:
        given = to_dicts(messages)
        request = kept_chat((), replace(self.options, max_retries=0)).request(given)
        request = replace(request, messages=with_own_roles(request.messages, given))
        return Turn(self.llm, settings, request, is_read=self.options.read.split_reasoning)

    def _knowing_only(self, tools: Sequence[BaseTool]) -> Llama3ToolLLM:
        """Return the LLM for a program, which runs the tools given and no others."""
        read = replace(self.options.read, on_unknown_tool="text")
        llm = self.model_copy(update={"options": replace(self.options, read=read)})
        llm._class_check = class_check(tools)  # noqa: SLF001 (the same class)
        return llm

    def _misfits(self, call: ToolSelection) -> list[RefusedCall]:
        """Return the call if a program wants an object of a class and the arguments do not fit it."""
        problems = "; ".join((self._class_check(call.tool_name, call.tool_kwargs) if self._class_check else None) or ())
        written = render_tool_call(call.tool_name, call.tool_kwargs)
        return [RefusedCall(call.tool_id, call.tool_name, "misfit", problems, written, None, "")] if problems else []
