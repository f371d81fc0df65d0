"""The middleware that lets `create_agent` work with a model whose calls come as text."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, InvalidToolCall, ToolMessage
from typing_extensions import NotRequired

from langchain_llama3_tools.history import ToolRole
from langchain_llama3_tools.invalid import REJECTED_TOOL_CALLS, RejectedToolCall
from langchain_llama3_tools.misfits import ArgumentChecks, MisfitCall, misfits_of
from langchain_llama3_tools.model import Llama3ToolModel
from langchain_llama3_tools.options import require_choice
from langchain_llama3_tools.prompting import ToolsIn
from llama3_tools import (
    Extractor,
    Formats,
    Limits,
    MissingExtraError,
    OnUnknownTool,
    PromptFormat,
    RejectionReason,
    new_call_id,
    render_tool_call,
)
from llama3_tools.arguments import ArgumentValidator
from llama3_tools.errors import a_type, require_parameters
from llama3_tools.formats import require_formats
from llama3_tools.limits import DEFAULT_LIMITS
from llama3_tools.options import written_id

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, hook_config
    from langchain.agents.middleware.types import PrivateStateAttr
except ImportError as error:
    if (error.name or "").partition(".")[0] != "langchain":
        raise  # the framework is there, and something that it needs is not
    raise MissingExtraError(
        "Llama3ToolMiddleware needs langchain 1.3 or newer: pip install 'llama3-tools[langchain-agents]'"
    ) from error

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

__all__ = ["Llama3ToolMiddleware", "RepairState"]

_EDITED_BY_A_PERSON = "hitl_edited_tool_calls"
"""Where in the state LangChain's `HumanInTheLoopMiddleware` keeps the calls to run in place of the model's, by ids."""

_ALL_AGAIN = "Write all of it again"
_FEWER = "Make fewer calls in one reply; what is still to be done goes into the next one."

_Response: TypeAlias = "ModelResponse[Any]"  # in quotes: langchain 1.0 has it without a parameter


class RepairState(AgentState[Any]):
    """The agent's state, and how often in a row the model was asked to write a call again."""

    llama3_repairs: NotRequired[Annotated[int, PrivateStateAttr]]


