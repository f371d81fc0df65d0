"""Shows an answer as it arrives: what a model sends beside what a program gets, or what an agent does, in lines."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import TracebackType
from typing import final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

_WIDEST = 108
"""Columns. A wider table is harder to read."""

_STYLES = {"text": "green", "call": "bold cyan", "not a call": "yellow", "result": "magenta"}
"""By what came out. Each also has its name in front, for terminals without colours."""


@dataclass(slots=True)
class _Row:
    raw: str
    kind: str = ""
    output: str = ""


@final
class SideBySide:
    """One answer. On a terminal it grows as the answer does; elsewhere it is printed when the answer is complete.

    Every piece goes to `raw` first, and what comes out of it to `text` or `call` after that.
    """

    def __init__(self, console: Console, question: str) -> None:
        """Prepare to show the answer to a question.

        Args:
            console: where to.
            question: stands above the answer.
        """
        self._console = console
        self._question = question
        self._rows: list[_Row] = []
        self._held = ""
        self._summary = ""
        self._is_open = True
        grows = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=15) if grows else None

    def raw(self, piece: str) -> None:
        """Take a piece of the model output, before anything has come out of it."""
        self._held += piece

    def text(self, delta: str) -> None:
        """Take a piece of the content."""
        if not delta:
            return
        if not self._rows or self._rows[-1].kind != "text":
            self._rows.append(_Row("", "text"))
        self._rows[-1].raw += self._held
        self._rows[-1].output += delta
        self._held = ""

    def call(self, name: str, arguments: str) -> None:
        """Take a call."""
        self._rows.append(_Row(self._held, "call", f"{name} {arguments}"))
        self._held = ""

    def not_a_call(self, reason: str) -> None:
        """Take the reason why something that looks like a call is none."""
        self._rows.append(_Row("", "not a call", reason))

    def summary(self, line: str) -> None:
        """Take the line that says what the program has got in the end."""
        self._summary = line

    def __enter__(self) -> SideBySide:
        """Start showing."""
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave the answer as it is on the screen."""
        self._is_open = False
        if self._live:
            self._live.stop()
        else:
            self._console.print(self._render())

    def _render(self) -> RenderableType:
        question = Text.assemble(("Question  ", "bold"), self._question)
        table = Table(box=box.ROUNDED, width=min(self._console.width, _WIDEST), show_lines=True)
        table.add_column("the model sends", ratio=1, overflow="fold")
        table.add_column("your program gets", ratio=1, overflow="fold")
        held = [_Row(self._held)] if self._held else []
        for row in (*self._rows, *held):
            output = Text(f"{row.kind:4}  {row.output}" if row.kind else "", style=_STYLES.get(row.kind, ""))
            table.add_row(Text(row.raw.strip("\n"), style="dim"), output)
        parts: list[RenderableType] = [question]
        if table.row_count:
            parts.append(table)
        elif self._is_open:
            parts.append(Text("waiting for the model …", style="dim"))
        if self._summary:
            parts.append(Text(self._summary, no_wrap=True, overflow="ellipsis"))
        return Group(*parts)


@final
class Transcript:
    """What an agent does, as it happens: its text, its calls, what its tools give, each with its kind in front."""

    def __init__(self, console: Console, question: str) -> None:
        """Begin with a question.

        Args:
            console: where to.
            question: what the agent was asked.
        """
        self._console = console
        self._in_text = False
        console.print(Text.assemble(("Question  ", "bold"), question), soft_wrap=True)

    def text(self, delta: str) -> None:
        """Take a piece of text. White space alone begins no line."""
        if not self._in_text and not delta.strip():
            return
        if not self._in_text:
            self._console.print(f"{'text':8}  ", end="", style=_STYLES["text"])
            self._in_text = True
        self._console.print(delta, end="", style=_STYLES["text"], soft_wrap=True)

    def call(self, name: str, arguments: str) -> None:
        """Take a call."""
        self._line("call", f"{name} {arguments}")

    def result(self, name: str, text: str) -> None:
        """Take what a tool gave."""
        self._line("result", f"{name}: {text}")

    def end(self) -> None:
        """End the line that is being written."""
        if self._in_text:
            self._console.print()
            self._in_text = False

    def _line(self, kind: str, text: str) -> None:
        self.end()
        self._console.print(f"{kind:8}  {text}", style=_STYLES[kind], soft_wrap=True)


if __name__ == "__main__":
    print("This is what the examples show their answers with: run quickstart.py", file=sys.stderr)
    sys.exit(2)
