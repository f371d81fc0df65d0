"""Arguments and the schema of their tool: made to fit it, and checked against it. `docs/arguments.md` is their page."""

from llama3_tools.arguments.coercion import Coercer, Coercion, coerce_arguments
from llama3_tools.arguments.validation import ArgumentValidator, validate_arguments

__all__ = [
    "ArgumentValidator",
    "Coercer",
    "Coercion",
    "coerce_arguments",
    "validate_arguments",
]
