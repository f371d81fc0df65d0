"""Compiles `reader/` and `literals/` with mypyc into the wheel, beside their sources.

The build calls it if `HATCH_BUILD_HOOK_ENABLE_CUSTOM` is set, as `make compiled` does. It needs a C compiler.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDERS = ("reader", "literals")
# The rest of the package is read for its types. What its extras bring is not here.
_MYPYC = (sys.executable, "-m", "mypyc", "--follow-imports=silent", "--ignore-missing-imports")


class CompiledReader(BuildHookInterface[Any]):
    """Adds the extension modules to the wheel, which is then one for this platform and this Python."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Compile a copy, so that nothing compiled is in the sources, where it would be imported."""
        place = Path(self.root, "build", "compiled")
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(Path(self.root, "shared", "llama3_tools"), place / "llama3_tools")
        # The paths as the wheel has them: tracebacks name the sources by them.
        paths = [path.relative_to(place) for name in _FOLDERS for path in (place / "llama3_tools" / name).rglob("*.py")]
        subprocess.run([*_MYPYC, *map(str, sorted(paths))], cwd=place, check=True)  # noqa: S603 - this project's files
        suffix = EXTENSION_SUFFIXES[0]
        for built in (*place.glob(f"*{suffix}"), *place.glob(f"llama3_tools/**/*{suffix}")):
            build_data["force_include"][str(built)] = built.relative_to(place).as_posix()
        build_data |= {"pure_python": False, "infer_tag": True}
