"""What this library raises.

.. code-block:: text

    Llama3ToolsError
    ├── ToolDefinitionError (ValueError)    a tool declaration nobody can read
    ├── StreamStateError (RuntimeError)     a stream fed after its flush, or asked too early
    └── MissingExtraError (ImportError)     an integration whose framework is not installed

No model output is an error: whatever a model writes comes back as content, calls and rejections.
Arguments of the wrong Python type raise the built-in `TypeError`.
"""

from __future__ import annotations

__all__ = ["Llama3ToolsError", "MissingExtraError", "StreamStateError", "ToolDefinitionError"]


class Llama3ToolsError(Exception):
    """The root of every exception that this library defines."""


class ToolDefinitionError(Llama3ToolsError, ValueError):
    """A tool declaration that is not an OpenAI tool dict, or that contradicts another one."""


class StreamStateError(Llama3ToolsError, RuntimeError):
    """A stream that was used after its `flush`, or asked for its extraction before it."""


class MissingExtraError(Llama3ToolsError, ImportError):
    """An integration was imported while its framework is not installed."""


def require_str(value: object, what: str) -> None:
    """Raise a `TypeError` that begins with `what` for anything but a `str`."""
    if not isinstance(value, str):
        hint = ": decode it first" if isinstance(value, (bytes, bytearray)) else ""
        raise TypeError(f"{what}, got {type(value).__name__}{hint}")
