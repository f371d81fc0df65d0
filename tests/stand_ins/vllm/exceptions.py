"""What makes vLLM answer HTTP 400."""

from __future__ import annotations


class VLLMValidationError(ValueError):
    def __init__(self, message: str, *, parameter: str | None = None, value: object = None) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.value = value
