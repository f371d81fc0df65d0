"""Structured output: never `None` in silence, but the error that says why there is no object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.exceptions import OutputParserException

from llama3_tools.chat import REFUSED_TOOL_CALLS

__all__ = ["read_object"]


def read_object(
    output: dict[str, Any], misfits: Callable[[str, dict[str, Any]], list[str]], *, include_raw: bool
) -> Any:  # noqa: ANN401 (of the schema that was given)
    """Return the object, or what `with_structured_output(…, include_raw=True)` gives, with an error if none fits.

    >>> from langchain_core.messages import AIMessage
    >>> read_object({"raw": AIMessage("No."), "parsed": None}, lambda name, given: [], include_raw=False)
    Traceback (most recent call last):
    langchain_core.exceptions.OutputParserException: The model gave no object: it wrote 'No.'
    ...

    Args:
        output: what LangChain made of the message.
        misfits: says what does not fit in a call's arguments. After a retry, a call runs all the same.
        include_raw: whether the message is returned, too, and the error beside it rather than raised.

    Raises:
        Exception: there is no object that fits.
    """
    raw, error = output["raw"], output.get("parsing_error")
    problems = [problem for call in raw.tool_calls[:1] for problem in misfits(call["name"], call["args"])]
    if error is None and problems:
        why = "; ".join(problems)
        error = OutputParserException(f"The model's object does not fit: {why}", llm_output=str(raw.text))
        output = {**output, "parsed": None}
    elif output.get("parsed") is None and error is None:
        refused = raw.response_metadata.get(REFUSED_TOOL_CALLS, ())
        did = f"called {raw.tool_calls[0]['name']!r}" if raw.tool_calls else f"wrote {str(raw.text)!r:.200}"
        why = "; ".join(call["detail"] for call in refused) or f"it {did}"
        error = OutputParserException(f"The model gave no object: {why}", llm_output=str(raw.text))
    if include_raw:
        return {**output, "parsed": output.get("parsed"), "parsing_error": error}
    if error is not None:
        raise error
    return output["parsed"]
