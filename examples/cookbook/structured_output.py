"""Structured output from a small model in LangChain: an object of your class, or an error that says why not.

python examples/cookbook/structured_output.py
python examples/cookbook/structured_output.py --base-url http://localhost:11434/v1 --model llama3.2:1b
"""

from __future__ import annotations

import sys
from typing import Literal

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from program import run
from pydantic import BaseModel, Field, SecretStr

from langchain_llama3_tools import Llama3ToolModel

MAIL = "Extract a ticket: the invoice 4711 is wrong, I need a new one within 3 days!"


class Ticket(BaseModel):
    """A ticket for the support."""

    title: str
    priority: Literal["low", "high"]
    days: int = Field(ge=0, description="until when, in days")


def ticket_of(llm: BaseChatModel, mail: str) -> Ticket | str:
    """Return the ticket, or why there is none."""
    structured = Llama3ToolModel(llm).with_structured_output(Ticket)
    try:
        return Ticket.model_validate(structured.invoke(mail))
    except OutputParserException as error:
        return f"no ticket: {error}"


def main(base_url: str, model: str) -> None:
    """Read one mail."""
    llm = ChatOpenAI(base_url=base_url, api_key=SecretStr("none"), model=model, temperature=0)
    print(repr(ticket_of(llm, MAIL)))


if __name__ == "__main__":
    sys.exit(run(main, __doc__))
