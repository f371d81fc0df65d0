"""How far a run is, how fast it goes, and how long it will take."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from llama3_tools.text import escape_invisible

_SECONDS = 30.0
"""How long a run says nothing if no terminal shows a bar."""


class RunProgress(Progress):
    """Shows how far a run is: a bar on a terminal; elsewhere a line now and then."""

    def __init__(self, console: Console) -> None:
        """Begin; `console` says where to."""
        super().__init__(
            MofNCompleteColumn(),
            TextColumn("rows"),
            BarColumn(),
            TaskProgressColumn(show_speed=True),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self.add_task("rows")
        self._said = time.monotonic()

    def stop(self) -> None:
        """Stop. If no bar is shown, older versions of rich would write an empty line."""
        if not self.disable:
            super().stop()

    def planned(self, rows: int, done: int) -> None:
        """Begin with the number of all rows, and of those that an earlier run has done."""
        self.reset(self._task, total=rows, completed=done)
        if done:
            self.say(f"{done:,} of {rows:,} rows were done by an earlier run")

    def rows(self, count: int) -> None:
        """Add the number of rows that were read; it is negative if some have to be read again."""
        self.advance(self._task, count)
        if self.disable and time.monotonic() - self._said >= _SECONDS:
            task = self.tasks[0]
            self.say(f"{task.completed:,.0f} of {task.total:,.0f} rows")

    def say(self, message: str) -> None:
        """Write a message on its own line."""
        self._said = time.monotonic()
        self.console.print(Text(escape_invisible(message)), soft_wrap=True)