class Llama3ToolMiddleware(AgentMiddleware[RepairState, Any]):
    """Lets an agent's model call tools where its calls come as text.

    It puts `Llama3ToolModel` around the model of each request. A malformed call, and one whose arguments do not fit the
    schema of its tool, is sent back to the model with what was wrong, so that it can write it again; of several calls,
    the good ones run meanwhile.

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

    A `Llama3ToolModel` that the agent is given, or that other middleware chose, keeps its own options.

    Put it last in the list, so that it finds the model that the others chose; only what looks at each answer in
    `after_model`, such as a limit of model calls, goes after it, as the others do not see one that is sent back.
    """

    state_schema = RepairState

    def __init__(  # noqa: PLR0913 (an option each)
        self,
        *,
        tools_in: ToolsIn = "user",
        tool_role: ToolRole = "user",
        prompt_format: PromptFormat = "json",
        on_unknown_tool: OnUnknownTool = "call",
        coerce_arguments: bool = True,
        formats: Formats = None,
        lenient: bool = False,
        repair: bool = False,
        split_reasoning: bool = False,
        starts_reasoning: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        max_repairs: int = 1,
        id_factory: Callable[[], str] = new_call_id,
        **unknown: NoReturn,
    ) -> None:
        """Configure the middleware.

        Args:
            tools_in: where the tools are shown, as in `Llama3ToolModel`.
            tool_role: the role in which results are sent back, as there.
            prompt_format: the form in which the model is asked to call, as there.
            on_unknown_tool: what becomes of a call of a tool that the agent does not have: it is a `"call"`, which the
                agent answers with the names that are valid, or it stays `"text"`.
            coerce_arguments: whether arguments are made to fit the schemas of their tools, as in `Llama3ToolModel`, and
                a call whose arguments do not fit all the same, and are refused by its tool, is sent back to the model;
                not where the agent's model is a `Llama3ToolModel` without it.
            formats: the forms of calls to read beside that of the prompt, as there; with `"none"`, no call is read.
            lenient: whether calls under keys that no manual has are read, too, as there.
            repair: whether a malformed call is repaired where it is closed, as there, before the model
                is asked to.
            split_reasoning: whether `<think>…</think>` is split off the content, as there.
            starts_reasoning: whether the model's text begins inside reasoning, as there. Without it, a call that such a
                model only thinks of is run.
            limits: how deep, how long and how many calls of an answer may be, as there.
            max_repairs: how often in a row the model is asked to write a call again. After that, and with 0, a
                malformed call is text, with which the agent ends; one whose arguments do not fit goes to the tool.
            id_factory: makes the id of each call; ids must be unique in a conversation.
            **unknown: nothing: there are no other options.

        Raises:
            TypeError: there is no such option, `max_repairs` is no number, `limits` are no `Limits`, `id_factory`
                cannot be called, or what is true or false is neither.
            ValueError: `max_repairs` is negative, a limit too low, or another option is none of its words.
            MissingExtraError: `coerce_arguments` needs `jsonschema` (extra `langchain-agents`).
        """
        require_parameters(Llama3ToolMiddleware, unknown)
        super().__init__()
        require_choice("tools_in", tools_in, get_args(ToolsIn))
        require_choice("tool_role", tool_role, get_args(ToolRole))
        require_choice("prompt_format", prompt_format, get_args(PromptFormat))
        formats = require_formats(formats)
        Extractor(  # which checks them
            tools=(),
            on_unknown_tool=on_unknown_tool,
            coerce_arguments=coerce_arguments,
            lenient=lenient,
            repair=repair,
            split_reasoning=split_reasoning,
            starts_reasoning=starts_reasoning,
            limits=limits,
            id_factory=id_factory,
        )
        if type(max_repairs) is not int:
            raise TypeError(f"max_repairs is a whole number, not {max_repairs!r}")
        if max_repairs < 0:
            raise ValueError(f"max_repairs is 0 or more, not {max_repairs}")
        if coerce_arguments:
            ArgumentValidator({})  # which says what is missing
        self.max_repairs = max_repairs
        self.coerce_arguments = coerce_arguments
        self._checks: ArgumentChecks | None = None
        self._options: dict[str, Any] = {
            "tools_in": tools_in,
            "tool_role": tool_role,
            "prompt_format": prompt_format,
            "on_unknown_tool": on_unknown_tool,
            "coerce_arguments": coerce_arguments,
            "formats": formats,
            "lenient": lenient,
            "repair": repair,
            "split_reasoning": split_reasoning,
            "starts_reasoning": starts_reasoning,
            "limits": limits,
            "id_factory": id_factory,
        }

    def before_agent(self, state: RepairState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Count repairs anew: the last run may have been aborted within one."""
        del runtime
        return {"llama3_repairs": 0} if state.get("llama3_repairs") else None

    async def abefore_agent(self, state: RepairState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Count repairs anew, as `before_agent` does."""
        return self.before_agent(state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], _Response]
    ) -> _Response:
        """Ask the model through `Llama3ToolModel`."""
        return self._checked(handler(self._wrapped(request)), request)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[_Response]]
    ) -> _Response:
        """Ask the model through `Llama3ToolModel`."""
        return self._checked(await handler(self._wrapped(request)), request)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: RepairState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Answer calls that cannot run with what was wrong, and ask the model again where there is no other to run.

        Of arguments that do not fit, the tool itself would tell the model: it does where another call runs anyway, and
        after the last repair.
        """
        del runtime
        answer = next((message for message in reversed(state["messages"]) if isinstance(message, AIMessage)), None)
        repairs = state.get("llama3_repairs", 0)
        misfits = [] if answer is None else _unanswered(misfits_of(answer), state)
        if answer is None or not (answer.invalid_tool_calls or misfits):
            return {"llama3_repairs": 0} if repairs else None
        rejected: Sequence[RejectedToolCall] = answer.response_metadata.get(REJECTED_TOOL_CALLS, ())
        told = {entry["id"]: entry for entry in reversed(rejected)}  # of several with one id, the first counts
        complaints = [self._complaint(call, told.get(call["id"] or "")) for call in answer.invalid_tool_calls]
        if len(answer.tool_calls) > len(misfits):
            return {"messages": complaints, "llama3_repairs": 0}
        if repairs < self.max_repairs:
            complaints += [self._misfit_complaint(call) for call in misfits]
            return {"messages": complaints, "llama3_repairs": repairs + 1, "jump_to": "model"}
        return {"messages": complaints} if misfits else None

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: RepairState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Answer malformed calls, as `after_model` does."""
        return self.after_model(state, runtime)

    def _wrapped(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if isinstance(request.model, Llama3ToolModel):
            self._warn_of_ignored_options(request.model)
            return request
        if not isinstance(request.model, BaseChatModel):  # of `init_chat_model` with `configurable_fields`, say
            raise TypeError(
                f"the agent's model is {a_type(request.model)}: give the agent a chat model that is made, "
                "such as ChatOpenAI(…), or init_chat_model(…) without configurable fields"
            )
        return request.override(model=Llama3ToolModel(request.model, **self._options))

    def _warn_of_ignored_options(self, model: Llama3ToolModel) -> None:
        fields = type(model).model_fields
        ignored = [
            f"{name}={value!r}"
            for name, value in self._options.items()
            if value not in (fields[name].default, getattr(model, name))
        ]
        if ignored:
            warnings.warn(
                f"the agent's model is a Llama3ToolModel, whose own options count: {', '.join(ignored)} of "
                "Llama3ToolMiddleware has no effect. Give it to the model",
                stacklevel=2,
            )

    def _checked(self, response: _Response, request: ModelRequest[Any]) -> _Response:
        model = request.model
        if not self.coerce_arguments or (isinstance(model, Llama3ToolModel) and not model.coerce_arguments):
            return response
        checks = self._checks
        if checks is None or not checks.are_of(request.tools):
            self._checks = checks = ArgumentChecks(request.tools)
        result = [checks.noted(message) if isinstance(message, AIMessage) else message for message in response.result]
        return replace(response, result=result)

    def _complaint(self, call: InvalidToolCall, told: RejectedToolCall | None) -> ToolMessage:
        reason = told["reason"] if told else RejectionReason.MALFORMED
        detail = told["detail"] if told else call["error"] or _why_malformed(call)
        if reason == RejectionReason.TOO_MANY and detail.endswith(" calls"):  # it may be beyond other rejections
            return self._error(f"The call was not run: it is {detail}. {_FEWER}", call["name"], call["id"])
        if reason in (RejectionReason.TOO_DEEP, RejectionReason.TOO_LONG):
            complaint = f"The call is beyond a limit, and was not run: {detail}. Write a smaller one"
        else:
            complaint = f"The call is malformed, and was not run: {detail}. {_ALL_AGAIN}"
        return self._told(complaint, call["name"], call["id"], {"example_name": "example_value"})

    def _misfit_complaint(self, call: MisfitCall) -> ToolMessage:
        complaint = f"The arguments do not fit, and the call was not run: {'; '.join(call['problems'])}. {_ALL_AGAIN}"
        return self._told(complaint, call["name"], call["id"], call["form"])

    def _told(self, complaint: str, name: str | None, call_id: str | None, form: Mapping[str, str]) -> ToolMessage:
        example = render_tool_call(name or "example_function_name", form, prompt_format=self._options["prompt_format"])
        return self._error(f"{complaint}, in the form {example}", name, call_id)

    def _error(self, complaint: str, name: str | None, call_id: str | None) -> ToolMessage:
        return ToolMessage(
            complaint,
            name=name or "unknown",
            tool_call_id=call_id or written_id(self._options["id_factory"]),
            status="error",
        )


def _why_malformed(call: InvalidToolCall) -> str:
    return "its arguments are no JSON object" if call["name"] else "it has no name of a tool"


def _unanswered(misfits: list[MisfitCall], state: RepairState) -> list[MisfitCall]:
    """Leave out those that other middleware has answered by now, and those in whose place a person's own call runs."""
    edited: Any = state.get(_EDITED_BY_A_PERSON)
    settled = set(edited or ())
    for message in takewhile(lambda message: not isinstance(message, AIMessage), reversed(state["messages"])):
        if isinstance(message, ToolMessage):
            settled.add(message.tool_call_id)
    return [misfit for misfit in misfits if misfit["id"] not in settled]
