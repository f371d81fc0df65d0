"""What has to be nowhere in what the doctor tells: the key, and the name and the password in the address."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, final
from urllib.parse import quote, unquote, urlsplit

_HIDDEN = "(hidden)"
_SHORT = 5
"""A shorter secret is hidden only as a whole word: it may be part of any other."""


@final
class Secrets:
    """Hides what is secret, in each form in which a server may repeat it.

    >>> Secrets("http://me:p%40ss@localhost/v1", "key-1").hide_in({"error": ["p@ss", "no key-1"]})
    {'error': ['(hidden)', 'no (hidden)']}
    """

    def __init__(self, base_url: str, api_key: str) -> None:
        """Note what is secret.

        Args:
            base_url: the endpoint's address. Without a password, the name before `@` is a token.
            api_key: the key; `none` is not a secret.
        """
        parts = urlsplit(base_url)
        name, password = parts.username or "", parts.password or ""
        plain = [api_key] * (api_key != "none") + [password or name]
        if name or password:
            plain.append(b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode())
        forms = {form for secret in plain for form in _forms(secret) if form}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._secret = re.compile("|".join(map(_pattern, longest_first)) or r"(?!)")

    def hide_in(self, value: Any) -> Any:  # noqa: ANN401 - as JSON has it
        """Return a value with nothing secret in its strings; the keys of dicts stay."""
        if isinstance(value, str):
            return self._secret.sub(_HIDDEN, value)
        if isinstance(value, Mapping):
            return {key: self.hide_in(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [*map(self.hide_in, value)]
        return value


def _forms(secret: str) -> Iterator[str]:
    for text in (secret, unquote(secret)):
        yield text
        yield quote(text, safe="")
        yield json.dumps(text)[1:-1]


def _pattern(form: str) -> str:
    return rf"(?<!\w){re.escape(form)}(?!\w)" if len(form) < _SHORT else re.escape(form)
