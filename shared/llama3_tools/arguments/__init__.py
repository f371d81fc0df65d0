"""Arguments and the schema of their tool: made to fit it, and checked against it. `docs/arguments.md` is their page."""

from llama3_tools.arguments.coercion import Coercer, coerce_arguments
from llama3_tools.arguments.validation import ArgumentValidator, validate_arguments
from llama3_tools.arguments.values import ArgumentChange, ArgumentProblem, Coercion, ProblemReason

__all__ = [
    "ArgumentChange",
    "ArgumentProblem",
    "ArgumentValidator",
    "Coercer",
    "Coercion",
    "ProblemReason",
    "coerce_arguments",
    "validate_arguments",
]
