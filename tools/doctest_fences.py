"""Shows the examples in docstrings as code in the documentation: plain Markdown takes `>>>` for three quotations."""

from __future__ import annotations

import re

from griffe import Extension, Module, Object

# From a prompt to the next blank line, or to the end.
_EXAMPLE = re.compile(r"^>>> .*?(?=\n[ \t]*\n|\s*\Z)", re.MULTILINE | re.DOTALL)
_FENCE = "```pycon\n"


class DoctestFences(Extension):
    """Puts each run of `>>>` lines, with what they print, into a fence."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Change the docstring of an object of any kind."""
        _put_into_fences(obj)

    def on_package(self, *, pkg: Module, **_: object) -> None:
        """Change the docstring of a package, which is no object to `on_object`."""
        _put_into_fences(pkg)


def _put_into_fences(obj: Object) -> None:
    if obj.docstring is not None and _FENCE not in obj.docstring.value:
        obj.docstring.value = _EXAMPLE.sub(rf"{_FENCE}\g<0>\n```", obj.docstring.value)
