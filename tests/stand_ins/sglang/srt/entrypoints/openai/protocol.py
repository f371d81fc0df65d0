"""The tools of a request."""

from __future__ import annotations

from pydantic import BaseModel


class Function(BaseModel):
    description: str | None = None
    name: str
    parameters: object | None = None
    strict: bool | None = None


class Tool(BaseModel):
    type: str = "function"
    function: Function
