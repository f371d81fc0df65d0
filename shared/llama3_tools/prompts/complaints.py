"""What a model is told of calls that were not run, so that it can write them again: the one place for these words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama3_tools.prompts.render import PromptFormat, render_tool_call, render_tool_result
from llama3_tools.tools import Tool
from llama3_tools.values import RejectionReason

_WORDS_ARE_FINE = "If no call is needed, answer in words."
_ALL_AGAIN = "Write all of it again"
_FLAWS = {
    RejectionReason.TOO_DEEP: ("beyond a limit", "Write a smaller one"),
    RejectionReason.TOO_LONG: ("beyond a limit", "Write a smaller one"),
    RejectionReason.TRUNCATED: ("cut off", _ALL_AGAIN),
    RejectionReason.QUOTED: ("quoted", "Write it alone"),
}
"""What is wrong with a call, and what to do about it; any other one is malformed."""


@dataclass(frozen=True, slots=True)
class Complaints:
    """Says what was wrong with a call that was not run, and how to write it: with the tool's own parameters.

    >>> schema = {"properties": {"days": {"type": "integer"}}, "required": ["days"]}
    >>> complaints = Complaints({"wait": Tool("wait", "", schema)})
    >>> complaint = complaints.of_unread("wait", RejectionReason.TRUNCATED, "the output ends inside it")
    >>> print(complaint.removesuffix(', in the form {"name": "wait", "parameters": {"days": "<integer>"}}'))
    The call is cut off, and was not run: the output ends inside it. Write all of it again
    >>> print(complaints.of_misfit("wait", ["$.days: expected integer"], {"days": "?"}))
    The arguments do not fit, and the call was not run: $.days: expected integer. Write all of it again, in the form ...
    """

    tools: Mapping[str, Tool]
    """The tools, by the names by which the model knows them."""
    prompt_format: PromptFormat = "json"
    """The form in which the model was asked to call."""

    def of_unread(self, name: str | None, reason: RejectionReason, detail: str) -> str:
        """Say what was wrong with a call that could not be read, and what to do about it.

        Args:
            name: the tool's name, if it is known.
            reason: why it is not a call.
            detail: what was found.
        """
        if reason is RejectionReason.TOO_MANY:
            return (
                f"The call was not run: it is {detail}. Make fewer calls in one reply, and the others in the next one."
            )
        if reason is RejectionReason.UNKNOWN_TOOL:
            return f"The call was not run: {detail}."
        flaw, to_do = _FLAWS.get(reason, ("malformed", _ALL_AGAIN))
        return f"The call is {flaw}, and was not run: {detail}. {to_do}, in the {self._form(name)}"

    def of_misfit(self, name: str, problems: Iterable[str], arguments: Mapping[str, Any]) -> str:
        """Say what does not fit in the arguments of a call.

        Args:
            name: the tool's name.
            problems: what does not fit, a sentence each.
            arguments: what the model wrote.
        """
        form = self._form(name, arguments)
        return f"The arguments do not fit, and the call was not run: {'; '.join(problems)}. {_ALL_AGAIN}, in the {form}"

    def of_nothing(self, name: str | None) -> str:
        """Say that a call was due and none came.

        Args:
            name: the tool to call, if there is one alone.
        """
        return f"Your last reply has no function call. Call one, in the {self._form(name)}"

    def placeholders_in(self, name: str, arguments: Mapping[str, Any]) -> list[str]:
        """Say which arguments are what `_form` has in their place, a sentence each: a model may copy that.

        >>> tag = Tool("tag", "", {"properties": {"ids": {"type": "array"}}})
        >>> Complaints({"tag": tag}).placeholders_in("tag", {"ids": ["<array>"]})  # as coercion makes a list of it
        ['$.ids: "<array>" is a placeholder, not a value']
        """
        if name not in self.tools:
            return []
        known = self.tools[name].arguments_schema.get("properties", {})
        shown = {key: _placeholder(known[key]) for key in arguments if key in known}
        return [
            f'$.{key}: "{shown[key]}" is a placeholder, not a value'
            for key in shown
            if arguments[key] in (shown[key], [shown[key]])
        ]

    def _form(self, name: str | None, arguments: Iterable[str] = ()) -> str:
        """Return the call to write, with the types of what is required and of what the model wrote; else of all."""
        if name is None or name not in self.tools:
            return "format that you were given"
        schema = self.tools[name].arguments_schema
        known = schema.get("properties", {})
        wanted = {*arguments, *schema.get("required", ())} & known.keys()
        form = {key: _placeholder(declared) for key, declared in known.items() if key in wanted or not wanted}
        return f"form {render_tool_call(self.tools[name].name, form, prompt_format=self.prompt_format)}"


def render_complaints(complaints: Iterable[tuple[str | None, str]], *, is_due: bool = False) -> str:
    r"""Render what was wrong with calls as text for a model, as results are rendered.

    >>> render_complaints([("now", "The call was not run: …")])
    'Error of now: The call was not run: …\n\nIf no call is needed, answer in words.'

    Args:
        complaints: the tool's name, if it is known, and the complaint.
        is_due: whether a call has to be made. If not, the model is told that words are an answer, too.
    """
    rendered = [render_tool_result(name, told, is_error=True) for name, told in complaints]
    return "\n\n".join(rendered if is_due or not rendered else [*rendered, _WORDS_ARE_FINE])


def with_misfits(result: str, problems: Sequence[str]) -> str:
    r"""Add to what a tool gave what did not fit in its arguments: it may be why the tool failed.

    >>> with_misfits("not supported", ["$.days: expected integer, got the string \"soon\""])
    'not supported\n(The arguments did not fit. $.days: expected integer, got the string "soon")'
    """
    return f"{result}\n(The arguments did not fit. {'; '.join(problems)})" if problems else result


def _placeholder(declared: object) -> str:
    kind = declared.get("type") if isinstance(declared, Mapping) else None
    return f"<{kind}>" if isinstance(kind, str) else "<value>"
