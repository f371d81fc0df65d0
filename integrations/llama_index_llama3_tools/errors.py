"""What this package raises.

An LLM's own errors come through as they are, with a note that says what to do if that is known.
"""

from __future__ import annotations

from collections.abc import Iterable

from llama_index.core.output_parsers.base import OutputParserException

from llama3_tools import Llama3ToolsError
from llama3_tools.chat import RefusedCall
from llama3_tools.text import escape_invisible


class MalformedToolCallError(Llama3ToolsError, OutputParserException, ValueError):
    """The model did not write the call or the object that was asked for, or a parser met a malformed call.

    LlamaIndex's `OutputParserException` is not a `ValueError`, but its agents and query engines retry on `ValueError`
    alone: this one is both.

    >>> from llama_index_llama3_tools import Llama3JsonToolOutputParser
    >>> Llama3JsonToolOutputParser(on_invalid="raise").parse('{"name": "f", "parameters": {"x": ')
    Traceback (most recent call last):
    llama_index_llama3_tools.errors.MalformedToolCallError: 1 tool call does not run: f (truncated): ...

    Args:
        output: the model output, as it came.
        errors: the calls that were refused. Without any, the model wrote no call.
    """

    def __init__(self, output: str, errors: Iterable[RefusedCall]) -> None:
        self.output = output
        """The model output, as it came: nothing of it is lost."""
        self.errors = tuple(errors)
        """The calls that were refused, in the order in which the model wrote them."""
        calls = "1 tool call does" if len(self.errors) == 1 else f"{len(self.errors)} tool calls do"
        refused = f"{calls} not run: {'; '.join(map(str, self.errors))}"
        super().__init__(refused if self.errors else f"the model wrote no tool call: {escape_invisible(repr(output))}")

    def __reduce__(self) -> tuple[type[MalformedToolCallError], tuple[str, tuple[RefusedCall, ...]]]:
        """Pickle by the arguments; an exception pickles by its message otherwise."""
        return type(self), (self.output, self.errors)
