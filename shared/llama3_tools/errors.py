"""What this library raises.

.. code-block:: text

    Llama3ToolsError
    ├── ToolDefinitionError (ValueError)    a tool declaration nobody can read
    ├── ResponseFormatError (ValueError)    an output that is not the strict response object
    ├── SuiteError (ValueError)             a suite of the acceptance kit that cannot be read
    ├── StreamStateError (RuntimeError)     a stream fed after its flush, or asked too early
    └── MissingExtraError (ImportError)     an integration whose framework is not installed

No model output is an error, whatever a model writes: it comes back as content, calls and rejections. But for those who
ask for the strict response format, and so for an error if the output is anything else.
Arguments of the wrong Python type raise the built-in `TypeError`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import get_args

from llama3_tools.text.escaping import escape_invisible
from llama3_tools.values import Word


class Llama3ToolsError(Exception):
    """The root of every exception that this library defines."""


class ToolDefinitionError(Llama3ToolsError, ValueError):
    """A tool declaration that is not an OpenAI tool dict, or that contradicts another one."""


class ResponseFormatProblem(Word):
    """Why an output is not the strict response object: the outermost problem."""

    NO_JSON = "no_json"
    """Nothing, or no JSON object in it."""
    TEXT_AROUND = "text_around"
    """Something before or after a JSON object: words, a code fence, a token, another object."""
    TRUNCATED = "truncated"
    """The output ended inside the object."""
    MALFORMED = "malformed"
    """Not strict JSON (principle 1), or a key that occurs twice, at any depth."""
    WRONG_SHAPE = "wrong_shape"
    """A key is missing or not part of the format, or a value has another type than the format has there."""
    OVER_LIMIT = "over_limit"
    """More or longer calls than the `Limits` allow, or nested deeper (principle 8)."""
    UNKNOWN_TOOL = "unknown_tool"
    """The call names a tool that was not declared (principle 1)."""
    TOOL_CHOICE = "tool_choice"
    """No call, or a call of another tool than `tool_choice` demands."""


class ResponseFormatError(Llama3ToolsError, ValueError):
    """An output that is not the one JSON object of the strict response format.

    >>> from llama3_tools import parse_response
    >>> try:
    ...     parse_response('Sure: {"message": "Hi", "tool_call": null}')
    ... except ResponseFormatError as error:
    ...     print(error.problem, error.offset)
    text_around 0

    Args:
        problem: what is wrong, in one word.
        detail: what was found, and where.
        expected: the format, in words.
        output: the model output, as it came.
        offset: where in the output it goes wrong.
    """

    def __init__(self, problem: ResponseFormatProblem, detail: str, expected: str, output: str, offset: int) -> None:
        super().__init__(escape_invisible(f"{problem}: {detail}. Expected {expected}", exact=True))
        self.problem = problem
        """What is wrong, in one word."""
        self.detail = detail
        """What was found, and where."""
        self.expected = expected
        """The format, in words that the model can act on."""
        self.output = output
        """The model output, as it came: nothing of it is lost."""
        self.offset = offset
        """Where in the output it goes wrong, in characters."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the attributes; an exception pickles by its message otherwise."""
        return type(self), (self.problem, self.detail, self.expected, self.output, self.offset)


class StreamStateError(Llama3ToolsError, RuntimeError):
    """A stream was used after its end, or asked for its extraction before that."""


class MissingExtraError(Llama3ToolsError, ImportError):
    """An integration was imported while its framework is not installed."""


@contextmanager
def of_extra(to_do: str, *packages: str) -> Iterator[None]:
    """Raise a `MissingExtraError` that says what to do if an import of one of the packages fails.

    If a package is there, and something that it needs is not, the error stays as it is.

    >>> with of_extra("pip install 'llama3-tools[spam]'", "spam"):
    ...     raise ModuleNotFoundError(name="spam.eggs")
    Traceback (most recent call last):
    llama3_tools.errors.MissingExtraError: pip install 'llama3-tools[spam]'
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] in packages:
            raise MissingExtraError(to_do) from error
        raise


def a_type(value: object) -> str:
    """Return the type of a value, with its article; `None` and classes as what they are.

    >>> a_type(5), a_type("five"), a_type(None), a_type(int)
    ('an int', 'a str', 'None', 'the class int')
    """
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return _with_article(type(value))


def require_words(given: Mapping[str, object], **kinds: object) -> None:
    """Raise a `ValueError` for the first of the options that has another value than the words it can have.

    >>> from typing import Literal
    >>> require_words({"tool_role": "robot"}, tool_role=Literal["user", "tool", "ipython"])
    Traceback (most recent call last):
    ValueError: tool_role must be "user", "tool" or "ipython", not 'robot'

    Args:
        given: the options by name.
        **kinds: by name, the `Literal` that an option is; one that is not given is not checked.
    """
    for name, kind in kinds.items():
        words = get_args(kind)
        if name in given and given[name] not in words:
            *most, last = (f'"{word}"' for word in words)
            raise ValueError(f"{name} must be {', '.join(most)} or {last}, not {given[name]!r}")


def require_str(value: object, what: str) -> None:
    """Raise a `TypeError` that begins with `what` for anything but a `str`."""
    if not isinstance(value, str):
        hint = ": decode it first" if isinstance(value, (bytes, bytearray)) else ""
        raise TypeError(f"{what}, got {type(value).__name__}{hint}")


def require_type(what: str, value: object, kind: type) -> None:
    """Raise a `TypeError` that names what it is for a value of another type.

    >>> require_type("reading", {}, type("Reading", (), {}))
    Traceback (most recent call last):
    TypeError: reading must be a Reading, not a dict
    """
    if not isinstance(value, kind):
        raise TypeError(f"{what} must be {_with_article(kind)}, not {a_type(value)}")


def require_bool(**options: object) -> None:
    """Raise a `TypeError` that names the first of the options that is neither true nor false."""
    for name, value in options.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, not {value!r}")


def require_options(owner: str, given: Iterable[str], known: Collection[str], otherwise: str = "") -> None:
    """Require that all options exist.

    >>> require_options("Extractor", ["reapir"], ["repair"])
    Traceback (most recent call last):
    TypeError: Extractor has no option 'reapir'; did you mean 'repair'?

    Args:
        owner: the class that the user has named.
        given: the names of the options given.
        known: those that there are.
        otherwise: the end of the message if none of those is like it.

    Raises:
        TypeError: one does not exist.
    """
    for name in given:
        if name not in known:
            raise TypeError(f"{owner} has no option {name!r}{did_you_mean(name, sorted(known)) or otherwise}")


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return the end of a message about a word that is none of those known, if one of them is like it.

    >>> did_you_mean("get_wether", ["get_weather", "clock"])
    "; did you mean 'get_weather'?"
    """
    from difflib import get_close_matches  # noqa: PLC0415 (for errors alone)

    close = get_close_matches(word, list(words), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _with_article(kind: type) -> str:
    return f"{'an' if kind.__name__[0] in 'AEIOUaeiou' else 'a'} {kind.__name__}"
