"""What to do about the errors of a model that a user of tools meets, added to each as a note."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from llama3_tools.chat import NOT_A_COMPLETION, EndpointFault, ToolRole, add_advice, endpoint_fault, what_to_do

NO_RESPONSE = f"No generation chunks were returned ({NOT_A_COMPLETION})"
"""Of a stream without anything, such as a web page read as one. LangChain says the first half of it."""

_NOT_COMPLETIONS = (
    "expected a dict or openai.BaseModel",  # langchain-openai, of a page; older ones say the next
    "'str' object has no attribute 'model_dump'",
    "null value for 'choices'",
    "no generations found in stream",
)


def advise(error: Exception, llm: BaseChatModel, tool_role: ToolRole) -> None:
    """Add to an error what to do about it, where that is known, as a note.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> error = ValueError("Unexpected role: tool")
    >>> advise(error, FakeListChatModel(responses=[]), "tool")
    >>> error.__notes__
    ['the server does not know this role: use tool_role="user"']
    """
    fault = endpoint_fault(error, _NOT_COMPLETIONS)
    if fault is EndpointFault.NO_TOOL_ROLE and tool_role != "user":
        add_advice(error, 'the server does not know this role: use tool_role="user"')
    elif fault and (to_do := what_to_do(fault, error, llm, 'tools_in="user"')):
        add_advice(error, to_do)
