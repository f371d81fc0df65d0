"""The output of a file: what is there already, whether it is of the same run, and what is left to do."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama3_batch.locking import locked
from llama3_batch.sources import Part
from llama3_batch.summary import Summary, loaded_summary
from llama3_batch.writing import join_parts, write_bytes

_AWAY = "move it away, take another folder with --out, or write it anew with --overwrite"
_TEMPORARY = re.compile(r"\..+\.[0-9]+\.tmp")


class OutputError(Exception):
    """An output that is in the way. The message names it, and what to do."""


@dataclass(frozen=True, slots=True)
class Output:
    """Where the results of one file go: the results, a summary beside them, and a folder of parts until both are there.

    The summary comes last, so that results with a summary are whole.
    """

    path: Path
    """The results."""
    settings: Mapping[str, Any]
    """What they are made from and how, in values of JSON: no two runs are mixed."""

    @property
    def summary_path(self) -> Path:
        """The summary."""
        return self.path.with_name(f"{self.path.name}.summary.json")

    @property
    def folder(self) -> Path:
        """The results of the parts that are done, until all are."""
        return self.path.with_name(f"{self.path.name}.parts")

    def results(self, part: Part) -> Path:
        """Return the file for the results of a part."""
        return self.folder / f"{part.index:06}{self.path.suffix}"

    def _part_summary(self, part: Part) -> Path:
        return self.folder / f"{part.index:06}.json"

    @property
    def _run_path(self) -> Path:
        return self.folder / "run.json"

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Lock the output, so that no other run can write it.

        Raises:
            OSError: its folder cannot be written to, or too many files are open.
            OutputError: another run has it.
        """
        with locked(self.path.with_name(f"{self.folder.name}.lock")) as is_free:
            if not is_free:
                raise OutputError(
                    f"{self.path}: another run is writing it: wait for its end, or take another folder with --out"
                )
            yield

    def begin(self, *, overwrite: bool) -> Summary | None:
        """Make ready for the parts, once the output is taken.

        Args:
            overwrite: whether results that are there are written anew. They stay until the new ones are whole.

        Returns:
            The summary if all is done already; `None`: something is left to do.

        Raises:
            OSError: the folder cannot be written to.
            OutputError: there is something of another run, or that no run has written.
        """
        if overwrite:
            for there in (self.path, self.summary_path):
                if there.is_dir():
                    raise OutputError(f"{there} is a folder: move it away, or take another folder with --out")
            if not self._goes_on():
                self._remove_parts()
        elif self.path.exists() and self.summary_path.exists():
            self._check_run(self.summary_path)
            summary = self._loaded(self.summary_path)
            with suppress(OSError):
                self._remove_parts()  # of a run that ended in its last moment
            return summary
        elif self._run_path.exists():
            self._check_run(self._run_path)
        else:
            for there in (self.path, self.summary_path, *self._foreign_parts()):
                if there.exists():
                    raise OutputError(f"{there} is there, and nothing says how it was made: {_AWAY}")
        self.folder.mkdir(parents=True, exist_ok=True)
        write_bytes(self._run_path, _json({"run": self.settings}))
        return None

    def _foreign_parts(self) -> list[Path]:
        there = self.folder.iterdir() if self.folder.exists() else ()
        return [part for part in there if not _TEMPORARY.fullmatch(part.name)]

    def _goes_on(self) -> bool:
        """Return whether the parts that are there are those of a run like this one, which was ended."""
        try:
            return self._read(self._run_path).get("run") == self.settings
        except OutputError:
            return False

    def write_summary(self, part: Part, summary: Summary) -> None:
        """Write what was found in a part, after its results: it is done.

        Raises:
            OSError: it cannot be written.
        """
        write_bytes(self._part_summary(part), _json(summary.written()))

    def has(self, part: Part) -> bool:
        """Return whether a part is done: its results are there, and its summary can be read."""
        try:
            self._loaded(self._part_summary(part))
        except OutputError:
            return False
        return self.results(part).exists()

    def _remove_parts(self) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder)

    def finish(self, parts: Iterable[Part]) -> Summary:
        """Join the parts, all of which are done, and return what was found in the file.

        Raises:
            OSError: a part cannot be read, or the output cannot be written.
            OutputError: a part is broken.
        """
        summary = Summary()
        for part in parts:
            summary.merge(self._loaded(self._part_summary(part)))
        join_parts(map(self.results, parts), self.path, self.summary_path)
        write_bytes(self.summary_path, _json({"run": self.settings, **summary.written()}))
        with suppress(OSError):  # the results are whole anyway
            self._remove_parts()
        return summary

    def _check_run(self, path: Path) -> None:
        """Check that what is there is of a run like this one.

        Raises:
            OutputError: it is of another, which is said with how that differs.
        """
        run = self._read(path).get("run")
        before = run if isinstance(run, dict) else {}
        differing = [name for name in {**before, **self.settings} if before.get(name) != self.settings.get(name)]
        if differing:
            shown = ", ".join(
                name
                if name in {"tools", "input"}
                else f"{name} ({json.dumps(before.get(name))}, now {json.dumps(self.settings.get(name))})"
                for name in differing
            )
            raise OutputError(f"{path} is of another run, which differs in {shown}: {_AWAY}")

    @staticmethod
    def _read(path: Path) -> dict[str, Any]:
        try:
            read = json.loads(path.read_bytes())
        except (ValueError, FileNotFoundError):
            read = None
        if not isinstance(read, dict):
            raise OutputError(f"{path} was not written to its end: write it anew with --overwrite")
        return read

    def _loaded(self, path: Path) -> Summary:
        try:
            return loaded_summary(self._read(path))
        except (KeyError, TypeError, AttributeError):
            raise OutputError(f"{path} is no summary of results: write it anew with --overwrite") from None


def _json(value: object) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n".encode("utf-8", "backslashreplace")
