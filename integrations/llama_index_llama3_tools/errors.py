"""What this package raises.

.. code-block:: text

    Llama3ToolsError
    ├── MalformedToolCallError (OutputParserException, ValueError)    a call that cannot be read
    ├── ResponseFormatError (ValueError)
    │   └── StrictResponseError (OutputParserException)               an output that is not the strict response object
    └── LLMRequestError (RuntimeError)                                an LLM that gives no answer, or not all of it
"""

from __future__ import annotations

from collections.abc import Iterable

from llama_index.core.output_parsers.base import OutputParserException

from llama3_tools import Llama3ToolsError
from llama3_tools.text.escaping import escape_invisible
from llama_index_llama3_tools.output import FailedToolCall

__all__ = ["LLMRequestError", "MalformedToolCallError"]


class MalformedToolCallError(Llama3ToolsError, OutputParserException, ValueError):
    """The model tried to call a tool and did not manage to write the call (`on_malformed="raise"`).

    LlamaIndex's `OutputParserException` is no `ValueError`, and its agents and query engines retry on `ValueError`
    alone: this one is both.

    >>> from llama_index_llama3_tools import Llama3JsonToolOutputParser
    >>> Llama3JsonToolOutputParser(on_malformed="raise").parse('{"name": "f", "parameters": {"x": ')
    Traceback (most recent call last):
    llama_index_llama3_tools.errors.MalformedToolCallError: 1 tool call could not be read: f (truncated): ...

    Args:
        output: the model output, as it came.
        errors: the calls that failed.
    """

    def __init__(self, output: str, errors: Iterable[FailedToolCall]) -> None:
        self.output = output
        """The model output, as it came: nothing of it is lost."""
        self.errors = tuple(errors)
        """The calls that failed, in the order in which the model wrote them."""
        calls = "1 tool call" if len(self.errors) == 1 else f"{len(self.errors)} tool calls"
        super().__init__(f"{calls} could not be read: {'; '.join(map(str, self.errors))}")

    def __reduce__(self) -> tuple[type[MalformedToolCallError], tuple[str, tuple[FailedToolCall, ...]]]:
        """Pickle by the arguments; an exception pickles by its message otherwise."""
        return type(self), (self.output, self.errors)


class LLMRequestError(Llama3ToolsError, RuntimeError):
    """The LLM behind a `Llama3ToolLLM` refused a request, gave no answer or broke one off. The text says what to do.

    It is raised from the LLM's own error, which is its `__cause__`. Errors about which there is nothing to say come
    through as they are.

    Args:
        problem: what went wrong, and what to do.
        output: what the model had written by then; its beginning is in the text.
    """

    def __init__(self, problem: str, output: str = "") -> None:
        self.problem = problem
        """What went wrong, and what to do."""
        self.output = output
        """What the model had written by then: nothing of it is lost."""
        super().__init__(f"{problem}; it had written: {escape_invisible(f'{output!r:.200}')}" if output else problem)

    def __reduce__(self) -> tuple[type[LLMRequestError], tuple[str, str]]:
        """Pickle by the arguments."""
        return type(self), (self.problem, self.output)
