"""What a model is told of calls that were not run, so that it can write them again: the one place for these words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llama3_tools.prompts.render import PromptFormat, render_tool_call, render_tool_result
from llama3_tools.values import RejectionReason

__all__ = ["NOTHING_CALLED", "complaint", "misfit_complaint", "render_complaints", "with_misfits"]

NOTHING_CALLED = "Your last reply holds no function call. Call a function, in the format that you were given."
"""For a reply that had to call a function and calls none."""

_ALL_AGAIN = "Write all of it again"
_FLAWS = {
    RejectionReason.TOO_DEEP: ("beyond a limit", "Write a smaller one"),
    RejectionReason.TOO_LONG: ("beyond a limit", "Write a smaller one"),
    RejectionReason.TRUNCATED: ("cut off", _ALL_AGAIN),
    RejectionReason.QUOTED: ("quoted", "Write it alone"),
}
"""What is wrong with a call, and what to do about it; any other one is malformed."""
_FORM = {"example_name": "example_value"}


def complaint(name: str | None, reason: RejectionReason, detail: str, *, prompt_format: PromptFormat = "json") -> str:
    """Say what was wrong with a call that could not be read, and what to do about it.

    >>> print(complaint("now", RejectionReason.TOO_LONG, "longer than 256 characters"))
    The call is beyond a limit, and was not run: longer than 256 characters. Write a smaller one, in the form ...

    Args:
        name: the tool's name, if it is known.
        reason: why it is no call.
        detail: what was found.
        prompt_format: the form in which the model was asked to call.
    """
    if reason is RejectionReason.TOO_MANY:
        return f"The call was not run: it is {detail}. Make fewer calls in one reply, and the others in the next one."
    if reason is RejectionReason.UNKNOWN_TOOL:
        return f"The call was not run: {detail}."
    flaw, to_do = _FLAWS.get(reason, ("malformed", _ALL_AGAIN))
    form = render_tool_call(name or "example_function_name", _FORM, prompt_format=prompt_format)
    return f"The call is {flaw}, and was not run: {detail}. {to_do}, in the form {form}"


def misfit_complaint(
    name: str,
    problems: Iterable[str],
    *,
    schema: Mapping[str, Any],
    arguments: Mapping[str, Any],
    prompt_format: PromptFormat = "json",
) -> str:
    """Say what does not fit in the arguments of a call that was not run.

    >>> schema = {"properties": {"days": {"type": "integer"}}}
    >>> print(misfit_complaint("wait", ["$.days: expected integer"], schema=schema, arguments={"days": "?"}))
    The arguments do not fit, and the call was not run: $.days: expected integer. Write all of it again, in the form ...

    Args:
        name: the tool's name.
        problems: what does not fit, a sentence each.
        schema: the tool's parameters.
        arguments: what the model wrote.
        prompt_format: the form in which the model was asked to call.
    """
    form = render_tool_call(name, _form(schema, arguments), prompt_format=prompt_format)
    return (
        f"The arguments do not fit, and the call was not run: {'; '.join(problems)}. {_ALL_AGAIN}, in the form {form}"
    )


def render_complaints(complaints: Iterable[tuple[str | None, str]]) -> str:
    """Render what was wrong with calls as text for a model, as results are rendered.

    >>> render_complaints([("now", "The call was not run: …")])
    'Error of now: The call was not run: …'

    Args:
        complaints: the tool's name, if it is known, and the complaint.
    """
    return "\n\n".join(render_tool_result(name, told, is_error=True) for name, told in complaints)


def with_misfits(result: str, problems: Sequence[str]) -> str:
    r"""Add to what a tool gave what did not fit in its arguments: it may be why the tool failed.

    >>> with_misfits("not supported", ["$.days: expected integer, got the string \"soon\""])
    'not supported\n(The arguments did not fit. $.days: expected integer, got the string "soon")'
    """
    return f"{result}\n(The arguments did not fit. {'; '.join(problems)})" if problems else result


def _form(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters to write, each with its type: those that are required, and those that the model wrote."""
    properties, required = schema.get("properties"), schema.get("required")
    wanted = {*arguments, *(required if isinstance(required, (list, tuple)) else ())}
    known = properties.items() if isinstance(properties, Mapping) else ()
    return {name: f"<{_type(declared)}>" for name, declared in known if name in wanted}


def _type(declared: object) -> str:
    kind = declared.get("type") if isinstance(declared, Mapping) else None
    return kind if isinstance(kind, str) else "value"
