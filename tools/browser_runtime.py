"""Puts what the page *Try it* runs into the built site: Pyodide, from its npm package, and a wheel of this library.

`python tools/browser_runtime.py site`, as `make docs` runs it. Without npm, the site is built all the same, and the
page says what is missing. `publish_pages.py` refuses such a site.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
MANIFEST = Path("assets", "try-it", "runtime", "manifest.json")
"""Where a built site says which wheel and which Pyodide it has, or why it has none, under `missing`."""
KEPT = ROOT / "build" / "pyodide"
"""Where the package is kept, so that it is fetched once."""
VERSION = "314.0.7"
SHA512 = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
FILES = ("package.json", "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""What of the package a browser loads, and what names its licence."""
_SECONDS = 180
_MEGABYTE = 1_000_000


class UnavailableError(Exception):
    """The package is not to be had here; says why, and what to do."""


def main(site: Path) -> None:
    """Put the runtime into a built site, and print what is missing if it is not whole.

    Args:
        site: the folder of the site.

    Raises:
        FileNotFoundError: there is no site in it.
    """
    if not (site / "index.html").is_file():
        raise FileNotFoundError(f"{site} has no index.html: build it first, by `make docs`")
    runtime = (site / MANIFEST).parent
    shutil.rmtree(runtime, ignore_errors=True)
    runtime.mkdir(parents=True)
    try:
        manifest: dict[str, object] = {"wheel": build_wheel(runtime), "pyodide": VERSION}
        unpack(pyodide(), runtime)
        manifest["megabytes"] = round(sum(file.stat().st_size for file in runtime.iterdir()) / _MEGABYTE)
    except UnavailableError as error:
        manifest = {"missing": f"This site was built without Python: {error}"}
        print(f"Try it: {manifest['missing']}", file=sys.stderr)
    (site / MANIFEST).write_text(json.dumps(manifest), "utf-8")


def build_wheel(folder: Path) -> str:
    """Build the wheel of this library, and return its name."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder.resolve())]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)  # noqa: S603 - our own build
    (wheel,) = folder.glob("*.whl")
    return wheel.name


def pyodide() -> Path:
    """Return the package as npm has it, fetched if it is not kept.

    Raises:
        UnavailableError: there is no npm, or it does not get the package, or another one.
    """
    package = KEPT / f"pyodide-{VERSION}.tgz"
    if not package.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise UnavailableError("there was no npm. To build it whole, install npm (with Node.js) and run make docs.")
        KEPT.mkdir(parents=True, exist_ok=True)
        where = ["--pack-destination", str(KEPT)]
        fetch = [npm, "pack", f"pyodide@{VERSION}", *where, "--fetch-retries=1", "--fetch-timeout=60000", "--silent"]
        try:
            subprocess.run(fetch, check=True, capture_output=True, timeout=_SECONDS)  # noqa: S603 - npm as it is installed
        except (subprocess.SubprocessError, OSError):
            raise UnavailableError(
                f"npm could not fetch pyodide {VERSION}. "
                "To build it whole, run make docs where npm reaches its registry."
            ) from None
    with package.open("rb") as file:
        if digest(file) != SHA512:
            raise UnavailableError(
                f"{package.name} is not the package that was tested. To build it whole, delete {package}."
            )
    return package


def digest(file: IO[bytes]) -> str:
    """Return the SHA-512 of a file as npm writes it, in base 64."""
    return base64.b64encode(hashlib.sha512(file.read()).digest()).decode()


def unpack(package: Path, folder: Path) -> None:
    """Put what a browser loads out of the package into a folder."""
    with tarfile.open(package) as files:
        for name in FILES:
            content = files.extractfile(f"package/{name}")
            if content is None:
                raise UnavailableError(f"{package.name} lacks {name}.")
            folder.joinpath(name).write_bytes(content.read())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Put what the page Try it runs into the built site.")
    parser.add_argument("site", type=Path, help="the built site")
    try:
        main(parser.parse_args().site)
    except FileNotFoundError as error:
        sys.exit(str(error))
