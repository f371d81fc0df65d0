"""What the examples of LlamaIndex do around their agents: the command line, the endpoint, one line where that fails."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from llama_index.llms.openai_like import OpenAILike
from rich.console import Console

from endpoints.connect import Endpoint
from endpoints.options import add_endpoint_options
from endpoints.program import run_program
from endpoints.script import Turn, cut_at
from screen import Transcript


def chat_model(endpoint: Endpoint) -> OpenAILike:
    """Return LlamaIndex's client for the endpoint. Nothing in it knows of tools."""
    return OpenAILike(
        api_base=endpoint.base_url,
        api_key=endpoint.api_key,
        model=endpoint.model,
        is_chat_model=True,
        temperature=0,
        max_retries=0,
        additional_kwargs={"extra_body": dict(endpoint.settings)},
    )


def written(*answers: str) -> tuple[Turn, ...]:
    """Make a script of answers, each streamed a few characters at a time."""
    return tuple(Turn(pieces=cut_at(answer, *range(4, len(answer), 4))) for answer in answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An example with an agent."""

    file: str
    """The example's `__file__`."""
    description: str
    """What it shows, in a line."""
    question: str
    """What it asks where the command line says nothing."""
    script: Sequence[Turn]
    """The answers that are played where there is no endpoint."""
    ask: Callable[[Endpoint, str, Transcript], Awaitable[None]]
    """Asks the agent, and shows what it does."""

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run it, and give the exit status: 0, or 1 where the endpoint could not be used.

        Args:
            arguments: those of the command line.
        """
        parser = argparse.ArgumentParser(
            description=self.description,
            epilog="How to run it with Ollama, llama-server, vLLM and LM Studio: see the first lines of this file.",
        )
        parser.add_argument("question", nargs="?", default=self.question, help="what to ask (default: %(default)s)")
        add_endpoint_options(parser)
        options = parser.parse_args(arguments)
        script = [replace(turn, pause=options.pause) for turn in self.script]

        def ask_and_show(endpoint: Endpoint, console: Console) -> bool:
            transcript = Transcript(console, options.question)
            try:
                asyncio.run(self._ask(endpoint, options.question, transcript))
            finally:
                transcript.end()
            return True

        return run_program(Path(self.file).stem, options, ask_and_show, script=script)

    async def _ask(self, endpoint: Endpoint, question: str, transcript: Transcript) -> None:
        await self.ask(endpoint, question, transcript)


if __name__ == "__main__":
    programs = "llamaindex_agent.py, llamaindex_workflow.py or llamaindex_react.py"
    print(f"This is what LlamaIndex's examples share: run {programs}", file=sys.stderr)
    sys.exit(2)
