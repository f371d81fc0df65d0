"""What comes out of coercion and validation: changes, problems, and the coercion that holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

__all__ = ["ArgumentChange", "ArgumentProblem", "Coercion", "ProblemReason"]


class ProblemReason(str, Enum):
    """Why a value does not fit its schema."""

    WRONG_TYPE = "wrong_type"
    """Of another JSON type than the schema declares, and nothing that can be read as it."""
    NOT_IN_ENUM = "not_in_enum"
    """Of the right type, but none of the values of the `enum` or `const`."""
    UNKNOWN_PARAMETER = "unknown_parameter"
    """A name that the schema does not declare. The value is kept."""
    MISSING_PARAMETER = "missing_parameter"
    """A required name without a value. None is made up."""
    NO_ALTERNATIVE = "no_alternative"
    """Fits none of several schemas that could have been meant (`anyOf`, `oneOf`)."""
    INVALID_VALUE = "invalid_value"
    """Of the right type, but against another rule of the schema, such as `minimum`. Only validation looks at these."""
    TOO_DEEP = "too_deep"
    """Nested too deep to be looked at."""

    def __str__(self) -> str:
        """Give the bare word, as it is written in logs and JSON."""
        return self.value


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """A value that the model wrote in another type than the declared one, and what was made of it."""

    path: str
    """Where it stands, as a JSONPath: `$.labels[0]`."""
    declared: str
    """What the schema declares, in short: `array of string`."""
    before: Any = field(hash=False)
    """The value as the model wrote it."""
    after: Any = field(hash=False)
    """The value that stands in the arguments now."""


@dataclass(frozen=True, slots=True)
class ArgumentProblem:
    """A place where the arguments do not fit the schema."""

    path: str
    """Where it is, as a JSONPath: `$.labels[0]`. Of a missing parameter, where it should be."""
    declared: str
    """What the schema declares there, in short: `array of string`; empty for an unknown parameter."""
    value: Any = field(hash=False)
    """The value, as the model wrote it; `None` for a missing parameter."""
    reason: ProblemReason
    """One word for the cause."""
    message: str
    """One sentence that says where, what was expected and what was found, for people and models alike."""


@dataclass(frozen=True, slots=True)
class Coercion:
    """Arguments made to fit their schema, as far as that can be done without guessing."""

    arguments: dict[str, Any] = field(hash=False)
    """The arguments to call with. What did not change is shared with the arguments that were given."""
    changes: tuple[ArgumentChange, ...] = ()
    """What was changed, in the order of the arguments."""
    problems: tuple[ArgumentProblem, ...] = ()
    """What does not fit, and was left as the model wrote it."""
