"""What this package raises.

.. code-block:: text

    Llama3ToolsError
    ├── MalformedToolCallError (OutputParserException, ValueError)    a call that does not run
    ├── ResponseFormatError (ValueError)
    │   └── StrictResponseError (OutputParserException)               an output that is not the strict response object
    └── LLMRequestError (RuntimeError)                                an LLM that gives no answer, or not all of it
"""

from __future__ import annotations

from collections.abc import Iterable

from llama_index.core.output_parsers.base import OutputParserException

from llama3_tools import Llama3ToolsError, ResponseFormatError
from llama3_tools.chat import RefusedCall
from llama3_tools.text import escape_invisible

__all__ = ["LLMRequestError", "MalformedToolCallError", "StrictResponseError"]


class MalformedToolCallError(Llama3ToolsError, OutputParserException, ValueError):
    """The model tried to call a tool and did not manage to write the call (`on_invalid="raise"`).

    LlamaIndex's `OutputParserException` is no `ValueError`, and its agents and query engines retry on `ValueError`
    alone: this one is both.

    >>> from llama_index_llama3_tools import Llama3JsonToolOutputParser
    >>> Llama3JsonToolOutputParser(on_invalid="raise").parse('{"name": "f", "parameters": {"x": ')
    Traceback (most recent call last):
    llama_index_llama3_tools.errors.MalformedToolCallError: 1 tool call could not be read: f (truncated): ...

    Args:
        output: the model output, as it came.
        errors: the calls that were refused.
    """

    def __init__(self, output: str, errors: Iterable[RefusedCall]) -> None:
        self.output = output
        """The model output, as it came: nothing of it is lost."""
        self.errors = tuple(errors)
        """The calls that were refused, in the order in which the model wrote them."""
        calls = "1 tool call" if len(self.errors) == 1 else f"{len(self.errors)} tool calls"
        super().__init__(f"{calls} could not be read: {'; '.join(map(str, self.errors))}")

    def __reduce__(self) -> tuple[type[MalformedToolCallError], tuple[str, tuple[RefusedCall, ...]]]:
        """Pickle by the arguments; an exception pickles by its message otherwise."""
        return type(self), (self.output, self.errors)


class StrictResponseError(ResponseFormatError, OutputParserException):
    """An output that is not the one object of the strict response format (`strict=True`).

    It is LlamaIndex's `OutputParserException`, and a `ValueError` too, because parts of LlamaIndex retry on that alone.
    Its text says what is wrong and what was expected, for the model to try again; `output` holds what it wrote.

    >>> from llama_index_llama3_tools import Llama3JsonToolOutputParser
    >>> Llama3JsonToolOutputParser(strict=True).parse("Sunny.")
    Traceback (most recent call last):
    llama_index_llama3_tools.errors.StrictResponseError: no_json: no JSON object is in the output, which begins ...
    """


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
        super().__init__(
            f"{problem}; the model had written: {escape_invisible(f'{output!r:.200}')}" if output else problem
        )

    def __reduce__(self) -> tuple[type[LLMRequestError], tuple[str, str]]:
        """Pickle by the arguments."""
        return type(self), (self.problem, self.output)
